//! Parts of packed files: unpacked from the places where that may begin, without what stands before them.
//!
//! ```text
//!   file  ├ frame ┼ frame ┼ frame ┼ frame ┼ frame ┤
//!   text  ├───────┼───────┼───────┼───────┼───────┤
//!   asked             ▆▆▆                     ▆▆▆▆▆▆▆ …
//!   made           ████████                ███████████       a file of holes, with what is asked for at its place
//! ```
//!
//! Unpacking can begin at each frame of zstd, and at each member of gzip. The result is a map like that of a plain
//! file, so a reader of a part of a packed file reads it as if it were not packed.
//!
//! ```
//! use flate2::{Compression, write::GzEncoder};
//! use std::io::Write;
//! use std::sync::Arc;
//! use tracemill_trace::os::Temporary;
//! use tracemill_trace::input::packed::{Unpacking, members, stretches, unpack};
//! use tracemill_trace::Limits;
//!
//! let text: Vec<u8> = (0..250_000).flat_map(|number| format!("{number:09},").into_bytes()).collect();
//! let mut file = Temporary::new(&std::env::temp_dir())?;
//! for part in text.chunks(1 << 20) {
//!     let mut member = GzEncoder::new(Vec::new(), Compression::fast());
//!     member.write_all(part)?;
//!     file.write_all(&member.finish()?)?;
//! }
//! let file = Arc::new(file.map()?.expect("it has bytes"));
//!
//! let restarts = members(&file).expect("it is gzip");
//! let wanted = [1_500_000..1_500_010];
//! let (stretches, len) = (stretches(&restarts, &wanted, text.len() as u64), text.len() as u64);
//! let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
//! let map = unpack("a.json.gz", &file, &Unpacking { stretches, len }, &limits)?;
//! assert_eq!((map.len(), &map[1_500_000..1_500_010]), (text.len(), &text[1_500_000..1_500_010]));
//! assert_eq!(&map[..9], [0; 9]); // the first member was not unpacked
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::input::{self, seek_table};
use crate::os::Sparse;
use crate::run::error::Error;
use crate::run::limits::Limits;
use crate::run::threads::try_each;
use flate2::bufread::GzDecoder;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use tracemill_tokenizer::{Cursor as JsonCursor, Mapped};

/// The begin of a frame or member, where unpacking can begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restart {
    /// Offset in the text.
    pub text: u64,
    /// Offset in the file.
    pub packed: u64,
}

/// Whether the text of this file is packed.
pub fn is_packed(file: &[u8]) -> bool {
    input::is_packed(file)
}

/// Places that are noted at most, give or take those within [`STEP`] of text.
const MOST: usize = 8192;
/// Text between places that are noted: what is unpacked for one event, at most, if the frames are not longer.
const STEP: u64 = 1 << 20;

/// Places where unpacking may begin, as they are found: not all, if there are many.
#[derive(Default)]
struct Restarts {
    all: Vec<Restart>,
    /// Text between them, at least.
    step: u64,
    /// Where the next frame begins.
    at: Restart,
}

impl Restarts {
    /// Takes a frame of so many bytes, with so much text; `None` if there are more than numbers go.
    fn take(&mut self, packed: u64, text: u64) -> Option<()> {
        let last = self.all.last();
        if text > 0 && last.is_none_or(|last| self.at.text - last.text >= self.step) {
            self.all.push(self.at);
        }
        let text = self.at.text.checked_add(text)?;
        self.at = Restart { text, packed: self.at.packed.checked_add(packed)? };
        if self.all.len() > 2 * MOST && self.step < STEP {
            self.step = (text / MOST as u64).min(STEP);
            self.thin();
        }
        Some(())
    }

    /// Leaves out those that follow too soon.
    fn thin(&mut self) {
        let mut next = 0;
        let step = self.step;
        self.all.retain(|own| {
            let stays = own.text >= next;
            next = if stays { own.text + step } else { next };
            stays
        });
    }
}

/// Where the frames of a zstd file begin, and the length of its text; `None` if that is not said there. Of many small ones not all are
/// named: some 8192 of them, or one each MiB of text.
///
/// Cost: a look at the table behind the frames, or, without one, at the head of each block of 128 KiB.
pub fn frames(file: &[u8]) -> Option<(Vec<Restart>, u64)> {
    let mut found = Restarts::default();
    if let Some(mut table) = seek_table::read(file) {
        table.try_for_each(|[packed, text]| found.take(packed.into(), text.into()))?;
        return Some((found.all, found.at.text));
    }
    let mut rest = file;
    while !rest.is_empty() {
        let (packed, text) = input::frame_len(rest)?;
        found.take(packed as u64, text)?;
        rest = rest.get(packed..)?;
    }
    Some((found.all, found.at.text))
}

