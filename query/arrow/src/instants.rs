//! The table `instant`: events without duration on a thread, process or all.

use crate::column::EventColumn;
use crate::filter::{Condition, EventFilter};
use crate::input::IDS_PER_INPUT;
use crate::rows::batch;
use crate::scan::{EventScan, ScanEnd, TakeBatch};
use crate::table::{RowScan, TableColumn, TraceInputs, columns};
use crate::tracks::TrackKind;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::SchemaRef;
use std::sync::Arc;
use tracemill_trace::Error;

/// The source of a column of `instant`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstantValue {
    /// A field of the event.
    Event(EventColumn),
    /// Id of the track.
    Track,
}

/// A column of `instant`.
pub type InstantColumn = TableColumn<InstantValue>;

/// The columns of `instant`.
pub const INSTANT_COLUMNS: &[InstantColumn] = columns! {
    "id" Integer InstantValue::Event(EventColumn::EventId), "event, unique over all inputs";
    "ts" Integer InstantValue::Event(EventColumn::Time), "time in nanoseconds, rounded down";
    "track_id" Integer InstantValue::Track, "track: joins track, thread_track or process_track";
    "name" OptionalText InstantValue::Event(EventColumn::Name), "name";
    "category" OptionalText InstantValue::Event(EventColumn::Category), "categories, separated by commas";
    "arg_set_id" OptionalInteger InstantValue::Event(EventColumn::ArgSetId), "id, if there are args";
    "args" OptionalText InstantValue::Event(EventColumn::Args), "args as JSON";
    "file" Text InstantValue::Event(EventColumn::File), "name of the input";
    "utid" OptionalInteger InstantValue::Event(EventColumn::UniqueThread), "thread";
};

/// Fields that decide the track.
const TRACK_FIELDS: [EventColumn; 4] = [
    EventColumn::EventId,
    EventColumn::UniqueThread,
    EventColumn::UniqueProcess,
    EventColumn::InstantScope,
];

/// A scan for some columns of `instant`.
#[derive(Clone, Debug)]
pub struct InstantScan {
    columns: Vec<InstantColumn>,
    conditions: Vec<Condition>,
}

impl InstantScan {
    /// Creates a scan for instants that satisfy conditions.
    pub fn new(columns: Vec<InstantColumn>, conditions: Vec<Condition>) -> Self {
        InstantScan { columns, conditions }
    }

    /// Returns the requested fields, then those that decide the track, if it is requested.
    fn fields(&self) -> Vec<EventColumn> {
        let field = |column: &InstantColumn| match column.source {
            InstantValue::Event(field) => Some(field),
            InstantValue::Track => None,
        };
        let mut fields: Vec<_> = self.columns.iter().filter_map(field).collect();
        if fields.len() < self.columns.len() {
            fields.extend(TRACK_FIELDS);
        }
        fields
    }

    fn row(&self, schema: &SchemaRef, events: &RecordBatch) -> RecordBatch {
        let mut fields = events.columns().iter();
        let column = |column: &InstantColumn| match column.source {
            InstantValue::Event(_) => fields.next().map(Arc::clone),
            InstantValue::Track => Some(tracks(events.columns())),
        };
        let columns = self.columns.iter().filter_map(column).collect();
        batch(schema, columns, events.num_rows())
    }
}

/// Returns the tracks of instants, whose last fields are [`TRACK_FIELDS`].
fn tracks(fields: &[ArrayRef]) -> ArrayRef {
    let of_track = &fields[fields.len() - TRACK_FIELDS.len()..];
    let integers = |at: usize| of_track[at].as_primitive::<Int64Type>();
    let (ids, threads, processes) = (integers(0), integers(1), integers(2));
    let scopes = of_track[3].as_string_view();
    let track = |row: usize| {
        let scope = if scopes.is_null(row) { "" } else { scopes.value(row) };
        let process = processes.is_valid(row).then(|| processes.value(row));
        let thread = threads.is_valid(row).then(|| threads.value(row));
        let process = process.map(|process| process + TrackKind::Process.offset());
        let base = ids.value(row) / IDS_PER_INPUT * IDS_PER_INPUT;
        let global = base + TrackKind::Global.offset();
        match scope {
            "g" => global,
            "p" => process.unwrap_or(global),
            _ => thread.or(process).unwrap_or(global),
        }
    };
    Arc::new(Int64Array::from_iter_values((0..ids.len()).map(track)))
}

impl RowScan for InstantScan {
    fn schema(&self) -> SchemaRef {
        InstantColumn::schema(&self.columns)
    }

    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    fn run(&self, inputs: &TraceInputs<'_>, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let mut conditions = vec![Condition::Phases(b"iIR")];
        conditions.extend(self.conditions.iter().cloned());
        let scan = EventScan::new(self.fields()).filtered(EventFilter(conditions));
        let scan = scan.at_places(inputs.places.to_vec());
        let schema = RowScan::schema(self);
        scan.run(inputs.sources, inputs.config, |events| take(self.row(&schema, &events)))
    }
}
