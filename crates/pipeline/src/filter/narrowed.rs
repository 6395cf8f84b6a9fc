//! What is known of a trace before it is read, so that little of it need be read.
//!
//! What is not read goes, and why it goes is known: because of its thread's ids, or because it lies before or behind what is asked
//! for. So it is counted as if it had been read.

pub(crate) use super::reason::Counts;
use super::reason::{FROM, Reason, TO};
use super::undecided::Undecided;
use crate::pieces::Pieces;
use std::ops::Range;
use tracemill_core::hash::HashMap;

/// What an index says of the one input, which is an undamaged document and all JSON.
#[derive(Debug)]
pub(crate) struct Narrowed {
    /// Where the trace starts, in nanoseconds.
    pub(crate) start: i64,
    /// What is read of it: everything that may stay, and whatever that belongs to.
    pub(crate) pieces: Pieces,
    pub(crate) by: By,
}

/// Why everything else goes.
#[derive(Debug)]
pub(crate) enum By {
    /// It lies elsewhere.
    Times(Times),
    /// Its threads' ids are others.
    Threads(Vec<ThreadTotal>),
}

/// What is known where times alone are asked for.
#[derive(Debug)]
pub(crate) struct Times {
    /// Times from which all begins and ends are read, up to the second.
    pub(crate) seen: Range<i64>,
    /// Begins and ends by their places that count wherever they stand, each with the number of its pair. These pair with each other,
    /// all others without them.
    pub(crate) apart: HashMap<u64, u64>,
    /// An end with a name closes no begin of another one.
    pub(crate) only_by_name: bool,
    /// What stands in stretches that are not read as a whole, before and behind.
    pub(crate) rest: [Counts; 2],
    /// Places of single events that are read of those.
    pub(crate) beside: HashMap<u64, Side>,
}

/// On which side of what is asked for something lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before = 0,
    Behind = 1,
}

impl Side {
    /// Why it goes.
    pub(super) fn reason(self) -> Reason {
        match self {
            Side::Before => FROM,
            Side::Behind => TO,
        }
    }
}

/// A thread as it is spelled, with all of its events.
#[derive(Debug)]
pub(crate) struct ThreadTotal {
    pub(crate) pid: Box<[u8]>,
    pub(crate) tid: Box<[u8]>,
    pub(crate) all: Counts,
}

impl Narrowed {
    pub(super) fn only_by_name(&self) -> bool {
        matches!(&self.by, By::Times(times) if times.only_by_name)
    }

    /// Takes a begin or an end as it belongs here; if it does not matter, where it lies.
    pub(super) fn take(&self, part: &mut Undecided, place: u64) -> Option<Side> {
        let By::Times(times) = &self.by else { return None };
        if let Some(&pair) = times.apart.get(&place) {
            (part.name, part.is_apart) = (pair, true);
            return None;
        }
        match part.entry.time {
            time if time < times.seen.start => Some(Side::Before),
            time if time >= times.seen.end => Some(Side::Behind),
            _ => None,
        }
    }
}
