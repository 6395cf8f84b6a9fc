//! Builds the columns of one batch from events.

use crate::column::EventColumn;
use crate::filter::{EventIn, NumberColumn};
use crate::input::EventThread;
use crate::text::{RepeatedText, is_null, push_utf8};
use arrow_array::builder::{Int64Builder, StringViewBuilder};
use arrow_array::{ArrayRef, Int64Array};
use std::sync::Arc;
use tracemill_tokenizer::{Event, Field, nanos, number_text};
use tracemill_trace::json::{content, member};

/// A number of an event that depends on earlier chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkNumber {
    /// The index of the event in its chunk, which becomes that in the input.
    Event,
    /// The index of the event in its chunk, which becomes unique over all inputs.
    EventId,
    /// The number of the event's thread in the chunk's table.
    Thread,
    /// The number of the event's process in the chunk's table.
    Process,
}

/// Numbers of an event within its chunk.
#[derive(Clone, Copy)]
pub(crate) struct ChunkNumbers {
    pub(crate) event: u32,
    pub(crate) thread: EventThread,
}

/// The values of a column, by kind.
enum ColumnValues {
    Numbers(Int64Builder),
    Repeated(Box<RepeatedText>),
    Other(StringViewBuilder),
    ChunkNumbers(ChunkNumber, Vec<Option<u32>>),
}

/// A finished column of a chunk.
pub(crate) enum ChunkColumn {
    Array(ArrayRef),
    /// Numbers that become those of the input when the chunk is passed on.
    Numbers(ChunkNumber, Vec<Option<u32>>),
}

impl ChunkColumn {
    /// Returns the column, with numbers of the input.
    pub(crate) fn into_array(self, number: impl Fn(ChunkNumber, u32) -> i64) -> ArrayRef {
        match self {
            ChunkColumn::Array(array) => array,
            ChunkColumn::Numbers(kind, numbers) => {
                let numbers = numbers.into_iter().map(|found| found.map(|n| number(kind, n)));
                Arc::new(Int64Array::from_iter(numbers))
            }
        }
    }
}

/// A column that is built.
pub(crate) struct ColumnBuilder {
    column: EventColumn,
    values: ColumnValues,
}

impl ColumnBuilder {
    pub(crate) fn new(column: EventColumn) -> Self {
        let values = match column {
            EventColumn::File
            | EventColumn::Phase
            | EventColumn::Category
            | EventColumn::Name
            | EventColumn::PidText
            | EventColumn::TidText
            | EventColumn::Scope
            | EventColumn::InstantScope => ColumnValues::Repeated(Box::new(RepeatedText::new())),
            EventColumn::TimeText
            | EventColumn::Id
            | EventColumn::BindId
            | EventColumn::Args
            | EventColumn::Event => ColumnValues::Other(StringViewBuilder::new()),
            EventColumn::Number => ColumnValues::ChunkNumbers(ChunkNumber::Event, Vec::new()),
            EventColumn::EventId | EventColumn::ArgSetId => {
                ColumnValues::ChunkNumbers(ChunkNumber::EventId, Vec::new())
            }
            EventColumn::UniqueThread => {
                ColumnValues::ChunkNumbers(ChunkNumber::Thread, Vec::new())
            }
            EventColumn::UniqueProcess => {
                ColumnValues::ChunkNumbers(ChunkNumber::Process, Vec::new())
            }
            _ => ColumnValues::Numbers(Int64Builder::new()),
        };
        ColumnBuilder { column, values }
    }

