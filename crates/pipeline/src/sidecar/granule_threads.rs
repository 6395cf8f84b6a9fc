//! Which threads have events in which granule, and which names.
//!
//! A worker notes where a thread comes up first in each of its granules. Granules are joined later; in the one that a place ends up in,
//! the first place of each thread counts, and that is one of those that were noted.

use super::granules::{Granules, PartGranules};
use std::io;
use tracemill_core::error::Error;
use tracemill_core::spill::{Record, SpillVec, SpilledVec, word};
use tracemill_index::{Section, Writer};

/// Rows of a page.
const ROWS: usize = 8192;

/// Where a thread comes up.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    place: u64,
    /// Among the threads of the chunk, then among all.
    pub(super) lane: u32,
}

impl Record for Seen {
    const BYTES: usize = 16;

    fn encode(&self, bytes: &mut [u8]) {
        bytes[..8].copy_from_slice(&self.place.to_le_bytes());
        bytes[8..].copy_from_slice(&u64::from(self.lane).to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Seen { place: word(bytes, 0), lane: word(bytes, 8) as u32 }
    }
}

/// Tells whether a thread comes up in a granule for the first time.
#[derive(Default)]
struct Marks(Vec<u64>);

impl Marks {
    #[inline]
    fn is_first(&mut self, lane: u32, granule: u64) -> bool {
        let lane = lane as usize;
        if lane >= self.0.len() {
            self.0.resize(lane + 1, u64::MAX);
        }
        std::mem::replace(&mut self.0[lane], granule) != granule
    }
}

/// Those of one part of the text.
#[derive(Default)]
pub(super) struct PartLanes {
    pub(super) all: Vec<Seen>,
    marks: Marks,
}

impl PartLanes {
    /// An event of the last granule so far, which has this number.
    #[inline]
    pub(super) fn note(&mut self, place: u64, lane: u32, granule: usize) {
        if self.marks.is_first(lane, granule as u64) {
            self.all.push(Seen { place, lane });
        }
    }

    /// Forgets what joined granules have twice.
    pub(super) fn seal(&mut self, granules: &PartGranules) {
        let mut marks = Marks::default();
        let mut places = granules.places().peekable();
        let mut number = 0;
        self.all.retain(|seen| {
            while places.next_if(|place| *place <= seen.place).is_some() {
                number += 1;
            }
            marks.is_first(seen.lane, number)
        });
    }
}

/// Those of the whole text.
pub(super) struct AllLanes(SpillVec<Seen>);

impl AllLanes {
    pub(super) fn new(all: SpillVec<Seen>) -> Self {
        AllLanes(all)
    }

    /// The next part, whose threads stand in these rows; names without a number are not kept.
    pub(super) fn append(&mut self, mut part: PartLanes, rows: &[u32]) -> Result<(), Error> {
        for seen in &mut part.all {
            seen.lane = rows.get(seen.lane as usize).copied().unwrap_or_default();
        }
        part.all.retain(|seen| seen.lane != u32::MAX);
        self.0.extend(&part.all)
    }

    pub(super) fn finish(mut self) -> Result<GranuleLanes, Error> {
        Ok(GranuleLanes(self.0.take()?))
    }
}

/// Threads by granule.
pub(super) struct GranuleLanes(SpilledVec<Seen>);

impl GranuleLanes {
    /// Writes their section, for granules cut at this level.
    pub(super) fn write<W: io::Write>(
        &self,
        section: Section,
        (granules, level): (&Granules, u32),
        to: &mut Writer<W>,
    ) -> io::Result<()> {
        to.section(section)?;
        let mut all = self.0.iter().peekable();
        let mut marks = Marks::default();
        let (mut numbers, mut lanes) = (Vec::new(), Vec::new());
        for (number, granule) in granules.cut(level).enumerate() {
            let number = number as u64;
            let begin = lanes.len();
            while let Some(seen) = all.next_if(|seen| seen.place < granule.end) {
                if marks.is_first(seen.lane, number) {
                    lanes.push(u64::from(seen.lane));
                }
            }
            lanes[begin..].sort_unstable();
            numbers.resize(lanes.len(), number);
            while numbers.len() >= ROWS {
                page(&numbers[..ROWS], &lanes[..ROWS], to)?;
                numbers.drain(..ROWS);
                lanes.drain(..ROWS);
            }
        }
        page(&numbers, &lanes, to)
    }
}

fn page<W: io::Write>(numbers: &[u64], lanes: &[u64], to: &mut Writer<W>) -> io::Result<()> {
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else { return Ok(()) };
    to.page(numbers.len(), (first, last), |to| {
        to.numbers(numbers);
        to.numbers(lanes);
    })
}
