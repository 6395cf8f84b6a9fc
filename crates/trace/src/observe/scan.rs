//! One scan of all inputs, and its result.

use super::index::{EventIndex, Indexed};
use super::keep::{Keep, Nothing};
use super::observer::Observer;
use crate::input::source::Source;
use crate::read::pieces::ChosenPieces;
use crate::read::{Expand, Inputs, read_more, read_sources};
use crate::run::error::Error;
use crate::run::limits::Limits;
use crate::store::Store;

/// A configured scan, started by [`Scan::run`].
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
    /// Creates a scan of `sources` that keeps nothing and has no observers. `expand` derives events
    /// from `.cpuprofile` inputs ([`TracesOnly`](crate::read::TracesOnly) derives no events).
    pub fn new(sources: &'s [Source], limits: &'s Limits, expand: &'s mut dyn Expand) -> Self {
        Scan { sources, limits, expand, pieces: None, keep: Nothing, observer: () }
    }
}

impl<'s, K: Keep, O: Observer> Scan<'s, K, O> {
    /// Sets the form in which the index stores events.
    pub fn keep<L: Keep>(self, keep: L) -> Scan<'s, L, O> {
        let Scan { sources, limits, expand, pieces, observer, .. } = self;
        Scan { sources, limits, expand, pieces, keep, observer }
    }

    /// Sets the observer, or a tuple of observers.
    pub fn observe<P: Observer>(self, observer: P) -> Scan<'s, K, P> {
        let Scan { sources, limits, expand, pieces, keep, .. } = self;
        Scan { sources, limits, expand, pieces, keep, observer }
    }

    /// Restricts the scan to byte ranges of the only source, see [`crate::read::pieces`].
    pub fn only(self, pieces: &'s ChosenPieces) -> Self {
        Scan { pieces: Some(pieces), ..self }
    }

    /// Reads all sources. Cost: one pass over the inputs on [`Limits::threads`] threads. Heap: the
    /// lists of [`Keep`] and the observers, within [`Limits::memory`].
    ///
    /// # Errors
    /// * [`Read`](crate::run::error::ErrorKind::Read) if an input cannot be opened or read,
    ///   [`NotATrace`](crate::run::error::ErrorKind::NotATrace) if it is not a trace,
    ///   [`Changed`](crate::run::error::ErrorKind::Changed) if it changes during the scan;
    /// * [`Defect`](crate::run::error::ErrorKind::Defect) at the first defect of a strict run;
    /// * [`Scratch`](crate::run::error::ErrorKind::Scratch) if a temporary file cannot be written,
    ///   [`TooLarge`](crate::run::error::ErrorKind::TooLarge) if the inputs exceed the address
    ///   space;
    /// * [`Cancelled`](crate::run::error::ErrorKind::Cancelled) if the run was cancelled;
    /// * any error of an observer.
    pub fn run(self) -> Result<Scanned<K, O>, Error> {
        let Scan { sources, limits, expand, pieces, keep, observer } = self;
        let scan = Scan { sources, limits, expand: &mut *expand, pieces, keep, observer };
        scan.run_first()?.read_more(&[], limits, expand)
    }

    /// Starts a scan with the sources; [`Scanned::read_more`] completes it.
    ///
    /// # Errors
    /// See [`Scan::run`].
    pub fn run_first(self) -> Result<Scanned<K, O>, Error> {
        let index = EventIndex::new(self.keep, self.limits);
        let mut reader = Indexed::new(index, self.observer);
        let inputs =
            read_sources(self.sources, self.pieces, self.limits, self.expand, &mut reader)?;
        Ok(Scanned::new(inputs, reader))
    }
}

/// The result of a scan.
pub struct Scanned<K, O> {
    /// Reports and bytes of the inputs.
    pub inputs: Inputs,
    /// Index of the events of all inputs.
    pub index: EventIndex<K>,
    /// The observers, with their findings.
    pub observed: O,
}

impl<K: Keep, O: Observer> Scanned<K, O> {
    fn new(inputs: Inputs, reader: Indexed<K, O>) -> Self {
        Scanned { inputs, index: reader.index, observed: reader.observer }
    }

    /// Reads more sources after those of [`Scan::run_first`], with the same index and observers. To
    /// continue with fewer observers, replace [`Scanned::observed`] first.
    ///
    /// # Errors
    /// See [`Scan::run`].
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
    /// Returns the bytes of all inputs as one address space.
    pub fn store(&self) -> Store<'_> {
        self.inputs.store().with_long(&self.index.long_events)
    }
}
