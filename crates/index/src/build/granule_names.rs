//! Collects the names of the events that begin in each block.
//!
//! A worker notes the first event of each name in each of its blocks. If blocks are joined later,
//! the first event of a name in the joined block is one of the noted events.

use super::granules::{Granules, PartGranules};
use crate::format::{Writer, id};
use crate::pages::write_rows;
use std::io;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{SpillVec, SpilledVec};

record! {
    /// Offset of an event, and index of its name.
    #[derive(Clone, Copy)]
    pub(super) struct NamePlace {
        place: u64,
        /// Index of the name: first in the chunk, later in the whole text.
        pub(super) name: u32,
    }
}

/// Finds the first event of each name in a block.
#[derive(Default)]
struct FirstMarks(Vec<u64>);

impl FirstMarks {
    #[inline]
    fn is_first(&mut self, name: u32, granule: u64) -> bool {
        let name = name as usize;
        if name >= self.0.len() {
            self.0.resize(name + 1, u64::MAX);
        }
        std::mem::replace(&mut self.0[name], granule) != granule
    }
}

#[derive(Default)]
pub(super) struct PartNames {
    pub(super) all: Vec<NamePlace>,
    marks: FirstMarks,
}

impl PartNames {
    /// Notes an event of the last block, which has the number `granule`.
    #[inline]
    pub(super) fn note(&mut self, place: u64, name: u32, granule: usize) {
        if self.marks.is_first(name, granule as u64) {
            self.all.push(NamePlace { place, name });
        }
    }

    /// Keeps only the first event of each name in each joined block.
    pub(super) fn seal(&mut self, granules: &PartGranules) {
        let mut marks = FirstMarks::default();
        let mut places = granules.places().peekable();
        let mut number = 0;
        self.all.retain(|found| {
            while places.next_if(|place| *place <= found.place).is_some() {
                number += 1;
            }
            marks.is_first(found.name, number)
        });
    }
}

/// Appends the names of the next chunk. `rows` are the numbers of the chunk's names in the whole
/// text; drops names without a number.
pub(super) fn append(
    all: &mut SpillVec<NamePlace>,
    mut part: PartNames,
    rows: &[u32],
) -> Result<(), Error> {
    for found in &mut part.all {
        found.name = rows.get(found.name as usize).copied().unwrap_or_default();
    }
    part.all.retain(|found| found.name != u32::MAX);
    all.extend(&part.all)
}

pub(super) struct GranuleNames(pub(super) SpilledVec<NamePlace>);

impl GranuleNames {
    /// Writes GRANULE_NAMES, for blocks cut at `level`.
    pub(super) fn write<W: io::Write>(
        &self,
        granules: &Granules,
        level: u32,
        to: &mut Writer<W>,
    ) -> io::Result<()> {
        let mut all = self.0.iter().peekable();
        let mut marks = FirstMarks::default();
        let rows = (0..).zip(granules.cut(level)).flat_map(|(number, granule)| {
            let mut names = Vec::new();
            while let Some(found) = all.next_if(|found| found.place < granule.end) {
                if marks.is_first(found.name, number) {
                    names.push(u64::from(found.name));
                }
            }
            names.sort_unstable();
            names.into_iter().map(move |name| ([number, name], number))
        });
        write_rows(id::GRANULE_NAMES, rows, to)
    }
}
