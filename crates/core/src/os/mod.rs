//! What a system has beyond Rust's library: the only place of this crate with `unsafe`.
#![expect(unsafe_code, reason = "maps of files")]

use std::fs::File;
use std::io;
use tracemill_tokenizer::Mapped;

/// Maps a file: an input, or one of our own that is not written to any more where it is mapped.
///
/// # Errors
/// As [`Mapped::new`].
pub fn map(file: &File) -> io::Result<Mapped> {
    // SAFETY: this process opens inputs for reading only and refuses an output that is an input; of its own files, which
    // have no name, it maps what is written and appends behind it at most. Another process may change the bytes of an
    // input, which readers of maps bear: the scanner decides by bytes read once or looks again under bounds checks, text
    // and numbers are copied before they are decoded (`to_text`, `parse`), and a run whose input was written to fails.
    unsafe { Mapped::new(file) }
}
