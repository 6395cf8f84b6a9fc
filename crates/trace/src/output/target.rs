//! Configures outputs: target, format and compression.
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

/// The target of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file that appears when complete. An existing file is refused unless `replace` is set.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Whether an existing file may be replaced.
        replace: bool,
    },
    /// A writer of the caller, see [`OutputConfig::writer`].
    Writer(SharedWriter),
}

/// A writer that the caller keeps. Clones share the writer.
#[derive(Clone)]
pub struct SharedWriter {
    writer: Arc<Mutex<dyn Write + Send>>,
    /// Whether the bytes finally go to a file named `.json`.
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

/// The format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Object form: `{"traceEvents":[…], …}`.
    Object,
    /// Array form: `[…]`, without top-level keys.
    Array,
    /// NDJSON: one event per line; top-level keys in a first line `{"tracemill":{…}}`.
    Ndjson,
}

impl Format {
    /// Returns the name of the format, as [`FromStr`] parses it.
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

/// The white space of a written trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Events unchanged; in NDJSON without line breaks.
    #[default]
    Keep,
    /// No white space outside strings; one event per line.
    Compact,
}

impl Style {
    /// Returns the name: `keep` or `compact`.
    pub fn name(self) -> &'static str {
        match self {
            Style::Keep => "keep",
            Style::Compact => "compact",
        }
    }
}

crate::serialize_by_name!(Style);

/// The compression of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// gzip with a single member, which DevTools can read.
    Gzip {
        /// gzip level from 0 to 9.
        level: u32,
    },
    /// zstd in frames with a seek table, so that parts can be unpacked separately.
    Zstd {
        /// zstd level from 1 to 22.
        level: u32,
    },
}

/// Returns whether a file is named `.json`, compressed or not.
pub fn is_json(path: &Path) -> bool {
    let ends = |path: &Path, with: &str| path.extension().is_some_and(|end| end == with);
    let packed = ends(path, "gz") || ends(path, "zst");
    if packed { ends(&path.with_extension(""), "json") } else { ends(path, "json") }
}

/// The configuration of an output.
#[derive(Clone, Debug)]
pub struct OutputConfig {
    /// Target of the output.
    pub target: Target,
    /// Format; `None` selects the format of the first input.
    pub format: Option<Format>,
    /// Compression of the output.
    pub compression: Compression,
}

impl OutputConfig {
    /// Returns the requested format, or the `usual` one. Files named `.json` never default to
    /// NDJSON.
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

    /// Makes a draft choose its default format by the name of `other`, the final output.
    pub fn called_like(mut self, other: &OutputConfig) -> Self {
        if let Target::Writer(writer) = &mut self.target {
            writer.is_json = other.is_json();
        }
        self
    }

    /// Creates a configuration for a new file, in the format of the first input, uncompressed.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let target = Target::File { path: path.into(), replace: false };
        OutputConfig { target, format: None, compression: Compression::None }
    }

    /// Creates a configuration for a writer, in the format of the first input, uncompressed. Bytes
    /// written by a failed run stay written.
    pub fn writer<W: Write + Send + 'static>(writer: Arc<Mutex<W>>) -> Self {
        let target = Target::Writer(SharedWriter { writer, is_json: false });
        OutputConfig { target, format: None, compression: Compression::None }
    }
}
