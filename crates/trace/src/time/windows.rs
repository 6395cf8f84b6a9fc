//! Time windows: as requested, and as ranges of nanoseconds of a trace.
//!
//! ```text
//!   requested   2 s … 5 s, 4 s … 6 s, the last second     `TimeWindow`: relative to start or end
//!   of a trace  [2 ─────── 6)              [9 ── 10)      `Windows`: half-open, sorted, disjoint
//! ```
//!
//! ```
//! use tracemill_trace::time::bounds::Bounds;
//! use tracemill_trace::time::windows::{Moment, TimeSpan, TimeWindow, Windows};
//!
//! let window = |from: &str, to: &str| TimeWindow { from: from.parse().ok(), to: to.parse().ok() };
//! let last = TimeWindow { from: Some(Moment::BeforeEnd(1_000_000_000)), to: None };
//! let bounds = Bounds { start: 50_000_000_000, first: 50_000_000_000, last: 59_000_000_000, end: 60_000_000_000 };
//! let windows = Windows::of(&[window("4s", "6s"), window("2s", "@55s"), last], bounds)?;
//!
//! let spans = [TimeSpan::new(52_000_000_000, 56_000_000_000), TimeSpan::new(59_000_000_000, i64::MAX)];
//! assert_eq!(windows.0, spans);
//! assert_eq!((windows.at(55_999_999_999), windows.at(56_000_000_000)), (Some(0), None));
//! assert!(windows.touch(0, 52_000_000_000) && !windows.touch(0, 51_999_999_999));
//! assert!(Windows::of(&[window("6s", "4s")], bounds).is_err());
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

use crate::run::error::{Error, ErrorKind};
use crate::time::bounds::Bounds;
use crate::time::parse_time;
use serde::Serialize;
use std::str::FromStr;

/// A point in time of a window, in nanoseconds. [`Windows::of`] resolves it for a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Time after the trace start.
    FromStart(i64),
    /// Time before the greatest end of an event other than metadata.
    BeforeEnd(i64),
    /// Absolute time, as in the trace.
    At(i64),
}

/// A half-open time window: it contains `from` but not `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    /// Start of the window; `None` for no limit.
    pub from: Option<Moment>,
    /// End of the window, exclusive; `None` for no limit.
    pub to: Option<Moment>,
}

/// Treatment of slices cut by an edge of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edges {
    /// Shorten cut slices to the window; they stay well-formed.
    #[default]
    Clip,
    /// Keep cut slices whole.
    Keep,
    /// Drop cut slices.
    Drop,
}

impl Edges {
    /// Returns the name: `clip`, `keep` or `drop`.
    pub fn name(self) -> &'static str {
        match self {
            Edges::Clip => "clip",
            Edges::Keep => "keep",
            Edges::Drop => "drop",
        }
    }
}

crate::serialize_by_name!(Edges);

impl FromStr for Moment {
    type Err = String;

    /// Parses a time: `1.5s` is relative to the trace start, `@1.5s` absolute.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some(time) => parse_time(time).map(Moment::At),
            None => parse_time(text).map(Moment::FromStart),
        }
    }
}

impl TimeWindow {
    /// Returns whether both edges are absolute, so that no bounds are needed.
    pub fn is_absolute(&self) -> bool {
        let mut moments = [self.from, self.to].into_iter().flatten();
        moments.all(|moment| matches!(moment, Moment::At(_)))
    }

    /// Returns whether the window is empty for every trace.
    fn is_empty(&self) -> bool {
        match (self.from, self.to) {
            (Some(Moment::FromStart(from)), Some(Moment::FromStart(to)))
            | (Some(Moment::At(from)), Some(Moment::At(to))) => from >= to,
            (Some(Moment::BeforeEnd(from)), Some(Moment::BeforeEnd(to))) => from <= to,
            _ => false,
        }
    }
}

/// Checks windows as far as possible without a trace.
///
/// # Errors
/// Returns [`ErrorKind::Window`] if there is no window, or a window ends before it begins.
pub fn check(windows: &[TimeWindow]) -> Result<(), Error> {
    let found = match windows.iter().position(TimeWindow::is_empty) {
        None if windows.is_empty() => "no window was given".to_owned(),
        None => return Ok(()),
        Some(at) if windows.len() > 1 => format!("window {} ends before it begins", at + 1),
        Some(_) => "the window ends before it begins".to_owned(),
    };
    Err(ErrorKind::Window { found }.into())
}

/// A half-open time range in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "(i64, i64)")]
pub struct TimeSpan {
    /// First nanosecond of the range.
    pub from: i64,
    /// First nanosecond after the range.
    pub to: i64,
}

impl TimeSpan {
    /// Creates a span from its two ends.
    pub const fn new(from: i64, to: i64) -> Self {
        TimeSpan { from, to }
    }

    /// Returns whether the interval `start..end` lies in the span, at least in part. If `start`
    /// equals `end`, the interval is an instant.
    #[inline]
    pub fn touches(self, start: i64, end: i64) -> bool {
        start < self.to && (end > self.from || start >= self.from)
    }
}

impl From<TimeSpan> for (i64, i64) {
    fn from(span: TimeSpan) -> Self {
        (span.from, span.to)
    }
}

/// Time ranges: not empty, ascending, not touching each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows(pub Vec<TimeSpan>);

