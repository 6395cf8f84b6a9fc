//! Files as memory: the one place that maps, and that survives a file which shrinks while it is mapped.
//!
//! Reading a mapped page that the file no longer has, or that the disk cannot give, raises SIGBUS. A handler, installed
//! with the first map, replaces the rest of that map by zero pages and raises a flag; the reader then meets zeros, which
//! are no JSON, and whoever owns the map asks [`Mapped::is_intact`] before it believes what it read (contract C8). A
//! SIGBUS elsewhere, or where the replacement fails, is passed on to whatever handled it before.
//!
//! Ending the process in the handler would be simpler, but it could neither name the file (a library does not print) nor
//! let a caller that is no command line go on. The price is that the reader walks over zeros for a while. What the
//! handler cannot see are bytes that change without a page going away: whoever needs to know compares length and time
//! of change of the file before and after.
//!
//! Cost: a map is a few microseconds, the pages come as they are touched; [`Mapped::populate`] fetches a stretch at
//! once, which is a quarter faster than faulting page by page.
#![expect(unsafe_code, reason = "mmap, and the signal handler that repairs a map")]

use memmap2::{Advice, Mmap};
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock};

/// Bytes of a file that lie in memory.
#[derive(Debug)]
pub struct Mapped {
    map: Mmap,
    slot: &'static Slot,
}

impl Mapped {
    /// Maps a file for reading; `Err` where the file system cannot, and for files that have no length.
    ///
    /// What is read is what the file holds at that moment: whoever changes the file while it is mapped changes the input.
    /// tracemill never writes to bytes it has mapped, and reports files that changed length.
    pub fn new(file: &File) -> io::Result<Self> {
        install_handler();
        // SAFETY: the map must not be mutated by anybody while it is read as `&[u8]`. This process opens inputs for reading
        // only and refuses an output that is an input. A change by another process can change bytes that we have read, which
        // our code survives: it decides by the bytes read once into registers or re-reads them under bounds checks, and no
        // invariant of the type system (UTF-8, enum values) is derived from mapped bytes. Shrinking raises SIGBUS, which
        // `on_sigbus` turns into zero pages.
        let map = unsafe { Mmap::map(file)? };
        let slot = Slot::claim(map.as_ptr() as usize, map.len());
        Ok(Mapped { map, slot })
    }

    /// Whether every page that was read was there.
    pub fn is_intact(&self) -> bool {
        !self.slot.broken.load(Ordering::SeqCst)
    }

    /// Fetches the pages of a stretch ahead of its use. A hint: failure costs time only.
    pub fn populate(&self, range: Range<usize>) {
        let end = range.end.min(self.map.len());
        if range.start < end {
            let _ = self.map.advise_range(Advice::PopulateRead, range.start, end - range.start);
        }
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.slot.release();
    }
}

/// A mapped range that the signal handler can look up without a lock. Slots live for ever and are used again.
///
/// `start` and `len` belong together only if `version` was even and the same before and behind reading them: another
/// thread may be giving the slot to another map.
#[derive(Debug)]
struct Slot {
    /// Odd while the range is written.
    version: AtomicUsize,
    start: AtomicUsize,
    /// 0 while the slot is free.
    len: AtomicUsize,
    broken: AtomicBool,
    next: AtomicPtr<Slot>,
}

static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(std::ptr::null_mut());
static FREE: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());

