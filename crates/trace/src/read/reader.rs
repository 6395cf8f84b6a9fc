//! The interface between the session, which reads inputs, and the index, which collects what the scan finds.

use super::numbers::EventNumbers;
use super::warning::InputWarning;
use crate::event::envelope::{Collect, Document};
use crate::input::{self, Original};
use crate::run::error::{Error, ErrorKind};
use crate::run::losses::InputReport;
use crate::run::memory::Lease;
use crate::store::entry::Entry;
use crate::store::long_events::LongEvents;
use crate::store::{Payload, Store};
use std::sync::Arc;
use tracemill_tokenizer::Mapped;

/// What the session must do for the index and its observers. The needs of several are joined by
/// [`Needs::and`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Prove that every event is JSON. Events that are not are lost or repaired. Verbs that write
    /// events need it.
    pub proof: bool,
    /// Report for each event whether it is proved to be JSON
    /// ([`Event::is_proved`](tracemill_tokenizer::Event::is_proved)), and lose none that is not.
    pub proof_flags: bool,
    /// Keep the bytes of pipes and packed inputs after the scan.
    pub input_bytes: bool,
    /// Keep the bytes of events that were made from `.cpuprofile` inputs.
    pub synthetic_bytes: bool,
    /// Merge chunks as soon as a pipe delivers them, because output is written while inputs are read.
    pub streams_output: bool,
    /// Bytes of the address space to leave free before the first input.
    pub reserved: u64,
}

impl Needs {
    /// Nothing.
    pub const NONE: Needs = Needs {
        proof: false,
        proof_flags: false,
        input_bytes: false,
        synthetic_bytes: false,
        streams_output: false,
        reserved: 0,
    };

    /// The needs of a verb that writes events: proved events, and their bytes after the scan.
    pub const WRITES: Needs =
        Needs { proof: true, input_bytes: true, synthetic_bytes: true, ..Needs::NONE };

    /// Returns the needs of both.
    #[must_use]
    pub const fn and(self, other: Needs) -> Needs {
        Needs {
            proof: self.proof | other.proof,
            proof_flags: self.proof_flags | other.proof_flags,
            input_bytes: self.input_bytes | other.input_bytes,
            synthetic_bytes: self.synthetic_bytes | other.synthetic_bytes,
            streams_output: self.streams_output | other.streams_output,
            reserved: if self.reserved > other.reserved { self.reserved } else { other.reserved },
        }
    }
}

/// An input whose events follow, or the synthetic events of one.
#[derive(Clone, Copy, Debug)]
pub struct InputStart<'a> {
    /// The name of the input, as in its report.
    pub name: &'a str,
    /// The index of its report in [`Inputs::reports`].
    pub number: usize,
    /// Whether the events were made from this input, which had a start of its own before.
    pub synthetic: bool,
}

/// A chunk that a worker is about to scan.
#[derive(Clone, Copy, Debug)]
pub struct ChunkStart {
    /// Offset of its input in the address space.
    pub base: u64,
    /// Approximate length of the chunk in bytes, to reserve memory by.
    pub len_hint: usize,
}

/// Creates what collects a chunk. Workers call it.
pub type Starter<C> = Box<dyn Fn(&ChunkStart) -> C + Send + Sync>;

/// Collects what the scan finds in all inputs. [`Indexed`](crate::observe) is the only implementor.
///
/// ```text
///   workers   starter()(chunk) ─ events … ─ seal ─>┐
///   caller    begin(input) ──────────────────────> merge(chunk), merge(chunk), …    begin(input) …
/// ```
pub(crate) trait Reader {
    /// What is collected in one chunk.
    type Chunk: Collect + 'static;

    /// Returns what the session must do.
    fn needs(&self) -> Needs;

