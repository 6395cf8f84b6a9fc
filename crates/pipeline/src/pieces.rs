//! Reading pieces of the one input, where an index says what the rest of it holds.

use crate::config::Config;
use crate::inputs;
use tracemill_core::error::Error;
use tracemill_core::losses::InputReport;
use tracemill_core::observe::{EventRef, Keep, Look, Observer, Scanned, SealedChunk, Starter};
use tracemill_core::pieces::Chosen;
use tracemill_core::source::Source;
use tracemill_index::{IndexError, event_sum};
use tracemill_tokenizer::Event;

/// Why an index there is does not say what to read. The trace is read as a whole then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    /// Of several inputs.
    Several,
    /// Of a strict run.
    Strict,
    /// Whether it is that of the trace as it is now is not certain.
    Copied,
    /// Pieces of the trace do not mean what they mean in all of it.
    Damaged,
    /// As `Damaged`, though nothing is wrong with it.
    Tied,
    /// Of the trace, or of what unpacking it takes.
    Most,
    /// The input can only be read as a whole.
    Packed,
    /// Of the index, or of what is read of it in memory.
    NoRoom,
}

impl Unused {
    /// As it is told.
    pub fn text(self) -> &'static str {
        match self {
            Unused::Several => {
                "there are several inputs, and what begins in one may end in another"
            }
            Unused::Strict => "a strict run looks at every byte",
            Unused::Copied => "the trace was written to since, or is a copy",
            Unused::Damaged => "the trace is damaged, or not JSON to the letter",
            Unused::Tied => {
                "events depend on others anywhere in the trace (DevTools annotations, ends of other names, long flows, several documents)"
            }
            Unused::Most => "most of the trace is wanted",
            Unused::Packed => {
                "it can only be read as a whole: it is a pipe, or packed in one piece"
            }
            Unused::NoRoom => "the index, or the memory, has no room for what is wanted",
        }
    }
}

/// Why a run over pieces does not answer. Nothing was written.
pub(crate) enum Stop {
    /// There is no index.
    Missing,
    /// All must be read, for this reason.
    Cannot(Unused),
    /// The index is none of the trace: what is wrong with it.
    Wrong(String),
}

impl Stop {
    /// Something else was read than is known.
    pub(crate) fn changed() -> Self {
        "the trace holds something else than the index says".into()
    }
}

impl From<Unused> for Stop {
    fn from(why: Unused) -> Self {
        Stop::Cannot(why)
    }
}

impl From<String> for Stop {
    fn from(problem: String) -> Self {
        Stop::Wrong(problem)
    }
}

impl From<&str> for Stop {
    fn from(problem: &str) -> Self {
        Stop::Wrong(problem.to_owned())
    }
}

impl From<IndexError> for Stop {
    fn from(problem: IndexError) -> Self {
        Stop::Wrong(problem.to_string())
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
    pub(crate) fn read<K: Keep, O: Observer>(
        &self,
        source: &Source,
        keep: K,
        observer: O,
        config: &Config,
    ) -> Result<Option<Scanned<K, O>>, Error> {
        let observers = (EventSums::default(), observer);
        let scanned = inputs::scan_pieces(source, &self.chosen, config, keep, observers);
        let Ok(Scanned { mut inputs, index, observed: (EventSums(read), observed) }) = scanned
        else {
            return config.cancel.check().map(|()| None);
        };
        let is_one = matches!((&index.documents[..], &inputs.reports[..]), ([_], [_]));
        let lost = inputs.reports.iter().map(InputReport::lost).sum::<u64>();
        if !is_one || lost > 0 && self.report.lost() == 0 || read != self.read {
            return Ok(None);
        }
        for report in &mut inputs.reports {
            let InputReport { name, lapses, .. } = std::mem::take(report);
            *report = InputReport { name, lapses, ..self.report.clone() };
        }
        Ok(Some(Scanned { inputs, index, observed }))
    }
}

/// Observes the number of events, and the sum of their checksums.
#[derive(Default)]
struct EventSums(Read);

impl Look for EventSums {
    #[inline]
    fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
        self.0.add(Read { events: 1, sum: event_sum(event.offset, event.bytes) });
        true
    }
}

impl Observer for EventSums {
    type Chunk = EventSums;

    fn starter(&self) -> Starter<EventSums> {
        Box::new(|_| EventSums::default())
    }

    fn merge(&mut self, found: EventSums, _: &SealedChunk<'_>) -> Result<(), Error> {
        self.0.add(found.0);
        Ok(())
    }
}
