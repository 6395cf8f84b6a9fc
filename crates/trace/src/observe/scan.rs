//! A scan of all inputs, and what it leaves behind.

use super::index::{EventIndex, Indexed};
use super::keep::{Keep, Nothing};
use super::observer::Observer;
use crate::input::source::Source;
use crate::read::pieces::ChosenPieces;
use crate::read::{Expand, Inputs, read_more, read_sources};
use crate::run::error::Error;
use crate::run::limits::Limits;
use crate::store::Store;

/// A scan that is about to run: sources, what to keep, and who observes.
#[must_use = "a scan does nothing until it runs"]
pub struct Scan<'s, K, O> {
    sources: &'s [Source],
    limits: &'s Limits,
    expand: &'s mut dyn Expand,
    pieces: Option<&'s ChosenPieces>,
    keep: K,
    observer: O,
}

impl<'s> Scan<'s, Nothing, ()> {
    /// Creates a scan of all `sources` that keeps nothing and has no observers. `expand` makes events
    /// from `.cpuprofile` inputs ([`TracesOnly`](crate::read::TracesOnly) makes none).
    pub fn new(sources: &'s [Source], limits: &'s Limits, expand: &'s mut dyn Expand) -> Self {
        Scan { sources, limits, expand, pieces: None, keep: Nothing, observer: () }
    }
}

impl<'s, K: Keep, O: Observer> Scan<'s, K, O> {
    /// Sets what the index keeps.
    pub fn keep<L: Keep>(self, keep: L) -> Scan<'s, L, O> {
        let Scan { sources, limits, expand, pieces, observer, .. } = self;
        Scan { sources, limits, expand, pieces, keep, observer }
    }

    /// Sets the observer, or a tuple of observers.
    pub fn observe<P: Observer>(self, observer: P) -> Scan<'s, K, P> {
        let Scan { sources, limits, expand, pieces, keep, .. } = self;
        Scan { sources, limits, expand, pieces, keep, observer }
    }

    /// Reads only these pieces of the one source, see [`crate::read::pieces`].
    pub fn only(self, pieces: &'s ChosenPieces) -> Self {
        Scan { pieces: Some(pieces), ..self }
    }

    /// Reads everything. Cost: one pass over the inputs on [`Limits::threads`] threads; heap: what
    /// [`Keep`] and the observers store, within [`Limits::memory`].
    ///
    /// # Errors
    /// * [`Read`](crate::run::error::ErrorKind::Read) if an input cannot be opened or read,
    ///   [`NotATrace`](crate::run::error::ErrorKind::NotATrace) if it is none,
    ///   [`Changed`](crate::run::error::ErrorKind::Changed) if it changes meanwhile;
    /// * [`Defect`](crate::run::error::ErrorKind::Defect) at the first defect of a strict run;
    /// * [`Scratch`](crate::run::error::ErrorKind::Scratch) if a temporary file cannot be written,
    ///   [`TooLarge`](crate::run::error::ErrorKind::TooLarge) if the inputs exceed the address space;
    /// * [`Cancelled`](crate::run::error::ErrorKind::Cancelled) if the run was cancelled;
    /// * any error of an observer.
    pub fn run(self) -> Result<Scanned<K, O>, Error> {
        let Scan { sources, limits, expand, pieces, keep, observer } = self;
        let scan = Scan { sources, limits, expand: &mut *expand, pieces, keep, observer };
        scan.run_first()?.read_more(&[], limits, expand)
    }

    /// Reads the sources, where [`Scanned::read_more`] follows and ends the scan.
    ///
    /// # Errors
    /// As [`Scan::run`].
    pub fn run_first(self) -> Result<Scanned<K, O>, Error> {
        let index = EventIndex::new(self.keep, self.limits);
        let mut reader = Indexed::new(index, self.observer);
        let inputs =
            read_sources(self.sources, self.pieces, self.limits, self.expand, &mut reader)?;
        Ok(Scanned::new(inputs, reader))
    }
}

/// Inputs that were read.
pub struct Scanned<K, O> {
    /// Their reports and their bytes.
    pub inputs: Inputs,
    /// Their events.
    pub index: EventIndex<K>,
    /// The observers, with what they found.
    pub observed: O,
}

impl<K: Keep, O: Observer> Scanned<K, O> {
    fn new(inputs: Inputs, reader: Indexed<K, O>) -> Self {
        Scanned { inputs, index: reader.index, observed: reader.observer }
    }

    /// Reads more sources after the inputs of [`Scan::run_first`], with the same index and observers.
    /// Fewer observers may go on: replace [`Scanned::observed`] before.
    ///
    /// # Errors
    /// As [`Scan::run`].
    pub fn read_more(
        self,
        sources: &[Source],
        limits: &Limits,
        expand: &mut dyn Expand,
    ) -> Result<Self, Error> {
        let mut reader = Indexed::new(self.index, self.observed);
        let inputs = read_more(self.inputs, sources, limits, expand, &mut reader)?;
        Ok(Scanned::new(inputs, reader))
    }
}

impl<K, O> Scanned<K, O> {
    /// Returns the bytes of all inputs as one address space. Cost: a reference per file or segment.
    pub fn store(&self) -> Store<'_> {
        self.inputs.store().with_long(&self.index.long_events)
    }
}
