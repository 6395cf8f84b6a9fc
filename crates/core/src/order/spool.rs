//! Records of fixed size in the order in which they come: in memory or, beyond a limit, on disk.

use super::record::{Record, records};
use super::spill::Scratch;
use crate::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tracemill_tokenizer::Mapped;

/// Collects records.
pub struct Spool<R> {
    pub(super) memory: Vec<R>,
    scratch: Option<Scratch>,
    /// Bytes that may be in memory.
    limit: u64,
    tmp_dir: PathBuf,
}

impl<R: Record> Spool<R> {
    /// None yet; of more than `limit` bytes the rest goes to `tmp_dir`.
    pub fn new(tmp_dir: &Path, limit: u64) -> Self {
        Spool { memory: Vec::new(), scratch: None, limit, tmp_dir: tmp_dir.to_owned() }
    }

    /// Appends records.
    pub fn extend(&mut self, records: &[R]) -> Result<(), Error> {
        self.memory.extend_from_slice(records);
        if self.is_full() {
            self.spill()?;
        }
        Ok(())
    }

    /// The record of a number, to be changed, unless it is on disk.
    pub fn in_memory(&mut self, number: usize) -> Option<&mut R> {
        let on_disk = self.scratch.as_ref().map_or(0, |scratch| scratch.len() as usize / R::BYTES);
        self.memory.get_mut(number.checked_sub(on_disk)?)
    }

    /// Whether there is more than may be in memory.
    pub(super) fn is_full(&self) -> bool {
        size_of_val(&*self.memory) as u64 > self.limit
    }

    /// Whether any are on disk.
    pub(super) fn is_on_disk(&self) -> bool {
        self.scratch.is_some()
    }

    /// Moves what is in memory behind what is on disk; returns the bytes that it is there.
    pub(super) fn spill(&mut self) -> Result<Range<usize>, Error> {
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            none => none.insert(Scratch::new(&self.tmp_dir)?),
        };
        let start = scratch.len() as usize;
        scratch.write_records(&self.memory)?;
        self.memory.clear();
        Ok(start..scratch.len() as usize)
    }

    /// Ends collecting, and begins anew.
    pub fn take(&mut self) -> Result<Spooled<R>, Error> {
        let memory = std::mem::take(&mut self.memory);
        let mapped = self.scratch.take().map_or(Ok(None), Scratch::into_mapped)?;
        Ok(Spooled { mapped, memory })
    }

    /// Gives all records to `visit` and forgets them.
    pub fn drain(&mut self, visit: impl FnMut(R) -> Result<(), Error>) -> Result<(), Error> {
        match self.scratch {
            // without giving up the allocation
            None => self.memory.drain(..).try_for_each(visit),
            Some(_) => self.take()?.iter().try_for_each(visit),
        }
    }

    /// Forgets all records.
    pub fn clear(&mut self) {
        self.memory.clear();
        self.scratch = None;
    }
}

/// Records, to be read as often as needed.
pub struct Spooled<R> {
    pub(super) mapped: Option<Mapped>,
    pub(super) memory: Vec<R>,
}

impl<R: Record> Spooled<R> {
    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.mapped.is_none()
    }

    /// Bytes on disk.
    pub fn spilled(&self) -> u64 {
        self.mapped.as_ref().map_or(0, |mapped| mapped.len() as u64)
    }

    fn on_disk(&self) -> &[u8] {
        self.mapped.as_deref().unwrap_or_default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.on_disk().len() / R::BYTES + self.memory.len()
    }

    /// The record of a number.
    pub fn get(&self, number: usize) -> Option<R> {
        let start = number * R::BYTES;
        match self.on_disk().get(start..start + R::BYTES) {
            Some(bytes) => Some(R::decode(bytes)),
            None => self.memory.get(number - self.on_disk().len() / R::BYTES).copied(),
        }
    }

    /// In the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = R> {
        self.range(0..self.len())
    }

    /// Those of these numbers, in the order in which they came.
    pub fn range(&self, numbers: Range<usize>) -> impl Iterator<Item = R> {
        let count = self.on_disk().len() / R::BYTES;
        let [start, end] = [numbers.start, numbers.end].map(|at| at.min(count) * R::BYTES);
        let spilled = records(&self.on_disk()[start..end]);
        let own = numbers.start.max(count) - count..numbers.end.max(count) - count;
        spilled.chain(self.memory[own].iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Entry;
    use crate::place::Place;

    #[test]
    fn records_come_back_as_they_came_from_memory_and_disk() {
        let entries: Vec<Entry> =
            (0..100).map(|n| Entry { time: -n, place: Place::new(n as u64, 1, 0) }).collect();
        for limit in [0, 500, u64::MAX] {
            let mut spool = Spool::new(&std::env::temp_dir(), limit);
            for _ in 0..2 {
                entries.chunks(7).try_for_each(|some| spool.extend(some)).expect("room on disk");
                let mut drained = Vec::new();
                let take = |entry| {
                    drained.push(entry);
                    Ok(())
                };
                spool.drain(take).expect("nothing fails");
                assert_eq!(drained, entries, "{limit}");
            }
            spool.extend(&entries).expect("room on disk");
            let spooled = spool.take().expect("room on disk");
            assert_eq!(spooled.iter().collect::<Vec<_>>(), entries);
            for range in [0..0, 0..100, 3..50, 60..100, 99..100] {
                assert!(spooled.range(range.clone()).eq(entries[range].iter().copied()));
            }
            let all = (0..101).map(|number| spooled.get(number));
            assert!(all.eq(entries.iter().copied().map(Some).chain([None])));
            assert_eq!(spooled.len(), 100);
            assert_eq!(spooled.spilled() > 0, limit < u64::MAX);
            spool.extend(&entries).expect("room on disk");
            spool.clear();
            assert!(spool.take().expect("room on disk").is_empty());
        }
    }
}
