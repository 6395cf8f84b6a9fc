//! Reads streams once, scans them on the way, and keeps their bytes for the output.
//!
//! ```text
//!   pipe ─ read ─> segment ─> scan          segments in memory, up to the budget
//!                     │ full: bytes that the scanner still needs are copied to the next one
//!                     v
//!                  unlinked temporary file, mapped while it grows      beyond the budget
//! ```
//!
//! Each item lies within one segment, or in the file. An item longer than a segment gets its own
//! segment, or goes to the file. Nothing is scanned twice.

use super::pump::{Ahead, Pump};
use crate::event::proof::{Feed, Proof, proving_scanner};
use crate::os::{self, Temporary};
use crate::read::scan::Collect;
use crate::run::error::Error;
use crate::run::limits::{Limits, Progress};
use crate::store::{Payload, Segment};
use memmap2::MmapMut;
use std::io::{self, Read, Write};
use tracemill_tokenizer::{Mapped, Scanner, Status, Stop, Tier, Window};

/// Number of bytes that the file grows between scans, each of which maps it again.
const SPOOL_STEP: u64 = 4 << 20;

/// Options for keeping the bytes of a stream.
pub struct SpoolLimits {
    /// Maximum bytes of segments; beyond that the stream goes to disk.
    pub payload: u64,
    /// Length of a segment in bytes.
    pub segment: usize,
    /// Whether the bytes are needed after the scan.
    pub keep: bool,
    /// Whether the stream is unpacked on the way, so that its end may be damaged.
    pub packed: bool,
    /// Whether to scan new bytes at every pause of the stream, even when it goes to disk.
    pub hurries: bool,
}

/// The bytes read since the previous step.
#[derive(Clone, Copy)]
pub struct Step {
    /// Number of new bytes.
    pub bytes: u64,
    /// Whether no more bytes are available, as far as known.
    pub pauses: bool,
    /// Whether the stream has ended.
    pub last: bool,
}

/// The result of reading a stream to its end, or as far as possible.
pub struct Spooled {
    /// Kept bytes.
    pub payload: Payload,
    /// Length of the stream in bytes.
    pub bytes: u64,
    /// Number of bytes on disk.
    pub spooled: u64,
    /// Error of damaged packed data that ended the read, if any.
    pub broken: Option<io::Error>,
}

/// Reads and scans one stream, see [`Spool::read`].
///
/// Cost: one copy of the bytes, and another on disk. Heap: segments up to [`SpoolLimits::payload`];
/// a single segment without [`SpoolLimits::keep`].
pub struct Spool<'c> {
    config: &'c Limits,
    name: String,
    limits: SpoolLimits,
    /// Scanner; `None` until the first bytes show whether there is a byte order mark.
    scanner: Option<Scanner>,
    tier: Tier,
    proof: Proof,
    /// All segments if they are kept, else the segments that the scanner still needs. Empty once
    /// there is a file.
    segments: Vec<Segment>,
    file: Option<Temporary>,
    /// Stream offset of the first byte in the file; nonzero only if bytes are not kept.
    file_base: u64,
    buffer: Vec<u8>,
    bytes: u64,
    /// Stream offset up to which bytes were scanned.
    mapped: u64,
}

impl<'c> Spool<'c> {
    /// Creates a spool for the stream `name`.
    pub fn new(
        config: &'c Limits,
        name: String,
        tier: Tier,
        proof: Proof,
        limits: SpoolLimits,
    ) -> Self {
        Spool {
            config,
            name,
            limits,
            scanner: None,
            tier,
            proof,
            segments: Vec::new(),
            file: None,
            file_base: 0,
            buffer: Vec::new(),
            bytes: 0,
            mapped: 0,
        }
    }

    /// Reads all of `reader`. After each step, `part` holds the new findings, and `step` receives
    /// the bytes read so far.
    ///
    /// Damaged packed data is not an error: [`Spooled::broken`] has the reason.
    ///
    /// # Errors
    /// Returns [`Read`](crate::run::error::ErrorKind::Read) if the stream fails otherwise,
    /// [`Scratch`](crate::run::error::ErrorKind::Scratch) if the disk is full, and any error of
    /// `step`.
    pub fn read<C: Collect>(
        mut self,
        mut reader: Box<dyn Read + Send>,
        part: &mut C,
        mut step: impl FnMut(&mut C, &Payload, Step) -> Result<(), Error>,
    ) -> Result<Spooled, Error> {
        let mut ahead = None;
        if self.config.threads > 1 {
            (reader, ahead) = Pump::start(reader, self.config.read_size);
        }
        let mut offered = 0;
        let broken = loop {
            match self.read_some(&mut *reader) {
                Ok(0) => break None,
                Ok(count) => Progress::add(&self.config.progress.bytes_scanned, count as u64),
                Err(Stopped::Broken(e)) => break Some(e),
                Err(Stopped::Failed(e)) => return Err(e),
            }
            // without a reading thread this is unknown, and the next read may block
            let pauses = ahead.as_ref().is_none_or(Ahead::is_empty);
            if self.scan(part, pauses, false)? {
                let bytes = self.bytes - std::mem::replace(&mut offered, self.bytes);
                self.lend(|payload| step(part, payload, Step { bytes, pauses, last: false }))?;
            }
        };
        self.scan(part, true, true)?;
        let bytes = self.bytes - offered;
        self.lend(|payload| step(part, payload, Step { bytes, pauses: true, last: true }))?;
        let (bytes, spooled) = (self.bytes, if self.file.is_some() { self.bytes } else { 0 });
        Ok(Spooled { payload: self.into_payload()?, bytes, spooled, broken })
    }

