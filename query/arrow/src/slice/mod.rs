//! The table `slice`: intervals of threads and async operations, with their parents.
//!
//! ```text
//!   pass 1   scan ─┬─ X ──────────────────────────────┐
//!                  └─ B E, b e n, S F ─ sort ─ pairs ─┴─ sort by track ─ nesting ─ sort by id ─┐
//!   pass 2   EventScan, in file order ─────────────── batches ─ joined by id ──────────────────┴─> rows
//! ```
//!
//! All sorts spill to disk. Nesting does not depend on the conditions of a query, which pass 2 checks.
//! A query for columns of one pass skips the other.

mod nesting;
mod pairs;
mod read;
mod records;
mod rows;

use crate::column::EventColumn;
use crate::filter::{Condition, EventFilter};
use crate::input::CurrentInput;
use crate::scan::{EventScan, ScanEnd, TakeBatch, read};
use crate::table::{RowScan, TableColumn, TraceInputs, columns};
use arrow_schema::SchemaRef;
use nesting::Nesting;
use pairs::Pairing;
use read::{BEGINS, SliceReader};
use records::{NestedSlice, PairThreadTime};
use rows::SliceRows;
use tracemill_trace::Error;
use tracemill_trace::order::{KeySorter, SortedByKey};
use tracemill_trace::run::memory::Share;

/// The source of a column of `slice`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceValue {
    /// A field of the begin event.
    Event(EventColumn),
    /// The CPU time of the thread: `tdur` of an X event, or the difference of a pair.
    ThreadDuration,
    /// Duration.
    Duration,
    /// Time outside children.
    SelfDuration,
    /// Id of the track.
    Track,
    /// Number of slices around the slice.
    Depth,
    /// Id of the parent.
    Parent,
}

/// A column of `slice`.
pub type SliceColumn = TableColumn<SliceValue>;

/// The columns of `slice`.
pub const SLICE_COLUMNS: &[SliceColumn] = columns! {
    "id" Integer SliceValue::Event(EventColumn::EventId), "begin event, unique over all inputs";
    "ts" Integer SliceValue::Event(EventColumn::Time), "start in nanoseconds, rounded down";
    "dur" Integer SliceValue::Duration, "duration in nanoseconds, -1 if it is unknown";
    "track_id" Integer SliceValue::Track, "track: joins track, thread_track or process_track";
    "category" OptionalText SliceValue::Event(EventColumn::Category), "categories, separated by commas";
    "name" OptionalText SliceValue::Event(EventColumn::Name), "name";
    "depth" Integer SliceValue::Depth, "number of slices around it on its track";
    "parent_id" OptionalInteger SliceValue::Parent, "innermost slice of the track that contains it";
    "arg_set_id" OptionalInteger SliceValue::Event(EventColumn::ArgSetId), "id, if there are args";
    "thread_ts" OptionalInteger SliceValue::Event(EventColumn::ThreadTime), "CPU time of the thread at the start";
    "thread_dur" OptionalInteger SliceValue::ThreadDuration, "CPU time of the thread in between";
    "file" Text SliceValue::Event(EventColumn::File), "name of the input";
    "utid" OptionalInteger SliceValue::Event(EventColumn::UniqueThread), "thread of the begin event";
    "ph" OptionalText SliceValue::Event(EventColumn::Phase), "phase of the begin event: X, B, b, n or S";
    "self_dur" Integer SliceValue::SelfDuration, "duration outside children, -1 if it is unknown";
    "args" OptionalText SliceValue::Event(EventColumn::Args), "args of the begin event as JSON";
};

/// A scan for some columns of `slice`.
#[derive(Clone, Debug)]
pub struct SliceScan {
    columns: Vec<SliceColumn>,
    conditions: Vec<Condition>,
}

/// Slices with their parents, by id, and the end of the scan that found them.
struct SliceTree {
    nested: SortedByKey<NestedSlice>,
    thread_times: Option<SortedByKey<PairThreadTime>>,
    end: ScanEnd,
}

