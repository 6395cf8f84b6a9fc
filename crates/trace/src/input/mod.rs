//! Opens inputs: finds the files of the sources, and unpacks their bytes.
//!
//! A plain file is mapped. Everything else (pipes, packed files, UTF-16) is a stream, read once by [`spool`].
//!
//! ```text
//!   Source ─ expand ─> Input ─ open ─┬─ Mapped   a plain file: not copied, pages read by the scan
//!            folders                 ├─ Stream   a pipe, or output of `decode`: a `Read` of UTF-8
//!                                    └─ Empty    an input without bytes
//! ```
//!
//! The first 512 bytes of an input decide its format (`sniff`), never its name. [`Original`]
//! records the state of a file when it is opened. Commands compare that state at the end, because a
//! map shows bytes that other processes write to the file.
//!
//! ```
//! use tracemill_trace::input::{OpenedInput, expand, open};
//! use tracemill_trace::{Limits, Source};
//!
//! let folder = tempfile::tempdir().expect("the folder of temporary files takes folders");
//! std::fs::write(folder.path().join("a.json"), "[]").expect("there is room");
//! std::fs::write(folder.path().join("a.json.tmi"), "an index").expect("there is room");
//! let inputs = expand(&[Source::Path(folder.path().into())])?;
//! assert_eq!(inputs.len(), 1); // not the index
//! let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
//! let OpenedInput::Mapped { mapped, skip: 0, .. } = open(&inputs[0], &limits)? else { panic!("a plain file") };
//! assert_eq!(&mapped[..], b"[]");
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

mod decode;
mod original;
pub mod packed;
mod pump;
pub mod remote;
pub(crate) mod seek_table;
mod sniff;
pub mod source;
pub mod spool;

use crate::input::source::{OpenedStream, Source};
use crate::os;
use crate::run::error::{Error, ErrorKind};
use crate::run::limits::Limits;
pub use decode::Beyond;
use original::MappedBytes;
pub use original::{LOST, Original};
use sniff::Packing;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracemill_tokenizer::Mapped;

/// An input to read: a source, or a file found in a folder.
#[derive(Clone, Debug)]
pub struct Input {
    /// Source of the input.
    pub source: Source,
}

impl Input {
    /// Returns whether the input was found in a folder or list. Such an input is left out if it is
    /// not a trace.
    pub fn is_found(&self) -> bool {
        matches!(self.source, Source::Listed(_))
    }

    /// Returns the path, or `standard input`.
    pub fn name(&self) -> String {
        self.source.to_string()
    }
}

/// An opened input.
pub enum OpenedInput {
    /// Plain text in a file, or in memory.
    Mapped {
        /// Map of the file.
        mapped: Arc<Mapped>,
        /// Length of the byte order mark.
        skip: usize,
        /// State of the file at opening; `None` for temporary files.
        original: Option<Original>,
        /// Encoding that a temporary file was decoded from.
        encoding: Option<&'static str>,
    },
    /// Any other input, as a stream.
    Stream {
        /// Reader of the decoded bytes.
        reader: Box<dyn Read + Send>,
        /// Encoding of the input, if any: `gzip`, `zstd`, `utf-16`.
        encoding: Option<&'static str>,
        /// State and map of the packed file.
        packed: Option<(Original, Arc<Mapped>)>,
        /// Whether a gzip file has several members.
        beyond: Beyond,
    },
    /// An input without bytes.
    Empty,
}

/// Replaces each folder by its files (see [`files_in`]), sorted by path. Opens no files, so their
/// number may exceed the limit on descriptors.
///
/// # Errors
/// Returns [`ErrorKind::Read`] if a folder cannot be read.
pub fn expand(sources: &[Source]) -> Result<Vec<Input>, Error> {
    let mut inputs = Vec::new();
    for source in sources {
        match source.file().filter(|path| path.is_dir()) {
            Some(folder) => {
                let files = files_in(folder)?.into_iter().map(Source::Listed);
                inputs.extend(files.map(|source| Input { source }));
            }
            None => inputs.push(Input { source: source.clone() }),
        }
    }
    Ok(inputs)
}

/// Returns the files in a folder and its subfolders that may be traces, sorted by path.
///
/// Hidden files and folders (`.git`) and indexes (`.tmi`) are left out. Links to folders are not
/// followed.
///
/// # Errors
/// Returns [`ErrorKind::Read`] if a folder cannot be read.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let failed = |e| Error::read(folder.display(), e);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let is_index = path.extension().is_some_and(|end| end == "tmi");
            if is_index || entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(path);
            } else if path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Opens an input and inspects its first bytes. Waits until a pipe has bytes.
///
/// Cost: maps a file and reads its first page; reads up to 512 bytes of a pipe.
///
/// # Errors
/// Returns [`ErrorKind::Read`] if the input cannot be opened; [`ErrorKind::NotATrace`] if its first
/// bytes belong to another format.
pub fn open(input: &Input, limits: &Limits) -> Result<OpenedInput, Error> {
    match &input.source {
        Source::Stdin => {
            os::enlarge_pipe(&std::io::stdin());
            open_stream(input, os::stdin(), limits)
        }
        Source::Reader(reader) => match reader.take() {
            Some(OpenedStream::Stream(stream)) => open_stream(input, stream, limits),
            Some(OpenedStream::Mapped(mapped)) => {
                Ok(OpenedInput::Mapped { mapped, skip: 0, original: None, encoding: None })
            }
            Some(OpenedStream::Empty) => Ok(OpenedInput::Empty),
            None => {
                let why = std::io::Error::other("this stream was read before");
                Err(Error::read(&input.source, why))
            }
        },
        Source::Path(_) | Source::Listed(_) | Source::Remote(_) => {
            let path = input.source.path();
            let failed = |e| Error::read(&input.source, e);
            let file = File::open(path).map_err(failed)?;
            let metadata = file.metadata().map_err(failed)?;
            // files in /proc are regular and have content, but length 0
            if !metadata.is_file() || metadata.len() == 0 {
                os::enlarge_pipe(&file);
                return open_stream(input, Box::new(file), limits);
            }
            match os::map_input(&file) {
                Ok(mapped) => open_mapped(input, Arc::new(mapped), Original::new(path, &metadata)),
                // the file system does not support mmap
                Err(_) => open_stream(input, Box::new(file), limits),
            }
        }
    }
}

