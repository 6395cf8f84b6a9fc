//! The SIGBUS handler, and the list of maps that it searches.
//!
//! ```text
//!   FIRST ─> slot ─> slot ─> slot          one per map; created on demand, reused, never freed
//!            start, len, version, broken
//!
//!   read of a lost page ─ SIGBUS ─> on_sigbus ─ address in a slot? ─ no ─> the previous handler
//!                                                 └ yes: broken = true, zero pages up to the end
//!                                                        of the map ─> the read continues
//! ```
//!
//! A signal handler may neither lock nor allocate, so it walks the list with atomics. Slots are
//! never freed, because a handler may read a slot while its map is dropped. There are as many slots
//! as maps existed at one time. Cost of a signal: one check per slot. Afterwards the map has no
//! lost pages beyond that point.

use super::content::Content;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock};

/// The registration of a map in the list.
#[derive(Debug)]
pub(super) struct Watched(&'static Slot);

impl Watched {
    pub(super) fn new(bytes: &[u8], content: Content) -> Self {
        Watched(Slot::claim(bytes, content))
    }

    pub(super) fn is_intact(&self) -> bool {
        !self.0.broken.load(Ordering::SeqCst)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        debug_assert!(self.0.is_mapped(), "the map of a slot is dropped after the slot");
        self.0.release();
    }
}

/// A mapped range that the signal handler can look up without a lock. Slots are never freed, but
/// reused.
///
/// `start` and `len` are consistent only if `version` was even and unchanged before and after
/// reading them: another thread may be reassigning the slot.
#[derive(Debug, Default)]
struct Slot {
    /// Odd while the range is being written.
    version: AtomicUsize,
    start: AtomicUsize,
    /// Length of the range; 0 while the slot is free.
    len: AtomicUsize,
    /// Whether a page of the map was lost.
    broken: AtomicBool,
    /// Whether the map is of a temporary file of this process.
    is_temporary: AtomicBool,
    next: OnceLock<&'static Slot>,
}

static FIRST: OnceLock<&'static Slot> = OnceLock::new();
static SLOTS: Mutex<Slots> = Mutex::new(Slots { free: Vec::new(), last: None });

/// State for creating and dropping maps.
struct Slots {
    free: Vec<&'static Slot>,
    last: Option<&'static Slot>,
}

impl Slots {
    fn grow(&mut self) -> &'static Slot {
        let slot: &'static Slot = Box::leak(Box::default());
        let end = self.last.map_or(&FIRST, |last| &last.next);
        // under the lock, no other thread has set the end of the list
        let _ = end.set(slot);
        self.last = Some(slot);
        slot
    }
}

impl Slot {
    fn claim(bytes: &[u8], content: Content) -> &'static Slot {
        let mut slots = SLOTS.lock().unwrap_or_else(|e| e.into_inner());
        let slot = slots.free.pop();
        let slot = slot.unwrap_or_else(|| slots.grow());
        drop(slots);
        slot.broken.store(false, Ordering::SeqCst);
        slot.is_temporary.store(content == Content::Temporary, Ordering::SeqCst);
        slot.set(bytes.as_ptr() as usize, bytes.len());
        slot
    }

    fn release(&'static self) {
        self.set(0, 0);
        SLOTS.lock().unwrap_or_else(|e| e.into_inner()).free.push(self);
    }

    /// Returns whether the whole range is mapped. Only the owner of the slot may call this.
    fn is_mapped(&self) -> bool {
        let start = self.start.load(Ordering::SeqCst) as *mut libc::c_void;
        let len = self.len.load(Ordering::SeqCst);
        // SAFETY: the call reads and writes no memory of this process; it fails if a page of the
        // range is not mapped.
        unsafe { libc::msync(start, len, libc::MS_ASYNC) == 0 }
    }

    /// Sets the range. Only the owner of the slot may call this: its map, or the thread that took
    /// it from the free slots.
    fn set(&self, start: usize, len: usize) {
        self.version.fetch_add(1, Ordering::SeqCst);
        self.start.store(start, Ordering::SeqCst);
        self.len.store(len, Ordering::SeqCst);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the range, or `None` if another thread is reassigning the slot.
    fn range(&self) -> Option<Range<usize>> {
        let version = self.version.load(Ordering::SeqCst);
        let (start, len) = (self.start.load(Ordering::SeqCst), self.len.load(Ordering::SeqCst));
        let is_settled =
            version.is_multiple_of(2) && self.version.load(Ordering::SeqCst) == version;
        is_settled.then(|| start..start + len)
    }

    /// Returns the slot whose range contains `address`, and that range. Async-signal-safe: uses
    /// only atomics.
    ///
    /// The faulting thread uses the map at `address`, so the slot of that map does not change
    /// meanwhile. A consistently read range belongs to a live map, and no two live maps contain the
    /// same address.
    fn holding(address: usize) -> Option<(&'static Slot, Range<usize>)> {
        let mut slot = FIRST.get();
        while let Some(found) = slot {
            if let Some(range) = found.range().filter(|range| range.contains(&address)) {
                return Some((found, range));
            }
            slot = found.next.get();
        }
        None
    }
}

