//! Decides which inputs belong to one recording, and which processes get new pids.
//!
//! **Recordings.** Inputs with a common pid are different recordings, unless one of these holds:
//!
//! * `split` wrote both inputs from the same trace, according to their `part_of` keys;
//! * a CPU profile stream continues from one input into the other;
//! * their paths differ only in a rotation number ([`super::input_unit::rotated_path`]), and each
//!   shared process has the same name in both inputs.
//!
//! Even then they are different recordings if a shared process has another name, if its events
//! overlap in time on the same threads, or if a stream starts twice. V8 gives the first profile of
//! every session the same id; joining such streams would lose all but the last.
//!
//! The last matching recording wins. With `keep` all inputs are one recording, with `offset` each
//! input is its own recording.
//!
//! **Pids** ([`super::pids`]): a pid that an earlier recording already has is renamed.
//!
//! **Ids** ([`super::spelling`]): recordings are processed in order. If id ranges of a recording
//! overlap those of an earlier recording, all its ids are renamed by one rule.

use super::candidates::{Candidates, StreamBegin};
use super::input_unit::{InputUnit, UnitDecision, UnitOutcome};
use super::pids::{Pids, stated_pids};
use super::processes::{CanonicalId, InputProcess, TypicalRange, are_apart};
use super::rename::Renames;
use super::spelling::{IdMap, IdRanges, Space, append_each};
use crate::config::{IdPolicy, IdentityRules, PidPolicy};
use std::sync::Arc;
use tracemill_cpuprofile::StreamKey;
use tracemill_trace::spill::hash::{HashMap, HashSet};

#[derive(Debug, Default)]
struct MergedProcess {
    /// Index among the processes of the recording.
    number: u32,
    name: Option<Vec<u8>>,
    times: Vec<TypicalRange>,
    /// Paths, without rotation number, of the inputs that name the process.
    rotated_paths: HashSet<Vec<u8>>,
}

/// The threads of all processes of a recording, in one set because most processes have few.
#[derive(Debug, Default)]
struct RecordingThreads {
    tids: HashMap<CanonicalId, u32>,
    /// Pairs of process number and tid number.
    of: HashSet<(u32, u32)>,
}

impl RecordingThreads {
    fn contains(&self, process: u32, tid: &CanonicalId) -> bool {
        self.tids.get(tid).is_some_and(|&tid| self.of.contains(&(process, tid)))
    }

    fn insert(&mut self, process: u32, tid: &CanonicalId) {
        let tid = self.tids.get(tid).copied().unwrap_or_else(|| {
            let next = self.tids.len() as u32;
            self.tids.insert(tid.clone(), next);
            next
        });
        self.of.insert((process, tid));
    }
}

#[derive(Debug, Default)]
struct Recording {
    processes: HashMap<CanonicalId, MergedProcess>,
    threads: RecordingThreads,
    streams: HashMap<StreamKey, Option<i64>>,
    begin: Option<StreamBegin>,
    pids: HashMap<CanonicalId, Vec<u8>>,
    ids: Vec<IdRanges>,
}

pub(crate) fn decide(units: &[InputUnit], rules: &IdentityRules) -> UnitDecision {
    let mut pids = Pids::new(units, rules.pid);
    let mut recordings: Vec<Recording> = Vec::new();
    let mut candidates = Candidates::default();
    let mut outcomes = Vec::with_capacity(units.len());
    let mut stated: HashMap<u64, usize> = HashMap::default();
    let mut split: HashMap<&[u8], usize> = HashMap::default();
    for (number, unit) in units.iter().enumerate() {
        let found = match (rules.pid, &unit.stated) {
            (PidPolicy::Keep, _) => (!recordings.is_empty()).then_some(0),
            _ if unit.synthetic => None,
            (_, Some(stated_input)) => {
                stated_input.recording.and_then(|number| stated.get(&number).copied())
            }
            (PidPolicy::Offset, None) => None,
            (PidPolicy::Auto | PidPolicy::One, None) => match unit.part_of.as_deref() {
                Some(whole) => split.get(whole).copied(),
                None => find(unit, &recordings, &mut candidates),
            },
        };
        let recording = found.unwrap_or_else(|| {
            recordings.push(Recording::default());
            recordings.len() - 1
        });
        if let Some(number) = unit.stated.as_ref().and_then(|stated| stated.recording) {
            stated.insert(number, recording);
        }
        if let Some(whole) = &unit.part_of {
            split.insert(whole, recording);
        }
        recordings[recording].admit(unit, number, &mut pids);
        let may_continue = !unit.synthetic && unit.stated.is_none() && unit.part_of.is_none();
        if may_continue && rules.pid != PidPolicy::Keep {
            candidates.admit(unit, recording, recordings[recording].begin.as_ref());
        }
        outcomes.push(UnitOutcome { recording, renames: None });
    }
    let ids = new_ids(&recordings, rules);
    let renames: Vec<Option<Arc<Renames>>> = recordings
        .into_iter()
        .zip(ids)
        .map(|(recording, ids)| Renames::new(recording.pids, ids, &rules.args_keys).map(Arc::new))
        .collect();
    for outcome in &mut outcomes {
        outcome.renames.clone_from(&renames[outcome.recording]);
    }
    UnitDecision { outcomes }
}

