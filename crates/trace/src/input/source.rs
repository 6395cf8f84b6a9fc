//! Sources of inputs: paths, standard input, readers, bytes.
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

use crate::input::remote::RemoteFile;
use crate::spill::SpilledVec;
use crate::store::entry::Entry;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tracemill_tokenizer::Mapped;

/// The source of an input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, a pipe, or a folder whose files, including subfolders, are the inputs.
    Path(PathBuf),
    /// A path found in a folder or list. If it is not a trace, it is left out and counted.
    Listed(PathBuf),
    /// A stream or bytes; see [`Source::reader`] and [`Source::bytes`].
    Reader(NamedReader),
    /// A file on another machine.
    Remote(RemoteFile),
}

impl Source {
    /// Creates a source from a stream, named `name` in reports and errors. The first run reads it
    /// to its end. Packed streams are unpacked.
    ///
    /// Cost: like a pipe; bytes beyond a quarter of the memory go to temporary files.
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        let reader = Some(Box::new(reader) as Box<dyn Read + Send>);
        Source::Reader(NamedReader {
            name: name.into(),
            bytes: Bytes::Once(Arc::new(Mutex::new(reader))),
        })
    }

    /// Creates a source from a temporary file, which any number of runs may read; `None` is an
    /// empty file. `is_json` skips the check that events are JSON.
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

    /// Adds the entries of all events of a temporary file, in file order. All events must be
    /// *plain* JSON, see
    /// [`Observer::ignores_plain_events`](crate::observe::Observer::ignores_plain_events).
    pub(crate) fn with_entries(mut self, all: SpilledVec<Entry>) -> Self {
        if let Source::Reader(NamedReader { bytes: Bytes::Mapped { entries, .. }, .. }) = &mut self
        {
            *entries = Some(Arc::new(all));
        }
        self
    }

    /// Returns the entries of the events, if known before reading.
    pub(crate) fn entries(&self) -> Option<&SpilledVec<Entry>> {
        let Source::Reader(reader) = self else { return None };
        match &reader.bytes {
            Bytes::Mapped { entries, .. } => entries.as_deref(),
            Bytes::Once(_) => None,
        }
    }

    /// Returns whether all events are known to be JSON.
    pub(crate) fn is_json(&self) -> bool {
        let Source::Reader(reader) = self else { return false };
        matches!(reader.bytes, Bytes::Mapped { is_json: true, .. })
    }

    /// Creates a stream from bytes in memory, which are copied as they are read.
    pub fn bytes(name: impl Into<String>, bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        Source::reader(name, std::io::Cursor::new(bytes))
    }

    /// Returns the path, or the name of a reader; empty for standard input.
    pub fn path(&self) -> &Path {
        match self {
            Source::Stdin => Path::new(""),
            Source::Path(path) | Source::Listed(path) => path,
            Source::Reader(reader) => Path::new(&reader.name),
            Source::Remote(file) => file.path(),
        }
    }

    /// Returns whether several runs may read the source: a file, folder or temporary file.
    pub fn is_rereadable(&self) -> bool {
        match self {
            Source::Stdin => false,
            Source::Path(path) | Source::Listed(path) => std::fs::metadata(path)
                .is_ok_and(|metadata| metadata.is_file() || metadata.is_dir()),
            Source::Reader(reader) => matches!(reader.bytes, Bytes::Mapped { .. }),
            Source::Remote(_) => true,
        }
    }

    /// Returns the path, if the source is in the file system, or that of the local copy of a remote
    /// file.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Source::Path(path) | Source::Listed(path) => Some(path),
            Source::Remote(file) => Some(file.path()),
            Source::Stdin | Source::Reader(_) => None,
        }
    }

    /// Returns whether the source is a folder.
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
            Source::Remote(file) => file.fmt(f),
        }
    }
}

/// A named stream. Clones share the stream.
#[derive(Clone)]
pub struct NamedReader {
    name: String,
    bytes: Bytes,
}

#[derive(Clone)]
enum Bytes {
    /// Stream for the first reader.
    Once(Arc<Mutex<Option<Box<dyn Read + Send>>>>),
    /// Temporary file; `None` if empty.
    Mapped {
        mapped: Option<Arc<Mapped>>,
        is_json: bool,
        /// Entries of all events, if they were recorded during writing.
        entries: Option<Arc<SpilledVec<Entry>>>,
    },
}

/// The bytes that a reader obtains from a stream.
pub(crate) enum OpenedStream {
    Stream(Box<dyn Read + Send>),
    Mapped(Arc<Mapped>),
    Empty,
}

impl NamedReader {
    /// Returns the bytes. Returns `None` if a stream was already taken.
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

    /// Returns an address that identifies the stream.
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
