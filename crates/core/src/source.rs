//! Where inputs come from.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, a pipe, or a folder whose files are the inputs.
    Path(PathBuf),
}

impl Source {
    /// Its path; empty for standard input.
    pub fn path(&self) -> &Path {
        match self {
            Source::Stdin => Path::new(""),
            Source::Path(path) => path,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("standard input"),
            Source::Path(path) => path.display().fmt(f),
        }
    }
}
