//! Durations of async operations by name: `b` paired with `e`, and `S` with `F`.
//!
//! ```text
//!   scan workers ─ b e S F ─> 41 bytes, by operation and time ─ pairs ─> durations ─> percentiles
//! ```
//!
//! An end event closes the last open begin event with the same category, name, scope and id.
//! `slice` pairs events in the same way. Records beyond the memory budget are spilled to disk;
//! names stay in memory.

use tracemill_join::config::{Config, OPEN};
use tracemill_join::inputs::{of_inputs, scan};
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::{Event, Field, to_text};
use tracemill_trace::event::KeyHash;
use tracemill_trace::event::names::Names;
use tracemill_trace::input::source::Source;
use tracemill_trace::json::content;
use tracemill_trace::observe::{EventRef, Look, Nothing, Observer, Scanned, SealedChunk, Starter};
use tracemill_trace::order::{KeySorter, Keyed};
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::memory::Share;

/// Durations of the async operations with one name and category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsyncTimes {
    /// Name of the operations.
    pub name: String,
    /// Category of the operations.
    pub category: String,
    /// Number of completed operations.
    pub count: u64,
    /// Number of operations without an end.
    pub open: u64,
    /// Total duration of the completed operations in nanoseconds.
    pub total_ns: u64,
    /// Median duration in nanoseconds (nearest rank).
    pub p50_ns: i64,
    /// 99 % quantile of the durations in nanoseconds (nearest rank).
    pub p99_ns: i64,
    /// The longest duration in nanoseconds.
    pub max_ns: i64,
}

/// The result of [`async_times`].
#[derive(Clone, Debug, Default)]
pub struct AsyncReport {
    /// Reports of the inputs, in order.
    pub inputs: Vec<InputReport>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// Rows by total duration, longest first.
    pub rows: Vec<AsyncTimes>,
    /// Number of end events without a begin event.
    pub lone_ends: u64,
}

record! {
    #[derive(Clone, Copy)]
    struct Half {
        /// Hash of category, name, scope and id.
        operation: [u64; 2],
        time: i64,
        offset: u64,
        /// Row number of the operation's name and category.
        row: u32,
        is_begin: bool,
    }
}

impl Keyed for Half {
    type Key = ([u64; 2], i64, u64);

    fn key(&self) -> Self::Key {
        (self.operation, self.time, self.offset)
    }
}

record! {
    #[derive(Clone, Copy)]
    struct Duration {
        row: u32,
        ns: i64,
    }
}

impl Keyed for Duration {
    type Key = (u32, i64);

    fn key(&self) -> Self::Key {
        (self.row, self.ns)
    }
}

#[derive(Default)]
struct AsyncLook {
    halves: Vec<Half>,
    /// Name, a zero byte, and category of each row.
    names: Names,
    key: Vec<u8>,
    scratch: Vec<u8>,
}

impl Look for AsyncLook {
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        if let phase @ (b'b' | b'e' | b'S' | b'F') = event.phase() {
            self.half(event, phase, at.offset);
        }
        true
    }
}

impl AsyncLook {
    fn half(&mut self, event: &Event<'_>, phase: u8, offset: u64) {
        let Some(time) = event.ts().map(|ts| ts.floor) else { return };
        let is_begin = matches!(phase, b'b' | b'S');
        let is_nestable = matches!(phase, b'b' | b'e');
        let mut operation = KeyHash::<2>::new(if is_nestable { b'b' } else { b'S' });
        for field in [Field::Cat, Field::Name, Field::Scope] {
            operation.field(event, field);
        }
        if !operation.id(event) {
            operation.value(event.field(Field::Id2));
        }
        self.key.clear();
        for (field, separator) in [(Field::Name, &b"\0"[..]), (Field::Cat, b"")] {
            let value = event.field(field).unwrap_or_default();
            self.key.extend_from_slice(content(value, &mut self.scratch));
            self.key.extend_from_slice(separator);
        }
        let (operation, row) = (operation.finish(), self.names.number(&self.key));
        self.halves.push(Half { operation, time, offset, row, is_begin });
    }
}

struct AsyncHalves {
    sorter: KeySorter<Half>,
    names: Names,
    quota: Quota,
}

impl Observer for AsyncHalves {
    type Chunk = AsyncLook;

    fn starter(&self) -> Starter<AsyncLook> {
        Box::new(|_| AsyncLook::default())
    }

    fn merge(&mut self, found: AsyncLook, _: &SealedChunk<'_>) -> Result<(), Error> {
        let rows = self.names.append(&found.names);
        self.quota.check(self.names.heap(), "names of async operations")?;
        let mut halves = found.halves.into_iter();
        halves.try_for_each(|half| self.sorter.push(Half { row: rows[half.row as usize], ..half }))
    }
}

