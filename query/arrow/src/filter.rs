//! Conditions that the scan checks before it decodes an event.

use crate::text::is_null;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field, parse, unescaped_text};
use tracemill_trace::json::content;

/// A column of integers on which a scan can filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberColumn {
    /// `pid`.
    Pid,
    /// `tid`.
    Tid,
    /// `ts_ns`.
    Time,
    /// `dur_ns`.
    Duration,
    /// `byte_offset`.
    ByteOffset,
}

/// A column of text on which a scan can filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextColumn {
    /// `ph`.
    Phase,
    /// `cat`.
    Category,
    /// `name`.
    Name,
    /// `pid_text`.
    PidText,
    /// `tid_text`.
    TidText,
    /// `file`.
    File,
}

/// A condition on an event. Null satisfies no condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The number is in a range.
    Between(NumberColumn, RangeInclusive<i64>),
    /// The number is in a list.
    AnyNumber(NumberColumn, BTreeSet<i64>),
    /// The text is in a list.
    AnyText(TextColumn, BTreeSet<String>),
    /// The text begins with a prefix.
    Prefix(TextColumn, String),
    /// The phase is one of some letters, and the event has a time.
    Phases(&'static [u8]),
}

/// Conditions that an event must satisfy, all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventFilter(pub Vec<Condition>);

/// An event, and the input that it is in.
#[derive(Clone, Copy)]
pub struct EventIn<'e> {
    /// The event.
    pub event: &'e Event<'e>,
    /// Offset of the event in its input.
    pub byte_offset: u64,
    /// Name of the input.
    pub file: &'e str,
    /// New pids and clock offset of the input.
    pub place: &'e InputPlace,
}

impl EventIn<'_> {
    /// Returns the value of a number column.
    pub(crate) fn number(&self, column: NumberColumn) -> Option<i64> {
        match column {
            NumberColumn::Pid => integer(self.pid()),
            NumberColumn::Tid => integer(self.field(Field::Tid)),
            NumberColumn::Time => self.event.ts().map(|time| self.place.moved_nanos(time).floor),
            NumberColumn::Duration => self.event.dur().map(|time| time.floor),
            NumberColumn::ByteOffset => i64::try_from(self.byte_offset).ok(),
        }
    }

    /// Returns the pid after renaming, as in the merged trace.
    pub(crate) fn pid(&self) -> &[u8] {
        self.place.pid(self.field(Field::Pid))
    }

    /// Returns the value of a field as written. It is empty if the event does not have the field.
    fn field(&self, field: Field) -> &[u8] {
        self.event.field(field).unwrap_or_default()
    }

    /// Returns whether the text of a column passes `test`; false for null.
    fn test_text(&self, column: TextColumn, test: impl Fn(&str) -> bool) -> bool {
        let value = match column {
            TextColumn::File => return test(self.file),
            TextColumn::PidText => self.pid(),
            TextColumn::TidText => self.field(Field::Tid),
            TextColumn::Phase => self.field(Field::Ph),
            TextColumn::Category => self.field(Field::Cat),
            TextColumn::Name => self.field(Field::Name),
        };
        if is_null(value) {
            return false;
        }
        let mut scratch = Vec::new();
        match std::str::from_utf8(content(value, &mut scratch)) {
            Ok(text) => test(text),
            Err(_) => test(&unescaped_text(content(value, &mut Vec::new()))),
        }
    }
}

/// Returns an integer, or a string that contains one.
pub(crate) fn integer(value: &[u8]) -> Option<i64> {
    match value {
        [b'"', content @ .., b'"'] => parse(content),
        _ => parse(value),
    }
}

impl Condition {
    fn holds(&self, event: &EventIn<'_>) -> bool {
        match self {
            Condition::Between(column, range) => {
                event.number(*column).is_some_and(|number| range.contains(&number))
            }
            Condition::AnyNumber(column, numbers) => {
                event.number(*column).is_some_and(|number| numbers.contains(&number))
            }
            Condition::AnyText(column, texts) => {
                event.test_text(*column, |text| texts.contains(text))
            }
            Condition::Prefix(column, prefix) => {
                event.test_text(*column, |text| text.starts_with(&**prefix))
            }
            Condition::Phases(phases) => {
                phases.contains(&event.event.phase()) && event.event.ts().is_some()
            }
        }
    }
}

impl EventFilter {
    /// Returns the range that contains the time of each event that satisfies the filter. Returns
    /// `None` if no condition restricts the time.
    pub fn times(&self) -> Option<RangeInclusive<i64>> {
        let ranges = self.0.iter().filter_map(|condition| match condition {
            Condition::Between(NumberColumn::Time, range) => Some(range.clone()),
            _ => None,
        });
        ranges.reduce(|a, b| *a.start().max(b.start())..=*a.end().min(b.end()))
    }

    /// Returns whether an event satisfies all conditions.
    pub fn takes(&self, event: &EventIn<'_>) -> bool {
        self.0.iter().all(|condition| condition.holds(event))
    }
}
