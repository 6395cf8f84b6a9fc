//! Where the output goes, and in which form.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use tracemill_trace::output::target::{Compression, Format, OutputConfig};
//!
//! let file = OutputConfig::file("out.json"); // appears when it is complete, and replaces nothing
//! let bytes = Arc::new(Mutex::new(Vec::new()));
//! let memory = OutputConfig::writer(Arc::clone(&bytes)); // any `Write + Send`
//! let packed = OutputConfig { compression: Compression::Gzip { level: 6 }, ..file };
//! assert_eq!("ndjson".parse(), Ok(Format::Ndjson));
//! # drop((memory, packed));
//! ```

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

/// Where the output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file that appears, whole, when the run is done. An existing one is refused unless `replace`.
    File {
        /// Its path.
        path: PathBuf,
        /// Whether an existing file may be replaced.
        replace: bool,
    },
    /// Anything that can be written to; see [`OutputConfig::writer`].
    Writer(SharedWriter),
}

/// A writer that the caller still has when the output is written. Copies are the same writer.
#[derive(Clone)]
pub struct SharedWriter {
    writer: Arc<Mutex<dyn Write + Send>>,
    /// Whether what is written goes to a file called `.json` in the end.
    is_json: bool,
}

impl Write for SharedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

impl fmt::Debug for SharedWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedWriter")
    }
}

impl PartialEq for SharedWriter {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.writer, &other.writer)
    }
}

impl Eq for SharedWriter {}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `{"traceEvents":[…], …}`
    Object,
    /// `[…]`, which has no place for other keys.
    Array,
    /// One event per line; other keys in a first line `{"tracemill":{…}}`.
    Ndjson,
}

impl Format {
    /// Its name, as [`FromStr`] reads it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Object => "object",
            Format::Array => "array",
            Format::Ndjson => "ndjson",
        }
    }
}

crate::serialize_by_name!(Format);

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Format::Object, Format::Array, Format::Ndjson]
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| format!("expected object, array or ndjson: {name}"))
    }
}

/// The white space of a trace that is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Events as they stand, to the byte; in NDJSON without line breaks.
    #[default]
    Keep,
    /// None outside strings; one event per line.
    Compact,
}

impl Style {
    /// Its name: `keep` or `compact`.
    pub fn name(self) -> &'static str {
        match self {
            Style::Keep => "keep",
            Style::Compact => "compact",
        }
    }
}

crate::serialize_by_name!(Style);

/// How the output's bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Never.
    None,
    /// One gzip member, which DevTools can read.
    Gzip {
        /// 0 to 9.
        level: u32,
    },
    /// zstd, in frames with a table behind them, by which parts can be unpacked alone.
    Zstd {
        /// 1 to 22.
        level: u32,
    },
}

/// Whether a file is called `.json`, packed or not.
pub fn is_json(path: &Path) -> bool {
    let ends = |path: &Path, with: &str| path.extension().is_some_and(|end| end == with);
    let packed = ends(path, "gz") || ends(path, "zst");
    if packed { ends(&path.with_extension(""), "json") } else { ends(path, "json") }
}

/// Everything about the output.
#[derive(Clone, Debug)]
pub struct OutputConfig {
    /// Where it goes.
    pub target: Target,
    /// Its format; the first input's if `None`.
    pub format: Option<Format>,
    /// How it is packed.
    pub compression: Compression,
}

impl OutputConfig {
    /// Returns the format that was asked for, else the `usual` one; a file called `.json` is never one event per line.
    pub fn format_or(&self, usual: Format) -> Format {
        self.format.unwrap_or(match usual {
            Format::Ndjson if self.is_json() => Format::Object,
            usual => usual,
        })
    }

    fn is_json(&self) -> bool {
        match &self.target {
            Target::File { path, .. } => is_json(path),
            Target::Writer(writer) => writer.is_json,
            Target::Stdout => false,
        }
    }

    /// Gives a draft the format that `other` would have, of which the draft will be made.
    pub fn called_like(mut self, other: &OutputConfig) -> Self {
        if let Target::Writer(writer) = &mut self.target {
            writer.is_json = other.is_json();
        }
        self
    }

    /// A new file, in the format of the first input and not packed.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let target = Target::File { path: path.into(), replace: false };
        OutputConfig { target, format: None, compression: Compression::None }
    }

    /// Bytes in turn to a writer of any kind, in the format of the first input and not packed. What a run that fails has
    /// written stays written.
    pub fn writer<W: Write + Send + 'static>(writer: Arc<Mutex<W>>) -> Self {
        let target = Target::Writer(SharedWriter { writer, is_json: false });
        OutputConfig { target, format: None, compression: Compression::None }
    }
}
