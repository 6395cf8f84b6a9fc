//! Files as all Unix systems have them.

use rustix::event::{PollFd, PollFlags, poll};
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::Path;

/// Which file it is, whatever its name: device and inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    /// The id of the file whose `metadata` these are; `path` is one of its paths, if it has one. Never `None` on Unix.
    pub fn of(_path: Option<&Path>, metadata: &Metadata) -> Option<Self> {
        Some(FileId(metadata.dev(), metadata.ino()))
    }
}

/// Writes at a place, whatever others write elsewhere in the same file.
///
/// # Errors
/// As [`Write::write_all`].
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Reads from a place.
///
/// # Errors
/// As [`io::Read::read_exact`].
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(bytes, offset)
}

/// Gives a file the group of another one, where the system lets this user.
pub fn keep_group(file: &File, of: &Metadata) {
    let _is_allowed = std::os::unix::fs::fchown(file, None, Some(of.gid()));
}

/// Makes a folder that nobody else can look into, and those around it, unless it is there.
///
/// # Errors
/// If it cannot be made.
pub fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// What standard input is.
pub fn stdin_metadata() -> Option<Metadata> {
    metadata_of(&io::stdin())
}

/// What standard output is.
pub fn stdout_metadata() -> Option<Metadata> {
    metadata_of(&io::stdout())
}

fn metadata_of(stream: &impl AsFd) -> Option<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

/// Standard input, which is waited for where it does not wait by itself.
pub fn stdin() -> Box<dyn Read + Send> {
    match io::stdin().as_fd().try_clone_to_owned() {
        Ok(handle) => Box::new(Waiting(File::from(handle))),
        Err(_) => Box::new(io::stdin()),
    }
}

/// Standard output as a plain file handle, since std's own would search every slice for line ends; it is waited for where it
/// does not wait by itself.
pub fn stdout() -> Box<dyn Write + Send> {
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(handle) => Box::new(Waiting(File::from(handle))),
        Err(_) => Box::new(io::stdout()),
    }
}

/// A stream of which another process may say that it does not wait (`O_NONBLOCK`), as Node does of its pipes: they share that
/// with their other holders.
struct Waiting(File);

impl Waiting {
    /// Tries until the answer is another than that nothing is there, or no room.
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

/// Asks for a larger pipe, which means fewer switches between writer and reader; where it is no pipe or may not grow,
/// nothing happens.
pub fn enlarge_pipe(pipe: &impl AsFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}
