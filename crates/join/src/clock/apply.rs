//! Shifts index entries to the time of the output.

use super::Clocks;
use std::path::Path;
use tracemill_tokenizer::{Nanos, fields_of};
use tracemill_trace::order::{EntryRuns, Order, write_run};
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{DiskRuns, RunFile};
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::{EXACT, Entry, rank};
use tracemill_trace::store::place::Place;
use tracemill_trace::time::shift::Shift;

const MAX: u64 = Nanos::MAX as u64;

/// Shifts sorted runs.
pub fn shift_runs(
    runs: &mut EntryRuns,
    clocks: &Clocks,
    store: &Store<'_>,
    dir: &Path,
) -> Result<(), Error> {
    match runs {
        EntryRuns::Memory(parts) => shift_parts(parts, clocks, store),
        EntryRuns::Disk(all) => {
            for runs in all {
                *runs = shift_spilled(runs, clocks, store, dir)?;
            }
        }
    }
    Ok(())
}

/// Shifts the entry of an event; the factor of `shift` is already applied.
fn moved(shift: &Shift, entry: Entry, store: &Store<'_>) -> Entry {
    let plain = entry.place.rank() != EXACT;
    let moved = entry.time.checked_add(shift.offset()).filter(|time| time.unsigned_abs() < MAX);
    if let Some(time) = moved.filter(|_| plain) {
        return Entry { time, place: entry.place };
    }
    // sub-nanosecond digits or an out-of-range time need the text of the event
    let event = store.event(entry.place);
    let spans = fields_of(event);
    let Some((ts, dur)) = shift.times(&spans.of(event)) else { return entry };
    let place = Place::new(entry.place.offset(), event.len(), rank(ts, dur));
    Entry { time: ts.floor, place }
}

fn shift_parts(parts: &mut [Vec<Entry>], clocks: &Clocks, store: &Store<'_>) {
    for part in parts {
        for entry in part.iter_mut() {
            if let Some(shift) = clocks.shift_at(entry.place.offset()) {
                *entry = moved(shift, *entry, store);
            }
        }
        if !part.is_sorted() {
            // several inputs, or times with sub-nanosecond digits, may need another order
            part.sort_unstable();
        }
    }
}

/// Shifts runs on disk: reads, sorts and rewrites each run, because a run has entries of several
/// inputs.
///
/// Memory: the longest run.
fn shift_spilled(
    runs: &DiskRuns,
    clocks: &Clocks,
    store: &Store<'_>,
    dir: &Path,
) -> Result<DiskRuns, Error> {
    let mut file = RunFile::new(dir);
    for run in runs.entries() {
        let moved = |entry: Entry| match clocks.shift_at(entry.place.offset()) {
            Some(shift) => moved(shift, entry, store),
            None => entry,
        };
        let mut entries: Vec<Entry> = run.iter().map(moved).collect();
        entries.sort_unstable();
        write_run(&mut file, std::iter::once(&entries[..]), Order(store))?;
    }
    file.finish()
}
