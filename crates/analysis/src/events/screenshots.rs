//! Screenshots of pages, as the images that Chrome recorded.
//!
//! ```
//! use tracemill_analysis::events::screenshots::Screenshots;
//! use tracemill_pipeline::{Config, Source};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("trace.json");
//! # std::fs::write(&path, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":5},
//! #   {"ph":"O","name":"Screenshot","pid":1,"tid":1,"ts":3500,"args":{"snapshot":"/9j/4A=="}}]"#)?;
//!
//! let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
//! let screenshots = Screenshots::read(&[Source::Path(path)], &config)?;
//! let first = screenshots.iter().next().expect("a screenshot");
//! assert_eq!((first.nanos, first.extension()), (2_500_000, "jpg")); // after the trace start
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::value::{member, string};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tracemill_cpuprofile::ProfileReader;
use tracemill_join::config::Config;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::trace::{EventOrder, Trace};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::losses::InputReport;

/// A screenshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screenshot {
    /// Time after the first event of the trace, in nanoseconds.
    pub nanos: i64,
    /// The encoded image.
    pub image: Vec<u8>,
}

impl Screenshot {
    /// Returns the extension of files in the format of the image.
    pub fn extension(&self) -> &'static str {
        match &self.image[..] {
            [0x89, b'P', b'N', b'G', ..] => "png",
            [b'R', b'I', b'F', b'F', ..] => "webp",
            _ => "jpg",
        }
    }
}

/// The screenshots of a trace that is open.
pub struct Screenshots {
    trace: Trace,
}

impl Screenshots {
    /// Opens the inputs.
    ///
    /// Cost: a scan of the inputs. Heap: 24 bytes per event, on disk beyond the memory budget.
    ///
    /// # Errors
    /// Returns the errors of [`tracemill_pipeline::merge()`], except for its output.
    pub fn read(sources: &[Source], config: &Config) -> Result<Self, Error> {
        let mut profiles = ProfileReader::new(&config.profiles, false, false);
        Ok(Screenshots { trace: Trace::observe(sources, &config.limits, &mut profiles, ())? })
    }

    /// Iterates over the screenshots in time order. Skips events without an image.
    pub fn iter(&self) -> impl Iterator<Item = Screenshot> {
        let mut start = None;
        self.trace.events(EventOrder::Time).filter_map(move |event| {
            let event = event.fields();
            let ts = event.ts().filter(|_| event.phase() != b'M')?.floor;
            let start = *start.get_or_insert(ts);
            let image = image_of(&event)?;
            Some(Screenshot { nanos: ts.saturating_sub(start), image })
        })
    }

    /// Returns the reports of the inputs.
    pub fn inputs(&self) -> &[InputReport] {
        self.trace.inputs()
    }

    /// Checks that no input has changed since it was opened.
    ///
    /// # Errors
    /// Returns [`tracemill_trace::ErrorKind::Changed`] for the first file that differs.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        self.trace.check_unchanged()
    }
}

fn image_of(event: &Event<'_>) -> Option<Vec<u8>> {
    if !event.is_string(Field::Name, b"Screenshot") {
        return None;
    }
    let text = string(member(event.field(Field::Args)?, b"snapshot")?)?;
    let data = text.rsplit(|&byte| byte == b',').next()?; // without the head of a data URL
    STANDARD.decode(data).ok().filter(|image| !image.is_empty())
}
