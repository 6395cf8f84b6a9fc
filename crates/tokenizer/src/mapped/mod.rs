//! Memory-mapped files.
//!
//! Reading a mapped page that the file has lost, or that the disk cannot read, raises SIGBUS and
//! ends the process. A program can call [`survive_lost_pages`] to continue instead: such pages then
//! read as zeros, which are not JSON, and the owner of the map checks [`Mapped::is_intact`] before
//! using the results. Windows does not allow mapped files to shrink; on targets without such a
//! signal the call does nothing.
//!
//! Ending the process in the handler could neither name the file nor let a library caller continue.
//! The price is that readers walk over zeros for a while. The handler cannot detect bytes that
//! change while their page stays; callers compare the file's length and modification time.
//!
//! Cost: a few microseconds per map. Pages are loaded on access; [`Mapped::populate`] loads a range
//! at once, a quarter faster than page faults.
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

/// A read-only memory-mapped file: a `[u8]` without heap.
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
    /// Dropped before `map`. Otherwise another thread could map a file at the same address while
    /// this slot still lists it, and a lost page there would be blamed on this map.
    watched: Watched,
    map: Mmap,
}

impl Mapped {
    /// Maps a file for reading.
    ///
    /// # Errors
    /// Returns an I/O error if the file system or the target does not support maps, or the file has
    /// no length.
    ///
    /// # Safety
    /// A map shows the current contents of the file, and [`Deref`] lends it as `&[u8]`, which Rust
    /// assumes to be unchanging. While the map lives,
    ///
    /// * this process must not write to the file, nor to another map of it;
    /// * and either no other process does, or everything read from the map tolerates different
    ///   bytes when reading the same position again: no `str` and no other type with rules for its
    ///   bytes may be made from it (copy first), and no index read from it may be used without a
    ///   bounds check.
    pub unsafe fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the caller promises to follow the rules of `of`.
        unsafe { Self::of(file, Content::Input) }
    }

    /// Maps a temporary file of this process for reading. [`temporary_lost`] reports pages that
    /// cannot be read back.
    ///
    /// # Errors
    /// Returns the errors of [`Mapped::new`].
    ///
    /// # Safety
    /// The rules of [`Mapped::new`] apply.
    pub unsafe fn temporary(file: &File) -> io::Result<Self> {
        // SAFETY: the caller promises to follow the rules of `of`.
        unsafe { Self::of(file, Content::Temporary) }
    }

    /// # Safety
    /// The rules of [`Mapped::new`] apply.
    unsafe fn of(file: &File, content: Content) -> io::Result<Self> {
        // SAFETY: the caller promises that nobody changes the bytes, or that all readers tolerate
        // changes.
        let map = unsafe { Mmap::map(file)? };
        let watched = Watched::new(&map, content);
        Ok(Mapped { watched, map })
    }

    /// Returns whether no page was lost. Always true without [`survive_lost_pages`]. Check after
    /// reading and before using the results, because lost pages read as zeros.
    pub fn is_intact(&self) -> bool {
        self.watched.is_intact()
    }

    /// Loads the pages of a range ahead of use. This is a hint: failure only costs time. The range
    /// is limited to the map. Does nothing outside Linux.
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

/// A writable memory-mapped temporary file of this process. [`temporary_lost`] reports pages that
/// cannot be read back.
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
    /// Returns the errors of [`Mapped::new`].
    ///
    /// # Safety
    /// While the map lives, nothing but this map may write to the file, shorten it or map it.
    pub unsafe fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the caller promises that only this map changes the bytes; it lends them as any
        // owner does.
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

    /// `Watched` asserts on drop that its range is still mapped.
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
