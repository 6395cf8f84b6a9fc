//! Tables of many threads: each by itself, or those of a process or of all as one.

use crate::entries::Entry;
use crate::entries::stretches::Stretches;
use crate::entries::walk::{Counted, Filter, Visit, walk};
use crate::names::groups::{GroupBy, Ids};
use crate::query::counts::LeftOut;
use crate::query::picks::Walked;
use crate::query::{Per, Query, RowKey, RowLimit, Shape, TableRules};
use crate::table::View;
use crate::table::ordered::{RowOrder, Table};
use crate::table::tree_rows::RowRoom;
use crate::table::united::{Part, Union, is_by_start};
use crate::trace::{Thread, Trace};
use crate::value::clock::{Clock, Window};
use crate::value::matcher::Matcher;
use crate::value::space::Space;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::threads::try_each;
use tracemill_trace::spill::hash::HashMap;

impl Trace {
    /// The tables of threads, given by their numbers. Threads are worked on side by side; what tables share is added in the order
    /// of the threads, so the answer does not depend on how many work.
    ///
    /// # Errors
    /// What temporary files say; [`tracemill_trace::ErrorKind::Exceeded`] if all rows are more than there is room for in the budget.
    pub fn parts(&self, threads: &[usize], query: &Query) -> Result<Vec<Part>, Error> {
        self.parts_within(threads, query, RowLimit::default())
    }

    /// The same of rows within a limit. Of a thread's own table no others are made.
    ///
    /// # Errors
    /// As [`Trace::parts`].
    pub fn parts_within(
        &self,
        threads: &[usize],
        query: &Query,
        limit: RowLimit,
    ) -> Result<Vec<Part>, Error> {
        // the table of one thread is that of all; of groups those whose rows have no time of their own make a difference
        let is_one = threads.len() == 1 && query.by == GroupBy::None && query.key.is_none();
        let per = if is_one { Per::Thread } else { query.per };
        let query = &Query { per, ..query.clone() };
        let is_alone = per == Per::Thread && query.key.is_none();
        let own = match (is_alone, query.shape) {
            // which rows of a log come first is known when it is in order
            (true, Shape::Log) => RowLimit { rows: usize::MAX, ..limit },
            (true, _) => limit,
            (false, _) => RowLimit::default(),
        };
        let room = RowRoom::new(&self.limits);
        // what is added up is handed out when it is
        let room = if is_alone { room.of_sums(self.clock) } else { room };
        let of_thread = |number: usize| self.of_thread(threads[number], query, own, &room);
        let own = try_each(self.limits.threads, threads.len(), of_thread)?;
        room.finish()?;
        let is_done = |part: &Part| query.shape != Shape::Log || is_by_start(&part.table.rows);
        if is_alone && own.iter().all(is_done) {
            return Ok(own);
        }
        let clock = if is_alone { Clock::default() } else { self.clock };
        self.shared(threads, own, query, limit, clock)
    }

