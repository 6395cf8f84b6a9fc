//! Why a file is no index, or none that can be read.

use std::fmt;

/// Why a file is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexError {
    /// It begins with something else.
    NotAnIndex,
    /// Its version is a later one.
    Newer,
    /// Its version is an earlier one.
    Older,
    /// It ends early, or goes on too long.
    Truncated,
    /// What stands at this offset is not what the format, or a checksum, says.
    Damaged {
        /// Where the damaged part begins.
        offset: u64,
        /// What does not fit.
        what: &'static str,
    },
    /// Its pages are packed, and this was built without the feature `zstd`.
    Packed,
}

impl IndexError {
    pub(crate) fn damaged(offset: u64, what: &'static str) -> Self {
        IndexError::Damaged { offset, what }
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexError::NotAnIndex => f.write_str("not an index of tracemill"),
            IndexError::Newer => f.write_str("made by a newer tracemill"),
            IndexError::Older => f.write_str("made by an older tracemill"),
            IndexError::Truncated => f.write_str("cut off, or followed by something else"),
            IndexError::Damaged { offset, what } => {
                write!(f, "damaged at byte {offset}: {what}")
            }
            IndexError::Packed => f.write_str("packed with zstd, which this build cannot read"),
        }
    }
}

impl std::error::Error for IndexError {}
