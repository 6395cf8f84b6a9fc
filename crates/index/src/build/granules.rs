//! Divides events into blocks (granules), cut where time jumps, so that a window overlaps few of
//! them.
//!
//! A block begins at the first event in each aligned 64 KiB of text, and where time differs by more
//! than the block gap J from the previous timed event. J is the least power of two that gives at
//! most one block per [`EACH`] bytes of text, and is at least 1/4096 of the trace's duration.
//! Events of CPU profiles (phase P) count as untimed, since they are written long after their time;
//! STREAMS locates them.
//!
//! ```text
//!   events   1 2 3 4 | 90 91 92 | 5 6 7 | 93 94        in the order of the text
//!   jumps            86         87      86             each is kept while J may be below it
//! ```
//!
//! J is known only at the end. Until then blocks are cut above a lower bound of J, and joined at
//! the end. Each cut for a greater J is also a cut for a lesser J.

use crate::format::{Writer, id};
use crate::meta::level;
use crate::pages::PageRows;
use std::io;
use std::ops::Range;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{SpillVec, SpilledVec};
use tracemill_trace::time::bounds::widen;

/// Least average bytes of text per block; the trace also lasts at most this many times the block
/// gap J.
const EACH: u64 = 4096;
/// Every aligned range of 2^`BLOCK` bytes of text in which an event begins starts a block.
const BLOCK: u32 = 16;
/// Marks a cut that stays for every block gap J.
const FORCED: u64 = u64::MAX;

record! {
    /// A block: a range of consecutive events.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Granule {
        pub(super) place: u64,
        pub(super) end: u64,
        pub(super) events: u64,
        pub(super) bytes: u64,
        /// Least and greatest time of the timed events, except metadata. Without such an event,
        /// `greatest` is less than `least`.
        pub(super) least: i64,
        pub(super) greatest: i64,
        pub(super) sum: u32,
        /// Jump of time, in nanoseconds, before the first event of the block.
        jump: u64,
    }
}

pub(super) struct GranuleEvent {
    pub(super) place: u64,
    pub(super) len: u64,
    /// Time in nanoseconds; `None` for events that count as untimed.
    pub(super) time: Option<i64>,
    pub(super) sum: u32,
}

impl Granule {
    fn of(seen: &GranuleEvent, jump: u64) -> Self {
        Granule {
            place: seen.place,
            end: seen.place + seen.len,
            events: 1,
            bytes: seen.len,
            least: seen.time.unwrap_or(i64::MAX),
            greatest: seen.time.unwrap_or(i64::MIN),
            sum: seen.sum,
            jump,
        }
    }

    /// Joins this block with the next block.
    fn join(&mut self, later: &Granule) {
        self.end = later.end;
        self.events += later.events;
        self.bytes += later.bytes;
        self.least = self.least.min(later.least);
        self.greatest = self.greatest.max(later.greatest);
        self.sum = self.sum.wrapping_add(later.sum);
    }

    /// Returns the least time, and the greatest time less the least.
    fn times(&self) -> (i64, u64) {
        (self.least, u64::try_from(i128::from(self.greatest) - i128::from(self.least)).unwrap_or(0))
    }
}

/// Returns log2 of the least possible block gap J for a range of times.
fn level_of(times: Option<(i64, i64)>) -> u32 {
    times.map_or(0, |(least, greatest)| level(greatest.abs_diff(least).div_ceil(EACH)))
}

#[derive(Default)]
pub(super) struct PartGranules {
    all: Vec<Granule>,
    /// Index of the block that begins with the first timed event, if the previous chunk decides
    /// whether to cut before that event.
    first_timed: Option<usize>,
    first_time: Option<i64>,
    begins_timed: bool,
    last_time: Option<i64>,
    last_place: u64,
    range: Option<(i64, i64)>,
}

