//! `info`: what is in a trace, in one pass and memory bounded by its threads, not its events.

use crate::config::{Config, Source};
use crate::error::Error;
use crate::index::{Document, KeyValue, append_documents, note_member};
use crate::profile::{Names, Role, StreamKey, printable, stream_key};
use crate::read::{Current, Facts, Reader, read_all};
use crate::report::{InfoReport, ProcessInfo, ProfileCount, ThreadInfo};
use crate::scan::Collect;
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use tracemill_tokenizer::{
    Damage, Event, Field, Form, Member, Nanos, Note, Sink, compare, number_text,
};

/// Counts what is in `sources`, taken together.
///
/// # Errors
/// As [`crate::merge()`], but for the output.
pub fn info(sources: &[Source], config: &Config) -> Result<InfoReport, Error> {
    config.check()?;
    let mut census = Census::default();
    let inputs = read_all(sources, config, &mut census)?;
    let mut report = census.report();
    report.inputs = inputs.reports;
    report.warnings = inputs.warnings;
    Ok(report)
}

/// (pid, tid) as written; empty where missing.
type Lane = (Vec<u8>, Vec<u8>);

/// The place of an event in the order of contract C3, without the bytes it came from.
#[derive(Clone, Debug)]
struct Rank {
    /// 0 metadata, 1 untimed, 2 timed.
    class: u8,
    ts: Number,
    dur: Number,
}

/// A number: its nanoseconds and, where those are not all, its text.
#[derive(Clone, Debug)]
struct Number {
    nanos: Nanos,
    text: Vec<u8>,
}

impl Number {
    const ZERO: Number = Number { nanos: Nanos { floor: 0, exact: true }, text: Vec::new() };

    fn of(event: &Event<'_>, field: Field, nanos: Option<Nanos>) -> Self {
        let Some(nanos) = nanos else { return Number::ZERO };
        let mut text = Vec::new();
        if !nanos.exact {
            let mut scratch = Vec::new();
            let value = event.field(field).and_then(|value| number_text(value, &mut scratch));
            text.extend_from_slice(value.unwrap_or(b"0"));
        }
        Number { nanos, text }
    }

    fn compare(&self, other: &Number) -> Ordering {
        let floors = self.nanos.floor.cmp(&other.nanos.floor);
        floors.then_with(|| match (self.nanos.exact, other.nanos.exact) {
            (true, true) => Ordering::Equal,
            (false, false) => compare(&self.text, &other.text),
            // of one floor, the number with a rest is the greater one; beyond the range the sign decides
            (true, false) if other.nanos.floor > -Nanos::MAX => Ordering::Less,
            (false, true) if self.nanos.floor > -Nanos::MAX => Ordering::Greater,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
        })
    }
}

impl Rank {
    /// Whether an event of rank `next` may follow one of this rank.
    fn precedes(&self, next: &Rank) -> bool {
        let by_class = self.class.cmp(&next.class);
        let by_time = by_class.then_with(|| match self.class {
            2 => self.ts.compare(&next.ts).then_with(|| next.dur.compare(&self.dur)),
            _ => Ordering::Equal,
        });
        by_time.is_le()
    }
}

/// What is known of the events of some stretch of the input.
#[derive(Default)]
struct Census {
    facts: Facts,
    bytes: u64,
    metadata: u64,
    untimed: u64,
    bounds: Option<(i64, i64)>,
    inversions: u64,
    first: Option<Rank>,
    last: Option<Rank>,
    phases: HashMap<Vec<u8>, u64>,
    lanes: HashMap<Lane, usize>,
    lane_events: Vec<u64>,
    /// The lane of the last event, which is most often that of the next one.
    lane: Option<(Lane, usize)>,
    names: Names,
    /// CPU profiles, and their numbers by key.
    profiles: Vec<(StreamKey, ProfileCount)>,
    profile_numbers: HashMap<StreamKey, usize>,
    keys: Vec<KeyValue>,
    documents: Vec<Document>,
}

