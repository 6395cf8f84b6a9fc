//! The records of all threads, sorted: by thread, and as DevTools sorts within each (devtools-semantics §2.2).
//!
//! ```text
//!   X, I ────────────────────────────────> sorter by thread and time ─> one list, a stretch of it for each thread
//!   B, E ─> sorter by thread and time ─> pairs ─┘  (or in input order over all threads, as DevTools pairs them)
//! ```

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
    /// A record of a lane.
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

/// The same in input order over all lanes.
#[derive(Clone, Copy, Debug)]
struct AsWritten(Filed);

record! { impl AsWritten { 0: Filed } }

impl Keyed for AsWritten {
    type Key = u64;

    fn key(&self) -> u64 {
        self.0.record.number()
    }
}

/// What became of B and E events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// B events without an end: they last no time.
    pub unended: u64,
    /// E events that end nothing.
    pub lone_ends: u64,
}

/// B and E events.
enum Marks {
    ByTime(KeySorter<Filed>),
    /// As DevTools pairs them.
    AsWritten(KeySorter<AsWritten>),
}

/// Takes the records of all threads.
pub(crate) struct Sorting {
    events: KeySorter<Filed>,
    marks: Marks,
    /// Records of lanes as they came, as long as there is room: of many it turns out that nobody asks for them.
    waiting: Vec<(u32, Vec<Record>)>,
    /// Bytes of heap that these may take more.
    room: u64,
}

/// Records of all lanes, one lane after the other.
#[derive(Default)]
pub(crate) struct FiledRecords(SpilledVec<Filed>);

impl FiledRecords {
    /// Those of these numbers.
    pub(crate) fn range(&self, numbers: Range<usize>) -> impl Iterator<Item = Record> + '_ {
        self.0.range(numbers).map(|filed| filed.record)
    }
}

/// All records by thread, and what became of B and E events of each lane that has some.
pub(crate) struct Filing {
    pub(crate) records: FiledRecords,
    /// Of each lane.
    pub(crate) ranges: Vec<Range<usize>>,
    pub(crate) pairs: HashMap<u32, Pairs>,
}

impl Sorting {
    /// `drops_early`: many records will not stay, which is known when all have come.
    pub(crate) fn new(space: &Space, (as_devtools, drops_early): (bool, bool)) -> Self {
        let marks = match as_devtools {
            true => Marks::AsWritten(space.sorter(2)),
            false => Marks::ByTime(space.sorter(2)),
        };
        let room = if drops_early { space.bytes(4) } else { 0 };
        Sorting { events: space.sorter(1), marks, waiting: Vec::new(), room }
    }

    /// Takes records of a lane.
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

    /// Lets those in that waited, B and E in any case: what pairs are found is told of all lanes.
    fn let_in(&mut self, mut stays: impl FnMut(&Filed) -> bool) -> Result<(), Error> {
        for (lane, records) in std::mem::take(&mut self.waiting) {
            let filed = records.into_iter().map(|record| Filed { lane, record });
            filed
                .filter(|own| is_mark(&own.record) || stays(own))
                .try_for_each(|own| self.push(own))?;
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

    /// The same with other lanes and times. Cost: they are sorted anew.
    pub(crate) fn moved(
        self,
        space: &Space,
        mut to: impl FnMut(&mut Filed),
    ) -> Result<Self, Error> {
        let as_devtools = matches!(self.marks, Marks::AsWritten(_));
        let mut new = Sorting::new(space, (as_devtools, false));
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

    /// Drops what does not stay, as far as that is known before B and E are paired and it is in memory: it need not be sorted then.
    pub(crate) fn drop_early(
        &mut self,
        mut stays: impl FnMut(&Filed) -> bool,
    ) -> Result<(), Error> {
        self.events.drop_early(&mut stays);
        self.let_in(stays)
    }

    /// Returns the records that stay, with B and E paired. Cost: a sort; `room` is that of begins that are open at one time.
    pub(crate) fn finish(
        mut self,
        lanes: usize,
        kinds: &[Kind],
        (space, room): (&Space, &Quota),
        stays: impl FnMut(&Filed) -> bool,
    ) -> Result<Filing, Error> {
        self.let_in(|_| true)?;
        let Sorting { mut events, marks, .. } = self;
        let mut pairs = HashMap::default();
        match marks {
            Marks::ByTime(marks) => pair(&marks.finish()?, kinds, &mut events, &mut pairs, room)?,
            Marks::AsWritten(marks) => pair_as_devtools(&marks.finish()?, &mut events, room)?,
        }
        let mut records = space.spool(2);
        events.finish()?.move_to(&mut records, stays)?;
        let records = records.take()?;
        let end = |lane: u32| records.partition_point(|own: &Filed| own.lane <= lane);
        let ends: Vec<usize> = (0..lanes as u32).map(end).collect();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let ranges = starts.zip(&ends).map(|(start, &end)| start..end).collect();
        Ok(Filing { records: FiledRecords(records), ranges, pairs })
    }
}

/// Returns whether a record is a B or an E, which are paired.
#[inline]
fn is_mark(record: &Record) -> bool {
    matches!(record.phase(), b'B' | b'E')
}

/// Hands on each B with its duration.
///
/// An E ends the innermost B that is open on its thread and has its name and categories, as far as it has them, in order of time:
/// [`DevtoolsBegins`], as `merge --for devtools` has it.
fn pair(
    marks: &SortedByKey<Filed>,
    kinds: &[Kind],
    events: &mut KeySorter<Filed>,
    all: &mut HashMap<u32, Pairs>,
    room: &Quota,
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
            // what has no category fits no end that has one
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
                events.push(Filed { lane, record: ended })?;
                pairs.unended -= 1;
            }
            None => pairs.lone_ends += 1,
        }
    }
    unended(last, open, events)
}

/// Hands on the B events of a lane that nothing ended.
fn unended(
    lane: Option<u32>,
    open: DevtoolsBegins<Record>,
    events: &mut KeySorter<Filed>,
) -> Result<(), Error> {
    let Some(lane) = lane else { return Ok(()) };
    open.values().try_for_each(|record| events.push(Filed { lane, record }))
}

/// The same as DevTools does it: one stack for the whole file, in its order (devtools-semantics §8.1).
fn pair_as_devtools(
    marks: &SortedByKey<AsWritten>,
    events: &mut KeySorter<Filed>,
    room: &Quota,
) -> Result<(), Error> {
    let mut open: Vec<Filed> = Vec::new();
    for AsWritten(filed) in marks.iter() {
        if filed.record.phase() == b'B' {
            open.push(filed);
            room.check((open.capacity() * size_of::<Filed>()) as u64, OPEN)?;
        } else if let Some(mut begin) = open.pop() {
            if begin.record.kind == filed.record.kind {
                begin.record.dur = filed.record.ts - begin.record.ts;
            }
            events.push(begin)?;
        }
    }
    open.into_iter().try_for_each(|begin| events.push(begin))
}
