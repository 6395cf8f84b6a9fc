//! Finds the sample *in force* at the start of a window: the last sample before the window.
//!
//! ```text
//!   samples   f         f         g         g          f is in force at the start of the window
//!                        │window│
//! ```
//!
//! No sample is in force if a sample is exactly at the window's start, or if the profile ends
//! before the window. Of samples at the same time, the last sample in the stream counts, as in
//! DevTools, which sorts samples by time. Cost: two binary searches over the windows per sample.

use tracemill_trace::time::windows::Windows;

/// Finds the sample in force at the start of each window; `T` identifies a sample.
///
/// Heap: about 16 bytes and a `T` per window.
pub(crate) struct InForce<'w, T> {
    windows: &'w Windows,
    /// For each window, the latest sample between the start of the previous window and the start of
    /// this window.
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
