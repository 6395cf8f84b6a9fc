//! What a recording is told by: processes with their names, threads and times, and the ranges of its ids.
//!
//! Made on the scan's workers, a few nanoseconds an event: (pid, tid) pairs are looked up by their spelling in a small
//! table of those seen last. Memory grows with the threads, not with the events or ids.
//!
//! Times are known by a sample: of each process the [`SAMPLE`] events whose places have the least hashes. That is the
//! same however the input was cut, and tells where most of its events are though some few begin long before they are
//! written, as in every log that is written when things end.

use super::spelling::{IdRanges, append_each};
use super::{each_args_key, each_id};
use std::sync::Arc;
use tracemill_cpuprofile::push_canonical;
use tracemill_tokenizer::{Event, Field, unescape};
use tracemill_trace::event::metadata::{MetadataEvent, MetadataKind};
use tracemill_trace::spill::hash::{HashMap, HashSet, mix};
use tracemill_trace::store::direct_mapped::{DirectMappedCache, SmallKey};

/// Times kept of each process.
const SAMPLE: usize = 64;
/// One of this many at either end is left out of where most events are.
const OUTER: usize = 16;

/// A value in a form that is the same for equal values of one type: `10` and `"10"` are different.
pub(crate) type CanonicalId = Vec<u8>;

/// Returns the key of a value; that of a missing value is empty.
pub fn key_of(value: Option<&[u8]>) -> CanonicalId {
    let mut key = Vec::new();
    push_canonical(value, &mut key);
    key
}

/// Which ids are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdFilter {
    /// Names of `--args-key`.
    pub(crate) args_keys: Vec<Vec<u8>>,
}

/// Times of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessTimes {
    /// Hashes, ascending, and times.
    sample: Vec<(u64, i64)>,
    /// The greatest hash in a sample that is full.
    limit: Option<u64>,
    /// Where most events are, once the sample is complete; it is dropped then.
    bulk: TypicalRange,
}

impl ProcessTimes {
    #[inline]
    fn note(&mut self, hash: u64, time: i64) {
        if self.limit.is_none_or(|limit| hash < limit) {
            self.take(hash, time);
        }
    }

    fn take(&mut self, hash: u64, time: i64) {
        match self.sample.binary_search_by_key(&hash, |&(hash, _)| hash) {
            Ok(at) => self.sample[at].1 = time,
            Err(at) => self.sample.insert(at, (hash, time)),
        }
        self.sample.truncate(SAMPLE);
        if self.sample.len() == SAMPLE {
            self.limit = self.sample.last().map(|&(hash, _)| hash);
        }
    }

    /// Where most events are.
    pub(crate) fn bulk(&self) -> TypicalRange {
        if self.sample.is_empty() {
            return self.bulk;
        }
        let mut times: Vec<i64> = self.sample.iter().map(|&(_, time)| time).collect();
        times.sort_unstable();
        let outer = times.len() / OUTER;
        Some((*times.get(outer)?, times[times.len() - 1 - outer]))
    }

    /// Leaves what the bulk is told by.
    fn finish(&mut self) {
        self.bulk = self.bulk();
        self.sample = Vec::new();
    }
}

/// The first and last time of most events, if there are any.
pub(crate) type TypicalRange = Option<(i64, i64)>;

/// Whether the events of two processes are at different times.
pub(super) fn are_apart(a: TypicalRange, b: TypicalRange) -> bool {
    match (a, b) {
        // two that are one moment are one, not one behind the other
        (Some(a), Some(b)) => a != b && (a.1 <= b.0 || b.1 <= a.0),
        _ => true,
    }
}

/// A process of an input.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputProcess {
    /// `pid` as written first.
    pub(crate) written: Vec<u8>,
    /// From its last `process_name` event.
    pub(crate) name: Option<Vec<u8>>,
    /// From its last `process_labels` event: what tells it from others of its name, such as `GPU 0`.
    pub(crate) labels: Option<Vec<u8>>,
    /// Threads with events that are no metadata.
    pub(crate) threads: Vec<CanonicalId>,
    pub(crate) times: ProcessTimes,
}

/// What a metadata event calls a process.
pub(super) enum ProcessName {
    Name(Vec<u8>),
    Labels(Vec<u8>),
}

/// The processes of an input, and its ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes {
    /// By key, once the input has been read.
    pub(crate) by_pid: Vec<(CanonicalId, InputProcess)>,
    /// Where those stand, while it is read.
    numbers: HashMap<CanonicalId, usize>,
    /// Threads that they have already, by the number of the process, while it is read.
    known_threads: HashSet<(usize, CanonicalId)>,
    /// Ranges of ids: first those of the `id` fields, then those of each `--args-key`.
    pub(crate) ids: Vec<IdRanges>,
}

