//! Files that appear whole or not at all (contract C8).
//!
//! The bytes go to a file without a name in the target's folder (`O_TMPFILE`), so that whatever kills the run leaves
//! nothing behind; when all is on disk it gets the target's name. Where the file system has no such files a named
//! temporary one is used, which [`remove_scratch`] takes away when a signal ends the run.

use crate::error::{Error, ErrorKind};
use crate::input::identity;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Named temporary files of this process that are not yet complete.
static NAMED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the named temporary files of runs that are in progress; for the thread that handles signals, right before
/// it ends the process.
pub fn remove_scratch() {
    for path in NAMED.lock().unwrap_or_else(|e| e.into_inner()).drain(..) {
        // the process ends: there is nobody left to tell
        let _ = std::fs::remove_file(path);
    }
}

/// A file that is being written beside its target.
pub(super) struct AtomicFile {
    pub(super) file: File,
    target: PathBuf,
    folder: PathBuf,
    replace: bool,
    /// Its name, if it has one.
    named: Option<PathBuf>,
}

impl AtomicFile {
    /// `existing` is what the target is now, if it exists.
    pub(super) fn create(
        path: &Path,
        replace: bool,
        existing: Option<&Metadata>,
    ) -> Result<Self, Error> {
        let failed = |e| Error::write(path.display(), e);
        // a symbolic link stays one: what it points to is replaced
        let target = match existing {
            Some(_) => path.canonicalize().map_err(failed)?,
            None => path.to_owned(),
        };
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        let nameless =
            rustix::fs::open(&folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode);
        let (file, named) = match nameless {
            Ok(fd) => (File::from(fd), None),
            Err(_) => {
                let named = beside(&target);
                let file = File::options().create_new(true).read(true).write(true).open(&named);
                NAMED.lock().unwrap_or_else(|e| e.into_inner()).push(named.clone());
                (file.map_err(failed)?, Some(named))
            }
        };
        if let Some(existing) = existing {
            // a failure leaves the usual permissions
            let _ = file.set_permissions(existing.permissions());
        }
        Ok(AtomicFile { file, target, folder, replace, named })
    }

    /// Puts the bytes on disk and gives them the target's name.
    pub(super) fn commit(mut self) -> Result<(), Error> {
        let failed = |e: io::Error| Error::write(self.target.display(), e);
        self.file.sync_all().map_err(failed)?;
        let named = match self.named.take() {
            Some(named) => named,
            None if !self.replace => match self.link(&self.target) {
                Ok(()) => return self.sync_folder(),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(ErrorKind::OutputExists {
                        path: self.target.display().to_string(),
                    }
                    .into());
                }
                Err(e) => return Err(failed(e)),
            },
            None => {
                let named = beside(&self.target);
                self.link(&named).map_err(failed)?;
                named
            }
        };
        let renamed = std::fs::rename(&named, &self.target);
        if renamed.is_err() {
            let _ = std::fs::remove_file(&named);
        }
        forget(&named);
        renamed.map_err(failed)?;
        self.sync_folder()
    }

    /// Gives the nameless file a name.
    fn link(&self, name: &Path) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let fd = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        Ok(rustix::fs::linkat(CWD, fd, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    fn sync_folder(&self) -> Result<(), Error> {
        let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
        synced.map_err(|e| Error::write(self.folder.display(), e))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(named) = self.named.take() {
            let _ = std::fs::remove_file(&named);
            forget(&named);
        }
    }
}

fn forget(named: &Path) {
    NAMED.lock().unwrap_or_else(|e| e.into_inner()).retain(|path| path != named);
}

/// A name for a temporary file beside `target`.
fn beside(target: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.tracemill-{}-{count}", std::process::id()))
}

/// Refuses an output that is one of the inputs, by device and inode.
pub(super) fn refuse_input(
    output: &Metadata,
    path: &str,
    inputs: impl Iterator<Item = Metadata>,
) -> Result<(), Error> {
    for input in inputs {
        if input.is_file() && identity(&input) == identity(output) {
            return Err(ErrorKind::OutputIsInput { path: path.to_owned() }.into());
        }
    }
    Ok(())
}
