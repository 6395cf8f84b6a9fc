//! Numbers tracks (lanes): a thread, the async operations of a category, or a series of a counter.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// The kind of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaneKind {
    /// Slices and instants of a thread.
    Thread,
    /// Async operations of a category in a process.
    Async,
    /// Values of a counter over time.
    Counter,
    /// Calls derived from the samples of a thread's CPU profile.
    Calls,
}

impl LaneKind {
    /// Kinds of tracks with events, in the order of their numbers.
    pub const OF_EVENTS: [LaneKind; 3] = [LaneKind::Thread, LaneKind::Async, LaneKind::Counter];

    /// Returns the name of the kind in responses of the view.
    pub fn name(self) -> &'static str {
        match self {
            LaneKind::Thread => "thread",
            LaneKind::Async => "async",
            LaneKind::Counter => "counter",
            LaneKind::Calls => "calls",
        }
    }
}

/// Key of a track: ids as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneKey {
    /// Kind of events on the track.
    pub kind: LaneKind,
    /// Process id as written.
    pub pid: Box<[u8]>,
    /// Thread id; category for async operations; name, 0xFF and series for counters.
    pub track: Box<[u8]>,
    /// Index of the input that has these ids; 0 once ids are unique over all inputs.
    pub input: u32,
}

type LaneParts<'k> = (LaneKind, &'k [u8], &'k [u8], u32);

impl LaneKey {
    fn parts(&self) -> LaneParts<'_> {
        (self.kind, &self.pid, &self.track, self.input)
    }
}

fn hash(parts: LaneParts<'_>) -> u64 {
    FixedState::default().hash_one(parts)
}

/// Tracks in the order of their first events.
#[derive(Clone, Default)]
pub struct LaneTable {
    all: Vec<LaneKey>,
    numbers: HashTable<u32>,
    last: u32,
}

impl LaneTable {
    /// Returns the keys of all tracks, by number.
    pub fn all(&self) -> &[LaneKey] {
        &self.all
    }

    /// Returns the number of a track, for a single input; adds the track if it is new. Fast if the
    /// previous event had the same track.
    #[inline]
    pub fn number(&mut self, kind: LaneKind, pid: &[u8], track: &[u8]) -> u32 {
        let parts = (kind, pid, track, 0);
        if self.all.get(self.last as usize).is_some_and(|last| last.parts() == parts) {
            return self.last;
        }
        self.last = match self.find(parts) {
            Some(number) => number,
            None => self.push(LaneKey { kind, pid: pid.into(), track: track.into(), input: 0 }),
        };
        self.last
    }

    /// Returns the number of a track; adds the track if it is new.
    pub fn add(&mut self, key: LaneKey) -> u32 {
        self.get(&key).unwrap_or_else(|| self.push(key))
    }

    /// Returns the number of a track, if the table has the track.
    pub fn get(&self, key: &LaneKey) -> Option<u32> {
        self.find(key.parts())
    }

    fn find(&self, parts: LaneParts<'_>) -> Option<u32> {
        let is_same = |&number: &u32| self.all[number as usize].parts() == parts;
        self.numbers.find(hash(parts), is_same).copied()
    }

    fn push(&mut self, key: LaneKey) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(key);
        let all = &self.all;
        let hash_of = |&number: &u32| hash(all[number as usize].parts());
        self.numbers.insert_unique(hash_of(&number), number, hash_of);
        number
    }

    /// Appends the tracks of a part of the input with number `input`. Returns the numbers of these
    /// tracks in this table.
    pub fn append(&mut self, other: LaneTable, input: u32) -> Vec<u32> {
        other.all.into_iter().map(|key| self.add(LaneKey { input, ..key })).collect()
    }

    /// Returns the keys of all tracks, by number.
    pub fn into_keys(self) -> Vec<LaneKey> {
        self.all
    }

    /// Returns the approximate bytes of heap of the table.
    pub fn heap(&self) -> u64 {
        let texts = self.all.iter().map(|key| key.pid.len() + key.track.len() + 32);
        texts.sum::<usize>() as u64 + self.all.len() as u64 * 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_has_one_number() {
        let mut lanes = LaneTable::default();
        let first = lanes.number(LaneKind::Thread, b"1", b"2");
        assert_eq!((first, lanes.number(LaneKind::Async, b"1", b"2")), (0, 1));
        assert_eq!(lanes.number(LaneKind::Thread, b"1", b"2"), 0);
        let mut later = LaneTable::default();
        later.number(LaneKind::Thread, b"12", b"");
        later.number(LaneKind::Async, b"1", b"2");
        assert_eq!(lanes.clone().append(later.clone(), 0), [2, 1]);
        // equal ids of another input are other tracks
        assert_eq!(lanes.append(later, 1), [2, 3]);
    }
}
