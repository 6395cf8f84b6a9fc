//! Timed entries after reading.

use crate::clock::{Clocks, shift_parts, shift_runs};
use crate::config::Config;
use crate::emit::Timed;
use crate::error::Error;
use crate::order::{Buckets, Entry, MergedRuns, Order, Spill, SpilledRuns, entries_at};
use crate::store::Store;
use std::sync::Mutex;

/// Sorted runs: in memory, or on disk.
pub(super) enum Runs {
    Memory(Vec<Vec<Entry>>),
    Disk(Vec<SpilledRuns>),
}

impl Runs {
    /// Moves the times of inputs.
    pub(super) fn shift(
        &mut self,
        clocks: &Clocks,
        store: &Store<'_>,
        config: &Config,
    ) -> Result<(), Error> {
        match self {
            Runs::Memory(parts) => shift_parts(parts, clocks, store),
            Runs::Disk(all) => {
                for runs in all {
                    *runs = shift_runs(runs, clocks, store, &config.tmp_dir)?;
                }
            }
        }
        Ok(())
    }

    /// These and others as one.
    pub(super) fn join(
        self,
        others: Runs,
        order: Order<'_, '_>,
        config: &Config,
    ) -> Result<Runs, Error> {
        let on_disk = |runs| -> Result<Vec<SpilledRuns>, Error> {
            match runs {
                Runs::Disk(runs) => Ok(runs),
                Runs::Memory(parts) => {
                    let mut spill = Spill::new(&config.tmp_dir)?;
                    spill.run(&parts, order)?;
                    Ok(vec![spill.finish()?.0])
                }
            }
        };
        match (self, others) {
            (Runs::Memory(mut own), Runs::Memory(others)) => {
                own.extend(others);
                Ok(Runs::Memory(own))
            }
            (own, others) => {
                let mut all = on_disk(own)?;
                all.extend(on_disk(others)?);
                Ok(Runs::Disk(all))
            }
        }
    }

    /// Runs on disk.
    pub(super) fn spilled(&self) -> u64 {
        match self {
            Runs::Memory(_) => 0,
            Runs::Disk(all) => all.iter().map(SpilledRuns::count).sum(),
        }
    }

    /// As the output takes them.
    pub(super) fn timed(&self, order: Order<'_, '_>) -> Timed<'_> {
        match self {
            Runs::Memory(parts) => Timed::Buckets(Buckets::over(parts.iter().map(Vec::as_slice))),
            Runs::Disk(all) => {
                let runs = all.iter().flat_map(SpilledRuns::runs);
                Timed::Merged(Mutex::new(MergedRuns::over(runs, order)))
            }
        }
    }

    /// Every entry of a time, in no particular order.
    pub(super) fn at(&self, time: i64) -> Vec<Entry> {
        match self {
            Runs::Memory(parts) => entries_at(parts, time),
            Runs::Disk(all) => all.iter().flat_map(|runs| runs.at(time)).collect(),
        }
    }
}
