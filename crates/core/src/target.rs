//! Where the output goes, and in which form.

use std::path::PathBuf;
use std::str::FromStr;

/// Where the output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file that appears, whole and on disk, when the job is done (contract C8). An existing one is refused unless
    /// `replace`.
    File {
        /// Its path.
        path: PathBuf,
        /// Whether an existing file may be replaced.
        replace: bool,
    },
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `{"traceEvents":[…], …}`
    Object,
    /// `[…]`, which has no place for other keys.
    Array,
    /// One event a line; other keys in a first line `{"tracemill":{…}}`.
    Ndjson,
}

impl Format {
    /// Its name, as the flag has it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Object => "object",
            Format::Array => "array",
            Format::Ndjson => "ndjson",
        }
    }
}

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
    /// None outside strings; one event a line.
    Compact,
    /// Indented by two blanks, one member a line. Not for NDJSON.
    Pretty,
}

impl Style {
    /// Its name, as the flag has it.
    pub fn name(self) -> &'static str {
        match self {
            Style::Keep => "keep",
            Style::Compact => "compact",
            Style::Pretty => "pretty",
        }
    }
}

/// How the output's bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// One gzip member, which DevTools can read.
    Gzip {
        /// 0 to 9.
        level: u32,
    },
    /// zstd.
    Zstd {
        /// 1 to 22.
        level: u32,
    },
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
    /// A new file, in the format of the first input and not packed.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let target = Target::File { path: path.into(), replace: false };
        OutputConfig { target, format: None, compression: Compression::None }
    }
}
