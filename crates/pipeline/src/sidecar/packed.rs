//! Packed traces by an index: PACK says where unpacking may begin, and WINDOWS what is to be known there.
//!
//! ```text
//!   pieces ─> stretches of PACK that hold them ─> unpacked at their places ─> read as those of a plain trace
//! ```
//!
//! A zstd file of several frames begins anew at each of them, and a gzip file at each member. Inside of a member gzip can be taken up
//! wherever a block begins, with the 32 KiB of text before it; inside of a frame zstd cannot. So a zstd file of one frame has no PACK, and
//! is read as a whole.
//!
//! Which chunks of CPU profiles a window needs shows when others are read. What is missing then is unpacked too, and the run begins anew,
//! with what was unpacked before: each round goes one step up from calls to their callers, as far as these stand in other stretches.

use super::pages::Rows;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use tracemill_core::os::Temporary;
use tracemill_core::packed::{
    KeptText, Restart, Stretch, Unpacking, frames, is_gzip, is_packed, members, stretches,
};
use tracemill_core::pieces::Piece;
use tracemill_index::{Index, IndexError, Writer, id};
use tracemill_tokenizer::Mapped;

/// Bytes of text to a byte of a packed file, where nobody knows them: traces pack to a tenth, or less.
pub(super) const RATIO: u64 = 8;

/// A file that is to be indexed.
pub(super) enum Packing {
    /// Its text is that of the file.
    Plain,
    /// Unpacking may begin at these places, of so much text.
    Frames(Vec<Restart>, u64),
    /// All of it has to be unpacked before such places are known, if there are any.
    Unknown(Mapped),
}

impl Packing {
    pub(super) fn of(file: Mapped) -> Packing {
        match frames(&file) {
            _ if !is_packed(&file) => Packing::Plain,
            Some((restarts, text)) => Packing::Frames(restarts, text),
            None => Packing::Unknown(file),
        }
    }

    /// Bytes of its text, about, if an index may say where parts of it can be unpacked, as far as that shows without unpacking it.
    pub(super) fn may_be_entered(&self, file_bytes: u64) -> Option<u64> {
        match self {
            Packing::Plain => Some(file_bytes),
            Packing::Frames(restarts, text) => (restarts.len() > 1).then_some(*text),
            Packing::Unknown(file) => is_gzip(file).then(|| file_bytes.saturating_mul(RATIO)),
        }
    }
}

/// What of a packed trace was found to be needed so far, and unpacked.
#[derive(Clone, Default)]
pub(super) struct Rounds {
    /// Beside what an index says in any case.
    pub(super) missing: Vec<Range<u64>>,
    pub(super) kept: KeptText,
}

/// Of a packed trace: where the first granule ends, where unpacking may begin, and what else is unpacked.
pub(super) struct PackedText {
    pub(super) head: u64,
    pub(super) restarts: Arc<[Restart]>,
    pub(super) rounds: Rounds,
}

/// Where unpacking may begin: at two places at least.
pub(super) struct Packed {
    restarts: Vec<Restart>,
    /// Windows one behind the other, if there are any.
    windows: Option<Mapped>,
    lens: Vec<usize>,
}

impl Packed {
    /// Of these frames.
    pub(super) fn of_frames(restarts: Vec<Restart>) -> Option<Packed> {
        (restarts.len() > 1).then_some(Packed { restarts, windows: None, lens: Vec::new() })
    }

