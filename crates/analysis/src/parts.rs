//! Tables of many threads: each by itself, or those of a process or of all as one.

use crate::clock::{Clock, Window};
use crate::counts::LeftOut;
use crate::groups::GroupBy;
use crate::matcher::Matcher;
use crate::query::{Per, Query, RowKey, RowLimit, Shape, TableRules};
use crate::rows::{Table, TreeRow, depth_first};
use crate::stretches::Stretches;
use crate::table::View;
use crate::trace::{Thread, Trace};
use crate::tree::sort_falling;
use tracemill_core::hash::HashMap;
use tracemill_core::limits::Quota;
use tracemill_core::threads::try_each;
use tracemill_pipeline::Error;

/// A table and the threads that it is of.
#[derive(Clone, Debug)]
pub struct Part {
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// The table.
    pub table: Table,
    /// Calls that were made of samples. Of these, and of what follows, only those from the first window to the last, and without windows those
    /// within the bounds of the trace.
    pub calls: u64,
    /// Of these, those that DevTools does not draw: they are on its ignore list, and so is the function that they are called by.
    pub listed: u64,
    /// Calls that are not drawn here, as in DevTools, since they are on an ignore list, and so is the function that they are called by.
    pub ignored: u64,
    /// Events and calls that were hidden when the trace was stored, where that is looked at as it was then.
    pub hidden: u64,
    /// Events and calls that have no place, since they begin in one and end behind it.
    pub dropped: u64,
    /// Samples.
    pub samples: u64,
}

impl Part {
    /// Milliseconds in which anything goes on, of all its threads.
    pub fn busy(&self) -> f64 {
        self.table.total - self.table.own
    }
}

impl Trace {
    /// The tables of threads, given by their numbers. Threads are worked on side by side; what tables share is added in the order
    /// of the threads, so the answer does not depend on how many work.
    ///
    /// # Errors
    /// What temporary files say; [`tracemill_pipeline::ErrorKind::Exceeded`] if all rows are more than there is room for in the budget.
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
        let room = Quota::new(&self.limits, self.limits.memory);
        let is_alone = query.per == Per::Thread && query.key.is_none();
        let own = if is_alone { limit } else { RowLimit::default() };
        let of_thread = |number: usize| self.of_thread(threads[number], (query, own), &room);
        let own = try_each(self.limits.threads, threads.len(), of_thread)?;
        let mut shared = self.shared(threads, own, query);
        for part in &mut shared {
            part.table.convert_from(self.clock);
            part.table.keep(limit);
        }
        Ok(shared)
    }

    /// The tables of threads as those that a query wants share them.
    fn shared(&self, threads: &[usize], own: Vec<Part>, query: &Query) -> Vec<Part> {
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
        let tables = shared.into_iter().filter_map(|parts| united(parts, query.shape, query.key));
        let levels = if query.by == GroupBy::None { 1 } else { 2 };
        let drop_empty = |mut part: Part| {
            if matches!(query.shape, Shape::BottomUp { .. }) && query.per != Per::Thread {
                drop_empty(&mut part.table.rows, levels);
            }
            part
        };
        tables.map(drop_empty).collect()
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
        (query, limit): (&Query, RowLimit),
        room: &Quota,
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
pub(crate) fn span_of(windows: &[Window], clock: Clock) -> (f64, f64) {
    let ticks = |ms: f64| clock.tick(ms);
    let span =
        windows.iter().map(|own| clock.sums(*own)).map(|own| (ticks(own.from), ticks(own.to)));
    let all = (f64::NEG_INFINITY, f64::INFINITY);
    span.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or(all)
}

impl View<'_> {
    /// A table of it, as that of the thread of this number.
    pub(crate) fn part(&self, thread: usize, table: Table) -> Part {
        let (calls, listed, dropped) = (self.calls() as u64, self.listed(), self.dropped());
        let (samples, LeftOut { ignored, hidden }) = (self.samples(), self.left_out());
        Part { threads: vec![thread], table, calls, listed, ignored, hidden, dropped, samples }
    }
}

/// What rows of several threads are one row. The id of a script means nothing beyond its process, so calls match by where their
/// functions stand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Match {
    parent: usize,
    text: String,
    line: Option<i64>,
    column: Option<i64>,
    is_group: bool,
}

impl Match {
    fn of(row: &TreeRow, parent: usize, key: RowKey) -> Self {
        let place = &row.location;
        let function = row.label.as_deref().unwrap_or_default();
        let is_call = !place.url.is_empty() || row.id.starts_with("f:");
        let text = match key {
            RowKey::Function if is_call => function.to_owned(),
            RowKey::Url if !place.url.is_empty() => place.url.clone(),
            RowKey::Place | RowKey::Line if !place.url.is_empty() => {
                format!("{function}\0{}", place.url)
            }
            _ => row.id.clone(),
        };
        let line = place.line.filter(|_| matches!(key, RowKey::Place | RowKey::Line));
        let column = place.column.filter(|_| key == RowKey::Place);
        Match { parent, text, line, column, is_group: row.is_group }
    }
}

/// Takes rows without time of their own, and without bytes, out of the upper levels of a bottom-up tree, with what is below them.
fn drop_empty(rows: &mut Vec<TreeRow>, levels: u32) {
    let mut gone: Option<u32> = None;
    rows.retain(|row| {
        gone = gone.filter(|depth| row.depth > *depth);
        if gone.is_none() && row.depth < levels && row.own <= 0.0 && row.bytes <= 0.0 {
            gone = Some(row.depth);
        }
        gone.is_none()
    });
}

