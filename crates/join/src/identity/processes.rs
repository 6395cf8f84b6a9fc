//! Fingerprint of a recording: processes with their names, threads and times, and ranges of ids.
//!
//! Scan workers collect the fingerprint at a few nanoseconds per event: most events are of the last
//! thread, and a small cache maps (pid, tid) pairs as written to their entries. Memory grows with threads, not
//! with events or ids, except for the offsets of values.
//!
//! Times are sampled: the [`SAMPLE`] events of each process whose offsets have the smallest hashes.
//! The sample does not depend on how the input was divided into chunks. It shows when most events
//! happen, even if a few slices begin long before they are written at their end.

use super::last_thread::LastThread;
use super::offsets::{IdOffset, IdOffsets};
use super::spelling::{IdRanges, append_each};
use super::{each_args_key, each_id, each_pid, has_ids, names_processes};
use std::sync::Arc;
use tracemill_cpuprofile::push_canonical;
use tracemill_tokenizer::{Event, Field, unescape};
use tracemill_trace::event::metadata::{MetadataEvent, MetadataKind};
use tracemill_trace::run::memory::Lease;
use tracemill_trace::spill::hash::{HashMap, HashSet, mix};
use tracemill_trace::store::direct_mapped::{DirectMappedCache, SmallKey};

/// Number of sampled times per process.
const SAMPLE: usize = 64;
/// The typical range omits one of this many samples at each end.
const OUTER: usize = 16;

/// Canonical form of a value: equal for equal values of one type; `10` and `"10"` differ.
pub(crate) type CanonicalId = Vec<u8>;

/// Returns the key of a value; empty for a missing value.
pub fn key_of(value: Option<&[u8]>) -> CanonicalId {
    let mut key = Vec::new();
    push_canonical(value, &mut key);
    key
}

