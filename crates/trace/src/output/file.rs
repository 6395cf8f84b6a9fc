//! Creates files that appear complete or not at all.
//!
//! Bytes go to an unnamed file (`O_TMPFILE`) in the target's folder. The file gets the target's
//! name when it is complete. On a file system without unnamed files, the bytes go to a named
//! temporary file, which [`remove_scratch`] removes on a signal.
//!
//! One lock guards all names, so a signal finds each file either listed or unnamed. Linux cannot
//! give an unnamed file the name of an existing file, so replacing takes a second name and a
//! rename. A SIGKILL in between leaves the old file and, under the second name, the new file.
//!
//! To survive a power cut too, the file must be on disk before it gets its name
//! ([`crate::run::limits::Limits::sync`]).

use crate::os;
use crate::run::error::{Error, ErrorKind};
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Named temporary files of this process that are incomplete.
static NAMED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn named() -> MutexGuard<'static, Vec<PathBuf>> {
    NAMED.lock().unwrap_or_else(|e| e.into_inner())
}

/// Removes the named temporary files of current runs. Call this before ending the process, for
/// example on a signal.
///
/// While the result lives, files of this process neither get nor lose names. Keep the result until
/// the process ends. If the result is dropped, other runs continue, but runs whose files were
/// removed fail.
#[must_use = "files get names again as soon as it is dropped"]
pub fn remove_scratch() -> ScratchRemoved {
    let mut named = named();
    for path in named.drain(..) {
        // the process is ending, so errors are ignored
        let _ = std::fs::remove_file(path);
    }
    ScratchRemoved { _named: named }
}

/// A guard that keeps outputs of this process from getting names; see [`remove_scratch`].
pub struct ScratchRemoved {
    _named: MutexGuard<'static, Vec<PathBuf>>,
}

/// Writes a small file atomically: the file appears complete and flushed to disk, or not at all.
/// Replaces an existing file. Writes directly to devices and pipes.
///
/// # Errors
/// Returns [`ErrorKind::Write`] if the file cannot be written, [`ErrorKind::BrokenPipe`] if a pipe
/// is closed.
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

/// A file that is written under a temporary name or without a name.
pub(super) struct AtomicFile {
    pub(super) file: File,
    target: PathBuf,
    /// The target's folder, opened early to reserve a descriptor; `None` if not needed or
    /// unreadable.
    folder: Option<File>,
    naming: Naming,
    named: Option<PathBuf>,
}

/// Options for giving the target its name.
#[derive(Clone, Copy)]
pub(super) struct Naming {
    /// Whether an existing file is replaced; otherwise it is an error.
    pub(super) replace: bool,
    /// Whether to flush the file to disk before it gets its name.
    pub(super) sync: bool,
}

impl AtomicFile {
    /// Creates the temporary file. `existing` is the metadata of the target, if it exists.
    pub(super) fn create(
        path: &Path,
        naming: Naming,
        existing: Option<&Metadata>,
    ) -> Result<Self, Error> {
        let failed = |e| Error::write(path.display(), e);
        // a symbolic link is kept: its target is replaced
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
            // changing the group clears some permissions; on failure the defaults stay
            os::keep_group(&file, existing);
            let _ = file.set_permissions(existing.permissions());
        }
        Ok(AtomicFile { file, target, folder, naming, named })
    }

    /// Gives the file its name, after flushing it to disk if requested. Fails if a temporary file
    /// was lost, because the output may depend on it.
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

/// Returns a new hidden name next to `target`.
fn beside(target: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.tracemill-{}-{count}", std::process::id()))
}