/// The longest text of a first member that [`has_members`] unpacks.
const FIRST_MOST: u64 = 64 << 20;

/// Returns whether a file is gzip of several members, the first of which has less than 64 MiB of text.
///
/// Cost: unpacks the first member, up to that length.
pub fn has_members(file: &[u8]) -> bool {
    input::is_gzip(file)
        && after_member(file, FIRST_MOST)
            .is_some_and(|(_, behind)| behind.iter().any(|byte| *byte != 0))
}

/// Returns the places of the members of a gzip file that are at least 1 MiB of text apart; `None` if the
/// file is damaged.
///
/// Cost: unpacks the file, on one thread.
pub fn members(file: &[u8]) -> Option<Vec<Restart>> {
    let mut found = Restarts { step: STEP, ..Restarts::default() };
    let mut rest = file;
    // there may be zeros between members
    while let Some(zeros) = rest.iter().position(|byte| *byte != 0) {
        found.at.packed += zeros as u64;
        let (text, behind) = after_member(&rest[zeros..], u64::MAX)?;
        found.take((rest.len() - zeros - behind.len()) as u64, text)?;
        rest = behind;
    }
    Some(found.all)
}

/// Returns the length of the text of the member at the start of `file`, and the bytes after the member;
/// `None` if the member is damaged, or its text has `most` bytes or more.
fn after_member(file: &[u8], most: u64) -> Option<(u64, &[u8])> {
    let mut member = GzDecoder::new(file).take(most);
    let text = io::copy(&mut member, &mut io::sink()).ok()?;
    (text < most).then(|| (text, member.into_inner().into_inner()))
}

/// A stretch of text that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where unpacking begins, before it.
    pub from: Restart,
    /// Offset in the text behind its last byte.
    pub end: u64,
    /// The last event that begins in it, if its length is not known: it is unpacked to its end, wherever that is.
    pub open: Option<u64>,
}

impl Stretch {
    /// Bytes that are unpacked for it, at least.
    pub fn bytes(&self) -> u64 {
        self.end.saturating_sub(self.from.text)
    }
}

/// What is to be unpacked of a file.
#[derive(Clone, Debug)]
pub struct Unpacking {
    /// These, which ascend.
    pub stretches: Vec<Stretch>,
    /// Bytes of all of its text.
    pub len: u64,
}

/// Unpacks stretches of a file; elsewhere the map has zeros, which take no room on disk.
///
/// Cost: what they unpack to, on disk; on all threads.
///
/// # Errors
/// [`crate::run::error::ErrorKind::Read`] if what is packed is damaged or ends before a stretch does; if the folder of temporary files has no room.
pub fn unpack(
    name: &str,
    file: &Arc<Mapped>,
    unpacking: &Unpacking,
    limits: &Limits,
) -> Result<Arc<Mapped>, Error> {
    let &Unpacking { ref stretches, len } = unpacking;
    let failed = |e| Error::scratch(&limits.tmp_dir, e);
    let sparse = Sparse::new(&limits.tmp_dir, len).map_err(failed)?;
    let one = |number: usize| {
        limits.cancel.check()?;
        let Stretch { from, end, open } = stretches[number];
        let reader = input::unpacked(file, from.packed);
        let reader = reader.map_err(|e| Error::read(name, e))?;
        let mut text = StretchText { reader, at: from.text, sparse: &sparse, name, limits };
        text.copy_to(end.min(len))?;
        // twice as much each time, so that a long event is looked at few times
        while let Some(open) = open.filter(|_| text.at < len)
            && !holds(&sparse, open..text.at).map_err(failed)?
        {
            let more = (text.at - open).max(COPIED as u64);
            text.copy_to(text.at.saturating_add(more).min(len))?;
        }
        Ok::<_, Error>(())
    };
    try_each(limits.threads, stretches.len(), one)?;
    Ok(Arc::new(sparse.into_map().map_err(failed)?))
}

/// Whether the event at the begin of a stretch ends within it, before what comes next.
fn holds(sparse: &Sparse, range: Range<u64>) -> io::Result<bool> {
    let mut event = vec![0; (range.end - range.start) as usize];
    sparse.read_exact_at(&mut event, range.start)?;
    Ok(JsonCursor::new(&event).value().len() < event.len())
}

/// Bytes that are copied at a time.
const COPIED: usize = 64 << 10;

/// The text of a stretch on its way.
struct StretchText<'a> {
    reader: Box<dyn Read + Send>,
    /// Offset of the next byte.
    at: u64,
    sparse: &'a Sparse,
    name: &'a str,
    limits: &'a Limits,
}

