//! The interface between the session, which reads inputs, and the index, which collects findings.

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

/// The work that a session must do for the index and its observers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Whether to check that every event is JSON; other events are repaired or lost.
    pub proof: bool,
    /// Whether to keep the bytes of pipes and packed inputs after the scan.
    pub input_bytes: bool,
    /// Whether to keep the bytes of events derived from `.cpuprofile` inputs.
    pub synthetic_bytes: bool,
    /// Whether to merge chunks as soon as a pipe delivers them, for streamed output.
    pub streams_output: bool,
    /// Number of bytes of the address space to leave free before the first input.
    pub reserved: u64,
}

impl Needs {
    /// An empty set of needs.
    pub const NONE: Needs = Needs {
        proof: false,
        input_bytes: false,
        synthetic_bytes: false,
        streams_output: false,
        reserved: 0,
    };

    /// The needs of a command that writes events: checked events, and their bytes after the scan.
    pub const WRITES: Needs =
        Needs { proof: true, input_bytes: true, synthetic_bytes: true, ..Needs::NONE };

    /// Returns the combined needs.
    #[must_use]
    pub const fn and(self, other: Needs) -> Needs {
        Needs {
            proof: self.proof | other.proof,
            input_bytes: self.input_bytes | other.input_bytes,
            synthetic_bytes: self.synthetic_bytes | other.synthetic_bytes,
            streams_output: self.streams_output | other.streams_output,
            reserved: if self.reserved > other.reserved { self.reserved } else { other.reserved },
        }
    }
}

/// The start of an input, or of the synthetic events derived from it.
#[derive(Clone, Copy, Debug)]
pub struct InputStart<'a> {
    /// The name of the input, as in its report.
    pub name: &'a str,
    /// Index of the input in [`Inputs::reports`].
    pub number: usize,
    /// Whether these are synthetic events, which follow the events of the input.
    pub synthetic: bool,
}

/// A chunk that a worker is about to scan.
#[derive(Clone, Copy, Debug)]
pub struct ChunkStart {
    /// Offset of the chunk's input in the address space.
    pub base: u64,
    /// Approximate length of the chunk in bytes, for reserving memory.
    pub len_hint: usize,
}

/// A function that creates the empty findings of a chunk. A worker calls it before the scan.
pub type Starter<C> = Box<dyn Fn(&ChunkStart) -> C + Send + Sync>;

/// Collects the findings of a scan over all inputs. [`Indexed`](crate::observe) is the only
/// implementation.
///
/// ```text
///   workers   starter()(chunk) ─ events … ─ seal ─>┐
///   caller    begin(input) ──────────────────────> merge(chunk), merge(chunk), …    begin(input) …
/// ```
pub(crate) trait Reader {
    /// The findings of one chunk.
    type Chunk: Collect + 'static;

    /// Returns the work that the session must do.
    fn needs(&self) -> Needs;

    /// Starts an input, or the synthetic events of the current input.
    fn begin(&mut self, input: &InputStart<'_>);

    /// Returns a function that creates chunks of the current input. The session calls this once per
    /// input.
    fn starter(&self) -> Starter<Self::Chunk>;

    /// Returns whether the current input can be indexed from entries of plain events, without a
    /// scan.
    fn takes_entries(&self) -> bool;

    /// Creates a chunk of plain events from their entries. Places are offsets in the input at
    /// `base`.
    fn chunk_of_entries(&self, base: u64, entries: &[Entry]) -> Self::Chunk;

    /// Merges a chunk of the input at `base`. Chunks arrive in input order.
    fn merge(&mut self, chunk: Self::Chunk, base: u64, current: Current<'_>) -> Result<(), Error>;

    /// Returns the documents merged so far.
    fn documents(&mut self) -> &mut Vec<Document>;
}

/// The input bytes available during a scan.
#[derive(Clone, Copy)]
pub struct Current<'a> {
    /// Bytes of earlier inputs.
    pub before: &'a [InputPayload],
    /// Offset of the current input in the address space.
    pub base: u64,
    /// Bytes of the current input.
    pub bytes: InputBytes<'a>,
}

impl<'a> Current<'a> {
    /// Returns the address space of the current input alone.
    pub fn own_store(self, long: &'a LongEvents) -> Store<'a> {
        Current { before: &[], ..self }.store(long)
    }

    /// Returns the address space of everything read so far, with the lengths of long events.
    pub fn store(self, long: &'a LongEvents) -> Store<'a> {
        let before = self.before.iter().map(|held| (held.base, &*held.payload));
        let store = match self.bytes {
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
    /// The bytes of a stream that were read and kept so far.
    Payload(&'a Payload),
}

/// The bytes of an input, or its synthetic events.
pub struct InputPayload {
    /// Offset of the bytes in the address space.
    pub base: u64,
    /// The bytes, mapped or in memory.
    pub payload: Arc<Payload>,
    /// Index of the input in [`Inputs::reports`].
    pub input: usize,
    /// Whether these are synthetic events.
    pub synthetic: bool,
}

/// The inputs of a run after they were read.
#[derive(Default)]
pub struct Inputs {
    /// Bytes of the inputs, in the order of the address space.
    pub payloads: Vec<InputPayload>,
    /// One report per input.
    pub reports: Vec<InputReport>,
    /// Number of bytes of pipes and packed inputs on disk.
    pub spooled: u64,
    /// Memory lease for the kept bytes of streams, once there are any.
    pub(super) kept: Option<Lease>,
    /// Warnings about inputs.
    pub warnings: Vec<InputWarning>,
    /// Index from event numbers to offsets.
    pub numbers: EventNumbers,
    /// State of the input files at opening.
    pub(super) originals: Vec<Original>,
    /// Offset of the next input in the address space.
    pub(super) end: u64,
}

impl Inputs {
    /// Checks that every file is unchanged since it was opened. Commands call this last, because a
    /// map shows later writes of other programs.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Changed`] for the first file that differs.
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
    /// (see [`Store::with_long`]).
    pub fn store(&self) -> Store<'_> {
        Store::new(self.payloads.iter().map(|held| (held.base, &*held.payload)))
    }

    /// Returns the first and the last time of all inputs, in nanoseconds.
    pub fn span(&self) -> Option<(i64, i64)> {
        let spans = self.reports.iter().filter_map(|report| report.span);
        spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Returns the name of the input at an address space offset, and the offset in that input.
    pub fn locate(&self, offset: u64) -> (String, u64) {
        let base = self.payload_at(offset).map_or(0, |held| held.base);
        (
            self.report_at(offset).map(|report| report.name.clone()).unwrap_or_default(),
            offset - base,
        )
    }

    /// Returns the report of the input at an address space offset.
    pub fn report_at(&self, offset: u64) -> Option<&InputReport> {
        self.payload_at(offset).map(|held| &self.reports[held.input])
    }

    fn payload_at(&self, offset: u64) -> Option<&InputPayload> {
        let after = self.payloads.partition_point(|held| held.base <= offset);
        after.checked_sub(1).map(|at| &self.payloads[at])
    }
}
