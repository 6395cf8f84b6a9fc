//! Entries in one row of exact order, to be searched: in memory, or on disk.

use super::run::{ENTRY, Run, encode};
use super::spill::Scratch;
use super::{Order, Runs, Sorter};
use crate::entry::Entry;
use crate::error::Error;
use std::path::Path;
use tracemill_tokenizer::Mapped;

/// See the module doc.
pub enum Sorted {
    /// In memory.
    Memory(Vec<Entry>),
    /// On disk: records of [`encode`].
    Disk(Mapped),
}

impl Default for Sorted {
    fn default() -> Self {
        Sorted::Memory(Vec::new())
    }
}

impl Sorted {
    /// What a sorter has; on disk if any of it went there.
    pub fn of(mut sorter: Sorter, order: Order<'_, '_>, tmp_dir: &Path) -> Result<Self, Error> {
        let (runs, _) = sorter.finish(order.0)?;
        if let Runs::Memory(_) = runs {
            let mut all = Vec::new();
            runs.each_in_order(order, |entry| {
                all.push(entry);
                Ok(())
            })?;
            return Ok(Sorted::Memory(all));
        }
        let mut file = Scratch::new(tmp_dir)?;
        runs.each_in_order(order, |entry| file.write(&encode(entry)))?;
        Ok(file.into_mapped()?.map_or_else(Sorted::default, Sorted::Disk))
    }

    /// All of them.
    pub fn run(&self) -> Run<'_> {
        match self {
            Sorted::Memory(entries) => Run::Memory(entries),
            Sorted::Disk(mapped) => Run::Disk(mapped.as_chunks::<ENTRY>().0),
        }
    }
}