impl StretchText<'_> {
    fn copy_to(&mut self, end: u64) -> Result<(), Error> {
        let mut buffer = [0; COPIED];
        while self.at < end {
            let most = usize::try_from(end - self.at).map_or(COPIED, |most| most.min(COPIED));
            let part = &mut buffer[..most];
            self.reader.read_exact(part).map_err(|e| Error::read(self.name, e))?;
            let written = self.sparse.write_all_at(part, self.at);
            written.map_err(|e| Error::scratch(&self.limits.tmp_dir, e))?;
            self.at += most as u64;
        }
        Ok(())
    }
}

/// The stretches that hold `wanted`: ranges of text whose starts ascend, those of no bytes being events of unknown length.
///
/// Restarts ascend, the first of them at the begin of the text, which has `len` bytes. A stretch goes from its restart to the last byte that is wanted
/// before the next one; so what is unpacked beyond what is wanted is bounded by how far restarts are from each other.
///
/// ```
/// use tracemill_trace::input::packed::{Restart, stretches};
///
/// let frames = [(0, 0), (1000, 90), (2000, 170), (3000, 260)].map(|(text, packed)| Restart { text, packed });
/// let found = stretches(&frames, &[1200..1300, 1400..1450, 3500..3500], 4000);
/// let read: Vec<_> = found.iter().map(|own| (own.from.packed, own.end, own.open)).collect();
/// assert_eq!(read, [(90, 1450, None), (260, 3501, Some(3500))]); // the last event's length is not known
/// ```
pub fn stretches(restarts: &[Restart], wanted: &[Range<u64>], len: u64) -> Vec<Stretch> {
    let mut all: BTreeMap<usize, Stretch> = BTreeMap::new();
    for range in wanted {
        let is_open = range.is_empty();
        let (mut from, end) = (range.start.min(len), range.end.max(range.start + 1).min(len));
        while from < end {
            let number = restarts.partition_point(|own| own.text <= from).saturating_sub(1);
            let Some(&restart) = restarts.get(number) else { return Vec::new() };
            let next = restarts.get(number + 1).map_or(len, |next| next.text);
            let to = end.min(next);
            let own =
                all.entry(number).or_insert_with(|| Stretch { from: restart, end: to, open: None });
            own.end = own.end.max(to);
            // what is behind an event shows where that ends
            own.open = is_open.then_some(range.start).or(own.open.filter(|open| *open >= from));
            from = to;
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn many_small_frames_are_thinned_evenly() {
        let mut found = Restarts::default();
        (0..1_000_000).for_each(|_| found.take(10, 100).expect("few"));
        assert_eq!(found.at, Restart { text: 100_000_000, packed: 10_000_000 });
        let all = found.all;
        assert!((MOST / 2..=2 * MOST).contains(&all.len()), "{}", all.len());
        assert!(all.iter().all(|own| own.text == 10 * own.packed));
        let widest = all.windows(2).map(|two| two[1].text - two[0].text).max();
        assert!(widest < Some(STEP), "{widest:?}");
    }

    #[test]
    fn members_after_zeros_are_found() {
        let member = |text: &[u8]| {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(text).expect("memory takes it");
            packed.finish().expect("memory takes it")
        };
        let first = [member(&[b'a'; STEP as usize]), vec![0; 300]].concat();
        let file = [&first[..], &member(b"b"), &[0; 9]].concat();
        let second = Restart { text: STEP, packed: first.len() as u64 };
        assert_eq!(members(&file), Some(vec![Restart::default(), second]));
        assert_eq!(members(&file[..file.len() - 12]), None, "the last member is cut");
        assert!(has_members(&file) && !has_members(&first) && !has_members(b"[]"));
        let long = member(&vec![b'a'; FIRST_MOST as usize]);
        assert!(!has_members(&[&long[..], &file].concat()), "its first member is too long");
    }

    #[test]
    fn stretches_hold_what_is_wanted() {
        let restarts: Vec<_> = (0..10).map(|n| Restart { text: n * 100, packed: n * 7 }).collect();
        let stretch = |number: usize, end, open| Stretch { from: restarts[number], end, open };
        let wanted =
            [0..10, 50..50, 60..70, 99..101, 250..250, 399..620, 410..500, 420..420, 950..u64::MAX];
        let expected = [
            stretch(0, 100, None),
            stretch(1, 101, None),
            stretch(2, 251, Some(250)),
            stretch(3, 400, None),
            stretch(4, 500, Some(420)),
            stretch(5, 600, None),
            stretch(6, 620, None),
            stretch(9, 980, None),
        ];
        assert_eq!(stretches(&restarts, &wanted, 980), expected);
        assert_eq!(stretches(&restarts, &[], 980), []);
        assert_eq!(stretches(&[], &wanted, 980), []);
        assert_eq!(stretches(&restarts, &[2000..2001, 2000..2000], 980), []);
    }
}
