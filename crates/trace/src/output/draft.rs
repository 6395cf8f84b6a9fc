//! A temporary file that is the output of one run and the input of other runs.
//!
//! ```text
//!   first run ─ Draft::output ─> unlinked file ─ Draft::source ─> second and later runs
//! ```
//!
//! ```
//! use tracemill_trace::output::draft::Draft;
//! use tracemill_trace::{Limits, Trace};
//!
//! let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
//! let draft = Draft::new(&limits.tmp_dir)?;
//! draft.write(br#"[{"ph":"i","ts":1},"#)?; // or a run that is given `draft.output()`
//! draft.write(br#"{"ph":"i","ts":2}]"#)?;
//! let source = draft.source("the first run")?;
//! for _ in 0..2 {
//!     assert_eq!(Trace::open(std::slice::from_ref(&source), &limits)?.len(), 2);
//! }
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

use crate::input::source::Source;
use crate::os::Temporary;
use crate::output::target::OutputConfig;
use crate::run::error::{Error, ErrorKind};
use crate::spill::SpilledVec;
use crate::store::entry::Entry;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tracemill_tokenizer::Mapped;

/// An unnamed temporary file that one run writes and other runs read. Uses disk, not heap.
pub struct Draft {
    file: Arc<Mutex<Temporary>>,
    folder: PathBuf,
}

impl Draft {
    /// Creates an empty draft in `folder`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Scratch`] if the file cannot be created.
    pub fn new(folder: &Path) -> Result<Self, Error> {
        let file = Temporary::new(folder).map_err(|e| Error::scratch(folder, e))?;
        Ok(Draft { file: Arc::new(Mutex::new(file)), folder: folder.to_owned() })
    }

    /// Returns an output that writes to the draft: uncompressed, in the form of the first input.
    pub fn output(&self) -> OutputConfig {
        OutputConfig::writer(Arc::clone(&self.file))
    }

    /// Appends bytes without an output.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Scratch`] if the file cannot be written.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(bytes).map_err(|e| Error::scratch(&self.folder, e))
    }

    /// Maps the bytes written so far. Returns `None` if there are none.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Scratch`] if the file cannot be mapped.
    pub fn map(&self) -> Result<Option<Mapped>, Error> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.map().map_err(|e| Error::scratch(&self.folder, e))
    }

    /// Returns the bytes written so far as an input for any number of runs, named `name` in errors.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Scratch`] if the file cannot be mapped.
    pub fn source(&self, name: &str) -> Result<Source, Error> {
        Ok(Source::temporary(name, self.map()?, false))
    }

    /// Returns an input like [`Draft::source`] for which readers skip the JSON check.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Scratch`] if the file cannot be mapped.
    pub fn json_source(&self, name: &str) -> Result<Source, Error> {
        Ok(Source::temporary(name, self.map()?, true))
    }

    /// Returns an input of plain JSON events, with the entries of the events. A merge need not scan
    /// such an input. Places are offsets in the draft.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Scratch`] if the file cannot be mapped.
    pub fn source_with_entries(
        &self,
        name: &str,
        entries: SpilledVec<Entry>,
    ) -> Result<Source, Error> {
        Ok(self.json_source(name)?.with_entries(entries))
    }

    /// Converts a write error of a run to an error about the folder of temporary files.
    pub fn error(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::Write { source, .. } => {
                let source = io::Error::new(source.kind(), source.to_string());
                Error::scratch(&self.folder, source)
            }
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::target::Target;

    #[test]
    fn draft_of_one_run_is_read_by_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let draft = Draft::new(folder.path()).expect("the folder takes files");
        let Target::Writer(mut writer) = draft.output().target else { panic!("it is a writer") };
        let read = |source: &Source| {
            let limits = crate::Limits::new(1, 64 << 20, folder.path());
            let trace = crate::Trace::open(std::slice::from_ref(source), &limits).expect("a trace");
            trace.len()
        };
        let empty = draft.source("nothing").expect("nothing to map");
        assert_eq!(read(&empty), 0);
        writer.write_all(b"[{\"ph\":\"i\",\"ts\":1}]").expect("there is room");
        let source = draft.source("a trace").expect("it maps");
        let trusted = draft.json_source("a trace").expect("it maps");
        assert_eq!([&source, &trusted].map(Source::is_json), [false, true]);
        draft.write(b" ").expect("there is room");
        assert_eq!(read(&draft.json_source("longer").expect("it maps")), 1);
        assert_eq!([read(&source), read(&source.clone())], [1, 1]);
        assert_ne!(source, empty);
        assert_eq!(source.to_string(), "a trace");
        assert_eq!(folder.path().read_dir().expect("it is ours").count(), 0, "it has no name");
    }

    #[test]
    fn full_disk_is_reported_for_temporary_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let draft = Draft::new(folder.path()).expect("the folder takes files");
        let full = Error::write("the output", io::Error::from(io::ErrorKind::StorageFull));
        let text = draft.error(full).to_string();
        assert!(text.starts_with("cannot keep temporary files in "), "{text}");
        let other = draft.error(ErrorKind::Cancelled.into());
        assert!(matches!(other.kind(), ErrorKind::Cancelled));
    }
}
