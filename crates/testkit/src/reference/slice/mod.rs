//! Computes the expected output of `tracemill slice`, byte for byte, directly by the definitions of
//! its rules.
//!
//! Pairs are found over the whole trace first; then each window is filled. CPU profile streams with
//! chunks are not supported.

use std::collections::HashMap;

use super::order::{self, SortKey};
use super::profile::{self, StreamKey, Value};
use super::read::{self, Fields, is_string, unescape};
use super::{Format, default_format, keys, pairing, write};

pub(super) mod number;
mod pairs;

use number::Time;

/// A half-open time range in nanoseconds; `None` means no limit.
pub type Window = (Option<i64>, Option<i64>);

/// Handling of events that cross an edge of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Edges {
    Clip,
    Keep,
    Drop,
}

/// Names of events that are always kept.
pub(super) const ESSENTIAL: [&str; 6] = [
    "TracingStartedInBrowser",
    "TracingStartedInPage",
    "TracingSessionIdForWorker",
    "navigationStart",
    "CommitLoad",
    "FrameCommittedInBrowser",
];

/// Returns the expected output of slicing well-formed `inputs`. `windows` must be in order and must
/// not touch.
///
/// # Errors
///
/// Returns a description of the first text that is not well-formed or not supported.
pub fn slice(
    inputs: &[&[u8]],
    windows: &[Window],
    edges: Edges,
    format: Option<Format>,
) -> Result<Vec<u8>, String> {
    let mut sources = Vec::new();
    let mut input_of = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        for source in read::sources(input)? {
            input_of.extend(source.events.iter().map(|_| number));
            sources.push(source);
        }
    }
    let format = format.unwrap_or_else(|| default_format(&sources));
    let texts: Vec<&str> = sources.iter().flat_map(|s| s.events.iter().copied()).collect();
    let events: Vec<SliceEvent<'_>> = texts.iter().map(|text| SliceEvent::of(text)).collect();
    if events.iter().any(|e| e.ph != Some(b'M') && (e.is("ProfileChunk") || e.is("CpuProfile"))) {
        return Err("streams with chunks are not understood here".into());
    }
    let mut order: Vec<usize> = (0..events.len()).collect();
    order.sort_by(|&a, &b| events[a].key.cmp(&events[b].key));
    let mut slicer = Slicer {
        events: &events,
        order: &order,
        windows,
        edges,
        synthetic: Vec::new(),
        kept: Vec::new(),
    };
    let whole = slicer.hold();
    if whole {
        slicer.kept = (0..events.len()).collect();
    } else {
        slicer.choose(&input_of);
    }
    slicer.kept.sort_unstable();
    let mut all: Vec<&str> = slicer.synthetic.iter().map(String::as_str).collect();
    all.extend(slicer.kept.iter().map(|&number| texts[number]));
    let sorted = order::output_order(&all);
    let sorted: Vec<&str> = sorted.events.iter().map(|&number| all[number]).collect();
    let mut keys = keys::unite(&without_annotations(&sources, whole));
    if format == Format::Array {
        keys.clear();
    }
    Ok(write::trace(format, &sorted, &keys))
}

/// Copies the sources without their events. Panics if there are annotations, unless `whole`.
fn without_annotations<'a>(sources: &[read::Source<'a>], whole: bool) -> Vec<read::Source<'a>> {
    let copy = |source: &read::Source<'a>| read::Source {
        format: source.format,
        events: Vec::new(),
        keys: source.keys.clone(),
    };
    let sources: Vec<_> = sources.iter().map(copy).collect();
    let mut values =
        sources.iter().flat_map(|s| &s.keys.0).filter(|(key, _)| is_string(key, "metadata"));
    let annotated = values
        .any(|(_, value)| Fields::parse(value).is_some_and(|v| v.get("modifications").is_some()));
    assert!(whole || !annotated, "annotations are tested elsewhere");
    sources
}

struct SliceEvent<'a> {
    text: &'a str,
    fields: Fields<'a>,
    key: SortKey,
    ph: Option<u8>,
    ts: Option<Time>,
    /// End of a complete event with a positive duration.
    end: Option<End>,
}

