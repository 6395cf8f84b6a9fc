//! Files that appear whole or not at all.
//!
//! The bytes go to a file without a name in the target's folder (`O_TMPFILE`), so that whatever kills the run leaves
//! nothing behind; when it is complete it gets the target's name. Where the file system has no such files a named
//! temporary one is used, which [`remove_scratch`] takes away when a signal ends the run.
//!
//! Names are made and taken away under one lock, so a signal finds each file with its name in the list or without one.
//! There is no call that puts a nameless file in the place of another: to replace one takes a name beside it and a
//! rename. A SIGKILL just between the two (some microseconds) leaves the old file and, under the name beside it, the whole
//! new one.
//!
//! When the process has ended, however it did, the file is whole or not there. That it is so after a power cut too takes a
//! wait for the disk before it gets its name ([`crate::run::limits::Limits::sync`]).

use crate::os;
use crate::run::error::{Error, ErrorKind};
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Named temporary files of this process that are not yet complete.
static NAMED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn named() -> MutexGuard<'static, Vec<PathBuf>> {
    NAMED.lock().unwrap_or_else(|e| e.into_inner())
}

/// Removes the named temporary files of runs that are in progress, for whoever is about to end the process, such as a
/// thread that handles signals.
///
/// As long as the answer lives no file of this process gets a name and none is taken away: whoever wants to waits. So keep it
/// until the process ends. Once it is dropped others go on, but the runs whose files were removed fail.
#[must_use = "files get names again as soon as it is dropped"]
pub fn remove_scratch() -> ScratchRemoved {
    let mut named = named();
    for path in named.drain(..) {
        // the process ends: there is nobody left to tell
        let _ = std::fs::remove_file(path);
    }
    ScratchRemoved { _named: named }
}

/// No output of this process gets a name while this lives; see [`remove_scratch`].
pub struct ScratchRemoved {
    _named: MutexGuard<'static, Vec<PathBuf>>,
}

/// Writes what `write` writes as outputs are written: the file appears whole, in the place of what was there, or not at
/// all; and as it is small, on disk. A device or a pipe is written to.
///
/// # Errors
/// [`ErrorKind::Write`], [`ErrorKind::BrokenPipe`]
/// ```
/// let folder = tempfile::tempdir().expect("the folder of temporary files takes folders");
/// let path = folder.path().join("report.json");
/// tracemill_trace::output::write_file(&path, |out| out.write_all(b"{}"))?;
/// assert_eq!(std::fs::read(&path).expect("it is there"), b"{}");
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let failed = |e| Error::write(path.display(), e);
    let existing = std::fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        let mut device = File::options().write(true).open(path).map_err(failed)?;
        return write(&mut device).map_err(failed);
    }
    let mut file =
        AtomicFile::create(path, Naming { replace: true, sync: true }, existing.as_ref())?;
    write(&mut file.file).map_err(failed)?;
    file.commit()
}

/// A file that is being written beside its target.
pub(super) struct AtomicFile {
    pub(super) file: File,
    target: PathBuf,
    /// The target's folder, open from the start so that there is a descriptor left for it; `None` if it may not be read, or
    /// nothing has to be on disk in the end.
    folder: Option<File>,
    naming: Naming,
    /// Its name, if it has one.
    named: Option<PathBuf>,
}

/// How the target gets its name.
#[derive(Clone, Copy)]
pub(super) struct Naming {
    /// Whether an existing file is replaced; otherwise it is an error.
    pub(super) replace: bool,
    /// Whether it is on disk before it gets its name.
    pub(super) sync: bool,
}

impl AtomicFile {
    /// `existing` is what the target is now, if it exists.
    pub(super) fn create(
        path: &Path,
        naming: Naming,
        existing: Option<&Metadata>,
    ) -> Result<Self, Error> {
        let failed = |e| Error::write(path.display(), e);
        // a symbolic link stays one: what it points to is replaced
        let target = match existing {
            Some(_) => path.canonicalize().map_err(failed)?,
            None => path.to_owned(),
        };
        let parent = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let folder = match naming.sync.then(|| File::open(parent)) {
            None => None,
            Some(Err(e)) if e.kind() == io::ErrorKind::PermissionDenied => None,
            Some(opened) => Some(opened.map_err(failed)?),
        };
        let (file, named) = match os::nameless(parent) {
            Some(file) => (file, None),
            None => {
                let (path, mut all) = (beside(&target), named());
                let file = File::options().create_new(true).read(true).write(true).open(&path);
                let file = file.map_err(failed)?;
                all.push(path.clone());
                (file, Some(path))
            }
        };
        if let Some(existing) = existing {
            // a failure leaves the usual group and permissions; a change of the group takes some permissions away
            os::keep_group(&file, existing);
            let _ = file.set_permissions(existing.permissions());
        }
        Ok(AtomicFile { file, target, folder, naming, named })
    }

    /// Gives the bytes the target's name, once they are on disk if that is asked for; unless a temporary file, of which they may have been made, is lost.
    pub(super) fn commit(mut self) -> Result<(), Error> {
        os::check_temporary()?;
        let failed = |e: io::Error| Error::write(self.target.display(), e);
        if self.naming.sync {
            self.file.sync_all().map_err(failed)?;
        }
        let mut all = named();
        let beside = match self.named.take() {
            Some(named) => named,
            None if !self.naming.replace => match os::give_name(&self.file, &self.target) {
                Ok(()) => {
                    drop(all);
                    return self.sync_folder();
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    let path = self.target.display().to_string();
                    return Err(ErrorKind::OutputExists { path }.into());
                }
                Err(e) => return Err(failed(e)),
            },
            None => {
                let beside = beside(&self.target);
                os::give_name(&self.file, &beside).map_err(failed)?;
                beside
            }
        };
        let renamed = std::fs::rename(&beside, &self.target);
        if renamed.is_err() {
            let _ = std::fs::remove_file(&beside);
        }
        all.retain(|path| *path != beside);
        drop(all);
        renamed.map_err(failed)?;
        self.sync_folder()
    }

    fn sync_folder(&self) -> Result<(), Error> {
        let synced = self.folder.as_ref().map_or(Ok(()), File::sync_all);
        synced.map_err(|e| Error::write(self.target.display(), e))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(beside) = self.named.take() {
            let mut all = named();
            let _ = std::fs::remove_file(&beside);
            all.retain(|path| *path != beside);
        }
    }
}

/// A name for a temporary file beside `target`.
fn beside(target: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.tracemill-{}-{count}", std::process::id()))
}
