//! Ids of tracks.
//!
//! The id of a track has the kind of the track above the number of its thread, process, first slice
//! or counter. So every scan finds the same id without a table of tracks.

use crate::input::{EventThread, Renumbering};

/// Number of track ids per kind and input.
const PER_KIND: i64 = 1 << 37;

/// The kind of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TrackKind {
    /// Slices and instants of a thread. The id of the track is that of the thread.
    Thread,
    /// Instants of a process, and slices without a tid.
    Process,
    /// Async slices of one id.
    Async,
    /// Async slices of one id that is local to a process.
    LocalAsync,
    /// Values of a counter.
    Counter,
    /// Instants of an input, and slices without a pid and a tid.
    Global,
}

impl TrackKind {
    /// Returns the difference between the id of a track and the id of its thread, process, first slice
    /// or counter.
    pub const fn offset(self) -> i64 {
        self as i64 * PER_KIND
    }

    /// Returns the name of the kind, as in Perfetto.
    pub const fn name(self) -> &'static str {
        match self {
            TrackKind::Thread => "thread_execution",
            TrackKind::Process => "chrome_process_instant",
            TrackKind::Async => "legacy_async_global_slice",
            TrackKind::LocalAsync => "legacy_async_process_slice",
            TrackKind::Counter => "json_counter",
            TrackKind::Global => "legacy_chrome_global_instants",
        }
    }
}

/// The thread, process or input that a track belongs to.
#[derive(Clone, Copy)]
pub(crate) enum TrackOwner {
    Thread(u32),
    Process(u32),
    Input,
}

impl TrackOwner {
    /// Returns the owner of the slices of an event.
    #[inline]
    pub(crate) fn of(event: EventThread) -> Self {
        match (event.thread, event.process) {
            (Some(thread), _) => TrackOwner::Thread(thread),
            (None, Some(process)) => TrackOwner::Process(process),
            (None, None) => TrackOwner::Input,
        }
    }

    /// Returns the id of the track, where `base` is the id of the input.
    #[inline]
    pub(crate) fn track(self, base: i64, numbers: &Renumbering) -> i64 {
        match self {
            TrackOwner::Thread(thread) => base + numbers.threads[thread as usize] as i64,
            TrackOwner::Process(process) => {
                base + numbers.processes[process as usize] as i64 + TrackKind::Process.offset()
            }
            TrackOwner::Input => base + TrackKind::Global.offset(),
        }
    }
}
