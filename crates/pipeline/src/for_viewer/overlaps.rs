//! Finds slices (X, or B and E) that begin inside another slice of their thread and end after that
//! slice. Viewers drop such slices or draw them wrongly.
//!
//! ```text
//!   thread   ├────── a ──────┤          ├── c ──┤
//!                 ├─── b ────────┤                     ends after a: moved to the added track
//!   added         ├─── b ────────┤ ├─ d …              if it nests there, or to the next track
//! ```
//!
//! Walks over the output before it is written, on one thread. If there are E events, an earlier
//! walk pairs B and E events, so that the end of a pair is known at its begin. Times are rounded
//! down to nanoseconds, and slices without a duration overlap nothing, as in `check`. Memory: the
//! open slices of each track; edits go to disk, 16 bytes each.

use super::changes::{Change, Changes};
use super::threads::{RenamedThreads, free, low_bits};
use tracemill_join::config::{Config, OPEN, Overlaps};
use tracemill_join::identity::key_of;
use tracemill_tokenizer::{Event, Field, FieldFinder, Mapped, Tier};
use tracemill_trace::Limits;
use tracemill_trace::event::metadata::{MetadataEvent, MetadataKind};
use tracemill_trace::event::name_key;
use tracemill_trace::event::pairing::Begins;
use tracemill_trace::event::thread_table::ThreadTable;
use tracemill_trace::order::EntryRuns;
use tracemill_trace::order::overlap::{Interval, OverlapTrack, SliceKind};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::spill::{Scratch, SpillArray};
use tracemill_trace::store::entry::Entry;
use tracemill_write::emit::OrderedEvents;
use tracemill_write::patch::event_rewriter::EventRewriter;

/// Maximum number of added tracks per thread; each overlapping slice is tried on all added tracks.
const LANES: usize = 256;
/// Distance between the tids of added tracks. A tid shows its thread: 7 becomes 1000007, 2000007, …
const STEP: u32 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Moves the event to this tid.
    Tid(u32),
    /// Sets the duration, in nanoseconds.
    Dur(i64),
}

/// Size of a record of event number and edit, in bytes.
const RECORD: usize = 16;
/// Flag in the event number for [`Edit::Dur`].
const DUR: u64 = 1 << 63;

/// The changes to overlapping slices.
#[derive(Default)]
pub(crate) struct Overlapping {
    edits: Option<Mapped>,
    /// Metadata events that name the added tracks, each followed by a separator.
    pub(super) names: Vec<u8>,
}

impl Overlapping {
    /// Returns the change to event `index` of the output, or `None` if the event does not change.
    #[inline]
    pub(super) fn at(&self, index: u64) -> Option<Edit> {
        let records = self.edits.as_deref()?.as_chunks::<RECORD>().0;
        let decode = |record: &[u8; RECORD]| {
            let [number, edit] = *record.as_chunks::<8>().0 else { unreachable!("two words") };
            (u64::from_le_bytes(number), u64::from_le_bytes(edit))
        };
        let after = records.partition_point(|record| decode(record).0 & !DUR < index);
        let (number, edit) = decode(records.get(after)?);
        match number & !DUR == index {
            true if number & DUR != 0 => Some(Edit::Dur(edit as i64)),
            true => Some(Edit::Tid(edit as u32)),
            false => None,
        }
    }
}

/// A thread with its added tracks.
struct ThreadLanes {
    /// The pid and tid as written to the output.
    pid: Vec<u8>,
    tid: Vec<u8>,
    /// The [`key_of`] of the old pid.
    process: Vec<u8>,
    /// The content of the thread's name.
    name: Option<Vec<u8>>,
    /// Open slices of the thread, then of each added track.
    open: Vec<OverlapTrack>,
    tids: Vec<u32>,
    /// Open B events. In the first walk each has its number; in the second walk, the tid of its
    /// track, or 0 if it stays on the thread.
    begins: Begins<u64>,
}

/// A walk over the output that assigns slices to tracks.
struct OverlapWalk<'w> {
    rule: Overlaps,
    new: &'w mut RenamedThreads,
    threads: Vec<ThreadLanes>,
    /// Numbers the threads by pid and tid as written. `known` maps each of these numbers to an
    /// index in `threads`. `lanes` maps the [`key_of`] of pid and tid to an index in `threads`.
    spelled: ThreadTable,
    known: Vec<usize>,
    lanes: HashMap<Vec<u8>, usize>,
    edits: Scratch,
    changes: &'w mut Changes,
    /// The end of each B event; the minimum time if it has none.
    ends: SpillArray<i64>,
    /// Number of B events so far.
    begun: usize,
    /// Heap bytes of the open B events of all threads.
    heap: u64,
    quota: Quota,
}

