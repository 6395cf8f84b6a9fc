//! Small files that appear whole or not at all: `--report`, and `info -o` (contract C8).
//!
//! The trace itself is written by the pipeline. These are a few kilobytes, made in memory when the run is over.

use crate::exit::Failure;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use tracemill_pipeline::Source;

/// Held while a file is written; it guards the folder, not data.
static WRITING: Mutex<()> = Mutex::new(());

/// Waits until no file is half written and keeps others from being begun.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(|e| e.into_inner())
}

/// Where a small output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Place {
    /// `-` is standard output.
    pub(crate) fn of(path: &Path) -> Place {
        if path == Path::new("-") { Place::Stdout } else { Place::File(path.to_owned()) }
    }

    /// Refuses, before anything is read, a file that is an input or may not be replaced.
    pub(crate) fn check(&self, flag: &str, sources: &[Source], force: bool) -> Result<(), Failure> {
        let Place::File(path) = self else { return Ok(()) };
        let Ok(existing) = fs::metadata(path) else { return Ok(()) };
        if !existing.is_file() {
            return Ok(());
        }
        let name = path.display();
        let same =
            |other: &Path| fs::metadata(other).is_ok_and(|m| identity(&m) == identity(&existing));
        if sources.iter().any(|source| matches!(source, Source::Path(input) if same(input))) {
            return Err(Failure::usage(format!(
                "{flag} is one of the inputs: {name}; choose another name"
            )));
        }
        if !force {
            return Err(Failure::usage(format!(
                "{flag} exists: {name}; replace it with -f or choose another name"
            )));
        }
        Ok(())
    }

    /// Writes `bytes` there.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let (name, written) = match self {
            Place::Stdout => {
                let mut stdout = io::stdout().lock();
                let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
                ("standard output".to_owned(), written)
            }
            Place::File(path) => (path.display().to_string(), write(path, bytes)),
        };
        written.map_err(|source| Failure::Write { path: name, source })
    }
}

/// Device and inode.
fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        // a device or a pipe is written to, not replaced
        return File::options().write(true).open(path)?.write_all(bytes);
    }
    let _writing = hold();
    // a symbolic link stays one: what it points to is replaced
    let target = if existing.is_some() { path.canonicalize()? } else { path.to_owned() };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // the usual permissions, as the umask cuts them, not those of a secret
    let usual = fs::Permissions::from_mode(0o666);
    let mut file =
        tempfile::Builder::new().prefix(".tracemill-").permissions(usual).tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(existing) = existing {
        // a failure leaves the usual permissions
        let _ = file.as_file().set_permissions(existing.permissions());
    }
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_made_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let place = Place::of(&path);
        for bytes in [b"first".as_slice(), b"second, longer", b"3rd"] {
            place.write(bytes).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        assert_eq!(names(folder.path()), ["report.json"]);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Place::of(&link).write(b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn inputs_and_existing_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, "").unwrap();
        fs::hard_link(&a, &b).unwrap();
        let refusal = |sources: &[Source], force| {
            Place::of(&b).check("the report", sources, force).err().map(|e| e.to_string())
        };
        let input = refusal(&[Source::Path(a)], true).unwrap();
        assert!(input.starts_with("the report is one of the inputs"), "{input}");
        assert!(refusal(&[], false).unwrap().contains("exists"));
        assert_eq!(refusal(&[Source::Stdin], true), None);
        assert!(Place::of(&folder.path().join("new")).check("x", &[], false).is_ok());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let failure = Place::of(Path::new("/nowhere/at/all")).write(b"").unwrap_err();
        assert!(failure.to_string().starts_with("cannot write /nowhere/at/all: "));
    }
}
