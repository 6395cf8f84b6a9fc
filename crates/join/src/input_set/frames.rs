//! Stacks of events by the Trace Event Format.
//!
//! ```text
//!   {"ph": "X", "sf": 2, "estack": ["0x1", "0x2"], …}              ─> start g < f, end 0x2 < 0x1
//!   "stackFrames": {"1": {"name": "f"}, "2": {"name": "g", "parent": 1}}
//! ```
//!
//! `sf` and `stack` are the stack at the event's start, `esf` and `estack` that at its end. Frames
//! have a name and a parent; a list has names, outermost first.

use crate::input_set::InputSet;
use crate::input_set::stack_samples::{content, named, text};
use std::collections::HashMap;
use std::ops::Range;
use tracemill_tokenizer::{members, string_is};
use tracemill_trace::json::array_elements;
use tracemill_trace::run::error::Error;

/// A function of a stack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackFrame {
    /// Name, or address of an instruction.
    pub name: String,
    /// Library, file or module of the function.
    pub category: Option<String>,
    /// Line, from 0.
    pub line: Option<i64>,
    /// Column, from 0.
    pub column: Option<i64>,
}

/// The stacks of an event, innermost function first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventStacks {
    /// Stack at the start; empty if the event has none.
    pub start: Vec<StackFrame>,
    /// Stack at the end; empty if the event has none.
    pub end: Vec<StackFrame>,
}

/// The `stackFrames` of a document.
#[derive(Default)]
struct FrameTable {
    text: Vec<u8>,
    /// Range of each frame in the text, by id.
    frames: HashMap<Vec<u8>, Range<usize>>,
}

impl FrameTable {
    fn of(text: Vec<u8>) -> Self {
        let range = |frame: &[u8]| {
            let start = frame.as_ptr() as usize - text.as_ptr() as usize;
            start..start + frame.len()
        };
        let frames = members(&text).map(|(id, frame)| (content(id), range(frame))).collect();
        FrameTable { text, frames }
    }

    /// Returns the stack with an id, innermost function first. A cycle ends it.
    fn stack(&self, id: &[u8]) -> Vec<StackFrame> {
        let (mut stack, mut next) = (Vec::new(), Some(content(id)));
        while let Some(id) = next.take()
            && let Some(range) = self.frames.get(&id)
            && stack.len() < self.frames.len()
        {
            let frame = &self.text[range.clone()];
            let keys: [&[u8]; 5] = [b"name", b"category", b"parent", b"line", b"column"];
            let [name, category, parent, line, column] = named(frame, keys);
            let [line, column] = [line, column].map(|place| {
                let place: i64 = text(place?).parse().ok()?;
                Some(place.saturating_sub(1))
            });
            let (name, category) = (name.map(text).unwrap_or_default(), category.map(text));
            stack.push(StackFrame { name, category, line, column });
            next = parent.map(content);
        }
        stack
    }

    /// Returns the stack with the id `id`, or that of a list of names.
    fn stack_of(&self, id: Option<&[u8]>, list: Option<&[u8]>) -> Vec<StackFrame> {
        let Some(names) = list.and_then(array_elements) else {
            return id.or(list).map(|id| self.stack(id)).unwrap_or_default();
        };
        let named = |name| StackFrame { name: text(name), ..StackFrame::default() };
        let mut stack: Vec<StackFrame> = names.map(named).collect();
        stack.reverse();
        stack
    }

    fn stacks(&self, event: &[u8]) -> EventStacks {
        let [sf, stack, esf, estack] = named(event, [b"sf", b"stack", b"esf", b"estack"]);
        EventStacks { start: self.stack_of(sf, stack), end: self.stack_of(esf, estack) }
    }
}

impl InputSet {
    /// Returns the stacks of events, given with their numbers among all events in increasing order.
    /// Ids refer to the document of the event.
    ///
    /// Cost: a copy of the `stackFrames` of each document with one of the events.
    ///
    /// # Errors
    /// Returns [`Exceeded`](tracemill_trace::run::error::ErrorKind::Exceeded) if the frames of a
    /// document exceed the memory for tables.
    pub fn stacks_of<'e>(
        &self,
        events: impl Iterator<Item = (u64, &'e [u8])>,
    ) -> Result<Vec<EventStacks>, Error> {
        let quota = self.config.limits.table_quota();
        let (mut found, mut table) = (Vec::new(), FrameTable::default());
        let mut last = None;
        for (number, event) in events {
            let document = self.documents.partition_point(|document| document.first <= number);
            if last.replace(document) != Some(document) {
                let keys = self.documents[..document].last().map_or(&[][..], |last| &last.keys);
                let frames = keys.iter().rev().find(|key| string_is(&key.key, b"stackFrames"));
                table = FrameTable::default();
                if let Some(frames) = frames {
                    quota.check(3 * frames.len, "stackFrames")?;
                    let end = frames.offset + frames.len;
                    table = FrameTable::of(self.store().copy(frames.offset..end));
                }
            }
            found.push(table.stacks(event));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(stack: &[StackFrame]) -> Vec<&str> {
        stack.iter().map(|frame| &*frame.name).collect()
    }

    #[test]
    fn stacks_are_innermost_first() {
        let text = br#"{"1":{"name":"f\"","category":"lib.so"},"2":{"name":"g","parent":1,"line":"3","column":7},"x":{"parent":"y"},"y":{"name":"y","parent":"x"}}"#;
        let table = FrameTable::of(text.to_vec());
        let stack = table.stack(b"\"2\"");
        assert_eq!(names(&stack), ["g", "f\""]);
        assert_eq!([stack[0].line, stack[0].column, stack[1].line], [Some(2), Some(6), None]);
        assert_eq!(stack[1].category.as_deref(), Some("lib.so"));
        let found = table.stacks(br#"{"stack":["main","0x2"],"esf":2,"sf":7}"#);
        assert_eq!([names(&found.start), names(&found.end)], [["0x2", "main"], ["g", "f\""]]);
        assert_eq!(names(&table.stacks(br#"{"stack":"1"}"#).start), ["f\""]);
        assert_eq!(table.stack(b"\"x\"").len(), 4, "a cycle ends");
        assert_eq!(table.stacks(br#"{"sf":9}"#), EventStacks::default());
        assert_eq!(FrameTable::default().stacks(br#"{"sf":1}"#), EventStacks::default());
    }
}
