//! Streams: read once, scanned while they are read, kept for the output.
//!
//! ```text
//!   pipe ─ read ─> segment ─> scan          segments in memory, up to the budget
//!                     │ full: what the scanner still needs is copied to the next one
//!                     v
//!                  unlinked temporary file, mapped while it grows      beyond it
//! ```
//!
//! In memory every item lies in one segment; in the file trivially so. An item longer than a segment gets one of its own;
//! one longer than the budget goes to the file, where the scanner meets it in a map. Nothing is scanned twice.

use super::pump::{Ahead, Pump};
use crate::event::proof::{Feed, Proof};
use crate::os::{self, Temporary};
use crate::read::scan::Collect;
use crate::run::error::Error;
use crate::run::limits::{Limits, Progress};
use crate::store::{Payload, Segment};
use memmap2::MmapMut;
use std::io::{self, Read, Write};
use tracemill_tokenizer::{Mapped, Scanner, Status, Stop, Tier, Window};

/// Bytes by which the spooled file grows before it is scanned again: each time it is mapped anew.
const SPOOL_STEP: u64 = 4 << 20;

/// How much memory a stream may keep, and what of it is kept at all.
pub struct SpoolLimits {
    /// Bytes of segments; beyond that the stream goes to disk.
    pub payload: u64,
    /// Bytes of a segment.
    pub segment: usize,
    /// Whether the bytes are needed after they were scanned.
    pub keep: bool,
    /// Whether it is unpacked while it is read, so that its end may be damaged.
    pub packed: bool,
    /// Whether what was read is wanted whenever nothing more is at hand, also of what goes to disk.
    pub hurries: bool,
}

/// What was read since the step before.
#[derive(Clone, Copy)]
pub struct Step {
    /// Bytes that are new.
    pub bytes: u64,
    /// Whether nothing more is at hand, as far as is known: whoever writes the stream may be waiting.
    pub pauses: bool,
    /// Whether that is all.
    pub last: bool,
}

/// A stream that was read to its end, or as far as it could be.
pub struct Spooled {
    /// Its bytes, as far as they are kept.
    pub payload: Payload,
    /// How many it has.
    pub bytes: u64,
    /// Bytes that went to disk.
    pub spooled: u64,
    /// Why reading stopped before the end, if it did: the packing is damaged.
    pub broken: Option<io::Error>,
}

/// Reads a stream and scans it, once: [`Spool::read`].
///
/// Cost: a copy of the bytes, and one more where they go to disk. Heap: segments up to [`SpoolLimits::payload`]; with
/// [`SpoolLimits::keep`] unset one segment, however long the stream is.
pub struct Spool<'c> {
    config: &'c Limits,
    name: String,
    limits: SpoolLimits,
    /// Made with the first bytes, which tell what is skipped.
    scanner: Option<Scanner>,
    tier: Tier,
    proof: Proof,
    /// All that is kept of the stream, or what the scanner needs of it; none once there is a file.
    segments: Vec<Segment>,
    file: Option<Temporary>,
    /// Offset in the stream of the file's first byte: not 0 only where nothing is kept.
    file_base: u64,
    /// For reads that go to the file.
    buffer: Vec<u8>,
    /// Bytes read so far.
    bytes: u64,
    /// Bytes in the file so far that were scanned.
    mapped: u64,
}

impl<'c> Spool<'c> {
    /// For the stream `name`; `limits` say what of it is kept, and where.
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

    /// Reads all of `reader`. After each step `part` holds its findings and `step` may take them; it is told what was read
    /// so far, and what of it is new.
    ///
    /// A packing that breaks off is no error here: what could be read is kept, and the reason is in the answer.
    ///
    /// # Errors
    /// [`Read`](crate::run::error::ErrorKind::Read) if the stream fails but for damage of its packing, [`Scratch`](crate::run::error::ErrorKind::Scratch) if
    /// the disk does not take it, and those of `step`.
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
            // without a thread that reads ahead nobody knows, and the next read may wait
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

    /// Lends what was read so far.
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

    /// Reads once, into the last segment or, when the budget is used up, to the file; 0 bytes are the end.
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

    /// Damage of a packing keeps what came before it; anything else is an error: what comes from the system, and whatever
    /// happens to a stream that is not packed.
    fn stopped(&self, error: io::Error) -> Stopped {
        if !self.limits.packed || error.raw_os_error().is_some() {
            return Stopped::Failed(Error::read(&self.name, error));
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput => Stopped::Broken(error),
            // zstd reports its damage like this
            io::ErrorKind::Other => Stopped::Broken(error),
            _ => Stopped::Failed(Error::read(&self.name, error)),
        }
    }

    /// Makes sure that the last segment has room; false if the budget has none left. A new segment begins with what the scanner has not done with,
    /// and is twice as long as that at least: so an item that grows is copied a few times, not once a segment.
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

    /// From now on the stream goes to a file, which first gets what is in memory.
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

    /// Scans what is new; true if anything was.
    fn scan<C: Collect>(&mut self, part: &mut C, pauses: bool, last: bool) -> Result<bool, Error> {
        if self.scanner.is_none() {
            // a byte order mark is known once three bytes are there
            if self.bytes < 3 && !last {
                return Ok(false);
            }
            let map = self.file.as_ref().map_or(Ok(None), |file| self.map(file))?;
            let first = self.segments.first().map_or(&[][..], Segment::bytes);
            let skip = super::byte_order_mark(map.as_deref().unwrap_or(first)) as u64;
            self.scanner = Some(self.proof.scanner(self.tier, skip));
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

/// Why no more bytes come.
enum Stopped {
    /// The packing ends early or is damaged.
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

/// Writes a whole stream to an unlinked file and maps it, if there is anything in it: for strict runs, which look at every
/// byte before anything else.
///
/// # Errors
/// As [`Spool::read`], but a broken packing is an error here.
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

    /// Ends with an error of its own.
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
    fn only_what_is_packed_breaks_off() {
        let damage: fn() -> io::Error = || io::ErrorKind::InvalidData.into();
        let other: fn() -> io::Error = || io::Error::other("frame checksum");
        // EIO, as the system has it
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
                let spool = Spool::new(&config, "in".into(), Tier::Scalar, Proof::None, limits);
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
