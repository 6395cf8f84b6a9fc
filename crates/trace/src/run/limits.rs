//! Resource limits of a run: threads, memory, disk. They affect cost, never results.
//!
//! ```
//! use tracemill_trace::{ErrorKind, Limits, Source, Trace};
//!
//! let limits = Limits::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap, folder for what exceeds them
//! let sources = || [Source::bytes("a.json", r#"[{"ph":"i","ts":1}]"#)];
//! assert_eq!(Trace::open(&sources(), &limits)?.len(), 1);
//!
//! let cancel = limits.cancel.clone(); // for another thread: a button, a signal, a client that went away
//! cancel.cancel();
//! let error = Trace::open(&sources(), &limits).err().expect("it was cancelled");
//! assert!(matches!(error.kind(), ErrorKind::Cancelled));
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

use crate::run::error::{Error, ErrorKind};
use crate::run::memory::{Growing, Lease, MemoryBudget, Share, ShareBase};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tracemill_tokenizer::Tier;

/// Limits of a run, and options for reading its inputs.
///
/// | share of [`Limits::memory`] | use | beyond it |
/// |--:|---|---|
/// | a quarter | bytes of pipes and packed inputs | spills to [`Limits::tmp_dir`] |
/// | a quarter | entries and other event records, 8 to 40 bytes each | spills as sorted runs |
/// | a quarter | findings of workers, in chunks of 64 KiB to 8 MiB of text | chunks get smaller |
/// | the rest | results, and data that must stay in memory | |
///
/// Data that must stay in memory (threads, names, open slices) has a [`Quota`]. Plain files are
/// mapped.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Number of worker threads, at least 1.
    pub threads: usize,
    /// Maximum heap of the run in bytes, without mapped files.
    pub memory: u64,
    /// The memory of the run, from which lists take leases.
    pub budget: MemoryBudget,
    /// Folder for temporary files.
    pub tmp_dir: PathBuf,
    /// Instruction set of the scan; `None` selects the best.
    pub tier: Option<Tier>,
    /// Maximum bytes per read from a pipe. Results do not depend on this number.
    pub read_size: usize,
    /// Whether to check every byte and fail at the first defect.
    pub strict: bool,
    /// Whether to repair text that is not JSON in the output.
    pub repair: bool,
    /// Whether to flush outputs to disk, so that they survive a power cut.
    pub sync: bool,
    /// Progress counters for another thread to read.
    pub progress: Arc<Progress>,
    /// Flag that cancels the run from any thread.
    pub cancel: Cancel,
    /// Memory shares for tests that spill after a few events.
    #[doc(hidden)]
    pub shares: Option<Shares>,
}

/// Maximum bytes of findings per byte of a chunk, including allocator overhead.
const FOUND: u64 = 8;

/// The division of the memory budget. The rest is for buffers, buckets and the stack.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Bytes of pipes and packed inputs in memory; the rest spills to disk.
    pub payload: u64,
    /// Bytes of index entries; a bucket may take as much again.
    pub index: u64,
    /// Bytes per chunk.
    pub chunk: usize,
    /// Bytes per segment of a stream.
    pub segment: usize,
}

impl Shares {
    /// Divides a budget. The findings of all chunks, [`FOUND`] times their length, get a quarter.
    pub fn of(memory: u64, threads: usize) -> Self {
        let quarter = Share::of(1, 4).bytes(memory);
        let of_worker = |workers: usize| Share::of(1, FOUND).divided(workers).bytes(quarter);
        Shares {
            payload: quarter,
            index: quarter,
            chunk: of_worker(threads.max(2)).clamp(64 << 10, 8 << 20) as usize,
            segment: of_worker(1).clamp(256 << 10, 8 << 20) as usize,
        }
    }
}

impl Limits {
    /// The smallest budget within which every command works.
    pub const MEMORY_MIN: u64 = 32 << 20;

