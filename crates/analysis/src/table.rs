//! Tables: the flame chart's rows, call tree, bottom-up and event log of a thread.

use crate::calls::NO_SAMPLE;
use crate::entries::Entry;
use crate::groups::{GroupBy, Ids};
use crate::kinds::flag;
use crate::picks::{Answers, Matcher, Walked, matching};
use crate::query::{Entries, Per, Query, Shape, TableRules};
use crate::stretches::Stretches;
use crate::trace::{Thread, Trace, Track, id_text};
use crate::tree::{By, Row, Rows};
use crate::urls::is_ignored;
use crate::views::{BottomUp, Identify, TopDown};
use crate::walk::{Filter, Visit, Window, walk};
use std::borrow::Cow;

/// A call that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallRow<'t> {
    /// Microseconds.
    pub(crate) ts: f64,
    /// Microseconds.
    pub(crate) dur: f64,
    /// Empty if it has none.
    pub(crate) name: &'t [u8],
    pub(crate) url: &'t [u8],
    /// From 0, as written.
    pub(crate) line: Option<i64>,
    /// From 0, as written.
    pub(crate) column: Option<i64>,
    /// The id of its node in the profile.
    pub(crate) node: u64,
    /// Number among the profile's samples by time; `None` for a call that an event shows.
    pub(crate) sample: Option<u32>,
}

/// A row of the flame chart.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameRow {
    /// Among the entries drawn.
    pub depth: u32,
    /// Whether it is a call from samples.
    pub is_call: bool,
    /// DevTools' id of the row in trees.
    pub id: String,
    /// Microseconds.
    pub ts: f64,
    /// Microseconds.
    pub dur: f64,
    /// Microseconds that no child has, drawn or not.
    pub own: f64,
    /// DevTools' key of the entry.
    pub key: Option<String>,
    /// Its text.
    pub label: Option<String>,
}

/// Where a function stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Its URL or path; empty if there is none.
    pub url: String,
    /// From 0; as written.
    pub line: Option<i64>,
    /// From 0; as written.
    pub column: Option<i64>,
}

/// A row of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeRow {
    /// From 0; groups, if any, are at 0.
    pub depth: u32,
    /// DevTools' id of the row.
    pub id: String,
    /// When its first event began, in milliseconds.
    pub start: f64,
    /// Milliseconds.
    pub own: f64,
    /// Milliseconds.
    pub total: f64,
    /// Events.
    pub count: u64,
    /// Whether DevTools lets it be expanded.
    pub expandable: bool,
    /// Bytes of requests (bottom-up).
    pub bytes: f64,
    /// DevTools' key of its first event.
    pub key: Option<String>,
    /// Its text; `None` where DevTools fails to make one.
    pub label: Option<String>,
    /// Whether it is a group.
    pub is_group: bool,
    /// What DevTools counts its first event as.
    pub category: &'static str,
    /// Where its function stands.
    pub location: Location,
}

/// A tree, depth first, siblings in the order of the view.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The stretch of time, in milliseconds.
    pub window: Window,
    /// What no row covers, in milliseconds.
    pub own: f64,
    /// The window, in milliseconds.
    pub total: f64,
    /// The rows.
    pub rows: Vec<TreeRow>,
}

/// A thread's track, as far as it is drawn: what tables are made of.
pub struct View<'t> {
    trace: &'t Trace,
    thread: &'t Thread,
    track: &'t Track,
    rules: TableRules,
    /// Entries drawn, their depths among them, and whether they are on the ignore list.
    drawn: Vec<u32>,
    depths: Vec<u32>,
    ignored: Vec<bool>,
}

impl<'t> View<'t> {
    /// Of a thread and its track. Cost: a look at each entry.
    pub fn new(trace: &'t Trace, thread: &'t Thread, track: &'t Track, rules: TableRules) -> Self {
        let mut view = View {
            trace,
            thread,
            track,
            rules,
            drawn: Vec::new(),
            depths: Vec::new(),
            ignored: Vec::new(),
        };
        view.draw();
        view
    }

