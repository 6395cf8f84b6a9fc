//! What a run may take: threads, memory, disk. These change its cost but never its answer.
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

/// Limits of a run, and how its inputs are read.
///
/// | of [`Limits::memory`] | for | what is more |
/// |--:|---|---|
/// | a quarter | bytes of pipes and packed inputs | goes to [`Limits::tmp_dir`] as they are |
/// | a quarter | entries and other records of events, 8 to 40 bytes each | goes there as records, or sorted runs |
/// | a quarter | what workers find in their chunks: 64 KiB to 8 MiB of text at a time each | waits: chunks are as small as that takes |
/// | the rest | what is made of it, and what must stay in memory | |
///
/// What must stay in memory (threads, names, what is open at one time) is held to a [`Quota`]. Plain files are mapped: they take none of it, and no
/// disk.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Worker threads, at least 1.
    pub threads: usize,
    /// The most heap the run may take, in bytes; mapped files do not count.
    pub memory: u64,
    /// What of the memory is leased.
    pub budget: MemoryBudget,
    /// Folder for spilled runs and spooled pipes.
    pub tmp_dir: PathBuf,
    /// Instruction set of the scan; the best one if `None`.
    pub tier: Option<Tier>,
    /// The most bytes that one read from a pipe takes. No answer depends on it.
    pub read_size: usize,
    /// Stop at the first defect, and check every byte.
    pub strict: bool,
    /// Write what is not JSON, but for lapses with one meaning, as JSON.
    pub repair: bool,
    /// Have outputs on disk before they get their names, so that they survive a power cut.
    pub sync: bool,
    /// Counters that another thread may watch.
    pub progress: Arc<Progress>,
    /// Ends the run when it is told to, from any thread.
    pub cancel: Cancel,
    /// How the memory is shared out, if not as [`Shares::of`] has it: for tests that want a spill after a few events.
    #[doc(hidden)]
    pub shares: Option<Shares>,
}

/// Bytes that a worker finds in each byte of a chunk, and that the allocator keeps for it, at most.
const FOUND: u64 = 8;

/// How the memory budget is shared out. What is left is for buffers, buckets and the stack.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Bytes of pipes and packed inputs kept in memory; the rest is spooled to disk.
    pub payload: u64,
    /// Bytes of index entries; a bucket may take as much again.
    pub index: u64,
    /// Bytes that a worker scans at a time.
    pub chunk: usize,
    /// Bytes of a segment of a stream.
    pub segment: usize,
}

impl Shares {
    /// The shares of a budget for so many threads. What a worker finds in a chunk, and what the allocator keeps for it, may
    /// take [`FOUND`] times the chunk: all workers have a quarter of the memory.
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
    /// The smallest budget that everything works within.
    pub const MEMORY_MIN: u64 = 32 << 20;

    /// `threads` workers, `memory` bytes of heap and `tmp_dir` for what exceeds them; damaged inputs are saved.
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

    /// How many there may be at once of what takes so many bytes of the budget each; 0 if not even one.
    pub fn room_for(&self, each: u64) -> usize {
        usize::try_from(self.memory / each.max(1)).unwrap_or(usize::MAX)
    }

    /// Returns the quota of tables that stay while inputs are read: half of the memory.
    pub fn table_quota(&self) -> Quota {
        self.quota("tables of what is read", Share::of(1, 2))
    }

    /// The quota of begins that are open at one time: half of the memory, most of which workers and pipes have while inputs are read.
    pub fn open_quota(&self) -> Quota {
        self.quota("begins that are open", Share::of(1, 2))
    }

    /// A quota for what cannot be on disk.
    pub fn quota(&self, name: &'static str, share: Share) -> Quota {
        Quota::new(self, name, self.bytes(share))
    }

    /// Leases a share of the memory, or what is left of it.
    pub fn lease(&self, name: &'static str, share: Share) -> Lease {
        self.lease_bytes(name, self.bytes(share))
    }

    fn lease_bytes(&self, name: &'static str, bytes: u64) -> Lease {
        match self.shares {
            Some(_) => Lease::alone(bytes, &*self.tmp_dir),
            None => Lease::new(&self.budget, name, bytes, &self.tmp_dir),
        }
    }

    /// Leases what `workers` find in chunks that they scan at one time, and what the allocator keeps for it.
    pub(crate) fn scan_lease(&self, chunk: usize, workers: usize) -> Lease {
        let bytes = FOUND * chunk as u64 * workers as u64;
        self.lease_bytes("what workers find in chunks", bytes)
    }

