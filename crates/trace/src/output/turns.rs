//! Lets threads pass a state from task to task in order.
//!
//! ```text
//!   task 0   gather ─ pass ─────────
//!   task 1   gather ·····─ pass ────        waits only for the state that task 0 passes on
//!   task 2   gather ··········─ pass
//! ```

use crate::run::error::{Error, ErrorKind};
use std::sync::{Condvar, Mutex, MutexGuard};

/// A state that numbered tasks change in order, on any threads.
///
/// Cost: a lock and a system call per task without waiting.
/// ```
/// use tracemill_trace::output::Sequencer;
///
/// let text = Sequencer::new(0, String::new());
/// let append = |task: usize| text.pass(task, |text| text.push_str(&task.to_string()));
/// std::thread::scope(|scope| {
///     for task in [3, 0, 2, 1] {
///         scope.spawn(move || append(task));
///     }
/// });
/// assert_eq!(text.into_state(), "0123", "whichever thread came first");
/// ```
pub struct Sequencer<T> {
    next: Mutex<Next<T>>,
    turned: Condvar,
}

struct Next<T> {
    number: usize,
    state: T,
    /// Whether a worker has failed, so that waiting tasks must give up.
    failed: bool,
}

impl<T> Sequencer<T> {
    /// Creates a sequencer that starts with task `number`.
    pub fn new(number: usize, state: T) -> Self {
        let next = Next { number, state, failed: false };
        Sequencer { next: Mutex::new(next), turned: Condvar::new() }
    }

    /// Waits for the turn of task `number`, changes the state and passes the turn on.
    ///
    /// # Errors
    /// Returns [`ErrorKind::BrokenPipe`] if a worker has given up.
    pub fn pass<R>(&self, number: usize, change: impl FnOnce(&mut T) -> R) -> Result<R, Error> {
        let mut next = self.wait(number)?;
        let result = change(&mut next.state);
        self.turn(next);
        Ok(result)
    }

    /// Wakes all waiting tasks, which then fail.
    pub fn give_up(&self) {
        self.lock().failed = true;
        self.turned.notify_all();
    }

    /// Returns the final state.
    pub fn into_state(self) -> T {
        self.next.into_inner().unwrap_or_else(|e| e.into_inner()).state
    }

    fn wait(&self, number: usize) -> Result<MutexGuard<'_, Next<T>>, Error> {
        let mut next = self.lock();
        while next.number != number && !next.failed {
            next = self.turned.wait(next).unwrap_or_else(|e| e.into_inner());
        }
        if next.failed { Err(ErrorKind::BrokenPipe.into()) } else { Ok(next) }
    }

    fn turn(&self, mut next: MutexGuard<'_, Next<T>>) {
        next.number += 1;
        drop(next);
        self.turned.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Next<T>> {
        self.next.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Start offsets of batches whose lengths are known only after gathering. The turn passes before
/// the bytes are written, so writes stay parallel.
pub struct Turns(Sequencer<u64>);

impl Turns {
    /// Creates the turns; batch `number` begins at `offset`.
    pub fn new(number: usize, offset: u64) -> Self {
        Turns(Sequencer::new(number, offset))
    }

    /// Returns the start offset of a batch. If the offset is unknown, waits for it if `waits`, else
    /// returns `None`.
    pub(super) fn begin(&self, number: usize, waits: bool) -> Result<Option<u64>, Error> {
        if waits {
            return Ok(Some(self.0.wait(number)?.state));
        }
        let next = self.0.lock();
        if next.failed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        Ok((next.number == number).then_some(next.state))
    }

    /// Sets the end offset of the current batch and passes the turn on.
    pub(super) fn end(&self, offset: u64) {
        let mut next = self.0.lock();
        next.state = offset;
        self.0.turn(next);
    }

    /// Wakes all waiting batches, which then fail.
    pub fn give_up(&self) {
        self.0.give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::target::OutputConfig;
    use crate::output::{Length, Output, SLICE, UNPLACED};
    use crate::run::limits::Limits;
    use crate::run::threads::on_dedicated_threads;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn batches_are_written_one_after_the_other() {
        let lens = [0, 1, UNPLACED + 3 * SLICE + 7, 4095, 5, UNPLACED, 4097, 2 * SLICE + 1, 1];
        let bytes: Vec<u8> = (0..lens.iter().sum::<usize>()).map(|i| (i / 5 % 251) as u8).collect();
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("writable");
        let path = dir.path().join("out");
        let config = Limits::new(3, 64 << 20, dir.path());
        let file = OutputConfig::file(&path);
        let output = Output::create(&file, &config, Length::Exactly(7)).expect("writable");
        let (turns, next) = (Turns::new(0, 0), AtomicUsize::new(0));
        on_dedicated_threads(3, || {
            let mut buffer = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(&len) = lens.get(number) else { return };
                let start = lens[..number].iter().sum::<usize>();
                let mut batch = output.batch_in_turn(number, &turns, &mut buffer);
                let batch_bytes = &bytes[start..start + len];
                let (small, large) = batch_bytes.split_at(batch_bytes.len() / 3);
                let pieces = small.chunks(1_003).chain(large.chunks(100_003));
                pieces.into_iter().try_for_each(|piece| batch.push(piece)).expect("writable");
                batch.finish().expect("writable");
            }
        });
        output.finish().expect("writable");
        assert!(std::fs::read(&path).expect("it was written") == bytes);
        turns.give_up();
        assert!(turns.begin(lens.len(), true).is_err());
    }
}
