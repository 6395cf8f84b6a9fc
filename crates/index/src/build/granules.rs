//! Granules: stretches of events, cut where time jumps, so that a window of time touches few of them.
//!
//! A granule begins with an event that is the first to begin in an aligned 64 KiB of text, or whose time differs by more than J from
//! that of the timed event before it. J is the least power of two for which there are at most so many as [`EACH`] of the text,
//! and for which 4096 of them span the trace. So what is cut depends on the events alone. Events of CPU profiles (phase P) have no time here: they are written long after
//! they began, by a thread of their own, so each would cut, and reach far; STREAMS says where they stand.
//!
//! ```text
//!   events   1 2 3 4 | 90 91 92 | 5 6 7 | 93 94        in the order of the text
//!   jumps            86         87      86             kept as long as J may be below them
//! ```
//!
//! J is known when all is read. Until then a granule is cut at every jump above a bound that J reaches in any case; cuts of a greater
//! J are among those of a lesser one, so joining granules at the end gives what cutting with J would have given.

use crate::format::{Writer, id};
use crate::meta::level;
use crate::pages::PageRows;
use std::io;
use std::ops::Range;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{SpillVec, SpilledVec};
use tracemill_trace::time::bounds::widen;

/// Bytes of text to a granule at least, taken over the whole text.
const EACH: u64 = 4096;
/// Text in which one granule begins at least, as a power of two.
const BLOCK: u32 = 16;
/// A cut that stays whatever J is.
const FORCED: u64 = u64::MAX;

record! {
    /// A stretch of events.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Granule {
        pub(super) place: u64,
        pub(super) end: u64,
        pub(super) events: u64,
        /// Those of its events alone.
        pub(super) bytes: u64,
        /// Times of its timed events that are no metadata; greatest below least if it has none.
        pub(super) least: i64,
        pub(super) greatest: i64,
        pub(super) sum: u32,
        /// By how much time jumps at its first event.
        jump: u64,
    }
}

/// What of an event counts here.
pub(super) struct GranuleEvent {
    pub(super) place: u64,
    pub(super) len: u64,
    /// Its time, if it has one here.
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

    /// Takes in the one behind it.
    fn join(&mut self, later: &Granule) {
        self.end = later.end;
        self.events += later.events;
        self.bytes += later.bytes;
        self.least = self.least.min(later.least);
        self.greatest = self.greatest.max(later.greatest);
        self.sum = self.sum.wrapping_add(later.sum);
    }

    /// Least time and length; the last time there is if it has none.
    fn times(&self) -> (i64, u64) {
        (self.least, u64::try_from(i128::from(self.greatest) - i128::from(self.least)).unwrap_or(0))
    }
}

/// Returns the least k of J for a range of times.
fn level_of(times: Option<(i64, i64)>) -> u32 {
    times.map_or(0, |(least, greatest)| level(greatest.abs_diff(least).div_ceil(EACH)))
}

/// Those of one part of the text.
#[derive(Default)]
pub(super) struct PartGranules {
    all: Vec<Granule>,
    /// The granule that the first timed event begins, unless something else cuts there too.
    first_timed: Option<usize>,
    first_time: Option<i64>,
    /// Whether that is the first event of all.
    begins_timed: bool,
    last_time: Option<i64>,
    /// Where the last event begins.
    last_place: u64,
    range: Option<(i64, i64)>,
}

impl PartGranules {
    /// The next event.
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
                        // whether this is a cut says the part before
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

    /// How many there are so far.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Where they begin.
    pub(super) fn places(&self) -> impl Iterator<Item = u64> {
        self.all.iter().map(|granule| granule.place)
    }

    /// Joins those that no J can keep apart.
    pub(super) fn seal(&mut self) {
        let level_least = level_of(self.range);
        // nothing before the first timed event is joined: its number stays
        self.all.dedup_by(|later, own| {
            let joined = level(later.jump) <= level_least;
            if joined {
                own.join(later);
            }
            joined
        });
    }
}

/// Those of the whole text, as parts come.
pub(super) struct AllGranules {
    done: SpillVec<Granule>,
    last: Option<Granule>,
    last_time: Option<i64>,
    last_place: u64,
    /// Cuts by level; those below the bound are not all there.
    cuts: [u64; 65],
    range: Option<(i64, i64)>,
}

impl AllGranules {
    pub(super) fn new(done: SpillVec<Granule>) -> Self {
        let (last, last_time, last_place) = (None, None, 0);
        AllGranules { done, last, last_time, last_place, cuts: [0; 65], range: None }
    }

    /// The next part.
    pub(super) fn append(&mut self, mut part: PartGranules) -> Result<(), Error> {
        let jump_of = |own: Option<i64>, before: Option<i64>| match (own, before) {
            (Some(own), Some(before)) => own.abs_diff(before),
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

    /// All of them; `text` is how long the text is.
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

/// All granules of a text, and J.
pub(super) struct Granules {
    all: SpilledVec<Granule>,
    /// J is 2 to the power of it.
    pub(super) level: u32,
}

impl Granules {
    /// From where the first one begins to where the last one does.
    pub(super) fn reach(&self) -> Range<u64> {
        let place = |at: usize| self.all.get(at).map_or(0, |own| own.place);
        place(0)..place(self.all.len().saturating_sub(1))
    }

    /// Those of a J, in their order.
    pub(super) fn cut(&self, level_least: u32) -> impl Iterator<Item = Granule> {
        let mut all = self.all.iter().peekable();
        std::iter::from_fn(move || {
            let mut own = all.next()?;
            while let Some(later) =
                all.next_if(|later| level(later.jump) <= level_least && later.jump != FORCED)
            {
                own.join(&later);
            }
            Some(own)
        })
    }

    /// Writes their section.
    pub(super) fn write<W: io::Write>(&self, level: u32, to: &mut Writer<W>) -> io::Result<()> {
        to.section(id::GRANULES)?;
        let mut rows = PageRows::new();
        for own in self.cut(level) {
            let Granule { place, end, events, sum, bytes, .. } = own;
            let (least, width) = own.times();
            let row = [place, end - place, events, least as u64, width, u64::from(sum), bytes];
            rows.push(row, own.least..=own.greatest, &[], to)?;
        }
        rows.end_page(to)
    }
}