/// Finds the overlaps in the output. `has_ends`: whether there are E events.
pub(crate) fn find_overlaps<'e>(
    events: &mut OrderedEvents<'e, '_, '_>,
    runs: &'e EntryRuns,
    has_ends: bool,
    new: &mut RenamedThreads,
    changes: &mut Changes,
    config: &Config,
) -> Result<Overlapping, Error> {
    let rule = config.viewer.overlaps;
    if rule == Overlaps::Keep {
        return Ok(Overlapping::default());
    }
    let edits = Scratch::new(&config.limits.tmp_dir);
    let ends = SpillArray::new(config.limits.lease("ends of events", Share::of_index(1, 4)));
    let (spelled, lanes) = (ThreadTable::default(), HashMap::default());
    let (threads, known) = (Vec::new(), Vec::new());
    let (begun, heap, quota) = (0, 0, config.limits.open_quota());
    let mut walk = OverlapWalk {
        rule,
        new,
        threads,
        spelled,
        known,
        lanes,
        edits,
        changes,
        ends,
        begun,
        heap,
        quota,
    };
    if has_ends {
        each_event(events, runs, &config.limits, |event, entry, _| {
            walk.find_end(event, entry.time)
        })?;
        walk.threads.iter_mut().for_each(|thread| thread.begins.clear());
    }
    each_event(events, runs, &config.limits, |event, entry, index| walk.take(event, entry, index))?;
    walk.finish()
}

/// Calls `each` with every event of the output, its entry and its number.
fn each_event<'e>(
    events: &mut OrderedEvents<'e, '_, '_>,
    runs: &'e EntryRuns,
    limits: &Limits,
    mut each: impl FnMut(&Event<'_>, Entry, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let tier = limits.tier.unwrap_or_else(Tier::best);
    let mut finder = FieldFinder::new(tier);
    let mut patched = EventRewriter::new(&events.patchers, tier);
    let mut index = 0;
    events.each_batch(|entries| {
        for &entry in entries {
            let bytes = events.order.0.event(entry.place);
            let bytes = patched.apply(bytes, entry.place.offset());
            let spans = finder.find(bytes);
            each(&spans.of(bytes), entry, index)?;
            index += 1;
        }
        Ok(())
    })?;
    // the walk has consumed the runs
    events.timed = runs.timed(events.order);
    Ok(())
}

