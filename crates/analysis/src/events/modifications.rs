//! The view that DevTools stored in the trace, in `metadata.modifications`: hidden entries and the
//! window of the minimap.

use crate::events::meta::ThreadId;
use crate::value::typed::{List, Object, decode, object};
use crate::value::{Value, is_true, member};
use tracemill_tokenizer::Cursor;
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// The stored view.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modifications {
    /// Keys of the hidden entries, followed by keys of the entries below which others are hidden.
    /// `None` means that a key is invalid or a list is missing.
    pub(crate) keys: Option<Vec<Key>>,
    /// Number of hidden entries in `keys`.
    pub(crate) hidden: usize,
    pub(crate) breadcrumb: Option<Breadcrumb>,
}

/// A window of DevTools' minimap, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Breadcrumb {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) range: f64,
    /// Whether the breadcrumb is the outermost one.
    pub(crate) is_first: bool,
}

/// The entry that a key names.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    Event(u64),
    /// A call, named by the numbers of its process, thread, sample and node.
    Call([i64; 4]),
    /// An entry that belongs to no thread, such as a request or a frame.
    Other,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Hidden {
    pub(crate) events: HashSet<u64>,
    /// Hidden calls of each thread, by sample and node. If several calls have the same sample and
    /// node, only the first is hidden.
    pub(crate) calls: HashMap<ThreadId, HashSet<(i64, u64)>>,
}

impl Key {
    /// Parses a key (DevTools: `traceEventKeyToValues`).
    fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = text.split(|&byte| byte == b'-');
        let kind = parts.next()?;
        let numbers = parts.map(parse_int).collect::<Option<Vec<i64>>>()?;
        match (kind, &numbers[..]) {
            (b"p", &[pid, tid, sample, node]) => Some(Key::Call([pid, tid, sample, node])),
            (b"r", &[event]) => Some(Key::Event(event as u64)),
            (b"s" | b"l", [_]) => Some(Key::Other),
            _ => None,
        }
    }
}

/// Parses an unsigned integer like JavaScript's `parseInt(text, 10)`.
fn parse_int(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii_start();
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    std::str::from_utf8(&text[..end]).ok()?.parse().ok()
}

impl Modifications {
    /// Reads the stored view from metadata, if DevTools would apply it.
    pub(crate) fn of(metadata: &[u8]) -> Option<Self> {
        let text = member(metadata, b"modifications")?;
        let stored: Stored = decode(text);
        if !stored.annotations.is_true() {
            return None;
        }
        let entries = stored.entries_modifications.0.unwrap_or_default();
        let (keys, hidden) = match (entries.hidden_entries.0, entries.expandable_entries.0) {
            (Some(hidden), Some(expandable)) => {
                let all = hidden.iter().chain(&expandable);
                (all.map(|key| Key::parse(key.text()?)).collect(), hidden.len())
            }
            _ => (None, 0),
        };
        let breadcrumb = member(text, b"initialBreadcrumb").and_then(innermost);
        Some(Modifications { keys, hidden, breadcrumb })
    }
}

object! {
    /// Modifications as stored. Breadcrumbs, which may nest deeply, are read by a cursor.
    struct Stored { annotations, entries_modifications: Object<Entries> }

    struct Entries { hidden_entries: List<Value>, expandable_entries: List<Value> }

    struct Span { min, max, range }
}

/// Reads the innermost breadcrumb. Cost: two passes over the text, and no heap.
fn innermost(first: &[u8]) -> Option<Breadcrumb> {
    let (depth, _) = nested_breadcrumbs(first, 0);
    let (_, window) = nested_breadcrumbs(first, depth);
    let Span { min, max, range } = decode(window);
    let (min, max, range) = (min.number()?, max.number()?, range.number()?);
    Some(Breadcrumb { min, max, range, is_first: depth == 1 })
}