#[derive(Clone)]
enum End {
    At(Time),
    Never,
}

impl<'a> SliceEvent<'a> {
    fn of(text: &'a str) -> Self {
        let fields = Fields::parse(text).unwrap_or_default();
        let key = SortKey::of(&fields);
        let ph = match fields.get("ph").and_then(unescape).as_deref() {
            Some([letter]) => Some(*letter),
            _ => None,
        };
        let time = |name: &str| fields.get(name).and_then(Time::of);
        let ts = time("ts").filter(|_| ph != Some(b'M'));
        let dur = time("dur").filter(|_| ph == Some(b'X'));
        let end = match (&ts, dur) {
            (Some(ts), Some(dur)) if dur.is_above_zero() && ts.is_calculable() => {
                Some(ts.plus(&dur).map_or(End::Never, End::At))
            }
            _ => None,
        };
        SliceEvent { text, fields, key, ph, ts, end }
    }

    fn is(&self, name: &str) -> bool {
        self.fields.get("name").is_some_and(|field| is_string(field, name))
    }

    fn floor(&self) -> i64 {
        self.ts.as_ref().expect("a time").floor
    }

    /// Returns the event with new numbers as the last values of these names.
    fn with(&self, changes: &[(&str, String)]) -> String {
        let mut text = self.text.to_owned();
        let mut places: Vec<(usize, usize, String)> = changes
            .iter()
            .filter_map(|(name, number)| {
                let value = self.fields.get(name)?;
                let start = value.as_ptr().addr() - self.text.as_ptr().addr();
                let quoted = value.starts_with('"');
                let number = if quoted { format!("\"{number}\"") } else { number.clone() };
                Some((start, value.len(), number))
            })
            .collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.0));
        for (start, len, number) in places {
            text.replace_range(start..start + len, &number);
        }
        text
    }

    fn at(&self, ns: i64) -> String {
        self.with(&[("ts", number::micros(ns))])
    }
}

struct Slicer<'e> {
    events: &'e [SliceEvent<'e>],
    order: &'e [usize],
    windows: &'e [Window],
    edges: Edges,
    synthetic: Vec<String>,
    kept: Vec<usize>,
}

fn low(window: Window) -> i64 {
    window.0.unwrap_or(i64::MIN)
}

fn high(window: Window) -> i64 {
    window.1.unwrap_or(i64::MAX)
}