impl OverlapWalk<'_> {
    /// Finds the end of a B event, in the first walk.
    fn find_end(&mut self, event: &Event<'_>, time: i64) -> Result<(), Error> {
        match event.phase() {
            b'B' if time != i64::MIN => {
                self.begin(event, self.ends.len() as u64)?;
                self.ends.push(i64::MIN)
            }
            b'E' if time != i64::MIN => {
                if let Some(begin) = self.end(event) {
                    self.ends.set(begin as usize, time);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, event: &Event<'_>, value: u64) -> Result<(), Error> {
        let thread = self.thread_of(event);
        let begins = &mut self.threads[thread].begins;
        let before = begins.heap();
        begins.begin(name_key(event), value);
        self.heap += begins.heap() - before;
        self.quota.check(self.heap, OPEN)
    }

    /// Returns the value of the B event that an E event ends, or `None` if there is no such B
    /// event.
    fn end(&mut self, event: &Event<'_>) -> Option<u64> {
        let thread = self.thread_of(event);
        self.threads[thread].begins.end(name_key(event))
    }

    fn take(&mut self, event: &Event<'_>, entry: Entry, index: u64) -> Result<(), Error> {
        if event.is_metadata() {
            if let Some(MetadataEvent {
                kind: MetadataKind::ThreadName,
                value: Some([b'"', name @ .., b'"']),
            }) = MetadataEvent::of(event)
            {
                let thread = self.thread_of(event);
                self.threads[thread].name = Some(name.to_vec());
            }
            return Ok(());
        }
        let edit = match event.phase() {
            _ if entry.time == i64::MIN => None,
            b'X' => self.take_complete(event, entry.time),
            b'B' => self.take_begin(event, entry.time)?,
            b'E' => self.end(event).filter(|&tid| tid > 0).map(|tid| Edit::Tid(tid as u32)),
            _ => None,
        };
        let (number, edit) = match edit {
            None => return Ok(()),
            Some(Edit::Tid(tid)) => (index, u64::from(tid)),
            Some(Edit::Dur(ns)) => (index | DUR, ns as u64),
        };
        self.edits.write(&number.to_le_bytes())?;
        self.edits.write(&edit.to_le_bytes())
    }

    fn take_complete(&mut self, event: &Event<'_>, start: i64) -> Option<Edit> {
        let dur = event.dur().filter(|dur| dur.floor > 0)?;
        let exact = dur.exact && event.ts().is_some_and(|ts| ts.exact);
        let slice = Interval { start, end: start.saturating_add(dur.floor), exact };
        let thread = self.thread_of(event);
        let limit = self.threads[thread].open[0].enter(SliceKind::Complete, slice)?;
        if self.rule == Overlaps::Clip {
            let slice = Interval { end: limit, ..slice };
            self.threads[thread].open[0].enter(SliceKind::Complete, slice);
            self.changes.one(Change::Clipped);
            return Some(Edit::Dur(limit - start));
        }
        let tid = self.spill(thread, SliceKind::Complete, slice)?;
        self.changes.one(Change::Spilled);
        Some(Edit::Tid(tid))
    }

    /// Moves the pair of a B event to another track if it overlaps. Pairs move even where X events
    /// are clipped, because the E has a fixed place in the order.
    fn take_begin(&mut self, event: &Event<'_>, start: i64) -> Result<Option<Edit>, Error> {
        let end = self.ends.get(self.begun).filter(|&end| end != i64::MIN);
        self.begun += 1;
        let Some(end) = end else { return Ok(None) };
        let (thread, slice) = (self.thread_of(event), Interval { start, end, exact: true });
        let open = &mut self.threads[thread].open[0];
        let crosses = end > start && open.enter(SliceKind::Pair, slice).is_some();
        let tid = crosses.then(|| self.spill(thread, SliceKind::Pair, slice)).flatten();
        self.changes.add(Change::SpilledPairs, u64::from(tid.is_some()));
        self.begin(event, tid.map_or(0, u64::from))?;
        Ok(tid.map(Edit::Tid))
    }

    /// Returns the tid of the first added track with room for a slice. Adds a track if there is no
    /// room. Returns `None` if the thread has the maximum number of tracks.
    fn spill(&mut self, thread: usize, kind: SliceKind, slice: Interval) -> Option<u32> {
        let lanes = &mut self.threads[thread];
        let fits = lanes.open[1..].iter_mut().position(|open| open.enter(kind, slice).is_none());
        let lane = match fits {
            Some(lane) => lane,
            None if lanes.tids.len() == LANES => {
                self.changes.one(Change::Crowded);
                return None;
            }
            None => {
                let number = lanes.tids.len() as u32 + 1;
                let wanted = low_bits(&lanes.tid).wrapping_add(STEP.wrapping_mul(number));
                let taken: &mut HashSet<u32> =
                    self.new.used.entry(lanes.process.clone()).or_default();
                lanes.tids.push(free(wanted, taken));
                let mut open = OverlapTrack::default();
                open.enter(kind, slice);
                lanes.open.push(open);
                self.changes.one(Change::Lanes);
                lanes.tids.len() - 1
            }
        };
        Some(lanes.tids[lane])
    }

    fn thread_of(&mut self, event: &Event<'_>) -> usize {
        let [pid, tid] = [Field::Pid, Field::Tid].map(|f| event.field(f).unwrap_or_default());
        let spelled = self.spelled.number(pid, tid);
        if let Some(&known) = self.known.get(spelled) {
            return known;
        }
        let process = key_of(Some(pid));
        let lane = [&*process, &*key_of(Some(tid))].concat();
        let next = self.threads.len();
        let number = *self.lanes.entry(lane.clone()).or_insert(next);
        if number == next {
            let written = |new: Option<&u32>, old: &[u8]| {
                new.map_or_else(|| old.to_vec(), |new| new.to_string().into_bytes())
            };
            self.threads.push(ThreadLanes {
                pid: written(self.new.pids.get(&process), pid),
                tid: written(self.new.tids.get(&lane), tid),
                process,
                name: None,
                open: vec![OverlapTrack::default()],
                tids: Vec::new(),
                begins: Begins::default(),
            });
        }
        self.known.push(number);
        number
    }

    fn finish(self) -> Result<Overlapping, Error> {
        let mut names = Vec::new();
        for thread in &self.threads {
            for (number, tid) in thread.tids.iter().enumerate() {
                let name = thread.name.clone().unwrap_or_else(|| {
                    let tid = String::from_utf8_lossy(&thread.tid);
                    format!("Thread {}", tid.trim_matches('"')).into_bytes()
                });
                names.extend_from_slice(b"{\"args\":{\"name\":\"");
                names.extend_from_slice(&name);
                let rest = format!(
                    " (overlapping {})\"}},\"cat\":\"__metadata\",\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":",
                    number + 1
                );
                names.extend_from_slice(rest.as_bytes());
                names.extend_from_slice(if thread.pid.is_empty() { b"0" } else { &thread.pid });
                names.extend_from_slice(format!(",\"tid\":{tid},\"ts\":0}},\n").as_bytes());
            }
        }
        Ok(Overlapping { edits: self.edits.into_mapped()?, names })
    }
}
