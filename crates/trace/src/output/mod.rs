//! Writes outputs, from several threads.
//!
//! A new regular file of known length is allocated at once, and threads write at their offsets in
//! any order. All other outputs (pipes, devices, compressed data, unknown lengths) take one batch
//! after the other: a thread with a full batch waits for its turn. If lengths change during
//! gathering (renamed ids), a batch gets its offset when the previous batch ends ([`Turns`]).
//!
//! ```text
//!   worker ─ gather ─┬─ slice of 256 KiB ─> write at its offset           (new file, aligned)
//!                    └─ slice of 64 KiB ──> wait for the turn, then write (other outputs)
//! ```
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering};
//! use std::sync::{Arc, Mutex};
//! use tracemill_trace::Limits;
//! use tracemill_trace::output::{Length, Output};
//! use tracemill_trace::output::target::OutputConfig;
//!
//! let limits = Limits::new(3, 64 << 20, std::env::temp_dir());
//! let bytes = Arc::new(Mutex::new(Vec::new()));
//! let output = Output::create(&OutputConfig::writer(Arc::clone(&bytes)), &limits, Length::Unknown)?;
//! let next = AtomicUsize::new(0);
//! let write = || {
//!     let (number, mut buffer) = (next.fetch_add(1, Ordering::Relaxed), Vec::new());
//!     let mut batch = output.batch(number, 0, &mut buffer); // no place is known before: batches come in turn
//!     batch.push(format!("{number} ").as_bytes())?;
//!     batch.finish()
//! };
//! output.fill(&limits, write, || ())?; // once on each thread
//! output.finish()?;
//! assert_eq!(*bytes.lock().unwrap(), b"0 1 2 ");
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

mod batch;
mod blocks;
pub mod draft;
mod file;
#[cfg(feature = "zstd")]
mod frames;
mod gzip;
pub mod target;
mod turns;
mod writer;