impl Processes {
    /// Takes over what a later part of the same input has.
    pub(crate) fn append(&mut self, findings: ProcessFindings) {
        let ProcessFindings { spellings, names, times, ids, .. } = findings;
        for spelling in spellings {
            let number = self.number(&spelling.pid);
            let thread = (number, key_of(spelling.tid.as_deref()));
            if spelling.is_thread && !self.known_threads.contains(&thread) {
                self.by_pid[number].1.threads.push(thread.1.clone());
                self.known_threads.insert(thread);
            }
        }
        for (pid, named) in names {
            let number = self.number(&pid);
            let process = &mut self.by_pid[number].1;
            match named {
                ProcessName::Name(name) => process.name = Some(name),
                ProcessName::Labels(labels) => process.labels = Some(labels),
            }
        }
        for (pid, times) in times {
            let number = self.number(&pid);
            let own = &mut self.by_pid[number].1.times;
            times.sample.into_iter().for_each(|(hash, time)| own.note(hash, time));
        }
        append_each(&mut self.ids, &ids);
    }

    /// Bytes of heap, about.
    pub(crate) fn heap(&self) -> u64 {
        /// Bytes of the texts of a process, with what the allocator adds; a thread has half of that in its list, and half in
        /// the set.
        const TEXTS: usize = 96;
        let processes = self.by_pid.capacity() * (size_of::<(CanonicalId, InputProcess)>() + TEXTS)
            + self.numbers.capacity() * (size_of::<(CanonicalId, usize)>() + TEXTS / 2)
            + self.known_threads.capacity()
                * (size_of::<(usize, CanonicalId)>() + size_of::<CanonicalId>() + TEXTS / 2);
        processes as u64
    }

    /// The input has been read: leaves what decisions need of it, since there may be thousands.
    pub(crate) fn finish(&mut self) {
        self.numbers = HashMap::default();
        self.known_threads = HashSet::default();
        self.by_pid.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        self.by_pid.shrink_to_fit();
        for (_, process) in &mut self.by_pid {
            process.threads.sort_unstable();
            process.threads.shrink_to_fit();
            process.times.finish();
        }
    }

    /// Moves the times of all, by what keeps their order; the input has been read.
    pub(crate) fn move_times(&mut self, new: impl Fn(i64) -> i64) {
        for (_, process) in &mut self.by_pid {
            process.times.bulk = process.times.bulk.map(|(first, last)| (new(first), new(last)));
        }
    }

    /// The number of a process, in the order of their first events.
    fn number(&mut self, written: &[u8]) -> usize {
        let key = key_of(Some(written));
        *self.numbers.entry(key).or_insert_with_key(|key| {
            let process = InputProcess { written: written.to_owned(), ..InputProcess::default() };
            self.by_pid.push((key.clone(), process));
            self.by_pid.len() - 1
        })
    }
}

/// Events of one pid and tid, as they are spelled.
#[derive(Clone, Debug)]
struct ThreadSpelling {
    pid: Vec<u8>,
    tid: Option<Vec<u8>>,
    /// Whether any is no metadata event.
    is_thread: bool,
    /// The number of its pid's times.
    times: usize,
}

/// The findings in a chunk of an input.
pub struct ProcessFindings {
    watched: Arc<IdFilter>,
    spellings: Vec<ThreadSpelling>,
    by_spelling: HashMap<(Vec<u8>, Option<Vec<u8>>), usize>,
    recent: DirectMappedCache,
    /// In the order of the events.
    names: Vec<(Vec<u8>, ProcessName)>,
    times: Vec<(Vec<u8>, ProcessTimes)>,
    /// Where the times of a pid stand, by its spelling.
    by_pid: HashMap<Vec<u8>, usize>,
    ids: Vec<IdRanges>,
}

impl ProcessFindings {
    pub(crate) fn new(watched: Arc<IdFilter>) -> Self {
        let ids = vec![IdRanges::default(); 1 + watched.args_keys.len()];
        ProcessFindings {
            watched,
            spellings: Vec::new(),
            by_spelling: HashMap::default(),
            recent: DirectMappedCache::default(),
            names: Vec::new(),
            times: Vec::new(),
            by_pid: HashMap::default(),
            ids,
        }
    }

