//! Columns of events.

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// A column of the table `events`, or one that only other tables have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventColumn {
    /// `file`: the name of the input, as in reports.
    File,
    /// `event_id`: the event; unique over all inputs.
    EventId,
    /// `number`: the index of the event within its input, from 0, in file order.
    Number,
    /// `byte_offset`: the offset of the event in its input, after decompression.
    ByteOffset,
    /// `ph`: the phase.
    Phase,
    /// `cat`: comma-separated categories.
    Category,
    /// `name`.
    Name,
    /// `pid`: the process as an integer; null if it is something else.
    Pid,
    /// `tid`: the thread as an integer; null if it is something else.
    Tid,
    /// `pid_text`: the pid as written, without quotes.
    PidText,
    /// `tid_text`: the tid as written, without quotes.
    TidText,
    /// `utid`: the thread; unique over all inputs. Null if the event has no tid.
    UniqueThread,
    /// `upid`: the process; unique over all inputs. Null if the event has no pid.
    UniqueProcess,
    /// `ts_ns`: the time in nanoseconds, rounded down.
    Time,
    /// `dur_ns`: the duration in nanoseconds, rounded down.
    Duration,
    /// `tts_ns`: the CPU time of the thread in nanoseconds, rounded down.
    ThreadTime,
    /// `tdur_ns`: the CPU time of the event in nanoseconds, rounded down.
    ThreadDuration,
    /// `ts_text`: the time as written, with all its digits.
    TimeText,
    /// `id`: the id. If it is missing, `id2` as JSON.
    Id,
    /// `scope`: distinguishes equal ids.
    Scope,
    /// `bind_id`: the flow that a slice belongs to.
    BindId,
    /// `args` as JSON, as written.
    Args,
    /// `event`: the whole event as JSON, as written.
    Event,
    /// `arg_set_id`: the event if it has args, otherwise null. Not in `events`.
    ArgSetId,
    /// `s`: whether an instant belongs to its thread, process or all. Not in `events`.
    InstantScope,
}

impl EventColumn {
    /// All columns, in the order of the table.
    pub const ALL: [EventColumn; 23] = [
        EventColumn::File,
        EventColumn::EventId,
        EventColumn::Number,
        EventColumn::ByteOffset,
        EventColumn::Phase,
        EventColumn::Category,
        EventColumn::Name,
        EventColumn::Pid,
        EventColumn::Tid,
        EventColumn::PidText,
        EventColumn::TidText,
        EventColumn::UniqueThread,
        EventColumn::UniqueProcess,
        EventColumn::Time,
        EventColumn::Duration,
        EventColumn::ThreadTime,
        EventColumn::ThreadDuration,
        EventColumn::TimeText,
        EventColumn::Id,
        EventColumn::Scope,
        EventColumn::BindId,
        EventColumn::Args,
        EventColumn::Event,
    ];

    /// Returns the name of the column.
    pub const fn name(self) -> &'static str {
        match self {
            EventColumn::File => "file",
            EventColumn::EventId => "event_id",
            EventColumn::Number => "number",
            EventColumn::ByteOffset => "byte_offset",
            EventColumn::Phase => "ph",
            EventColumn::Category => "cat",
            EventColumn::Name => "name",
            EventColumn::Pid => "pid",
            EventColumn::Tid => "tid",
            EventColumn::PidText => "pid_text",
            EventColumn::TidText => "tid_text",
            EventColumn::UniqueThread => "utid",
            EventColumn::UniqueProcess => "upid",
            EventColumn::Time => "ts_ns",
            EventColumn::Duration => "dur_ns",
            EventColumn::ThreadTime => "tts_ns",
            EventColumn::ThreadDuration => "tdur_ns",
            EventColumn::TimeText => "ts_text",
            EventColumn::Id => "id",
            EventColumn::Scope => "scope",
            EventColumn::BindId => "bind_id",
            EventColumn::Args => "args",
            EventColumn::Event => "event",
            EventColumn::ArgSetId => "arg_set_id",
            EventColumn::InstantScope => "s",
        }
    }

    /// Describes the values of the column.
    pub const fn meaning(self) -> &'static str {
        match self {
            EventColumn::File => "name of the input",
            EventColumn::EventId => "event, unique over all inputs",
            EventColumn::Number => "index of the event within its input, from 0",
            EventColumn::ByteOffset => "offset of the event in its input, after decompression",
            EventColumn::Phase => "phase: X, B, E, i, C, b, e, s, f, M, P …",
            EventColumn::Category => "categories, separated by commas",
            EventColumn::Name => "name",
            EventColumn::Pid => "process, if it is an integer",
            EventColumn::Tid => "thread, if it is an integer",
            EventColumn::PidText => "process as written",
            EventColumn::TidText => "thread as written",
            EventColumn::UniqueThread => "thread, unique over all inputs",
            EventColumn::UniqueProcess => "process, unique over all inputs",
            EventColumn::Time => "time in nanoseconds, rounded down",
            EventColumn::Duration => "duration in nanoseconds, rounded down",
            EventColumn::ThreadTime => "CPU time of the thread in nanoseconds, rounded down",
            EventColumn::ThreadDuration => "CPU time of the event in nanoseconds, rounded down",
            EventColumn::TimeText => "ts as written, with all its digits",
            EventColumn::Id => "id, else id2 as JSON",
            EventColumn::Scope => "distinguishes equal ids",
            EventColumn::BindId => "flow that the slice belongs to",
            EventColumn::Args => "args as JSON: args->>'key' is the text of a member",
            EventColumn::Event => "the whole event as JSON",
            EventColumn::ArgSetId => "event, if it has args",
            EventColumn::InstantScope => "scope of an instant: t, p or g",
        }
    }

    /// Returns the column with a name.
    pub fn named(name: &str) -> Option<EventColumn> {
        EventColumn::ALL.into_iter().find(|column| column.name() == name)
    }

    /// Returns whether the values depend on all earlier events of the input: `event_id`,
    /// `arg_set_id`, `number`, `utid`, `upid`.
    pub const fn counts_events(self) -> bool {
        matches!(
            self,
            EventColumn::EventId
                | EventColumn::ArgSetId
                | EventColumn::Number
                | EventColumn::UniqueThread
                | EventColumn::UniqueProcess
        )
    }

    /// Returns the Arrow field of the column. Text is [`DataType::Utf8View`], in which repeated text is
    /// stored once per batch.
    pub fn field(self) -> Field {
        let (data_type, nullable) = match self {
            EventColumn::File | EventColumn::Event => (DataType::Utf8View, false),
            EventColumn::EventId | EventColumn::Number | EventColumn::ByteOffset => {
                (DataType::Int64, false)
            }
            EventColumn::Pid
            | EventColumn::Tid
            | EventColumn::UniqueThread
            | EventColumn::UniqueProcess
            | EventColumn::Time
            | EventColumn::Duration
            | EventColumn::ThreadTime
            | EventColumn::ThreadDuration
            | EventColumn::ArgSetId => (DataType::Int64, true),
            _ => (DataType::Utf8View, true),
        };
        Field::new(self.name(), data_type, nullable)
    }

    /// Returns the schema of some columns.
    pub fn schema(columns: &[EventColumn]) -> SchemaRef {
        Arc::new(Schema::new(columns.iter().map(|column| column.field()).collect::<Vec<_>>()))
    }
}