use crate::input::files_in;
use crate::input::source::Source;
use crate::os::{self, FileId};
use crate::output::target::{Compression, OutputConfig, Target};
use crate::run::error::{Error, ErrorClass, ErrorKind};
use crate::run::limits::{Limits, Progress};
use crate::run::threads::on_dedicated_threads;
pub use batch::Batch;
use file::{AtomicFile, Naming};
pub use file::{ScratchRemoved, remove_scratch, write_file};
use std::fs::{File, Metadata};
use std::io::{BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub use turns::{Sequencer, Turns};
use writer::OutputWriter;
pub use writer::packer;

/// Bytes gathered before a write in turn: the capacity of a pipe.
const SLICE: usize = 64 << 10;

/// Bytes gathered before a write at an offset: fits a core's cache. Aligned writes let the kernel
/// use large pages.
const PLACED: usize = 256 << 10;

/// Number of compressed bytes per write.
const PACKED: usize = 1 << 20;

/// Maximum bytes gathered while the offset is unknown.
const UNPLACED: usize = 6 << 20;

/// Memory per gathering thread in bytes: a buffer, the events of its batch, and a reserve.
const GATHERER: u64 = 8 << 20;

/// Bytes of output per thread: starting a thread takes as long as gathering some hundred KiB.
const THREAD: u64 = 1 << 20;

/// The length of an output in bytes.
#[derive(Clone, Copy)]
pub enum Length {
    /// Exact length: batches are written at their offsets, in any order.
    Exactly(u64),
    /// Maximum length: batches are written at their offsets, without allocating the file.
    AtMost(u64),
    /// Unknown length: batches are written in turn.
    Unknown,
}

/// An output being written: [`Output::create`], batches from any threads, [`Output::finish`].
/// Dropping it early leaves an existing file unchanged; bytes sent to a pipe or writer stay sent.
pub struct Output {
    progress: Arc<Progress>,
    name: String,
    sink: Sink,
    length: Length,
}

enum Sink {
    /// A file of known length, writable at any offset.
    Placed(AtomicFile),
    /// Any other output: only the batch whose turn it is may write.
    InTurn { state: Mutex<InTurn>, turned: Condvar },
}

struct InTurn {
    writer: OutputWriter,
    turn: usize,
    /// Whether a worker has failed, so that waiting batches must give up.
    failed: bool,
    /// File behind the writer, if it appears when complete.
    atomic: Option<AtomicFile>,
}

/// Checks the target before anything is read.
///
/// # Errors
/// Returns [`ErrorKind::OutputExists`] if the target exists and may not be replaced;
/// [`ErrorKind::OutputIsInput`] or [`ErrorKind::OutputInFolder`] if the target is an input.
pub fn check(config: &OutputConfig, inputs: &[&Source]) -> Result<(), Error> {
    let (file, existing, path) = match &config.target {
        Target::Stdout => (None, os::stdout_metadata(), "standard output".to_owned()),
        Target::File { path, .. } => {
            (Some(&**path), std::fs::metadata(path).ok(), path.display().to_string())
        }
        Target::Writer(_) => return Ok(()),
    };
    let Some(existing) = existing.filter(Metadata::is_file) else { return Ok(()) };
    refuse_input(FileId::of(file, &existing), &path, inputs)?;
    match &config.target {
        Target::File { replace: false, .. } => Err(ErrorKind::OutputExists { path }.into()),
        _ => Ok(()),
    }
}

/// Returns an error if `path` is one of `inputs`, or a file in a folder of `inputs`, under any
/// name.
///
/// Cost: one file lookup per input, and per file in the folders.
///
/// # Errors
/// Returns [`ErrorKind::OutputIsInput`], [`ErrorKind::OutputInFolder`].
pub fn check_not_input(path: &Path, inputs: &[Source]) -> Result<(), Error> {
    match std::fs::metadata(path).ok().filter(Metadata::is_file) {
        Some(existing) => {
            let (id, name) = (FileId::of(Some(path), &existing), path.display().to_string());
            refuse_input(id, &name, &inputs.iter().collect::<Vec<_>>())
        }
        None => Ok(()),
    }
}

/// Returns an error if an output is one of the inputs. Compares file ids, so links are detected if
/// the system supports that.
fn refuse_input(output: Option<FileId>, path: &str, inputs: &[&Source]) -> Result<(), Error> {
    let is_output = |path: Option<&Path>, input: &Metadata| {
        output.is_some() && input.is_file() && FileId::of(path, input) == output
    };
    let file_is_output = |file: &Path| {
        std::fs::metadata(file).is_ok_and(|metadata| is_output(Some(file), &metadata))
    };
    for source in inputs {
        let (file, input) = match source {
            Source::Stdin => (None, os::stdin_metadata()),
            Source::Path(path) | Source::Listed(path) => {
                (Some(&**path), std::fs::metadata(path).ok())
            }
            Source::Reader(_) | Source::Remote(_) => (None, None),
        };
        let Some(input) = input else { continue };
        if input.is_dir() {
            // an unreadable folder is reported when it is opened
            let files = files_in(source.path()).unwrap_or_default();
            if files.iter().any(|file| file_is_output(file)) {
                let (path, folder) = (path.to_owned(), source.to_string());
                return Err(ErrorKind::OutputInFolder { path, folder }.into());
            }
        } else if is_output(file, &input) {
            return Err(ErrorKind::OutputIsInput { path: path.to_owned() }.into());
        }
    }
    Ok(())
}

impl Output {
    /// Opens the output. A file gets its name only in [`Output::finish`].
    ///
    /// # Errors
    /// Returns [`ErrorKind::OutputExists`] if the file exists and may not be replaced,
    /// [`ErrorKind::Write`] if it cannot be created.
    pub fn create(output: &OutputConfig, limits: &Limits, length: Length) -> Result<Self, Error> {
        let progress = Arc::clone(&limits.progress);
        if let Length::Exactly(len) = length {
            progress.will_write(len);
        }
        let (path, replace) = match &output.target {
            Target::Stdout => {
                let stdout = os::stdout();
                return Self::in_turn("standard output".into(), stdout, None, output, limits);
            }
            Target::Writer(writer) => {
                let writer = Box::new(writer.clone());
                return Self::in_turn("the output".into(), writer, None, output, limits);
            }
            Target::File { path, replace } => (path, *replace),
        };
        let name = path.display().to_string();
        let existing = std::fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|m| !m.is_file()) {
            // devices and pipes are written to, not replaced
            let file =
                File::options().write(true).open(path).map_err(|e| Error::write(&name, e))?;
            return Self::in_turn(name, Box::new(file), None, output, limits);
        }
        let naming = Naming { replace, sync: limits.sync };
        let file = AtomicFile::create(path, naming, existing.as_ref())?;
        match (length, output.compression) {
            (Length::Exactly(_) | Length::AtMost(_), Compression::None) => {
                let output = Output { progress, name, sink: Sink::Placed(file), length };
                if let Length::Exactly(len) = length {
                    output.reserve(len)?;
                }
                Ok(output)
            }
            _ => {
                let bytes = file.file.try_clone().map_err(|e| Error::write(&name, e))?;
                Self::in_turn(name, Box::new(bytes), Some(file), output, limits)
            }
        }
    }

    /// Creates an output written in turn: to a pipe, or compressed.
    fn in_turn(
        name: String,
        inner: Box<dyn Write + Send>,
        atomic: Option<AtomicFile>,
        output: &OutputConfig,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let inner: Box<dyn Write + Send> = match output.compression {
            Compression::None => inner,
            _ => Box::new(BufWriter::with_capacity(PACKED, inner)),
        };
        let writer = OutputWriter::new(inner, limits, output.compression);
        let writer = writer.map_err(|e| Error::write(&name, e))?;
        let state = InTurn { writer, turn: 0, failed: false, atomic };
        let sink = Sink::InTurn { state: Mutex::new(state), turned: Condvar::new() };
        let progress = Arc::clone(&limits.progress);
        Ok(Output { progress, name, sink, length: Length::Unknown })
    }

    /// Returns the number of threads that gather and write batches.
    pub fn workers(limits: &Limits) -> usize {
        limits.threads.min(limits.room_for(GATHERER)).max(1)
    }

    /// Runs `work` on up to [`Output::workers`] threads to write batches, fewer for short outputs.
    /// Returns their results.
    ///
    /// A failure or panic ends the waits of all threads. `give_up` ends waits for turns of the
    /// caller.
    ///
    /// # Errors
    /// Returns the first error that is not the consequence of an error on another thread.
    pub fn fill<T: Send>(
        &self,
        limits: &Limits,
        work: impl Fn() -> Result<T, Error> + Sync,
        give_up: impl Fn() + Sync,
    ) -> Result<Vec<T>, Error> {
        let worth = match self.length {
            Length::Exactly(len) | Length::AtMost(len) => {
                usize::try_from(1 + len / THREAD).unwrap_or(usize::MAX)
            }
            Length::Unknown => usize::MAX,
        };
        let results = on_dedicated_threads(Self::workers(limits).min(worth), || {
            let result = catch_unwind(AssertUnwindSafe(&work));
            if !matches!(result, Ok(Ok(_))) {
                self.give_up();
                give_up();
            }
            result.unwrap_or_else(|panic| resume_unwind(panic))
        });
        let mut done = Vec::new();
        let mut failures = Vec::new();
        for result in results {
            match result {
                Ok(value) => done.push(value),
                Err(error) => failures.push(error),
            }
        }
        // threads that lost their turn report a broken pipe; prefer the error that caused it
        match failures.into_iter().min_by_key(|error| error.class() == ErrorClass::BrokenPipe) {
            Some(error) => Err(error),
            None => Ok(done),
        }
    }

    /// Sets the expected length, and allocates the file if batches are written at offsets.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Write`] if the disk is full.
    pub fn reserve(&self, len: u64) -> Result<(), Error> {
        self.progress.will_write(len);
        match &self.sink {
            Sink::Placed(file) => {
                os::reserve(&file.file, len).map_err(|e| Error::write(&self.name, e))
            }
            Sink::InTurn { .. } => Ok(()),
        }
    }

    /// Sets the final length of the file, if the expected length was an estimate.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Write`] if the file cannot be changed.
    pub fn set_len(&self, len: u64) -> Result<(), Error> {
        match &self.sink {
            Sink::Placed(file) => file.file.set_len(len).map_err(|e| Error::write(&self.name, e)),
            Sink::InTurn { .. } => Ok(()),
        }
    }

    /// Completes the output: the file gets its name, or all bytes are passed to the reader.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Write`] or [`ErrorKind::BrokenPipe`]; the file then gets no name.
    pub fn finish(self) -> Result<(), Error> {
        match self.sink {
            Sink::Placed(file) => file.commit(),
            Sink::InTurn { state, .. } => {
                let InTurn { writer, atomic, .. } =
                    state.into_inner().unwrap_or_else(|e| e.into_inner());
                writer.finish().map_err(|e| Error::write(&self.name, e))?;
                atomic.map_or_else(os::check_temporary, AtomicFile::commit)
            }
        }
    }

    /// Wakes all threads that wait for a turn, which then fail.
    pub fn give_up(&self) {
        if let Sink::InTurn { state, turned } = &self.sink {
            lock(state).failed = true;
            turned.notify_all();
        }
    }
}

fn lock(state: &Mutex<InTurn>) -> MutexGuard<'_, InTurn> {
    state.lock().unwrap_or_else(|e| e.into_inner())
}
