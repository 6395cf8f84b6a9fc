//! Where the bytes of the output go.
//!
//! A new regular file takes them at their places, from any thread, in any order: it is made as long as it will be at
//! once, which is the largest single gain there is (speed notes in `ARCHITECTURE.md`). Everything else (pipes, devices,
//! packed output, formats whose length is not known before) takes them one batch after the other: a thread that has
//! gathered its batch waits for its turn. Where lengths change while events are gathered (renamed ids), a batch has its
//! place when the one before has ended ([`Turns`]); the file is cut at the end.
//!
//! ```text
//!   worker ─ gather ─> slice of 1 MiB  ─┬─ write at its place            (new file)
//!                                        └─ wait for the turn, then write (anything else)
//! ```

mod buffer;
mod file;
mod gzip;
mod place;
mod turns;

use crate::config::{Compression, Config, OutputConfig, Progress, Source, Target};
use crate::error::{Error, ErrorKind};
use crate::threads::available;
pub(crate) use buffer::Buffer;
use file::AtomicFile;
pub use file::{remove_scratch, write_file};
use gzip::Gzip;
use place::{BLOCK, Places};
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use turns::Turns;
use zstd::zstd_safe::CParameter;

/// Bytes that a worker gathers before it writes them.
pub(crate) const SLICE: usize = 1 << 20;

/// Bytes that a worker gathers at most while it does not know where they belong.
const UNPLACED: usize = 6 * SLICE;

/// Bytes of the budget for each thread that gathers: a buffer, the events of its batch, and as much again for what else
/// there is; in the least budgets there are no more threads than asked for.
const WORKER: u64 = 32 << 20;

/// Bytes of the budget for each thread that packs: its state, and blocks on their way in and out.
const PACKER: u64 = 16 << 20;

/// The same for zstd at levels above 9, whose tables grow up to this.
const THOROUGH_PACKER: u64 = 96 << 20;

/// Bytes that a thread packs at a time with zstd, whose own choice (8 MiB at level 3, 32 MiB at level 19) no small budget
/// has room for: it keeps three of them, and one more for each thread.
const ZSTD_JOB: u32 = 1 << 20;

/// How many bytes an output will have, and all outputs of the run.
#[derive(Clone, Copy)]
pub(crate) enum Length {
    /// So many: batches may be written at their places, in any order.
    Exactly {
        len: u64,
        of_run: u64,
    },
    /// More or less: for outputs of a single batch.
    About {
        len: u64,
        of_run: u64,
    },
    Unknown,
}

/// An output that is being written.
pub(crate) struct Output {
    progress: Arc<Progress>,
    name: String,
    sink: Sink,
}

enum Sink {
    Placed { file: AtomicFile, places: Places },
    InTurn { state: Mutex<InTurn>, turned: Condvar },
}

struct InTurn {
    writer: Writer,
    /// The batch whose turn it is.
    turn: usize,
    /// A worker has failed: nobody's turn will come.
    failed: bool,
    atomic: Option<AtomicFile>,
}