impl Slot {
    fn claim(start: usize, len: usize) -> &'static Slot {
        let free = FREE.lock().unwrap_or_else(|e| e.into_inner()).pop();
        let slot = free.unwrap_or_else(|| {
            let slot: &'static Slot = Box::leak(Box::new(Slot {
                version: AtomicUsize::new(0),
                start: AtomicUsize::new(0),
                len: AtomicUsize::new(0),
                broken: AtomicBool::new(false),
                next: AtomicPtr::new(std::ptr::null_mut()),
            }));
            let this = std::ptr::from_ref(slot).cast_mut();
            let mut head = SLOTS.load(Ordering::Acquire);
            loop {
                slot.next.store(head, Ordering::Release);
                match SLOTS.compare_exchange_weak(head, this, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => break slot,
                    Err(now) => head = now,
                }
            }
        });
        slot.broken.store(false, Ordering::SeqCst);
        slot.set(start, len);
        slot
    }

    fn release(&'static self) {
        self.set(0, 0);
        FREE.lock().unwrap_or_else(|e| e.into_inner()).push(self);
    }

    /// Only the owner of a slot writes to it: the map it was claimed for, or whoever took it from the free ones.
    fn set(&self, start: usize, len: usize) {
        self.version.fetch_add(1, Ordering::SeqCst);
        self.start.store(start, Ordering::SeqCst);
        self.len.store(len, Ordering::SeqCst);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Its range; `None` if it is just being given away.
    fn range(&self) -> Option<Range<usize>> {
        let version = self.version.load(Ordering::SeqCst);
        let (start, len) = (self.start.load(Ordering::SeqCst), self.len.load(Ordering::SeqCst));
        let is_settled =
            version.is_multiple_of(2) && self.version.load(Ordering::SeqCst) == version;
        is_settled.then(|| start..start + len)
    }

    /// The slot whose range holds `address`, and where that range ends. Async-signal-safe: atomics only.
    ///
    /// Who faulted at `address` holds the map there, so the slot of that map does not change meanwhile; and a range that
    /// was read whole is that of a live map, of which no two hold one address.
    fn holding(address: usize) -> Option<(&'static Slot, usize)> {
        let mut slot = SLOTS.load(Ordering::Acquire);
        // SAFETY: every pointer in the list came from `Box::leak` and is never freed, so it is valid for `'static`.
        while let Some(found) = unsafe { slot.as_ref() } {
            if let Some(range) = found.range().filter(|range| range.contains(&address)) {
                return Some((found, range.end));
            }
            slot = found.next.load(Ordering::Acquire);
        }
        None
    }
}

static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
static PAGE: AtomicUsize = AtomicUsize::new(4096);

fn install_handler() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: `sysconf` reads no memory of ours.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        PAGE.store(usize::try_from(page).unwrap_or(4096), Ordering::Release);
        // SAFETY: zeroes are a valid `sigaction` (no flags, empty mask); both pointers are to live values; `on_sigbus` has the
        // signature that SA_SIGINFO asks for and calls only async-signal-safe functions.
        unsafe {
            let mut previous: libc::sigaction = std::mem::zeroed();
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_sigbus as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            if libc::sigaction(libc::SIGBUS, &action, &mut previous) == 0 {
                let _ = PREVIOUS.set(previous);
            }
        }
    });
}

/// Puts zero pages where the file ended, from the page that was touched to the end of its map.
extern "C" fn on_sigbus(signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t` for SIGBUS, whose `si_addr` is set.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some((slot, end)) = Slot::holding(address) {
        slot.broken.store(true, Ordering::SeqCst);
        let page = address & !(PAGE.load(Ordering::Acquire) - 1);
        // SAFETY: [page, end) lies in a map that `Mapped` owns, which lives while this handler runs since the thread that was
        // interrupted reads it; nobody has pointers into it but as read-only bytes, and replacing it by anonymous zero pages
        // keeps every such pointer valid.
        let mapped = unsafe {
            libc::mmap(
                page as *mut libc::c_void,
                end - page,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if mapped != libc::MAP_FAILED {
            return;
        }
    }
    // SAFETY: restores what was there before this handler, or the default; the faulting instruction then runs again
    // and is handled by that.
    unsafe {
        match PREVIOUS.get() {
            Some(previous) => libc::sigaction(signal, previous, std::ptr::null_mut()),
            None => libc::signal(signal, libc::SIG_DFL) as i32,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file_of(bytes: &[u8]) -> (std::path::PathBuf, File) {
        let name = format!("tracemill-mapped-{}-{}", std::process::id(), bytes.len());
        let path = std::env::temp_dir().join(name);
        let mut file =
            File::options().create(true).truncate(true).read(true).write(true).open(&path);
        let file = file.as_mut().expect("the temp folder takes files");
        file.write_all(bytes).expect("the temp folder takes files");
        (path, file.try_clone().expect("a file can be opened twice"))
    }

    #[test]
    fn a_file_that_shrinks_reads_as_zeros_and_says_so() {
        let (path, file) = file_of(&vec![7u8; 100_000]);
        let mapped = Mapped::new(&file).expect("a plain file maps");
        assert_eq!(mapped[99_999], 7);
        assert!(mapped.is_intact());
        file.set_len(10).expect("a plain file shrinks");
        assert_eq!(mapped[0], 7);
        assert_eq!(mapped[99_998], 0);
        assert!(!mapped.is_intact());
        drop(mapped);
        let (second, file) = file_of(&[1, 2, 3]);
        assert!(Mapped::new(&file).expect("a plain file maps").is_intact());
        for path in [path, second] {
            std::fs::remove_file(path).expect("it was made above");
        }
    }
}
