//! System functions that Rust's standard library lacks, each with a substitute for other systems.
//! Only this module of the crate depends on the system, and only this module contains `unsafe`.
//!
//! | here | on | else |
//! |---|---|---|
//! | [`nameless`], [`give_name`] | Linux: `O_TMPFILE`, a link via /proc | a hidden name next to the target |
//! | [`reserve`] | Linux: `fallocate` | the file grows as it is written |
//! | [`enlarge_pipe`], [`huge_pages`] | Linux | nothing |
//! | [`write_all_at`], [`read_exact_at`] | Unix: one call | a lock around seek and write |
//! | [`FileId`] | Unix: device and inode | the path without links |
//! | [`Temporary`], [`Sparse`], [`ScratchMap`] | every system: a file without a name, mapped | the same |
//! | [`keep_group`] | Unix: `fchown` | nothing |
//! | [`stdin_metadata`], [`stdout_metadata`] | Unix: the file of the stream | unknown |
//! | [`stdin`], [`stdout`] | Unix: the file, and `poll` if it is nonblocking | Rust's buffered stream |
//!
//! The feature `portable` selects the right column on every system, so that tests on Linux cover
//! it.
//!
//! There are three kinds of unnamed files. [`Temporary`] grows at its end and is mapped while it
//! grows. [`Sparse`] has a fixed length, is written at any offset, and is then mapped.
//! [`ScratchMap`] is changed through its map. Unnamed files vanish however the process ends.
//!
//! ```
//! use std::io::Write;
//! use tracemill_trace::os::{Sparse, Temporary};
//!
//! let mut growing = Temporary::new(&std::env::temp_dir())?;
//! growing.write_all(b"abc")?;
//! let map = growing.map()?.expect("there are bytes");
//! growing.write_all(b"def")?; // after the mapped bytes, which never change
//! assert_eq!(&map[..], b"abc");
//!
//! let sparse = Sparse::new(&std::env::temp_dir(), 1 << 20)?;
//! sparse.write_all_at(b"x", 1 << 19)?;
//! let map = sparse.into_map()?;
//! assert_eq!((map.len(), map[1 << 19], map[7]), (1 << 20, b'x', 0));
//! # Ok::<(), std::io::Error>(())
//! ```
#![expect(unsafe_code, reason = "maps of files")]

#[cfg(all(unix, not(feature = "portable")))]
#[path = "unix.rs"]
mod files;
#[cfg(not(all(unix, not(feature = "portable"))))]
#[path = "any_files.rs"]
mod files;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
#[path = "linux.rs"]
mod kernel;
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
#[path = "any_kernel.rs"]
mod kernel;

use crate::run::error::Error;
pub use files::{
    FileId, enlarge_pipe, keep_group, private_folder, read_exact_at, stdin, stdin_metadata, stdout,
    stdout_metadata, write_all_at,
};
pub use kernel::{give_name, huge_pages, nameless, reserve};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tracemill_tokenizer::{Mapped, MappedMut, temporary_lost};

/// Maps an input, which this process opens for reading only. Not public, because other crates could
/// write to files that they map.
///
/// # Errors
/// See [`Mapped::new`].
pub(crate) fn map_input(file: &File) -> io::Result<Mapped> {
    // SAFETY: this process opens inputs for reading only and refuses an output that is an input.
    // Another process may change the bytes of an input. Readers of maps tolerate that: the scanner
    // decides on bytes that it reads once, or reads again under bounds checks; text and numbers are
    // copied before they are decoded (`to_text`, `parse`); and a run whose input was written to
    // fails.
    unsafe { Mapped::new(file) }
}

/// An unnamed file whose handle never leaves this module, so no other code accesses it.
#[derive(Debug)]
struct OwnFile(File);

impl OwnFile {
    fn new(folder: &Path) -> io::Result<Self> {
        nameless_temporary(folder).map(OwnFile)
    }

    /// Maps the `len` bytes of the file. Mapped bytes are never written again, because
    /// [`Temporary`] only appends and [`Sparse`] ends with its map.
    fn map(&self, len: u64) -> io::Result<Mapped> {
        // SAFETY: the file has no name and its handle never leaves this module, which neither
        // shortens the file nor writes to mapped bytes, so the bytes of a map never change.
        let mapped = unsafe { Mapped::temporary(&self.0) }?;
        if mapped.len() as u64 == len { Ok(mapped) } else { Err(lost()) }
    }
}

