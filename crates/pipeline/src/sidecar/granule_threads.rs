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
pub(super) struct ThreadPlace {
    place: u64,
    /// Among the threads of the chunk, then among all.
    pub(super) thread: u32,
}

impl Record for ThreadPlace {
    const BYTES: usize = 16;

    fn encode(&self, bytes: &mut [u8]) {
        bytes[..8].copy_from_slice(&self.place.to_le_bytes());
        bytes[8..].copy_from_slice(&u64::from(self.thread).to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        ThreadPlace { place: word(bytes, 0), thread: word(bytes, 8) as u32 }
    }
}

/// Tells whether a thread comes up in a granule for the first time.
#[derive(Default)]
struct Marks(Vec<u64>);

impl Marks {
    #[inline]
    fn is_first(&mut self, thread: u32, granule: u64) -> bool {
        let thread = thread as usize;
        if thread >= self.0.len() {
            self.0.resize(thread + 1, u64::MAX);
        }
        std::mem::replace(&mut self.0[thread], granule) != granule
    }
}

/// Those of one part of the text.
#[derive(Default)]
pub(super) struct PartThreads {
    pub(super) all: Vec<ThreadPlace>,
    marks: Marks,
}

impl PartThreads {
    /// An event of the last granule so far, which has this number.
    #[inline]
    pub(super) fn note(&mut self, place: u64, thread: u32, granule: usize) {
        if self.marks.is_first(thread, granule as u64) {
            self.all.push(ThreadPlace { place, thread });
        }
    }

    /// Forgets what joined granules have twice.
    pub(super) fn seal(&mut self, granules: &PartGranules) {
        let mut marks = Marks::default();
        let mut places = granules.places().peekable();
        let mut number = 0;
        self.all.retain(|found| {
            while places.next_if(|place| *place <= found.place).is_some() {
                number += 1;
            }
            marks.is_first(found.thread, number)
        });
    }
}

/// Those of the whole text.
pub(super) struct AllThreads(SpillVec<ThreadPlace>);

impl AllThreads {
    pub(super) fn new(all: SpillVec<ThreadPlace>) -> Self {
        AllThreads(all)
    }

    /// The next part, whose threads stand in these rows; names without a number are not kept.
    pub(super) fn append(&mut self, mut part: PartThreads, rows: &[u32]) -> Result<(), Error> {
        for found in &mut part.all {
            found.thread = rows.get(found.thread as usize).copied().unwrap_or_default();
        }
        part.all.retain(|found| found.thread != u32::MAX);
        self.0.extend(&part.all)
    }

    pub(super) fn finish(mut self) -> Result<GranuleThreads, Error> {
        Ok(GranuleThreads(self.0.take()?))
    }
}

/// Threads by granule.
pub(super) struct GranuleThreads(SpilledVec<ThreadPlace>);

impl GranuleThreads {
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
        let (mut numbers, mut threads) = (Vec::new(), Vec::new());
        for (number, granule) in granules.cut(level).enumerate() {
            let number = number as u64;
            let begin = threads.len();
            while let Some(found) = all.next_if(|found| found.place < granule.end) {
                if marks.is_first(found.thread, number) {
                    threads.push(u64::from(found.thread));
                }
            }
            threads[begin..].sort_unstable();
            numbers.resize(threads.len(), number);
            while numbers.len() >= ROWS {
                page(&numbers[..ROWS], &threads[..ROWS], to)?;
                numbers.drain(..ROWS);
                threads.drain(..ROWS);
            }
        }
        page(&numbers, &threads, to)
    }
}

fn page<W: io::Write>(numbers: &[u64], threads: &[u64], to: &mut Writer<W>) -> io::Result<()> {
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else { return Ok(()) };
    to.page(numbers.len(), (first, last), |to| {
        to.numbers(numbers);
        to.numbers(threads);
    })
}
