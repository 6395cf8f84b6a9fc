//! Files as memory.
//!
//! Reading a mapped page that the file no longer has, or that the disk cannot give, raises SIGBUS, which ends the process.
//! A program that would rather go on asks for it with [`survive_lost_pages`]: from then on such pages read as zeros, which
//! are no JSON, and whoever owns the map asks [`Mapped::is_intact`] before it believes what it read. On Windows a file
//! cannot shrink while it is mapped; where there is no such signal, the call does nothing.
//!
//! Ending the process in the handler would be simpler, but it could neither name the file (a library does not print) nor
//! let a caller that is no command line go on. The price is that the reader walks over zeros for a while. What the
//! handler cannot see are bytes that change without a page going away: whoever needs to know compares length and time
//! of change of the file before and after.
//!
//! Cost: a map is a few microseconds, the pages come as they are touched; [`Mapped::populate`] fetches a stretch at
//! once, which is a quarter faster than faulting page by page.
#![expect(unsafe_code, reason = "mmap, and the signal handler that repairs a map")]

mod content;
#[cfg(all(unix, not(feature = "portable")))]
mod lost_pages;
#[cfg(not(all(unix, not(feature = "portable"))))]
#[path = "unwatched.rs"]
mod lost_pages;

use content::Content;
use lost_pages::Watched;
pub use lost_pages::{survive_lost_pages, temporary_lost};
use memmap2::{Mmap, MmapMut};
use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut, Range};

/// Bytes of a file that lie in memory: a `[u8]` that takes no heap.
///
/// ```
/// use std::fs::File;
/// use tracemill_tokenizer::Mapped;
///
/// let path = std::env::temp_dir().join(format!("mapped-{}.json", std::process::id()));
/// std::fs::write(&path, "[{}]")?;
/// // SAFETY: nobody else knows of the file, and this process does not write to it again.
/// let mapped = unsafe { Mapped::new(&File::open(&path)?)? };
/// assert!(mapped.starts_with(b"[{") && mapped.len() == 4 && mapped.is_intact());
/// # drop(mapped);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Mapped {
    /// Dropped before `map`. If the map went first, another thread could map a file at the same
    /// address while this slot still listed it, and a lost page there would be blamed on this map.
    watched: Watched,
    map: Mmap,
}

impl Mapped {
    /// Maps a file for reading.
    ///
    /// # Errors
    /// Where the file system or the target has no maps, and for files that have no length.
    ///
    /// # Safety
    /// A map shows what the file holds at the moment of reading, and [`Deref`] lends it as `&[u8]`, whose bytes Rust takes for
    /// unchanging. As long as the map lives,
    ///
    /// * this process must not write to the file, nor to another map of it;
    /// * either nobody else does, or all that is read from the map bears to find another byte at the same place when it looks
    ///   again: no `str` and no other type with rules for its bytes may be made from it (copy first), no index taken from
    ///   it may be used without a check of its bounds.
    pub unsafe fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the caller promises what `of` asks for.
        unsafe { Self::of(file, Content::Input) }
    }

    /// Maps a temporary file of this process for reading. A page that cannot be read back shows in [`temporary_lost`].
    ///
    /// # Errors
    /// As [`Mapped::new`].
    ///
    /// # Safety
    /// As [`Mapped::new`].
    pub unsafe fn temporary(file: &File) -> io::Result<Self> {
        // SAFETY: the caller promises what `of` asks for.
        unsafe { Self::of(file, Content::Temporary) }
    }

    /// # Safety
    /// As [`Mapped::new`].
    unsafe fn of(file: &File, content: Content) -> io::Result<Self> {
        // SAFETY: nobody changes the bytes, or whoever reads them bears it; the caller promises one of the two.
        let map = unsafe { Mmap::map(file)? };
        let watched = Watched::new(&map, content);
        Ok(Mapped { watched, map })
    }

    /// Whether every page that was read was there. Always true without [`survive_lost_pages`]. Ask when all was read, before what came of it counts:
    /// pages that were lost read as zeros.
    pub fn is_intact(&self) -> bool {
        self.watched.is_intact()
    }

    /// Fetches the pages of a stretch ahead of its use. A hint: failure costs time only, and what lies behind the end is left out. Linux only;
    /// elsewhere it does nothing.
    pub fn populate(&self, range: Range<usize>) {
        let end = range.end.min(self.map.len());
        if range.start < end {
            #[cfg(all(target_os = "linux", not(feature = "portable")))]
            let _ = self.map.advise_range(
                memmap2::Advice::PopulateRead,
                range.start,
                end - range.start,
            );
        }
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

/// Bytes of a temporary file of this process that lie in memory and may be changed. A page that cannot be read back shows in [`temporary_lost`].
#[derive(Debug)]
pub struct MappedMut {
    /// Dropped before `map`, as in [`Mapped`].
    _watched: Watched,
    map: MmapMut,
}

impl MappedMut {
    /// Maps a temporary file for reading and writing.
    ///
    /// # Errors
    /// As [`Mapped::new`].
    ///
    /// # Safety
    /// As long as the map lives nobody writes to the file, shortens it or maps it, but by this map.
    pub unsafe fn new(file: &File) -> io::Result<Self> {
        // SAFETY: only this map, which lends its bytes as any owner does, changes the bytes; the caller promises it.
        let map = unsafe { MmapMut::map_mut(file)? };
        Ok(MappedMut { _watched: Watched::new(&map, Content::Temporary), map })
    }
}

impl Deref for MappedMut {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl DerefMut for MappedMut {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Watched` asserts when it is dropped that its range is still mapped.
    #[cfg(all(unix, not(feature = "portable")))]
    #[test]
    fn slot_is_released_before_unmapping() {
        let path = std::env::temp_dir().join(format!("slot-{}.json", std::process::id()));
        std::fs::write(&path, vec![b' '; 1 << 20]).expect("the temp folder takes files");
        let file = File::open(&path).expect("it was written");
        // SAFETY: no other process knows of the file, and this one does not write to it again.
        let mapped = unsafe { Mapped::new(&file) }.expect("a plain file maps");
        std::fs::remove_file(path).expect("it is ours");
        drop(mapped);
    }
}