/// Something that takes bytes one after the other and can be ended.
enum Writer {
    Plain(Box<dyn Write + Send>),
    Gzip(Gzip),
    Zstd(zstd::stream::write::Encoder<'static, Box<dyn Write + Send>>),
}

/// Bytes of the budget for each thread that packs.
pub(crate) fn packer(compression: Compression) -> u64 {
    match compression {
        Compression::None => 0,
        Compression::Zstd { level: 10.. } => THOROUGH_PACKER,
        Compression::Gzip { .. } | Compression::Zstd { .. } => PACKER,
    }
}

/// Threads that pack: as many as the budget has room for.
fn packers(config: &Config, compression: Compression) -> usize {
    let most = config.memory / packer(compression).max(1);
    config.threads.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
}

/// Why nothing can be packed: other work goes on without further threads, but what packs works beside who gathers.
fn no_thread(why: io::Error) -> io::Error {
    io::Error::other(format!(
        "no thread can be started to pack it ({why}); allow more of them (ulimit -u), or do not pack (-z none)"
    ))
}

impl Writer {
    fn new(
        inner: Box<dyn Write + Send>,
        config: &Config,
        compression: Compression,
    ) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Writer::Plain(inner),
            Compression::Gzip { level } => {
                Writer::Gzip(Gzip::new(inner, level, packers(config, compression))?)
            }
            Compression::Zstd { level } => {
                let mut encoder = zstd::stream::write::Encoder::new(inner, level as i32)?;
                encoder.include_checksum(true)?;
                encoder.set_parameter(CParameter::JobSize(ZSTD_JOB))?;
                // its answer depends on whether there are workers at all: always have one (contract C4)
                let packers = available(packers(config, compression)).map_err(no_thread)?;
                encoder.multithread(packers as u32)?;
                Writer::Zstd(encoder)
            }
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Writer::Plain(writer) => writer.write_all(bytes),
            Writer::Gzip(writer) => writer.write_all(bytes),
            Writer::Zstd(writer) => writer.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        let mut inner = match self {
            Writer::Plain(inner) => inner,
            Writer::Gzip(writer) => writer.finish()?,
            Writer::Zstd(writer) => writer.finish()?,
        };
        inner.flush()
    }
}

/// Looks at the target and refuses what must be refused, before anything is read.
///
/// # Errors
/// [`ErrorKind::OutputExists`], [`ErrorKind::OutputIsInput`].
pub(crate) fn check(config: &OutputConfig, inputs: &[&Source]) -> Result<(), Error> {
    let (existing, path) = match &config.target {
        Target::Stdout => (stdout_metadata(), "standard output".to_owned()),
        Target::File { path, .. } => (std::fs::metadata(path).ok(), path.display().to_string()),
    };
    let Some(existing) = existing.filter(Metadata::is_file) else { return Ok(()) };
    let inputs = inputs.iter().filter_map(|source| match source {
        Source::Stdin => metadata_of(&io::stdin()),
        Source::Path(path) => std::fs::metadata(path).ok(),
    });
    file::refuse_input(&existing, &path, inputs)?;
    match &config.target {
        Target::File { replace: false, .. } => Err(ErrorKind::OutputExists { path }.into()),
        _ => Ok(()),
    }
}

fn stdout_metadata() -> Option<Metadata> {
    metadata_of(&io::stdout())
}

fn metadata_of(stream: &impl std::os::fd::AsFd) -> Option<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