fn find<'u>(
    unit: &'u InputUnit,
    recordings: &[Recording],
    candidates: &mut Candidates<'u>,
) -> Option<usize> {
    let bulks: Vec<TypicalRange> =
        unit.processes.by_pid.iter().map(|(_, process)| process.times.bulk()).collect();
    let candidates = candidates.of(unit);
    candidates.into_iter().rev().find(|&number| recordings[number].has(unit, &bulks))
}

impl Recording {
    /// Returns whether an input belongs to the recording: input and recording share a pid, and all
    /// shared processes match.
    fn has(&self, unit: &InputUnit, bulks: &[TypicalRange]) -> bool {
        let Some(continues) = self.continues(unit) else { return false };
        let processes = unit.processes.by_pid.iter().zip(bulks);
        let mut shared = processes
            .filter_map(|((pid, process), &bulk)| Some((self.processes.get(pid)?, process, bulk)))
            .peekable();
        shared.peek().is_some()
            && shared.all(|(known, process, bulk)| {
                (continues || known.is_rotated(unit, process))
                    && known.may_be(process, bulk, &self.threads)
            })
    }

    /// Returns whether an input continues a stream of the recording, or `None` if such a stream
    /// starts again.
    fn continues(&self, unit: &InputUnit) -> Option<bool> {
        let mut continues = false;
        #[expect(clippy::iter_over_hash_type, reason = "all or none are wanted")]
        for (stream, begin) in &unit.streams {
            let Some(known) = self.streams.get(stream) else { continue };
            if known.zip(*begin).is_some_and(|(known, begin)| known != begin) {
                return None;
            }
            continues = true;
        }
        Some(continues)
    }

    fn admit(&mut self, unit: &InputUnit, number: usize, pids: &mut Pids) {
        let stated = unit.stated.as_ref().map(stated_pids);
        for (pid, process) in &unit.processes.by_pid {
            if !self.processes.contains_key(pid)
                && let Some(new) = pids.give(unit, stated.as_ref(), number, pid, process)
            {
                self.pids.insert(pid.clone(), new);
            }
            let number = self.processes.len() as u32;
            let known = self.processes.entry(pid.clone());
            let known =
                known.or_insert_with(|| MergedProcess { number, ..MergedProcess::default() });
            if process.name.is_some() {
                known.rotated_paths.extend(unit.rotated_path.clone());
            }
            known.name = process.name.clone().or(known.name.take());
            process.threads.iter().for_each(|tid| self.threads.insert(known.number, tid));
            known.times.push(process.times.bulk());
        }
        #[expect(clippy::iter_over_hash_type, reason = "each stream by itself")]
        for (stream, begin) in &unit.streams {
            let known = self.streams.entry(stream.clone()).or_default();
            *known = begin.or(*known);
            if let (None, Some(begin)) = (&self.begin, begin) {
                self.begin = Some((stream.clone(), *begin));
            }
        }
        if !unit.synthetic {
            append_each(&mut self.ids, &unit.processes.ids);
        }
    }
}

impl MergedProcess {
    fn is_rotated(&self, unit: &InputUnit, process: &InputProcess) -> bool {
        let path = unit.rotated_path.as_ref();
        process.name.is_some() && path.is_some_and(|path| self.rotated_paths.contains(path))
    }

    /// Returns whether the name, threads and times of `process` allow it to be the same process.
    fn may_be(
        &self,
        process: &InputProcess,
        bulk: TypicalRange,
        threads: &RecordingThreads,
    ) -> bool {
        if self.name.is_some() && process.name.is_some() && self.name != process.name {
            return false;
        }
        self.times.iter().all(|&known| are_apart(known, bulk))
            || process.threads.iter().all(|tid| !threads.contains(self.number, tid))
    }
}

