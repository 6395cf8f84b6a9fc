//! Expected report of `tracemill info` for well-formed inputs, computed naively: everything in
//! memory, one list per count.

use std::collections::BTreeMap;

use super::read::{Fields, unescape};
use super::start::{known, start_of};
use super::{Decimal, RawEvent, pairing, time};

/// Totals over a group of events: their number, bytes, and times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Sums {
    pub events: u64,
    pub bytes: u64,
    pub time: u64,
    pub self_time: u64,
}

impl Sums {
    fn add(&mut self, bytes: usize, time: u64) {
        self.events += 1;
        self.bytes += bytes as u64;
        self.time = self.time.saturating_add(time);
    }
}

/// Totals by name. A name is the text of a string, any other value as written, or `None` if
/// missing.
pub type ByName = Vec<(Option<String>, Sums)>;

/// The counts of all inputs together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Info {
    pub events: u64,
    pub bytes: u64,
    pub metadata: u64,
    pub untimed: u64,
    pub at_zero: u64,
    /// Least begin and greatest end.
    pub bounds: Option<(i64, i64)>,
    pub inversions: u64,
    pub phases: BTreeMap<String, u64>,
    /// Totals by pid and tid as written.
    pub threads: BTreeMap<(String, String), Sums>,
    /// Totals by event name, sorted.
    pub names: ByName,
    pub categories: ByName,
    pub args: ByName,
    /// Events with a time not before the start, by time: begin, end, number of the input, offset.
    pub real: Vec<(i64, i64, usize, usize)>,
}

impl Info {
    /// Returns the smallest `k` for which the starts of all events lie in at most `most` intervals
    /// of 2^`k` ns.
    #[must_use]
    pub fn step(&self, most: i128) -> Option<u32> {
        let (first, last) = (self.real.first()?.0, self.real.last()?.0);
        (0..64).find(|&k| i128::from(last >> k) - i128::from(first >> k) < most)
    }

    /// Returns the number of events that begin in each interval of 2^`k` ns.
    #[must_use]
    pub fn density(&self, k: u32) -> Vec<u64> {
        let first = self.real.first().map_or(0, |event| event.0 >> k);
        let mut counts = Vec::new();
        for (ts, ..) in &self.real {
            let at = ((ts >> k) - first) as usize;
            counts.resize(counts.len().max(at + 1), 0);
            counts[at] += 1;
        }
        counts
    }

    /// Returns the time ranges of at least `least` nanoseconds without an event, longest first.
    #[must_use]
    pub fn gaps(&self, least: u64) -> Vec<(i64, i64)> {
        let mut gaps = Vec::new();
        for (number, &(ts, ..)) in self.real.iter().enumerate().skip(1) {
            let end = self.real[..number].iter().map(|event| event.1).max().expect("one before");
            if end < ts && ts.abs_diff(end) >= least {
                gaps.push((end, ts));
            }
        }
        gaps.sort_by_key(|&(from, to)| (std::cmp::Reverse(to.abs_diff(from)), from));
        gaps
    }
}

/// Returns the trace start in nanoseconds. Returns `None` if no event has a time.
#[must_use]
pub fn trace_start(events: &[RawEvent]) -> Option<i64> {
    let known = events
        .iter()
        .filter_map(|event| known(event.ph.as_deref(), event.ts.as_deref(), event.dur.as_deref()));
    start_of(&known.collect::<Vec<_>>())
}

/// Whether a name is a string, and its text. A string differs from a number with the same text.
type NameKey = (Option<bool>, Vec<u8>);

fn key(raw: Option<&str>) -> NameKey {
    match raw {
        None => (None, Vec::new()),
        Some(raw) => match unescape(raw) {
            Some(content) => (Some(true), content),
            None => (Some(false), raw.as_bytes().to_vec()),
        },
    }
}

