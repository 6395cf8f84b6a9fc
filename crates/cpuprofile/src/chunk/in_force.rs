//! The sample in force where a window begins: the last one before it, whose stack runs until the next sample comes.
//!
//! ```text
//!   samples   f         f         g         g          the window has no sample of its own, and f runs in all of it
//!                            │window│
//! ```
//!
//! It is in force if no sample stands at the window's first moment and the profile goes on behind that. Of samples at one time
//! the one that comes last in the stream counts, as for DevTools, which sorts them by time. Cost: two binary searches over
//! the windows a sample.

use tracemill_trace::time::windows::Windows;

/// Finds what is in force at the start of each window: `T` is whatever tells a sample from others. Heap: some 16 bytes and a `T` a window.
pub(crate) struct InForce<'w, T> {
    windows: &'w Windows,
    /// For each window the latest sample before it that is not before the start of the one before.
    before: Vec<Option<(i64, T)>>,
    /// Whether a sample stands at its first moment.
    exact: Vec<bool>,
}

impl<'w, T: Copy> InForce<'w, T> {
    pub(crate) fn new(windows: &'w Windows) -> Self {
        let count = windows.0.len();
        InForce { windows, before: vec![None; count], exact: vec![false; count] }
    }

    /// Takes a sample, in the order of the stream.
    #[inline]
    pub(crate) fn note(&mut self, time: i64, sample: T) {
        let windows = &self.windows.0;
        let next = windows.partition_point(|window| window.from <= time);
        if next > 0 && windows[next - 1].from == time {
            self.exact[next - 1] = true;
        }
        if let Some(own) = self.before.get_mut(next)
            && own.is_none_or(|(latest, _)| latest <= time)
        {
            *own = Some((time, sample));
        }
    }

    /// What is in force at the start of each window, in a profile whose latest sample is of the time `last`.
    pub(crate) fn finish(self, last: i64) -> Vec<Option<T>> {
        let mut latest = None;
        let windows = self.windows.0.iter();
        let found = windows.zip(self.before).zip(self.exact).map(|((window, own), exact)| {
            latest = own.or(latest);
            latest.filter(|_| !exact && last > window.from).map(|(_, sample)| sample)
        });
        found.collect()
    }
}