    /// Starts an input, or the synthetic events of the current one.
    fn begin(&mut self, input: &InputStart<'_>);

    /// Returns what creates chunks of the current input. The session asks once per input.
    fn starter(&self) -> Starter<Self::Chunk>;

    /// Returns whether entries of plain events suffice for the current input; if not, it is scanned.
    fn takes_entries(&self) -> bool;

    /// Returns a chunk of plain events, from their entries, whose places are offsets in the input at
    /// `base`.
    fn chunk_of_entries(&self, base: u64, entries: &[Entry]) -> Self::Chunk;

    /// Takes a chunk of the input at `base`. Chunks arrive in input order.
    fn merge(&mut self, chunk: Self::Chunk, base: u64, current: Current<'_>) -> Result<(), Error>;

    /// Returns the documents merged so far.
    fn documents(&mut self) -> &mut Vec<Document>;
}

/// The bytes that exist while an input is read: those of earlier inputs, and its own so far.
#[derive(Clone, Copy)]
pub struct Current<'a> {
    /// Earlier inputs.
    pub before: &'a [InputPayload],
    /// Offset of this input in the address space.
    pub base: u64,
    /// The bytes of this input.
    pub own: InputBytes<'a>,
}

impl<'a> Current<'a> {
    /// Returns the address space of this input alone.
    pub fn own_store(self, long: &'a LongEvents) -> Store<'a> {
        Current { before: &[], ..self }.store(long)
    }

    /// Returns the address space of everything read so far, with the lengths of long events.
    pub fn store(self, long: &'a LongEvents) -> Store<'a> {
        let before = self.before.iter().map(|held| (held.base, &*held.payload));
        let store = match self.own {
            InputBytes::Mapped(mapped) => Store::with_map(before, self.base, mapped),
            InputBytes::Payload(payload) => Store::new(before.chain([(self.base, payload)])),
        };
        store.with_long(long)
    }
}

/// The bytes of the current input.
#[derive(Clone, Copy)]
pub enum InputBytes<'a> {
    /// A mapped file.
    Mapped(&'a Arc<Mapped>),
    /// A stream, as far as it was read and is kept.
    Payload(&'a Payload),
}

/// The bytes of an input, or its synthetic events.
pub struct InputPayload {
    /// Offset in the address space.
    pub base: u64,
    /// The bytes.
    pub payload: Arc<Payload>,
    /// Index of the input in [`Inputs::reports`].
    pub input: usize,
    /// Whether these are synthetic events.
    pub synthetic: bool,
}

/// The inputs of a run, after they were read.
#[derive(Default)]
pub struct Inputs {
    /// The bytes, in the order of the address space.
    pub payloads: Vec<InputPayload>,
    /// One report per input.
    pub reports: Vec<InputReport>,
    /// Bytes of pipes and packed inputs that are on disk.
    pub spooled: u64,
    /// What those in memory may take, once there are any.
    pub(super) kept: Option<Lease>,
    /// Warnings about inputs.
    pub warnings: Vec<InputWarning>,
    /// Finds events by their numbers.
    pub numbers: EventNumbers,
    /// The files, as they were when they were opened.
    pub(super) originals: Vec<Original>,
    /// Offset of the next input in the address space.
    pub(super) end: u64,
}

impl Inputs {
    /// Checks that every file is as it was when it was opened. Verbs check it last, before an output
    /// gets its name: a map shows what other programs write to the file.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] for the first file that differs.
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

    /// Returns the bytes of all inputs as one address space, without the lengths of long events
    /// ([`Store::with_long`] adds them). Cost: a reference per file or segment.
    pub fn store(&self) -> Store<'_> {
        Store::new(self.payloads.iter().map(|held| (held.base, &*held.payload)))
    }

    /// Returns the first and the last ts of all inputs, in nanoseconds.
    pub fn span(&self) -> Option<(i64, i64)> {
        let spans = self.reports.iter().filter_map(|report| report.span);
        spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Returns the name of the input at an offset of the address space, and the offset in that input.
    pub fn locate(&self, offset: u64) -> (String, u64) {
        let after = self.payloads.partition_point(|held| held.base <= offset);
        match after.checked_sub(1).map(|at| &self.payloads[at]) {
            Some(held) => (self.reports[held.input].name.clone(), offset - held.base),
            None => (String::new(), offset),
        }
    }
}