    /// Creates limits with `threads` workers, `memory` bytes of heap, and temporary files in
    /// `tmp_dir`. Damaged inputs are salvaged.
    pub fn new(threads: usize, memory: u64, tmp_dir: impl Into<PathBuf>) -> Self {
        Limits {
            threads,
            memory,
            budget: MemoryBudget::new(memory),
            tmp_dir: tmp_dir.into(),
            tier: None,
            read_size: 256 << 10,
            strict: false,
            repair: false,
            sync: false,
            progress: Arc::default(),
            cancel: Cancel::default(),
            shares: None,
        }
    }

    /// Returns the number of items of `each` bytes that the memory holds; 0 if none.
    pub fn room_for(&self, each: u64) -> usize {
        usize::try_from(self.memory / each.max(1)).unwrap_or(usize::MAX)
    }

    /// Returns the quota for tables that exist while inputs are read: half of the memory.
    pub fn table_quota(&self) -> Quota {
        self.quota("tables of what is read", Share::of(1, 2))
    }

    /// Returns the quota for open begin events: half of the memory, mostly free after reading.
    pub fn open_quota(&self) -> Quota {
        self.quota("begins that are open", Share::of(1, 2))
    }

    /// Creates a quota for data that cannot spill to disk.
    pub fn quota(&self, name: &'static str, share: Share) -> Quota {
        Quota::new(self, name, self.bytes(share))
    }

    /// Leases a share of the memory, or the unleased rest.
    pub fn lease(&self, name: &'static str, share: Share) -> Lease {
        self.lease_bytes(name, self.bytes(share))
    }

    fn lease_bytes(&self, name: &'static str, bytes: u64) -> Lease {
        match self.shares {
            Some(_) => Lease::alone(bytes, &*self.tmp_dir),
            None => Lease::new(&self.budget, name, bytes, &self.tmp_dir),
        }
    }

    /// Leases the memory for findings of `workers` concurrent chunks.
    pub(crate) fn scan_lease(&self, chunk: usize, workers: usize) -> Lease {
        let bytes = FOUND * chunk as u64 * workers as u64;
        self.lease_bytes("what workers find in chunks", bytes)
    }

    /// Returns limits for a nested run with a share of the memory.
    #[must_use]
    pub fn within(&self, share: Share) -> Self {
        Limits { memory: self.bytes(share).max(Self::MEMORY_MIN), ..self.clone() }
    }

    /// Returns the bytes of a share.
    pub fn bytes(&self, share: Share) -> u64 {
        share.bytes(match share.whole {
            ShareBase::Memory => self.memory,
            ShareBase::Index => self.shares().index,
            ShareBase::Payload => self.shares().payload,
        })
    }

    /// Returns the division of the memory.
    pub fn shares(&self) -> Shares {
        self.shares.unwrap_or_else(|| Shares::of(self.memory, self.threads))
    }

    /// Checks that the limits are sufficient.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Budget`] if the memory is below [`Limits::MEMORY_MIN`].
    pub fn check(&self) -> Result<(), Error> {
        if self.memory < Self::MEMORY_MIN {
            let (given, least) = (self.memory, Self::MEMORY_MIN);
            return Err(ErrorKind::Budget { given, least }.into());
        }
        Ok(())
    }
}

/// Counts the bytes of data that must stay in memory, and limits them.
///
/// Data that can spill has a lease instead. A run that exceeds a quota ends with an error.
///
/// ```
/// use tracemill_trace::run::limits::Limits;
/// use tracemill_trace::run::memory::Share;
///
/// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
/// let quota = limits.quota("threads", Share::of(1, 64));
/// assert!(quota.check(1 << 20, "threads").is_ok());
/// let error = quota.check(8 << 20, "threads").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "threads take 8 MiB, more than the memory budget of 64 MiB has room for"
/// );
/// ```
#[derive(Debug)]
pub struct Quota {
    used: AtomicU64,
    most: u64,
    /// Memory budget of the run in bytes.
    given: u64,
    /// Leased bytes, a multiple of `STEP` or the limit.
    leased: AtomicU64,
    lease: Mutex<Growing>,
}

const STEP: u64 = 128 << 10;

