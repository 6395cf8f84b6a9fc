//! Batches that become longer or shorter than what they are made of: each begins where the one before ends.

use crate::error::{Error, ErrorKind};
use std::sync::{Condvar, Mutex, MutexGuard};

/// Where the next batch begins, once it is known.
pub struct Turns {
    next: Mutex<Next>,
    turned: Condvar,
}

struct Next {
    /// The number of the batch whose turn it is, and where it begins.
    number: usize,
    offset: u64,
    /// A worker has failed: nobody's turn will come.
    failed: bool,
}

impl Turns {
    /// The batch `number` begins at `offset`.
    pub fn new(number: usize, offset: u64) -> Self {
        let next = Next { number, offset, failed: false };
        Turns { next: Mutex::new(next), turned: Condvar::new() }
    }

    /// Where a batch begins: waits until that is known, or says `None` if it is not yet.
    pub(super) fn begin(&self, number: usize, waits: bool) -> Result<Option<u64>, Error> {
        let mut next = self.lock();
        while waits && next.number != number && !next.failed {
            next = self.turned.wait(next).unwrap_or_else(|e| e.into_inner());
        }
        if next.failed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        Ok((next.number == number).then_some(next.offset))
    }

    /// The batch whose turn it is ends before `offset`.
    pub(super) fn end(&self, offset: u64) {
        let mut next = self.lock();
        (next.number, next.offset) = (next.number + 1, offset);
        drop(next);
        self.turned.notify_all();
    }

    /// Wakes all that wait for a turn, since it will not come.
    pub fn give_up(&self) {
        self.lock().failed = true;
        self.turned.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(|e| e.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::output::{Length, Output, SLICE, UNPLACED};
    use crate::target::OutputConfig;
    use crate::threads::on_threads;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Batches of all lengths, also longer than what is gathered without a place, of pieces that are gathered and pieces that
    /// are not, from several threads.
    #[test]
    fn batches_stand_behind_each_other() {
        let lens = [0, 1, UNPLACED + 3 * SLICE + 7, 4095, 5, UNPLACED, 4097, 2 * SLICE + 1, 1];
        let bytes: Vec<u8> = (0..lens.iter().sum::<usize>()).map(|i| (i / 5 % 251) as u8).collect();
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("writable");
        let path = dir.path().join("out");
        let config = Limits::new(3, 64 << 20, dir.path());
        let file = OutputConfig::file(&path);
        let output = Output::create(&file, &config, Length::Exactly(7)).expect("writable");
        let (turns, next) = (Turns::new(0, 0), AtomicUsize::new(0));
        on_threads(3, || {
            let mut buffer = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(&len) = lens.get(number) else { return };
                let start = lens[..number].iter().sum::<usize>();
                let mut batch = output.batch_in_turn(number, &turns, &mut buffer);
                let own = &bytes[start..start + len];
                let (small, large) = own.split_at(own.len() / 3);
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
