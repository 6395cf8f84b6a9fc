//! Tables of several threads: one per thread, process or input, or one for all.

use crate::entries::Entry;
use crate::entries::stretches::Stretches;
use crate::entries::walk::{Counted, Filter, Visit, walk};
use crate::names::groups::{GroupBy, Ids};
use crate::query::counts::LeftOut;
use crate::query::picks::{Walked, matching};
use crate::query::{Per, Query, RowKey, RowLimit, Shape, TableRules};
use crate::table::View;
use crate::table::ordered::{RowOrder, Table};
use crate::table::tree_rows::RowRoom;
use crate::table::united::{Part, Union, is_by_start};
use crate::trace::{Thread, Trace};
use crate::value::clock::{Clock, TickRange, Window};
use crate::value::matcher::Matcher;
use crate::value::space::Space;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::threads::try_each;
use tracemill_trace::spill::hash::HashMap;

impl Trace {
    /// Computes the tables of threads, given by number. Threads are processed in parallel; results
    /// do not depend on scheduling.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails, or [`tracemill_trace::ErrorKind::Exceeded`]
    /// if the rows exceed the memory budget.
    pub fn parts(&self, threads: &[usize], query: &Query) -> Result<Vec<Part>, Error> {
        self.parts_within(threads, query, RowLimit::default())
    }

    /// Computes the tables of threads like [`Trace::parts`], with limits on the rows.
    ///
    /// # Errors
    /// Returns the errors of [`Trace::parts`].
    pub fn parts_within(
        &self,
        threads: &[usize],
        query: &Query,
        limit: RowLimit,
    ) -> Result<Vec<Part>, Error> {
        // Without groups, the table of a single thread is the same as that of all threads. With
        // groups, the tables differ in rows without self time.
        let is_one = threads.len() == 1 && query.by == GroupBy::None && query.key.is_none();
        let per = if is_one { Per::Thread } else { query.per };
        let query = &Query { per, ..query.clone() };
        let is_alone = per == Per::Thread && query.key.is_none();
        let part_limit = match (is_alone, query.shape) {
            // Only sorting shows which rows of a log are first.
            (true, Shape::Log) => RowLimit { rows: usize::MAX, ..limit },
            (true, _) => limit,
            (false, _) => RowLimit::default(),
        };
        let room = RowRoom::new(&self.limits);
        // Times of shared tables are summed before they are converted to milliseconds.
        let room = if is_alone { room.of_sums(self.clock) } else { room };
        let of_thread = |number: usize| self.of_thread(threads[number], query, part_limit, &room);
        let parts = try_each(self.limits.threads, threads.len(), of_thread)?;
        room.finish()?;
        let is_done = |part: &Part| query.shape != Shape::Log || is_by_start(&part.table.rows);
        if is_alone && parts.iter().all(is_done) {
            return Ok(parts);
        }
        let clock = if is_alone { Clock::default() } else { self.clock };
        self.shared(threads, parts, query, limit, clock)
    }

    /// Merges the tables of threads that `query.per` puts together. `clock` converts times to
    /// milliseconds.
    fn shared(
        &self,
        threads: &[usize],
        parts: Vec<Part>,
        query: &Query,
        limit: RowLimit,
        clock: Clock,
    ) -> Result<Vec<Part>, Error> {
        let mut numbers: HashMap<&[u8], usize> = HashMap::default();
        let mut inputs: HashMap<usize, usize> = HashMap::default();
        let mut shared: Vec<Vec<Part>> = Vec::new();
        for (part, &at) in parts.into_iter().zip(threads) {
            let next = shared.len();
            let place = match query.per {
                Per::Thread => next,
                Per::Process => *numbers.entry(&self.threads[at].pid).or_insert(next),
                Per::Input => *inputs.entry(self.threads[at].input_number).or_insert(next),
                Per::All => 0,
            };
            if place == next {
                shared.push(Vec::new());
            }
            shared[place].push(part);
        }
        let levels = if query.by == GroupBy::None { 1 } else { 2 };
        let is_bottom_up = matches!(query.shape, Shape::BottomUp { .. });
        let full_levels = if is_bottom_up && query.per != Per::Thread { levels } else { 0 };
        let (space, room) = (self.space_of_one(), RowRoom::new(&self.limits).of_sums(clock));
        let (shape, key) = (query.shape, query.key);
        let union = Union { shape, key, full_levels, limit, space: &space, room: &room };
        let tables = shared.into_iter().filter_map(|parts| union.of(parts).transpose());
        let tables = tables.collect::<Result<_, Error>>()?;
        room.finish()?;
        Ok(tables)
    }

