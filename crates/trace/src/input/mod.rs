//! Inputs: names to files, files to bytes, whatever they are packed in.
//!
//! A plain file is mapped. Everything else (pipes, packed files, UTF-16) is a stream, read once by [`spool`].
//!
//! ```text
//!   Source ─ expand ─> Input ─ open ─┬─ Mapped   a plain file: nothing is copied, pages are read as they are scanned
//!            folders                 ├─ Stream   a pipe, or what `decode` unpacks: a `Read` of UTF-8
//!                                    └─ Empty    no bytes at all
//! ```
//!
//! What an input is shows its first 512 bytes (`sniff`), never its name. What it was when it was opened is remembered ([`Original`]): whoever is done
//! with it asks whether it is that still, since a map shows what others write to the file.
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

/// An input that is to be read: one of the sources, or a file of a folder that is one.
#[derive(Clone, Debug)]
pub struct Input {
    /// Where it comes from.
    pub source: Source,
}

impl Input {
    /// Whether it was found in a folder or a list: then it is left out if it is no trace.
    pub fn is_found(&self) -> bool {
        matches!(self.source, Source::Listed(_))
    }

    /// Its path, or `standard input`.
    pub fn name(&self) -> String {
        self.source.to_string()
    }
}

/// An input's bytes, about to be read.
pub enum OpenedInput {
    /// Plain text in a file, or bytes that the caller has.
    Mapped {
        /// The file.
        mapped: Arc<Mapped>,
        /// Length of the byte order mark.
        skip: usize,
        /// The file, unless it is one of ours.
        original: Option<Original>,
        /// What it was in, if it is one of ours.
        encoding: Option<&'static str>,
    },
    /// Anything else.
    Stream {
        /// Its bytes, unpacked.
        reader: Box<dyn Read + Send>,
        /// What it was in: `gzip`, `zstd`, `utf-16`, if it was.
        encoding: Option<&'static str>,
        /// The file that is unpacked, and its map.
        packed: Option<(Original, Arc<Mapped>)>,
        /// Whether it is gzip of more than one member.
        beyond: Beyond,
    },
    /// A file of no bytes.
    Empty,
}

/// Replaces each folder by its files, see [`files_in`], sorted by path. Files are not opened: so there may be more of them
/// than descriptors.
///
/// # Errors
/// [`ErrorKind::Read`] for a folder that cannot be read; what a file is shows only when it is opened.
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

/// Returns the files in a folder and in all folders below it that may be traces, sorted by path.
///
/// Hidden files and folders (`.git`) and indexes (`.tmi`) are left out. A link to a file counts as a file; a link to a folder
/// is not followed, so a loop of links has an end.
///
/// # Errors
/// [`ErrorKind::Read`] for a folder that cannot be read.
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

/// Opens an input and looks at its first bytes: waits until a pipe has some.
///
/// Cost: of a file a map of it, none of which is read but the first page; of a pipe up to 512 bytes.
///
/// # Errors
/// [`ErrorKind::Read`] if it cannot be opened; [`ErrorKind::NotATrace`] if its first bytes are those of another format.
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
        Source::Path(path) | Source::Listed(path) => {
            let failed = |e| Error::read(path.display(), e);
            let file = File::open(path).map_err(failed)?;
            let metadata = file.metadata().map_err(failed)?;
            // files in /proc are regular, have no length, and hold something
            if !metadata.is_file() || metadata.len() == 0 {
                os::enlarge_pipe(&file);
                return open_stream(input, Box::new(file), limits);
            }
            match os::map_input(&file) {
                Ok(mapped) => open_mapped(input, Arc::new(mapped), Original::new(path, &metadata)),
                // file systems without mmap
                Err(_) => open_stream(input, Box::new(file), limits),
            }
        }
    }
}

/// A file as a map: as it is if it is plain, else what unpacks it. Before it is refused as no trace it is asked whether it is what it was, since
/// pages that went away look like no trace.
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

/// A stream, from what was looked at on: nothing of it can be read twice.
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

/// The first `most` bytes of a stream, or fewer if these are `enough`: nobody waits for what a pipe has not got yet. At most
/// `step` bytes are read at a time. What was read before an error comes with it.
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

/// What unpacks `reader`, and what is told of it.
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

/// Whether these are not the bytes of plain text.
pub(crate) fn is_packed(file: &[u8]) -> bool {
    sniff::packing(file).name().is_some()
}

/// Bytes of the frame that `file` begins with, and of what is packed in it, if that is said there and the build can read it.
pub(crate) fn frame_len(file: &[u8]) -> Option<(usize, u64)> {
    decode::frame_len(file)
}

/// Whether a file is packed with gzip.
pub(crate) fn is_gzip(file: &[u8]) -> bool {
    sniff::packing(file) == Packing::Gzip
}

/// Returns a reader of the text that is packed from offset `from` of a file on, where a frame or member begins.
///
/// # Errors
/// If this build cannot unpack it.
pub(crate) fn unpacked(file: &Arc<Mapped>, from: u64) -> io::Result<Box<dyn Read + Send>> {
    let mut bytes = Cursor::new(MappedBytes(Arc::clone(file)));
    bytes.set_position(from);
    decode::reader(sniff::packing(file), Box::new(bytes), &Beyond::default())
}

/// Refuses what begins as no JSON can, by what it is: a user who named the wrong file is told which it is.
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

/// Refuses a file of a folder in which nothing can be an event, such as the `compile_commands.json` beside the traces of a
/// build. A file that was named is read, since something may be left of a damaged trace.
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
