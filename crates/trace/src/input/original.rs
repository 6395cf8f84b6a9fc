//! What an input file was when it was opened, held against what it is when all was read.
//!
//! A map shows what the file holds at the moment of reading, and an event is read more than once: when it is found and
//! when it is written. If somebody writes to the file in between, the output would be made of two files. So length and
//! time of the last change are looked at again before an output gets its name or a finding is told: if one differs, the
//! run fails. That costs a look at the folder for each file, and no descriptor.
//!
//! It is not proof. A change in the same tick of the file system's clock as the one before the file was opened goes
//! unseen (4 ms on Linux before 6.13, nanoseconds since), and so does whoever sets the time back. The sure way, a copy of
//! every input, would cost as much as the run itself. A file that another one took the name of is whole: the map keeps
//! the old one, and what was read of it counts.

use crate::os::FileId;
use crate::run::error::{Error, ErrorKind};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tracemill_tokenizer::Mapped;

/// What happened to a file whose pages went away, if nothing else is known of it.
pub const LOST: &str = "lost bytes, or the disk cannot read them,";

/// A file that is mapped, as it was when it was opened.
#[derive(Debug)]
pub struct Original {
    path: PathBuf,
    identity: Option<FileId>,
    len: u64,
    /// The last time it was written to, where the system knows it.
    changed: Option<SystemTime>,
}

impl Original {
    /// The metadata are those of the handle that is mapped.
    pub(super) fn new(path: &Path, metadata: &Metadata) -> Self {
        Original {
            path: path.to_owned(),
            identity: FileId::of(Some(path), metadata),
            len: metadata.len(),
            changed: metadata.modified().ok(),
        }
    }

    /// Whether the file is what it was; `mapped` is its map, as long as there is one.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`]
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
    fn changes_are_told_apart() {
        tracemill_tokenizer::survive_lost_pages();
        let written = |result: io::Result<()>| result.expect("the file takes it");
        assert_eq!(check(|_, _| ()), Ok(()));
        let said = |change: &dyn Fn(&Path, &mut File)| check(change).expect_err("it has changed");
        assert!(said(&|_, file| written(file.set_len(10))).contains("from 100000 to 10 bytes"));
        let longer = said(&|_, file| written(file.write_all(b"[]")));
        assert!(longer.contains("a.json became longer, from 100000 to 100002 bytes"), "{longer}");
        let written_to = said(&|path, _| written(fs::write(path, vec![b'x'; 100_000])));
        assert!(written_to.contains("was written to while it was read"), "{written_to}");
    }

    /// By its path alone a file that took the name of another cannot be told from it.
    #[cfg(all(unix, not(feature = "portable")))]
    #[test]
    fn a_file_of_another_name_is_another_file() {
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
