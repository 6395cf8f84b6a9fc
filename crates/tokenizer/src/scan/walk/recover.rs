//! Ends the walk at damage and at the end of the input, and resumes it after damage.
//!
//! | position of the fault | lost | kept |
//! |---|---|---|
//! | in an event | the event, from its `{` on | everything before it |
//! | between events | from the first byte that is not a separator on | everything before it |
//! | among the top-level keys of a document | from the current key on | complete keys |
//! | at the end of the input, in an item | that item | everything before it |
//!
//! Missing closing brackets at the end of the input are noted, not lost.

use super::super::findings::{DamageKind, Fault, Form, Note, Sink, Window};
use super::State;
use super::nesting::Nesting;
use crate::text::field::Field;
use crate::text::is_space;

impl State {
    /// Returns the kind of damage for a suspect byte at the current position.
    pub(in crate::scan) fn kind_of_suspect(&self) -> DamageKind {
        let in_item = self.nesting.depth > self.level;
        if in_item { DamageKind::Malformed } else { DamageKind::Garbage }
    }

    /// Ends the walk at the end of the input; returns a fault if that is inside an item.
    pub(in crate::scan) fn finish<S: Sink>(
        &mut self,
        window: Window<'_>,
        sink: &mut S,
    ) -> Option<Fault> {
        let end = window.end();
        if self.nesting.depth > self.level {
            let whole = self.level == 0 && self.members.has_events && self.nesting.depth == 1;
            if whole && self.members.ends_whole(window) {
                self.members.flush(window, end, sink);
                sink.note(Note::Unclosed, end);
                return None;
            }
            return Some(Fault { kind: DamageKind::Truncated, noticed: end });
        }
        if self.level > 0 {
            sink.note(Note::Unclosed, end);
            self.check_end_of_events(window, end, sink);
        } else {
            self.check_odd_gap(window.slice(self.gap, end), sink);
        }
        None
    }

    /// Gives up the current item or key. Returns the offset of the first lost byte, and whether a
    /// damaged event begins there.
    pub(in crate::scan) fn lose<S: Sink>(
        &mut self,
        window: Window<'_>,
        noticed: u64,
        sink: &mut S,
    ) -> (u64, bool) {
        if self.nesting.depth == self.level {
            return (skip_separators(window, self.gap), false);
        }
        // an object with one of these fields is an event, not a document
        let fields = [Field::Ph, Field::Ts, Field::Dur, Field::Pid, Field::Tid, Field::Cat];
        let event = || self.ndjson || fields.iter().any(|field| self.seen & field.bit() != 0);
        if self.level > 0 || (!self.members.has_events && event()) {
            return (self.item, true);
        }
        // a document object around events: the keys before the current one are sound
        if !self.members.has_events {
            sink.document(Form::Object);
            self.members.has_events = true;
        }
        let from = self.members.flush_sound(window, noticed, sink);
        (skip_separators(window, from), false)
    }

    /// Returns the form whose end the search after damage looks for.
    pub(in crate::scan) fn closes_with(&self) -> Option<Form> {
        match self.level {
            0 => None,
            1 => Some(Form::Array),
            _ => Some(Form::Object),
        }
    }

    /// Continues at the event at `offset`, after damage.
    pub(in crate::scan) fn resume_at_event<S: Sink>(&mut self, offset: u64, sink: &mut S) {
        if self.level == 0 && self.members.has_events {
            self.level = 2;
        } else if self.level == 0 && !self.ndjson {
            sink.document(Form::Ndjson);
            self.ndjson = true;
        }
        self.resume_at_gap(offset);
        self.gap_checked = true;
    }

    /// Continues between two items, at `offset`.
    pub(in crate::scan) fn resume_at_gap(&mut self, offset: u64) {
        self.nesting = Nesting::around(self.level);
        self.gap = offset;
        self.comma_due = false;
        self.gap_checked = false;
    }
}

/// Returns the first offset at or after `offset` that is neither white space nor a comma.
fn skip_separators(window: Window<'_>, offset: u64) -> u64 {
    let rest = &window.bytes[window.index(offset)..];
    let skip = rest.iter().position(|&b| !is_space(b) && b != b',').unwrap_or(rest.len());
    offset + skip as u64
}