impl Slicer<'_> {
    fn timed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.events.len()).filter(|&number| self.events[number].ts.is_some())
    }

    /// Returns the least and greatest time, and the greatest end. Digits below a nanosecond in `ts`
    /// or in `dur` each add a nanosecond to an end.
    fn bounds(&self) -> Option<(i64, i64, i64)> {
        let ends = self.timed().map(|number| {
            let event = &self.events[number];
            let ts = event.ts.as_ref().expect("timed");
            let dur = event.fields.get("dur").and_then(Time::of);
            match dur.filter(|dur| event.ph == Some(b'X') && dur.floor >= 0) {
                Some(dur) => {
                    let rest = i64::from(!ts.is_exact()) + i64::from(!dur.is_exact());
                    ts.floor.saturating_add(dur.floor).saturating_add(rest)
                }
                None => ts.floor,
            }
        });
        let floors = || self.timed().map(|number| self.events[number].floor());
        Some((floors().min()?, floors().max()?, ends.max()?))
    }

    fn window_at(&self, ns: i64) -> Option<usize> {
        self.windows.iter().position(|&window| low(window) <= ns && ns < high(window))
    }

    fn hold(&self) -> bool {
        let Some((first, last, end)) = self.bounds() else { return true };
        self.window_at(first)
            .is_some_and(|w| last < high(self.windows[w]) && end <= high(self.windows[w]))
    }

    fn choose(&mut self, input_of: &[usize]) {
        let untimed = (0..self.events.len()).filter(|&number| self.events[number].ts.is_none());
        self.kept = untimed.collect();
        let (mut parts, mut heads, mut essential) = (Vec::new(), Vec::new(), Vec::new());
        for (rank, &number) in self.order.iter().enumerate() {
            let event = &self.events[number];
            if event.ph == Some(b'M') {
                continue;
            }
            let is_part = event.ph.is_some_and(|ph| b"BEbeSFstf".contains(&ph))
                || event.ph == Some(b'C') && self.edges == Edges::Clip;
            if event.is("Profile") {
                heads.push(number);
            } else if event.ts.is_none() {
            } else if ESSENTIAL.iter().any(|name| event.is(name)) {
                essential.push(number);
            } else if is_part {
                parts.push(rank);
            } else {
                self.complete(number, false);
            }
        }
        match self.edges {
            Edges::Clip => self.clip(&parts),
            _ => self.whole_pairs(&parts),
        }
        for number in essential {
            self.complete(number, true);
        }
        self.heads(&heads, input_of);
    }

    /// Handles a complete event or another single event.
    fn complete(&mut self, number: usize, essential: bool) {
        let event = &self.events[number];
        let ts = event.ts.clone().expect("timed");
        let behind = |edge: i64| match &event.end {
            _ if edge == i64::MAX => false,
            Some(End::At(end)) => end.is_after(edge),
            _ => true,
        };
        let at = self.window_at(ts.floor);
        let inside = match event.end {
            None => at.is_some(),
            Some(_) => at.is_some_and(|window| !behind(high(self.windows[window]))),
        };
        let touched: Vec<Window> = match event.end {
            None => Vec::new(),
            Some(_) => {
                let touches = |w: &&Window| ts.floor < high(**w) && behind(low(**w));
                self.windows.iter().filter(touches).copied().collect()
            }
        };
        if inside || self.edges == Edges::Keep && !touched.is_empty() {
            return self.kept.push(number);
        }
        if self.edges == Edges::Clip && !touched.is_empty() {
            let pieces = touched.iter().map(|&window| self.piece(event, &ts, window));
            let pieces: Vec<String> = pieces.collect();
            return self.synthetic.extend(pieces);
        }
        if !essential {
            return;
        }
        let first = low(self.windows[0]);
        if self.edges == Edges::Clip && ts.floor < first && event.is("TracingStartedInBrowser") {
            self.synthetic.push(event.at(first));
        } else {
            self.kept.push(number);
        }
    }

    fn piece(&self, event: &SliceEvent<'_>, ts: &Time, window: Window) -> String {
        let (from, to) = (low(window), high(window));
        let start = if ts.floor < from { Time::whole(from) } else { ts.clone() };
        let end = match &event.end {
            Some(End::At(end)) if to == i64::MAX || !end.is_after(to) => Some(end.clone()),
            _ if to == i64::MAX => None,
            _ => Some(Time::whole(to)),
        };
        let mut changes = Vec::new();
        if ts.floor < from {
            changes.push(("ts", number::micros(from)));
        }
        if let Some(end) = end {
            changes.push(("dur", end.minus(&start)));
        }
        event.with(&changes)
    }

    /// Handles `Profile` events without chunks. The events of one stream and input are kept or
    /// dropped together.
    fn heads(&mut self, heads: &[usize], input_of: &[usize]) {
        let mut groups: HashMap<(StreamKey, usize), Vec<usize>> = HashMap::new();
        for &number in heads {
            let key = (profile::stream_key(&self.events[number].fields), input_of[number]);
            groups.entry(key).or_default().push(number);
        }
        for group in groups.into_values() {
            let floors =
                || group.iter().filter_map(|&n| self.events[n].ts.as_ref()).map(|ts| ts.floor);
            let (Some(first), Some(last)) = (floors().min(), floors().max()) else { continue };
            let touches = self.windows.iter().any(|&w| low(w) <= last && first < high(w));
            let inside = match self.edges {
                Edges::Clip => floors().all(|floor| self.window_at(floor).is_some()),
                _ => {
                    self.window_at(first).is_some() && self.window_at(first) == self.window_at(last)
                }
            };
            if inside || touches && self.edges == Edges::Keep {
                self.kept.extend(group.iter().filter(|&&n| self.events[n].ts.is_some()));
            } else {
                // events without a time, too
                self.kept.retain(|number| !group.contains(number));
            }
        }
    }
}