/// The bottom-up tables of several threads as one, as [`Trace::parts`] makes it of all.
pub(crate) fn bottom_up_of_all(parts: Vec<Part>) -> Option<Part> {
    let mut part = united(parts, Shape::BottomUp { levels: 1 }, None)?;
    drop_empty(&mut part.table.rows, 1);
    Some(part)
}

/// The call trees of several threads as one, as [`Trace::parts`] makes it of all.
pub(crate) fn call_tree_of_all(parts: Vec<Part>, key: Option<RowKey>) -> Option<Part> {
    united(parts, Shape::CallTree, key)
}

/// Several tables as one.
fn united(mut parts: Vec<Part>, shape: Shape, key: Option<RowKey>) -> Option<Part> {
    if parts.len() <= 1 && key.is_none() || shape == Shape::Log {
        let mut parts = parts.into_iter();
        let mut first = parts.next()?;
        for mut part in parts {
            first.table.rows.append(&mut part.table.rows);
            add(&mut first, part);
        }
        if shape == Shape::Log {
            sort_log(&mut first.table.rows);
        }
        return Some(first);
    }
    let key = key.unwrap_or(RowKey::Place);
    let mut rows: Vec<TreeRow> = Vec::new();
    let mut children: Vec<Vec<usize>> = vec![Vec::new()];
    let mut places: HashMap<Match, usize> = HashMap::default();
    for part in &mut parts {
        let mut path = vec![0];
        for mut row in std::mem::take(&mut part.table.rows) {
            path.truncate(row.depth as usize + 1);
            let parent = path[path.len() - 1];
            let next = rows.len();
            let at = *places.entry(Match::of(&row, parent, key)).or_insert(next);
            path.push(at + 1);
            if at < next {
                let own = &mut rows[at];
                own.own += row.own;
                own.total += row.total;
                own.count += row.count;
                own.bytes += row.bytes;
                own.expandable |= row.expandable;
                continue;
            }
            children[parent].push(at);
            children.push(Vec::new());
            if key == RowKey::Url && !row.location.url.is_empty() {
                row.label = Some(row.location.url.clone());
                (row.location.line, row.location.column) = (None, None);
            }
            rows.push(row);
        }
    }
    let mut parts = parts.into_iter();
    let mut first = parts.next()?;
    for part in parts {
        add(&mut first, part);
    }
    let value = |at: usize| if shape == Shape::CallTree { rows[at].total } else { rows[at].own };
    for own in &mut children {
        sort_falling(own, value);
    }
    first.table.rows = depth_first(rows, &children);
    Some(first)
}

/// Adds all of a part but its rows.
fn add(first: &mut Part, part: Part) {
    first.threads.extend(part.threads);
    first.table.own += part.table.own;
    first.table.total += part.table.total;
    first.calls += part.calls;
    first.listed += part.listed;
    first.ignored += part.ignored;
    first.hidden += part.hidden;
    first.dropped += part.dropped;
    first.samples += part.samples;
}

/// Top-level events of several threads by start, each with what is below it.
fn sort_log(rows: &mut Vec<TreeRow>) {
    let mut groups: Vec<Vec<TreeRow>> = Vec::new();
    for row in std::mem::take(rows) {
        match groups.last_mut().filter(|_| row.depth > 0) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.sort_by(|a, b| a[0].start.total_cmp(&b[0].start));
    rows.extend(groups.into_iter().flatten());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Location;

    fn row(depth: u32, id: &str, own: f64, total: f64) -> TreeRow {
        TreeRow {
            depth,
            id: id.to_owned(),
            start: 0.0,
            own,
            total,
            count: 1,
            expandable: true,
            bytes: 0.0,
            key: None,
            label: Some(id.to_owned()),
            is_group: false,
            category: "other",
            location: Location::default(),
        }
    }

    #[test]
    fn rows_of_one_path_are_added() {
        let window = Window { from: 0.0, to: 10.0 };
        let part = |thread, rows: Vec<TreeRow>| Part {
            threads: vec![thread],
            table: Table { window, own: 1.0, total: 10.0, rows, small: (0, 0.0) },
            calls: 2,
            listed: 1,
            ignored: 2,
            hidden: 3,
            dropped: 0,
            samples: 3,
        };
        let a = part(0, vec![row(0, "a", 1.0, 3.0), row(1, "b", 2.0, 2.0), row(0, "c", 2.5, 2.5)]);
        let b = part(1, vec![row(0, "c", 4.0, 6.0), row(1, "b", 2.0, 2.0)]);
        let one = united(vec![a, b], Shape::CallTree, None).expect("two parts");
        let shown: Vec<_> =
            one.table.rows.iter().map(|r| (r.depth, &*r.id, r.own, r.total, r.count)).collect();
        let expected = [
            (0, "c", 6.5, 8.5, 2),
            (1, "b", 2.0, 2.0, 1),
            (0, "a", 1.0, 3.0, 1),
            (1, "b", 2.0, 2.0, 1),
        ];
        assert_eq!(shown, expected);
        assert_eq!((one.threads, one.calls, one.table.total), (vec![0, 1], 4, 20.0));
        assert_eq!((one.listed, one.ignored, one.hidden), (2, 4, 6));
    }
}