impl Windows {
    /// Returns one window that contains every time.
    pub fn all() -> Self {
        Windows(vec![TimeSpan::new(i64::MIN, i64::MAX)])
    }

    /// Resolves windows for a trace with these bounds.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Window`] if a window ends before it begins.
    pub fn of(windows: &[TimeWindow], bounds: Bounds) -> Result<Self, Error> {
        let time = |moment| match moment {
            Moment::FromStart(after) => bounds.start.saturating_add(after),
            Moment::BeforeEnd(before) => bounds.end.saturating_sub(before),
            Moment::At(time) => time,
        };
        let mut spans = Vec::with_capacity(windows.len());
        for window in windows {
            // windows outside all times keep the last or the first nanosecond
            let from = window.from.map_or(i64::MIN, time).min(i64::MAX - 1);
            let to = window.to.map_or(i64::MAX, time).max(i64::MIN + 1);
            if from >= to {
                let mut text = Vec::new();
                crate::json::push_micros(from, &mut text);
                text.extend_from_slice(b" to ");
                crate::json::push_micros(to, &mut text);
                let span = String::from_utf8_lossy(&text);
                let found =
                    format!("a window ends before it begins: in this trace it is {span} µs");
                return Err(ErrorKind::Window { found }.into());
            }
            spans.push(TimeSpan { from, to });
        }
        Ok(Windows::united(spans))
    }

    /// Sorts nonempty ranges, and joins ranges that overlap or touch.
    fn united(mut spans: Vec<TimeSpan>) -> Self {
        spans.sort_unstable();
        let mut united: Vec<TimeSpan> = Vec::with_capacity(spans.len());
        for span in spans {
            match united.last_mut() {
                Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
                _ => united.push(span),
            }
        }
        Windows(united)
    }

    /// Returns the index of the window that contains a time. Cost: a binary search.
    #[inline]
    pub fn at(&self, time: i64) -> Option<usize> {
        let after = self.0.partition_point(|window| window.from <= time);
        let number = after.checked_sub(1)?;
        (time < self.0[number].to).then_some(number)
    }

    /// Returns whether a window overlaps the inclusive range `first..=last`. Cost: a binary search.
    #[inline]
    pub fn touch(&self, first: i64, last: i64) -> bool {
        let after = self.0.partition_point(|window| window.from <= last);
        after.checked_sub(1).is_some_and(|number| self.0[number].to > first)
    }

    /// Returns the start of the first window; [`i64::MAX`] without windows.
    pub fn begin(&self) -> i64 {
        self.0.first().map_or(i64::MAX, |window| window.from)
    }

    /// Returns the end of the last window; [`i64::MIN`] without windows.
    pub fn end(&self) -> i64 {
        self.0.last().map_or(i64::MIN, |window| window.to)
    }

    /// Returns whether one window contains the whole trace.
    pub fn hold(&self, bounds: Bounds) -> bool {
        let window = self.at(bounds.first);
        window.is_some_and(|number| {
            bounds.last < self.0[number].to && bounds.end <= self.0[number].to
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_sign_makes_a_time_absolute() {
        assert_eq!("@5".parse(), Ok(Moment::At(5000)));
        assert_eq!("5".parse(), Ok(Moment::FromStart(5000)));
    }

    #[test]
    fn windows_are_sorted_and_merged() {
        let window =
            |from, to| TimeWindow { from: Some(Moment::At(from)), to: Some(Moment::At(to)) };
        let windows = [window(50, 60), window(10, 20), window(15, 30), window(30, 40)];
        let bounds = Bounds { start: 0, first: 0, last: 0, end: 0 };
        let windows = Windows::of(&windows, bounds).unwrap();
        assert_eq!(windows.0, [TimeSpan::new(10, 40), TimeSpan::new(50, 60)]);
        assert_eq!(
            [9, 10, 39, 40, 50, 60].map(|t| windows.at(t)),
            [None, Some(0), Some(0), None, Some(1), None]
        );
        assert!(windows.touch(0, 10) && windows.touch(39, 45) && windows.touch(0, 99));
        assert!(!windows.touch(0, 9) && !windows.touch(40, 49) && !windows.touch(60, 99));
    }

    #[test]
    fn windows_after_all_times_keep_the_last_nanosecond() {
        let behind = TimeWindow { from: Some(Moment::FromStart(i64::MAX - 1)), to: None };
        let bounds = Bounds { start: 900, first: 900, last: 900, end: 900 };
        assert!(!behind.is_absolute());
        assert_eq!(
            Windows::of(&[behind], bounds).unwrap().0,
            [TimeSpan::new(i64::MAX - 1, i64::MAX)]
        );
    }

    #[test]
    fn empty_windows_are_refused() {
        let window = |from, to| TimeWindow { from: Some(from), to: Some(to) };
        assert!(check(&[]).is_err());
        assert!(check(&[window(Moment::At(5), Moment::At(5))]).is_err());
        assert!(check(&[window(Moment::FromStart(5), Moment::FromStart(4))]).is_err());
        let mixed = window(Moment::FromStart(5), Moment::At(4));
        assert!(check(&[mixed]).is_ok());
        let bounds = Bounds { start: 0, first: 0, last: 9, end: 9 };
        assert!(Windows::of(&[mixed], bounds).is_err());
        assert!(Windows::of(&[mixed], Bounds { start: -2, ..bounds }).is_ok());
    }
}
