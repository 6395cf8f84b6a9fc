//! Tables of a thread: flame chart rows, call tree, bottom-up tree and event log.

pub(crate) mod call_rows;
pub(crate) mod chart;
pub(crate) mod ordered;
pub(crate) mod parts;
pub(crate) mod peek;
pub mod tree_rows;
pub(crate) mod united;

use crate::entries::ignored::{Ignored, Listed};
use crate::entries::walk::{Filter, Visit, walk};
use crate::entries::{Entry, Placed};
use crate::events::kinds::flag;
use crate::events::modifications::Hidden;
use crate::names::groups::{GroupBy, Ids};
use crate::query::counts::{Counting, Counts, IdleTime, LeftOut};
use crate::query::picks::{Answers, Drawn, Picks, Walked};
use crate::query::rows::{Least, Location, TreeRow};
use crate::query::{Entries, Per, Query, RowLimit, Shape, TableRules};
use crate::table::ordered::Table;
use crate::table::tree_rows::RowRoom;
use crate::trace::{Thread, Trace, Track};
use crate::tree::views::{BottomUp, BottomUpRules, Continuation, Identify, TopDown, TopDownRules};
use crate::tree::{By, Row, Rows};
use crate::value::clock::{TickRange, Window};
use crate::value::matcher::Matcher;
use crate::value::urls::is_ignored;
use std::cell::{Cell, OnceCell};
use std::sync::LazyLock;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashSet;

static NOTHING: LazyLock<Hidden> = LazyLock::new(Hidden::default);

/// The drawn entries of a thread's track, from which tables are computed.
pub struct View<'t> {
    pub(crate) trace: &'t Trace,
    thread: &'t Thread,
    pub(crate) track: &'t Track<'t>,
    rules: TableRules,
    /// Functions on the ignore list. A call to one is left out if its caller is on the list too.
    list: Option<Listed<'t>>,
    /// Counted time range in ticks (time units of the trace's clock).
    within: TickRange,
    pub(crate) limit: RowLimit,
    counts: OnceCell<Counts>,
    /// Self time of calls to V8's `(idle)` in the last walk, in milliseconds or exact nanoseconds.
    idle: Cell<f64>,
}

impl<'t> View<'t> {
    /// Creates a view of a track.
    pub fn new(track: &'t Track<'t>, rules: TableRules) -> Self {
        View::counting(track, rules, TickRange::ALL)
    }

    /// Creates a view that counts only entries within a range of ticks.
    pub(crate) fn counting(track: &'t Track<'t>, rules: TableRules, within: TickRange) -> Self {
        let Track { trace, thread, .. } = *track;
        let (counts, idle) = (OnceCell::new(), Cell::new(0.0));
        let limit = RowLimit::default();
        let mut view =
            View { trace, thread, track, rules, list: None, within, limit, counts, idle };
        view.list = view.list_in_force();
        view
    }

    /// Returns the counts of drawn entries. Cost: visits each entry, unless the entries are already
    /// counted.
    fn counts(&self) -> Counts {
        *self.counts.get_or_init(|| {
            let mut nested = self.track.nested().counting(self.within);
            let left_out = Cell::default();
            let drawn = self.drawn_of(nested.by_ref(), false, Some(&left_out));
            let counts = self.counter(drawn).finish();
            Counts { dropped: nested.dropped, left_out: left_out.get(), ..counts }
        })
    }

