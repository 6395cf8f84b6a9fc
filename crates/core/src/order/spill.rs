//! Sorted runs on disk, for an index beyond the budget.
//!
//! One unlinked file holds the runs, one behind the other, 16 bytes an entry; two more hold the lists of metadata and
//! untimed events, 8 bytes a place, which are in order as they come. Reading maps the files, so it costs no heap
//! and no descriptors, however many runs there are.

use super::loser_tree::LoserTree;
use super::record::{Record, encode_all};
use super::run::{ENTRY, Run, RunIter, encode};
use super::{Buckets, Order};
use crate::entry::Entry;
use crate::error::Error;
use crate::os::Temporary;
use crate::place::Place;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use tracemill_tokenizer::Mapped;

const PLACE: usize = size_of::<Place>();

/// An unlinked temporary file that grows and is then read as memory.
pub struct Scratch {
    writer: BufWriter<Temporary>,
    pub(super) len: u64,
    dir: PathBuf,
}

impl Scratch {
    /// An empty file in `dir`, which has no name.
    pub fn new(dir: &Path) -> Result<Self, Error> {
        let file = Temporary::new(dir).map_err(|e| Error::scratch(dir, e))?;
        let writer = BufWriter::with_capacity(256 * 1024, file);
        Ok(Scratch { writer, len: 0, dir: dir.to_owned() })
    }

    /// Bytes written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.len += bytes.len() as u64;
        self.writer.write_all(bytes).map_err(|e| Error::scratch(&self.dir, e))
    }

    /// Appends records.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Scratch`] if the disk does not take them.
    pub fn write_records<R: Record>(&mut self, records: &[R]) -> Result<(), Error> {
        /// Records that are encoded at a time.
        const BLOCK: usize = 1024;
        let mut bytes = Vec::new();
        records.chunks(BLOCK).try_for_each(|block| {
            encode_all(block, &mut bytes);
            self.write(&bytes)
        })
    }

    /// Appends what sorted `runs` hold, in exact order.
    pub(super) fn write_run<'e>(
        &mut self,
        runs: impl Iterator<Item = &'e [Entry]>,
        order: Order<'_, '_>,
    ) -> Result<(), Error> {
        let (buckets, mut bucket) = (Buckets::over(runs), Vec::new());
        for index in 0..buckets.count() {
            buckets.collect(index, &mut bucket);
            order.resolve_ties(&mut bucket);
            bucket.iter().try_for_each(|&entry| self.write(&encode(entry)))?;
        }
        Ok(())
    }

    /// Ends writing; nothing if nothing was written.
    pub fn into_mapped(mut self) -> Result<Option<Mapped>, Error> {
        if self.len == 0 {
            return Ok(None);
        }
        let flushed = self.writer.flush().and_then(|()| self.writer.get_ref().map());
        flushed.map(Some).map_err(|e| Error::scratch(&self.dir, e))
    }
}

/// What was spilled so far.
pub struct Spill {
    runs: Scratch,
    lists: [Scratch; 2],
    /// Byte ranges of the runs.
    ranges: Vec<Range<usize>>,
}

impl Spill {
    /// No runs yet; they go to files in `dir`, which have no names.
    pub fn new(dir: &Path) -> Result<Self, Error> {
        let lists = [Scratch::new(dir)?, Scratch::new(dir)?];
        Ok(Spill { runs: Scratch::new(dir)?, lists, ranges: Vec::new() })
    }

    /// Writes everything in `parts` as one run in exact order.
    pub fn run(&mut self, parts: &[Vec<Entry>], order: Order<'_, '_>) -> Result<(), Error> {
        let start = self.runs.len as usize;
        self.runs.write_run(parts.iter().map(Vec::as_slice), order)?;
        let end = self.runs.len as usize;
        if end > start {
            self.ranges.push(start..end);
        }
        Ok(())
    }

    /// Appends to list 0 (metadata) or 1 (untimed).
    pub fn list(&mut self, list: usize, places: &[Place]) -> Result<(), Error> {
        places.iter().try_for_each(|place| self.lists[list].write(&place.0.to_le_bytes()))
    }

    /// Ends writing.
    pub fn finish(self) -> Result<(SpilledRuns, Lists), Error> {
        let [metadata, untimed] = self.lists;
        let lists = [metadata.into_mapped()?, untimed.into_mapped()?];
        let runs = SpilledRuns { mapped: self.runs.into_mapped()?, ranges: self.ranges };
        Ok((runs, Lists::Spilled(lists)))
    }
}

/// The lists of metadata and untimed events.
pub enum Lists {
    /// In memory: parts as they came.
    Memory([Vec<Vec<Place>>; 2]),
    /// On disk; `None` for a list without places.
    Spilled([Option<Mapped>; 2]),
}