impl Census {
    fn count_lane(&mut self, event: &Event<'_>) {
        let pid = event.field(Field::Pid).unwrap_or_default();
        let tid = event.field(Field::Tid).unwrap_or_default();
        if let Some(((last_pid, last_tid), lane)) = &self.lane
            && last_pid == pid
            && last_tid == tid
        {
            self.lane_events[*lane] += 1;
            return;
        }
        let key = (pid.to_vec(), tid.to_vec());
        let next = self.lane_events.len();
        let lane = *self.lanes.entry(key.clone()).or_insert(next);
        if lane == next {
            self.lane_events.push(0);
        }
        self.lane_events[lane] += 1;
        self.lane = Some((key, lane));
    }

    #[cold]
    fn note_profile(&mut self, event: &Event<'_>, role: Role) {
        let tid = event.field(Field::Tid).unwrap_or_default();
        let mut key = stream_key(event);
        if role == Role::Whole {
            // each is a profile of its own, as far as the thread tells
            key.extend_from_slice(tid);
        }
        let field = |field| event.field(field).map_or(String::new(), as_written);
        let own = self.profile(key, || ProfileCount {
            pid: field(Field::Pid),
            id: event
                .field(Field::Id)
                .or(event.field(Field::Id2))
                .map_or(String::new(), as_written),
            ..ProfileCount::default()
        });
        own.chunks += u64::from(role != Role::Head);
        own.bytes += event.bytes.len() as u64;
        if role != Role::Chunk {
            own.tid = as_written(tid);
        }
    }

    fn profile(&mut self, key: StreamKey, new: impl FnOnce() -> ProfileCount) -> &mut ProfileCount {
        let number = match self.profile_numbers.get(&key) {
            Some(&number) => number,
            None => {
                self.profile_numbers.insert(key.clone(), self.profiles.len());
                self.profiles.push((key, new()));
                self.profiles.len() - 1
            }
        };
        &mut self.profiles[number].1
    }

    fn note_order(&mut self, class: u8, event: &Event<'_>, ts: Option<Nanos>, dur: Option<Nanos>) {
        let timed = class == 2;
        let rank = Rank {
            class,
            ts: Number::of(event, Field::Ts, ts.filter(|_| timed)),
            dur: Number::of(event, Field::Dur, dur.filter(|_| timed)),
        };
        match &self.last {
            Some(last) => self.inversions += u64::from(!last.precedes(&rank)),
            None => self.first = Some(rank.clone()),
        }
        self.last = Some(rank);
    }

