//! Reads parts of packed traces: PACK lists the places where unpacking can begin.
//!
//! ```text
//!   pieces ─> stretches of PACK that hold them ─> unpacked at their places ─> read as those of a plain trace
//! ```
//!
//! These places are the frames of zstd and the members of gzip. A file of one frame or member has no PACK, and is
//! read as a whole.

use super::pages::write_rows;
use crate::format::{Index, IndexError, Writer, id};
use std::io;
use std::sync::Arc;
use tracemill_tokenizer::Mapped;
use tracemill_trace::input::packed::{
    Restart, Unpacking, frames, has_members, is_packed, stretches,
};
use tracemill_trace::read::pieces::Piece;

/// Bytes of text to a byte of a packed file, where nobody knows them: traces pack to a tenth, or less.
pub(super) const RATIO: u64 = 8;

/// A file that is to be indexed.
pub(super) enum FileToIndex {
    /// Its text is that of the file.
    Plain,
    /// Unpacking may begin at these places, of so much text.
    Frames(Vec<Restart>, u64),
    /// It is gzip of several members, whose places are known when all is unpacked.
    Members(Mapped),
    /// It can only be unpacked as a whole.
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

    /// Bytes of its text, about, if an index may say where parts of it can be unpacked, as far as that shows without unpacking it.
    pub(super) fn may_be_entered(&self, file_bytes: u64) -> Option<u64> {
        match self {
            FileToIndex::Plain => Some(file_bytes),
            FileToIndex::Frames(restarts, text) => (restarts.len() > 1).then_some(*text),
            FileToIndex::Members(_) => Some(file_bytes.saturating_mul(RATIO)),
            FileToIndex::Whole => None,
        }
    }
}

/// Of a packed trace: where the first granule ends, and where unpacking may begin.
pub(super) struct PackedText {
    pub(super) head: u64,
    pub(super) restarts: Arc<[Restart]>,
}

/// Writes PACK.
pub(super) fn write<W: io::Write>(all: &[Restart], to: &mut Writer<W>) -> io::Result<()> {
    write_rows(id::PACK, all.iter().map(|own| ([own.text, own.packed], own.text)), to)
}

/// Bytes behind the first granule that are unpacked: what the head is shows behind its first event.
const HEAD: u64 = 64 << 10;

/// Where unpacking may begin; `None` if the index does not say it.
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
    /// What is unpacked for pieces of a text of so many bytes, and for its head.
    pub(super) fn unpacking(&self, pieces: &[Piece], len: u64) -> Unpacking {
        let wanted = pieces.iter().map(|piece| match piece {
            Piece::Event(place, bytes) => *place..place.saturating_add(*bytes),
            Piece::Stretch(range) => range.clone(),
        });
        let head = std::iter::once(0..self.head.saturating_add(HEAD));
        let mut wanted: Vec<_> = head.chain(wanted).collect();
        wanted.sort_by_key(|range| range.start);
        let stretches = stretches(&self.restarts, &wanted, len);
        Unpacking { stretches, len }
    }
}
