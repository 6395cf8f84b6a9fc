//! The input that is being read, and the numbers of its threads and processes.

use std::sync::Arc;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::thread_table::ThreadTable;
use tracemill_trace::observe::InputStart;

/// Number of ids per input: ids are the number of the input times this, plus a number in the input.
pub const IDS_PER_INPUT: i64 = 1 << 40;

/// The input that is being read.
#[derive(Default)]
pub(crate) struct CurrentInput {
    pub(crate) file: Arc<str>,
    pub(crate) number: usize,
    pub(crate) place: Arc<InputPlace>,
    /// Number of events in earlier chunks.
    pub(crate) events: i64,
    pub(crate) numbers: ThreadNumbers,
}

impl CurrentInput {
    /// Begins an input. Returns the previous input, or `None` if events of a CPU profile continue it.
    pub(crate) fn begin(&mut self, input: &InputStart<'_>, places: &[InputPlace]) -> Option<Self> {
        if input.synthetic && self.number == input.number {
            return None;
        }
        let place = Arc::new(places.get(input.number).cloned().unwrap_or_default());
        let (file, number) = (input.name.into(), input.number);
        let next = CurrentInput { file, number, place, ..CurrentInput::default() };
        Some(std::mem::replace(self, next))
    }

    /// Returns the id with the number 0.
    pub(crate) fn base(&self) -> i64 {
        self.number as i64 * IDS_PER_INPUT
    }

    /// Returns the id of an event of the current chunk.
    pub(crate) fn event_id(&self, number: u32) -> i64 {
        self.base() + self.events + i64::from(number)
    }
}

/// Threads and processes, numbered in order of their first events.
#[derive(Default)]
pub(crate) struct ThreadNumbers {
    pub(crate) threads: ThreadTable,
    pub(crate) processes: ThreadTable,
}

/// Numbers of the thread and the process of an event. `None` if the event has no tid or pid.
#[derive(Clone, Copy, Default)]
pub(crate) struct EventThread {
    pub(crate) thread: Option<u32>,
    pub(crate) process: Option<u32>,
}

/// Numbers in the table of an input, by the number in the table of a chunk.
pub(crate) struct Renumbering {
    pub(crate) threads: Vec<usize>,
    pub(crate) processes: Vec<usize>,
}

impl ThreadNumbers {
    /// Numbers the thread and the process of an event.
    #[inline]
    pub(crate) fn number(&mut self, event: &Event<'_>) -> EventThread {
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id));
        let process = pid.map(|pid| self.processes.number(pid, b"") as u32);
        let thread = tid.map(|tid| self.threads.number(pid.unwrap_or_default(), tid) as u32);
        EventThread { thread, process }
    }

    /// Adds the threads and processes of a chunk.
    pub(crate) fn append(&mut self, later: &ThreadNumbers) -> Renumbering {
        let threads = self.threads.append(&later.threads);
        Renumbering { threads, processes: self.processes.append(&later.processes) }
    }

    /// Returns the heap use in bytes.
    pub(crate) fn heap(&self) -> u64 {
        self.threads.heap() + self.processes.heap()
    }
}
