//! What was not read, counted as it would have been.

use super::Selection;
use super::narrowed::{By, Narrowed, Side, ThreadTotal, Times};
use super::reason::{Counts, PASSES};
use crate::pieces::PieceOutcome;
use tracemill_core::json::content;

impl Selection<'_> {
    /// Counts what was not read as it would have been.
    pub(super) fn count_rest(&mut self, known: &Narrowed) -> PieceOutcome<()> {
        if !self.criteria.asked.is_all_found() {
            return PieceOutcome::Cannot(
                "what is asked for is not in the part that the index names",
            );
        }
        let counted = match &known.by {
            By::Times(_) if self.seen.is_odd => {
                return PieceOutcome::Cannot(
                    "some begins or ends have no time, or are kept in any case",
                );
            }
            By::Times(times) => self.count_sides(times),
            By::Threads(threads) => self.count_threads(threads),
        };
        counted.map_or(PieceOutcome::Wrong, PieceOutcome::Done)
    }

    fn count_sides(&mut self, times: &Times) -> Option<()> {
        for side in [Side::Before, Side::Behind] {
            let rest = times.rest[side as usize].less(self.seen.beside[side as usize])?;
            self.tallies.add_all(side.reason(), rest);
        }
        Some(())
    }

    fn count_threads(&mut self, threads: &[ThreadTotal]) -> Option<()> {
        for ThreadTotal { pid, tid, all } in threads {
            let seen = &mut self.seen;
            let read = seen.threads.of(pid, tid, &self.criteria) as usize;
            let rest = all.less(seen.of_threads.get(read).copied().unwrap_or_default())?;
            if rest == Counts::default() {
                continue;
            }
            let (mut own, mut other) = (Vec::new(), Vec::new());
            let reason = self.criteria.judge_ids(content(pid, &mut own), content(tid, &mut other));
            if reason == PASSES || rest.events == 0 {
                return None;
            }
            self.threads.of(pid, tid, &self.criteria);
            self.tallies.add_all(reason, rest);
        }
        Some(())
    }
}