/// Opens a mapped file, plain or packed. Checks that the file is unchanged before refusing it,
/// because lost pages do not look like a trace.
fn open_mapped(
    input: &Input,
    mapped: Arc<Mapped>,
    original: Original,
) -> Result<OpenedInput, Error> {
    match sniff::packing(&mapped) {
        Packing::Plain { skip } => {
            refuse_foreign(input, &mapped[skip..])
                .and_then(|()| refuse_eventless(input, &mapped))
                .or_else(|error| original.check(Some(&mapped)).and(Err(error)))?;
            Ok(OpenedInput::Mapped { mapped, skip, original: Some(original), encoding: None })
        }
        packing => {
            let bytes = Box::new(Cursor::new(MappedBytes(Arc::clone(&mapped))));
            unpack(input, packing, bytes, Some((original, mapped)))
        }
    }
}

fn open_stream(
    input: &Input,
    mut reader: Box<dyn Read + Send>,
    limits: &Limits,
) -> Result<OpenedInput, Error> {
    let looked = look(&mut *reader, sniff::LOOK, limits.read_size, sniff::is_json);
    let first = looked.map_err(|(_, e)| Error::read(&input.source, e))?;
    if first.is_empty() {
        return Ok(OpenedInput::Empty);
    }
    let packing = sniff::packing(&first);
    if let Packing::Plain { skip } = packing {
        refuse_foreign(input, &first[skip..])?;
    }
    unpack(input, packing, Box::new(Cursor::new(first).chain(reader)), None)
}

/// Reads up to `most` bytes of a stream, `step` at a time, and stops early when `enough` returns
/// `true`. An error comes with the bytes before it.
pub(crate) fn look(
    stream: &mut dyn Read,
    most: usize,
    step: usize,
    enough: impl Fn(&[u8]) -> bool,
) -> Result<Vec<u8>, (Vec<u8>, io::Error)> {
    let (mut first, mut len) = (vec![0; most], 0);
    while len < most && !enough(&first[..len]) {
        let end = most.min(len + step);
        match stream.read(&mut first[len..end]) {
            Ok(0) => break,
            Ok(count) => len += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                first.truncate(len);
                return Err((first, error));
            }
        }
    }
    first.truncate(len);
    Ok(first)
}

fn unpack(
    input: &Input,
    packing: Packing,
    reader: Box<dyn Read + Send>,
    packed: Option<(Original, Arc<Mapped>)>,
) -> Result<OpenedInput, Error> {
    let encoding = packing.name();
    let beyond = Beyond::default();
    let reader = decode::reader(packing, reader, &beyond);
    let reader = reader.map_err(|e| Error::read(&input.source, e))?;
    Ok(OpenedInput::Stream { reader, encoding, packed, beyond })
}

/// Returns whether the bytes of a file are packed or UTF-16.
pub(crate) fn is_packed(file: &[u8]) -> bool {
    sniff::packing(file).name().is_some()
}

/// Returns the packed and unpacked lengths of the frame at the start of `file`, if the frame states
/// them and this build reads zstd.
pub(crate) fn frame_len(file: &[u8]) -> Option<(usize, u64)> {
    decode::frame_len(file)
}

/// Returns whether a file is packed with gzip.
pub(crate) fn is_gzip(file: &[u8]) -> bool {
    sniff::packing(file) == Packing::Gzip
}

/// Returns a reader of the text that is packed in `file` from the offset `from` on. A frame or
/// member must begin at `from`.
///
/// # Errors
/// Returns an error if this build cannot unpack the file.
pub(crate) fn unpacked(file: &Arc<Mapped>, from: u64) -> io::Result<Box<dyn Read + Send>> {
    let mut bytes = Cursor::new(MappedBytes(Arc::clone(file)));
    bytes.set_position(from);
    decode::reader(sniff::packing(file), Box::new(bytes), &Beyond::default())
}

/// Returns an error if an input begins like another format. The error names that format.
fn refuse_foreign(input: &Input, bytes: &[u8]) -> Result<(), Error> {
    match sniff::foreign(bytes) {
        None => Ok(()),
        Some(found) => {
            let mut found = found.to_owned();
            found.extend(sniff::reading_inside(&input.source, bytes));
            Err(not_a_trace(input, found))
        }
    }
}

/// Returns an error for a file found in a folder if the file has no event key, such as
/// `compile_commands.json`. A file named by the user is always read.
fn refuse_eventless(input: &Input, text: &[u8]) -> Result<(), Error> {
    match input.is_found() && !sniff::may_be_trace(text) {
        true => Err(not_a_trace(input, "nothing in it has the keys of an event".to_owned())),
        false => Ok(()),
    }
}

fn not_a_trace(input: &Input, found: String) -> Error {
    ErrorKind::NotATrace { input: input.name(), offset: 0, found, around: None }.into()
}

pub(crate) use sniff::reading_inside;
pub use sniff::{MEMBERS, byte_order_mark};
