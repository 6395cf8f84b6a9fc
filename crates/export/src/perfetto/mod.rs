//! Traces in the form of Perfetto, `perfetto_trace.proto`: slices, instants, counters, flows, samples, threads and processes with their
//! names.
//!
//! ```text
//!  inputs ─ merge for Perfetto ─> draft (on disk, in order of time) ─ scan ─> packets ─> output
//! ```
//!
//! What inputs have in common, their clocks, and events that overlap are settled by the merge; so here an event is looked at once, and what
//! is kept is what is open. Numbers of fields are those of `protos/perfetto/trace` in Perfetto's repository.

mod annotations;
mod counts;
mod events;
mod open;
mod packets;
mod profiles;
mod tracks;

pub use counts::Perfetto;
use events::Writer;
use packets::Packets;
use std::io::{self, Write};
use tracemill_join::config::{CheckFor, Config, Overlaps, ViewerRules};
use tracemill_join::report::MergeReport;
use tracemill_pipeline::merge;
use tracemill_tokenizer::{Mapped, Scanner, Stop, Tier, Window};
use tracemill_trace::output::draft::Draft;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::{Error, Source};

/// Inputs as one trace in order of time, ready to be written in the form of Perfetto.
pub struct PerfettoDraft {
    bytes: Option<Mapped>,
    /// What the merge has to say of the inputs.
    pub merged: MergeReport,
    limits: Limits,
    refused: Option<Error>,
}

impl PerfettoDraft {
    /// Reads `sources` to their end and makes one trace of them, as [`merge`] does for Perfetto: events that overlap move to lanes of their
    /// own.
    ///
    /// Cost: that of a merge, to the folder of temporary files, which needs room for all events.
    ///
    /// # Errors
    /// As [`merge`].
    pub fn read(sources: &[Source], config: &Config) -> Result<Self, Error> {
        let draft = Draft::new(&config.limits.tmp_dir)?;
        let mut config = config.clone();
        config.viewer = ViewerRules { viewer: Some(CheckFor::Perfetto), overlaps: Overlaps::Spill };
        let output = OutputConfig { format: None, ..draft.output() };
        let merged = merge(sources, &output, &config).map_err(|error| draft.error(error))?;
        Ok(PerfettoDraft { bytes: draft.map()?, merged, limits: config.limits, refused: None })
    }

    /// Writes it, not packed. The same inputs make the same bytes everywhere.
    ///
    /// Times are whole nanoseconds, those of samples whole microseconds. Cost: one pass over the events; of heap what is open at one time,
    /// 400 bytes a thread, at most 10 MiB for texts and tracks, and the call trees of CPU profiles.
    ///
    /// # Errors
    /// What `out` says, or that [`PerfettoDraft::check`] has an error.
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<Perfetto> {
        /// Bytes between two looks at whether to go on.
        const PIECE: usize = 4 << 20;
        let bytes: &[u8] = self.bytes.as_deref().unwrap_or_default();
        let mut writer = Writer::new(Packets::new(out), bytes, self.limits.open_quota());
        let mut scanner = Scanner::new(Tier::best());
        let mut end = 0;
        while end < bytes.len() && writer.out.failed.is_none() && writer.room.refused.is_none() {
            if self.limits.cancel.check().is_err() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let from = scanner.retain_from();
            end = bytes.len().min(end + PIECE);
            let last = end == bytes.len();
            let window = Window { bytes: &bytes[from as usize..end], base: from, last };
            scanner.feed(window, Stop::NEVER, &mut writer);
        }
        writer.finish();
        let (failed, written) = (writer.out.failed.take(), writer.written);
        self.refused = writer.room.refused;
        match &self.refused {
            Some(_) => Err(io::ErrorKind::OutOfMemory.into()),
            None => failed.map_or(Ok(written), Err),
        }
    }

    /// Whether nothing but what its output said ended [`PerfettoDraft::write`].
    ///
    /// # Errors
    /// [`tracemill_trace::ErrorKind::Cancelled`]; [`tracemill_trace::ErrorKind::Exceeded`] if half of the budget has no room for what was open at one time.
    pub fn check(&mut self) -> Result<(), Error> {
        self.limits.cancel.check()?;
        self.refused.take().map_or(Ok(()), Err)
    }
}
