//! Where inputs come from: paths, standard input, readers, bytes.
//!
//! ```
//! use tracemill_trace::{Limits, Source, Trace};
//!
//! let text: &[u8] = b"{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}]}"; // anything that is `Read + Send`: a socket, a child's output
//! let sources = [Source::reader("the output of node", text), Source::bytes("b.json", "[]")];
//! let trace = Trace::open(&sources, &Limits::new(2, 64 << 20, std::env::temp_dir()))?;
//! assert_eq!((trace.len(), &*trace.inputs()[0].name), (1, "the output of node"));
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

use crate::spill::SpilledVec;
use crate::store::entry::Entry;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tracemill_tokenizer::Mapped;

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, a pipe, or a folder whose files, and those of the folders below it, are the inputs.
    Path(PathBuf),
    /// The same, found in a folder or a list: a file that is no trace is left out and counted.
    Listed(PathBuf),
    /// Anything that can be read; see [`Source::reader`] and [`Source::bytes`].
    Reader(NamedReader),
}

impl Source {
    /// A stream, which is called `name` in reports and errors: read once, to its end, by the first run that it is given to.
    /// Packed streams are unpacked as files are.
    ///
    /// Cost: as for a pipe; beyond a quarter of the budget its bytes go to the folder of temporary files.
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        let reader = Some(Box::new(reader) as Box<dyn Read + Send>);
        Source::Reader(NamedReader {
            name: name.into(),
            bytes: Bytes::Once(Arc::new(Mutex::new(reader))),
        })
    }

    /// A temporary file of this program, which any number of runs may read; `None` is one of no bytes. `is_json`: every event is,
    /// so none is proved to be.
    pub(crate) fn temporary(
        name: impl Into<String>,
        mapped: Option<Mapped>,
        is_json: bool,
    ) -> Self {
        Source::Reader(NamedReader {
            name: name.into(),
            bytes: Bytes::Mapped { mapped: mapped.map(Arc::new), is_json, entries: None },
        })
    }

    /// Adds the entries of all events of a temporary file, in its order. Every event is JSON, has a time
    /// and is *plain*, see [`Observer::ignores_plain_events`](crate::observe::Observer::ignores_plain_events).
    pub(crate) fn with_entries(mut self, all: SpilledVec<Entry>) -> Self {
        if let Source::Reader(NamedReader { bytes: Bytes::Mapped { entries, .. }, .. }) = &mut self
        {
            *entries = Some(Arc::new(all));
        }
        self
    }

    /// Returns the entries of its events, if they are known before it is read.
    pub(crate) fn entries(&self) -> Option<&SpilledVec<Entry>> {
        let Source::Reader(reader) = self else { return None };
        match &reader.bytes {
            Bytes::Mapped { entries, .. } => entries.as_deref(),
            Bytes::Once(_) => None,
        }
    }

    /// Whether all its events are known to be JSON.
    pub(crate) fn is_json(&self) -> bool {
        let Source::Reader(reader) = self else { return false };
        matches!(reader.bytes, Bytes::Mapped { is_json: true, .. })
    }

    /// Bytes in memory, as a stream: they are copied while they are read.
    pub fn bytes(name: impl Into<String>, bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        Source::reader(name, std::io::Cursor::new(bytes))
    }

    /// Its path, or the name of a reader; empty for standard input.
    pub fn path(&self) -> &Path {
        match self {
            Source::Stdin => Path::new(""),
            Source::Path(path) | Source::Listed(path) => path,
            Source::Reader(reader) => Path::new(&reader.name),
        }
    }

    /// Returns whether any number of runs may read it: files, folders and temporary files, but no streams.
    pub fn is_rereadable(&self) -> bool {
        match self {
            Source::Stdin => false,
            Source::Path(path) | Source::Listed(path) => std::fs::metadata(path)
                .is_ok_and(|metadata| metadata.is_file() || metadata.is_dir()),
            Source::Reader(reader) => matches!(reader.bytes, Bytes::Mapped { .. }),
        }
    }

    /// Returns its path if it has one in the file system.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Source::Path(path) | Source::Listed(path) => Some(path),
            Source::Stdin | Source::Reader(_) => None,
        }
    }

    /// Whether it is a folder, whose files are inputs.
    pub fn is_folder(&self) -> bool {
        self.file().is_some_and(Path::is_dir)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("standard input"),
            Source::Path(path) | Source::Listed(path) => path.display().fmt(f),
            Source::Reader(reader) => f.write_str(&reader.name),
        }
    }
}

/// A stream with a name. Copies are the same stream.
#[derive(Clone)]
pub struct NamedReader {
    name: String,
    bytes: Bytes,
}

/// Where the bytes of a stream are.
#[derive(Clone)]
enum Bytes {
    /// Whoever reads first takes them.
    Once(Arc<Mutex<Option<Box<dyn Read + Send>>>>),
    /// In a temporary file; `None` if there are none.
    Mapped {
        mapped: Option<Arc<Mapped>>,
        is_json: bool,
        /// The entries of all events in it, if they were recorded while it was written.
        entries: Option<Arc<SpilledVec<Entry>>>,
    },
}

/// What a stream gives to whoever opens it.
pub(crate) enum OpenedStream {
    Stream(Box<dyn Read + Send>),
    Mapped(Arc<Mapped>),
    Empty,
}

impl NamedReader {
    /// Its bytes, unless they can be read once only and were.
    pub(crate) fn take(&self) -> Option<OpenedStream> {
        match &self.bytes {
            Bytes::Once(reader) => {
                let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
                reader.take().map(OpenedStream::Stream)
            }
            Bytes::Mapped { mapped, .. } => Some(
                mapped
                    .as_ref()
                    .map_or(OpenedStream::Empty, |mapped| OpenedStream::Mapped(Arc::clone(mapped))),
            ),
        }
    }

    /// What tells it from all others.
    fn address(&self) -> usize {
        match &self.bytes {
            Bytes::Once(reader) => Arc::as_ptr(reader) as usize,
            Bytes::Mapped { mapped, .. } => {
                mapped.as_ref().map_or(0, |mapped| Arc::as_ptr(mapped) as usize)
            }
        }
    }
}

impl fmt::Debug for NamedReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedReader").field(&self.name).finish()
    }
}

impl PartialEq for NamedReader {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for NamedReader {}

impl Hash for NamedReader {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}
