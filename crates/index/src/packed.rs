//! Reads parts of packed traces: PACK lists the offsets where unpacking can begin.
//!
//! ```text
//!   byte ranges ─> frames that contain them ─> unpacked in place ─> read like a plain trace
//! ```
//!
//! Unpacking can begin at the frames of zstd and at the members of gzip. A file of one frame or
//! member has no PACK and is unpacked as a whole.

use super::pages::write_rows;
use crate::format::{Index, IndexError, Writer, id};
use std::io;
use std::sync::Arc;
use tracemill_tokenizer::Mapped;
use tracemill_trace::input::packed::{Restart, Unpacking, frames, has_members, is_packed, spans};
use tracemill_trace::read::pieces::Piece;

/// Estimated bytes of text per packed byte; traces pack to a tenth or less.
pub(super) const RATIO: u64 = 8;

/// The packing of a file that is to be indexed.
pub(super) enum FileToIndex {
    /// Plain text.
    Plain,
    /// Unpacking can begin at these offsets; the second value is the length of the text.
    Frames(Vec<Restart>, u64),
    /// Gzip of several members, whose offsets are known only after unpacking.
    Members(Mapped),
    /// The file can only be unpacked as a whole.
    Whole,
}

impl FileToIndex {
    pub(super) fn of(file: Mapped) -> FileToIndex {
        match frames(&file) {
            _ if !is_packed(&file) => FileToIndex::Plain,
            Some((restarts, text)) => FileToIndex::Frames(restarts, text),
            None if has_members(&file) => FileToIndex::Members(file),
            None => FileToIndex::Whole,
        }
    }

    /// Returns the approximate bytes of text, or `None` if parts of the text cannot be read
    /// individually.
    pub(super) fn may_be_entered(&self, file_bytes: u64) -> Option<u64> {
        match self {
            FileToIndex::Plain => Some(file_bytes),
            FileToIndex::Frames(restarts, text) => (restarts.len() > 1).then_some(*text),
            FileToIndex::Members(_) => Some(file_bytes.saturating_mul(RATIO)),
            FileToIndex::Whole => None,
        }
    }
}

/// End of a packed trace's first block, and the offsets where unpacking can begin.
pub(super) struct PackedText {
    pub(super) head: u64,
    pub(super) restarts: Arc<[Restart]>,
}

pub(super) fn write<W: io::Write>(all: &[Restart], to: &mut Writer<W>) -> io::Result<()> {
    write_rows(
        id::PACK,
        all.iter().map(|restart| ([restart.text, restart.packed], restart.text)),
        to,
    )
}

/// Bytes unpacked after the end of the first block, enough to contain the head of the trace.
const HEAD: u64 = 64 << 10;

/// Reads PACK. Returns `None` if the section is missing or invalid.
pub(super) fn restarts(index: &Index<'_>) -> Result<Option<Arc<[Restart]>>, IndexError> {
    let Some(section) = index.section(id::PACK) else { return Ok(None) };
    let mut all = Vec::new();
    for entry in &section.pages {
        let [texts, places] = index.page(entry)?.columns()?;
        all.extend(texts.into_iter().zip(places).map(|(text, packed)| Restart { text, packed }));
    }
    let ascends =
        all.windows(2).all(|two| two[0].text < two[1].text && two[0].packed < two[1].packed);
    let begins = all.first().is_some_and(|first| first.text == 0);
    Ok((ascends && begins).then(|| all.into()))
}

impl PackedText {
    /// Returns the ranges to unpack for `pieces` and for the head of the trace. `len` is the length
    /// of the text.
    pub(super) fn unpacking(&self, pieces: &[Piece], len: u64) -> Unpacking {
        let wanted = pieces.iter().map(|piece| match piece {
            Piece::Event(place, bytes) => *place..place.saturating_add(*bytes),
            Piece::Stretch(range) => range.clone(),
        });
        let head = std::iter::once(0..self.head.saturating_add(HEAD));
        let mut wanted: Vec<_> = head.chain(wanted).collect();
        wanted.sort_by_key(|range| range.start);
        let spans = spans(&self.restarts, &wanted, len);
        Unpacking { spans, len }
    }
}
