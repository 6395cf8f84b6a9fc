//! What of a thread counts, by the texts of its events and calls: patterns as `pprof` has them, and the text filter of DevTools.

use crate::entries::Entry;
use crate::groups::Ids;
use crate::stretches::Stretches;
use crate::trace::Track;
use crate::walk::Window;
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;

/// A regular expression, not anchored, held against the text of a row and the URL of its function.
#[derive(Clone, Debug)]
pub struct Matcher(Regex);

impl FromStr for Matcher {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // for what it says of a wrong one
        let _: tracemill_pipeline::Pattern = text.parse()?;
        Regex::new(text).map(Matcher).map_err(|why| why.to_string())
    }
}

impl Matcher {
    /// One that finds a text as it stands, whatever its case.
    ///
    /// # Errors
    /// For a text that is too long for an expression.
    pub fn of_text(text: &str) -> Result<Self, String> {
        let expression = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build();
        expression.map(Matcher).map_err(|why| why.to_string())
    }
}

/// Which events and calls count, and how; the default is all.
#[derive(Clone, Debug, Default)]
pub struct Picks {
    /// Only time in which one that matches is open.
    pub focus: Option<Matcher>,
    /// Not the time in which one that matches is open.
    pub ignore: Option<Matcher>,
    /// No rows for those that match: their time is their callers'.
    pub hide: Option<Matcher>,
    /// Trees begin at those that match.
    pub root: Option<Matcher>,
    /// As the filter of DevTools: call tree and log are made of those that match, bottom up rows at the top are left out that do
    /// not. It is not held against `args`, as DevTools does.
    pub text: Option<Matcher>,
}

/// What is walked over.
pub(crate) struct Walked<'v> {
    pub(crate) entries: Cow<'v, [Entry]>,
    /// Which of them count.
    pub(crate) drawn: Cow<'v, [u32]>,
    pub(crate) window: Window,
}

/// Answers of a matcher, each asked for once.
pub(crate) struct Answers<'i, 't> {
    ids: &'i Ids<'t>,
    matcher: &'i Matcher,
    known: HashMap<(bool, u32, u32), bool>,
}

impl<'i, 't> Answers<'i, 't> {
    pub(crate) fn new(ids: &'i Ids<'t>, matcher: &'i Matcher) -> Self {
        Answers { ids, matcher, known: HashMap::new() }
    }

    pub(crate) fn of(&mut self, entry: &Entry) -> bool {
        // samples of calls say nothing of their texts
        let details = if entry.is_call() { 0 } else { entry.details };
        let Answers { ids, matcher: Matcher(regex), known } = self;
        *known.entry((entry.is_call(), entry.kind, details)).or_insert_with(|| {
            let label = ids.label(entry).unwrap_or_default();
            regex.is_match(&label) || ids.frame_url(entry).is_some_and(|url| regex.is_match(&url))
        })
    }
}

/// The time in which an entry that matches is open.
pub(crate) fn matching(
    track: &Track,
    drawn: &[u32],
    ids: &Ids<'_>,
    matcher: &Matcher,
) -> Stretches {
    let mut answers = Answers::new(ids, matcher);
    let entries = drawn.iter().map(|&at| &track.nested.entries[at as usize]);
    let lasting = entries.filter(|entry| entry.dur > 0.0 && answers.of(entry));
    Stretches::of(lasting.map(|entry| (entry.ts, entry.end())).collect())
}

impl Picks {
    /// Whether all counts.
    fn are_none(&self, is_bottom_up: bool) -> bool {
        let text = self.text.is_some() && !is_bottom_up;
        let others = [&self.focus, &self.ignore, &self.hide, &self.root];
        !text && others.into_iter().all(Option::is_none)
    }

    /// What of a track counts within windows; without windows in `full`. Cost: a look at each entry; 44 bytes of heap each if
    /// what counts is more than one stretch.
    pub(crate) fn apply<'v>(
        &self,
        track: &'v Track,
        drawn: &'v [u32],
        (windows, full): (&[Window], Window),
        ids: &Ids<'_>,
        is_bottom_up: bool,
    ) -> Walked<'v> {
        let window = windows.first().copied().unwrap_or(full);
        let entries = Cow::Borrowed(&*track.nested.entries);
        let whole = windows.len() < 2 && self.focus.is_none() && self.ignore.is_none();
        if whole && self.are_none(is_bottom_up) {
            return Walked { entries, drawn: Cow::Borrowed(drawn), window };
        }
        let kept = self.kept(track, drawn, ids, is_bottom_up);
        if whole {
            return Walked { entries, drawn: Cow::Owned(kept), window };
        }
        let windows = if windows.is_empty() { std::slice::from_ref(&full) } else { windows };
        let own = |window: &Window| (window.from * 1000.0, window.to * 1000.0);
        let mut time = Stretches::of(windows.iter().map(own).collect());
        let open = |matcher: &Matcher| matching(track, drawn, ids, matcher);
        if let Some(focus) = &self.focus {
            time = time.and(&open(focus));
        }
        if let Some(ignore) = &self.ignore {
            time = time.without(&open(ignore));
        }
        let mut entries = track.nested.entries.clone();
        let inside = kept.into_iter().filter(|&at| match time.clip(&entries[at as usize]) {
            Some(clipped) => {
                entries[at as usize] = clipped;
                true
            }
            None => false,
        });
        let drawn = Cow::Owned(inside.collect());
        let window = Window { from: 0.0, to: time.total() / 1000.0 };
        Walked { entries: Cow::Owned(entries), drawn, window }
    }

    /// Entries that have rows.
    fn kept(&self, track: &Track, drawn: &[u32], ids: &Ids<'_>, is_bottom_up: bool) -> Vec<u32> {
        let mut hide = self.hide.as_ref().map(|matcher| Answers::new(ids, matcher));
        let mut root = self.root.as_ref().map(|matcher| Answers::new(ids, matcher));
        let text = self.text.as_ref().filter(|_| !is_bottom_up);
        let mut text = text.map(|matcher| Answers::new(ids, matcher));
        // the depth of the outermost root that is open
        let mut within: Option<u32> = None;
        let mut keeps = |at: u32| {
            let (entry, depth) =
                (&track.nested.entries[at as usize], track.nested.depths[at as usize]);
            if let Some(root) = &mut root {
                within = within.filter(|own| depth > *own);
                if within.is_none() && root.of(entry) {
                    within = Some(depth);
                }
                if within.is_none() {
                    return false;
                }
            }
            let is_hidden = hide.as_mut().is_some_and(|hide| hide.of(entry));
            !is_hidden && text.as_mut().is_none_or(|text| text.of(entry))
        };
        drawn.iter().copied().filter(|&at| keeps(at)).collect()
    }
}
