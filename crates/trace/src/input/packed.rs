//! Unpacks parts of packed files, without unpacking the text before them.
//!
//! ```text
//!   file  ├ frame ┼ frame ┼ frame ┼ frame ┼ frame ┤
//!   text  ├───────┼───────┼───────┼───────┼───────┤
//!   wanted            ▆▆▆                     ▆▆▆▆▆▆▆ …
//!   unpacked       ████████                ███████████       a sparse file, text in place
//! ```
//!
//! Unpacking can begin at each zstd frame and gzip member. The result is a map of the whole text
//! with holes, which readers treat like a plain file.
//!
//! ```
//! use flate2::{Compression, write::GzEncoder};
//! use std::io::Write;
//! use std::sync::Arc;
//! use tracemill_trace::os::Temporary;
//! use tracemill_trace::input::packed::{Unpacking, members, spans, unpack};
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
//! let (spans, len) = (spans(&restarts, &wanted, text.len() as u64), text.len() as u64);
//! let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
//! let map = unpack("a.json.gz", &file, &Unpacking { spans, len }, &limits)?;
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

/// The start of a frame or member, where unpacking can begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restart {
    /// Offset in the text.
    pub text: u64,
    /// Offset in the packed file.
    pub packed: u64,
}

/// Returns whether a file is packed.
pub fn is_packed(file: &[u8]) -> bool {
    input::is_packed(file)
}

/// Approximate maximum number of recorded restarts. There may be more if they are [`STEP`] apart.
const MOST: usize = 8192;
/// Greatest minimum of text between recorded restarts, in bytes. At most this much is unpacked to
/// reach one event, unless frames are longer.
const STEP: u64 = 1 << 20;

/// Restarts recorded so far; some are dropped if there are many.
#[derive(Default)]
struct Restarts {
    all: Vec<Restart>,
    /// Minimum text between two recorded restarts, in bytes.
    step: u64,
    at: Restart,
}

impl Restarts {
    /// Adds a frame with these lengths in bytes. Returns `None` on overflow.
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

    /// Drops restarts that are too close to the previous restart.
    fn thin(&mut self) {
        let mut next = 0;
        let step = self.step;
        self.all.retain(|restart| {
            let stays = restart.text >= next;
            next = if stays { restart.text + step } else { next };
            stays
        });
    }
}

/// Returns the frame starts of a zstd file and the length of its text. Returns `None` if frames do
/// not state their length. If there are many small frames, returns only about 8192 of them, or one
/// per MiB of text.
///
/// Cost: reads the seek table, or without one the header of each block of 128 KiB.
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

/// Maximum text of a first member that [`has_members`] unpacks.
const FIRST_MOST: u64 = 64 << 20;

/// Returns whether a file is gzip with several members, the first with less than 64 MiB of text.
///
/// Cost: unpacks the first member, up to that length.
pub fn has_members(file: &[u8]) -> bool {
    input::is_gzip(file)
        && after_member(file, FIRST_MOST)
            .is_some_and(|(_, behind)| behind.iter().any(|byte| *byte != 0))
}

/// Returns the member starts of a gzip file that are at least 1 MiB of text apart. Returns `None`
/// if the file is damaged.
///
/// Cost: unpacks the file on one thread.
pub fn members(file: &[u8]) -> Option<Vec<Restart>> {
    let mut found = Restarts { step: STEP, ..Restarts::default() };
    let mut rest = file;
    // members may have zeros between them
    while let Some(zeros) = rest.iter().position(|byte| *byte != 0) {
        found.at.packed += zeros as u64;
        let (text, behind) = after_member(&rest[zeros..], u64::MAX)?;
        found.take((rest.len() - zeros - behind.len()) as u64, text)?;
        rest = behind;
    }
    Some(found.all)
}

/// Returns the text length of the member at the start of `file`, and the bytes after it. Returns
/// `None` if the member is damaged or its text has `most` bytes or more.
fn after_member(file: &[u8], most: u64) -> Option<(u64, &[u8])> {
    let mut member = GzDecoder::new(file).take(most);
    let text = io::copy(&mut member, &mut io::sink()).ok()?;
    (text < most).then(|| (text, member.into_inner().into_inner()))
}

/// A wanted range of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Restart at or before the range.
    pub from: Restart,
    /// End of the range in the text.
    pub end: u64,
    /// Offset of the last event, if its length is unknown. That event is unpacked completely, past
    /// `end` if needed.
    pub open: Option<u64>,
}

impl Stretch {
    /// Returns the minimum number of bytes to unpack.
    pub fn bytes(&self) -> u64 {
        self.end.saturating_sub(self.from.text)
    }
}

/// The parts of a file to unpack.
#[derive(Clone, Debug)]
pub struct Unpacking {
    /// The ranges to unpack, in ascending order.
    pub spans: Vec<Stretch>,
    /// Length of the whole text in bytes.
    pub len: u64,
}

