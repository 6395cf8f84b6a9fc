//! File operations of Unix systems.

use rustix::event::{PollFd, PollFlags, poll};
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::Path;

/// The identity of a file: device and inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    /// Returns the id of the file with this `metadata`. Never `None` on Unix.
    pub fn of(_path: Option<&Path>, metadata: &Metadata) -> Option<Self> {
        Some(FileId(metadata.dev(), metadata.ino()))
    }
}

/// Writes at an offset, safely with concurrent writes to other parts of the file.
///
/// # Errors
/// See [`Write::write_all`].
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Reads at an offset.
///
/// # Errors
/// See [`io::Read::read_exact`].
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(bytes, offset)
}

/// Sets the group of a file to that of another file, if the system permits it.
pub fn keep_group(file: &File, of: &Metadata) {
    let _is_allowed = std::os::unix::fs::fchown(file, None, Some(of.gid()));
}

/// Creates a folder and its parents, accessible only to this user, unless it exists.
///
/// # Errors
/// Returns an error if a folder cannot be created.
pub fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Returns the metadata of standard input.
pub fn stdin_metadata() -> Option<Metadata> {
    metadata_of(&io::stdin())
}

/// Returns the metadata of standard output.
pub fn stdout_metadata() -> Option<Metadata> {
    metadata_of(&io::stdout())
}

fn metadata_of(stream: &impl AsFd) -> Option<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

/// Returns standard input as a reader that always blocks.
pub fn stdin() -> Box<dyn Read + Send> {
    match io::stdin().as_fd().try_clone_to_owned() {
        Ok(handle) => Box::new(Waiting(File::from(handle))),
        Err(_) => Box::new(io::stdin()),
    }
}

/// Returns standard output as an unbuffered writer that always blocks. The writer of the standard
/// library would search every slice for line ends.
pub fn stdout() -> Box<dyn Write + Send> {
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(handle) => Box::new(Waiting(File::from(handle))),
        Err(_) => Box::new(io::stdout()),
    }
}

/// A stream that blocks even if it was set to nonblocking (`O_NONBLOCK`). Other processes that
/// share the stream can do that, and Node does it with its pipes.
struct Waiting(File);

impl Waiting {
    /// Repeats `attempt` after `poll` while it would block.
    fn patiently<T>(
        &mut self,
        until: PollFlags,
        mut attempt: impl FnMut(&mut File) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match attempt(&mut self.0) {
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                    poll(&mut [PollFd::new(&self.0, until)], None)?;
                }
                done => return done,
            }
        }
    }
}

impl Read for Waiting {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.patiently(PollFlags::IN, |file| file.read(out))
    }
}

impl Write for Waiting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(PollFlags::OUT, |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Enlarges a pipe to 1 MiB, for fewer switches between writer and reader. Does nothing if that
/// fails.
pub fn enlarge_pipe(pipe: &impl AsFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}