    /// Looks at an event; `time` is that of one that is neither metadata nor without a time.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, time: Option<i64>) {
        let phase = event.phase();
        if let Some(pid) = event.field(Field::Pid) {
            let at = self.spelling(pid, event.field(Field::Tid));
            self.note_spelling(event, phase, time, at);
        }
        self.note_ids(event, phase);
    }

    #[inline]
    fn note_ids(&mut self, event: &Event<'_>, phase: u8) {
        let ids = &mut self.ids;
        each_id(event, phase, |id| ids[0].note(id));
        each_args_key(event, &self.watched.args_keys, |key, id| ids[1 + key].note(id));
    }

    #[inline]
    fn note_spelling(&mut self, event: &Event<'_>, phase: u8, time: Option<i64>, at: usize) {
        let spelling = &mut self.spellings[at];
        if let Some(time) = time {
            spelling.is_thread = true;
            self.times[spelling.times].1.note(mix(event.offset, 0), time);
        } else if phase == b'M' {
            self.note_name(event);
        } else {
            spelling.is_thread = true;
        }
    }

    #[inline]
    fn spelling(&mut self, pid: &[u8], tid: Option<&[u8]>) -> usize {
        let words = SmallKey::of(pid, tid.unwrap_or_default());
        if let Some(at) = words.and_then(|words| self.recent.get(words)) {
            return at;
        }
        let at = self.find_spelling(pid, tid);
        words.into_iter().for_each(|words| self.recent.put(words, at));
        at
    }

    #[inline(never)]
    fn find_spelling(&mut self, pid: &[u8], tid: Option<&[u8]>) -> usize {
        let spelling = (pid.to_owned(), tid.map(<[u8]>::to_owned));
        if let Some(&at) = self.by_spelling.get(&spelling) {
            return at;
        }
        let times = *self.by_pid.entry(pid.to_owned()).or_insert_with(|| {
            self.times.push((pid.to_owned(), ProcessTimes::default()));
            self.times.len() - 1
        });
        let (pid, tid) = spelling.clone();
        self.spellings.push(ThreadSpelling { pid, tid, is_thread: false, times });
        self.by_spelling.insert(spelling, self.spellings.len() - 1);
        self.spellings.len() - 1
    }

    fn note_name(&mut self, event: &Event<'_>) {
        let Some(pid) = event.field(Field::Pid) else { return };
        let Some(MetadataEvent { kind, value: Some([b'"', content @ .., b'"']) }) =
            MetadataEvent::of(event)
        else {
            return;
        };
        let mut text = Vec::new();
        unescape(content, &mut text);
        let named = match kind {
            MetadataKind::ProcessName => ProcessName::Name(text),
            MetadataKind::ProcessLabels => ProcessName::Labels(text),
            _ => return,
        };
        self.names.push((pid.to_owned(), named));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    fn findings(events: &[(&str, u64, Option<i64>)]) -> Processes {
        let mut processes = Processes::default();
        for &(event, _, time) in events {
            // each event is a part of its own
            let mut findings = ProcessFindings::new(Arc::default());
            findings.note(&fields_of(event.as_bytes()).of(event.as_bytes()), time);
            processes.append(findings);
        }
        processes.finish();
        processes
    }

    #[test]
    fn processes_are_known_by_type_and_value() {
        let all = findings(&[
            (r#"{"ph":"M","name":"process_name","pid":10,"args":{"name":"a\u0062"}}"#, 0, None),
            (r#"{"ph":"X","pid":1e1,"tid":2}"#, 1, Some(5)),
            (r#"{"ph":"X","pid":"10","tid":3}"#, 2, Some(6)),
            (r#"{"ph":"X","pid":10}"#, 3, None),
            (r#"{"ph":"X"}"#, 4, Some(1)),
        ]);
        let keys = [key_of(Some(b"\"10\"")), key_of(Some(b"10"))];
        assert!(all.by_pid.iter().map(|(key, _)| key).eq(&keys));
        let [(_, text), (_, number)] = &all.by_pid[..] else { panic!("two") };
        assert_eq!(number.name.as_deref(), Some(&b"ab"[..]));
        assert_eq!((number.threads.len(), number.times.bulk()), (2, Some((5, 5))));
        assert_eq!(text.threads.len(), 1);
    }

    #[test]
    fn most_events_decide_on_times() {
        let times = |range: std::ops::Range<i64>, early: i64| {
            let mut times = ProcessTimes::default();
            range.clone().for_each(|time| times.note(mix(time as u64, 0), time));
            times.note(mix(77_777, 0), early);
            times
        };
        let (first, second) = (times(0..10_000, 0), times(10_000..30_000, 3));
        assert_eq!(second.sample.len(), SAMPLE);
        let apart = |a: &ProcessTimes, b: &ProcessTimes| are_apart(a.bulk(), b.bulk());
        assert!(apart(&first, &second) && apart(&second, &first));
        assert!(!apart(&first, &times(5_000..30_000, 5_000)));
        assert!(!apart(&first, &first));
        let mut moment = ProcessTimes::default();
        moment.note(1, 7);
        assert!(!apart(&moment, &moment));
    }
}
