//! Whether an index is that of a file as it is now.

use crate::format::{Fingerprint, IndexError, Input};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::UNIX_EPOCH;
use tracemill_tokenizer::Mapped;

/// Files of at most so many bytes are compared as a whole by their fingerprint.
const WHOLE: u64 = 16 << 20;

/// What an index says of its input, for a file as it is now.
pub(super) fn input_of(path: &Path) -> io::Result<Input> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let length = metadata.len();
    let fingerprint = Fingerprint::of(&mut file, length)?;
    Ok(Input { length, modified_ns: modified_ns(&metadata), fingerprint })
}

fn modified_ns(metadata: &Metadata) -> i64 {
    let modified = metadata.modified().ok();
    let ns = modified.and_then(|time| match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).ok(),
        Err(before) => i64::try_from(before.duration().as_nanos()).ok().map(|ns| -ns),
    });
    ns.unwrap_or(0)
}

/// How an index stands to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is that of the file.
    Same,
    /// As far as the fingerprint shows; but the file was written to since, or is a copy.
    Copied,
    /// It is that of another file, or of one before it changed.
    Other,
}

/// Compares what an index says with the file as it is now.
pub(super) fn fit(of: &Input, now: &Input) -> Fit {
    if (of.length, of.fingerprint) != (now.length, now.fingerprint) {
        Fit::Other
    } else if now.length <= WHOLE || of.modified_ns == now.modified_ns {
        Fit::Same
    } else {
        Fit::Copied
    }
}

/// The bytes of an index; `None` if there is no such file.
#[expect(unsafe_code, reason = "an index is read where it lies")]
pub(super) fn map(path: &Path) -> io::Result<Option<Mapped>> {
    let file = match File::open(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        file => file?,
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return Err(io::Error::new(ErrorKind::InvalidData, IndexError::NotAnIndex));
    }
    // SAFETY: this process opens an index for reading only, and writes one under a new name. Another process may change the bytes, which
    // `Index` bears: it copies what it reads and checks each place against the bounds.
    unsafe { Mapped::new(&file) }.map(Some)
}