impl PartGranules {
    #[inline]
    pub(super) fn note(&mut self, seen: &GranuleEvent) {
        let is_first = self.all.is_empty();
        let other_block = seen.place >> BLOCK != self.last_place >> BLOCK;
        let mut jump = 0;
        if let Some(time) = seen.time {
            widen(&mut self.range, time, time);
            match self.last_time {
                Some(last) => jump = time.abs_diff(last),
                None => {
                    self.first_time = Some(time);
                    self.begins_timed = is_first;
                    if !is_first && !other_block {
                        // depends on the previous chunk
                        self.first_timed = Some(self.all.len());
                        jump = FORCED;
                    }
                }
            }
            self.last_time = Some(time);
        }
        if is_first || other_block {
            jump = FORCED;
        }
        self.last_place = seen.place;
        match self.all.last_mut() {
            Some(last) if jump == 0 => last.join(&Granule::of(seen, 0)),
            _ => self.all.push(Granule::of(seen, jump)),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn places(&self) -> impl Iterator<Item = u64> {
        self.all.iter().map(|granule| granule.place)
    }

    /// Joins blocks that no possible block gap J separates.
    pub(super) fn seal(&mut self) {
        let level_least = level_of(self.range);
        // blocks up to the first timed event stay separate, so `first_timed` stays valid
        self.all.dedup_by(|later, granule| {
            let joined = level(later.jump) <= level_least;
            if joined {
                granule.join(later);
            }
            joined
        });
    }
}

pub(super) struct AllGranules {
    done: SpillVec<Granule>,
    last: Option<Granule>,
    last_time: Option<i64>,
    last_place: u64,
    /// Number of cuts by level; incomplete below the lower bound of the block gap J.
    cuts: [u64; 65],
    range: Option<(i64, i64)>,
}

impl AllGranules {
    pub(super) fn new(done: SpillVec<Granule>) -> Self {
        let (last, last_time, last_place) = (None, None, 0);
        AllGranules { done, last, last_time, last_place, cuts: [0; 65], range: None }
    }

    pub(super) fn append(&mut self, mut part: PartGranules) -> Result<(), Error> {
        let jump_of = |time: Option<i64>, before: Option<i64>| match (time, before) {
            (Some(time), Some(before)) => time.abs_diff(before),
            _ => 0,
        };
        let seam = jump_of(part.first_time, self.last_time);
        if let Some(number) = part.first_timed {
            part.all[number].jump = seam;
        }
        if let (Some(first), Some(_)) = (part.all.first_mut(), &self.last)
            && first.place >> BLOCK == self.last_place >> BLOCK
        {
            first.jump = if part.begins_timed { seam } else { 0 };
        }
        if !part.all.is_empty() {
            self.last_place = part.last_place;
        }
        self.last_time = part.last_time.or(self.last_time);
        if let Some((least, greatest)) = part.range {
            widen(&mut self.range, least, greatest);
        }
        let level_least = level_of(self.range);
        let mut ended = Vec::new();
        for granule in part.all {
            let level = level(granule.jump);
            match &mut self.last {
                Some(last) if level <= level_least && granule.jump != FORCED => last.join(&granule),
                last => {
                    self.cuts[level as usize] += 1;
                    ended.extend(last.replace(granule));
                }
            }
        }
        self.done.extend(&ended)
    }

    /// Returns all blocks; `text` is the length of the text in bytes.
    pub(super) fn finish(mut self, text: u64) -> Result<Granules, Error> {
        self.done.extend(self.last.as_slice())?;
        let most = text / EACH + 1;
        let above = |k: u32| self.cuts[k as usize + 1..].iter().sum::<u64>();
        let mut level = level_of(self.range);
        while level < 63 && above(level) > most {
            level += 1;
        }
        Ok(Granules { all: self.done.take()?, level })
    }
}

/// All blocks of a text, and the block gap J.
pub(super) struct Granules {
    all: SpilledVec<Granule>,
    /// log2 of the block gap J, in nanoseconds.
    pub(super) level: u32,
}

impl Granules {
    /// Returns the offsets from the start of the first block to the start of the last block.
    pub(super) fn reach(&self) -> Range<u64> {
        let place = |at: usize| self.all.get(at).map_or(0, |granule| granule.place);
        place(0)..place(self.all.len().saturating_sub(1))
    }

    /// Returns the blocks for a block gap J of 2^`level_least` ns, in order.
    pub(super) fn cut(&self, level_least: u32) -> impl Iterator<Item = Granule> {
        let mut all = self.all.iter().peekable();
        std::iter::from_fn(move || {
            let mut granule = all.next()?;
            while let Some(later) =
                all.next_if(|later| level(later.jump) <= level_least && later.jump != FORCED)
            {
                granule.join(&later);
            }
            Some(granule)
        })
    }

    pub(super) fn write<W: io::Write>(&self, level: u32, to: &mut Writer<W>) -> io::Result<()> {
        to.section(id::GRANULES)?;
        let mut rows = PageRows::new();
        for granule in self.cut(level) {
            let Granule { place, end, events, sum, bytes, .. } = granule;
            let (least, width) = granule.times();
            let row = [place, end - place, events, least as u64, width, u64::from(sum), bytes];
            rows.push(row, granule.least..=granule.greatest, &[], to)?;
        }
        rows.end_page(to)
    }
}