/// Returns a name as used for pairing.
fn named(key: &NameKey) -> Option<NameKey> {
    let is_none = key.1.is_empty() || *key == (Some(false), b"null".to_vec());
    (!is_none).then(|| key.clone())
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn by_name(sums: BTreeMap<NameKey, Sums>) -> ByName {
    let named = sums.into_iter().map(|((kind, name), sums)| (kind.map(|_| text(&name)), sums));
    let mut all: ByName = named.collect();
    all.sort();
    all
}

struct Slice {
    ts: i64,
    dur: u64,
    phase: u8,
    number: usize,
    name: NameKey,
}

/// Counts the events of all `inputs` together.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn info(inputs: &[&[u8]]) -> Result<Info, String> {
    let mut events = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        events.extend(super::events(input)?.into_iter().map(|event| (number, event)));
    }
    let all: Vec<RawEvent> = events.iter().map(|(_, event)| event.clone()).collect();
    let start = trace_start(&all);
    let mut info = Info { inversions: inversions(&events), ..Info::default() };
    let (mut names, mut cats, mut args) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut threads: BTreeMap<(String, String), Vec<Slice>> = BTreeMap::new();
    for (number, (input, event)) in events.iter().enumerate() {
        let bytes = event.bytes.len();
        info.events += 1;
        info.bytes += bytes as u64;
        let phase = key(event.ph.as_deref());
        let phase = if phase.0.is_none() { "none".to_owned() } else { text(&phase.1) };
        *info.phases.entry(phase).or_default() += 1;
        let is_metadata = is_phase(event, "M");
        let floor = |raw: &Option<String>| raw.as_deref().and_then(time).map(|t| t.nanos_floor());
        let dur = if is_metadata { 0 } else { floor(&event.dur).unwrap_or(0).max(0) as u64 };
        let ids = [&event.pid, &event.tid].map(|id| id.clone().unwrap_or_default());
        let [pid, tid] = ids;
        info.threads.entry((pid.clone(), tid.clone())).or_default().add(bytes, dur);
        let name = key(event.name.as_deref());
        names.entry(name.clone()).or_insert_with(Sums::default).add(bytes, dur);
        for cat in categories(event.cat.as_deref()) {
            cats.entry(cat).or_insert_with(Sums::default).add(bytes, dur);
        }
        for (path, bytes) in paths(event.args.as_deref()) {
            args.entry((Some(true), path)).or_insert_with(Sums::default).add(bytes, dur);
        }
        let Some(ts) = floor(&event.ts).filter(|_| !is_metadata) else {
            *(if is_metadata { &mut info.metadata } else { &mut info.untimed }) += 1;
            continue;
        };
        let end = ts.saturating_add_unsigned(dur);
        let bounds = info.bounds.unwrap_or((ts, end));
        info.bounds = Some((start.unwrap_or(bounds.0), bounds.1.max(end)));
        let at_zero = event.ts.as_deref().and_then(time) == Some(Decimal::zero());
        info.at_zero += u64::from(at_zero);
        if !at_zero || start.is_some_and(|start| start <= 0) {
            info.real.push((ts, end, *input, event.span.start));
        }
        for (phase, letter) in [("X", b'X'), ("B", b'B'), ("E", b'E')] {
            if is_phase(event, phase) && (letter != b'X' || dur > 0) {
                let dur = if letter == b'X' { dur } else { 0 };
                let slice = Slice { ts, dur, phase: letter, number, name: name.clone() };
                threads.entry((pid.clone(), tid.clone())).or_default().push(slice);
            }
        }
    }
    info.real.sort_by_key(|&(ts, _, input, offset)| (ts, input, offset));
    for (thread, slices) in threads {
        for (name, self_time) in self_times(slices) {
            let entry = names.entry(name).or_default();
            entry.self_time = entry.self_time.saturating_add(self_time);
            let thread = info.threads.entry(thread.clone()).or_default();
            thread.self_time = thread.self_time.saturating_add(self_time);
        }
    }
    (info.names, info.categories, info.args) = (by_name(names), by_name(cats), by_name(args));
    Ok(info)
}

fn is_phase(event: &RawEvent, phase: &str) -> bool {
    key(event.ph.as_deref()) == (Some(true), phase.as_bytes().to_vec())
}

/// Counts adjacent events out of output order.
fn inversions(events: &[(usize, RawEvent)]) -> u64 {
    let rank = |event: &RawEvent| match event.ts.as_deref().and_then(time) {
        _ if is_phase(event, "M") => (0, 0, std::cmp::Reverse(0)),
        None => (1, 0, std::cmp::Reverse(0)),
        Some(ts) => {
            let dur = event.dur.as_deref().and_then(time).unwrap_or_else(Decimal::zero);
            (2, ts.attos(), std::cmp::Reverse(dur.attos()))
        }
    };
    let late = |pair: &&[(usize, RawEvent)]| rank(&pair[0].1) > rank(&pair[1].1);
    events.windows(2).filter(late).count() as u64
}

fn categories(cat: Option<&str>) -> Vec<NameKey> {
    let Some(list) = cat.and_then(unescape) else { return vec![key(cat)] };
    let mut all: Vec<NameKey> = list
        .split(|&byte| byte == b',')
        .map(|cat| (Some(true), cat.trim_ascii().to_vec()))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Returns the keys of args and of nested objects, each with the bytes of key and value.
fn paths(args: Option<&str>) -> Vec<(Vec<u8>, usize)> {
    let mut all = Vec::new();
    for (outer, value) in Fields::parse(args.unwrap_or_default()).unwrap_or_default().0 {
        let text = unescape(outer).expect("keys are strings");
        all.push((text.clone(), len(outer, value)));
        for (inner, value) in Fields::parse(value).unwrap_or_default().0 {
            let path = [&text[..], b".", &unescape(inner).expect("keys are strings")].concat();
            all.push((path, len(inner, value)));
        }
    }
    all
}

fn len(key: &str, value: &str) -> usize {
    value.as_ptr().addr() + value.len() - key.as_ptr().addr()
}

/// Returns the self times of slices. The time between two edges belongs to the open slice that
/// began last.
fn self_times(mut slices: Vec<Slice>) -> Vec<(NameKey, u64)> {
    slices.sort_by_key(|slice| (slice.ts, std::cmp::Reverse(slice.dur), slice.number));
    let end = |slice: &Slice| slice.ts.saturating_add_unsigned(slice.dur);
    let last = slices.iter().map(end).max().expect("a thread has slices");
    // time of unended slices is not counted
    let mut spans: Vec<(i64, i64, Option<&NameKey>)> = Vec::new();
    let mut open = Vec::new();
    for slice in &slices {
        match slice.phase {
            b'X' => spans.push((slice.ts, end(slice), Some(&slice.name))),
            b'B' => {
                open.push((spans.len(), &slice.name));
                spans.push((slice.ts, last, None));
            }
            _ => {
                let end = named(&slice.name);
                let names: Vec<_> = open.iter().map(|&(_, name)| named(name)).collect();
                if let Some(at) = pairing::closed_by(&names, &end) {
                    let (begin, name) = open.remove(at);
                    (spans[begin].1, spans[begin].2) = (slice.ts, Some(name));
                }
            }
        }
    }
    let mut edges: Vec<i64> = spans.iter().flat_map(|span| [span.0, span.1]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut times = Vec::new();
    for edge in edges.windows(2) {
        let innermost = spans.iter().rev().find(|span| span.0 <= edge[0] && edge[1] <= span.1);
        let name = innermost.and_then(|span| span.2.cloned());
        times.extend(name.map(|name| (name, edge[1].abs_diff(edge[0]))));
    }
    times
}
