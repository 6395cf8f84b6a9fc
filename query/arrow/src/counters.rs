//! The tables `counter` and `counter_track`: numeric members of the args of counter events.
//!
//! A track is a counter of a process: the name of the event, its id if there is one, and the name of
//! the member, as in Perfetto.

use crate::input::{CurrentInput, IDS_PER_INPUT, ThreadNumbers};
use crate::rows::batch;
use crate::scan::{ROWS, ScanEnd, TakeBatch, read};
use crate::table::{RowScan, TableColumn, TraceInputs, columns};
use crate::text::RepeatedText;
use crate::tracks::TrackKind;
use arrow_array::{ArrayRef, Float64Array, Int64Array};
use arrow_schema::SchemaRef;
use std::sync::Arc;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field, members, number_text};
use tracemill_trace::event::thread_table::ThreadTable;
use tracemill_trace::json::content;
use tracemill_trace::observe::{EventRef, InputStart, Look, Observer, SealedChunk, Starter};
use tracemill_trace::run::limits::Quota;
use tracemill_trace::{Error, ErrorKind};

/// The source of a column of `counter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterValue {
    /// Id of the event.
    Event,
    /// Time.
    Time,
    /// Id of the track.
    Track,
    /// Value of the member.
    Value,
    /// Name of the input.
    File,
}

/// A column of `counter`.
pub type CounterColumn = TableColumn<CounterValue>;

/// The columns of `counter`.
pub const COUNTER_COLUMNS: &[CounterColumn] = columns! {
    "id" Integer CounterValue::Event, "event, unique over all inputs; its members share it";
    "ts" Integer CounterValue::Time, "time in nanoseconds, rounded down";
    "track_id" Integer CounterValue::Track, "track: joins counter_track";
    "value" Real CounterValue::Value, "value of a member of args";
    "file" Text CounterValue::File, "name of the input";
    "arg_set_id" Integer CounterValue::Event, "id";
};

/// The source of a column of `counter_track`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterTrackValue {
    /// Id of the track.
    Track,
    /// Name of the counter and the member.
    Name,
    /// The process.
    Process,
    /// Kind of the track.
    Kind,
    /// Name of the input.
    File,
}

/// A column of `counter_track`.
pub type CounterTrackColumn = TableColumn<CounterTrackValue>;

/// The columns of `counter_track`.
pub const COUNTER_TRACK_COLUMNS: &[CounterTrackColumn] = columns! {
    "id" Integer CounterTrackValue::Track, "track, unique over all inputs";
    "name" Text CounterTrackValue::Name, "name of the event, id: and the id if there is one, name of the member";
    "type" Text CounterTrackValue::Kind, "kind of the track, as in Perfetto";
    "upid" OptionalInteger CounterTrackValue::Process, "process";
    "file" Text CounterTrackValue::File, "name of the input";
};

/// A scan for some columns of `counter`.
#[derive(Clone, Debug)]
pub struct CounterScan {
    columns: Vec<CounterColumn>,
}

impl CounterScan {
    /// Creates a scan.
    pub fn new(columns: Vec<CounterColumn>) -> Self {
        CounterScan { columns }
    }

    /// Passes on the values of a chunk.
    fn rows(&self, values: &[InputValue], file: &str, take: &mut TakeBatch<'_>) -> bool {
        let schema = RowScan::schema(self);
        values.chunks(ROWS).all(|values| {
            let integers = |value: fn(&InputValue) -> i64| -> ArrayRef {
                Arc::new(Int64Array::from_iter_values(values.iter().map(value)))
            };
            let column = |column: &CounterColumn| match column.source {
                CounterValue::Event => integers(|value| value.event),
                CounterValue::Time => integers(|value| value.ts),
                CounterValue::Track => integers(|value| value.track),
                CounterValue::Value => {
                    let all = values.iter().map(|value| value.value);
                    Arc::new(Float64Array::from_iter_values(all))
                }
                CounterValue::File => {
                    let mut files = RepeatedText::new();
                    values.iter().for_each(|_| files.push_text(file));
                    files.finish()
                }
            };
            let columns = self.columns.iter().map(column).collect();
            take(batch(&schema, columns, values.len())).is_continue()
        })
    }
}