/// Returns the id maps of each recording: one for `id` fields, and one per `--args-key`.
fn new_ids(recordings: &[Recording], rules: &IdentityRules) -> Vec<Vec<IdMap>> {
    let classes = 1 + rules.args_keys.len();
    let mut maps = vec![vec![IdMap::default(); classes]; recordings.len()];
    if rules.ids == IdPolicy::Keep {
        return maps;
    }
    for class in 0..classes {
        let all_ranges = || recordings.iter().map(|recording| recording.ids.get(class));
        let mut space = Space::new(all_ranges().flatten());
        for (maps, ranges) in maps.iter_mut().zip(all_ranges()) {
            if let Some(ranges) = ranges.filter(|ranges| !ranges.is_empty()) {
                maps[class] = space.admit(ranges);
            }
        }
    }
    maps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::processes::{IdFilter, ProcessFindings, key_of};
    use tracemill_testkit::Rng;
    use tracemill_tokenizer::fields_of;

    fn unit(events: &[(&str, Option<i64>)]) -> InputUnit {
        let mut findings = ProcessFindings::new(Arc::new(IdFilter::default()));
        for &(event, time) in events {
            findings.note(&fields_of(event.as_bytes()).of(event.as_bytes()), time);
        }
        let mut unit = InputUnit::default();
        unit.processes.append(findings, 0);
        unit.processes.finish();
        unit
    }

    /// Returns, for each unit, its recording and its pids after the decision.
    fn pids(units: &[InputUnit], pid: PidPolicy) -> Vec<(usize, Vec<String>)> {
        let rules = IdentityRules { pid, ..IdentityRules::default() };
        let outcomes = decide(units, &rules).outcomes;
        let of_unit = |(unit, outcome): (&InputUnit, &UnitOutcome)| {
            let new = |(key, process): &(CanonicalId, InputProcess)| {
                let renames = outcome.renames.as_ref();
                let new = renames.and_then(|renames| renames.pid(key));
                String::from_utf8(new.unwrap_or(&process.written).to_vec()).unwrap()
            };
            (outcome.recording, unit.processes.by_pid.iter().map(new).collect())
        };
        units.iter().zip(&outcomes).map(of_unit).collect()
    }

    fn named(pid: &str, name: &str, times: std::ops::Range<i64>) -> InputUnit {
        let name =
            format!(r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":"{name}"}}}}"#);
        let event = format!(r#"{{"ph":"X","pid":{pid},"tid":1}}"#);
        let mut events: Vec<(&str, Option<i64>)> = vec![(&name, None)];
        events.extend(times.map(|time| (&*event, Some(time))));
        let all = unit(&events);
        // the time sample depends on the offset, which is equal for all events here
        assert_eq!(all.processes.by_pid[0].0, key_of(Some(pid.as_bytes())));
        InputUnit { rotated_path: Some(b"app.log".to_vec()), ..all }
    }

    #[test]
    fn later_process_with_equal_pid_is_renamed() {
        let both = [named("7", "a", 0..2), named("7", "b", 0..2), named("7", "c", 0..2)];
        let new = pids(&both, PidPolicy::Auto);
        let expected = ["7", "10000007", "20000007"].map(|pid| vec![pid.to_owned()]);
        assert!(new.iter().map(|(_, pids)| pids).eq(&expected), "{new:?}");
        let kept = pids(&both, PidPolicy::Keep);
        assert!(kept.iter().all(|(recording, pids)| *recording == 0 && pids[0] == "7"));
        let offset = pids(&both, PidPolicy::Offset);
        assert_eq!(offset[2].1, ["27"]);
    }

    /// Events that `split` repeats at a cut overlap the previous part in time.
    #[test]
    fn parts_of_one_trace_are_one_recording() {
        let part = |of: &str| InputUnit {
            part_of: (!of.is_empty()).then(|| of.as_bytes().to_vec()),
            ..named("7", "a", 0..100)
        };
        for (first, second, recording) in
            [("{}", "{}", 0), ("", "{}", 1), ("{}", "", 1), ("{}", "{\"events\":1}", 1)]
        {
            let found = pids(&[part(first), part(second)], PidPolicy::Auto)[1].0;
            assert_eq!(found, recording, "{first} {second}");
        }
    }

    #[test]
    fn rotated_logs_are_one_recording() {
        let logs = [named("7", "node", 0..1), named("7", "node", 1..2), named("7", "node", 0..1)];
        let new = pids(&logs, PidPolicy::Auto);
        let expected = [(0, "7"), (0, "7"), (1, "10000007")];
        assert!(new.iter().zip(expected).all(|(a, b)| a.0 == b.0 && a.1[0] == b.1), "{new:?}");
    }

    /// Process 1 of every container has the same name but runs at another time.
    #[test]
    fn files_that_are_no_rotation_are_separate_recordings() {
        let pods = ["a/trace.json", "b/trace.json"].map(|path| InputUnit {
            rotated_path: Some(path.into()),
            ..named("1", "node", if path < "b" { 0..1 } else { 1..2 })
        });
        assert_eq!(pids(&pods, PidPolicy::Auto)[1], (1, vec!["10000001".to_owned()]));
    }

    #[test]
    fn inputs_without_proof_are_separate_recordings() {
        let event = r#"{"ph":"X","pid":7,"tid":1}"#;
        let logs = || [unit(&[(event, Some(1))]), unit(&[(event, Some(2))])];
        assert_eq!(pids(&logs(), PidPolicy::Auto)[1].0, 1);
        let mut stream = logs();
        stream.iter_mut().for_each(|unit| {
            unit.streams.insert(b"stream".to_vec(), None);
        });
        assert_eq!(pids(&stream, PidPolicy::Auto)[1].0, 0);
    }

    #[test]
    fn restarted_stream_starts_another_recording() {
        let joined = |begins: [Option<i64>; 2]| {
            let mut logs = [named("7", "node", 0..1), named("7", "node", 1..2)];
            for (unit, begin) in logs.iter_mut().zip(begins) {
                unit.streams.insert(b"stream".to_vec(), begin);
            }
            pids(&logs, PidPolicy::Auto)[1].0 == 0
        };
        assert!(joined([Some(1), None]) && joined([None, Some(2)]) && joined([Some(1), Some(1)]));
        assert!(!joined([Some(1), Some(2)]));
    }

    #[test]
    fn new_pids_keep_their_type_and_fit_32_bits() {
        let odd = || {
            let events = ["7", "\"7\"", "\"a\"", "-1", "139693758835584", "0"];
            let events = events.map(|pid| format!(r#"{{"ph":"X","pid":{pid},"tid":1}}"#));
            unit(&events.iter().map(|event| (&**event, Some(1))).collect::<Vec<_>>())
        };
        let mut new = pids(&[odd(), odd()], PidPolicy::Auto).remove(1).1;
        new.sort();
        let expected = ["\"10000007\"", "\"a#2\"", "10000000", "10000001", "10000002", "10000007"];
        assert_eq!(new.iter().filter(|pid| pid.starts_with('"')).count(), 2, "{new:?}");
        assert_eq!(new.len(), expected.len());
        assert!(new.iter().all(|pid| !["0", "\"\""].contains(&&**pid)));
    }

    /// Creates an input of few processes, names, threads and times, so that inputs are alike.
    fn random_unit(rng: &mut Rng) -> InputUnit {
        let mut events = Vec::new();
        for _ in 0..rng.range(1, 3) {
            let pid = rng.range(1, 3);
            if rng.chance(80) {
                let name = ["a", "b"][rng.index(2)];
                let args = format!(r#"{{"name":"{name}"}}"#);
                let event =
                    format!(r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{args}}}"#);
                events.push((event, None));
            }
            for _ in 0..rng.below(3) {
                let event = format!(r#"{{"ph":"X","pid":{pid},"tid":{}}}"#, rng.range(1, 3));
                events.push((event, Some(rng.below(5) as i64)));
            }
        }
        let events: Vec<_> = events.iter().map(|(event, time)| (&**event, *time)).collect();
        let mut unit = unit(&events);
        unit.rotated_path = Some(vec![b'a' + rng.below(2) as u8]).filter(|_| rng.chance(90));
        if rng.chance(20) {
            let begin = rng.chance(50).then(|| rng.below(3) as i64);
            unit.streams.insert(vec![b'0' + rng.below(3) as u8], begin);
        }
        unit
    }

    #[test]
    fn candidates_include_every_matching_recording() {
        let mut joined = 0;
        for seed in 0..500 {
            let rng = &mut Rng::new(seed);
            let units: Vec<InputUnit> = (0..12).map(|_| random_unit(rng)).collect();
            let mut pids = Pids::new(&units, PidPolicy::Auto);
            let mut recordings: Vec<Recording> = Vec::new();
            let mut candidates = Candidates::default();
            for (number, unit) in units.iter().enumerate() {
                let processes = unit.processes.by_pid.iter();
                let bulks: Vec<TypicalRange> =
                    processes.map(|(_, process)| process.times.bulk()).collect();
                let mut all = (0..recordings.len()).rev();
                let expected = all.find(|&number| recordings[number].has(unit, &bulks));
                let found = find(unit, &recordings, &mut candidates);
                assert_eq!(found, expected, "seed {seed}, unit {number}");
                joined += usize::from(found.is_some());
                let recording = found.unwrap_or_else(|| {
                    recordings.push(Recording::default());
                    recordings.len() - 1
                });
                recordings[recording].admit(unit, number, &mut pids);
                candidates.admit(unit, recording, recordings[recording].begin.as_ref());
            }
        }
        assert!((500..5_500).contains(&joined), "{joined} of 6,000 joined another");
    }
}
