//! Writes synthetic events (cut, re-opened, closed) to a file that is read like an input.
//!
//! The offsets of the file precede those of all inputs. So among events of equal times and
//! durations, synthetic events come first. A slice that is cut at an edge encloses slices that
//! begin at the edge.

use std::path::Path;
use tracemill_tokenizer::fields_of;
use tracemill_trace::run::error::{Error, ErrorKind};
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::spill::{Scratch, SpillVec, SpilledVec};
use tracemill_trace::store::Payload;
use tracemill_trace::store::entry::{Entry, rank};
use tracemill_trace::store::long_events::LongEvents;
use tracemill_trace::store::place::Place;

pub(super) struct SyntheticEvents {
    file: Scratch,
    most: u64,
    entries: SpillVec<Entry>,
    long: LongEvents,
    /// Offsets of events whose replacement must be recorded.
    watched: HashSet<u64>,
    of: HashMap<u64, Entry>,
}

pub(super) struct Synthesized {
    pub(super) payload: Payload,
    /// Entries in the order of creation.
    pub(super) entries: SpilledVec<Entry>,
    pub(super) long: LongEvents,
    /// The first replacement of each watched event, by its offset.
    pub(super) of: HashMap<u64, Entry>,
}

impl SyntheticEvents {
    /// Creates a writer for up to `most` bytes. It records the replacements of events at the
    /// offsets `watched`.
    pub(super) fn new(
        most: u64,
        tmp_dir: &Path,
        entries: SpillVec<Entry>,
        long: LongEvents,
        watched: HashSet<u64>,
    ) -> Self {
        let of = HashMap::default();
        SyntheticEvents { file: Scratch::new(tmp_dir), most, entries, long, watched, of }
    }

    /// Appends bytes and returns their offset.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        let offset = self.file.len();
        self.file.write(bytes)?;
        let bytes = self.file.len();
        if bytes >= self.most {
            return Err(ErrorKind::TooLarge { bytes, most: self.most }.into());
        }
        Ok(offset)
    }

    pub(super) fn event(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.append(bytes).map(drop)
    }

    /// Appends an event. Returns its entry, if it has a time.
    fn append(&mut self, bytes: &[u8]) -> Result<Option<Entry>, Error> {
        let offset = self.push(bytes)?;
        if Place::is_long(bytes.len()) {
            self.long.push((offset, bytes.len() as u64))?;
        }
        let spans = fields_of(bytes);
        let event = spans.of(bytes);
        let entry = event.ts().map(|ts| {
            let place = Place::new(offset, bytes.len(), rank(ts, event.dur()));
            Entry { time: ts.floor, place }
        });
        self.entries.extend(entry.as_slice())?;
        Ok(entry)
    }

    /// Appends an event that replaces another event.
    pub(super) fn event_of(&mut self, origin: Entry, bytes: &[u8]) -> Result<(), Error> {
        let entry = self.append(bytes)?;
        let origin = origin.place.offset();
        if let Some(entry) = entry.filter(|_| self.watched.contains(&origin)) {
            self.of.entry(origin).or_insert(entry);
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Synthesized, Error> {
        let payload = self.file.into_mapped()?.into();
        Ok(Synthesized { payload, entries: self.entries.take()?, long: self.long, of: self.of })
    }
}