    fn ids(&self, by: GroupBy) -> Ids<'t> {
        Ids::new(self.trace, self.thread, by, self.rules.as_devtools)
    }

    /// `#appendNodesAtLevel`: an entry that is not drawn costs no level; one on the ignore list is drawn only if its parent is
    /// not on it.
    fn draw(&mut self) {
        let ids = self.ids(GroupBy::None);
        let listing = self.rules.entries == Entries::Panel;
        // for each open entry how many drawn ones stand above what is below it, and whether it is ignored
        let mut open: Vec<(u32, bool)> = Vec::new();
        for (at, entry) in (0..).zip(&self.track.nested.entries) {
            open.truncate(self.track.nested.depths[at as usize] as usize);
            let (depth, parent_ignored) = open.last().copied().unwrap_or((0, false));
            let ignored = listing
                && ids.frame(entry).is_some_and(|f| is_ignored(self.trace.names.bytes_of(f.url)));
            let drawn = self.draws(entry) && !(ignored && parent_ignored);
            if drawn {
                self.drawn.push(at);
                self.depths.push(depth);
                self.ignored.push(ignored);
            }
            open.push((depth + u32::from(drawn), ignored));
        }
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

    /// Entries that are drawn.
    pub fn len(&self) -> usize {
        self.drawn.len()
    }

    /// Whether nothing is drawn.
    pub fn is_empty(&self) -> bool {
        self.drawn.is_empty()
    }

    /// Calls from samples that are drawn.
    pub fn calls(&self) -> usize {
        let entries = &self.track.nested.entries;
        self.drawn.iter().filter(|&&at| entries[at as usize].is_call()).count()
    }

    /// The whole trace as a window.
    pub fn full(&self) -> Window {
        let (from, to) = self.trace.bounds;
        Window { from: from / 1000.0, to: to / 1000.0 }
    }

    /// The flame chart, in pre-order.
    pub fn flame(&self) -> impl Iterator<Item = FlameRow> + '_ {
        let ids = self.ids(GroupBy::None);
        (0..self.drawn.len()).map(move |row| {
            let at = self.drawn[row] as usize;
            let entry = &self.track.nested.entries[at];
            let label = match self.ignored[row] {
                true => Some(r"On ignore list (\/node_modules\/|^node:)".to_owned()),
                false => ids.flame_label(entry),
            };
            FlameRow {
                depth: self.depths[row],
                is_call: entry.is_call(),
                id: self.trace.names.text(ids.id(entry)),
                ts: entry.ts,
                dur: entry.dur,
                own: self.track.nested.own[at],
                key: self.key(entry, &ids),
                label,
            }
        })
    }

    /// The calls of samples among the entries drawn, in pre-order.
    pub(crate) fn call_rows(&self) -> impl Iterator<Item = CallRow<'t>> + '_ {
        let entries = self.drawn.iter().map(|&at| &self.track.nested.entries[at as usize]);
        let model = self.thread.model.as_ref();
        entries.filter(|entry| entry.is_call()).filter_map(move |entry| {
            let model = model?;
            let frame = model.frames.get(entry.kind as usize)?;
            Some(CallRow {
                ts: entry.ts,
                dur: entry.dur,
                name: self.trace.names.bytes_of(frame.function),
                url: self.trace.names.bytes_of(frame.url),
                line: self.position(frame.line),
                column: self.position(frame.column),
                node: model.ids[entry.kind as usize],
                sample: Some(entry.details).filter(|&sample| sample != NO_SAMPLE),
            })
        })
    }

    /// A line or column that a frame names, if it is one.
    fn position(&self, text: u32) -> Option<i64> {
        let number: i64 = self.trace.names.text(text).parse().ok()?;
        (number >= 0).then_some(number)
    }

    /// DevTools' key of an entry (§10); `None` for those that were made of a B and an E.
    fn key(&self, entry: &Entry, ids: &Ids<'_>) -> Option<String> {
        if !entry.is_call() {
            return entry.event_number().map(|number| format!("r-{number}"));
        }
        let node = ids.model()?.ids[entry.kind as usize];
        let sample = i64::from(entry.details as i32);
        let [pid, tid] = [&self.thread.pid, &self.thread.tid].map(|id| id_text(id));
        Some(format!("p-{pid}-{tid}-{sample}-{node}"))
    }

    fn filter(&self) -> Filter<'_> {
        Filter {
            flags: &self.trace.flags,
            shown_only: self.rules.entries != Entries::All && !self.trace.is_generic,
            as_devtools: self.rules.as_devtools,
        }
    }

    fn walk(&self, over: &Walked<'_>, visit: &mut dyn Visit) {
        walk(&over.entries, &over.drawn, over.window, self.filter(), &mut [visit]);
    }

    /// All that is drawn, within a window.
    fn whole(&self, window: Window) -> Walked<'_> {
        let entries = Cow::Borrowed(&*self.track.nested.entries);
        Walked { entries, drawn: Cow::Borrowed(&self.drawn), window }
    }

    /// When an entry drawn is open that matches, in microseconds.
    pub(crate) fn matching(&self, matcher: &Matcher) -> Stretches {
        matching(self.track, &self.drawn, &self.ids(GroupBy::None), matcher)
    }

    /// The window in which the entry of this key (§10) lasts.
    pub(crate) fn window_of(&self, key: &str) -> Option<Window> {
        let ids = self.ids(GroupBy::None);
        let entries = &self.track.nested.entries;
        let entry = entries.iter().find(|entry| self.key(entry, &ids).as_deref() == Some(key))?;
        Some(Window { from: entry.ts / 1000.0, to: entry.end() / 1000.0 })
    }

    /// The table of a query, of what counts. Cost: one walk; 80 bytes of heap a row.
    pub(crate) fn table_of(&self, query: &Query) -> Table {
        let Query { shape, by, windows, picks, per, .. } = query;
        let (shape, by, shared) = (*shape, *by, *per != Per::Thread);
        let ids = self.ids(by);
        let is_bottom_up = matches!(shape, Shape::BottomUp { .. });
        let windows = (&**windows, self.full());
        let over = picks.apply(self.track, &self.drawn, windows, &ids, is_bottom_up);
        match shape {
            Shape::CallTree => self.call_tree_of(&over, by),
            Shape::Log => self.log_of(&over),
            Shape::BottomUp { levels } => {
                self.bottom_up_of(&over, by, levels, (picks.text.as_ref(), shared))
            }
        }
    }

    /// The call tree. Cost: one walk; 80 bytes of heap a row.
    pub fn call_tree(&self, window: Window, by: GroupBy) -> Table {
        self.call_tree_of(&self.whole(window), by)
    }

    fn call_tree_of(&self, over: &Walked<'_>, by: GroupBy) -> Table {
        let (ids, window) = (self.ids(by), over.window);
        let grouped = by != GroupBy::None;
        let mut tree = TopDown::new(&ids, false, grouped, self.rules.as_devtools);
        self.walk(over, &mut tree);
        let mut rows = tree.finish(window);
        if grouped {
            rows.group(|event| ids.group(&self.track.nested.entries[event as usize]), false);
        }
        self.table(&rows, &ids, window, (By::Total, usize::MAX))
    }

    /// The event log: a row for each event.
    pub fn log(&self, window: Window) -> Table {
        self.log_of(&self.whole(window))
    }

    fn log_of(&self, over: &Walked<'_>) -> Table {
        let (ids, window) = (self.ids(GroupBy::None), over.window);
        let mut log = TopDown::new(&ids, true, false, self.rules.as_devtools);
        self.walk(over, &mut log);
        self.table(&log.finish(window), &ids, window, (By::Start, usize::MAX))
    }

    /// The bottom-up tree, to `levels` deep.
    pub fn bottom_up(&self, window: Window, by: GroupBy, levels: usize) -> Table {
        self.bottom_up_of(&self.whole(window), by, levels, (None, false))
    }

    fn bottom_up_of(
        &self,
        over: &Walked<'_>,
        by: GroupBy,
        levels: usize,
        (text, shared): (Option<&Matcher>, bool),
    ) -> Table {
        let (ids, window) = (self.ids(by), over.window);
        let grouped = by != GroupBy::None;
        let mut tree = BottomUp::new(&ids, window, levels, false, self.rules.as_devtools);
        for &at in &*over.drawn {
            tree.note_cached(&self.track.nested.entries[at as usize]);
        }
        self.walk(over, &mut tree);
        let mut rows = tree.finish(shared);
        let entry = |event: u32| &self.track.nested.entries[event as usize];
        if grouped {
            rows.group(|event| ids.group(entry(event)), true);
        }
        if let Some(text) = text {
            let mut answers = Answers::new(&ids, text);
            rows.keep_top(|event| answers.of(entry(event)));
        }
        self.table(&rows, &ids, window, (By::Own, levels + usize::from(grouped)))
    }

    fn table(&self, rows: &Rows, ids: &Ids<'_>, window: Window, view: (By, usize)) -> Table {
        let (by, levels) = view;
        let all = rows.depth_first(by, levels, !self.rules.as_devtools);
        let root = &rows.all[0];
        let made =
            all.into_iter().map(|(row, depth)| self.row(&rows.all[row as usize], depth, ids));
        Table { window, own: root.own, total: root.total, rows: made.collect() }
    }

    fn row(&self, row: &Row, depth: u32, ids: &Ids<'_>) -> TreeRow {
        let entry = &self.track.nested.entries[row.event as usize];
        let id = match (row.is_group, row.key.group) {
            (true, _) => ids.group_id(row.key.id),
            (false, 0) => self.trace.names.text(row.key.id),
            (false, group) => {
                format!("{}/{}", self.trace.names.text(row.key.id), ids.group_id(group))
            }
        };
        let label = if row.is_group { ids.group_label(&id, entry) } else { ids.label(entry) };
        TreeRow {
            depth,
            start: entry.ts / 1000.0 - self.trace.bounds.0 / 1000.0,
            own: row.own,
            total: row.total,
            count: u64::from(row.count),
            expandable: row.expandable,
            bytes: row.bytes,
            key: self.key(entry, ids),
            label,
            is_group: row.is_group,
            category: ids.category(entry),
            location: if row.is_group { Location::default() } else { self.location(entry, ids) },
            id,
        }
    }

    fn location(&self, entry: &Entry, ids: &Ids<'_>) -> Location {
        let Some(frame) = ids.frame(entry) else { return Location::default() };
        Location {
            url: self.trace.names.text(frame.url),
            line: self.position(frame.line),
            column: self.position(frame.column),
        }
    }
}