impl Output {
    /// Opens the output.
    pub(crate) fn create(
        output: &OutputConfig,
        config: &Config,
        length: Length,
    ) -> Result<Self, Error> {
        let progress = Arc::clone(&config.progress);
        if let Length::Exactly { len, .. } = length {
            // of several outputs the whole was said before
            progress.bytes_to_write.fetch_max(len, std::sync::atomic::Ordering::Relaxed);
        }
        let (path, replace) = match &output.target {
            Target::Stdout => {
                let stdout = Box::new(io::stdout().lock_free());
                return Self::in_turn("standard output".into(), stdout, None, output, config);
            }
            Target::File { path, replace } => (path, *replace),
        };
        let name = path.display().to_string();
        let existing = std::fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|m| !m.is_file()) {
            // a device or a pipe is written to, not replaced
            let file =
                File::options().write(true).open(path).map_err(|e| Error::write(&name, e))?;
            return Self::in_turn(name, Box::new(file), None, output, config);
        }
        let file = AtomicFile::create(path, replace, existing.as_ref())?;
        match (length, output.compression) {
            (
                Length::Exactly { len, of_run } | Length::About { len, of_run },
                Compression::None,
            ) => {
                let failed = |e| Error::write(&name, e);
                if let Length::Exactly { len, .. } = length {
                    reserve(&file.file, len).map_err(failed)?;
                }
                let places = Places::new(&file.file, len, of_run).map_err(failed)?;
                let sink = Sink::Placed { file, places };
                Ok(Output { progress, name, sink })
            }
            _ => {
                let bytes = file.file.try_clone().map_err(|e| Error::write(&name, e))?;
                Self::in_turn(name, Box::new(bytes), Some(file), output, config)
            }
        }
    }

    fn in_turn(
        name: String,
        inner: Box<dyn Write + Send>,
        atomic: Option<AtomicFile>,
        output: &OutputConfig,
        config: &Config,
    ) -> Result<Self, Error> {
        let inner: Box<dyn Write + Send> = match output.compression {
            Compression::None => inner,
            _ => Box::new(BufWriter::with_capacity(SLICE, inner)),
        };
        let writer = Writer::new(inner, config, output.compression);
        let writer = writer.map_err(|e| Error::write(&name, e))?;
        let state = InTurn { writer, turn: 0, failed: false, atomic };
        let sink = Sink::InTurn { state: Mutex::new(state), turned: Condvar::new() };
        Ok(Output { progress: Arc::clone(&config.progress), name, sink })
    }

    /// A batch to write: the `number`th, whose first byte stands at `offset`.
    pub(crate) fn batch<'o>(
        &'o self,
        number: usize,
        offset: u64,
        buffer: &'o mut Buffer,
    ) -> Batch<'o> {
        // so that blocks of the buffer are blocks of the file
        let skip = match self.sink {
            Sink::Placed { .. } => offset as usize % BLOCK,
            Sink::InTurn { .. } => 0,
        };
        buffer.reset(skip);
        let offset = offset - skip as u64;
        let (has_turn, turns, full) = (false, None, SLICE);
        Batch { output: self, number, offset, skip, buffer, has_turn, turns, full }
    }

    /// As [`Output::batch`], where it shows only in the end how long batches become.
    pub(crate) fn batch_in_turn<'o>(
        &'o self,
        number: usize,
        turns: &'o Turns,
        buffer: &'o mut Buffer,
    ) -> Batch<'o> {
        let batch = self.batch(number, 0, buffer);
        let turns = matches!(self.sink, Sink::Placed { .. }).then_some(turns);
        Batch { turns, ..batch }
    }

    /// Threads that should gather and write batches: of those that write past the page cache half wait for the disk.
    pub(crate) fn workers(&self, config: &Config) -> usize {
        let most = usize::try_from(config.memory / WORKER).unwrap_or(usize::MAX);
        match &self.sink {
            // one thread alone is asked for by who wants one
            Sink::Placed { places, .. } if places.are_direct() && config.threads > 1 => {
                (2 * config.threads).min(most).max(config.threads)
            }
            _ => config.threads,
        }
    }

    /// A buffer to gather batches in.
    pub(crate) fn buffer(&self) -> Result<Buffer, Error> {
        Buffer::new().map_err(|e| Error::write(&self.name, e))
    }

    /// Says how long the output has become, where its length was a guess.
    pub(crate) fn set_len(&self, len: u64) -> Result<(), Error> {
        match &self.sink {
            Sink::Placed { file, .. } => {
                file.file.set_len(len).map_err(|e| Error::write(&self.name, e))
            }
            Sink::InTurn { .. } => Ok(()),
        }
    }

    /// Ends the output: everything is on disk, or handed to the reader, when this returns.
    pub(crate) fn finish(self) -> Result<(), Error> {
        match self.sink {
            Sink::Placed { file, places } => {
                places.finish().map_err(|e| Error::write(&self.name, e))?;
                file.commit()
            }
            Sink::InTurn { state, .. } => {
                let InTurn { writer, atomic, .. } =
                    state.into_inner().unwrap_or_else(|e| e.into_inner());
                writer.finish().map_err(|e| Error::write(&self.name, e))?;
                atomic.map_or(Ok(()), AtomicFile::commit)
            }
        }
    }

    /// Wakes all that wait for a turn, since it will not come.
    pub(crate) fn give_up(&self) {
        if let Sink::InTurn { state, turned } = &self.sink {
            lock(state).failed = true;
            turned.notify_all();
        }
    }
}

