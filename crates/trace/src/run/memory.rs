//! The memory of a run as leases: each list, sorter and buffer that may grow with the input leases its bytes by name, so that they can be added up.
//!
//! ```
//! use tracemill_trace::Limits;
//! use tracemill_trace::run::memory::Share;
//! use tracemill_trace::spill::SpillVec;
//!
//! let limits = Limits::new(2, 64 << 20, std::env::temp_dir());
//! let lease = limits.lease("times of frames", Share::of(1, 4));
//! assert_eq!(lease.bytes(), 16 << 20);
//! let mut times = SpillVec::new(lease.part(Share::of(1, 2))); // it holds its part as long as it lives
//! times.push(7u64)?;
//! assert_eq!(limits.budget.most(), lease.bytes());
//! # Ok::<(), tracemill_trace::Error>(())
//! ```
//!
//! A lease is an upper bound: its holder goes to disk beyond it. All clones of a run's [`Limits`](super::limits::Limits) share one budget. Making a list never fails: where
//! less is left than is asked for, the lease has what is left (but never less than a sixteenth, with which every holder still works), and
//! [`Leased::short`] says how much it is short of. No verb comes to that: a test adds up the leases of each.
//!
//! What cannot go to disk has a [`Quota`](super::limits::Quota): a cap beyond which the run ends. It leases what it has come to, in steps of 128 KiB.
//! Tests that set [`Limits::shares`](super::limits::Limits) have leases of the sizes they ask for, which are not added up.
//!
#![doc = include_str!("leases.md")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The least part of its request that a lease has.
const LEAST: Share = Share::of(1, 16);

/// The base of a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShareBase {
    Memory,
    Index,
    Payload,
}

/// A fraction of the memory, or of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub(super) whole: ShareBase,
    parts: u64,
    of: u64,
}

impl Share {
    /// `parts` in `of` of the memory.
    pub const fn of(parts: u64, of: u64) -> Self {
        Share { whole: ShareBase::Memory, parts, of }
    }

    /// The same of the quarter of the memory that entries and other records of events have.
    pub const fn of_index(parts: u64, of: u64) -> Self {
        Share { whole: ShareBase::Index, parts, of }
    }

    /// The same of the quarter of the memory that the bytes of pipes and packed inputs have.
    pub const fn of_payload(parts: u64, of: u64) -> Self {
        Share { whole: ShareBase::Payload, parts, of }
    }

    /// The share of one of `holders` that work side by side.
    #[must_use]
    pub fn divided(self, holders: usize) -> Self {
        Share { of: self.of * holders.max(1) as u64, ..self }
    }

    /// The share of so many bytes.
    pub fn bytes(self, of: u64) -> u64 {
        let bytes = u128::from(of) * u128::from(self.parts) / u128::from(self.of);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// The memory of a run, and its leases. Clones are one budget.
#[derive(Clone, Debug)]
pub struct MemoryBudget(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    memory: u64,
    leases: Mutex<Leases>,
}

#[derive(Debug, Default)]
struct Leases {
    now: u64,
    most: u64,
    by_name: BTreeMap<&'static str, (u64, Leased)>,
}

/// The use of the leases of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leased {
    /// Their name.
    pub name: &'static str,
    /// The most bytes of them at one time.
    pub most: u64,
    /// The most bytes by which one was smaller than its request.
    pub short: u64,
}

impl MemoryBudget {
    /// Creates a budget of `memory` bytes.
    pub fn new(memory: u64) -> Self {
        MemoryBudget(Arc::new(Budget { memory, leases: Mutex::default() }))
    }

    /// Returns the most bytes that were leased at one time.
    pub fn most(&self) -> u64 {
        self.leases().most
    }

    /// Returns the use of all leases, by name.
    pub fn report(&self) -> Vec<Leased> {
        self.leases().by_name.values().map(|(_, leased)| leased.clone()).collect()
    }

