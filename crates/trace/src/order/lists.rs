//! Events that need no sorting: metadata, and events without a time, which come before all others in the order in which they were read.
//!
//! Heap: 8 bytes an event, on disk when the entries of the same sorter go there.

use super::{METADATA, UNTIMED};
use crate::run::error::Error;
use crate::run::memory::Lease;
use crate::spill::{SpillVec, SpilledVec};
use crate::store::place::Place;
use std::path::Path;

/// The places of metadata events ([`METADATA`]) and of events without a time ([`UNTIMED`]), each in input order.
#[derive(Default)]
pub struct Lists(pub [SpilledVec<Place>; 2]);

impl From<SpilledVec<Place>> for Lists {
    /// All events in input order, as one list.
    fn from(places: SpilledVec<Place>) -> Self {
        Lists([places, SpilledVec::default()])
    }
}

impl Lists {
    /// The places of both lists in order.
    pub fn iter(&self) -> impl Iterator<Item = Place> + '_ {
        self.of(METADATA).chain(self.of(UNTIMED))
    }

    /// The places of one list in order.
    pub fn of(&self, list: usize) -> impl Iterator<Item = Place> + '_ {
        self.0[list].iter()
    }

    /// One list becomes `places`; beyond what it had in memory they go to `tmp_dir`.
    ///
    /// # Errors
    /// [`Scratch`](crate::run::error::ErrorKind::Scratch) if the disk does not take them.
    pub fn replace(
        mut self,
        list: usize,
        tmp_dir: &Path,
        mut places: impl Iterator<Item = Place>,
    ) -> Result<Self, Error> {
        let mut replaced = SpillVec::new(Lease::alone(self.room(list), tmp_dir));
        places.try_for_each(|place| replaced.push(place))?;
        self.0[list] = replaced.finish()?;
        Ok(self)
    }

    /// Leaves in one list what `stays`, which sees every place in order.
    ///
    /// # Errors
    /// As [`Lists::replace`].
    pub fn retain(
        mut self,
        list: usize,
        tmp_dir: &Path,
        mut stays: impl FnMut(Place) -> bool,
    ) -> Result<Self, Error> {
        let mut left = SpillVec::new(Lease::alone(self.room(list), tmp_dir));
        let mut staying = self.of(list).filter(|&place| stays(place));
        staying.try_for_each(|place| left.push(place))?;
        drop(staying);
        self.0[list] = left.finish()?;
        Ok(self)
    }

    /// Bytes of heap that a list in the place of this one may take: those that it takes.
    fn room(&self, list: usize) -> u64 {
        self.0[list].heap()
    }
}
