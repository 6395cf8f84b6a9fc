//! Sorts the records of all threads: by thread, then in DevTools' order.
//!
//! ```text
//!   X, I ───────────────────────────────> sorter by thread and time ─> one list, by thread
//!   B, E ─> sorter by thread and time ─> pairs ─┘
//!           (as_devtools: sorter by input order)
//! ```

use crate::events::cpu_times::CpuTimes;
use crate::events::kinds::{Kind, NO_CAT};
use crate::value::record::Record;
use crate::value::space::{Space, rank};
use std::cmp::Reverse;
use std::ops::Range;
use tracemill_trace::event::pairing::{DevtoolsBegins, OPEN};
use tracemill_trace::order::{KeySorter, Keyed, SortedByKey};
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::SpilledVec;
use tracemill_trace::spill::hash::HashMap;

record! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Filed {
        pub(crate) lane: u32,
        pub(crate) record: Record,
    }
}

impl Keyed for Filed {
    type Key = (u32, u64, Reverse<u64>, u64);

    fn key(&self) -> Self::Key {
        let Record { ts, dur, .. } = self.record;
        (self.lane, rank(ts), Reverse(rank(ts + dur)), self.record.number())
    }
}

/// A record that sorts by its number in the input, over all tracks.
#[derive(Clone, Copy, Debug)]
struct AsWritten(Filed);

record! { impl AsWritten { 0: Filed } }

impl Keyed for AsWritten {
    type Key = u64;

    fn key(&self) -> u64 {
        self.0.record.number()
    }
}

/// Counts of unpaired B and E events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Number of B events without an end; they have no duration.
    pub unended: u64,
    /// Number of E events without a begin.
    pub lone_ends: u64,
}

enum Marks {
    ByTime(KeySorter<Filed>),
    /// B and E events in input order, in which DevTools pairs them.
    AsWritten(KeySorter<AsWritten>),
}

/// Collects and sorts the records of all threads.
pub(crate) struct Sorting {
    events: KeySorter<Filed>,
    marks: Marks,
    /// Records of each track that are not sorted yet, because many of them may turn out to be
    /// unneeded.
    waiting: Vec<(u32, Vec<Record>)>,
    /// Number of bytes that `waiting` may still grow.
    room: u64,
}

/// Records of all tracks, sorted by track.
#[derive(Default)]
pub(crate) struct FiledRecords(SpilledVec<Filed>);

impl FiledRecords {
    pub(crate) fn range(&self, numbers: Range<usize>) -> impl Iterator<Item = Record> + '_ {
        self.0.range(numbers).map(|filed| filed.record)
    }
}

/// The sorted records, the range of each track, and the counts of unpaired B and E events.
pub(crate) struct Filing {
    pub(crate) records: FiledRecords,
    pub(crate) ranges: Vec<Range<usize>>,
    pub(crate) pairs: HashMap<u32, Pairs>,
}

impl Sorting {
    /// Creates an empty sorter. Up to `room` bytes of records wait unsorted, since many of them may
    /// be dropped.
    pub(crate) fn new(space: &Space, as_devtools: bool, room: u64) -> Self {
        let marks = match as_devtools {
            true => Marks::AsWritten(space.sorter(2)),
            false => Marks::ByTime(space.sorter(2)),
        };
        Sorting { events: space.sorter(1), marks, waiting: Vec::new(), room }
    }

    pub(crate) fn take(&mut self, lane: u32, records: Vec<Record>) -> Result<(), Error> {
        let bytes = records.capacity() * size_of::<Record>() + size_of::<(u32, Vec<Record>)>();
        self.waiting.push((lane, records));
        match self.room.checked_sub(bytes as u64) {
            Some(left) => {
                self.room = left;
                Ok(())
            }
            None => {
                self.room = 0;
                self.let_in(|_| true)
            }
        }
    }

