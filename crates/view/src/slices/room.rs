//! Shares memory between slices and background work. A slice interrupts background work
//! immediately; the work starts again later.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tracemill_trace::run::limits::Cancel;

#[derive(Default)]
struct RoomState {
    slices: usize,
    /// Cancels the background work that runs now, if any.
    spare: Option<Cancel>,
    is_closed: bool,
    /// Whether a request needs causes.
    needs_causes: bool,
}

/// Grants the memory to slices or to background work.
#[derive(Default)]
pub(crate) struct Room {
    state: Mutex<RoomState>,
    changed: Condvar,
}

/// The memory granted to a slice. Dropping this value returns the memory.
pub(crate) struct TakenRoom<'r>(&'r Room);

impl Drop for TakenRoom<'_> {
    fn drop(&mut self) {
        self.0.state().slices -= 1;
        self.0.changed.notify_all();
    }
}

impl Room {
    fn state(&self) -> MutexGuard<'_, RoomState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn until(&self, is_so: impl Fn(&RoomState) -> bool) -> MutexGuard<'_, RoomState> {
        let waits = self.changed.wait_while(self.state(), |state| !is_so(state));
        waits.unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the memory for a slice. Cancels background work and waits for its end.
    pub(crate) fn take(&self) -> TakenRoom<'_> {
        let mut state = self.state();
        state.slices += 1;
        state.spare.iter().for_each(Cancel::cancel);
        drop(state);
        drop(self.until(|state| state.spare.is_none()));
        TakenRoom(self)
    }

    /// Runs `work` while no slice has the memory. If a slice interrupts `work`, runs it again
    /// later. Returns `None` if [`Room::close`] was called.
    pub(crate) fn spare<T>(&self, mut work: impl FnMut(&Cancel) -> T) -> Option<T> {
        loop {
            let cancel = Cancel::default();
            let mut state = self.until(|state| state.slices == 0 || state.is_closed);
            if state.is_closed {
                return None;
            }
            state.spare = Some(cancel.clone());
            drop(state);
            let done = work(&cancel);
            self.state().spare = None;
            self.changed.notify_all();
            if cancel.check().is_ok() {
                return Some(done);
            }
        }
    }

    /// Reports that a request needs causes.
    pub(crate) fn need_causes(&self) {
        self.state().needs_causes = true;
        self.changed.notify_all();
    }

    /// Waits until a request needs causes, or [`Room::close`] is called.
    pub(crate) fn wait_for_need(&self) {
        drop(self.until(|state| state.needs_causes || state.is_closed));
    }

    /// Cancels background work, and prevents that any starts.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.spare.iter().for_each(Cancel::cancel);
        drop(state);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::channel;

    #[test]
    fn slice_interrupts_background_work() {
        let (room, runs) = (Room::default(), AtomicU32::new(0));
        let (begun, begins) = channel();
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                room.spare(|cancel| {
                    // the first run goes on until a slice interrupts it
                    if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                        begun.send(()).unwrap();
                        while cancel.check().is_ok() {
                            std::thread::yield_now();
                        }
                    }
                })
            });
            begins.recv().unwrap();
            let taken = room.take();
            assert_eq!(runs.load(Ordering::Relaxed), 1);
            drop(taken);
            assert_eq!(worker.join().unwrap(), Some(()));
        });
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        room.close();
        assert_eq!(room.spare(|_| ()), None);
    }
}
