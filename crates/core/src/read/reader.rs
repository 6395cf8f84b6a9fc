//! Who takes the findings of inputs, and what is left of the inputs when all are read.

use super::numbers::Numbers;
use super::warning::InputWarning;
use crate::entry::Entry;
use crate::envelope::Document;
use crate::error::{Error, ErrorKind};
use crate::input::{self, Original};
use crate::long_events::LongEvents;
use crate::losses::InputReport;
use crate::scan::Collect;
use crate::store::{Payload, Store};
use std::path::Path;
use std::sync::Arc;
use tracemill_tokenizer::Mapped;

/// Makes a part for some bytes of the input that stands at a place.
pub type Maker<P> = Box<dyn Fn(u64, usize) -> P + Sync>;

/// Makes a part of events that are known, each with its place in the input that stands at a place.
pub type KnownMaker<P> = fn(u64, &[Entry]) -> P;

/// Takes the findings of the inputs, in order.
///
/// ```text
///   workers   maker()(base, bytes) ─ events … ─ seal ─>┐
///   caller    begin(name) ──────────────────────────> take(part), take(part), …    begin(name) …
/// ```
///
/// All but [`Reader::maker`]'s answer is called on the thread that reads. The constants say what the session need not do: bytes of streams
/// that nobody asks for again are dropped, and events that are not written are not proved to be JSON.
pub trait Reader {
    /// The findings of one chunk.
    type Findings: Collect + 'static;

    /// An empty part for some bytes of the input that stands at `base`.
    fn part(base: u64, bytes: usize) -> Self::Findings;

    /// Makes empty parts on the workers: as [`Reader::part`], for readers that tell their parts more.
    fn maker(&self) -> Maker<Self::Findings> {
        let part: fn(u64, usize) -> Self::Findings = Self::part;
        Box::new(part)
    }

    /// What makes the findings of events that are known; `None` if a reader looks at the events themselves, so that they must be scanned.
    fn known_events(&self) -> Option<KnownMaker<Self::Findings>> {
        None
    }

    /// An input of this name is read from here on.
    fn begin(&mut self, _name: &str) {}

    /// What is known of the plain file `path`, which would stand at `base`, without reading it: then no part of it comes, and what it has
    /// beside its events the reader adds to its documents. The file is mapped and watched as any other.
    fn known(&mut self, _path: &Path, _base: u64) -> Option<InputReport> {
        None
    }

    /// Whether what is found is wanted at once, since it is written before all is read.
    fn hurries(&self) -> bool {
        false
    }

    /// Takes a part; `current` is the input it is from, as far as it was read.
    ///
    /// # Errors
    /// Any ends the run, and comes out of [`read_all`](crate::read::read_all).
    fn take(&mut self, part: Self::Findings, base: u64, current: Current<'_>) -> Result<(), Error>;

    /// Documents seen so far.
    fn documents(&mut self) -> &mut Vec<Document>;

    /// Whether the bytes of streams are needed after the scan.
    const KEEPS_STREAMS: bool;

    /// The same, for who knows it only when it is made.
    fn keeps_streams(&self) -> bool {
        Self::KEEPS_STREAMS
    }

    /// Whether events must be JSON: so it is where they are written.
    const PROVES: bool;

    /// Whether, of events that need not be JSON, those that are shall be told ([`Proof::Told`](crate::proof::Proof::Told)).
    fn asks_which_are_json(&self) -> bool {
        false
    }

    /// Places that are kept free before those of the inputs, for what is made later.
    const RESERVED: u64 = 0;
}

/// The payloads that exist while an input is read: those before it, and its own.
#[derive(Clone, Copy)]
pub struct Current<'a> {
    /// Inputs read before it.
    pub before: &'a [InputPayload],
    /// Where it stands among all inputs.
    pub base: u64,
    /// Its own bytes.
    pub own: InputBytes<'a>,
}

impl<'a> Current<'a> {
    /// The input at hand alone.
    pub fn own_store(self, long: &'a LongEvents) -> Store<'a> {
        Current { before: &[], ..self }.store(long)
    }

    /// Everything read so far as one address space, and the long events in it.
    pub fn store(self, long: &'a LongEvents) -> Store<'a> {
        let before = self.before.iter().map(|held| (held.base, &*held.payload));
        let store = match self.own {
            InputBytes::Mapped(mapped) => Store::with_map(before, self.base, mapped),
            InputBytes::Payload(payload) => Store::new(before.chain([(self.base, payload)])),
        };
        store.with_long(long)
    }
}

/// The bytes of the input at hand.
#[derive(Clone, Copy)]
pub enum InputBytes<'a> {
    /// A file.
    Mapped(&'a Arc<Mapped>),
    /// A stream, as far as it was read and is kept.
    Payload(&'a Payload),
}

/// The bytes of an input, or the events made of one.
pub struct InputPayload {
    /// Where the input begins among all inputs.
    pub base: u64,
    /// Its bytes.
    pub payload: Arc<Payload>,
    /// The number of its report.
    pub input: usize,
    /// Whether these are events that were made of a profile, or for one.
    pub synthetic: bool,
}

/// All inputs of a run, read.
#[derive(Default)]
pub struct Inputs {
    /// In the order of their places.
    pub payloads: Vec<InputPayload>,
    /// One an input, in order.
    pub reports: Vec<InputReport>,
    /// Bytes of streams on disk.
    pub spooled: u64,
    /// What the user should know, one sentence each.
    pub warnings: Vec<InputWarning>,
    /// Which event is which by its number.
    pub numbers: Numbers,
    /// The files among the inputs.
    pub(super) originals: Vec<Original>,
    /// Where the next input stands.
    pub(super) end: u64,
}

impl Inputs {
    /// Whether every file is what it was when it was opened: the last word before an output gets its name, since a map shows what others
    /// write to the file meanwhile.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] for the first that is not.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        for held in &self.payloads {
            if let Payload::Mapped(mapped) = &*held.payload
                && !mapped.is_intact()
            {
                let input = self.reports[held.input].name.clone();
                return Err(ErrorKind::Changed { input, how: input::LOST.to_owned() }.into());
            }
        }
        self.originals.iter().try_for_each(|original| original.check(None))
    }

    /// First and last time of all events.
    pub fn span(&self) -> Option<(i64, i64)> {
        let spans = self.reports.iter().filter_map(|report| report.span);
        spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The input, and the place in it, of a place among all.
    pub fn locate(&self, offset: u64) -> (String, u64) {
        let after = self.payloads.partition_point(|held| held.base <= offset);
        match after.checked_sub(1).map(|at| &self.payloads[at]) {
            Some(held) => (self.reports[held.input].name.clone(), offset - held.base),
            None => (String::new(), offset),
        }
    }
}
