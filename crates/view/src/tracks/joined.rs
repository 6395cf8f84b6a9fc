//! Combines several inputs into one trace, by the rules of a merge.
//!
//! During the scan, each input has separate lanes (tracks), names and times. When the new pids and
//! clock offsets are known, the results are moved to the lanes and times of the merged trace.

use crate::tracks::notes::Notes;
use crate::tracks::record::Mark;
use foldhash::fast::FixedState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;
use tracemill_index::drawing::{LaneKey, LaneTable};
use tracemill_join::input_set::InputSet;
use tracemill_trace::time::bounds::Times;

#[derive(Default)]
pub(crate) struct InputNotes(Vec<(Notes, Times)>);

impl InputNotes {
    pub(crate) fn add(&mut self, input: usize, notes: Notes, times: Times) {
        while self.0.len() <= input {
            self.0.push((Notes::default(), Times::NONE));
        }
        let of_input = &mut self.0[input];
        of_input.0.append(notes);
        of_input.1 = of_input.1.unite(times);
    }

    pub(crate) fn heap(&self) -> u64 {
        self.0.iter().map(|(notes, _)| notes.heap() + 100).sum()
    }

    pub(crate) fn joined(self, scanned: &InputSet) -> (Notes, Times) {
        let mut all = (Notes::default(), Times::NONE);
        for (input, (notes, times)) in self.0.into_iter().enumerate() {
            let place = scanned.place(input);
            all.0.append(notes.renamed(|pid| place.pid(pid).into()));
            all.1 = all.1.unite(times.moved(place.offset()));
        }
        all
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JoinedLane {
    pub(crate) number: u32,
    /// Nanoseconds that are added to the times of the lane.
    pub(crate) offset: i64,
    /// Number of the recording, within which ids are unique.
    recording: u64,
}

pub(crate) struct Joined {
    lanes: Vec<JoinedLane>,
    /// A sentence without a full stop that lists the changes by the merge. `None` if there are no
    /// changes.
    pub(crate) sentence: Option<String>,
    /// The inputs of each process, by the pid after the merge.
    pub(crate) origins: Origins,
}

pub(crate) type Origins = BTreeMap<Box<[u8]>, BTreeSet<u32>>;

impl Joined {
    /// Maps the lanes of single inputs to lanes of the merged trace. Returns the map and the merged
    /// lanes.
    pub(crate) fn new(lanes: LaneTable, scanned: &InputSet) -> (Self, LaneTable) {
        let mut joined = LaneTable::default();
        let (mut moved, mut renamed) = (Vec::with_capacity(lanes.all().len()), Renamed::new());
        let mut origins = Origins::new();
        for key in lanes.into_keys() {
            let place = scanned.place(key.input as usize);
            let pid: Box<[u8]> = place.pid(&key.pid).into();
            if pid != key.pid {
                renamed.entry(key.input).or_default().insert((key.pid.clone(), pid.clone()));
            }
            origins.entry(pid.clone()).or_default().insert(key.input);
            let (offset, recording) = (place.offset(), place.recording() as u64);
            let number = joined.add(LaneKey { pid, input: 0, ..key });
            moved.push(JoinedLane { number, offset, recording });
        }
        let sentence = sentence_of(&renamed, scanned);
        (Joined { lanes: moved, sentence, origins }, joined)
    }

    pub(crate) fn is_same(&self) -> bool {
        let same = |(number, lane): (usize, &JoinedLane)| {
            *lane == JoinedLane { number: number as u32, offset: 0, recording: 0 }
        };
        self.lanes.iter().enumerate().all(same)
    }

    pub(crate) fn lane(&self, number: u32) -> JoinedLane {
        self.lanes[number as usize]
    }

    pub(crate) fn mark(&self, mark: Mark) -> Mark {
        let lane = self.lane(mark.lane);
        let is_thread = mark.group >> 63 == 0;
        let group = match lane.recording {
            _ if is_thread => u64::from(lane.number),
            0 => mark.group,
            recording => FixedState::default().hash_one((mark.group, recording)) | 1 << 63,
        };
        let ts = mark.ts.saturating_add(lane.offset);
        Mark { group, ts, lane: lane.number, ..mark }
    }
}

type Renamed = BTreeMap<u32, BTreeSet<(Box<[u8]>, Box<[u8]>)>>;

fn sentence_of(renamed: &Renamed, scanned: &InputSet) -> Option<String> {
    /// Maximum number of inputs that the message names.
    const NAMED: usize = 3;
    let name = |input: usize| scanned.reports()[input].name.as_str();
    let text = |pid: &[u8]| String::from_utf8_lossy(pid).into_owned();
    let mut parts = Vec::new();
    for (input, pids) in renamed {
        let Some((old, new)) = pids.first() else { continue };
        let more = match pids.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more like it"),
        };
        let (old, new) = (text(old), text(new));
        parts.push(format!("pid {old} of {} is shown as {new}{more}", name(*input as usize)));
    }
    for input in 0..scanned.reports().len() {
        let place = scanned.place(input);
        let offset = place.offset();
        if offset != 0 {
            parts.push(format!("times of {} are moved by {offset} ns", name(input)));
        } else if !place.is_as_written() && !renamed.contains_key(&(input as u32)) {
            parts.push(format!("operations of {} have ids of others, and are apart", name(input)));
        }
    }
    let more = parts.len().saturating_sub(NAMED);
    parts.truncate(NAMED);
    if more > 0 {
        parts.push(format!("and so on in {more} more places"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}
