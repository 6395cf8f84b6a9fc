//! Batches that become longer or shorter than what they are made of: each begins where the one before ends.

use crate::error::{Error, ErrorKind};
use std::sync::{Condvar, Mutex, MutexGuard};

/// Where the next batch begins, once it is known.
pub(crate) struct Turns {
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
    pub(crate) fn new(number: usize, offset: u64) -> Self {
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
    pub(crate) fn give_up(&self) {
        self.lock().failed = true;
        self.turned.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(|e| e.into_inner())
    }
}
