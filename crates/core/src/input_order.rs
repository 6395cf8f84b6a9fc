//! Events in input order: 8 bytes each, in memory or, beyond the budget, on disk.
//!
//! For verbs that keep the order of their input. What `order::Entry` adds, the time, is not needed: nothing is sorted.

use crate::error::Error;
use crate::order::{Lists, Spill};
use crate::place::Place;
use std::path::{Path, PathBuf};

/// Places in input order, from parts that arrive in input order.
pub struct InputOrderList {
    tmp_dir: PathBuf,
    /// Bytes of places that may be in memory.
    limit: u64,
    heap: u64,
    parts: Vec<Vec<Place>>,
    spill: Option<Spill>,
    /// Bytes spilled.
    pub spilled: u64,
}

impl InputOrderList {
    /// None yet; of more than `limit` bytes the rest goes to `tmp_dir`.
    pub fn new(tmp_dir: &Path, limit: u64) -> Self {
        let tmp_dir = tmp_dir.to_owned();
        InputOrderList { tmp_dir, limit, heap: 0, parts: Vec::new(), spill: None, spilled: 0 }
    }

    /// Appends places that stand behind all others.
    pub fn push(&mut self, places: Vec<Place>) -> Result<(), Error> {
        if places.is_empty() {
            return Ok(());
        }
        self.heap += (places.capacity() * size_of::<Place>()) as u64;
        self.parts.push(places);
        if self.heap > self.limit {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<(), Error> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            None => self.spill.insert(Spill::new(&self.tmp_dir)?),
        };
        for places in self.parts.drain(..) {
            self.spilled += (places.len() * size_of::<Place>()) as u64;
            spill.list(0, &places)?;
        }
        self.heap = 0;
        Ok(())
    }

    /// All of them: list 0 of the two.
    pub fn finish(mut self) -> Result<Lists, Error> {
        if self.spill.is_some() {
            self.spill()?;
        }
        match self.spill {
            None => Ok(Lists::Memory([self.parts, Vec::new()])),
            Some(spill) => Ok(spill.finish()?.1),
        }
    }
}
