//! Accounts for the memory of a run with named leases for everything that can grow.
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
//! A lease is an upper bound: its holder spills to disk beyond it. All clones of a run's
//! [`Limits`](super::limits::Limits) share one budget. Creating a lease never fails. If memory is
//! short, the lease gets the rest, but at least a sixteenth of the request; [`Leased::short`]
//! reports the shortfall. A test checks that no command falls short.
//!
//! Data that cannot spill has a [`Quota`](super::limits::Quota). Tests that set
//! [`Limits::shares`](super::limits::Limits) get leases outside the budget.
//!
#![doc = include_str!("leases.md")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Minimum of a lease, as a share of its request.
const LEAST: Share = Share::of(1, 16);

/// The quantity that a share is a fraction of.
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
    /// Creates the share `parts / of` of the memory.
    pub const fn of(parts: u64, of: u64) -> Self {
        Share { whole: ShareBase::Memory, parts, of }
    }

    /// Creates the share `parts / of` of the quarter of memory for entries and other event records.
    pub const fn of_index(parts: u64, of: u64) -> Self {
        Share { whole: ShareBase::Index, parts, of }
    }

    /// Creates the share `parts / of` of the quarter of memory for bytes of pipes and packed
    /// inputs.
    pub const fn of_payload(parts: u64, of: u64) -> Self {
        Share { whole: ShareBase::Payload, parts, of }
    }

    /// Returns the share of one of `holders` concurrent holders.
    #[must_use]
    pub fn divided(self, holders: usize) -> Self {
        Share { of: self.of * holders.max(1) as u64, ..self }
    }

    /// Returns the bytes of the share of `of` bytes.
    pub fn bytes(self, of: u64) -> u64 {
        let bytes = u128::from(of) * u128::from(self.parts) / u128::from(self.of);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// The memory of a run and its leases. Clones share one budget.
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

/// Statistics of the leases with one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leased {
    /// Name of the leases.
    pub name: &'static str,
    /// Maximum of bytes leased at one time.
    pub most: u64,
    /// Largest difference in bytes between a request and its lease.
    pub short: u64,
}

impl MemoryBudget {
    /// Creates a budget of `memory` bytes.
    pub fn new(memory: u64) -> Self {
        MemoryBudget(Arc::new(Budget { memory, leases: Mutex::default() }))
    }

    /// Returns the highest number of bytes that were leased at one time.
    pub fn most(&self) -> u64 {
        self.leases().most
    }

    /// Returns the statistics of all leases, by name.
    pub fn report(&self) -> Vec<Leased> {
        self.leases().by_name.values().map(|(_, leased)| leased.clone()).collect()
    }

    fn leases(&self) -> MutexGuard<'_, Leases> {
        self.0.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leases `requested` bytes or the unleased rest, but at least `least`.
    fn take(&self, name: &'static str, requested: u64, least: u64) -> u64 {
        let mut leases = self.leases();
        let bytes = requested.min(self.0.memory.saturating_sub(leases.now)).max(least);
        leases.now += bytes;
        leases.most = leases.most.max(leases.now);
        let (now, leased) = leases.by_name.entry(name).or_default();
        *now += bytes;
        leased.name = name;
        leased.most = leased.most.max(*now);
        leased.short = leased.short.max(requested - bytes);
        bytes
    }

    /// Creates an empty lease that can grow, see [`Growing::reach`].
    pub(super) fn growing(&self, name: &'static str) -> Growing {
        Growing { budget: self.clone(), name, bytes: 0 }
    }
}

/// Leased bytes of a budget under one name, released on drop.
#[derive(Debug)]
pub(super) struct Growing {
    budget: MemoryBudget,
    name: &'static str,
    bytes: u64,
}

impl Growing {
    /// Grows the lease towards `bytes`, as far as memory is left.
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

/// Permission to use a number of bytes, and the folder for data beyond them. The bytes are released
/// with the last clone or part.
#[derive(Clone, Debug)]
pub struct Lease {
    bytes: u64,
    tmp_dir: Arc<PathBuf>,
    /// `None` for a lease outside any budget.
    _held: Option<Arc<Growing>>,
}

impl Lease {
    /// Leases `requested` bytes of `budget`, or the unleased rest.
    pub(super) fn new(
        budget: &MemoryBudget,
        name: &'static str,
        requested: u64,
        tmp_dir: &Path,
    ) -> Self {
        let bytes = budget.take(name, requested, LEAST.bytes(requested));
        let held = Some(Arc::new(Growing { budget: budget.clone(), name, bytes }));
        Lease { _held: held, ..Lease::alone(bytes, tmp_dir) }
    }

    /// Creates a lease of `bytes` outside any budget.
    pub fn alone(bytes: u64, tmp_dir: impl Into<PathBuf>) -> Self {
        Lease { bytes, tmp_dir: Arc::new(tmp_dir.into()), _held: None }
    }

    /// Returns the leased bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of values of type `T` that fit.
    pub(crate) fn room_for<T>(&self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX) / size_of::<T>().max(1)
    }

    /// Returns the folder for data beyond the lease.
    pub fn tmp_dir(&self) -> &Path {
        &self.tmp_dir
    }

    /// Returns a part of the lease. All parts together must not exceed the lease.
    #[must_use]
    pub fn part(&self, share: Share) -> Self {
        Lease { bytes: share.bytes(self.bytes), ..self.clone() }
    }

    /// Returns the lease without a limit, for a holder whose bytes another lease counts.
    pub(crate) fn unbounded(&self) -> Self {
        Lease { bytes: u64::MAX, ..self.clone() }
    }

    /// Returns the part for one of `holders` equal holders.
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
    fn leases_get_what_the_budget_has_left() {
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
