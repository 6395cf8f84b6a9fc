//! The opened trace itself.

use super::index::{Index, Watch};
use super::threads::{Thread, Threads};
use crate::envelope::Document;
use crate::error::Error;
use crate::limits::Limits;
use crate::long_events::LongEvents;
use crate::losses::InputReport;
use crate::order::{Lists, Runs};
use crate::place::Place;
use crate::read::{Expand, Inputs, TracesOnly, read_all};
use crate::source::Source;
use crate::spill::{SpillVec, SpilledVec};
use crate::store::Store;

/// Traces that were read: where their events stand, their order and their threads.
pub struct Trace {
    inputs: Inputs,
    documents: Vec<Document>,
    /// Every event.
    pub(super) in_input_order: SpilledVec<Place>,
    pub(super) timed: Runs,
    /// Metadata, and events without a time.
    pub(super) lists: Lists,
    watched: Option<SpilledVec<Place>>,
    long: LongEvents,
    threads: Threads,
    limits: Limits,
    events: u64,
}

impl Trace {
    /// Reads `sources` to their end, as one trace.
    ///
    /// Damaged inputs are saved as far as they can be, unless [`Limits::strict`]: what was lost is in [`Trace::inputs`].
    /// CPU profiles by themselves (`.cpuprofile`) are no traces here: `tracemill-profile` opens those too.
    ///
    /// Cost: one scan of the inputs on [`Limits::threads`] threads. 24 bytes of heap an event, which beyond a quarter of
    /// [`Limits::memory`] go to [`Limits::tmp_dir`]; beside that what threads there are, and each event of 16 KiB and more.
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::error::ErrorKind).
    pub fn open(sources: &[Source], limits: &Limits) -> Result<Trace, Error> {
        Trace::open_with(sources, limits, &mut TracesOnly, None)
    }

    /// As [`Trace::open`], for inputs whose events are made by `expand`; remembers where the events stand that `watch`
    /// chooses.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn open_with(
        sources: &[Source],
        limits: &Limits,
        expand: &mut dyn Expand,
        watch: Option<Watch>,
    ) -> Result<Trace, Error> {
        limits.check()?;
        let mut index = Index::new(limits, watch);
        let inputs = read_all(sources, limits, expand, &mut index)?;
        index.finish(inputs, limits)
    }

    /// How many events it has.
    pub fn len(&self) -> u64 {
        self.events
    }

    /// Whether it has no events.
    pub fn is_empty(&self) -> bool {
        self.events == 0
    }

    /// The number of a thread among [`Trace::threads`], by its ids as written. Cost: one look-up by hash.
    pub fn thread_number(&self, pid: &[u8], tid: &[u8]) -> Option<usize> {
        self.threads.find(pid, tid)
    }

    /// Its threads, in the order of their first events.
    pub fn threads(&self) -> &[Thread] {
        self.threads.all()
    }

    /// First and last time of an event, in nanoseconds rounded down; `None` if none has a time.
    pub fn span(&self) -> Option<(i64, i64)> {
        self.inputs.span()
    }

    /// What was read, by input: bytes, events, what was lost.
    pub fn inputs(&self) -> &[InputReport] {
        &self.inputs.reports
    }

    /// Documents of all inputs with what stands beside their events; values by place, see [`Trace::store`].
    ///
    /// ```
    /// use tracemill_core::{Limits, Source, Trace};
    ///
    /// let text = r#"{"traceEvents":[],"metadata":{"a":1}}"#;
    /// let trace = Trace::open(&[Source::bytes("a.json", text)], &Limits::new(1, 64 << 20, std::env::temp_dir()))?;
    /// let key = &trace.documents()[0].keys[0];
    /// assert_eq!(&*key.key, b"\"metadata\"");
    /// # Ok::<(), tracemill_core::Error>(())
    /// ```
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// The bytes of all inputs as one address space. Cost: a reference for each file, and for each segment of a pipe.
    pub fn store(&self) -> Store<'_> {
        let payloads = self.inputs.payloads.iter().map(|held| (held.base, &*held.payload));
        Store::new(payloads).with_long(&self.long)
    }

    /// Where the events stand that were watched for, in input order; `None` if nobody did.
    pub fn watched(&self) -> Option<impl Iterator<Item = Place> + '_> {
        self.watched.as_ref().map(|watched| watched.iter())
    }

    /// The input, and the place in it, of a place among all: its name is that of its [`Source`].
    ///
    /// ```
    /// use tracemill_core::{EventOrder, Limits, Source, Trace};
    ///
    /// let sources = [Source::bytes("a.json", "[]"), Source::bytes("b.json", r#"[{"ph":"i","ts":1}]"#)];
    /// let trace = Trace::open(&sources, &Limits::new(1, 64 << 20, std::env::temp_dir()))?;
    /// let event = trace.events(EventOrder::Input).next().expect("there is one");
    /// assert_eq!(trace.locate(event.offset), ("b.json".to_owned(), 1));
    /// # Ok::<(), tracemill_core::Error>(())
    /// ```
    pub fn locate(&self, offset: u64) -> (String, u64) {
        self.inputs.locate(offset)
    }

    /// Where the input begins, among all inputs, that a place lies in.
    pub fn input_start(&self, offset: u64) -> u64 {
        let payloads = &self.inputs.payloads;
        let after = payloads.partition_point(|held| held.base <= offset);
        after.checked_sub(1).map_or(0, |at| payloads[at].base)
    }

    /// The limits that it was opened with.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether every file is still what it was when it was opened: ask this when all is read, before results count.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`](crate::error::ErrorKind::Changed) for the first that is not.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        self.inputs.check_unchanged()
    }
}

impl Index {
    fn finish(mut self, inputs: Inputs, limits: &Limits) -> Result<Trace, Error> {
        let (timed, lists) = {
            let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
            let store = Store::new(payloads).with_long(&self.long);
            self.entries.finish(&store)?
        };
        self.threads.finish();
        Ok(Trace {
            inputs,
            documents: self.documents,
            in_input_order: self.places.finish()?,
            timed,
            lists,
            watched: self.watched.map(SpillVec::finish).transpose()?,
            long: self.long,
            threads: self.threads,
            limits: limits.clone(),
            events: self.events,
        })
    }
}