/// Folder of the first temporary file of this process.
static TEMPORARY_FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Checks that no page of a temporary file was lost. A lost page reads as zeros. So call this
/// before results are used or an error blames an input.
///
/// # Errors
/// Returns [`ErrorKind::Scratch`](crate::ErrorKind::Scratch) if a page was lost.
pub fn check_temporary() -> Result<(), Error> {
    if !temporary_lost() {
        return Ok(());
    }
    let folder = TEMPORARY_FOLDER.get().cloned().unwrap_or_default();
    Err(Error::scratch(&folder, lost()))
}

fn lost() -> io::Error {
    io::Error::other("a temporary file is lost: what was written to it cannot be read back")
}

fn nameless_temporary(folder: &Path) -> io::Result<File> {
    TEMPORARY_FOLDER.get_or_init(|| folder.to_owned());
    tempfile::tempfile_in(folder)
}

/// An unnamed temporary file that grows at its end and can be mapped. Written bytes never change.
#[derive(Debug)]
pub struct Temporary {
    file: OwnFile,
    len: u64,
}

impl Temporary {
    /// Creates an empty file in `folder`.
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn new(folder: &Path) -> io::Result<Self> {
        Ok(Temporary { file: OwnFile::new(folder)?, len: 0 })
    }

    /// Maps the bytes written so far. Returns `None` if there are none.
    ///
    /// # Errors
    /// See [`Mapped::new`].
    pub fn map(&self) -> io::Result<Option<Mapped>> {
        (self.len > 0).then(|| self.file.map(self.len)).transpose()
    }
}

/// An unnamed temporary file of fixed length that can be written anywhere. Unwritten bytes are zero
/// and take no disk space if the file system supports it.
#[derive(Debug)]
pub struct Sparse {
    file: OwnFile,
    len: u64,
}

impl Sparse {
    /// Creates a file of `len` zeros in `folder`.
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn new(folder: &Path, len: u64) -> io::Result<Self> {
        let file = OwnFile::new(folder)?;
        file.0.set_len(len)?;
        Ok(Sparse { file, len })
    }

    /// Writes at an offset.
    ///
    /// # Errors
    /// See [`write_all_at()`].
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all_at(&self.file.0, bytes, offset)
    }

    /// Reads at an offset.
    ///
    /// # Errors
    /// See [`read_exact_at()`].
    pub fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        read_exact_at(&self.file.0, bytes, offset)
    }

    /// Maps the file after the last write.
    ///
    /// # Errors
    /// See [`Mapped::new`].
    pub fn into_map(self) -> io::Result<Mapped> {
        self.file.map(self.len)
    }
}

/// Mutable bytes that take no heap: the map of an unnamed temporary file.
#[derive(Debug)]
pub struct ScratchMap {
    file: File,
    map: Option<MappedMut>,
}

impl ScratchMap {
    /// Creates empty pages with a file in `folder`.
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn new(folder: &Path) -> io::Result<Self> {
        Ok(ScratchMap { file: nameless_temporary(folder)?, map: None })
    }

