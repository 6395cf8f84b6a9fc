//! Where the bytes of the output go.
//!
//! A new regular file takes them at their places, from any thread, in any order: it is made as long as it will be at
//! once, which is the largest single gain there is (speed notes in `ARCHITECTURE.md`). Bytes go to the page cache in
//! slices that are still in the processor's own cache, and from there to disk in the kernel's time. Everything else (pipes,
//! devices, packed output, formats whose length is not known before) takes them one batch after the other: a thread that
//! has gathered its batch waits for its turn. Where lengths change while events are gathered (renamed ids), a batch has its
//! place when the one before has ended ([`Turns`]); the file is cut at the end.
//!
//! ```text
//!   worker ─ gather ─┬─ slice of 256 KiB ─> write at its place            (new file, aligned slices)
//!                    └─ slice of 64 KiB ──> wait for the turn, then write (anything else)
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

/// Bytes that a worker gathers before it writes them in its turn: what a pipe takes.
const SLICE: usize = 64 << 10;

/// Bytes that a worker gathers before it writes them at their place in a file: few enough to stay in a core's own cache, and many,
/// since a call takes the kernel a fifth of the time that it copies 64 KiB in. They begin and end at multiples of this, since
/// the kernel takes large pages for whole ones and a dozen small ones for any other.
const PLACED: usize = 256 << 10;

/// Packed bytes that are written at a time.
const PACKED: usize = 1 << 20;

/// Bytes that a worker gathers at most while it does not know where they belong.
const UNPLACED: usize = 6 << 20;

/// Bytes of the budget for each thread that gathers: a buffer, the events of its batch, what the allocator keeps of both
/// (3.3 MiB were seen), and as much again for what else there is.
const GATHERER: u64 = 8 << 20;

/// Bytes of the output that are worth a thread: to start one takes as long as to gather some hundred KiB.
const THREAD: u64 = 1 << 20;

/// How many bytes an output will have.
#[derive(Clone, Copy)]
pub enum Length {
    /// So many bytes: batches may be written at their places, in any order.
    Exactly(u64),
    /// Not more than so many: batches may be written at their places too, and no room is kept for them.
    AtMost(u64),
    /// Not known before all is written: batches come in turn.
    Unknown,
}

/// An output that is being written: [`Output::create`], batches from any threads, [`Output::finish`]. One that is dropped before leaves the file that
/// was there, or none; what a pipe or a writer has got it keeps.
pub struct Output {
    progress: Arc<Progress>,
    name: String,
    sink: Sink,
    length: Length,
}

enum Sink {
    /// A file whose length is known: any bytes at any time.
    Placed(AtomicFile),
    /// Anything else: the batch whose number is that of the state may write, others wait.
    InTurn { state: Mutex<InTurn>, turned: Condvar },
}

struct InTurn {
    writer: OutputWriter,
    /// The batch whose turn it is.
    turn: usize,
    /// A worker has failed: nobody's turn will come.
    failed: bool,
    /// The file behind the writer, if it is one that appears when it is complete.
    atomic: Option<AtomicFile>,
}

/// Looks at the target and refuses what must be refused, before anything is read.
///
/// # Errors
/// [`ErrorKind::OutputExists`], [`ErrorKind::OutputIsInput`], [`ErrorKind::OutputInFolder`].
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

/// Refuses to write to `path` if that is one of `inputs`, or lies in a folder that is one, whatever names they have.
///
/// Cost: a look at each input, and at each file of the folders among them.
///
/// # Errors
/// [`ErrorKind::OutputIsInput`], [`ErrorKind::OutputInFolder`].
pub fn check_not_input(path: &Path, inputs: &[Source]) -> Result<(), Error> {
    match std::fs::metadata(path).ok().filter(Metadata::is_file) {
        Some(existing) => {
            let (id, name) = (FileId::of(Some(path), &existing), path.display().to_string());
            refuse_input(id, &name, &inputs.iter().collect::<Vec<_>>())
        }
        None => Ok(()),
    }
}

/// Refuses an output that is one of the inputs, by what the files are, not by their names: links do not matter, where the system tells.
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
            Source::Reader(_) => (None, None),
        };
        let Some(input) = input else { continue };
        if input.is_dir() {
            // a folder that cannot be read is an error of its own, when it is opened
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
    /// Opens the output. A file has no name until [`Output::finish`].
    ///
    /// # Errors
    /// [`ErrorKind::OutputExists`] if the file is there and may not be replaced, [`ErrorKind::Write`] if it cannot be made.
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
            // a device or a pipe is written to, not replaced
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

    /// An output whose bytes come one batch after the other: to a pipe, or through a packer.
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

    /// Threads that should gather and write batches.
    pub fn workers(limits: &Limits) -> usize {
        limits.threads.min(limits.room_for(GATHERER)).max(1)
    }

    /// Has [`Output::workers`], as far as the output is long enough, fill it with batches, each by `work`; what they give.
    ///
    /// Whoever fails gives up for all, and so does who panics: a turn that waits for another would never come. `give_up` does
    /// the same for turns of the caller.
    ///
    /// # Errors
    /// Why the first one failed that did not only wait for another.
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
                Ok(own) => done.push(own),
                Err(error) => failures.push(error),
            }
        }
        // a worker that lost its turn says "broken pipe"; the one that caused it knows more
        match failures.into_iter().min_by_key(|error| error.class() == ErrorClass::BrokenPipe) {
            Some(error) => Err(error),
            None => Ok(done),
        }
    }

    /// Says how many bytes it will have, and has the file system keep room for them where batches are written at their places.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if there is no room.
    pub fn reserve(&self, len: u64) -> Result<(), Error> {
        self.progress.will_write(len);
        match &self.sink {
            Sink::Placed(file) => {
                os::reserve(&file.file, len).map_err(|e| Error::write(&self.name, e))
            }
            Sink::InTurn { .. } => Ok(()),
        }
    }

    /// Says how long the output has become, where its length was a guess.
    ///
    /// # Errors
    /// [`ErrorKind::Write`]
    pub fn set_len(&self, len: u64) -> Result<(), Error> {
        match &self.sink {
            Sink::Placed(file) => file.file.set_len(len).map_err(|e| Error::write(&self.name, e)),
            Sink::InTurn { .. } => Ok(()),
        }
    }

    /// Ends the output: it has its name, or everything is handed to the reader, when this returns.
    ///
    /// # Errors
    /// [`ErrorKind::Write`], [`ErrorKind::BrokenPipe`]; the output then has no name.
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

    /// Wakes all that wait for a turn, since it will not come.
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
