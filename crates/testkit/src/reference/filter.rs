//! Expected output of `filter`, computed naively: everything in memory, every pair and group
//! searched separately.

use std::collections::{BTreeMap, HashMap};

use super::order::SortKey;
use super::profile::{StreamKey, Value, stream_key};
use super::read::{self, Fields, is_string, unescape};
use super::start::start_of_fields;
use super::{Decimal, Format, default_format, keys, pairing, time, write};

/// Criteria for events. Empty lists and `None` match everything.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names are those of the flags")]
pub struct Criteria {
    pub pid: Vec<String>,
    pub tid: Vec<String>,
    /// Parts of process and thread names.
    pub process: Vec<String>,
    pub thread: Vec<String>,
    pub ph: Vec<String>,
    /// Categories that must match completely.
    pub cat: Vec<String>,
    /// Parts of event names.
    pub name: Vec<String>,
    /// Minimum duration in nanoseconds.
    pub min_dur: Option<i64>,
    pub max_dur: Option<i64>,
    /// Whether the time is absolute, and the time in nanoseconds.
    pub from: Option<(bool, i64)>,
    pub to: Option<(bool, i64)>,
    pub invert: bool,
}

/// Returns the expected output of filtering well-formed `inputs`.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn filter(
    inputs: &[&[u8]],
    criteria: &Criteria,
    format: Option<Format>,
) -> Result<Vec<u8>, String> {
    let mut sources = Vec::new();
    for input in inputs {
        sources.extend(read::sources(input)?);
    }
    let format = format.unwrap_or_else(|| default_format(&sources));
    let events: Vec<&str> = sources.iter().flat_map(|s| s.events.iter().copied()).collect();
    let stays = Judge::new(&events, criteria).all();
    let kept: Vec<&str> =
        events.iter().zip(stays).filter(|(_, stays)| *stays).map(|(event, _)| *event).collect();
    let mut keys = keys::unite(&sources);
    if format == Format::Array {
        keys.clear();
    }
    Ok(write::trace(format, &kept, &keys))
}

struct Judge<'e> {
    events: Vec<Fields<'e>>,
    criteria: &'e Criteria,
    start: i64,
    processes: BTreeMap<String, String>,
    threads: BTreeMap<(String, String), String>,
}