impl RowScan for CounterScan {
    fn schema(&self) -> SchemaRef {
        CounterColumn::schema(&self.columns)
    }

    fn run(&self, inputs: &TraceInputs<'_>, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let is_taken =
            |values: &[InputValue], input: &CurrentInput| self.rows(values, &input.file, take);
        let mut reader = CounterReader::new(inputs, is_taken);
        read(inputs.sources, inputs.config, &mut reader, |reader| reader.is_stopped)
    }
}

/// A scan for some columns of `counter_track`.
#[derive(Clone, Debug)]
pub struct CounterTrackScan {
    columns: Vec<CounterTrackColumn>,
}

impl CounterTrackScan {
    /// Creates a scan.
    pub fn new(columns: Vec<CounterTrackColumn>) -> Self {
        CounterTrackScan { columns }
    }

    /// Returns one column of the tracks of an input.
    fn column(column: CounterTrackValue, tracks: &InputTracks) -> ArrayRef {
        let InputTracks { input, tracks } = tracks;
        let numbers = 0..tracks.len();
        let mut texts = RepeatedText::new();
        match column {
            CounterTrackValue::Track => {
                let first = input.base() + TrackKind::Counter.offset();
                Arc::new(Int64Array::from_iter_values(numbers.map(|n| first + n as i64)))
            }
            CounterTrackValue::Process => {
                let process = |number: usize| {
                    let number = input.numbers.processes.find(tracks.ids(number).0, b"")?;
                    Some(input.base() + number as i64)
                };
                Arc::new(Int64Array::from_iter(numbers.map(process)))
            }
            CounterTrackValue::Name => {
                numbers.for_each(|number| texts.push_bytes(tracks.ids(number).1));
                texts.finish()
            }
            CounterTrackValue::Kind => {
                numbers.for_each(|_| texts.push_text(TrackKind::Counter.name()));
                texts.finish()
            }
            CounterTrackValue::File => {
                numbers.for_each(|_| texts.push_text(&input.file));
                texts.finish()
            }
        }
    }
}

impl RowScan for CounterTrackScan {
    fn schema(&self) -> SchemaRef {
        CounterTrackColumn::schema(&self.columns)
    }

    fn run(&self, inputs: &TraceInputs<'_>, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let mut reader = CounterReader::new(inputs, |_: &[InputValue], _: &CurrentInput| true);
        let end = read(inputs.sources, inputs.config, &mut reader, |_| false)?;
        let CounterReader { mut ended, current, .. } = reader;
        ended.push(current);
        let schema = RowScan::schema(self);
        for tracks in ended.iter().filter(|tracks| !tracks.tracks.is_empty()) {
            let column = |column: &CounterTrackColumn| Self::column(column.source, tracks);
            let columns = self.columns.iter().map(column).collect();
            if take(batch(&schema, columns, tracks.tracks.len())).is_break() {
                break;
            }
        }
        Ok(end)
    }
}

/// A value of a counter, with ids that are unique over all inputs.
struct InputValue {
    event: i64,
    ts: i64,
    track: i64,
    value: f64,
}

/// The tracks of an input, by pid as written and name.
#[derive(Default)]
struct InputTracks {
    input: CurrentInput,
    tracks: ThreadTable,
}

/// The observer that reads counters. It passes the values of each chunk to `take`, which returns
/// whether it wants more.
struct CounterReader<'r, F> {
    inputs: TraceInputs<'r>,
    current: InputTracks,
    ended: Vec<InputTracks>,
    /// Heap of `ended` in bytes.
    ended_heap: u64,
    quota: Quota,
    is_stopped: bool,
    take: F,
}

impl<'r, F> CounterReader<'r, F> {
    fn new(inputs: &TraceInputs<'r>, take: F) -> Self {
        CounterReader {
            inputs: *inputs,
            current: InputTracks::default(),
            ended: Vec::new(),
            ended_heap: 0,
            quota: inputs.config.limits.table_quota(),
            is_stopped: false,
            take,
        }
    }
}

