//! Detects that an input file changed while it was read.
//!
//! A map shows the current content of a file, and an event is read twice: when found and when
//! written. A write in between would mix two versions. So length and modification time are compared
//! again before results are used. Cost: one `stat` per file.
//!
//! The check misses a change in the clock tick of the previous write (4 ms on Linux before 6.13),
//! and a reset modification time. A replaced file is fine: the map keeps the old content.

use crate::os::FileId;
use crate::run::error::{Error, ErrorKind};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tracemill_tokenizer::Mapped;

/// Description of a file with lost pages, if nothing else is known.
pub const LOST: &str = "lost bytes, or the disk cannot read them,";

/// The state of a mapped file when it was opened.
#[derive(Debug)]
pub struct Original {
    path: PathBuf,
    identity: Option<FileId>,
    len: u64,
    /// Modification time, if the system reports it.
    changed: Option<SystemTime>,
}

impl Original {
    /// Records the state from the metadata of the mapped handle.
    pub(super) fn new(path: &Path, metadata: &Metadata) -> Self {
        Original {
            path: path.to_owned(),
            identity: FileId::of(Some(path), metadata),
            len: metadata.len(),
            changed: metadata.modified().ok(),
        }
    }

    /// Checks that the file is unchanged. `mapped` is its map, if it still exists.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Changed`] if the file changed or lost pages.
    pub fn check(&self, mapped: Option<&Mapped>) -> Result<(), Error> {
        let how = match std::fs::metadata(&self.path) {
            Ok(now) if FileId::of(Some(&self.path), &now) == self.identity => self.change(&now),
            _ => None,
        };
        let is_intact = mapped.is_none_or(Mapped::is_intact);
        match how {
            None if is_intact => Ok(()),
            Some(how) => Err(self.error(how)),
            None => Err(self.error(LOST.to_owned())),
        }
    }

    fn change(&self, now: &Metadata) -> Option<String> {
        let (before, after) = (self.len, now.len());
        if after < before {
            Some(format!("became shorter, from {before} to {after} bytes,"))
        } else if after > before {
            Some(format!("became longer, from {before} to {after} bytes,"))
        } else if now.modified().ok() != self.changed {
            Some("was written to".to_owned())
        } else {
            None
        }
    }

    fn error(&self, how: String) -> Error {
        ErrorKind::Changed { input: self.path.display().to_string(), how }.into()
    }
}

/// A map as the bytes of a cursor.
pub(super) struct MappedBytes(pub(super) std::sync::Arc<Mapped>);

impl AsRef<[u8]> for MappedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::io::{self, Write};
    use std::time::Duration;

    fn check(change: impl FnOnce(&Path, &mut File)) -> Result<(), String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        fs::write(&path, vec![b' '; 100_000]).expect("a file");
        let mut file = File::options().read(true).append(true).open(&path).expect("it was made");
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        file.set_modified(hour_ago).expect("it is ours");
        let mapped = crate::os::map_input(&file).expect("a plain file maps");
        let original = Original::new(&path, &file.metadata().expect("it is open"));
        change(&path, &mut file);
        std::hint::black_box(mapped[99_999]);
        original.check(Some(&mapped)).map_err(|e| e.to_string())
    }

    #[test]
    fn error_names_the_change() {
        tracemill_tokenizer::survive_lost_pages();
        let written = |result: io::Result<()>| result.expect("the file takes it");
        assert_eq!(check(|_, _| ()), Ok(()));
        let message =
            |change: &dyn Fn(&Path, &mut File)| check(change).expect_err("it has changed");
        assert!(message(&|_, file| written(file.set_len(10))).contains("from 100000 to 10 bytes"));
        let longer = message(&|_, file| written(file.write_all(b"[]")));
        assert!(longer.contains("a.json became longer, from 100000 to 100002 bytes"), "{longer}");
        let written_to = message(&|path, _| written(fs::write(path, vec![b'x'; 100_000])));
        assert!(written_to.contains("was written to while it was read"), "{written_to}");
    }

    /// A path alone cannot show that its file was replaced.
    #[cfg(all(unix, not(feature = "portable")))]
    #[test]
    fn replaced_file_keeps_its_old_content() {
        tracemill_tokenizer::survive_lost_pages();
        let written = |result: io::Result<()>| result.expect("the folder takes it");
        assert_eq!(check(|path, _| written(fs::remove_file(path))), Ok(()));
        let replaced = check(|path, _| {
            written(fs::write(path.with_extension("new"), "x"));
            written(fs::rename(path.with_extension("new"), path));
        });
        assert_eq!(replaced, Ok(()));
        let cut = check(|path, file| {
            written(fs::remove_file(path));
            written(file.set_len(10));
        });
        assert!(cut.expect_err("pages are gone").contains("lost bytes"));
    }
}