    /// Returns the bytes of all pages.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// Returns the bytes of all pages, mutably.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.map.as_deref_mut().unwrap_or_default()
    }

    /// Appends zeros. Writes the zeros to the file, so that a full disk is an error of this call
    /// and not a signal when the map is used.
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn append_zeros(&mut self, more: usize) -> io::Result<()> {
        static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
        let mut missing = more;
        while missing > 0 {
            let some = missing.min(ZEROS.len());
            self.file.write_all(&ZEROS[..some])?;
            missing -= some;
        }
        let len = self.bytes().len() + more;
        // only one map of a file exists at a time
        self.map = None;
        // SAFETY: the file has no name and its handle never leaves this value. The value never
        // shortens the file, and writes to it only after the mapped bytes and while no map exists.
        // So only this map, which is borrowed with the value, changes the bytes.
        let map = unsafe { MappedMut::new(&self.file) }?;
        if map.len() != len {
            return Err(lost());
        }
        self.map = Some(map);
        Ok(())
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.0.write(bytes)?;
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn concurrent_writes_land_at_their_offsets() {
        let file = tempfile::tempfile().expect("the temp folder takes files");
        std::thread::scope(|scope| {
            for part in 0..8u8 {
                let file = &file;
                scope.spawn(move || {
                    for step in (0..64).rev() {
                        let at = u64::from(part) * 64 + step;
                        write_all_at(file, &[part, step as u8], 2 * at).expect("a plain file");
                    }
                });
            }
        });
        let mut bytes = [0; 128];
        read_exact_at(&file, &mut bytes, 2 * 3 * 64).expect("it was written");
        assert!(bytes.chunks(2).enumerate().all(|(step, two)| two == [3, step as u8]));
        assert!(read_exact_at(&file, &mut bytes, 2 * 8 * 64 - 1).is_err(), "the file ends there");
    }

    #[test]
    fn map_is_unchanged_while_the_file_grows() {
        let folder = tempfile::tempdir().expect("the temp folder takes folders");
        let mut file = Temporary::new(folder.path()).expect("the folder takes files");
        assert!(file.map().is_ok_and(|map| map.is_none()));
        file.write_all(b"first").expect("there is room");
        let mapped = |file: &Temporary| file.map().expect("it maps").expect("it is not empty");
        let first = mapped(&file);
        file.write_all(b", then more").expect("there is room");
        assert_eq!(first[..], b"first"[..]);
        assert_eq!(mapped(&file)[..], b"first, then more"[..]);
        assert_eq!(folder.path().read_dir().expect("it is ours").count(), 0, "it has no name");
    }

    #[test]
    fn pages_keep_their_bytes_while_they_grow() {
        let folder = tempfile::tempdir().expect("the temp folder takes folders");
        let mut pages = ScratchMap::new(folder.path()).expect("the folder takes files");
        assert!(pages.bytes().is_empty() && pages.bytes_mut().is_empty());
        pages.append_zeros(5).expect("there is room");
        pages.bytes_mut().copy_from_slice(b"first");
        pages.append_zeros(200_000).expect("there is room");
        pages.bytes_mut()[200_004] = 7;
        let (first, rest) = pages.bytes().split_at(5);
        assert_eq!((first, rest.len(), rest[199_999]), (&b"first"[..], 200_000, 7));
        assert!(rest[..199_999].iter().all(|byte| *byte == 0));
        assert_eq!(folder.path().read_dir().expect("it is ours").count(), 0, "it has no name");
    }

    fn input(folder: &Path, bytes: &[u8]) -> (File, Mapped) {
        let path = folder.join(bytes.len().to_string());
        std::fs::write(&path, bytes).expect("the folder takes files");
        let file = File::options().read(true).write(true).open(&path).expect("it was written");
        // SAFETY: one test shortens the file, which a map tolerates; none writes to it while the
        // map exists.
        let mapped = unsafe { Mapped::new(&file) }.expect("a plain file maps");
        (file, mapped)
    }

    #[test]
    fn map_has_the_bytes_of_the_file() {
        let folder = tempfile::tempdir().expect("the temp folder takes folders");
        let (_, mapped) = input(folder.path(), &[1, 2, 3]);
        mapped.populate(0..3);
        mapped.populate(2..100);
        assert_eq!(*mapped, [1, 2, 3]);
        assert!(mapped.is_intact());
    }

    #[cfg(all(unix, not(feature = "portable")))]
    #[test]
    fn map_of_a_shrunk_file_reads_zeros_and_is_not_intact() {
        tracemill_tokenizer::survive_lost_pages();
        let folder = tempfile::tempdir().expect("the temp folder takes folders");
        let (file, first) = input(folder.path(), &vec![7u8; 300_000]);
        assert_eq!(first[299_999], 7);
        assert!(first.is_intact());
        file.set_len(10).expect("a plain file shrinks");
        assert_eq!(first[0], 7);
        assert_eq!(first[299_998], 0);
        assert!(!first.is_intact());
        drop(first);
        // a later map, which replaces the state that the first one left
        let (_, other) = input(folder.path(), &[1, 2, 3, 4]);
        assert!(other.is_intact());
    }

    #[test]
    fn file_id_is_equal_for_all_paths_of_a_file() {
        let folder = tempfile::tempdir().expect("the temp folder takes folders");
        let id = |path: &Path| FileId::of(Some(path), &std::fs::metadata(path).expect("a file"));
        let [one, other] = ["a", "b"].map(|name| folder.path().join(name));
        std::fs::write(&one, "1").expect("the folder takes files");
        std::fs::write(&other, "1").expect("the folder takes files");
        assert!(id(&one).is_some());
        assert_eq!(id(&one), id(&folder.path().join(".").join("a")));
        assert_ne!(id(&one), id(&other));
    }

    #[test]
    fn unnamed_file_can_be_named_once() {
        let folder = tempfile::tempdir().expect("the temp folder takes folders");
        // not every file system and system supports it
        let Some(file) = nameless(folder.path()) else { return };
        reserve(&file, 10).expect("there is room");
        write_all_at(&file, b"0123456789", 0).expect("it is ours");
        let name = folder.path().join("named");
        give_name(&file, &name).expect("a folder of the same file system");
        assert_eq!(std::fs::read(&name).expect("it has a name now"), b"0123456789");
        assert_eq!(
            give_name(&file, &name).map_err(|e| e.kind()),
            Err(io::ErrorKind::AlreadyExists)
        );
    }
}