impl SliceScan {
    /// Creates a scan for slices whose begin events satisfy conditions.
    pub fn new(columns: Vec<SliceColumn>, conditions: Vec<Condition>) -> Self {
        SliceScan { columns, conditions }
    }

    /// Returns whether a column is requested.
    fn has(&self, is_it: impl Fn(SliceValue) -> bool) -> bool {
        self.columns.iter().any(|column| is_it(column.source))
    }

    /// Returns whether the scan needs fields that only pass 2 reads.
    fn reads_fields(&self) -> bool {
        let is_field = |value| match value {
            SliceValue::Event(column) => {
                !matches!(column, EventColumn::EventId | EventColumn::Time)
            }
            value => value == SliceValue::ThreadDuration,
        };
        !self.conditions.is_empty() || self.has(is_field)
    }

    /// Reads the slices of all inputs and finds their parents.
    ///
    /// Heap: 32 bytes per X event, 56 per other begin or end event and 56 per slice, at most the
    /// leases.
    fn tree(&self, inputs: &TraceInputs<'_>) -> Result<SliceTree, Error> {
        let limits = &inputs.config.limits;
        let (lease, threads) = (|name, share| limits.lease(name, share), limits.threads);
        let reads_thread_times = self.has(|value| value == SliceValue::ThreadDuration);
        let mut reader = SliceReader {
            inputs: *inputs,
            input: CurrentInput::default(),
            slices: KeySorter::new(lease("slices by track", Share::of_index(3, 8)), threads),
            pairs: KeySorter::new(
                lease("begins and ends of slices", Share::of_index(1, 4)),
                threads,
            ),
            reads_thread_times,
            quota: limits.table_quota(),
        };
        let end = read(inputs.sources, inputs.config, &mut reader, |_| false)?;
        let SliceReader { mut slices, pairs, .. } = reader;
        let mut thread_times = reads_thread_times
            .then(|| KeySorter::new(lease("CPU times of slices", Share::of_index(1, 8)), threads));
        let quota = limits.open_quota();
        let mut pairing =
            Pairing { slices: &mut slices, thread_times: thread_times.as_mut(), quota };
        pairing.run(&pairs.finish()?)?;
        let nested = KeySorter::new(lease("slices by id", Share::of_index(3, 8)), threads);
        let nested = Nesting::new(nested, limits.open_quota()).run(&slices.finish()?)?;
        let thread_times = thread_times.map(KeySorter::finish).transpose()?;
        Ok(SliceTree { nested, thread_times, end })
    }

    /// Returns the scan of pass 2: ids, then the requested fields.
    fn events(&self, inputs: &TraceInputs<'_>) -> EventScan {
        let field = |column: &SliceColumn| match column.source {
            SliceValue::Event(column) => Some(column),
            SliceValue::ThreadDuration => Some(EventColumn::ThreadDuration),
            _ => None,
        };
        let mut fields = vec![EventColumn::EventId];
        fields.extend(self.columns.iter().filter_map(field));
        let mut conditions = vec![Condition::Phases(BEGINS)];
        conditions.extend(self.conditions.iter().cloned());
        let scan = EventScan::new(fields).filtered(EventFilter(conditions));
        scan.at_places(inputs.places.to_vec())
    }
}

impl RowScan for SliceScan {
    fn schema(&self) -> SchemaRef {
        SliceColumn::schema(&self.columns)
    }

    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    fn run(&self, inputs: &TraceInputs<'_>, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let is_of_event = |value| matches!(value, SliceValue::Event(_));
        let tree = match self.has(|value| !is_of_event(value)) {
            true => Some(self.tree(inputs)?),
            false => None,
        };
        let end = {
            let mut rows = SliceRows::new(self, tree.as_ref(), take);
            if tree.is_some() && !self.reads_fields() {
                rows.walk();
                None
            } else {
                let events = self.events(inputs);
                let end = events.run(inputs.sources, inputs.config, |batch| rows.join(&batch))?;
                rows.check()?;
                Some(end)
            }
        };
        let end = end.or(tree.map(|tree| tree.end));
        Ok(end.unwrap_or_else(ScanEnd::stopped))
    }
}