    fn leases(&self) -> MutexGuard<'_, Leases> {
        self.0.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leases `asked` bytes, or what is left; of more than `least` it may be less.
    fn take(&self, name: &'static str, asked: u64, least: u64) -> u64 {
        let mut leases = self.leases();
        let bytes = asked.min(self.0.memory.saturating_sub(leases.now)).max(least);
        leases.now += bytes;
        leases.most = leases.most.max(leases.now);
        let (now, leased) = leases.by_name.entry(name).or_default();
        *now += bytes;
        leased.name = name;
        leased.most = leased.most.max(*now);
        leased.short = leased.short.max(asked - bytes);
        bytes
    }

    /// Creates an empty lease that grows: see [`Growing::reach`].
    pub(super) fn growing(&self, name: &'static str) -> Growing {
        Growing { budget: self.clone(), name, bytes: 0 }
    }
}

/// Bytes of a budget under one name, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Growing {
    budget: MemoryBudget,
    name: &'static str,
    bytes: u64,
}

impl Growing {
    /// Leases what is missing to `bytes`, as far as it is left.
    pub(super) fn reach(&mut self, bytes: u64) {
        self.bytes += self.budget.take(self.name, bytes.saturating_sub(self.bytes), 0);
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        let mut leases = self.budget.leases();
        leases.now -= self.bytes;
        if let Some((now, _)) = leases.by_name.get_mut(self.name) {
            *now -= self.bytes;
        }
    }
}

/// Bytes that a holder may take, and the folder for what exceeds them. Its parts and its clones hold the whole lease: the bytes are given back when
/// the last of them is dropped.
#[derive(Clone, Debug)]
pub struct Lease {
    bytes: u64,
    tmp_dir: Arc<PathBuf>,
    /// `None` if it is not added up.
    _held: Option<Arc<Growing>>,
}

impl Lease {
    /// `asked` bytes of `budget`, or what is left.
    pub(super) fn new(
        budget: &MemoryBudget,
        name: &'static str,
        asked: u64,
        tmp_dir: &Path,
    ) -> Self {
        let bytes = budget.take(name, asked, LEAST.bytes(asked));
        let held = Some(Arc::new(Growing { budget: budget.clone(), name, bytes }));
        Lease { _held: held, ..Lease::alone(bytes, tmp_dir) }
    }

    /// `bytes` of no budget.
    pub fn alone(bytes: u64, tmp_dir: impl Into<PathBuf>) -> Self {
        Lease { bytes, tmp_dir: Arc::new(tmp_dir.into()), _held: None }
    }

    /// The bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many values of a type they are.
    pub(crate) fn room_for<T>(&self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX) / size_of::<T>().max(1)
    }

    /// The folder for what exceeds them.
    pub fn tmp_dir(&self) -> &Path {
        &self.tmp_dir
    }

    /// A part of it, whatever else is taken of it: who divides a lease sees all its parts at one place.
    #[must_use]
    pub fn part(&self, share: Share) -> Self {
        Lease { bytes: share.bytes(self.bytes), ..self.clone() }
    }

    /// The same lease, for a holder whose bytes are counted elsewhere.
    pub(crate) fn unbounded(&self) -> Self {
        Lease { bytes: u64::MAX, ..self.clone() }
    }

    /// The part of one of `holders`.
    #[must_use]
    pub fn divided(&self, holders: usize) -> Self {
        self.part(Share::of(1, 1).divided(holders))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn no_more_is_leased_than_there_is() {
        let limits = Limits::new(2, 64 << 20, std::env::temp_dir());
        let clone = limits.clone();
        let most = limits.lease("much", Share::of(7, 8));
        let rest = clone.lease("little", Share::of(1, 4));
        assert_eq!((most.bytes() >> 20, rest.bytes() >> 20), (56, 8));
        let short: Vec<u64> = limits.budget.report().iter().map(|row| row.short >> 20).collect();
        assert_eq!((short, limits.budget.most() >> 20), (vec![8, 0], 64));
        drop(rest);
        let little = || limits.lease("little", Share::of(1, 4)).bytes() >> 20;
        let part = most.part(Share::of(1, 2)).divided(4);
        drop(most);
        assert_eq!((part.bytes() >> 20, little()), (7, 8), "a part holds all of its lease");
        drop(part);
        assert_eq!(little(), 16);
        let _all = limits.lease("all", Share::of(1, 1));
        assert_eq!(little(), 1, "with a sixteenth everything works");
    }
}
