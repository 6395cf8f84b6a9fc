//! The tables `thread` and `process`: what all events say about each thread and process.
//!
//! Names come from metadata events by the rule of [`MetadataNames`], over all inputs that are read as
//! one trace.

use crate::filter::integer;
use crate::input::{CurrentInput, ThreadNumbers};
use crate::rows::batch;
use crate::scan::{ROWS, ScanEnd, TakeBatch, read};
use crate::table::{RowScan, TableColumn, TraceInputs, columns};
use crate::text::RepeatedText;
use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::SchemaRef;
use std::ops::Range;
use std::sync::Arc;
use tracemill_join::config::THREADS;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::Event;
use tracemill_trace::Error;
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::observe::{EventRef, InputStart, Look, Observer, SealedChunk, Starter};
use tracemill_trace::run::limits::Quota;

/// The source of a column of `thread` or `process`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadValue {
    /// The thread, unique over all inputs.
    Thread,
    /// The process, unique over all inputs.
    Process,
    /// The tid.
    Tid,
    /// The pid.
    Pid,
    /// The tid as written.
    TidText,
    /// The pid as written.
    PidText,
    /// The name.
    Name,
    /// Time of the first event.
    Start,
    /// End of the last event.
    End,
    /// Whether the tid equals the pid.
    IsMain,
    /// Name of the input.
    File,
    /// Number of events.
    Events,
    /// Bytes of events.
    Bytes,
}

/// A column of `thread` or `process`.
pub type ThreadColumn = TableColumn<ThreadValue>;

/// The columns of `thread`.
pub const THREAD_COLUMNS: &[ThreadColumn] = columns! {
    "utid" Integer ThreadValue::Thread, "thread, unique over all inputs";
    "tid" OptionalInteger ThreadValue::Tid, "tid, if it is an integer";
    "name" OptionalText ThreadValue::Name, "name by its metadata";
    "upid" OptionalInteger ThreadValue::Process, "process: joins process";
    "start_ts" OptionalInteger ThreadValue::Start, "time of the first event in nanoseconds";
    "end_ts" OptionalInteger ThreadValue::End, "end of the last event in nanoseconds";
    "is_main_thread" OptionalInteger ThreadValue::IsMain, "1 if the tid is the pid, otherwise 0";
    "file" Text ThreadValue::File, "name of the input";
    "tid_text" OptionalText ThreadValue::TidText, "tid as written";
    "events" Integer ThreadValue::Events, "number of events";
    "bytes" Integer ThreadValue::Bytes, "bytes of events";
};

/// The columns of `process`.
pub const PROCESS_COLUMNS: &[ThreadColumn] = columns! {
    "upid" Integer ThreadValue::Process, "process, unique over all inputs";
    "pid" OptionalInteger ThreadValue::Pid, "pid, if it is an integer";
    "name" OptionalText ThreadValue::Name, "name by its metadata";
    "start_ts" OptionalInteger ThreadValue::Start, "time of the first event in nanoseconds";
    "end_ts" OptionalInteger ThreadValue::End, "end of the last event in nanoseconds";
    "file" Text ThreadValue::File, "name of the input";
    "pid_text" OptionalText ThreadValue::PidText, "pid as written";
    "events" Integer ThreadValue::Events, "number of events";
    "bytes" Integer ThreadValue::Bytes, "bytes of events";
};

/// A scan for some columns of `thread` or `process`.
#[derive(Clone, Debug)]
pub struct ThreadScan {
    columns: Vec<ThreadColumn>,
    of_processes: bool,
}

impl ThreadScan {
    /// Creates a scan of threads.
    pub fn threads(columns: Vec<ThreadColumn>) -> Self {
        ThreadScan { columns, of_processes: false }
    }

    /// Creates a scan of processes.
    pub fn processes(columns: Vec<ThreadColumn>) -> Self {
        ThreadScan { columns, of_processes: true }
    }
}

