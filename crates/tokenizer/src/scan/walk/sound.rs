//! Events that are sound, one after the other: where they end, their keys and the proof that they are JSON, in one look at
//! each byte.
//!
//! Nearly all are. What is not, or is not whole in the window, or stands behind something else than separators, is left to
//! the walk, which knows what to make of it. So this decides nothing of its own: what it takes, the walk takes alike.
//!
//! ```text
//!   gap ─ , and white space ─> { ─ prove: 64 bytes at a step ─┬─ JSON, whole, ends here ─> Sink::event, proved ─> next gap
//!                                                             └─ not known ─────────────> back to the gap: the walk takes it
//! ```
//!
//! Cost: of a sound event one look at each byte; of any other the look that failed, and then the walk's.

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

/// A window whose sound events are taken, and how they are proved.
pub(in crate::scan) struct Sound<'s> {
    pub(in crate::scan) window: Window<'s>,
    pub(in crate::scan) prove: Prove,
    pub(in crate::scan) kernel: Kernel,
    pub(in crate::scan) shapes: &'s mut Shapes,
}

/// White space and commas between two events, in bytes, over which this looks for the next one.
const GAP_MOST: usize = 64;

impl State {
    /// Whether the next thing is an item of an array, or its end.
    fn is_between_items(&self) -> bool {
        self.level > 0 && self.nesting.depth == self.level
    }

    /// Where the gap before the next item begins.
    pub(in crate::scan) fn gap(&self) -> u64 {
        self.gap
    }

    /// Takes events from the gap on, as long as they are proved and whole in the window.
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
        // where an event begins that has no known shape
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
            sound.shapes.learn(window.bytes, window.base, at..end);
        }
        None
    }

    /// Takes the events from the one at `at` on that have known shapes and begin before the border; returns the begin of the next. `None` if the
    /// first has no known shape.
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

    /// Learns the shape of the event that the walk took last, where the tier has no proof by blocks.
    fn learn_from_walk(&self, sound: &mut Sound<'_>) {
        let window = sound.window;
        if !self.is_between_items()
            || !sound.shapes.are_tried(self.item)
            || self.item < window.base
            || self.item >= self.gap
        {
            return;
        }
        let event = window.index(self.item)..window.index(self.gap);
        if validate_value(&window.bytes[event.clone()]).is_ok() {
            sound.shapes.learn(window.bytes, window.base, event);
        }
    }

    /// One past the end of the item at `at`, if it is proved; its keys are noted.
    #[inline(always)]
    fn prove_item(&mut self, window: Window<'_>, prove: Prove, at: usize) -> Option<usize> {
        let bytes = window.bytes;
        let keys = &mut Keys { window, seen: 0, values: &mut self.values };
        let sound = prove.object(bytes, at, keys)?;
        self.seen = keys.seen;
        (sound.ascii || is_utf8(&bytes[at..sound.end])).then_some(sound.end)
    }
}

/// The keys of an item.
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

/// The `{` behind separators alone, which begin at `from`.
#[inline(always)]
fn next_brace(bytes: &[u8], from: usize) -> Option<usize> {
    let gap = bytes[from..].iter().take(GAP_MOST).take_while(|&&b| is_space(b) || b == b',');
    let at = from + gap.count();
    (bytes.get(at) == Some(&b'{')).then_some(at)
}
