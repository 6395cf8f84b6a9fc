//! Callers across asynchronous tasks, for bottom-up trees.
//!
//! Cost: a walk over each flame chart, and two sorts of the tasks. Memory: the schedulers and the
//! entries around them.

use crate::sorted::SortedRows;
use crate::stacks::Schedulers;
use crate::tasks::{Jump, Position};
use tracemill_analysis::entries::Entry;
use tracemill_analysis::value::space::Space;
use tracemill_analysis::{AsyncCallers, Trace};
use tracemill_trace::Error;
use tracemill_trace::run::memory::Share;

/// An open entry, and its number among the callers if it has one.
struct Open {
    entry: Entry,
    number: Option<u32>,
}

/// An entry that begins a task, and the slot of its scheduler.
struct Waiting {
    thread: usize,
    entry: Entry,
    slot: u32,
}

const TASKS: &str = "asynchronous tasks";

/// Returns the callers of entries that `jumps` connects, by [`Position::key`] of the entry.
///
/// # Errors
/// Returns an I/O error if a temporary file fails, or
/// [`tracemill_trace::ErrorKind::Exceeded`] if there are too many tasks.
pub(crate) fn callers(
    trace: &Trace,
    jumps: &SortedRows<1, Jump>,
    space: &Space,
) -> Result<AsyncCallers, Error> {
    let room = trace.limits().quota("callers of asynchronous tasks", Share::of(1, 8));
    let Schedulers { slots, jumps } = Schedulers::of(jumps, space)?;
    let (mut slots, mut jumps) = (slots.iter().peekable(), jumps.iter().peekable());
    let mut callers = AsyncCallers::default();
    // The schedulers by slot, and the entries that continue with a slot.
    let mut schedulers: Vec<u32> = Vec::new();
    let mut waiting: Vec<Waiting> = Vec::new();
    for (thread, of) in trace.threads.iter().enumerate() {
        if of.entries() == 0 && of.samples() == 0 {
            continue;
        }
        let track = trace.track(of)?;
        let mut open: Vec<Open> = Vec::new();
        for (ordinal, placed) in (0u32..).zip(track.entries()) {
            let entry = placed.entry;
            let key = Position { thread: thread as u32, ordinal, ts: entry.ts }.key();
            open.truncate(placed.depth as usize);
            open.push(Open { entry, number: None });
            while jumps.next_if(|row| row.key[0] < key).is_some() {}
            if let Some(jump) = jumps.next_if(|row| row.key[0] == key) {
                waiting.push(Waiting { thread, entry, slot: jump.value.slot });
            }
            if slots.next_if(|slot| *slot == key).is_none() {
                continue;
            }
            let mut parent = None;
            for around in &mut open {
                let add = || callers.add(thread, around.entry, parent);
                parent = Some(*around.number.get_or_insert_with(add));
            }
            schedulers.extend(parent);
            room.check(callers.heap() + 4 * schedulers.capacity() as u64, TASKS)?;
        }
        let waiting = waiting.capacity() * size_of::<Waiting>();
        room.check(callers.heap() + waiting as u64, TASKS)?;
    }
    for Waiting { thread, entry, slot } in waiting {
        if let Some(&scheduler) = schedulers.get(slot as usize) {
            callers.link(thread, &entry, scheduler);
        }
    }
    room.check(callers.heap(), TASKS)?;
    Ok(callers)
}
