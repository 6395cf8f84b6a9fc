//! Finds the sample in force at the start of a window: the last one before it.
//!
//! ```text
//!   samples   f         f         g         g          f is in force at the start of the window
//!                        │window│
//! ```
//!
//! A sample is in force if no sample is exactly at the window's start and the profile goes on after
//! that. Of samples at the same time the last one in the stream counts, as in DevTools, which sorts
//! them by time. Cost: two binary searches over the windows per sample.

use tracemill_trace::time::windows::Windows;

/// Finds the sample in force at the start of each window; `T` identifies a sample.
///
/// Heap: about 16 bytes and a `T` per window.
pub(crate) struct InForce<'w, T> {
    windows: &'w Windows,
    /// For each window, the latest sample before it that is not before the start of the previous
    /// window.
    before: Vec<Option<(i64, T)>>,
    /// For each window, whether a sample is exactly at its start.
    exact: Vec<bool>,
}

impl<'w, T: Copy> InForce<'w, T> {
    pub(crate) fn new(windows: &'w Windows) -> Self {
        let count = windows.0.len();
        InForce { windows, before: vec![None; count], exact: vec![false; count] }
    }

    #[inline]
    pub(crate) fn note(&mut self, time: i64, sample: T) {
        let windows = &self.windows.0;
        let next = windows.partition_point(|window| window.from <= time);
        if next > 0 && windows[next - 1].from == time {
            self.exact[next - 1] = true;
        }
        if let Some(entry) = self.before.get_mut(next)
            && entry.is_none_or(|(latest, _)| latest <= time)
        {
            *entry = Some((time, sample));
        }
    }

    /// Returns the sample in force at the start of each window; `last` is the time of the latest
    /// sample.
    pub(crate) fn finish(self, last: i64) -> Vec<Option<T>> {
        let mut latest = None;
        let windows = self.windows.0.iter();
        let found = windows.zip(self.before).zip(self.exact).map(|((window, entry), exact)| {
            latest = entry.or(latest);
            latest.filter(|_| !exact && last > window.from).map(|(_, sample)| sample)
        });
        found.collect()
    }
}
