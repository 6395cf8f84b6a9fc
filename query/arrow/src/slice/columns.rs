//! The columns of `slice`.

use crate::column::EventColumn;
use crate::table::{TableColumn, columns};

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
