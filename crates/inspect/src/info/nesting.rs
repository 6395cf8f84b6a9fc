//! Computes self times: at any time, a thread's time belongs to the open slice that began last.
//!
//! For nested slices this is the self time of profilers. Overlapping slices still count each
//! instant once, so the sum over a thread is its busy time. X slices are open for their `dur`, B
//! slices until their E ([`tracemill_trace::event::pairing`]). A slice without an E is open until
//! the last time of the thread; its self time is reported separately, because its real length is
//! unknown. An E without a B is ignored. Times are whole nanoseconds, rounded down.

use super::ledger::Ledger;
use super::report::{Unended, Usage};
use super::slices::{Slice, SortedSlices};
use tracemill_join::config::OPEN;
use tracemill_trace::event::pairing::Begins;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;

/// Returns the self times of threads by ascending hash, and the unended slices. Adds self times of
/// names to `names`.
///
/// Memory: the open slices of one thread.
pub(super) fn self_times(
    slices: &SortedSlices,
    names: &mut Ledger,
    quota: &Quota,
) -> Result<(Vec<(u64, u64)>, Unended), Error> {
    let mut threads: Vec<(u64, u64)> = Vec::new();
    let unended = Unended::default();
    let mut nest =
        NestingWalk { open: Begins::default(), now: 0, last: 0, busy: 0, unended, names, quota };
    slices.each(|slice| {
        if threads.last().is_none_or(|&(thread, _)| thread != slice.thread) {
            let busy = nest.end()?;
            threads.last_mut().into_iter().for_each(|thread| thread.1 = busy);
            threads.push((slice.thread, 0));
            (nest.now, nest.last) = (slice.ts, slice.ts);
        }
        nest.note(&slice)
    })?;
    let busy = nest.end()?;
    threads.last_mut().into_iter().for_each(|thread| thread.1 = busy);
    Ok((threads, nest.unended))
}

#[derive(Clone, Copy)]
struct OpenSlice {
    name: u64,
    /// End time; `None` for B slices.
    end: Option<i64>,
    /// Self time so far, in nanoseconds.
    self_ns: u64,
}

struct NestingWalk<'l> {
    open: Begins<OpenSlice>,
    /// Time up to which everything is accounted for.
    now: i64,
    last: i64,
    /// Total self time of the ended slices.
    busy: u64,
    unended: Unended,
    names: &'l mut Ledger,
    quota: &'l Quota,
}