/// Computes the durations of async operations by name and category.
///
/// Several inputs are read as written, without renaming ids; see `join`.
///
/// Cost: a scan and two sorts, of 41 bytes per begin or end event and 12 bytes per operation. The
/// records of both sorts spill to disk beyond the memory budget.
///
/// ```
/// use tracemill_join::config::Config;
/// use tracemill_trace::Source;
/// use tracemill_inspect::async_times::async_times;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let trace = br#"[{"ph":"b","cat":"c","name":"a","id":1,"ts":1},{"ph":"e","cat":"c","name":"a","id":1,"ts":6},
///   {"ph":"b","cat":"c","name":"a","id":2,"ts":7}]"#;
/// let report = async_times(&[Source::bytes("a.json", trace)], &config)?;
/// let row = &report.rows[0];
/// assert_eq!((&*row.name, row.count, row.p50_ns, row.open), ("a", 1, 5_000, 1));
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of `merge()`, except for its output.
pub fn async_times(sources: &[Source], config: &Config) -> Result<AsyncReport, Error> {
    config.limits.check()?;
    let lease = config.limits.lease("async operations, and their durations", Share::of_index(1, 1));
    let lease = lease.divided(2);
    let halves = AsyncHalves {
        sorter: KeySorter::new(lease.clone(), config.limits.threads),
        names: Names::default(),
        quota: config.limits.table_quota(),
    };
    let Scanned { inputs, observed, .. } = scan(sources, config, Nothing, halves)?;
    inputs.check_unchanged()?;
    let AsyncHalves { sorter, names, .. } = observed;
    let mut rows = vec![AsyncTimes::default(); names.len()];
    let mut durations = KeySorter::new(lease, config.limits.threads);
    let room = config.limits.open_quota();
    let lone_ends = pair(sorter, &room, &mut rows, |duration| durations.push(duration))?;
    let (mut row, mut number) = (None, 0);
    for Duration { row: of, ns } in durations.finish()?.iter() {
        number = if row.replace(of) == Some(of) { number + 1 } else { 1 };
        rows[of as usize].add(ns, number);
    }
    for (row, number) in rows.iter_mut().zip(0..) {
        let mut texts = names.bytes_of(number).splitn(2, |&byte| byte == 0).map(to_text);
        (row.name, row.category) =
            (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    }
    rows.retain(|row| row.count + row.open > 0);
    rows.sort_by(|a, b| {
        let names = || (&a.name, &a.category).cmp(&(&b.name, &b.category));
        b.total_ns.cmp(&a.total_ns).then_with(names)
    });
    let warnings = of_inputs(&inputs).collect();
    Ok(AsyncReport { inputs: inputs.reports, warnings, rows, lone_ends })
}

/// Pairs begin and end events, counts operations by row, and passes the duration of each operation
/// to `push`. Returns the number of end events without a begin event.
fn pair(
    halves: KeySorter<Half>,
    room: &Quota,
    rows: &mut [AsyncTimes],
    mut push: impl FnMut(Duration) -> Result<(), Error>,
) -> Result<u64, Error> {
    let (mut lone_ends, mut operation) = (0, None);
    let mut open: Vec<Half> = Vec::new();
    let leave_open = |open: &mut Vec<Half>, rows: &mut [AsyncTimes]| {
        open.drain(..).for_each(|half| rows[half.row as usize].open += 1);
    };
    for half in halves.finish()?.iter() {
        if operation.replace(half.operation) != Some(half.operation) {
            leave_open(&mut open, rows);
        }
        if half.is_begin {
            open.push(half);
            room.check((open.len() * size_of::<Half>()) as u64, OPEN)?;
            continue;
        }
        match open.pop() {
            Some(begin) => {
                rows[begin.row as usize].count += 1;
                push(Duration { row: begin.row, ns: half.time.saturating_sub(begin.time) })?;
            }
            None => lone_ends += 1,
        }
    }
    leave_open(&mut open, rows);
    Ok(lone_ends)
}

impl AsyncTimes {
    /// Adds the `number`th shortest duration of the row, counted from 1. Durations come in
    /// ascending order.
    fn add(&mut self, ns: i64, number: u64) {
        let is_rank = |percent: u64| number == (self.count * percent).div_ceil(100);
        if is_rank(50) {
            self.p50_ns = ns;
        }
        if is_rank(99) {
            self.p99_ns = ns;
        }
        self.max_ns = ns;
        self.total_ns = self.total_ns.saturating_add(ns.unsigned_abs());
    }
}