    /// Moves waiting records into the sorters: all B and E events, and the records that `stays`
    /// accepts.
    fn let_in(&mut self, mut stays: impl FnMut(&Filed) -> bool) -> Result<(), Error> {
        for (lane, records) in std::mem::take(&mut self.waiting) {
            let filed = records.into_iter().map(|record| Filed { lane, record });
            filed
                .filter(|event| is_mark(&event.record) || stays(event))
                .try_for_each(|event| self.push(event))?;
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, filed: Filed) -> Result<(), Error> {
        if !is_mark(&filed.record) {
            return self.events.push(filed);
        }
        match &mut self.marks {
            Marks::ByTime(marks) => marks.push(filed),
            Marks::AsWritten(marks) => marks.push(AsWritten(filed)),
        }
    }

    /// Changes the track and time of each record with `to`. Cost: a second sort.
    pub(crate) fn moved(
        self,
        space: &Space,
        mut to: impl FnMut(&mut Filed),
    ) -> Result<Self, Error> {
        let as_devtools = matches!(self.marks, Marks::AsWritten(_));
        let mut new = Sorting::new(space, as_devtools, 0);
        let mut push = |mut filed: Filed| {
            to(&mut filed);
            new.push(filed)
        };
        for (lane, records) in self.waiting {
            records.into_iter().try_for_each(|record| push(Filed { lane, record }))?;
        }
        self.events.finish()?.iter().try_for_each(&mut push)?;
        match self.marks {
            Marks::ByTime(marks) => marks.finish()?.iter().try_for_each(push)?,
            Marks::AsWritten(marks) => {
                marks.finish()?.iter().try_for_each(|AsWritten(filed)| push(filed))?;
            }
        }
        Ok(new)
    }

    /// Drops the records that `stays` rejects before they are sorted. Keeps B and E events, and
    /// records that are on disk.
    pub(crate) fn drop_early(
        &mut self,
        mut stays: impl FnMut(&Filed) -> bool,
    ) -> Result<(), Error> {
        self.events.drop_early(&mut stays);
        self.let_in(stays)
    }

    /// Pairs B and E events, also in `cpu_times`, and returns the records that `stays` accepts.
    /// `room` limits the memory for open B events. Cost: a sort.
    pub(crate) fn finish(
        mut self,
        lanes: usize,
        kinds: &[Kind],
        space: &Space,
        room: &Quota,
        cpu_times: &mut CpuTimes,
        stays: impl FnMut(&Filed) -> bool,
    ) -> Result<Filing, Error> {
        self.let_in(|_| true)?;
        let Sorting { mut events, marks, .. } = self;
        let mut pairs = HashMap::default();
        match marks {
            Marks::ByTime(marks) => {
                pair(&marks.finish()?, kinds, &mut events, &mut pairs, room, cpu_times)?;
            }
            Marks::AsWritten(marks) => {
                pair_as_devtools(&marks.finish()?, &mut events, room, cpu_times)?;
            }
        }
        let mut records = space.spool(2);
        events.finish()?.move_to(&mut records, stays)?;
        let records = records.take()?;
        let end = |lane: u32| records.partition_point(|event: &Filed| event.lane <= lane);
        let ends: Vec<usize> = (0..lanes as u32).map(end).collect();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let ranges = starts.zip(&ends).map(|(start, &end)| start..end).collect();
        Ok(Filing { records: FiledRecords(records), ranges, pairs })
    }
}

#[inline]
fn is_mark(record: &Record) -> bool {
    matches!(record.phase(), b'B' | b'E')
}

/// Adds each B event to `events`, with the duration up to its E event.
///
/// An E event ends the innermost open B event of its thread with the same name and categories. A
/// missing name or category matches any ([`DevtoolsBegins`]).
fn pair(
    marks: &SortedByKey<Filed>,
    kinds: &[Kind],
    events: &mut KeySorter<Filed>,
    all: &mut HashMap<u32, Pairs>,
    room: &Quota,
    cpu_times: &mut CpuTimes,
) -> Result<(), Error> {
    let mut open: DevtoolsBegins<Record> = DevtoolsBegins::default();
    let mut last = None;
    for Filed { lane, record } in marks.iter() {
        if last != Some(lane) {
            unended(last.replace(lane), std::mem::take(&mut open), events)?;
        }
        let pairs = all.entry(lane).or_default();
        let Kind { name, cat } = kinds[record.kind as usize];
        if record.phase() == b'B' {
            // A B event without categories does not match an E event with categories.
            open.begin(u64::from(name) + 1, u64::from(cat) + 2, record);
            room.check(open.heap(), OPEN)?;
            pairs.unended += 1;
            continue;
        }
        let name = (name != 0).then_some(u64::from(name) + 1);
        match open.end(name, (cat != NO_CAT).then_some(u64::from(cat) + 2)) {
            Some(begin) => {
                let mut ended = begin;
                ended.dur = record.ts - begin.ts;
                cpu_times.pair(begin.number(), record.number());
                events.push(Filed { lane, record: ended })?;
                pairs.unended -= 1;
            }
            None => pairs.lone_ends += 1,
        }
    }
    unended(last, open, events)
}

/// Adds the B events of a track that have no E event to `events`.
fn unended(
    lane: Option<u32>,
    open: DevtoolsBegins<Record>,
    events: &mut KeySorter<Filed>,
) -> Result<(), Error> {
    let Some(lane) = lane else { return Ok(()) };
    open.values().try_for_each(|record| events.push(Filed { lane, record }))
}

/// Pairs B and E events as DevTools does: with one stack for the whole file, in input order.
fn pair_as_devtools(
    marks: &SortedByKey<AsWritten>,
    events: &mut KeySorter<Filed>,
    room: &Quota,
    cpu_times: &mut CpuTimes,
) -> Result<(), Error> {
    let mut open: Vec<Filed> = Vec::new();
    for AsWritten(filed) in marks.iter() {
        if filed.record.phase() == b'B' {
            open.push(filed);
            room.check((open.capacity() * size_of::<Filed>()) as u64, OPEN)?;
        } else if let Some(mut begin) = open.pop() {
            if begin.record.kind == filed.record.kind {
                begin.record.dur = filed.record.ts - begin.record.ts;
                cpu_times.pair(begin.record.number(), filed.record.number());
            }
            events.push(begin)?;
        }
    }
    open.into_iter().try_for_each(|begin| events.push(begin))
}