    /// Merges the bottom-up tables of several threads, as [`Trace::parts`] does for all threads.
    pub fn bottom_up_of_all(&self, parts: Vec<Part>) -> Result<Option<Part>, Error> {
        self.of_all(parts, Shape::BottomUp { levels: 1 }, None)
    }

    /// Merges the call trees of several threads, as [`Trace::parts`] does for all threads.
    pub fn call_tree_of_all(
        &self,
        parts: Vec<Part>,
        key: Option<RowKey>,
    ) -> Result<Option<Part>, Error> {
        self.of_all(parts, Shape::CallTree, key)
    }

    /// Merges the tables of all threads, and converts their times to milliseconds.
    fn of_all(
        &self,
        parts: Vec<Part>,
        shape: Shape,
        key: Option<RowKey>,
    ) -> Result<Option<Part>, Error> {
        let room = RowRoom::new(&self.limits).of_sums(self.clock);
        let space = self.space_of_one();
        let full_levels = u32::from(shape != Shape::CallTree);
        let limit = RowLimit::default();
        let union = Union { shape, key, full_levels, limit, space: &space, room: &room };
        let one = union.of(parts)?;
        room.finish()?;
        Ok(one)
    }

    /// Sorts the rows with a common parent in each table. Each row keeps its descendants. Cost: a
    /// sort.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails, or [`tracemill_trace::ErrorKind::Exceeded`]
    /// if the names of siblings exceed the memory budget.
    pub fn sort(&self, parts: &mut [Part], by: RowOrder) -> Result<(), Error> {
        let (space, room) = (self.space_of_one(), RowRoom::new(&self.limits));
        parts.iter_mut().try_for_each(|part| part.table.sort(by, &space, &room))?;
        room.finish()
    }

    /// Returns the spillable memory for the rows of a single tree.
    fn space_of_one(&self) -> Space {
        Space::new(self.limits.lease("rows of a tree", Share::of(1, 8)), 1)
    }

    /// Returns a title for the threads of a table: `thread 1/2 main`, `process 1`, an input, or
    /// `all threads`.
    pub fn title(&self, part: &Part) -> String {
        let thread_at = |at: usize| &self.threads[at];
        if let [at] = part.threads[..] {
            let ids = format!("thread {}/{}", thread_at(at).pid_text(), thread_at(at).tid_text());
            let name = thread_at(at).name.as_deref().unwrap_or_default();
            let input = thread_at(at).input.as_deref().unwrap_or_default();
            let texts: Vec<&str> =
                [&*ids, name, input].into_iter().filter(|text| !text.is_empty()).collect();
            return texts.join(" ");
        }
        let first = part.threads.first().map(|&at| thread_at(at));
        let all = |is: &dyn Fn(&Thread) -> bool| part.threads.iter().all(|&at| is(thread_at(at)));
        match first {
            Some(first) if all(&|thread| thread.pid == first.pid) => {
                format!("process {}", first.pid_text())
            }
            Some(first)
                if self.inputs.len() > 1 && all(&|t| t.input_number == first.input_number) =>
            {
                self.inputs.get(first.input_number).map_or_else(String::new, |i| i.name.clone())
            }
            _ => "all threads".to_owned(),
        }
    }

    /// Returns the windows in which an event or call that matches is open in one of the threads.
    /// Joins windows that touch. Cost: computes the flame charts of the threads.
    ///
    /// # Errors
    /// Returns the errors of [`Trace::track`].
    pub fn during(
        &self,
        threads: &[usize],
        matcher: &Matcher,
        rules: TableRules,
    ) -> Result<Vec<Window>, Error> {
        let of = |number: usize| -> Result<Vec<(f64, f64)>, Error> {
            let thread = &self.threads[threads[number]];
            let track = self.track(thread)?;
            let view = View::new(&track, rules);
            Ok(view.matching(matcher).iter().collect())
        };
        let all: Vec<Vec<(f64, f64)>> = try_each(self.limits.threads, threads.len(), of)?;
        let window = |(from, to)| self.clock.window_of(from, to);
        Ok(Stretches::of(all.concat()).iter().map(window).collect())
    }

