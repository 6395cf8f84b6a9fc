//! Checks that an index matches the current contents of its file.

use crate::format::{Fingerprint, IndexError, Input};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::UNIX_EPOCH;
use tracemill_tokenizer::Mapped;

/// Greatest size, in bytes, of files whose fingerprint covers the whole file.
const WHOLE: u64 = 16 << 20;

/// Returns length, time of change and fingerprint of a file.
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

/// The relation between an index and the current file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The index matches the file.
    Same,
    /// The fingerprint matches, but the file was written to since, or is a copy.
    Copied,
    /// The index belongs to another file, or to an earlier version.
    Other,
}

/// Compares the input that an index records with the current file.
pub(super) fn fit(of: &Input, now: &Input) -> Fit {
    if (of.length, of.fingerprint) != (now.length, now.fingerprint) {
        Fit::Other
    } else if now.length <= WHOLE || of.modified_ns == now.modified_ns {
        Fit::Same
    } else {
        Fit::Copied
    }
}

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
    // SAFETY: the mapping is read-only, and this process writes an index only under a new name.
    // Another process may change the bytes; `Index` tolerates that: it copies what it reads and
    // checks every position against the bounds.
    unsafe { Mapped::new(&file) }.map(Some)
}
