//! What rows of [`crate::id::CENSUS`] say, and flags of each.

/// Of the trace, once and first. The numbers are the least time of an event that is no metadata, and the greatest less that.
pub const TRACE: u64 = 0;
/// A process, in the order of their first rows in [`crate::id::LANES`]; pids are compared by value, so `1e1` is `10` but not `"10"`. The texts
/// are its name and its labels, the numbers the first and the last time of most of its events, the latter less the former.
pub const PROCESS: u64 = 1;
/// Rows of [`crate::id::LANES`] that have nothing but metadata: the first of them, and how many.
pub const LANES: u64 = 2;
/// Numbers that name operations and flows over all processes, of one length in bits: the least, and the greatest less that.
pub const NUMBERS: u64 = 3;
/// Texts that do, once at most: the greatest number behind a `#` at their ends or 1, and nothing; the first and the last in the order of their bytes.
pub const TEXTS: u64 = 4;
/// A CPU profile stream: when it began as its `Profile` event says (-2⁶³: without a time), and nothing; the pid and id that
/// tell it from others, as the values that are compared.
pub const STREAM: u64 = 5;

/// Of the trace: there are times.
pub const SPAN: u64 = 1;
/// Of the trace: there are events of the phase `c`.
pub const SYNCS: u64 = 2;
/// Of the trace: it is one of a browser.
pub const BROWSER: u64 = 4;

/// Of a process: it has a name.
pub const NAME: u64 = 1;
/// Of a process: it has labels.
pub const LABELS: u64 = 2;
/// Of a process: it has events with times.
pub const TIMES: u64 = 4;

/// Of numbers: they are written as hexadecimals.
pub const HEX: u64 = 1;

/// Of a stream: there is a `Profile` event.
pub const BEGIN: u64 = 1;