/// Unpacks ranges of a file. The rest of the map is zero and takes no disk space.
///
/// Cost: the unpacked bytes on disk; uses all threads.
///
/// # Errors
/// Returns [`crate::run::error::ErrorKind::Read`] if the packed data is damaged or ends too early;
/// [`crate::run::error::ErrorKind::Scratch`] if the temporary file cannot be written.
pub fn unpack(
    name: &str,
    file: &Arc<Mapped>,
    unpacking: &Unpacking,
    limits: &Limits,
) -> Result<Arc<Mapped>, Error> {
    let &Unpacking { ref spans, len } = unpacking;
    let failed = |e| Error::scratch(&limits.tmp_dir, e);
    let sparse = Sparse::new(&limits.tmp_dir, len).map_err(failed)?;
    let one = |number: usize| {
        limits.cancel.check()?;
        let Stretch { from, end, open } = spans[number];
        let reader = input::unpacked(file, from.packed);
        let reader = reader.map_err(|e| Error::read(name, e))?;
        let mut text = StretchText { reader, at: from.text, sparse: &sparse, name, limits };
        text.copy_to(end.min(len))?;
        // doubling the length bounds the number of times that a long event is parsed
        while let Some(open) = open.filter(|_| text.at < len)
            && !holds(&sparse, open..text.at).map_err(failed)?
        {
            let more = (text.at - open).max(COPIED as u64);
            text.copy_to(text.at.saturating_add(more).min(len))?;
        }
        Ok::<_, Error>(())
    };
    try_each(limits.threads, spans.len(), one)?;
    Ok(Arc::new(sparse.into_map().map_err(failed)?))
}

/// Returns whether the event at the start of a range ends before the range does.
fn holds(sparse: &Sparse, range: Range<u64>) -> io::Result<bool> {
    let mut event = vec![0; (range.end - range.start) as usize];
    sparse.read_exact_at(&mut event, range.start)?;
    Ok(JsonCursor::new(&event).value().len() < event.len())
}

const COPIED: usize = 64 << 10;

/// The text of a range while it is unpacked.
struct StretchText<'a> {
    reader: Box<dyn Read + Send>,
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

/// Returns the spans that cover the `wanted` ranges of text. The starts of `wanted` ascend; an
/// empty range is an event of unknown length.
///
/// `restarts` ascend from the start of the text, which has `len` bytes. A span extends from its
/// restart to the last wanted byte before the next restart.
///
/// ```
/// use tracemill_trace::input::packed::{Restart, spans};
///
/// let frames = [(0, 0), (1000, 90), (2000, 170), (3000, 260)].map(|(text, packed)| Restart { text, packed });
/// let found = spans(&frames, &[1200..1300, 1400..1450, 3500..3500], 4000);
/// let read: Vec<_> = found.iter().map(|range| (range.from.packed, range.end, range.open)).collect();
/// assert_eq!(read, [(90, 1450, None), (260, 3501, Some(3500))]); // the last event's length is not known
/// ```
pub fn spans(restarts: &[Restart], wanted: &[Range<u64>], len: u64) -> Vec<Stretch> {
    let mut all: BTreeMap<usize, Stretch> = BTreeMap::new();
    for range in wanted {
        let is_open = range.is_empty();
        let (mut from, end) = (range.start.min(len), range.end.max(range.start + 1).min(len));
        while from < end {
            let number = restarts.partition_point(|restart| restart.text <= from).saturating_sub(1);
            let Some(&restart) = restarts.get(number) else { return Vec::new() };
            let next = restarts.get(number + 1).map_or(len, |next| next.text);
            let to = end.min(next);
            let span =
                all.entry(number).or_insert_with(|| Stretch { from: restart, end: to, open: None });
            span.end = span.end.max(to);
            // bytes after an event show where it ends
            span.open = is_open.then_some(range.start).or(span.open.filter(|open| *open >= from));
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
        assert!(all.iter().all(|restart| restart.text == 10 * restart.packed));
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
    fn stretches_cover_the_wanted_ranges() {
        let restarts: Vec<_> = (0..10).map(|n| Restart { text: n * 100, packed: n * 7 }).collect();
        let span = |number: usize, end, open| Stretch { from: restarts[number], end, open };
        let wanted =
            [0..10, 50..50, 60..70, 99..101, 250..250, 399..620, 410..500, 420..420, 950..u64::MAX];
        let expected = [
            span(0, 100, None),
            span(1, 101, None),
            span(2, 251, Some(250)),
            span(3, 400, None),
            span(4, 500, Some(420)),
            span(5, 600, None),
            span(6, 620, None),
            span(9, 980, None),
        ];
        assert_eq!(spans(&restarts, &wanted, 980), expected);
        assert_eq!(spans(&restarts, &[], 980), []);
        assert_eq!(spans(&[], &wanted, 980), []);
        assert_eq!(spans(&restarts, &[2000..2001, 2000..2000], 980), []);
    }
}