    fn lend(&mut self, step: impl FnOnce(&Payload) -> Result<(), Error>) -> Result<(), Error> {
        let payload = match &self.file {
            Some(file) => self.map(file)?.into(),
            None => Payload::Segments(std::mem::take(&mut self.segments)),
        };
        let stepped = step(&payload);
        if let Payload::Segments(segments) = payload {
            self.segments = segments;
        }
        stepped
    }

    /// Reads once, into the last segment, or to the file beyond the budget. Returns 0 at the end.
    fn read_some(&mut self, reader: &mut dyn Read) -> Result<usize, Stopped> {
        let most = self.config.read_size;
        if self.file.is_none() && !self.make_room()? {
            self.move_to_disk()?;
        }
        let count = match &self.file {
            Some(_) => {
                self.buffer.resize(most.min(256 * 1024), 0);
                let count = read_retrying(reader, &mut self.buffer);
                let count = count.map_err(|e| self.stopped(e))?;
                let file = self.file.as_mut().expect("it is there");
                let written = file.write_all(&self.buffer[..count]);
                written.map_err(|e| Error::scratch(&self.config.tmp_dir, e))?;
                count
            }
            None => {
                let segment = self.segments.last_mut().expect("there is room in a segment");
                let room = &mut segment.bytes[segment.filled..];
                let most = most.min(room.len());
                let count = read_retrying(reader, &mut room[..most]);
                let count = count.map_err(|e| self.stopped(e))?;
                self.segments.last_mut().expect("as above").filled += count;
                count
            }
        };
        self.bytes += count as u64;
        Ok(count)
    }

    /// Classifies an error. Only after damage of packed data, the earlier bytes are kept.
    fn stopped(&self, error: io::Error) -> Stopped {
        if !self.limits.packed || error.raw_os_error().is_some() {
            return Stopped::Failed(Error::read(&self.name, error));
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput => Stopped::Broken(error),
            // zstd reports damage like this
            io::ErrorKind::Other => Stopped::Broken(error),
            _ => Stopped::Failed(Error::read(&self.name, error)),
        }
    }

    /// Ensures room in the last segment. Returns `false` if the budget has no room.
    ///
    /// A new segment begins with the bytes that the scanner still needs, and is at least twice as
    /// long. So a growing item is copied only a few times.
    fn make_room(&mut self) -> Result<bool, Error> {
        if self.segments.last().is_some_and(|segment| segment.filled < segment.bytes.len()) {
            return Ok(true);
        }
        let keep_from = self.scanner.as_ref().map_or(0, Scanner::retain_from);
        let keep = (self.bytes - keep_from) as usize;
        let size = self.limits.segment.max(2 * keep);
        if !self.limits.keep
            && let [segment] = &mut self.segments[..]
            && segment.bytes.len() >= size
        {
            segment.bytes.copy_within((keep_from - segment.base) as usize..segment.filled, 0);
            (segment.base, segment.filled) = (keep_from, keep);
            return Ok(true);
        }
        let held: usize = self.segments.iter().map(|segment| segment.bytes.len()).sum();
        if (held + size) as u64 > self.limits.payload {
            return Ok(false);
        }
        let mut bytes = MmapMut::map_anon(size).map_err(|e| Error::read(&self.name, e))?;
        os::huge_pages(&bytes);
        if keep > 0 {
            let last = self.segments.last().expect("bytes are kept from a segment");
            bytes[..keep].copy_from_slice(&last.bytes()[(keep_from - last.base) as usize..]);
        }
        if !self.limits.keep {
            self.segments.clear();
        }
        self.segments.push(Segment { base: keep_from, bytes, filled: keep });
        Ok(true)
    }

    fn move_to_disk(&mut self) -> Result<(), Error> {
        let failed = |e| Error::scratch(&self.config.tmp_dir, e);
        let mut file = Temporary::new(&self.config.tmp_dir).map_err(failed)?;
        let mut written = self.segments.first().map_or(self.bytes, |segment| segment.base);
        self.file_base = written;
        for segment in &self.segments {
            // segments overlap
            file.write_all(&segment.bytes()[(written - segment.base) as usize..])
                .map_err(failed)?;
            written = segment.base + segment.filled as u64;
        }
        self.mapped = written;
        self.segments = Vec::new();
        self.file = Some(file);
        Ok(())
    }