impl<F: FnMut(&[InputValue], &CurrentInput) -> bool> Observer for CounterReader<'_, F> {
    type Chunk = CounterLook;

    fn begin(&mut self, start: &InputStart<'_>) {
        if let Some(input) = self.current.input.begin(start, self.inputs.places) {
            let tracks = std::mem::take(&mut self.current.tracks);
            if !tracks.is_empty() {
                self.ended_heap += tracks.heap() + input.numbers.heap();
                self.ended.push(InputTracks { input, tracks });
            }
        }
    }

    fn starter(&self) -> Starter<CounterLook> {
        let place = Arc::clone(&self.current.input.place);
        Box::new(move |_| CounterLook { place: Arc::clone(&place), ..CounterLook::default() })
    }

    fn merge(&mut self, found: CounterLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let InputTracks { input, tracks } = &mut self.current;
        input.numbers.append(&found.numbers);
        let numbers = tracks.append(&found.tracks);
        let heap = self.ended_heap + tracks.heap() + input.numbers.heap();
        self.quota.check(heap, "names of counters")?;
        let first = input.number as i64 * IDS_PER_INPUT + TrackKind::Counter.offset();
        let value = |found: &ChunkValue| InputValue {
            event: input.event_id(found.event),
            ts: found.ts,
            track: first + numbers[found.track as usize] as i64,
            value: found.value,
        };
        let values: Vec<InputValue> = found.values.iter().map(value).collect();
        if !(self.take)(&values, input) {
            self.is_stopped = true;
            return Err(ErrorKind::Cancelled.into());
        }
        input.events += chunk.stats.events as i64;
        Ok(())
    }
}

/// A value of a counter in a chunk.
struct ChunkValue {
    event: u32,
    track: u32,
    ts: i64,
    value: f64,
}

/// The counters of a chunk.
#[derive(Default)]
struct CounterLook {
    place: Arc<InputPlace>,
    events: u32,
    numbers: ThreadNumbers,
    tracks: ThreadTable,
    values: Vec<ChunkValue>,
    /// Index of the last value of each track.
    last: Vec<usize>,
    name: Vec<u8>,
    scratch: Vec<u8>,
}

impl Look for CounterLook {
    #[inline]
    fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
        let number = self.events;
        self.events += 1;
        // processes are numbered by all events, as in other tables
        self.numbers.number(event);
        if event.phase() == b'C' {
            self.counter(event, number);
        }
        true
    }
}

impl CounterLook {
    fn counter(&mut self, event: &Event<'_>, number: u32) {
        let Some(ts) = event.ts().map(|ts| self.place.moved_nanos(ts).floor) else { return };
        let Some(args @ [b'{', ..]) = event.field(Field::Args) else { return };
        let pid = event.field(Field::Pid).unwrap_or_default();
        self.name.clear();
        let name = event.field(Field::Name).unwrap_or_default();
        self.name.extend_from_slice(content(name, &mut self.scratch));
        if let Some(id) = event.field(Field::Id).or_else(|| event.field(Field::Id2)) {
            self.name.extend_from_slice(b" id: ");
            self.name.extend_from_slice(content(id, &mut self.scratch));
        }
        self.name.push(b' ');
        let prefix = self.name.len();
        for (key, value) in members(args) {
            let number_of_value = number_text(value, &mut self.scratch);
            let text = number_of_value.and_then(|text| std::str::from_utf8(text).ok());
            let Some(value) = text.and_then(|text| text.parse().ok()) else { continue };
            self.name.truncate(prefix);
            self.name.extend_from_slice(content(key, &mut self.scratch));
            let track = self.tracks.number(pid, &self.name);
            self.push(track, ChunkValue { event: number, track: track as u32, ts, value });
        }
    }

    /// Adds a value. The last of equal members of an event counts.
    fn push(&mut self, track: usize, value: ChunkValue) {
        if track == self.last.len() {
            self.last.push(self.values.len());
        }
        let last = &mut self.last[track];
        match self.values.get_mut(*last).filter(|last| last.event == value.event) {
            Some(last) => *last = value,
            None => {
                *last = self.values.len();
                self.values.push(value);
            }
        }
    }
}
