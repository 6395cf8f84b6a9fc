//! Events that stand in no input: cut, re-opened, closed. They are written to a file that then is one more input,
//! whose places come before all others: at equal times and durations what was made stands first, in the order in which
//! it was made. So slices that an edge cut open enclose what begins at the edge.

use std::path::Path;
use tracemill_tokenizer::fields_of;
use tracemill_trace::run::error::{Error, ErrorKind};
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::spill::{Scratch, SpillVec, SpilledVec};
use tracemill_trace::store::Payload;
use tracemill_trace::store::entry::{Entry, rank};
use tracemill_trace::store::long_events::LongEvents;
use tracemill_trace::store::place::Place;

/// Writes what is made.
pub(super) struct SyntheticEvents {
    file: Scratch,
    /// The most there may be.
    most: u64,
    entries: SpillVec<Entry>,
    long: LongEvents,
    /// Places of events of which it is asked what became of them.
    watched: HashSet<u64>,
    of: HashMap<u64, Entry>,
}

/// All that was made.
pub(super) struct Synthesized {
    pub(super) payload: Payload,
    /// In the order in which they were made.
    pub(super) entries: SpilledVec<Entry>,
    pub(super) long: LongEvents,
    /// By the places of those of which it is asked, what was made of them first.
    pub(super) of: HashMap<u64, Entry>,
}

impl SyntheticEvents {
    /// At most so many bytes, with the entries of what is made in `entries`, and the long events of it in `long`. Of the events at the places `watched` it is
    /// known afterwards what was made of them.
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

    /// Appends bytes; returns where they stand.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        let offset = self.file.len();
        self.file.write(bytes)?;
        let bytes = self.file.len();
        if bytes >= self.most {
            return Err(ErrorKind::TooLarge { bytes, most: self.most }.into());
        }
        Ok(offset)
    }

    /// Appends an event.
    pub(super) fn event(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.append(bytes).map(drop)
    }

    /// Appends an event; returns its entry, if it has a time.
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

    /// Appends what is made of an event.
    pub(super) fn event_of(&mut self, origin: Entry, bytes: &[u8]) -> Result<(), Error> {
        let made = self.append(bytes)?;
        let origin = origin.place.offset();
        if let Some(made) = made.filter(|_| self.watched.contains(&origin)) {
            self.of.entry(origin).or_insert(made);
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Synthesized, Error> {
        let payload = self.file.into_mapped()?.into();
        Ok(Synthesized { payload, entries: self.entries.take()?, long: self.long, of: self.of })
    }
}
