//! Complete events that overlap without nesting, as viewers cannot draw them.
//!
//! ```text
//!   a  ├──────────┤
//!   b     ├────┤            nests in a
//!   c           ├──────┤    begins in a and ends behind it: overlaps
//! ```
//!
//! ```
//! use tracemill_core::overlap::Ends;
//!
//! let mut open = Ends::default(); // of one thread, in the order of the output
//! assert_eq!(open.enter(0, 10, true), None);
//! assert_eq!(open.enter(3, 8, true), None);
//! assert_eq!(open.enter(9, 16, true), Some(10), "it should have ended there");
//! assert_eq!(open.enter(10, 20, true), None, "what begins where another ends does not overlap");
//! ```
//!
//! Cost: constant time an event, over all; 16 bytes for each that is open at one time.

/// Ends of the complete events that are open on one thread, innermost last: who begins inside another and ends behind it
/// overlaps.
///
/// Times are whole nanoseconds, rounded down. Of a begin and a duration both parts may be cut, so an end is up to two
/// nanoseconds too early: where a time is finer than a nanosecond, a nanosecond more is no overlap.
#[derive(Clone, Default)]
pub struct Ends(Vec<(i64, bool)>);

impl Ends {
    /// Opens `start..end`, if it nests in what is open; otherwise the end of what it begins in. `exact` says that both times
    /// are whole nanoseconds.
    #[inline]
    pub fn enter(&mut self, start: i64, end: i64, exact: bool) -> Option<i64> {
        while self.0.last().is_some_and(|&(open, _)| open <= start) {
            self.0.pop();
        }
        if let Some(&(open, whole)) = self.0.last()
            && end.saturating_sub(open) > i64::from(!(exact && whole))
        {
            return Some(open);
        }
        self.0.push((end, exact));
        None
    }

    /// Nothing is open any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
