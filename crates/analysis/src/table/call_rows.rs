//! Rows and source locations of calls that are computed from samples.

use crate::entries::Entry;
use crate::names::groups::Ids;
use crate::profile::functions::Frame;
use crate::query::rows::{CallRow, Location};
use crate::table::View;
use tracemill_trace::Error;

impl<'t> View<'t> {
    /// Passes each drawn call to `each`, callers before callees, until `each` fails.
    ///
    /// # Errors
    /// Returns the error of `each`.
    pub fn call_rows(
        &self,
        mut each: impl FnMut(CallRow<'t>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.drawn_calls().filter_map(|call| self.call_row(&call)).try_for_each(&mut each)
    }

    /// Iterates over the drawn calls, callers before callees.
    pub fn drawn_calls(&self) -> impl Iterator<Item = Entry> + '_ {
        self.drawn().map(|event| event.entry).filter(Entry::is_call)
    }

    /// Returns the row of a call. Returns `None` if the entry is not a call.
    pub fn call_row(&self, entry: &Entry) -> Option<CallRow<'t>> {
        let model = self.track.thread.model.as_deref().filter(|_| entry.is_call())?;
        let frame = model.frame(entry.kind);
        Some(CallRow {
            ts: self.trace.clock.micros(entry.ts),
            dur: self.trace.clock.micros(entry.dur),
            name: self.trace.names.bytes_of(frame.function),
            url: self.trace.names.bytes_of(frame.url),
            line: self.position(frame.line),
            column: self.position(frame.column),
            node: model.node(entry.kind).id,
            sample: entry.sample(),
        })
    }

    /// Parses a line or column of a frame. Returns `None` unless the number is at least 0.
    fn position(&self, text: u32) -> Option<i64> {
        let text = str::from_utf8(self.trace.names.bytes_of(text)).ok()?;
        let number: i64 = text.parse().ok()?;
        (number >= 0).then_some(number)
    }

    /// Returns the source location of a call's function.
    pub fn location(&self, entry: &Entry, ids: &Ids<'_>) -> Location {
        ids.frame(entry).map_or_else(Location::default, |frame| self.frame_location(frame))
    }

    pub(crate) fn frame_location(&self, frame: Frame) -> Location {
        Location {
            url: self.trace.names.text(frame.url),
            line: self.position(frame.line),
            column: self.position(frame.column),
        }
    }
}