impl RowScan for ThreadScan {
    fn schema(&self) -> SchemaRef {
        ThreadColumn::schema(&self.columns)
    }

    fn run(&self, inputs: &TraceInputs<'_>, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let mut reader = ThreadReader {
            inputs: *inputs,
            of_processes: self.of_processes,
            current: InputThreads::default(),
            ended: Vec::new(),
            ended_heap: 0,
            names: MetadataNames::default(),
            quota: inputs.config.limits.table_quota(),
        };
        let end = read(inputs.sources, inputs.config, &mut reader, |_| false)?;
        let ThreadReader { current, mut ended, names, .. } = reader;
        ended.push(current);
        let schema = RowScan::schema(self);
        for input in &ended {
            for first in (0..input.usages.len()).step_by(ROWS) {
                let numbers = first..(first + ROWS).min(input.usages.len());
                let rows = ThreadRows { input, names: &names, of_processes: self.of_processes };
                let column = |column: &ThreadColumn| rows.column(column.source, numbers.clone());
                let columns = self.columns.iter().map(column).collect();
                if take(batch(&schema, columns, numbers.len())).is_break() {
                    return Ok(end);
                }
            }
        }
        Ok(end)
    }
}

/// Totals of a thread or process.
#[derive(Clone, Copy, Default)]
struct Usage {
    events: u64,
    bytes: u64,
    /// Start of the first and end of the last event with a time, except metadata.
    times: Option<[i64; 2]>,
}

impl Usage {
    fn add(&mut self, other: &Usage) {
        self.events += other.events;
        self.bytes += other.bytes;
        self.times = match (self.times, other.times) {
            (Some([start, end]), Some([other_start, other_end])) => {
                Some([start.min(other_start), end.max(other_end)])
            }
            (times, other) => times.or(other),
        };
    }
}

/// Adds totals to those of a number.
fn add(usages: &mut Vec<Usage>, number: usize, usage: &Usage) {
    if usages.len() <= number {
        usages.resize(number + 1, Usage::default());
    }
    usages[number].add(usage);
}

/// The threads or the processes of an input.
#[derive(Default)]
struct InputThreads {
    input: CurrentInput,
    usages: Vec<Usage>,
}

impl InputThreads {
    fn heap(&self) -> u64 {
        self.input.numbers.heap() + (self.usages.capacity() * size_of::<Usage>()) as u64
    }
}

/// The observer that counts events by thread or process.
struct ThreadReader<'r> {
    inputs: TraceInputs<'r>,
    of_processes: bool,
    current: InputThreads,
    ended: Vec<InputThreads>,
    /// Heap of `ended` in bytes.
    ended_heap: u64,
    names: MetadataNames,
    quota: Quota,
}

impl Observer for ThreadReader<'_> {
    type Chunk = ThreadLook;

    fn begin(&mut self, start: &InputStart<'_>) {
        if let Some(input) = self.current.input.begin(start, self.inputs.places) {
            let usages = std::mem::take(&mut self.current.usages);
            if !usages.is_empty() {
                let ended = InputThreads { input, usages };
                self.ended_heap += ended.heap();
                self.ended.push(ended);
            }
        }
    }

    fn starter(&self) -> Starter<ThreadLook> {
        let (place, of_processes) = (Arc::clone(&self.current.input.place), self.of_processes);
        Box::new(move |_| ThreadLook {
            place: Arc::clone(&place),
            of_processes,
            ..ThreadLook::default()
        })
    }

    fn merge(&mut self, found: ThreadLook, _: &SealedChunk<'_>) -> Result<(), Error> {
        let InputThreads { input, usages } = &mut self.current;
        let numbers = input.numbers.append(&found.numbers);
        let numbers = if self.of_processes { numbers.processes } else { numbers.threads };
        for (usage, number) in found.usages.iter().zip(numbers) {
            add(usages, number, usage);
        }
        let place = &input.place;
        self.names.append(match place.is_as_written() {
            true => found.names,
            false => found.names.with_pids(|pid| place.pid(pid).into()),
        });
        self.quota.check(self.ended_heap + self.current.heap() + self.names.heap(), THREADS)
    }
}

