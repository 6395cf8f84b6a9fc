//! A page-aligned buffer that is filled, written and filled again.

use super::{BLOCK, SLICE, UNPLACED};
use memmap2::MmapMut;
use std::io;

/// Bytes gathered for one write; what is pushed at a time may be as long as a slice. Memory is taken as it is filled.
pub struct Buffer {
    bytes: MmapMut,
    len: usize,
}

impl Buffer {
    pub fn new() -> io::Result<Self> {
        Ok(Buffer { bytes: MmapMut::map_anon(UNPLACED + SLICE + BLOCK)?, len: 0 })
    }

    /// Empties the buffer but for `skip` bytes, which are whatever they were.
    pub(super) fn reset(&mut self, skip: usize) {
        self.len = skip;
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Appends up to [`SLICE`] bytes; the caller writes when the buffer holds a slice.
    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Moves all bytes back, so that `skip` bytes are before them; these are whatever they were.
    pub(super) fn move_back(&mut self, skip: usize) {
        self.bytes.copy_within(..self.len, skip);
        self.len += skip;
    }

    /// Moves the bytes from `from` on to the front.
    pub(super) fn keep_from(&mut self, from: usize) {
        self.bytes.copy_within(from..self.len, 0);
        self.len -= from;
    }
}