/// Returns the depth of the innermost breadcrumb, where the outermost has depth 1. Also returns the
/// last window at depth `wanted`.
///
/// The cursor enters each `child` instead of skipping it. The last of equal keys counts, as in
/// `JSON.parse`.
fn nested_breadcrumbs(first: &[u8], wanted: usize) -> (usize, &[u8]) {
    let mut cursor = Cursor::new(first);
    let mut open = usize::from(cursor.enter(b'{'));
    let (mut depth, mut window) = (open, &[][..]);
    while open > 0 {
        let Some(key) = cursor.next_key() else {
            open -= 1;
            continue;
        };
        match &*key {
            b"child" => {
                let is_object = cursor.enter(b'{');
                depth = open;
                if is_object || is_true(Some(cursor.value())) {
                    depth += 1;
                    window = if depth == wanted { &[] } else { window };
                }
                open += usize::from(is_object);
            }
            b"window" if open == wanted => window = cursor.value(),
            _ => _ = cursor.value(),
        }
    }
    (depth, window)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::number;
    use tracemill_testkit::Rng;

    #[test]
    fn parses_keys_of_devtools() {
        let is = |text: &str| Key::parse(text.as_bytes()).is_some();
        assert!(["r-12", "s-3", "l-0", "p-1-2-3-4", "r-12x"].into_iter().all(is));
        // A key with the sample −1 has six parts.
        assert!(!["r", "r-", "r-x", "p-1-2-3", "p-1-2--1-4", "q-1", ""].into_iter().any(is));
    }

    #[test]
    fn modifications_require_annotations() {
        let of = |text: &str| Modifications::of(text.as_bytes());
        assert!(of(r#"{"modifications":{"entriesModifications":{}}}"#).is_none());
        let stored = r#"{"modifications":{"annotations":{},"entriesModifications":{"hiddenEntries":["r-1"],"expandableEntries":["r-2","x"]},
            "initialBreadcrumb":{"window":{"min":1,"max":9,"range":8},"child":{"window":{"min":2,"max":3,"range":1},"child":null}}}}"#;
        let modifications = of(stored).expect("they count");
        assert!(modifications.keys.is_none());
        let breadcrumb = modifications.breadcrumb.expect("a window");
        assert_eq!((breadcrumb.min, breadcrumb.max, breadcrumb.is_first), (2.0, 3.0, false));
        let modifications = of(&stored.replace(",\"x\"", "")).expect("they count");
        assert_eq!((modifications.keys.map(|keys| keys.len()), modifications.hidden), (Some(2), 1));
    }

    /// Returns an object of random breadcrumb keys, some of them duplicate.
    fn breadcrumb(random: &mut Rng, levels: u64) -> String {
        let mut entry = || {
            let key = random.pick(&["child", "child", "window", "other"]);
            let value = match random.below(5) {
                0 => "null".to_owned(),
                1 => "7".to_owned(),
                2 if levels > 0 => breadcrumb(random, levels - 1),
                _ if levels > 0 && key == "child" => breadcrumb(random, levels - 1),
                _ => format!(r#"{{"min":{0},"max":{0},"range":{0}}}"#, random.below(1000)),
            };
            format!("\"{key}\":{value}")
        };
        let members: Vec<String> = (0..4).map(|_| entry()).collect();
        format!("{{{}}}", members.join(","))
    }

    #[test]
    fn innermost_breadcrumb_matches_naive_walk() {
        let naive = |first: &[u8]| {
            let (mut last, mut depth) = (first.to_vec(), 1);
            while let Some(child) = member(&last, b"child").filter(|child| is_true(Some(child))) {
                (last, depth) = (child.to_vec(), depth + 1);
            }
            (depth, member(&last, b"window").and_then(|window| number(member(window, b"min")?)))
        };
        let mut found = 0;
        for seed in 0..2000 {
            let text = breadcrumb(&mut Rng::new(seed), 4);
            let (depth, min) = naive(text.as_bytes());
            let range = innermost(text.as_bytes()).map(|window| (window.min, window.is_first));
            assert_eq!(range, min.map(|min| (min, depth == 1)), "{text}");
            assert_eq!(nested_breadcrumbs(text.as_bytes(), 0).0, depth, "{text}");
            found += usize::from(range.is_some_and(|pair| !pair.1));
        }
        assert!(found > 100, "{found}");
    }
}