    /// The tables of threads as those that a query wants share them, whose times are sums of a clock.
    fn shared(
        &self,
        threads: &[usize],
        own: Vec<Part>,
        query: &Query,
        limit: RowLimit,
        clock: Clock,
    ) -> Result<Vec<Part>, Error> {
        let mut numbers: HashMap<&[u8], usize> = HashMap::default();
        let mut inputs: HashMap<usize, usize> = HashMap::default();
        let mut shared: Vec<Vec<Part>> = Vec::new();
        for (part, &at) in own.into_iter().zip(threads) {
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

    /// The bottom-up tables of several threads as one, as [`Trace::parts`] makes it of all.
    pub fn bottom_up_of_all(&self, parts: Vec<Part>) -> Result<Option<Part>, Error> {
        self.of_all(parts, Shape::BottomUp { levels: 1 }, None)
    }

    /// The call trees of several threads as one, as [`Trace::parts`] makes it of all.
    pub fn call_tree_of_all(
        &self,
        parts: Vec<Part>,
        key: Option<RowKey>,
    ) -> Result<Option<Part>, Error> {
        self.of_all(parts, Shape::CallTree, key)
    }

    /// Of all threads, whose times are sums of the trace's clock.
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

    /// Puts siblings of tables in another order, each with what is below it. Cost: a sort.
    ///
    /// # Errors
    /// What temporary files say; [`tracemill_trace::ErrorKind::Exceeded`] if names of siblings are more than there is room for.
    pub fn sort(&self, parts: &mut [Part], by: RowOrder) -> Result<(), Error> {
        let (space, room) = (self.space_of_one(), RowRoom::new(&self.limits));
        parts.iter_mut().try_for_each(|part| part.table.sort(by, &space, &room))?;
        room.finish()
    }

    /// Room for the rows of one tree that is made alone.
    fn space_of_one(&self) -> Space {
        Space::new(self.limits.lease("rows of a tree", Share::of(1, 8)), 1)
    }

    /// Of what threads a table is: `thread 1/2 main`, `process 1`, an input, or `all threads`.
    pub fn title(&self, part: &Part) -> String {
        let own = |at: usize| &self.threads[at];
        if let [at] = part.threads[..] {
            let ids = format!("thread {}/{}", own(at).pid_text(), own(at).tid_text());
            let name = own(at).name.as_deref().unwrap_or_default();
            let input = own(at).input.as_deref().unwrap_or_default();
            let told: Vec<&str> =
                [&*ids, name, input].into_iter().filter(|text| !text.is_empty()).collect();
            return told.join(" ");
        }
        let first = part.threads.first().map(|&at| own(at));
        let all = |is: &dyn Fn(&Thread) -> bool| part.threads.iter().all(|&at| is(own(at)));
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

    /// The windows in which an event or call of threads, given by their numbers, lasts that matches: those that overlap or touch are
    /// one. Cost: the flame charts of the threads.
    ///
    /// # Errors
    /// As [`Trace::track`].
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
        let window = |own| self.clock.window_of(own);
        Ok(Stretches::of(all.concat()).iter().map(window).collect())
    }

    /// Among threads, given by their numbers, the one that has the event or call of a key of DevTools (`r-12`, `p-…`), and the window in which
    /// that lasts. Cost: the flame charts of the threads up to it.
    ///
    /// # Errors
    /// As [`Trace::track`].
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

    /// From the first to the last tick that counts: of windows, and without any of the trace, if it has a first and a last one.
    fn counted_time(&self, windows: &[Window]) -> (f64, f64) {
        let (first, last) = self.ticks();
        let is_whole = windows.is_empty() && first.is_finite() && last.is_finite();
        if is_whole { (first, last) } else { span_of(windows, self.clock) }
    }

    /// The table of a thread.
    fn of_thread(
        &self,
        at: usize,
        query: &Query,
        limit: RowLimit,
        room: &RowRoom,
    ) -> Result<Part, Error> {
        self.limits.cancel.check()?;
        let within = self.counted_time(&query.windows);
        let track = self.track_until(&self.threads[at], within.1)?;
        let mut view = View::counting(&track, query.rules, within);
        view.limit = limit;
        let mut part = view.part(at, view.table_of(query, room)?);
        part.samples = self.samples_within(&self.threads[at], within);
        Ok(part)
    }
}

/// From the first to the last tick of windows; all time without any.
fn span_of(windows: &[Window], clock: Clock) -> (f64, f64) {
    let ticks = |ms: f64| clock.tick(ms);
    let span =
        windows.iter().map(|own| clock.sums(*own)).map(|own| (ticks(own.from), ticks(own.to)));
    let all = (f64::NEG_INFINITY, f64::INFINITY);
    span.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or(all)
}

impl<'t> View<'t> {
    /// Returns the trace that it is of.
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// Returns what a query counts, in the sums of the trace's clock.
    pub fn walked<'q>(&self, query: &'q Query, ids: &Ids<'_>, is_bottom_up: bool) -> Walked<'q> {
        let clock = self.trace.clock;
        let windows: Vec<Window> = query.windows.iter().map(|own| clock.sums(*own)).collect();
        let windows = (&*windows, clock.sums(self.full()), clock);
        query.picks.apply(|| self.drawn(), windows, ids, is_bottom_up)
    }

    /// Returns all entries of the track, those without a place in the tree too.
    pub fn all_entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.track.nested().keeping().map(|own| own.entry)
    }

    /// Walks over all entries of kinds that DevTools shows, tasks and those without a place too.
    ///
    /// # Errors
    /// As [`View::walk`].
    pub fn walk_all(
        &self,
        window: Window,
        visit: &mut dyn Visit,
        room: &Quota,
    ) -> Result<(), Error> {
        let counted = || self.all_entries().map(|entry| Counted { written: entry, entry });
        let filter = Filter { shown_only: true, with_tasks: true, ..self.filter() };
        walk((counted(), counted()), window, filter, &mut [visit], room)
    }

    /// A table of it, as that of the thread of this number.
    pub fn part(&self, thread: usize, table: Table) -> Part {
        let (calls, listed, dropped) = (self.calls() as u64, self.listed(), self.dropped());
        let (samples, LeftOut { ignored, hidden }) = (self.samples(), self.left_out());
        Part { threads: vec![thread], table, calls, listed, ignored, hidden, dropped, samples }
    }
}
