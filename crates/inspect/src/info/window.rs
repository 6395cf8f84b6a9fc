//! Finds the window of a trace written by `slice`. For DevTools, `slice` keeps essential events
//! outside the window too.

use super::report::KeptWindow;
use tracemill_tokenizer::{Event, Member, string_is};
use tracemill_trace::time::bounds::widen;
use tracemill_viewers::essential::{is_essential, may_be_special};
use tracemill_write::annotations::first_window;

/// Times of essential events, and time bounds of all other events. `slice` keeps essential events
/// outside its window, because DevTools needs them.
#[derive(Default)]
pub(super) struct WindowTimes {
    /// First and last time of other events, in nanoseconds.
    others: Option<(i64, i64)>,
    /// Times of essential events. Beyond twice [`MOST`], only the [`MOST`] least and the [`MOST`]
    /// greatest are kept.
    essential: Vec<i64>,
    count: u64,
    /// The window of the last `metadata` key.
    window: Option<(i64, i64)>,
}

/// Maximum number of essential events on each side of a window; beyond it no window is reported.
const MOST: usize = 1 << 12;

impl WindowTimes {
    #[inline]
    pub(super) fn note(&mut self, event: &Event<'_>, start: i64, end: i64) {
        if may_be_special(event) && is_essential(event) {
            self.essential.push(start);
            self.count += 1;
            if self.essential.len() >= 4 * MOST {
                self.shorten();
            }
            return;
        }
        widen(&mut self.others, start, end);
    }

    pub(super) fn member(&mut self, member: &Member<'_>) {
        if string_is(member.key, b"metadata") {
            self.window = first_window(member.value).or(self.window);
        }
    }

    /// Keeps only the [`MOST`] least and greatest times. The result does not depend on their order.
    fn shorten(&mut self) {
        self.essential.sort_unstable();
        if self.essential.len() > 2 * MOST {
            self.essential.drain(MOST..self.essential.len() - MOST);
        }
    }

    pub(super) fn append(&mut self, later: WindowTimes) {
        if let Some((least, greatest)) = later.others {
            widen(&mut self.others, least, greatest);
        }
        self.essential.extend(later.essential);
        self.count += later.count;
        self.window = later.window.or(self.window);
        self.shorten();
    }

    /// Returns the window if events are outside of it and all these events are essential.
    pub(super) fn kept(self) -> Option<KeptWindow> {
        let ((from_ns, to_ns), (first, end)) = (self.window?, self.others?);
        let before = self.essential.partition_point(|&time| time < from_ns);
        let after = self.essential.len() - self.essential.partition_point(|&time| time <= to_ns);
        let is_exact = self.count == self.essential.len() as u64 || before.max(after) < MOST;
        let is_window = from_ns <= first && end <= to_ns && before + after > 0;
        let [before, after] = [before, after].map(|count| count as u64);
        (is_exact && is_window).then_some(KeptWindow { from_ns, to_ns, before, after })
    }
}