impl Lists {
    /// The places of both lists in order.
    pub fn iter(&self) -> impl Iterator<Item = Place> + '_ {
        self.of(0).chain(self.of(1))
    }

    /// The places of one list in order.
    pub fn of(&self, list: usize) -> impl Iterator<Item = Place> + '_ {
        let (memory, disk) = match self {
            Lists::Memory(lists) => (Some(lists[list].iter().flatten().copied()), None),
            Lists::Spilled(lists) => (None, Some(places(&lists[list]))),
        };
        memory.into_iter().flatten().chain(disk.into_iter().flatten())
    }

    /// One list becomes `places`; what is on disk stays there.
    pub fn replace(
        self,
        list: usize,
        tmp_dir: &Path,
        mut places: impl Iterator<Item = Place>,
    ) -> Result<Self, Error> {
        match self {
            Lists::Memory(mut lists) => {
                lists[list] = vec![places.collect()];
                Ok(Lists::Memory(lists))
            }
            Lists::Spilled(mut lists) => {
                let mut file = Scratch::new(tmp_dir)?;
                places.try_for_each(|place| file.write(&place.0.to_le_bytes()))?;
                lists[list] = file.into_mapped()?;
                Ok(Lists::Spilled(lists))
            }
        }
    }

    /// Leaves in one list what `stays`, which sees every place in order.
    pub fn retain(
        self,
        list: usize,
        tmp_dir: &Path,
        mut stays: impl FnMut(Place) -> bool,
    ) -> Result<Self, Error> {
        match self {
            Lists::Memory(mut lists) => {
                lists[list].iter_mut().for_each(|places| places.retain(|&place| stays(place)));
                Ok(Lists::Memory(lists))
            }
            Lists::Spilled(mut lists) => {
                let mut left = Scratch::new(tmp_dir)?;
                let mut staying = places(&lists[list]).filter(|&place| stays(place));
                staying.try_for_each(|place| left.write(&place.0.to_le_bytes()))?;
                drop(staying);
                lists[list] = left.into_mapped()?;
                Ok(Lists::Spilled(lists))
            }
        }
    }
}

/// The places in a file.
fn places(file: &Option<Mapped>) -> impl Iterator<Item = Place> + '_ {
    let words = file.iter().flat_map(|mapped| mapped.as_chunks::<PLACE>().0);
    words.map(|word| Place(u64::from_le_bytes(*word)))
}

/// The sorted runs of a [`Spill`].
pub struct SpilledRuns {
    mapped: Option<Mapped>,
    ranges: Vec<Range<usize>>,
}

impl SpilledRuns {
    /// Entries of all runs.
    pub fn count(&self) -> u64 {
        self.ranges.len() as u64
    }

    /// The runs, each in exact order.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        (0..self.ranges.len()).map(|run| Run::Disk(self.records(run)))
    }

    fn records(&self, run: usize) -> &[[u8; ENTRY]] {
        let bytes = self.mapped.as_deref().unwrap_or_default();
        bytes[self.ranges[run].clone()].as_chunks::<ENTRY>().0
    }
}

/// The runs of a spill, merged in exact order.
pub struct MergedRuns<'r> {
    runs: Vec<Run<'r>>,
    cursors: Vec<RunIter<'r>>,
    tree: LoserTree<Entry>,
}

impl<'r> MergedRuns<'r> {
    /// Over runs that are in exact order each.
    pub fn over(runs: impl Iterator<Item = Run<'r>>, order: Order<'_, '_>) -> Self {
        let runs: Vec<Run<'r>> = runs.collect();
        let mut cursors: Vec<RunIter<'r>> = runs.iter().map(|run| run.iter()).collect();
        let heads = cursors.iter_mut().map(RunIter::next).collect();
        let tree = LoserTree::new(heads, &|a, b| order.compare(a, b));
        MergedRuns { runs, cursors, tree }
    }

    /// The runs, whatever was taken of them.
    pub fn runs(&self) -> &[Run<'r>] {
        &self.runs
    }

    /// Fills `batch` with up to `most` entries that come next.
    pub fn next_batch(&mut self, order: Order<'_, '_>, most: usize, batch: &mut Vec<Entry>) {
        while batch.len() < most
            && let Some((_, entry)) = self.next(order)
        {
            batch.push(entry);
        }
    }

    /// The entry that comes next, and the number of its run; it stays there.
    pub fn peek(&self) -> Option<(usize, Entry)> {
        self.tree.winner()
    }

    /// Takes the entry that comes next.
    pub fn next(&mut self, order: Order<'_, '_>) -> Option<(usize, Entry)> {
        let (run, entry) = self.tree.winner()?;
        self.tree.replace(self.cursors[run].next(), &|a, b| order.compare(a, b));
        Some((run, entry))
    }
}