    /// Of a gzip file; `None` if it is something else, or damaged. Cost: unpacks it; windows go to `tmp_dir`.
    ///
    /// # Errors
    /// What the file system says.
    pub(super) fn of_members(file: &[u8], tmp_dir: &Path) -> io::Result<Option<Packed>> {
        let (mut restarts, mut lens) = (Vec::new(), Vec::new());
        let mut windows = Temporary::new(tmp_dir)?;
        let mut failed = None;
        let found = members(file, |restart, window| {
            restarts.push(restart);
            lens.push(window.len());
            windows.write_all(window).map_err(|error| {
                failed = Some(error);
                io::ErrorKind::Other.into()
            })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if found.is_err() || restarts.len() < 2 {
            return Ok(None);
        }
        Ok(Some(Packed { restarts, windows: windows.map()?, lens }))
    }

    /// Writes PACK and WINDOWS.
    pub(super) fn write<W: io::Write>(&self, to: &mut Writer<W>) -> io::Result<()> {
        to.section(id::section(id::PACK))?;
        let mut rows = Rows::<3>::new();
        for Restart { text, packed, bits } in &self.restarts {
            rows.push([*text, *packed, bits.map_or(NO_BITS, u64::from)], &[], to)?;
        }
        rows.end_page(to)?;
        let Some(windows) = &self.windows else { return Ok(()) };
        to.section(id::section(id::WINDOWS))?;
        let (mut rows, mut at) = (Rows::<2>::new(), 0);
        for (restart, len) in self.restarts.iter().zip(&self.lens).filter(|(_, len)| **len > 0) {
            let window = windows.get(at..at + len).unwrap_or_default();
            rows.push([restart.text, window.len() as u64], &[window], to)?;
            at += len;
        }
        rows.end_page(to)
    }
}

/// Bytes behind the first granule that are unpacked: what the head is shows behind its first event.
const HEAD: u64 = 64 << 10;

/// Instead of a number of bits: a frame or member begins.
const NO_BITS: u64 = 8;

/// Where unpacking may begin; `None` if the index does not say it.
pub(super) fn restarts(index: &Index<'_>) -> Result<Option<Arc<[Restart]>>, IndexError> {
    let Some(section) = index.section(id::PACK) else { return Ok(None) };
    let mut all = Vec::new();
    for entry in &section.pages {
        let page = index.page(entry)?;
        let [texts, places, bits] = [page.numbers(0)?, page.numbers(1)?, page.numbers(2)?];
        for ((text, packed), bits) in texts.into_iter().zip(places).zip(bits) {
            all.push(Restart { text, packed, bits: (bits < NO_BITS).then_some(bits as u8) });
        }
    }
    let ascends =
        all.windows(2).all(|two| two[0].text < two[1].text && two[0].packed < two[1].packed);
    let begins = all.first().is_some_and(|first| first.text == 0);
    Ok((ascends && begins).then(|| all.into()))
}

impl PackedText {
    /// What is unpacked for pieces of a text of so many bytes, for its head, and for what is wanted beside these; windows are missing.
    pub(super) fn unpacking(&self, pieces: &[Piece], beside: &[Range<u64>], len: u64) -> Unpacking {
        let wanted = pieces.iter().map(|piece| match piece {
            Piece::Event(place, bytes) => *place..place.saturating_add(*bytes),
            Piece::Stretch(range) => range.clone(),
        });
        let head = std::iter::once(0..self.head.saturating_add(HEAD));
        let beside = beside.iter().chain(&self.rounds.missing);
        let beside = beside.map(|range| to_restart(&self.restarts, range, len));
        let mut wanted: Vec<_> = head.chain(wanted).chain(beside).collect();
        wanted.sort_by_key(|range| range.start);
        let stretches = stretches(&self.restarts, &wanted, len);
        Unpacking { stretches, len, kept: self.rounds.kept.clone() }
    }
}

/// A range on to where unpacking begins anew: what is wanted next is mostly near, and need not be unpacked by itself then.
fn to_restart(restarts: &[Restart], range: &Range<u64>, text: u64) -> Range<u64> {
    let next = restarts.partition_point(|own| own.text < range.end);
    range.start..restarts.get(next).map_or(text, |next| next.text)
}

/// Gives stretches, which ascend, their windows.
pub(super) fn add_windows(index: &Index<'_>, stretches: &mut [Stretch]) -> Result<(), IndexError> {
    let Some(section) = index.section(id::WINDOWS) else { return Ok(()) };
    let mut left = stretches.iter_mut().peekable();
    for entry in &section.pages {
        while left.next_if(|own| own.from.text < entry.first).is_some() {}
        if left.peek().is_none_or(|own| own.from.text > entry.last) {
            continue;
        }
        let page = index.page(entry)?;
        let mut windows = page.bytes(2)?;
        for (place, len) in page.numbers(0)?.into_iter().zip(page.numbers(1)?) {
            let len = usize::try_from(len).map_or(windows.len(), |len| len.min(windows.len()));
            let (window, behind) = windows.split_at(len);
            windows = behind;
            while left.next_if(|own| own.from.text < place).is_some() {}
            if let Some(own) = left.next_if(|own| own.from.text == place) {
                own.window = window.to_vec();
            }
        }
    }
    Ok(())
}