    /// Adds the value of an event. Returns the number of bytes of text that were added.
    #[inline]
    pub(crate) fn push(&mut self, event: &EventIn<'_>, numbers: &ChunkNumbers) -> usize {
        match &mut self.values {
            ColumnValues::Numbers(all) => {
                all.append_option(number(self.column, event));
                0
            }
            ColumnValues::Repeated(all) => {
                match self.column {
                    EventColumn::File => all.push_text(event.file),
                    column => all.push(repeated(column, event)),
                }
                0
            }
            ColumnValues::Other(all) => push_text(self.column, event.event, all),
            ColumnValues::ChunkNumbers(kind, all) => {
                all.push(match kind {
                    ChunkNumber::EventId if self.column == EventColumn::ArgSetId => {
                        has_args(event.event).then_some(numbers.event)
                    }
                    ChunkNumber::Event | ChunkNumber::EventId => Some(numbers.event),
                    ChunkNumber::Thread => numbers.thread.thread,
                    ChunkNumber::Process => numbers.thread.process,
                });
                0
            }
        }
    }

    /// Returns the column, and starts the next one.
    pub(crate) fn finish(&mut self) -> ChunkColumn {
        match &mut self.values {
            ColumnValues::Numbers(all) => ChunkColumn::Array(Arc::new(all.finish())),
            ColumnValues::Repeated(all) => ChunkColumn::Array(all.finish()),
            ColumnValues::Other(all) => ChunkColumn::Array(Arc::new(all.finish())),
            ColumnValues::ChunkNumbers(kind, all) => {
                ChunkColumn::Numbers(*kind, std::mem::take(all))
            }
        }
    }
}

fn number(column: EventColumn, event: &EventIn<'_>) -> Option<i64> {
    match column {
        EventColumn::Pid => event.number(NumberColumn::Pid),
        EventColumn::Tid => event.number(NumberColumn::Tid),
        EventColumn::Time => event.number(NumberColumn::Time),
        EventColumn::Duration => event.number(NumberColumn::Duration),
        EventColumn::ThreadTime => member_nanos(event.event, b"tts"),
        EventColumn::ThreadDuration => member_nanos(event.event, b"tdur"),
        _ => event.number(NumberColumn::ByteOffset),
    }
}

/// Returns a member in microseconds as nanoseconds, rounded down.
pub(crate) fn member_nanos(event: &Event<'_>, name: &[u8]) -> Option<i64> {
    let value = member(event.bytes, name)?;
    let time = nanos(value).or_else(|| nanos(number_text(value, &mut Vec::new())?))?;
    Some(time.floor)
}

/// Returns whether an event has args with at least one member.
fn has_args(event: &Event<'_>) -> bool {
    match event.field(Field::Args) {
        Some([b'{', inside @ ..]) => inside.trim_ascii_start() != b"}",
        Some(value) => !is_null(value),
        None => false,
    }
}

/// Returns the value of a column of repeated text, as written.
fn repeated<'e>(column: EventColumn, event: &'e EventIn<'_>) -> &'e [u8] {
    let field = match column {
        EventColumn::PidText => return event.pid(),
        EventColumn::TidText => Field::Tid,
        EventColumn::Phase => Field::Ph,
        EventColumn::Category => Field::Cat,
        EventColumn::Scope => Field::Scope,
        EventColumn::InstantScope => {
            return member(event.event.bytes, b"s").unwrap_or_default();
        }
        _ => Field::Name,
    };
    event.event.field(field).unwrap_or_default()
}

/// Adds the text of a column. Returns its length in bytes.
fn push_text(column: EventColumn, event: &Event<'_>, all: &mut StringViewBuilder) -> usize {
    let value = match column {
        EventColumn::Args => event.field(Field::Args),
        EventColumn::Event => Some(event.bytes),
        EventColumn::TimeText => event.field(Field::Ts),
        EventColumn::BindId => event.field(Field::BindId),
        _ => event.field(Field::Id).or_else(|| event.field(Field::Id2)),
    };
    let value = value.filter(|value| !is_null(value));
    let mut scratch = Vec::new();
    let text = match column {
        EventColumn::Args | EventColumn::Event => value,
        _ => value.map(|value| content(value, &mut scratch)),
    };
    push_utf8(text, all);
    text.map_or(0, <[u8]>::len)
}
