//! Inputs that can be read only once, kept in temporary files without names, so that a verb may read them twice.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::time::SystemTime;
use tracemill_pipeline::{Error, ErrorKind, Source};

/// An input that can be read again.
pub(super) enum ReplayableInput {
    /// A file or folder; of a file what it was.
    Source(Source, Option<FileState>),
    /// A copy of a stream, and what that is called.
    Copy(String, File),
}

impl ReplayableInput {
    /// Copies what `source` gives to a file in `folder`, unless it can be read again as it is.
    pub(super) fn new(source: Source, folder: &Path) -> Result<Self, Error> {
        let mut from: Box<dyn Read> = match &source {
            Source::Stdin => tracemill_pipeline::stdin(),
            Source::Reader(_) => return Ok(ReplayableInput::Source(source, None)),
            Source::Path(path) => match path.metadata() {
                Ok(own) if !own.is_file() && !own.is_dir() => {
                    Box::new(File::open(path).map_err(|why| Error::read(path.display(), why))?)
                }
                // what is not there is told where it is read
                own => {
                    let state = own.ok().filter(Metadata::is_file).map(|own| FileState::of(&own));
                    return Ok(ReplayableInput::Source(source, state));
                }
            },
        };
        let mut copy = Copy::new(folder)?;
        let mut buffer = vec![0; 1 << 20];
        loop {
            let count = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                Err(why) => return Err(Error::read(&source, why)),
            };
            copy.write(|file| io::Write::write_all(file, &buffer[..count]))?;
        }
        Ok(ReplayableInput::Copy(source.to_string(), copy.file))
    }

    /// Whether a file still is what it was.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`]
    pub(super) fn check(&self) -> Result<(), Error> {
        let ReplayableInput::Source(source @ Source::Path(path), Some(before)) = self else {
            return Ok(());
        };
        match path.metadata() {
            Ok(now) if FileState::of(&now) != *before => {
                let (input, how) = (source.to_string(), "was written to".to_owned());
                Err(ErrorKind::Changed { input, how }.into())
            }
            _ => Ok(()),
        }
    }

    /// The source, from its beginning.
    pub(super) fn source(&self) -> io::Result<Source> {
        match self {
            ReplayableInput::Source(source, _) => Ok(source.clone()),
            ReplayableInput::Copy(name, file) => again(name, file),
        }
    }
}

/// What tells that a file was changed or is another one, as far as the system knows it.
#[derive(PartialEq, Eq)]
pub(super) struct FileState {
    len: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl FileState {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let number = 0;
        FileState { len: metadata.len(), modified: metadata.modified().ok(), number }
    }
}

/// A temporary file without a name.
struct Copy<'f> {
    folder: &'f Path,
    file: File,
}

impl<'f> Copy<'f> {
    fn new(folder: &'f Path) -> Result<Self, Error> {
        let file = tempfile::tempfile_in(folder).map_err(|why| Error::scratch(folder, why))?;
        Ok(Copy { folder, file })
    }

    /// Lets `write` fill the file.
    fn write<T>(&mut self, write: impl FnOnce(&mut File) -> io::Result<T>) -> Result<T, Error> {
        write(&mut self.file).map_err(|why| Error::scratch(self.folder, why))
    }
}

/// A file from its beginning, as a stream.
fn again(name: &str, file: &File) -> io::Result<Source> {
    let mut own = file.try_clone()?;
    own.rewind()?;
    Ok(Source::reader(name, own))
}
