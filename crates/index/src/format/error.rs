//! Errors of opening an index.

use std::fmt;

/// The reason why a file is not a usable index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexError {
    /// The file does not begin with [`MAGIC`](crate::format::MAGIC).
    NotAnIndex,
    /// The index has a newer version.
    Newer,
    /// The index has an older version.
    Older,
    /// The file is truncated, or has extra bytes.
    Truncated,
    /// The bytes at an offset contradict the format or a checksum.
    Damaged {
        /// Offset of the damaged part.
        offset: u64,
        /// Description of the damage.
        what: &'static str,
    },
    /// The pages are packed, and the feature `zstd` is disabled.
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