impl Quota {
    fn new(limits: &Limits, name: &'static str, most: u64) -> Self {
        Quota {
            used: AtomicU64::new(0),
            most,
            given: limits.memory,
            leased: AtomicU64::new(0),
            lease: Mutex::new(limits.budget.growing(name)),
        }
    }

    /// Adds `bytes`. Callable from any thread.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Exceeded`] if the bytes exceed the limit; `what` describes the data.
    pub fn take(&self, bytes: u64, what: &str) -> Result<(), Error> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.check(used, what)
    }

    /// Checks data that takes `bytes` in total.
    ///
    /// # Errors
    /// See [`Quota::take`].
    #[inline]
    pub fn check(&self, bytes: u64, what: &str) -> Result<(), Error> {
        if bytes > self.leased.load(Ordering::Relaxed) { self.grow(bytes, what) } else { Ok(()) }
    }

    #[cold]
    fn grow(&self, bytes: u64, what: &str) -> Result<(), Error> {
        if bytes > self.most {
            return Err(self.exceeded(bytes, what));
        }
        let leased = bytes.next_multiple_of(STEP).min(self.most);
        self.leased.fetch_max(leased, Ordering::Relaxed);
        self.lease.lock().unwrap_or_else(PoisonError::into_inner).reach(leased);
        Ok(())
    }

    #[cold]
    fn exceeded(&self, bytes: u64, what: &str) -> Error {
        let what = format!("{what} take {} MiB", bytes >> 20);
        ErrorKind::Exceeded { what, given: self.given }.into()
    }
}

/// The part of a [`Quota`] that one growing data structure uses.
#[derive(Debug)]
pub struct Holding {
    quota: Arc<Quota>,
    bytes: u64,
}

impl Holding {
    /// Creates an empty holding. Holdings of a quota share its limit.
    pub fn new(quota: &Arc<Quota>) -> Self {
        Holding { quota: Arc::clone(quota), bytes: 0 }
    }

    /// Sets the size of the holding to `bytes`; `what` describes the data.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Exceeded`] if all holdings of the quota together exceed its limit.
    #[inline]
    pub fn resize(&mut self, bytes: u64, what: &str) -> Result<(), Error> {
        let used = self.quota.used.fetch_sub(self.bytes, Ordering::Relaxed) - self.bytes + bytes;
        self.quota.used.fetch_add(bytes, Ordering::Relaxed);
        self.bytes = bytes;
        self.quota.check(used, what)
    }
}

/// A flag that cancels all runs that hold a copy of the flag. Cancelled runs fail with
/// [`ErrorKind::Cancelled`] and leave outputs unchanged.
///
/// Runs check the flag between units of work: some MiB of input, or some 16,000 events of output.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Cancels the runs.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Checks that the run is not cancelled.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Cancelled`] if the run is cancelled.
    pub fn check(&self) -> Result<(), Error> {
        if self.0.load(Ordering::Relaxed) { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
    }
}

/// Progress of a run. Relaxed ordering: for display, not for decisions.
///
/// Another thread reads a copy of [`Limits::progress`]. Runs that share the counters add to the
/// same sums.
#[derive(Debug, Default)]
pub struct Progress {
    /// Expected bytes of input, without pipes.
    pub bytes_expected: AtomicU64,
    /// Bytes of input scanned so far.
    pub bytes_scanned: AtomicU64,
    /// Expected bytes of output; 0 while unknown.
    pub bytes_to_write: AtomicU64,
    /// Written bytes of output.
    pub bytes_written: AtomicU64,
}

impl Progress {
    /// Adds `bytes` to a counter.
    pub fn add(counter: &AtomicU64, bytes: u64) {
        counter.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Resets the counters of input and of written bytes for a second run.
    pub fn restart(&self) {
        for counter in [&self.bytes_expected, &self.bytes_scanned, &self.bytes_written] {
            counter.store(0, Ordering::Relaxed);
        }
    }

    /// Raises the expected bytes of output to at least `bytes`.
    pub(crate) fn will_write(&self, bytes: u64) {
        self.bytes_to_write.fetch_max(bytes, Ordering::Relaxed);
    }
}
