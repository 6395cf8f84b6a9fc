//! Entries of the index moved to the time of the output.

use super::Clocks;
use crate::error::Error;
use crate::order::{Entry, Order, Runs, Spill, SpilledRuns};
use crate::store::Store;
use std::path::Path;

/// Moves sorted runs.
pub(crate) fn shift_runs(
    runs: &mut Runs,
    clocks: &Clocks,
    store: &Store<'_>,
    dir: &Path,
) -> Result<(), Error> {
    match runs {
        Runs::Memory(parts) => shift_parts(parts, clocks, store),
        Runs::Disk(all) => {
            for runs in all {
                *runs = shift_spilled(runs, clocks, store, dir)?;
            }
        }
    }
    Ok(())
}

fn shift_parts(parts: &mut [Vec<Entry>], clocks: &Clocks, store: &Store<'_>) {
    for part in parts {
        for entry in part.iter_mut() {
            if let Some(shift) = clocks.shift_at(entry.place.offset()) {
                *entry = shift.entry(*entry, store);
            }
        }
        if !part.is_sorted() {
            // of several inputs, or finer times, which have other ranks than they had
            part.sort_unstable();
        }
    }
}

/// Moves the entries of runs on disk, which have inputs mixed: each run is read, put in order again and written anew.
///
/// Memory: the longest run, as when it was written.
fn shift_spilled(
    runs: &SpilledRuns,
    clocks: &Clocks,
    store: &Store<'_>,
    dir: &Path,
) -> Result<SpilledRuns, Error> {
    let mut spill = Spill::new(dir)?;
    for run in runs.runs() {
        let moved = |entry: Entry| match clocks.shift_at(entry.place.offset()) {
            Some(shift) => shift.entry(entry, store),
            None => entry,
        };
        let mut entries: Vec<Entry> = run.iter().map(moved).collect();
        entries.sort_unstable();
        spill.run(&[entries], Order(store))?;
    }
    Ok(spill.finish()?.0)
}
