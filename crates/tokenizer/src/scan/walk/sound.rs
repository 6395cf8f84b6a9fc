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
use super::{State, Walk};
use crate::event::Event;
use crate::grammar::is_utf8;
use crate::simd::grammar::{Colons, Prove};
use crate::text::field::{Key, key_before};
use crate::text::is_space;

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
        window: Window<'_>,
        prove: Prove,
        stop: Stop,
        sink: &mut S,
    ) -> Option<Walk> {
        while self.is_between_items() {
            let at = next_brace(window.bytes, window.index(self.gap))?;
            if let Some(stopped) = self.begin_item(window, at, stop, sink) {
                return Some(stopped);
            }
            let end = self.prove_item(window, prove, at);
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
        }
        None
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