/// The threads or the processes of a chunk.
#[derive(Default)]
struct ThreadLook {
    place: Arc<InputPlace>,
    of_processes: bool,
    numbers: ThreadNumbers,
    usages: Vec<Usage>,
    names: MetadataNames,
}

impl Look for ThreadLook {
    #[inline]
    fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
        let numbers = self.numbers.number(event);
        let number = if self.of_processes { numbers.process } else { numbers.thread };
        let is_metadata = event.is_metadata();
        if is_metadata {
            self.names.note(event);
        }
        let Some(number) = number else { return true };
        let times = event.ts().filter(|_| !is_metadata).map(|ts| {
            let start = self.place.moved_nanos(ts).floor;
            let dur = event.dur().map_or(0, |dur| dur.floor.max(0));
            [start, start.saturating_add(dur)]
        });
        let usage = Usage { events: 1, bytes: event.bytes.len() as u64, times };
        add(&mut self.usages, number as usize, &usage);
        true
    }
}

/// The rows of an input.
struct ThreadRows<'r> {
    input: &'r InputThreads,
    names: &'r MetadataNames,
    of_processes: bool,
}

impl ThreadRows<'_> {
    /// Returns the pid and the tid of a row as written.
    fn ids(&self, number: usize) -> (&[u8], &[u8]) {
        let numbers = &self.input.input.numbers;
        match self.of_processes {
            true => numbers.processes.ids(number),
            false => numbers.threads.ids(number),
        }
    }

    /// Returns the pid of a row as in the merged trace.
    fn pid(&self, number: usize) -> &[u8] {
        self.input.input.place.pid(self.ids(number).0)
    }

    fn column(&self, value: ThreadValue, numbers: Range<usize>) -> ArrayRef {
        match value {
            ThreadValue::TidText | ThreadValue::PidText | ThreadValue::Name | ThreadValue::File => {
                let mut texts = RepeatedText::new();
                numbers.for_each(|number| self.push_text(value, number, &mut texts));
                texts.finish()
            }
            _ => Arc::new(Int64Array::from_iter(numbers.map(|number| self.number(value, number)))),
        }
    }

    fn push_text(&self, value: ThreadValue, number: usize, texts: &mut RepeatedText) {
        let (pid, (_, tid)) = (self.pid(number), self.ids(number));
        match value {
            ThreadValue::File => texts.push_text(&self.input.input.file),
            ThreadValue::PidText => texts.push(pid),
            ThreadValue::TidText => texts.push(tid),
            _ => {
                let name = match self.of_processes {
                    true => self.names.process_value(pid),
                    false => self.names.thread_value(pid, tid),
                };
                texts.push(name.unwrap_or_default());
            }
        }
    }

    fn number(&self, value: ThreadValue, number: usize) -> Option<i64> {
        let InputThreads { input, usages } = self.input;
        let usage = &usages[number];
        let (written_pid, tid) = self.ids(number);
        match value {
            ThreadValue::Thread => Some(input.base() + number as i64),
            ThreadValue::Process => {
                let process = input.numbers.processes.find(written_pid, b"");
                process.map(|process| input.base() + process as i64)
            }
            ThreadValue::Tid => integer(tid),
            ThreadValue::Pid => integer(self.pid(number)),
            ThreadValue::IsMain => Some(i64::from(integer(written_pid)? == integer(tid)?)),
            ThreadValue::Start => usage.times.map(|[start, _]| start),
            ThreadValue::End => usage.times.map(|[_, end]| end),
            ThreadValue::Events => i64::try_from(usage.events).ok(),
            _ => i64::try_from(usage.bytes).ok(),
        }
    }
}