#[derive(Clone, Debug, Default)]
pub(crate) struct IdFilter {
    /// Names of `--args-key`.
    pub(crate) args_keys: Vec<Vec<u8>>,
    /// Memory for the offsets of pids and ids, if they are needed.
    pub(crate) offsets: Option<Lease>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessTimes {
    /// Hashes of events, ascending, each with the time of its event.
    sample: Vec<(u64, i64)>,
    /// The greatest hash, once the sample is full.
    limit: Option<u64>,
    /// The typical range, set when the complete sample is dropped.
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

    pub(crate) fn bulk(&self) -> TypicalRange {
        if self.sample.is_empty() {
            return self.bulk;
        }
        let mut times: Vec<i64> = self.sample.iter().map(|&(_, time)| time).collect();
        times.sort_unstable();
        let outer = times.len() / OUTER;
        Some((*times.get(outer)?, times[times.len() - 1 - outer]))
    }

    /// Replaces the sample by its typical range.
    fn finish(&mut self) {
        self.bulk = self.bulk();
        self.sample = Vec::new();
    }
}

/// First and last time of most events, if there are any.
pub(crate) type TypicalRange = Option<(i64, i64)>;

/// Returns whether the events of two processes do not overlap in time.
pub(super) fn are_apart(a: TypicalRange, b: TypicalRange) -> bool {
    match (a, b) {
        // two equal instants overlap
        (Some(a), Some(b)) => a != b && (a.1 <= b.0 || b.1 <= a.0),
        _ => true,
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct InputProcess {
    /// `pid` as written first.
    pub(crate) written: Vec<u8>,
    /// Name in the last `process_name` event.
    pub(crate) name: Option<Vec<u8>>,
    /// Labels in the last `process_labels` event, such as `GPU 0`.
    pub(crate) labels: Option<Vec<u8>>,
    /// Threads with events other than metadata.
    pub(crate) threads: Vec<CanonicalId>,
    pub(crate) times: ProcessTimes,
}

pub(super) enum ProcessName {
    Name(Vec<u8>),
    Labels(Vec<u8>),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Processes {
    /// Processes, sorted by key once the input has been read.
    pub(crate) by_pid: Vec<(CanonicalId, InputProcess)>,
    /// Index of each process in `by_pid`, during the scan.
    numbers: HashMap<CanonicalId, usize>,
    /// Known pairs of process index and thread, during the scan.
    known_threads: HashSet<(usize, CanonicalId)>,
    /// Ranges of ids: first those of the `id` fields, then those of each `--args-key`.
    pub(crate) ids: Vec<IdRanges>,
    /// Where pids and ids are.
    pub(super) offsets: IdOffsets,
}

impl Processes {
    /// Appends the findings of the next chunk. `others` is the number of bytes of offsets in other
    /// inputs.
    pub(crate) fn append(&mut self, findings: ProcessFindings, others: u64) {
        let ProcessFindings { spellings, names, times, ids, offsets, .. } = findings;
        self.offsets.append(&offsets, others);
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
            let process_times = &mut self.by_pid[number].1.times;
            times.sample.into_iter().for_each(|(hash, time)| process_times.note(hash, time));
        }
        append_each(&mut self.ids, &ids);
    }

    pub(crate) fn heap(&self) -> u64 {
        /// Estimated bytes of texts and allocator overhead per process; a thread takes half of that
        /// twice.
        const TEXTS: usize = 96;
        let processes = self.by_pid.capacity() * (size_of::<(CanonicalId, InputProcess)>() + TEXTS)
            + self.numbers.capacity() * (size_of::<(CanonicalId, usize)>() + TEXTS / 2)
            + self.known_threads.capacity()
                * (size_of::<(usize, CanonicalId)>() + size_of::<CanonicalId>() + TEXTS / 2);
        processes as u64
    }

    /// Drops everything not needed for decisions, because there may be thousands of inputs.
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

    /// Maps the times of all processes by a monotonic function, after the scan.
    pub(crate) fn move_times(&mut self, new: impl Fn(i64) -> i64) {
        for (_, process) in &mut self.by_pid {
            process.times.bulk = process.times.bulk.map(|(first, last)| (new(first), new(last)));
        }
    }

    fn number(&mut self, written: &[u8]) -> usize {
        let key = key_of(Some(written));
        *self.numbers.entry(key).or_insert_with_key(|key| {
            let process = InputProcess { written: written.to_owned(), ..InputProcess::default() };
            self.by_pid.push((key.clone(), process));
            self.by_pid.len() - 1
        })
    }
}

#[derive(Clone, Debug)]
struct ThreadSpelling {
    pid: Vec<u8>,
    tid: Option<Vec<u8>>,
    /// Whether any of the events is not metadata.
    is_thread: bool,
    /// Index in `times` of the times of the pid.
    times: usize,
}

/// Processes, threads, times and ids found in one chunk of an input.
pub struct ProcessFindings {
    watched: Arc<IdFilter>,
    spellings: Vec<ThreadSpelling>,
    by_spelling: HashMap<(Vec<u8>, Option<Vec<u8>>), usize>,
    recent: DirectMappedCache,
    last: LastThread,
    /// Names and labels in the order of their events.
    names: Vec<(Vec<u8>, ProcessName)>,
    times: Vec<(Vec<u8>, ProcessTimes)>,
    /// Index in `times` for each pid as written.
    by_pid: HashMap<Vec<u8>, usize>,
    ids: Vec<IdRanges>,
    offsets: IdOffsets,
    /// The values of an event, until they are sorted.
    unsorted: Vec<IdOffset>,
}

impl ProcessFindings {
    pub(crate) fn new(watched: Arc<IdFilter>) -> Self {
        let ids = vec![IdRanges::default(); 1 + watched.args_keys.len()];
        let offsets = IdOffsets::new(watched.offsets.as_ref());
        ProcessFindings {
            watched,
            spellings: Vec::new(),
            by_spelling: HashMap::default(),
            recent: DirectMappedCache::default(),
            last: LastThread::default(),
            names: Vec::new(),
            times: Vec::new(),
            by_pid: HashMap::default(),
            ids,
            offsets,
            unsorted: Vec::new(),
        }
    }

    /// Observes an event; `time` is `None` for metadata and for events without a time.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, time: Option<i64>) {
        let pid = event.field_and_rest(Field::Pid);
        if let Some(pid) = pid {
            let at = self.spelling(event, pid);
            self.note_spelling(event, time, at);
        }
        if has_ids(event) || names_processes(event) {
            self.note_values(event, pid);
        } else if let Some(pid) = pid {
            self.offsets.push(IdOffset { offset: offset_of(event, pid), is_id: false });
        }
        each_args_key(event, &self.watched.args_keys, |key, id| self.ids[1 + key].note(id));
    }

    #[inline(never)]
    fn note_values(&mut self, event: &Event<'_>, pid: Option<&[u8]>) {
        let ProcessFindings { ids, offsets, unsorted, .. } = self;
        each_id(event, |id| {
            ids[0].note(id);
            unsorted.push(IdOffset { offset: offset_of(event, id), is_id: true });
        });
        let pid_at = |pid| IdOffset { offset: offset_of(event, pid), is_id: false };
        match names_processes(event) {
            true => each_pid(event, |pid| unsorted.push(pid_at(pid))),
            false => unsorted.extend(pid.map(pid_at)),
        }
        offsets.push_all(unsorted);
    }

    #[inline]
    fn note_spelling(&mut self, event: &Event<'_>, time: Option<i64>, at: usize) {
        let spelling = &mut self.spellings[at];
        if let Some(time) = time {
            spelling.is_thread = true;
            self.times[spelling.times].1.note(mix(event.offset, 0), time);
        } else if event.is_metadata() {
            self.note_name(event);
        } else {
            spelling.is_thread = true;
        }
    }

    /// Returns the number of the spelling of an event's thread. `pid` is the value with the rest of
    /// the event.
    #[inline]
    fn spelling(&mut self, event: &Event<'_>, pid: &[u8]) -> usize {
        let tid = event.field_and_rest(Field::Tid).unwrap_or_default();
        self.last.get(pid, tid).unwrap_or_else(|| {
            let at = self.other_spelling(event);
            self.last.set(pid, tid, at);
            at
        })
    }

    #[inline(never)]
    fn other_spelling(&mut self, event: &Event<'_>) -> usize {
        let (pid, tid) = (event.field(Field::Pid).unwrap_or_default(), event.field(Field::Tid));
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

/// Returns the offset in the input of a value of an event.
#[inline]
fn offset_of(event: &Event<'_>, value: &[u8]) -> u64 {
    event.offset + (value.as_ptr() as usize - event.bytes.as_ptr() as usize) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    fn findings(events: &[(&str, u64, Option<i64>)]) -> Processes {
        let mut processes = Processes::default();
        for &(event, _, time) in events {
            // each event comes in its own chunk
            let mut findings = ProcessFindings::new(Arc::default());
            findings.note(&fields_of(event.as_bytes()).of(event.as_bytes()), time);
            processes.append(findings, 0);
        }
        processes.finish();
        processes
    }

    #[test]
    fn pids_of_different_types_are_different_processes() {
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
    fn typical_range_ignores_a_few_outliers() {
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
