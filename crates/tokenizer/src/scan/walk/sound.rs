//! Finds consecutive sound events in one pass: their ends, their keys, and the proof that they are
//! JSON.
//!
//! The walk reads all other items, with the same results: damaged items, items that the window
//! cuts, and items after stray text.
//!
//! ```text
//!   gap ─ separators ─> { ─ prove, 64 bytes per step ─┬─ JSON, complete ─> Sink::event ─> next gap
//!                                                     └─ unknown ────────> back to the gap, walk
//! ```
//!
//! Cost: one pass over each sound event. Any other item is read up to the failure, then by the
//! walk.

use super::super::findings::{Sink, Stop, Values, Window};
use super::super::members::is_events_key;
use super::super::shapes::Shapes;
use super::{State, Walk};
use crate::event::Event;
use crate::grammar::{is_utf8, validate_value};
use crate::simd::Kernel;
use crate::simd::grammar::{Colons, Prove};
use crate::text::field::{Key, key_before};
use crate::text::is_space;

/// A window, and the means to prove its events.
pub(in crate::scan) struct Sound<'s> {
    pub(in crate::scan) window: Window<'s>,
    pub(in crate::scan) prove: Prove,
    pub(in crate::scan) kernel: Kernel,
    pub(in crate::scan) shapes: &'s mut Shapes,
}

/// Maximum number of bytes of white space and commas before an event.
const GAP_MOST: usize = 64;

impl State {
    /// Returns whether the next item is in the array of events.
    fn is_between_items(&self) -> bool {
        self.level > 0 && self.nesting.depth == self.level
    }

    /// Returns the offset where the gap before the next item begins.
    pub(in crate::scan) fn gap(&self) -> u64 {
        self.gap
    }

    /// Reads events from the gap on, while they are proved and complete in the window.
    pub(in crate::scan) fn sound_events<S: Sink>(
        &mut self,
        mut sound: Sound<'_>,
        stop: Stop,
        sink: &mut S,
    ) -> Option<Walk> {
        let window = sound.window;
        if matches!(sound.prove, Prove::Nothing) {
            self.learn_from_walk(&mut sound);
        }
        // start of an event without a known shape
        let mut unknown = usize::MAX;
        while self.is_between_items() {
            let at = next_brace(window.bytes, window.index(self.gap))?;
            if let Some(stopped) = self.begin_item(window, at, stop, sink) {
                return Some(stopped);
            }
            if at != unknown
                && sound.shapes.are_tried(self.item)
                && let Some(next) = self.known_shapes(&mut sound, at, stop, sink)
            {
                self.nesting.pop();
                unknown = next;
                continue;
            }
            let end = self.prove_item(window, sound.prove, at);
            self.nesting.pop();
            let Some(end) = end else {
                self.gap = self.item;
                self.gap_checked = true;
                return None;
            };
            self.gap = window.base + end as u64;
            self.comma_due = true;
            let bytes = &window.bytes[at..end];
            sink.event(&Event::new(bytes, self.item, self.seen, &self.values).proved());
            if sound.shapes.are_learned(self.item) {
                sound.shapes.learn(&window.bytes[at..], end - at);
            }
        }
        None
    }

    /// Reads consecutive events with known shapes, from `at` up to the border; returns the start of
    /// the next item. Returns `None` if the first event has no known shape.
    #[inline(never)]
    fn known_shapes<S: Sink>(
        &mut self,
        sound: &mut Sound<'_>,
        mut at: usize,
        stop: Stop,
        sink: &mut S,
    ) -> Option<usize> {
        let Window { bytes, base, .. } = sound.window;
        let mut found = sound.shapes.find(sound.kernel, bytes, base, at)?;
        self.comma_due = true;
        loop {
            let event = &bytes[at..found.end];
            let offset = base + at as u64;
            sink.event(&Event::new(event, offset, found.seen, sound.shapes.values()).proved());
            self.gap = base + found.end as u64;
            at = found.next;
            if base + at as u64 >= stop.border {
                return Some(at);
            }
            match sound.shapes.find(sound.kernel, bytes, base, at) {
                Some(next) => found = next,
                None => return Some(at),
            }
        }
    }

    /// Learns the shape of the last event that the walk read, on a tier without a proof.
    fn learn_from_walk(&self, sound: &mut Sound<'_>) {
        let window = sound.window;
        if !self.is_between_items()
            || !sound.shapes.are_learned(self.item)
            || self.item < window.base
            || self.item >= self.gap
        {
            return;
        }
        let event = window.index(self.item)..window.index(self.gap);
        if validate_value(&window.bytes[event.clone()]).is_ok() {
            sound.shapes.learn(&window.bytes[event.start..], event.len());
        }
    }

    /// Returns the end of the item at `at`, if it is proved, and records its keys.
    #[inline(always)]
    fn prove_item(&mut self, window: Window<'_>, prove: Prove, at: usize) -> Option<usize> {
        let bytes = window.bytes;
        let keys = &mut Keys { window, seen: 0, values: &mut self.values };
        let sound = prove.object(bytes, at, keys)?;
        self.seen = keys.seen;
        (sound.ascii || is_utf8(&bytes[at..sound.end])).then_some(sound.end)
    }
}

/// Receives the colons of an item's own keys.
struct Keys<'w, 's> {
    window: Window<'w>,
    seen: u16,
    values: &'s mut Values,
}

impl Colons for Keys<'_, '_> {
    #[inline(always)]
    fn colons(&mut self, base: usize, mut colons: u64) -> bool {
        let (bytes, behind) = (self.window.bytes, self.window.base + 1);
        let mut seen = self.seen;
        while colons != 0 {
            let at = base + colons.trailing_zeros() as usize;
            colons &= colons - 1;
            match key_before(bytes, at) {
                Key::Field(field) => {
                    seen |= field.bit();
                    self.values[field as usize] = behind + at as u64;
                }
                // the start of another document
                Key::Other { may_be_events } => {
                    if may_be_events && is_events_key(bytes, at) {
                        return false;
                    }
                }
            }
        }
        self.seen = seen;
        true
    }
}

/// Returns the position of a `{` at or after `from`, if only separators precede it.
#[inline(always)]
fn next_brace(bytes: &[u8], from: usize) -> Option<usize> {
    let gap = bytes[from..].iter().take(GAP_MOST).take_while(|&&b| is_space(b) || b == b',');
    let at = from + gap.count();
    (bytes.get(at) == Some(&b'{')).then_some(at)
}
