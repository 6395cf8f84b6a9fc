//! Opens a trace, and answers questions about its inputs and documents.

use super::threads::{Thread, ThreadList};
use crate::event::envelope::{Document, values_of};
use crate::input::source::Source;
use crate::observe::{EventIndex, InputOrder, Observer, Scan, Scanned, Sorted};
use crate::order::{EntryRuns, Lists};
use crate::read::{Expand, Inputs, TracesOnly};
use crate::run::error::Error;
use crate::run::limits::Limits;
use crate::run::losses::InputReport;
use crate::run::memory::Share;
use crate::spill::SpilledVec;
use crate::store::Store;
use crate::store::long_events::LongEvents;
use crate::store::place::Place;

/// One or more inputs read as one trace: its events, their order, and its threads.
pub struct Trace {
    inputs: Inputs,
    documents: Vec<Document>,
    /// Places of all events in input order.
    pub(super) in_input_order: SpilledVec<Place>,
    pub(super) timed: EntryRuns,
    /// Places of metadata events and of events without a time.
    pub(super) lists: Lists,
    long_events: LongEvents,
    threads: ThreadList,
    limits: Limits,
    events: u64,
}

impl Trace {
    /// Reads `sources` to their end, as one trace.
    ///
    /// Damaged inputs are salvaged, unless [`Limits::strict`]; [`Trace::inputs`] reports the
    /// losses. Separate `.cpuprofile` files are opened only by `tracemill-cpuprofile`.
    ///
    /// Cost: one scan of the inputs on [`Limits::threads`] threads. Heap: 24 bytes per event,
    /// beyond a quarter of [`Limits::memory`] on disk; plus threads and events of 16 KiB and more.
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::run::error::ErrorKind).
    pub fn open(sources: &[Source], limits: &Limits) -> Result<Trace, Error> {
        Trace::observe(sources, limits, &mut TracesOnly, ())
    }

    /// Opens a trace like [`Trace::open`], with an observer that sees every event in the same scan,
    /// and with the events that `expand` derives from inputs that are not traces.
    ///
    /// ```
    /// use tracemill_trace::observe::{EventRef, Look, Observer, SealedChunk, Starter};
    /// use tracemill_trace::read::TracesOnly;
    /// use tracemill_trace::{Error, Limits, Source, Trace};
    /// use tracemill_tokenizer::Event;
    ///
    /// /// The length of the longest event.
    /// #[derive(Default)]
    /// struct Longest(usize);
    ///
    /// impl Look for Longest {
    ///     fn event(&mut self, _: &Event<'_>, at: &EventRef) -> bool {
    ///         self.0 = self.0.max(at.len);
    ///         true
    ///     }
    /// }
    ///
    /// impl Observer for Longest {
    ///     type Chunk = Longest;
    ///     fn starter(&self) -> Starter<Longest> {
    ///         Box::new(|_| Longest::default())
    ///     }
    ///     fn merge(&mut self, found: Longest, _: &SealedChunk<'_>) -> Result<(), Error> {
    ///         self.0 = self.0.max(found.0);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let sources = [Source::bytes("a.json", r#"[{"ts":1},{"ts":12}]"#)];
    /// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
    /// let mut longest = Longest::default();
    /// let trace = Trace::observe(&sources, &limits, &mut TracesOnly, &mut longest)?;
    /// assert_eq!((trace.len(), longest.0), (2, 9));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Trace::open`], and any error of the observer.
    pub fn observe<O: Observer>(
        sources: &[Source],
        limits: &Limits,
        expand: &mut dyn Expand,
        observer: O,
    ) -> Result<Trace, Error> {
        limits.check()?;
        let sorted = Sorted::new(limits.lease("entries of a trace", Share::of_index(1, 2)));
        let places = limits.lease("places of a trace", Share::of_index(1, 4));
        let in_input_order = InputOrder::new(places, 0);
        let scan = Scan::new(sources, limits, expand).keep((sorted, in_input_order));
        let Scanned { inputs, index, observed: (mut threads, _) } =
            scan.observe((ThreadList::default(), observer)).run()?;
        let EventIndex { kept: (sorted, places), long_events, documents, events, .. } = index;
        let (timed, lists) =
            sorted.into_entries().finish(&inputs.store().with_long(&long_events))?;
        threads.finish();
        Ok(Trace {
            inputs,
            documents,
            in_input_order: places.into_places().finish()?,
            timed,
            lists,
            long_events,
            threads,
            limits: limits.clone(),
            events,
        })
    }

    /// Returns the number of events.
    pub fn len(&self) -> u64 {
        self.events
    }

    /// Returns whether the trace has no events.
    pub fn is_empty(&self) -> bool {
        self.events == 0
    }

    /// Returns the index in [`Trace::threads`] of the thread with these ids, as written.
    pub fn thread_number(&self, pid: &[u8], tid: &[u8]) -> Option<usize> {
        self.threads.find(pid, tid)
    }

    /// Returns the threads, in the order of their first events.
    pub fn threads(&self) -> &[Thread] {
        self.threads.all()
    }

    /// Returns the first and last time of an event, in nanoseconds rounded down. Returns `None` if
    /// no event has a time.
    pub fn span(&self) -> Option<(i64, i64)> {
        self.inputs.span()
    }

    /// Returns a report per input: bytes, events, losses.
    pub fn inputs(&self) -> &[InputReport] {
        &self.inputs.reports
    }

    /// Returns the documents of all inputs with their top-level keys. Values are positions in
    /// [`Trace::store`].
    ///
    /// ```
    /// use tracemill_trace::{Limits, Source, Trace};
    ///
    /// let text = r#"{"traceEvents":[],"metadata":{"a":1}}"#;
    /// let trace = Trace::open(&[Source::bytes("a.json", text)], &Limits::new(1, 64 << 20, std::env::temp_dir()))?;
    /// let key = &trace.documents()[0].keys[0];
    /// assert_eq!(&*key.key, b"\"metadata\"");
    /// # Ok::<(), tracemill_trace::Error>(())
    /// ```
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Returns a copy of each value of a top-level key, given without quotes, in input order.
    ///
    /// ```
    /// use tracemill_trace::{Limits, Source, Trace};
    ///
    /// let text = r#"{"traceEvents":[],"displayTimeUnit":"ms"}"#;
    /// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
    /// let trace = Trace::open(&[Source::bytes("a.json", text)], &limits)?;
    /// let units: Vec<Vec<u8>> = trace.key_values(b"displayTimeUnit").collect();
    /// assert_eq!(units, [b"\"ms\""]);
    /// # Ok::<(), tracemill_trace::Error>(())
    /// ```
    pub fn key_values<'a>(&'a self, name: &'a [u8]) -> impl Iterator<Item = Vec<u8>> + 'a {
        values_of(&self.documents, self.store(), name)
    }

    /// Returns the bytes of all inputs as one address space.
    pub fn store(&self) -> Store<'_> {
        self.inputs.store().with_long(&self.long_events)
    }

    /// Returns the name of the input at an address space offset, and the offset in that input.
    ///
    /// ```
    /// use tracemill_trace::{EventOrder, Limits, Source, Trace};
    ///
    /// let sources = [Source::bytes("a.json", "[]"), Source::bytes("b.json", r#"[{"ph":"i","ts":1}]"#)];
    /// let trace = Trace::open(&sources, &Limits::new(1, 64 << 20, std::env::temp_dir()))?;
    /// let event = trace.events(EventOrder::Input).next().expect("there is one");
    /// assert_eq!(trace.locate(event.offset), ("b.json".to_owned(), 1));
    /// # Ok::<(), tracemill_trace::Error>(())
    /// ```
    pub fn locate(&self, offset: u64) -> (String, u64) {
        self.inputs.locate(offset)
    }

    /// Returns the start of the input that contains `offset`, in the address space.
    pub fn input_start(&self, offset: u64) -> u64 {
        let payloads = &self.inputs.payloads;
        let after = payloads.partition_point(|held| held.base <= offset);
        after.checked_sub(1).map_or(0, |at| payloads[at].base)
    }

    /// Returns the limits that the trace was opened with.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Checks that every file is unchanged and temporary files are intact. Call this after all
    /// reads, before results are used.
    ///
    /// # Errors
    /// * [`Changed`](crate::run::error::ErrorKind::Changed) for the first changed file;
    /// * [`Scratch`](crate::run::error::ErrorKind::Scratch) if a temporary file is lost.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        crate::os::check_temporary()?;
        self.inputs.check_unchanged()
    }
}