    fn counter<I: Iterator<Item = Drawn>>(&self, drawn: I) -> Counting<'t, I> {
        Counting::new(drawn, self.within, self.ignored_of_devtools())
    }

    /// Finds the calls that DevTools' ignore list omits, so that a view with these calls can count
    /// them. Returns `None` if this view omits the calls, or if no function is on the list.
    fn ignored_of_devtools(&self) -> Option<Ignored<'t>> {
        let model = self.thread.model.as_deref()?;
        if self.is_listing() {
            return None;
        }
        let is_listed = |url| is_ignored(self.trace.names.bytes_of(url));
        Listed::new(model, is_listed).map(Ignored::new)
    }

    /// Returns the functions on the ignore list. Returns `None` if this view ignores the list, or
    /// if no function is on the list.
    fn list_in_force(&self) -> Option<Listed<'t>> {
        let model = self.thread.model.as_deref().filter(|_| self.is_listing())?;
        let list = self.trace.ignore_list.as_ref();
        let is_on = |url: &[u8]| list.map_or_else(|| is_ignored(url), |list| list.finds(url));
        Listed::new(model, |url| {
            self.trace.libraries.contains(&url) || is_on(self.trace.names.bytes_of(url))
        })
    }

    /// Returns the ids, groups and labels of the track's entries.
    pub fn ids(&self, by: GroupBy) -> Ids<'t> {
        Ids::new(self.trace, self.thread, by, self.rules.as_devtools)
    }

    /// Iterates over drawn entries (DevTools: `#appendNodesAtLevel`). A call on the ignore list is
    /// drawn only if its caller is not on the list. Without `with_levels`, the `level` of an entry
    /// may be its depth instead.
    fn drawn_of<'v>(
        &'v self,
        nested: impl Iterator<Item = Placed> + 'v,
        with_levels: bool,
        left_out: Option<&'v Cell<LeftOut>>,
    ) -> impl Iterator<Item = Drawn> + 'v {
        let draws_all = self.rules.entries == Entries::All || self.trace.is_generic;
        let is_plain = !self.is_listing() && (draws_all || !with_levels);
        let mut hidden = self.hidden();
        let mut is_hidden = move |entry: &Entry| {
            let (events, calls) = &mut hidden;
            match entry.is_call() {
                false => entry.event_number().is_some_and(|number| events.contains(&number)),
                true => !calls.is_empty() && calls.remove(&self.call_key(entry)),
            }
        };
        // For each open entry, the level of its children, and whether the entry is on the ignore
        // list.
        let mut open: Vec<(u32, bool)> = Vec::new();
        (0..).zip(nested).filter_map(move |(at, Placed { entry, depth })| {
            if is_plain {
                let drawn = Drawn { at, entry, depth, level: depth, is_ignored: false };
                return (draws_all || self.draws(&entry)).then_some(drawn);
            }
            open.truncate(depth as usize);
            let (level, parent_ignored) = open.last().copied().unwrap_or((0, false));
            let is_ignored = self.list.as_ref().is_some_and(|list| list.has(&entry));
            let is_drawn = self.draws(&entry) && {
                let is_listed = is_ignored && parent_ignored;
                let is_out = is_listed || is_hidden(&entry);
                if is_out && let Some(sum) = left_out.filter(|_| entry.touches(self.within)) {
                    sum.update(|LeftOut { ignored, hidden }| match is_listed {
                        true => LeftOut { ignored: ignored + 1, hidden },
                        false => LeftOut { ignored, hidden: hidden + 1 },
                    });
                }
                !is_out
            };
            open.push((level + u32::from(is_drawn), is_ignored));
            is_drawn.then_some(Drawn { at, entry, depth, level, is_ignored })
        })
    }

    /// Iterates over the drawn entries, without exact levels.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = Drawn> + '_ {
        self.drawn_of(self.track.nested(), false, None)
    }

    /// Iterates over the drawn entries with their levels.
    pub(crate) fn levelled(&self) -> impl Iterator<Item = Drawn> + '_ {
        self.drawn_of(self.track.nested(), true, None)
    }

    /// Returns whether calls on an ignore list are left out.
    fn is_listing(&self) -> bool {
        matches!(self.rules.entries, Entries::Listed | Entries::Panel)
    }

    /// Returns the events and calls that the stored view hides. Each key of a call hides only the
    /// first call with this key.
    fn hidden(&self) -> (&'t HashSet<u64>, HashSet<(i64, u64)>) {
        let Hidden { events, calls } = match self.rules.entries {
            Entries::Panel => &self.trace.hidden,
            _ => &NOTHING,
        };
        let thread = (self.thread.pid.clone(), self.thread.tid.clone());
        (events, calls.get(&thread).cloned().unwrap_or_default())
    }

    /// Returns the key of a call: the number of its sample and the id of its node.
    fn call_key(&self, entry: &Entry) -> (i64, u64) {
        let id = self.thread.model.as_deref().map(|model| model.node(entry.kind).id);
        (i64::from(entry.details as i32), id.unwrap_or_default())
    }

    fn draws(&self, entry: &Entry) -> bool {
        if self.rules.entries == Entries::All || self.trace.is_generic || entry.is_call() {
            return true;
        }
        let flags = self.trace.flags[entry.kind as usize];
        flags & flag::DRAWN != 0
            || flags & flag::DRAWN_INSTANT != 0 && entry.is_instant()
            || flags & flag::DRAWN_COMPLETE != 0 && entry.is_complete()
    }

    /// Returns the number of drawn entries. Cost: visits each entry on the first call, unless a
    /// table was computed before.
    pub fn len(&self) -> usize {
        self.counts().drawn as usize
    }

    /// Returns whether no entry is drawn.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn samples(&self) -> u64 {
        self.thread.samples()
    }

    /// Returns the number of drawn calls that are computed from samples.
    pub fn calls(&self) -> usize {
        self.counts().calls as usize
    }

    /// Returns the number of drawn calls that are on DevTools' ignore list together with their
    /// callers. DevTools omits such calls.
    pub fn listed(&self) -> u64 {
        self.counts().listed
    }

    pub(crate) fn left_out(&self) -> LeftOut {
        self.counts().left_out
    }

    /// Returns the number of entries that are dropped because they overlap their parent.
    pub fn dropped(&self) -> u64 {
        self.counts().dropped
    }

    /// Returns the whole trace as a window.
    pub fn full(&self) -> Window {
        let (from, to) = self.trace.bounds;
        Window { from: from / 1000.0, to: to / 1000.0 }
    }

    /// Computes a table of a window, which is given in milliseconds.
    fn in_ms(
        &self,
        window: Window,
        table: impl FnOnce(&Walked<'_>, &RowRoom) -> Result<Table, Error>,
    ) -> Result<Table, Error> {
        let (clock, none) = (self.trace.clock, Picks::default());
        let room = RowRoom::new(&self.trace.limits).of_sums(clock);
        let table = table(&Walked::whole(clock.sums(window), &none), &room)?;
        room.finish()?;
        Ok(table)
    }

    /// Returns DevTools' key of an entry. Returns `None` for a pair of B and E events, and for a
    /// `JSSample`.
    pub(crate) fn key(&self, entry: &Entry, ids: &Ids<'_>) -> Option<String> {
        if !entry.is_call() {
            let event = entry.event_number().filter(|_| ids.name(entry) != b"JSSample");
            return Some(format!("r-{}", event?));
        }
        let node = ids.model()?.node(entry.kind).id;
        let sample = i64::from(entry.details as i32);
        Some(format!("{}{sample}-{node}", ids.call_keys))
    }

    pub(crate) fn filter(&self) -> Filter<'_> {
        Filter {
            flags: &self.trace.flags,
            shown_only: self.rules.entries != Entries::All && !self.trace.is_generic,
            with_tasks: false,
            as_devtools: self.rules.as_devtools,
            clock: self.trace.clock,
        }
    }

    /// Passes the counted entries to all visitors in one walk.
    ///
    /// # Errors
    /// Returns the error of a visitor, or an error if the visitors need more memory than `room`.
    pub fn walk(
        &self,
        over: &Walked<'_>,
        ids: &Ids<'_>,
        visits: &mut [&mut dyn Visit],
        room: &Quota,
    ) -> Result<(), Error> {
        let mut nested = self.track.nested().counting(self.within);
        let left_out = Cell::default();
        let drawn = self.drawn_of(nested.by_ref(), false, Some(&left_out));
        let mut counting = self.counter(drawn);
        let before = over.of(self.drawn(), ids);
        let entries = over.of(&mut counting, ids);
        let mut idle = self.track.is_alone().then(|| IdleTime::new(ids));
        let mut all: Vec<&mut dyn Visit> = Vec::with_capacity(visits.len() + 1);
        all.extend(visits.iter_mut().map(|visit| &mut **visit as &mut dyn Visit));
        all.extend(idle.as_mut().map(|visit| visit as &mut dyn Visit));
        walk(before, entries, over.window, self.filter(), &mut all, room)?;
        self.idle.set(idle.map_or(0.0, |visit| visit.sum));
        let counts = counting.finish();
        // A second walk finds the same counts.
        let counts = Counts { dropped: nested.dropped, left_out: left_out.get(), ..counts };
        let _ = self.counts.set(counts);
        Ok(())
    }

    /// Computes the table of a query. Cost: one walk.
    pub(crate) fn table_of(&self, query: &Query, room: &RowRoom) -> Result<Table, Error> {
        let Query { shape, by, picks, per, .. } = query;
        let (shape, by, shared) = (*shape, *by, *per != Per::Thread);
        let ids = self.ids(by);
        let over = self.walked(query, &ids, matches!(shape, Shape::BottomUp { .. }));
        match shape {
            Shape::CallTree => self.call_tree_of(&over, by, room),
            Shape::Log => self.log_of(&over, room),
            Shape::BottomUp { levels } => {
                self.bottom_up_of(&over, by, levels, picks.text.as_ref(), shared, room)
            }
        }
    }

    /// Computes the call tree. Cost: one walk, and about 100 bytes per row, on disk beyond the
    /// budget.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails.
    pub fn call_tree(&self, window: Window, by: GroupBy) -> Result<Table, Error> {
        self.in_ms(window, |over, room| self.call_tree_of(over, by, room))
    }

    fn call_tree_of(&self, over: &Walked<'_>, by: GroupBy, room: &RowRoom) -> Result<Table, Error> {
        let (ids, window) = (self.ids(by), over.window);
        let (grouped, as_devtools) = (by != GroupBy::None, self.rules.as_devtools);
        let space = self.trace.space_of_rows();
        let mut tree =
            TopDown::new(&ids, &space, TopDownRules { each: false, grouped, as_devtools });
        self.walk(over, &ids, &mut [&mut tree], &room.grown)?;
        let mut rows = tree.finish(window);
        if grouped {
            rows.group(|entry| ids.group(entry), false);
        }
        self.table(&rows, &ids, room, window, By::Total, usize::MAX)
    }

    /// Computes the event log, with one row per event.
    ///
    /// # Errors
    /// Returns the errors of [`View::call_tree`].
    pub fn log(&self, window: Window) -> Result<Table, Error> {
        self.in_ms(window, |over, room| self.log_of(over, room))
    }

    fn log_of(&self, over: &Walked<'_>, room: &RowRoom) -> Result<Table, Error> {
        let (ids, window) = (self.ids(GroupBy::None), over.window);
        let as_devtools = self.rules.as_devtools;
        let space = self.trace.space_of_rows();
        let mut log =
            TopDown::new(&ids, &space, TopDownRules { each: true, grouped: false, as_devtools });
        self.walk(over, &ids, &mut [&mut log], &room.grown)?;
        self.table(&log.finish(window), &ids, room, window, By::Start, usize::MAX)
    }

    /// Computes the bottom-up tree, `levels` deep.
    ///
    /// # Errors
    /// Returns the errors of [`View::call_tree`].
    pub fn bottom_up(&self, window: Window, by: GroupBy, levels: usize) -> Result<Table, Error> {
        self.in_ms(window, |over, room| self.bottom_up_of(over, by, levels, None, false, room))
    }

    fn bottom_up_of(
        &self,
        over: &Walked<'_>,
        by: GroupBy,
        levels: usize,
        text: Option<&Matcher>,
        shared: bool,
        room: &RowRoom,
    ) -> Result<Table, Error> {
        let (ids, window) = (self.ids(by), over.window);
        let grouped = by != GroupBy::None;
        let forced = by == GroupBy::ThirdParty;
        let (as_devtools, clock) = (self.rules.as_devtools, self.trace.clock);
        let rules = BottomUpRules { levels, forced, as_devtools, clock };
        let mut tree = BottomUp::new(&ids, window, rules, &self.trace.space_of_rows());
        let is_counted = |entry: &Entry| self.draws(entry) && self.filter().takes(entry);
        let number = || self.trace.threads.iter().position(|of| std::ptr::eq(of, self.thread));
        if let Some(callers) = &self.trace.async_callers
            && let Some(thread) = number()
        {
            tree.continue_with(Continuation {
                callers,
                thread: thread as u32,
                is_counted: &is_counted,
            });
        }
        if self.trace.flags.iter().any(|flags| flags & flag::RECEIVED != 0) {
            over.of(self.drawn(), &ids).for_each(|event| tree.note_cached(&event.entry));
        }
        self.walk(over, &ids, &mut [&mut tree], &room.grown)?;
        let mut rows = tree.finish(shared);
        if grouped {
            rows.group(|entry| ids.group(entry), true);
        }
        if let Some(text) = text {
            let mut answers = Answers::new(&ids, text);
            rows.keep_top(|entry| answers.of(entry));
        }
        self.table(&rows, &ids, room, window, By::Own, levels + usize::from(grouped))
    }

    /// Builds a table from the rows of a tree. The table can be read after [`RowRoom::finish`].
    pub fn table(
        &self,
        rows: &Rows,
        ids: &Ids<'_>,
        room: &RowRoom,
        window: Window,
        by: By,
        levels: usize,
    ) -> Result<Table, Error> {
        let root = rows.root();
        let ms = |sum: f64| self.trace.clock.ms(sum);
        let idle = self.idle.get();
        let mut least = Least::of(self.limit, ms(root.total) - ms(root.own) - ms(idle));
        let levels = levels.min(self.limit.depth);
        let all_levels = !self.rules.as_devtools;
        let is_shown = |row: &Row| least.takes(ms(row.own), ms(row.total));
        let puts_idle_last = idle != 0.0 && !self.rules.as_devtools && by != By::Start;
        let sorted = |row: u32| {
            let mut children = rows.sorted(row, by);
            if puts_idle_last {
                children.sort_by_key(|&child| ids.is_idle(&rows.get(child).entry));
            }
            children
        };
        let mut all = rows.depth_first_as(sorted, levels, all_levels, is_shown);
        let (mut writer, clock) = (room.writer(), room.clock);
        for (row, depth) in all.by_ref().take(self.limit.rows) {
            let row = self.row(&rows.get(row), depth, ids, by);
            writer.push(TreeRow { own: clock.ms(row.own), total: clock.ms(row.total), ..row })?;
        }
        let (more, rows) = (all.count() as u64, writer.finish()?);
        let (window, idle) = (clock.window(window), clock.ms(idle));
        let (self_time, total) = (clock.ms(root.own), clock.ms(root.total));
        Ok(Table { window, own: self_time, total, idle, rows, small: least.small, more })
    }

    /// Converts a row of a tree to a row of a table.
    pub fn row(&self, row: &Row, depth: u32, ids: &Ids<'_>, by: By) -> TreeRow {
        let entry = &row.entry;
        let key_text = || ids.text(row.key.id);
        let id = match (row.is_group, row.key.group) {
            (true, _) => ids.group_id(row.key.id),
            (false, 0) => key_text(),
            // The ids of bottom-up rows include their group, counted from 1.
            (false, group) if by == By::Own => {
                format!("{}-{}", key_text(), ids.group_id(group - 1))
            }
            (false, group) => format!("{}/{}", key_text(), ids.group_id(group)),
        };
        // Nearly all rows may be calls: look up their function once.
        let frame = ids.frame(entry);
        let label = match (row.is_group, frame) {
            (true, _) => ids.group_label(&id, entry),
            (false, Some(frame)) => Some(ids.frame_label(frame)),
            (false, None) => ids.label(entry),
        };
        let shown = frame.filter(|_| !row.is_group);
        TreeRow {
            depth,
            start: self.trace.clock.micros(entry.ts) / 1000.0 - self.trace.bounds.0 / 1000.0,
            own: row.own,
            total: row.total,
            cpu: row.cpu,
            count: row.count,
            expandable: row.expandable,
            bytes: row.bytes,
            key: self.key(entry, ids),
            label,
            is_group: row.is_group,
            category: frame.map_or_else(|| ids.category(entry), |frame| frame.category()),
            location: shown.map_or_else(Location::default, |frame| self.frame_location(frame)),
            color: if row.is_group { 0 } else { ids.color(entry) },
            id,
        }
    }
}