impl NestingWalk<'_> {
    fn note(&mut self, slice: &Slice) -> Result<(), Error> {
        self.advance(slice.ts)?;
        self.last = self.last.max(slice.ts);
        match slice.phase() {
            b'X' => {
                let end = slice.ts.saturating_add_unsigned(slice.dur);
                self.last = self.last.max(end);
                self.open.enclose(OpenSlice { name: slice.name, end: Some(end), self_ns: 0 });
            }
            b'B' => {
                self.open.begin(slice.name, OpenSlice { name: slice.name, end: None, self_ns: 0 });
            }
            _ => return self.open.end(slice.name).map_or(Ok(()), |ended| self.close(ended)),
        }
        self.quota.check(self.open.heap(), OPEN)
    }

    /// Assigns the time up to `to` to the open slices, and closes the slices that end by `to`.
    fn advance(&mut self, to: i64) -> Result<(), Error> {
        while let Some(top) = self.open.innermost_mut() {
            let until = top.end.map_or(to, |end| end.min(to));
            if until > self.now {
                top.self_ns = top.self_ns.saturating_add(until.abs_diff(self.now));
                self.now = until;
            }
            if top.end.is_none_or(|end| end > to) {
                break;
            }
            let ended = self.open.pop_innermost();
            ended.map_or(Ok(()), |ended| self.close(ended))?;
        }
        self.now = self.now.max(to);
        Ok(())
    }

    fn end(&mut self) -> Result<u64, Error> {
        self.advance(self.last)?;
        while let Some(open) = self.open.pop_innermost() {
            // an X ends even if a B inside it never does
            if open.end.is_some() {
                self.close(open)?;
                continue;
            }
            self.unended.slices += 1;
            self.unended.self_ns = self.unended.self_ns.saturating_add(open.self_ns);
        }
        Ok(std::mem::take(&mut self.busy))
    }

    fn close(&mut self, OpenSlice { name, self_ns, .. }: OpenSlice) -> Result<(), Error> {
        if self_ns == 0 {
            return Ok(());
        }
        self.busy = self.busy.saturating_add(self_ns);
        self.names.add(name, b"", &Usage { self_ns, ..Usage::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::slices::{SliceRuns, sort};
    use tracemill_trace::run::limits::Limits;
    use tracemill_trace::run::memory::{Lease, Share};

    /// Computes self times; each list is a thread of (phase, ts, dur, name).
    fn times(threads: &[&[(u8, i64, u64, u64)]]) -> (Vec<u64>, Vec<(u64, u64)>) {
        let (threads, names, unended) = all_times(threads);
        assert_eq!(unended, Unended::default());
        (threads, names)
    }

    /// Returns the result of `times`, and the unended slices.
    fn all_times(threads: &[&[(u8, i64, u64, u64)]]) -> (Vec<u64>, Vec<(u64, u64)>, Unended) {
        let dir = std::env::temp_dir();
        let mut slices = SliceRuns::new(Lease::alone(0, &dir));
        for (thread, events) in threads.iter().enumerate() {
            for (at, &(phase, ts, dur, name)) in events.iter().enumerate() {
                let mut run = vec![Slice::new(thread as u64, ts, dur, name, at as u64, phase)];
                sort(&mut run);
                slices.push(run).expect("room on disk");
            }
        }
        let mut names = Ledger::new(Lease::alone(0, &dir));
        let quota = Limits::new(1, 1 << 20, &dir).quota("open", Share::of(1, 1));
        let (threads, unended) =
            self_times(&slices.finish().expect("room"), &mut names, &quota).expect("room");
        let names = names.finish().expect("room");
        let names = names.iter().map(|entry| (entry.hash, entry.usage.self_ns)).collect();
        (threads.into_iter().map(|thread| thread.1).collect(), names, unended)
    }

    #[test]
    fn self_time_belongs_to_the_innermost_slice() {
        // the child is written first
        let nested =
            times(&[&[(b'X', 2, 3, 2), (b'X', 0, 10, 1), (b'B', 6, 0, 3), (b'E', 8, 0, 0)]]);
        assert_eq!(nested, (vec![10], vec![(1, 5), (2, 3), (3, 2)]));
        let overlapping = times(&[&[(b'X', 0, 10, 1), (b'X', 5, 10, 2)]]);
        assert_eq!(overlapping, (vec![15], vec![(1, 5), (2, 10)]));
        let crossing = times(&[&[(b'B', 0, 0, 1), (b'X', 5, 10, 2), (b'E', 7, 0, 0)]]);
        assert_eq!(crossing, (vec![15], vec![(1, 5), (2, 10)]));
    }

    #[test]
    fn unended_slices_are_counted_separately() {
        let no_end = all_times(&[&[(b'B', 0, 0, 1), (b'X', 5, 10, 2)], &[(b'E', 3, 0, 9)]]);
        let unended = Unended { slices: 1, self_ns: 5 };
        assert_eq!(no_end, (vec![10, 0], vec![(2, 10)], unended));
        let buried =
            all_times(&[&[(b'X', 0, 4, 1), (b'B', 2, 0, 2), (b'E', 9, 0, 0), (b'B', 20, 0, 3)]]);
        let unended = Unended { slices: 1, self_ns: 0 };
        let below = all_times(&[&[(b'X', 0, 10, 1), (b'B', 2, 0, 2), (b'X', 3, 4, 3)]]);
        let unended_below = Unended { slices: 1, self_ns: 4 };
        assert_eq!(below, (vec![6], vec![(1, 2), (3, 4)], unended_below));
        assert_eq!(buried, (vec![9], vec![(1, 2), (2, 7)], unended));
        let ends = times(&[&[(b'X', i64::MIN, u64::MAX, 1), (b'X', i64::MAX - 1, 9, 2)]]);
        assert_eq!(ends, (vec![u64::MAX], vec![(1, u64::MAX - 1), (2, 1)]));
    }
}