    fn map(&self, file: &Temporary) -> Result<Option<Mapped>, Error> {
        file.map().map_err(|e| Error::scratch(&self.config.tmp_dir, e))
    }

    /// Scans the new bytes. Returns whether any bytes were scanned.
    fn scan<C: Collect>(&mut self, part: &mut C, pauses: bool, last: bool) -> Result<bool, Error> {
        if self.scanner.is_none() {
            // a byte order mark has three bytes
            if self.bytes < 3 && !last {
                return Ok(false);
            }
            let map = self.file.as_ref().map_or(Ok(None), |file| self.map(file))?;
            let first = self.segments.first().map_or(&[][..], Segment::bytes);
            let skip = super::byte_order_mark(map.as_deref().unwrap_or(first)) as u64;
            self.scanner = Some(proving_scanner(self.tier, skip));
        }
        let grown = self.bytes - self.mapped;
        let map = match &self.file {
            Some(_) if grown < SPOOL_STEP && !last && !(pauses && self.limits.hurries) => {
                return Ok(false);
            }
            Some(file) => self.map(file)?,
            None => None,
        };
        let scanner = self.scanner.as_mut().expect("made above");
        let (bytes, start) = match (&map, self.segments.last()) {
            (Some(map), _) => (&map[..], self.file_base),
            (None, Some(segment)) => (segment.bytes(), segment.base),
            (None, None) => (&[][..], 0),
        };
        let base = scanner.retain_from();
        let window = Window { bytes: &bytes[(base - start) as usize..], base, last };
        let status = scanner.feed(window, Stop::NEVER, &mut Feed::new(part, self.proof));
        debug_assert!(last == (status == Status::End));
        self.mapped = self.bytes;
        Ok(true)
    }

    fn into_payload(self) -> Result<Payload, Error> {
        match &self.file {
            Some(file) if self.limits.keep => Ok(self.map(file)?.into()),
            Some(_) => Ok(Payload::Empty),
            None if self.bytes == 0 || !self.limits.keep => Ok(Payload::Empty),
            None => Ok(Payload::Segments(self.segments)),
        }
    }
}

enum Stopped {
    /// Packed data ends early or is damaged.
    Broken(io::Error),
    Failed(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Stopped::Failed(error)
    }
}

fn read_retrying(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Writes a whole stream to an unlinked file and maps it, for strict runs.
///
/// # Errors
/// Returns the errors of [`Spool::read`], and an error for damaged packed data.
pub fn to_file(
    reader: &mut dyn Read,
    name: &str,
    limits: &Limits,
) -> Result<Option<Mapped>, Error> {
    let failed = |e| Error::scratch(&limits.tmp_dir, e);
    let mut file = Temporary::new(&limits.tmp_dir).map_err(failed)?;
    let mut buffer = vec![0; limits.read_size.min(256 * 1024)];
    loop {
        match read_retrying(reader, &mut buffer).map_err(|e| Error::read(name, e))? {
            0 => return file.map().map_err(failed),
            count => file.write_all(&buffer[..count]).map_err(failed)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::envelope::Envelope;
    use crate::run::error::ErrorClass;
    use tracemill_tokenizer::Event;

    #[derive(Default)]
    struct Nothing(Envelope);

    impl Collect for Nothing {
        fn envelope(&mut self) -> &mut Envelope {
            &mut self.0
        }

        fn event(&mut self, _: &Event<'_>) {}
    }

    /// Returns an error after its bytes.
    struct Failing(&'static [u8], fn() -> io::Error);

    impl Read for Failing {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.read(out) {
                Ok(0) => Err(self.1()),
                read => read,
            }
        }
    }

    #[test]
    fn only_damaged_packed_streams_keep_their_start() {
        let damage: fn() -> io::Error = || io::ErrorKind::InvalidData.into();
        let other: fn() -> io::Error = || io::Error::other("frame checksum");
        // EIO from the system
        let disk: fn() -> io::Error = || io::Error::from_raw_os_error(5);
        for (packed, error, breaks_off) in [
            (true, damage, true),
            (true, other, true),
            (true, disk, false),
            (false, damage, false),
            (false, other, false),
            (false, disk, false),
        ] {
            for threads in [1, 2] {
                let config = Limits::new(threads, 64 << 20, std::env::temp_dir());
                let limits = SpoolLimits {
                    payload: 1 << 20,
                    segment: 1 << 16,
                    keep: true,
                    packed,
                    hurries: false,
                };
                let spool = Spool::new(&config, "in".into(), Tier::Scalar, Proof::Partial, limits);
                let stream = Box::new(Failing(br#"[{"ph":"i"},"#, error));
                let read = spool.read(stream, &mut Nothing::default(), |_, _, _| Ok(()));
                match read {
                    Ok(read) => assert!(breaks_off && read.broken.is_some() && read.bytes == 12),
                    Err(error) => assert!(!breaks_off && error.class() == ErrorClass::Input),
                }
            }
        }
    }
}
