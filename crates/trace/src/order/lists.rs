//! Lists of events that need no sorting: metadata events and events without a time. They precede
//! all other events, in input order.
//!
//! Heap: 8 bytes per event; the lists spill together with the entries of their sorter.

use super::{METADATA, UNTIMED};
use crate::run::error::Error;
use crate::run::memory::Lease;
use crate::spill::{SpillVec, SpilledVec};
use crate::store::place::Place;
use std::path::Path;

/// Places of metadata events ([`METADATA`]) and of events without a time ([`UNTIMED`]), each in
/// input order.
#[derive(Default)]
pub struct Lists(pub [SpilledVec<Place>; 2]);

impl From<SpilledVec<Place>> for Lists {
    /// Creates a single list of all events in input order.
    fn from(places: SpilledVec<Place>) -> Self {
        Lists([places, SpilledVec::default()])
    }
}

impl Lists {
    /// Returns the places of both lists, in order.
    pub fn iter(&self) -> impl Iterator<Item = Place> + '_ {
        self.of(METADATA).chain(self.of(UNTIMED))
    }

    /// Returns the places of one list, in order.
    pub fn of(&self, list: usize) -> impl Iterator<Item = Place> + '_ {
        self.0[list].iter()
    }

    /// Replaces a list by `places`. Places beyond the heap of the old list go to a file in
    /// `tmp_dir`.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if the file cannot be written.
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

    /// Keeps only the places of a list that `stays` accepts. Calls `stays` with the places in
    /// order.
    ///
    /// # Errors
    /// See [`Lists::replace`].
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

    /// Returns the maximum heap of a replacement for a list: the heap of that list.
    fn room(&self, list: usize) -> u64 {
        self.0[list].heap()
    }
}