/// Whether a page of any temporary file was lost.
static TEMPORARY_LOST: AtomicBool = AtomicBool::new(false);

/// Returns whether a page of a mapped temporary file of this process
/// ([`Mapped::temporary`](super::Mapped::temporary), [`MappedMut`](super::MappedMut)) was ever
/// lost. Results computed from its zeros are wrong. Always false without [`survive_lost_pages`].
pub fn temporary_lost() -> bool {
    TEMPORARY_LOST.load(Ordering::SeqCst)
}

static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

/// Makes lost pages of all mapped files read as zeros from now on. Without this call, reading a
/// lost page ends the process.
///
/// Installs a SIGBUS handler once per process; it runs on the thread's alternate stack if there is
/// one. A SIGBUS elsewhere, or a failed replacement, goes to the previous handler. Only programs
/// should call this, not libraries, because handlers belong to the process.
pub fn survive_lost_pages() {
    static ONCE: Once = Once::new();
    // SAFETY: zeroes are a valid `sigaction` (no flags, empty mask); both pointers are to live
    // values; `on_sigbus` has the signature that SA_SIGINFO requires and calls only
    // async-signal-safe functions.
    ONCE.call_once(|| unsafe {
        let mut previous: libc::sigaction = std::mem::zeroed();
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_sigbus as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        if libc::sigaction(libc::SIGBUS, &action, &mut previous) == 0 {
            let _ = PREVIOUS.set(previous);
        }
    });
}

/// Maximum page size of all targets, in bytes; maps begin at a page.
const PAGES: usize = 64 << 10;

/// Handles SIGBUS: replaces the pages from about the faulting page to the end of its map by zero
/// pages. For an address outside all maps, restores the previous handler.
extern "C" fn on_sigbus(signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t` for SIGBUS, whose `si_addr` is set.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some((slot, range)) = Slot::holding(address) {
        slot.broken.store(true, Ordering::SeqCst);
        let is_temporary = slot.is_temporary.load(Ordering::SeqCst);
        TEMPORARY_LOST.fetch_or(is_temporary, Ordering::SeqCst);
        // maps of inputs are read-only
        let writable = if is_temporary { libc::PROT_WRITE } else { 0 };
        let from = address - (address - range.start) % PAGES;
        // SAFETY: [from, end) lies in a map that `Mapped` owns, which lives while this handler
        // runs, because the interrupted thread reads it; `from` is the start of a page, as the
        // map's start is; users of pointers into the map read or write plain bytes, and replacing
        // it by anonymous zero pages with the same access keeps every such pointer valid.
        let mapped = unsafe {
            libc::mmap(
                from as *mut libc::c_void,
                range.end - from,
                libc::PROT_READ | writable,
                libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if mapped != libc::MAP_FAILED {
            return;
        }
    }
    // SAFETY: restores the previous handler, or the default; the faulting instruction then runs
    // again, and that handler receives the signal.
    unsafe {
        match PREVIOUS.get() {
            Some(previous) => libc::sigaction(signal, previous, std::ptr::null_mut()),
            None => libc::signal(signal, libc::SIG_DFL) as i32,
        };
    }
}