    /// The same run with a share of its memory, for a run inside of it.
    #[must_use]
    pub fn within(&self, share: Share) -> Self {
        Limits { memory: self.bytes(share).max(Self::MEMORY_MIN), ..self.clone() }
    }

    /// The bytes of a share.
    pub fn bytes(&self, share: Share) -> u64 {
        share.bytes(match share.whole {
            ShareBase::Memory => self.memory,
            ShareBase::Index => self.shares().index,
            ShareBase::Payload => self.shares().payload,
        })
    }

    /// How the memory is shared out.
    pub fn shares(&self) -> Shares {
        self.shares.unwrap_or_else(|| Shares::of(self.memory, self.threads))
    }

    /// Checks the limits.
    ///
    /// # Errors
    /// [`ErrorKind::Budget`] if the memory is below [`Limits::MEMORY_MIN`].
    pub fn check(&self) -> Result<(), Error> {
        if self.memory < Self::MEMORY_MIN {
            let (given, least) = (self.memory, Self::MEMORY_MIN);
            return Err(ErrorKind::Budget { given, least }.into());
        }
        Ok(())
    }
}

/// Counts the bytes of what has to stay in memory, against the most that it may take.
///
/// Lists that can go to disk have a share of the budget; what cannot (threads, names, begins that are open at one time) has
/// a quota, and a run that needs more of it ends with an error instead of growing beyond the budget.
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
    /// Bytes that were taken.
    used: AtomicU64,
    /// Bytes that may be.
    most: u64,
    /// The whole budget.
    given: u64,
    /// Bytes that are leased, up to the next step, and their lease.
    leased: AtomicU64,
    lease: Mutex<Growing>,
}

/// Bytes by which the lease of a quota grows.
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

    /// Counts `bytes` more; from any thread.
    ///
    /// # Errors
    /// [`ErrorKind::Exceeded`] if that is too much; `what` says what takes them.
    pub fn take(&self, bytes: u64, what: &str) -> Result<(), Error> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.check(used, what)
    }

    /// The same for what takes `bytes` in all.
    ///
    /// # Errors
    /// As [`Quota::take`].
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

/// The part of a [`Quota`] that one holder takes, which changes as the holder grows.
#[derive(Debug)]
pub struct Holding {
    quota: Arc<Quota>,
    bytes: u64,
}

impl Holding {
    /// Creates an empty one. Those of one quota share its limit.
    pub fn new(quota: &Arc<Quota>) -> Self {
        Holding { quota: Arc::clone(quota), bytes: 0 }
    }

    /// Changes the size to `bytes`, which `what` takes.
    ///
    /// # Errors
    /// [`ErrorKind::Exceeded`] if all holdings of the quota together exceed it.
    #[inline]
    pub fn resize(&mut self, bytes: u64, what: &str) -> Result<(), Error> {
        let used = self.quota.used.fetch_sub(self.bytes, Ordering::Relaxed) - self.bytes + bytes;
        self.quota.used.fetch_add(bytes, Ordering::Relaxed);
        self.bytes = bytes;
        self.quota.check(used, what)
    }
}

/// Ends runs that have a copy of it: they fail with [`ErrorKind::Cancelled`] and leave outputs as they were.
///
/// Looked at between portions of work: some MiB of input, or a bucket of some 16,000 events of output.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// From now on runs end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] if not.
    pub fn check(&self) -> Result<(), Error> {
        if self.0.load(Ordering::Relaxed) { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
    }
}

/// What a run has done so far. Written with relaxed ordering: for showing, not for deciding.
///
/// The caller keeps a copy of [`Limits::progress`] and looks at it from another thread. All counters begin at 0 and only grow; a copy
/// that several runs share counts all of them.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes of input there will be, as far as known (pipes are not).
    pub bytes_expected: AtomicU64,
    /// Bytes of input scanned.
    pub bytes_scanned: AtomicU64,
    /// Bytes of output there will be; 0 while not known.
    pub bytes_to_write: AtomicU64,
    /// Bytes of output written.
    pub bytes_written: AtomicU64,
}

impl Progress {
    /// Adds to a counter.
    pub fn add(counter: &AtomicU64, bytes: u64) {
        counter.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Sets the counters to zero, for a second run that begins to read.
    pub fn restart(&self) {
        for counter in [&self.bytes_expected, &self.bytes_scanned, &self.bytes_written] {
            counter.store(0, Ordering::Relaxed);
        }
    }

    /// Says how long an output will be, if not more was said before: of several outputs the whole was.
    pub(crate) fn will_write(&self, bytes: u64) {
        self.bytes_to_write.fetch_max(bytes, Ordering::Relaxed);
    }
}