fn lock(state: &Mutex<InTurn>) -> MutexGuard<'_, InTurn> {
    state.lock().unwrap_or_else(|e| e.into_inner())
}

/// Makes the file as long as it will be. Where the file system cannot, the file grows as it is written; only a full
/// disk is an error.
fn reserve(file: &File, len: u64) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        if let Err(full @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) =
            fallocate(file, FallocateFlags::empty(), 0, len)
        {
            return Err(full.into());
        }
    }
    let _ = file;
    Ok(())
}

/// Bytes that belong together in the output.
pub(crate) struct Batch<'o> {
    output: &'o Output,
    number: usize,
    /// Where the first byte of the buffer belongs.
    offset: u64,
    /// Bytes at the front of the buffer that belong to the batch before.
    skip: usize,
    buffer: &'o mut Buffer,
    /// Whether the batches before are written, or it is known where they end.
    has_turn: bool,
    /// What tells where it begins, if that is not known from the start.
    turns: Option<&'o Turns>,
    /// Bytes in the buffer at which it is written.
    full: usize,
}

impl Batch<'_> {
    /// Appends bytes, in slices if there are many.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.len() > SLICE {
            return bytes.chunks(SLICE).try_for_each(|chunk| self.push(chunk));
        }
        self.buffer.push(bytes);
        if self.buffer.len() >= self.full { self.flush(false) } else { Ok(()) }
    }

    /// Whether it is known where the batch begins; its bytes are then where they are to be in the buffer.
    fn is_placed(&mut self, waits: bool) -> Result<bool, Error> {
        let Some(turns) = self.turns.filter(|_| !self.has_turn) else { return Ok(true) };
        let Some(offset) = turns.begin(self.number, waits)? else { return Ok(false) };
        self.skip = offset as usize % BLOCK;
        self.offset = offset - self.skip as u64;
        self.buffer.move_back(self.skip);
        (self.has_turn, self.full) = (true, SLICE);
        Ok(true)
    }

    fn flush(&mut self, last: bool) -> Result<(), Error> {
        if !self.is_placed(last || self.full == UNPLACED)? {
            // there is room for more until it is known
            self.full += SLICE;
            return Ok(());
        }
        if let Some(turns) = self.turns.filter(|_| last) {
            turns.end(self.offset + self.buffer.len() as u64);
        }
        let failed = |e| Error::write(&self.output.name, e);
        let before = self.buffer.len();
        match &self.output.sink {
            Sink::Placed { places, .. } => {
                let next =
                    places.write(self.buffer, self.offset, self.skip, last).map_err(failed)?;
                // if there was no whole block, the front is still what it was
                self.skip = if next == self.offset { self.skip } else { 0 };
                self.offset = next;
            }
            Sink::InTurn { state, turned } => {
                let mut state = lock(state);
                while !self.has_turn && state.turn != self.number && !state.failed {
                    state = turned.wait(state).unwrap_or_else(|e| e.into_inner());
                }
                if state.failed {
                    return Err(ErrorKind::BrokenPipe.into());
                }
                self.has_turn = true;
                state.writer.write_all(self.buffer.as_slice()).map_err(failed)?;
                self.buffer.reset(0);
            }
        }
        let written = before - self.buffer.len();
        Progress::add(&self.output.progress.bytes_written, written as u64);
        Ok(())
    }

    /// Writes what is left and passes the turn on.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.flush(true)?;
        if let Sink::InTurn { state, turned } = &self.output.sink {
            lock(state).turn = self.number + 1;
            turned.notify_all();
        }
        Ok(())
    }
}

/// Standard output as a plain file handle: std's own would search every slice for line ends.
trait LockFree {
    fn lock_free(self) -> Box<dyn Write + Send>;
}

impl LockFree for io::Stdout {
    fn lock_free(self) -> Box<dyn Write + Send> {
        use std::os::fd::AsFd;
        match self.as_fd().try_clone_to_owned() {
            Ok(fd) => Box::new(File::from(fd)),
            Err(_) => Box::new(self),
        }
    }
}