#[derive(PartialEq, Eq, Hash)]
enum Bond {
    Stream(StreamKey),
    /// Events of one operation, flow or object: their class, and the field values that they share.
    Group(&'static str, Vec<Value>),
}

impl<'e> Judge<'e> {
    fn new(events: &[&'e str], criteria: &'e Criteria) -> Self {
        let events: Vec<_> = events.iter().map(|e| Fields::parse(e).unwrap_or_default()).collect();
        let mut judge = Judge {
            start: 0,
            events,
            criteria,
            processes: BTreeMap::new(),
            threads: BTreeMap::new(),
        };
        judge.start = start_of_fields(judge.events.iter()).unwrap_or(0);
        for i in 0..judge.events.len() {
            let name = judge.events[i].get("args").and_then(Fields::parse);
            let Some(name) = name.as_ref().and_then(|args| args.get("name")) else { continue };
            let (pid, tid) = (judge.text(i, "pid"), judge.text(i, "tid"));
            if judge.is(i, "ph", "M") && judge.is(i, "name", "process_name") {
                judge.processes.insert(pid, plain(name));
            } else if judge.is(i, "ph", "M") && judge.is(i, "name", "thread_name") {
                judge.threads.insert((pid, tid), plain(name));
            }
        }
        judge
    }

    fn is(&self, event: usize, key: &str, text: &str) -> bool {
        self.events[event].get(key).is_some_and(|value| is_string(value, text))
    }

    /// Returns the content of a string, and any other value as written.
    fn text(&self, event: usize, key: &str) -> String {
        self.events[event].get(key).map_or(String::new(), plain)
    }

    fn ns(&self, event: usize, key: &str) -> Option<i64> {
        self.events[event].get(key).and_then(time).map(|time: Decimal| time.nanos_floor())
    }

    fn all(&self) -> Vec<bool> {
        let mut stays = vec![false; self.events.len()];
        let mut bonds: HashMap<Bond, Vec<usize>> = HashMap::new();
        let mut threads: HashMap<[Value; 2], Vec<usize>> = HashMap::new();
        for (event, stays) in stays.iter_mut().enumerate() {
            if self.is(event, "ph", "M") {
                *stays = true;
            } else if let Some(bond) = self.bond(event) {
                bonds.entry(bond).or_default().push(event);
            } else if self.is(event, "ph", "B") || self.is(event, "ph", "E") {
                let thread = ["pid", "tid"].map(|id| Value::of(self.events[event].get(id)));
                threads.entry(thread).or_default().push(event);
            } else {
                let dur = self.ns(event, "dur").unwrap_or(0).max(0);
                *stays = self.passes(self.fits(event), self.ns(event, "ts"), dur);
            }
        }
        for (bond, members) in Vec::from_iter(bonds) {
            let heads: Vec<usize> =
                members.iter().copied().filter(|&e| self.is(e, "name", "Profile")).collect();
            let speakers = if heads.is_empty() { &members } else { &heads };
            let fits = speakers.iter().any(|&event| self.fits(event));
            let times: Vec<i64> = members.iter().filter_map(|&e| self.ns(e, "ts")).collect();
            let (from, to) = (times.iter().min(), times.iter().max());
            let dur = from.zip(to).map_or(0, |(from, to)| to.saturating_sub(*from));
            let longest = match bond {
                Bond::Group("async", _) => self.pair_async(&members, fits, &mut stays),
                _ => None,
            };
            let passes = self.passes(fits, from.copied(), longest.unwrap_or(dur));
            let is_of_pair = |event: usize| {
                longest.is_some() && ["b", "e", "S", "F"].iter().any(|ph| self.is(event, "ph", ph))
            };
            members.into_iter().filter(|&e| !is_of_pair(e)).for_each(|e| stays[e] = passes);
        }
        for mut events in threads.into_values() {
            events.sort_by_cached_key(|&event| SortKey::of(&self.events[event]));
            self.pair(&events, &mut stays);
        }
        stays
    }

    fn name(&self, event: usize) -> Option<Value> {
        pairing::name(self.events[event].get("name"))
    }

    fn pair(&self, events: &[usize], stays: &mut [bool]) {
        let mut open: Vec<usize> = Vec::new();
        for &event in events {
            if self.is(event, "ph", "B") {
                open.push(event);
                continue;
            }
            let names: Vec<_> = open.iter().map(|&begin| self.name(begin)).collect();
            let begin = pairing::closed_by(&names, &self.name(event));
            let begin = begin.map_or(event, |at| open.remove(at));
            let (from, to) = (self.ns(begin, "ts"), self.ns(event, "ts"));
            let dur = from.zip(to).map_or(0, |(from, to)| to.saturating_sub(from));
            stays[event] = self.passes(self.fits(begin), from, dur);
            stays[begin] = stays[event];
        }
        for begin in open {
            stays[begin] = self.passes(self.fits(begin), self.ns(begin, "ts"), i64::MAX);
        }
    }

    /// Judges each async pair of an id by the time of the pair. Returns the longest duration.
    fn pair_async(&self, events: &[usize], fits: bool, stays: &mut [bool]) -> Option<i64> {
        let mut sorted = events.to_vec();
        sorted.sort_by_cached_key(|&event| SortKey::of(&self.events[event]));
        let (mut open, mut longest) = (Vec::<usize>::new(), None);
        for event in sorted {
            match &*self.text(event, "ph") {
                "b" | "S" => open.push(event),
                "e" | "F" => {
                    let at = open.iter().rposition(|&begin| self.name(begin) == self.name(event));
                    let begin = at.map_or(event, |at| open.remove(at));
                    let (from, to) = (self.ns(begin, "ts"), self.ns(event, "ts"));
                    let dur = from.zip(to).map_or(0, |(from, to)| to.saturating_sub(from));
                    longest = longest.max(Some(dur));
                    stays[event] = self.passes(fits, from, dur);
                    stays[begin] = stays[event];
                }
                _ => {}
            }
        }
        for begin in open {
            longest = Some(i64::MAX);
            stays[begin] = self.passes(fits, self.ns(begin, "ts"), i64::MAX);
        }
        longest
    }

    fn bond(&self, event: usize) -> Option<Bond> {
        let fields = &self.events[event];
        let typed = |key: &str| Value::of(fields.get(key));
        if self.is(event, "name", "Profile") || self.is(event, "name", "ProfileChunk") {
            return Some(Bond::Stream(stream_key(fields)));
        }
        let class = match &*self.text(event, "ph") {
            "b" | "n" | "e" | "S" | "T" | "p" | "F" => "async",
            "s" | "t" | "f" => "flow",
            "N" | "O" | "D" => "object",
            _ => return None,
        };
        let mut key = vec![typed("cat"), typed("scope")];
        if class == "flow" {
            key.push(typed("name"));
        }
        if fields.get("id").is_some() {
            key.push(typed("id"));
            return Some(Bond::Group(class, key));
        }
        let id2 = fields.get("id2")?;
        let parts = Fields::parse(id2).unwrap_or_default();
        match (parts.get("global"), parts.get("local")) {
            (Some(global), _) => key.push(Value::of(Some(global))),
            (None, Some(local)) => {
                key.extend([Value::of(Some(local)), Value::of(None), typed("pid")]);
            }
            (None, None) => key.push(Value::of(Some(id2))),
        }
        Some(Bond::Group(class, key))
    }

    /// Returns whether an event's own fields, and the names of its thread, match.
    fn fits(&self, event: usize) -> bool {
        let of = |key: &str| self.text(event, key);
        let wants = |list: &[String], text: &str| list.is_empty() || list.iter().any(|t| t == text);
        let part = |list: &[String], name: Option<&String>| {
            list.is_empty()
                || name.is_some_and(|name| list.iter().any(|t| name.contains(t.as_str())))
        };
        let wanted = self.criteria;
        let (pid, tid) = (of("pid"), of("tid"));
        wants(&wanted.pid, &pid)
            && wants(&wanted.tid, &tid)
            && part(&wanted.process, self.processes.get(&pid).filter(|name| !name.is_empty()))
            && part(&wanted.thread, self.threads.get(&(pid, tid)).filter(|name| !name.is_empty()))
            && (wanted.ph.is_empty() || wanted.ph.iter().any(|ph| self.is(event, "ph", ph)))
            && (wanted.cat.is_empty() || of("cat").split(',').any(|cat| wants(&wanted.cat, cat)))
            && part(&wanted.name, Some(&of("name")))
    }

    fn passes(&self, fits: bool, from: Option<i64>, dur: i64) -> bool {
        let wanted = self.criteria;
        let at = |(absolute, ns): (bool, i64)| if absolute { ns } else { self.start + ns };
        let ends = |limit| from.is_some_and(|f| f >= limit || f.saturating_add(dur.max(0)) > limit);
        let passes = fits
            && wanted.min_dur.is_none_or(|least| dur >= least)
            && wanted.max_dur.is_none_or(|most| dur <= most)
            && wanted.from.map(at).is_none_or(ends)
            && wanted.to.map(at).is_none_or(|limit| from.is_some_and(|from| from < limit));
        passes != wanted.invert
    }
}

fn plain(value: &str) -> String {
    match unescape(value) {
        // each byte of invalid UTF-8 becomes one character
        Some(content) => String::from_utf8(content)
            .unwrap_or_else(|e| e.as_bytes().iter().map(|&byte| char::from(byte)).collect()),
        None => value.to_owned(),
    }
}