    /// Finds the event or call with a key of DevTools (`r-12`, `p-…`) in the threads with the given
    /// numbers. Returns its thread and window. Cost: computes the flame charts of the threads.
    ///
    /// # Errors
    /// Returns the errors of [`Trace::track`].
    pub fn event(&self, threads: &[usize], key: &str) -> Result<Option<(usize, Window)>, Error> {
        for &at in threads {
            let thread = &self.threads[at];
            let track = self.track(thread)?;
            let view = View::new(&track, TableRules::default());
            if let Some(window) = view.window_of(key) {
                return Ok(Some((at, window)));
            }
        }
        Ok(None)
    }

    /// Returns the first and last counted tick: of the windows, or of the trace if there are none.
    fn counted_time(&self, windows: &[Window]) -> TickRange {
        let (first, last) = self.ticks();
        let is_whole = windows.is_empty() && first.is_finite() && last.is_finite();
        if is_whole { TickRange { from: first, to: last } } else { span_of(windows, self.clock) }
    }

    fn of_thread(
        &self,
        at: usize,
        query: &Query,
        limit: RowLimit,
        room: &RowRoom,
    ) -> Result<Part, Error> {
        self.limits.cancel.check()?;
        let within = self.counted_time(&query.windows);
        let track = self.track_until(&self.threads[at], within.to)?;
        let mut view = View::counting(&track, query.rules, within);
        view.limit = limit;
        let mut part = view.part(at, view.table_of(query, room)?);
        part.samples = self.samples_within(&self.threads[at], within);
        Ok(part)
    }
}

/// Returns the range from the first start to the last end of the windows, in ticks. Without
/// windows, returns an infinite range.
fn span_of(windows: &[Window], clock: Clock) -> TickRange {
    let range =
        |window: Window| TickRange { from: clock.tick(window.from), to: clock.tick(window.to) };
    let ranges = windows.iter().map(|window| range(clock.sums(*window)));
    let both =
        |a: TickRange, b: TickRange| TickRange { from: a.from.min(b.from), to: a.to.max(b.to) };
    ranges.reduce(both).unwrap_or(TickRange::ALL)
}

impl<'t> View<'t> {
    /// Returns the trace that the view belongs to.
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// Returns the filters and the window of a query, in milliseconds, or exact nanoseconds.
    pub fn walked<'q>(&self, query: &'q Query, ids: &Ids<'_>, is_bottom_up: bool) -> Walked<'q> {
        let clock = self.trace.clock;
        let windows: Vec<Window> = query.windows.iter().map(|window| clock.sums(*window)).collect();
        let (drawn, full) = (|| self.drawn(), clock.sums(self.full()));
        query.picks.apply(drawn, &windows, full, clock, ids, is_bottom_up)
    }

    /// Returns all entries of the track, including entries that overlap their parent.
    pub fn all_entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.track.nested().keeping().map(|placed| placed.entry)
    }

    /// Passes all entries of kinds that DevTools shows to the visitors, including tasks and entries
    /// that overlap their parent.
    ///
    /// # Errors
    /// Returns the errors of [`View::walk`].
    pub fn walk_all(
        &self,
        window: Window,
        visit: &mut dyn Visit,
        room: &Quota,
    ) -> Result<(), Error> {
        let counted = || self.all_entries().map(|entry| Counted { written: entry, entry });
        let filter = Filter { shown_only: true, with_tasks: true, ..self.filter() };
        walk(counted(), counted(), window, filter, &mut [visit], room)
    }

    /// Returns the time, in ticks, in which a matching drawn entry is open.
    pub(crate) fn matching(&self, matcher: &Matcher) -> Stretches {
        let ids = self.ids(GroupBy::None);
        matching(self.drawn(), &ids, matcher)
    }

    /// Returns the window of the entry whose key in DevTools is `key`.
    pub(crate) fn window_of(&self, key: &str) -> Option<Window> {
        let ids = self.ids(GroupBy::None);
        let mut entries = self.track.nested().map(|placed| placed.entry);
        let entry = entries.find(|entry| self.key(entry, &ids).as_deref() == Some(key))?;
        Some(self.trace.clock.window_of(entry.ts, entry.end()))
    }

    /// Returns a table as the part of the thread with this number.
    pub fn part(&self, thread: usize, table: Table) -> Part {
        let (calls, listed, dropped) = (self.calls() as u64, self.listed(), self.dropped());
        let (samples, LeftOut { ignored, hidden }) = (self.samples(), self.left_out());
        Part { threads: vec![thread], table, calls, listed, ignored, hidden, dropped, samples }
    }
}
