//! Reading pieces of the one input, where an index says what the rest of it holds.

use crate::config::Config;
use crate::inputs;
use std::ops::Range;
use std::sync::Arc;
use tracemill_core::envelope::{Document, Envelope};
use tracemill_core::error::Error;
use tracemill_core::losses::InputReport;
use tracemill_core::pieces::Chosen;
use tracemill_core::read::{Current, Inputs, Maker, Reader};
use tracemill_core::scan::Collect;
use tracemill_core::source::Source;
use tracemill_index::event_sum;
use tracemill_profile::IndexedStreams;
use tracemill_tokenizer::{Damage, Event, Form, Member, Note};

/// What became of a run over pieces.
pub(crate) enum PieceOutcome<T> {
    /// The answer, which is that of a run over everything.
    Done(T),
    /// All must be read, for this reason. Nothing was written.
    Cannot(&'static str),
    /// What is known of the input proved wrong. Nothing was written.
    Wrong,
    /// The input is packed, and these ranges of its text have to be unpacked too. Nothing was written.
    Missing(Vec<Range<u64>>),
}

impl<T> PieceOutcome<T> {
    /// Turns the answer into another; other outcomes stay.
    pub(crate) fn map<U>(self, make: impl FnOnce(T) -> U) -> PieceOutcome<U> {
        match self {
            PieceOutcome::Done(answer) => PieceOutcome::Done(make(answer)),
            PieceOutcome::Cannot(why) => PieceOutcome::Cannot(why),
            PieceOutcome::Wrong => PieceOutcome::Wrong,
            PieceOutcome::Missing(ranges) => PieceOutcome::Missing(ranges),
        }
    }
}

/// Events that were read, and the sum of their checksums modulo 2³².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) events: u64,
    pub(crate) sum: u32,
}

impl Read {
    /// Adds the events of another part.
    pub(crate) fn add(&mut self, other: Read) {
        self.events = self.events.wrapping_add(other.events);
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// What is read of an input of one document.
#[derive(Debug)]
pub(crate) struct Pieces {
    pub(crate) chosen: Chosen,
    /// What these come to.
    pub(crate) read: Read,
    /// The report of the input, as if all was read.
    pub(crate) report: InputReport,
}

impl Pieces {
    /// Reads them; `None` if something else is there than what is known.
    ///
    /// # Errors
    /// If the run was cancelled. Who reads all of the input tells what else is wrong.
    ///
    /// Pieces of a damaged input have its damage; what counts is that their events are those that are known.
    pub(crate) fn read<R: Reader>(
        &self,
        source: &Source,
        reader: R,
        config: &Config,
    ) -> Result<Option<(Inputs, R)>, Error> {
        let mut summed = Summed { reader, read: Read::default() };
        let Ok(mut inputs) = inputs::read_pieces(source, &self.chosen, config, &mut summed) else {
            return config.cancel.check().map(|()| None);
        };
        let Summed { mut reader, read } = summed;
        let is_one = matches!((&reader.documents()[..], &inputs.reports[..]), ([_], [_]));
        let lost = inputs.reports.iter().map(InputReport::lost).sum::<u64>();
        if !is_one || lost > 0 && self.report.lost() == 0 || read != self.read {
            return Ok(None);
        }
        for report in &mut inputs.reports {
            let InputReport { name, lapses, .. } = std::mem::take(report);
            *report = InputReport { name, lapses, ..self.report.clone() };
        }
        Ok(Some((inputs, reader)))
    }
}

/// Chunks that are read as samples prove to be wanted.
#[derive(Clone)]
pub(crate) struct KnownSamples {
    pub(crate) chunks: Arc<IndexedStreams>,
    /// First and last nanosecond around which samples are.
    pub(crate) around: (i64, i64),
}

/// A reader that sums up the events it is given.
struct Summed<R> {
    reader: R,
    read: Read,
}

/// A part of it.
struct SummedPart<P> {
    part: P,
    read: Read,
}

impl<P: Collect> Collect for SummedPart<P> {
    fn envelope(&mut self) -> &mut Envelope {
        self.part.envelope()
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        self.read.add(Read { events: 1, sum: event_sum(event.offset, event.bytes) });
        self.part.event(event);
    }

    fn document(&mut self, form: Form) {
        self.part.document(form);
    }

    fn member(&mut self, member: Member<'_>) {
        self.part.member(member);
    }

    fn damage(&mut self, damage: &Damage<'_>) {
        self.part.damage(damage);
    }

    fn note(&mut self, note: Note, offset: u64) {
        self.part.note(note, offset);
    }

    fn seal(&mut self) {
        self.part.seal();
    }
}

impl<R: Reader> Reader for Summed<R> {
    type Findings = SummedPart<R::Findings>;

    fn part(base: u64, bytes: usize) -> Self::Findings {
        SummedPart { part: R::part(base, bytes), read: Read::default() }
    }

    fn maker(&self) -> Maker<Self::Findings> {
        let make = self.reader.maker();
        Box::new(move |base, bytes| SummedPart { part: make(base, bytes), read: Read::default() })
    }

    fn begin(&mut self, name: &str) {
        self.reader.begin(name);
    }

    fn hurries(&self) -> bool {
        self.reader.hurries()
    }

    fn take(&mut self, part: Self::Findings, base: u64, current: Current<'_>) -> Result<(), Error> {
        self.read.add(part.read);
        self.reader.take(part.part, base, current)
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        self.reader.documents()
    }

    const KEEPS_STREAMS: bool = R::KEEPS_STREAMS;

    fn asks_which_are_json(&self) -> bool {
        self.reader.asks_which_are_json()
    }

    const PROVES: bool = R::PROVES;

    const RESERVED: u64 = R::RESERVED;
}
