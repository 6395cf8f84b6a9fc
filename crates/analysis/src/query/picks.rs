//! Filters of a thread's entries by text: `pprof`'s patterns, and the text filter of DevTools.

use crate::entries::Entry;
use crate::entries::stretches::Stretches;
use crate::entries::walk::Counted;
use crate::names::groups::Ids;
use crate::value::clock::{Clock, Window};
use crate::value::matcher::Matcher;
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::spill::hash::HashMap;

/// Filters of events and calls by text. The default keeps everything.
#[derive(Clone, Debug, Default)]
pub struct Picks {
    /// Counts only time in which a matching entry is open.
    pub focus: Option<Matcher>,
    /// Excludes time in which a matching entry is open.
    pub ignore: Option<Matcher>,
    /// Removes the rows of matching entries. Their time counts as time of their callers.
    pub hide: Option<Matcher>,
    /// Starts trees at matching entries instead of the top.
    pub root: Option<Matcher>,
    /// The text filter of DevTools: keeps matching entries of call trees and logs, and matching top
    /// rows of bottom-up trees. The filter does not search `args`.
    pub text: Option<Matcher>,
    /// The category filter of DevTools' event log: keeps entries of these categories. An empty list
    /// keeps all.
    pub categories: Vec<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    /// Index of the entry among all entries of the thread.
    pub(crate) at: u32,
    pub(crate) entry: Entry,
    /// Number of open entries around this entry.
    pub(crate) depth: u32,
    /// Number of drawn entries around this entry, if the walk computes levels.
    pub(crate) level: u32,
    pub(crate) is_ignored: bool,
}

/// Filters and windows of a walk over drawn entries.
pub struct Walked<'p> {
    picks: &'p Picks,
    is_bottom_up: bool,
    /// The counted time, unless it is exactly one window.
    time: Option<Stretches>,
    /// The window, in milliseconds, or exact nanoseconds.
    pub window: Window,
}

/// A matcher that remembers its answers for equal entries.
pub(crate) struct Answers<'i, 't> {
    ids: &'i Ids<'t>,
    matcher: &'i Matcher,
    known: HashMap<(bool, u32, u32), bool>,
}

impl<'i, 't> Answers<'i, 't> {
    pub(crate) fn new(ids: &'i Ids<'t>, matcher: &'i Matcher) -> Self {
        Answers { ids, matcher, known: HashMap::default() }
    }

    pub(crate) fn of(&mut self, entry: &Entry) -> bool {
        // Calls in different samples have the same texts.
        let details = if entry.is_call() { 0 } else { entry.details };
        let Answers { ids, matcher, known } = self;
        *known.entry((entry.is_call(), entry.kind, details)).or_insert_with(|| {
            let label = ids.label(entry).unwrap_or_default();
            // The filter of DevTools' panel does not search the name in the trace.
            let name = || unescaped_text(ids.name(entry));
            matcher.is_match(&label)
                || !entry.is_call() && !ids.as_devtools && matcher.is_match(&name())
                || ids.frame_url(entry).is_some_and(|url| matcher.is_match(&url))
        })
    }
}

/// Returns the time ranges in which a matching entry is open. Heap: 24 bytes per range.
pub(crate) fn matching(
    drawn: impl Iterator<Item = Drawn>,
    ids: &Ids<'_>,
    matcher: &Matcher,
) -> Stretches {
    let mut answers = Answers::new(ids, matcher);
    let entries = drawn.map(|event| event.entry);
    let lasting = entries.filter(|entry| entry.dur > 0.0 && answers.of(entry));
    Stretches::of_sorted(lasting.map(|entry| (entry.ts, entry.end())))
}

impl Picks {
    fn are_none(&self, is_bottom_up: bool) -> bool {
        let text = self.text.is_some() && !is_bottom_up;
        let others = [&self.focus, &self.ignore, &self.hide, &self.root];
        !text && self.categories.is_empty() && others.into_iter().all(Option::is_none)
    }