    /// Adds what a later stretch has.
    fn append(&mut self, later: Census) {
        self.facts.events += later.facts.events;
        self.bytes += later.bytes;
        self.metadata += later.metadata;
        self.untimed += later.untimed;
        self.bounds = match (self.bounds, later.bounds) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (a, b) => a.or(b),
        };
        let seam = match (&self.last, &later.first) {
            (Some(last), Some(first)) => !last.precedes(first),
            _ => false,
        };
        self.inversions += later.inversions + u64::from(seam);
        self.first = self.first.take().or(later.first);
        self.last = later.last.or(self.last.take());
        #[expect(clippy::iter_over_hash_type, reason = "sums do not depend on the order")]
        for (phase, count) in later.phases {
            *self.phases.entry(phase).or_default() += count;
        }
        #[expect(clippy::iter_over_hash_type, reason = "the report sorts lanes")]
        for (key, lane) in later.lanes {
            let next = self.lane_events.len();
            let own = *self.lanes.entry(key).or_insert(next);
            if own == next {
                self.lane_events.push(0);
            }
            self.lane_events[own] += later.lane_events[lane];
        }
        for (key, count) in later.profiles {
            let ProfileCount { pid, tid, id, chunks, bytes } = count;
            let own = self.profile(key, || ProfileCount { pid, id, ..ProfileCount::default() });
            own.chunks += chunks;
            own.bytes += bytes;
            if !tid.is_empty() {
                own.tid = tid;
            }
        }
        self.names.append(later.names);
        append_documents(&mut self.documents, later.keys, later.documents);
    }

    fn report(self) -> InfoReport {
        let mut phases: Vec<(String, u64)> = self
            .phases
            .iter()
            .map(|(phase, &count)| (printable_or(phase, "none"), count))
            .collect();
        phases.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut keys: Vec<String> = Vec::new();
        for key in self.documents.iter().flat_map(|document| &document.keys) {
            let name = printable(&key.key);
            if !keys.contains(&name) {
                keys.push(name);
            }
        }
        InfoReport {
            inputs: Vec::new(),
            warnings: Vec::new(),
            events: self.facts.events,
            event_bytes: self.bytes,
            metadata: self.metadata,
            untimed: self.untimed,
            start_ns: self.bounds.map(|bounds| bounds.0),
            end_ns: self.bounds.map(|bounds| bounds.1),
            sorted: self.inversions == 0,
            inversions: self.inversions,
            phases,
            processes: self.processes(),
            profiles: self.profiles.into_iter().map(|(_, count)| count).collect(),
            keys,
        }
    }

    fn processes(&self) -> Vec<ProcessInfo> {
        let mut lanes: Vec<(&Lane, u64)> =
            self.lanes.iter().map(|(lane, &index)| (lane, self.lane_events[index])).collect();
        lanes.sort();
        let mut processes: Vec<(&[u8], ProcessInfo)> = Vec::new();
        for (lane, events) in lanes {
            if processes.last().is_none_or(|(pid, _)| *pid != lane.0) {
                let name = self.names.process(&lane.0);
                let process =
                    ProcessInfo { pid: as_written(&lane.0), name, ..ProcessInfo::default() };
                processes.push((&lane.0, process));
            }
            let Some((_, process)) = processes.last_mut() else { continue };
            process.events += events;
            let name = self.names.thread(&lane.0, &lane.1);
            process.threads.push(ThreadInfo { tid: as_written(&lane.1), name, events });
        }
        let mut processes: Vec<ProcessInfo> = processes.into_iter().map(|(_, p)| p).collect();
        processes.sort_by_key(|process| Reverse(process.events));
        for process in &mut processes {
            process.threads.sort_by_key(|thread| Reverse(thread.events));
        }
        processes
    }
}

fn as_written(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

fn printable_or(value: &[u8], missing: &str) -> String {
    if value.is_empty() { missing.to_owned() } else { printable(value) }
}

impl Sink for Census {
    fn event(&mut self, event: &Event<'_>) {
        self.facts.events += 1;
        self.bytes += event.bytes.len() as u64;
        let phase = event.field(Field::Ph).unwrap_or_default();
        match self.phases.get_mut(phase) {
            Some(count) => *count += 1,
            None => {
                self.phases.insert(phase.to_vec(), 1);
            }
        }
        self.count_lane(event);
        let (ts, dur) = (event.ts(), event.dur());
        let class = match ts {
            _ if event.is_metadata() => 0,
            None => 1,
            Some(_) => 2,
        };
        match (class, ts) {
            (0, _) => {
                self.metadata += 1;
                self.names.note(event);
            }
            (2, Some(ts)) => {
                let end = ts.floor.saturating_add(dur.map_or(0, |dur| dur.floor.max(0)));
                let bounds = self.bounds.unwrap_or((ts.floor, end));
                self.bounds = Some((bounds.0.min(ts.floor), bounds.1.max(end)));
            }
            _ => self.untimed += 1,
        }
        if let Some(role) = Role::of(event)
            && class > 0
        {
            self.note_profile(event, role);
        }
        self.note_order(class, event, ts, dur);
    }

    fn document(&mut self, form: Form) {
        self.documents.push(Document { form, keys: Vec::new() });
    }

    fn member(&mut self, member: Member<'_>) {
        note_member(&mut self.documents, &mut self.keys, member, 0);
    }

    fn damage(&mut self, damage: Damage<'_>) {
        self.facts.losses.add(&damage);
    }

    fn note(&mut self, note: Note, _offset: u64) {
        self.facts.note(note);
    }
}

impl Collect for Census {}

impl Reader for Census {
    type Part = Census;

    fn part(_base: u64, _bytes: usize) -> Census {
        Census::default()
    }

    fn facts(part: &Census) -> &Facts {
        &part.facts
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    const KEEPS_STREAMS: bool = false;

    fn take(&mut self, part: Census, _base: u64, _current: Current<'_>) -> Result<(), Error> {
        self.append(part);
        Ok(())
    }
}