    /// Returns the filters of a walk over the windows. Without windows, the walk covers `full`.
    pub(crate) fn apply<I: Iterator<Item = Drawn>>(
        &self,
        drawn: impl Fn() -> I,
        windows: &[Window],
        full: Window,
        clock: Clock,
        ids: &Ids<'_>,
        is_bottom_up: bool,
    ) -> Walked<'_> {
        let window = windows.first().copied().unwrap_or(full);
        if windows.len() < 2 && self.focus.is_none() && self.ignore.is_none() {
            return Walked { picks: self, is_bottom_up, time: None, window };
        }
        let windows = if windows.is_empty() { std::slice::from_ref(&full) } else { windows };
        let ticks = |window: &Window| (clock.tick(window.from), clock.tick(window.to));
        let mut time = Stretches::of(windows.iter().map(ticks).collect());
        let open = |matcher: &Matcher| matching(drawn(), ids, matcher);
        if let Some(focus) = &self.focus {
            time = time.and(&open(focus));
        }
        if let Some(ignore) = &self.ignore {
            time = time.without(&open(ignore));
        }
        let window = Window { from: 0.0, to: clock.sum(time.total()) };
        Walked { picks: self, is_bottom_up, time: Some(time), window }
    }
}

/// Filters entries: keeps an entry if `text` matches it, `hide` does not, `root` matches it or an
/// enclosing entry, and `categories` has its category. An absent filter keeps all entries.
struct Sieve<'i, 't> {
    hide: Option<Answers<'i, 't>>,
    root: Option<Answers<'i, 't>>,
    text: Option<Answers<'i, 't>>,
    categories: &'i [&'static str],
    ids: &'i Ids<'t>,
    /// Depth of the outermost open entry that matches `root`.
    within: Option<u32>,
}

impl Sieve<'_, '_> {
    fn keeps(&mut self, drawn: &Drawn) -> bool {
        let Drawn { entry, depth, .. } = drawn;
        if let Some(root) = &mut self.root {
            self.within = self.within.filter(|above| depth > above);
            if self.within.is_none() && root.of(entry) {
                self.within = Some(*depth);
            }
            if self.within.is_none() {
                return false;
            }
        }
        let is_hidden = self.hide.as_mut().is_some_and(|hide| hide.of(entry));
        let is_listed =
            self.categories.is_empty() || self.categories.contains(&self.ids.category(entry));
        is_listed && !is_hidden && self.text.as_mut().is_none_or(|text| text.of(entry))
    }
}

impl Walked<'_> {
    /// Returns a walk of all entries within a window.
    pub fn whole(window: Window, none: &Picks) -> Walked<'_> {
        Walked { picks: none, is_bottom_up: false, time: None, window }
    }

    pub(crate) fn of<'w>(
        &'w self,
        drawn: impl Iterator<Item = Drawn> + 'w,
        ids: &'w Ids<'_>,
    ) -> Box<dyn Iterator<Item = Counted> + 'w> {
        let Walked { picks, is_bottom_up, time, .. } = self;
        if time.is_none() && picks.are_none(*is_bottom_up) {
            return Box::new(drawn.map(|Drawn { entry, .. }| Counted { written: entry, entry }));
        }
        let answers = |matcher: &'w Option<Matcher>| {
            matcher.as_ref().map(|matcher| Answers::new(ids, matcher))
        };
        let text = if *is_bottom_up { &None } else { &picks.text };
        let (hide, root, text) = (answers(&picks.hide), answers(&picks.root), answers(text));
        let categories = &picks.categories;
        let mut sieve = Sieve { hide, root, text, categories, ids, within: None };
        let kept = drawn.filter(move |event| sieve.keeps(event));
        Box::new(kept.filter_map(move |Drawn { entry: written, .. }| {
            let entry = match time {
                Some(time) => time.clip(&written)?,
                None => written,
            };
            Some(Counted { written, entry })
        }))
    }
}
