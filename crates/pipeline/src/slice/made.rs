//! Events that stand in no input: cut, re-opened, closed. They are written to a file that then is one more input,
//! whose places come before all others: at equal times and durations what was made stands first, in the order in which
//! it was made. So slices that an edge cut open enclose what begins at the edge.

use crate::error::{Error, ErrorKind};
use crate::order::{Entry, rank};
use crate::store::{Long, Payload, Place};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracemill_tokenizer::{Mapped, fields_of};

/// Writes what is made.
pub(super) struct Made {
    file: Option<BufWriter<File>>,
    len: u64,
    /// The most there may be.
    most: u64,
    entries: Vec<Entry>,
    long: Vec<Long>,
    /// Places of events of which it is asked what became of them.
    watched: HashSet<u64>,
    of: HashMap<u64, Entry>,
    tmp_dir: PathBuf,
}

/// All that was made.
pub(super) struct All {
    pub(super) payload: Payload,
    /// Sorted by their 16 bytes.
    pub(super) entries: Vec<Entry>,
    pub(super) long: Vec<Long>,
    /// By the places of those of which it is asked, what was made of them first.
    pub(super) of: HashMap<u64, Entry>,
}

impl Made {
    /// Of the events at the places `watched` it is known afterwards what was made of them.
    pub(super) fn new(most: u64, tmp_dir: &Path, watched: HashSet<u64>) -> Self {
        let (entries, long, of) = (Vec::new(), Vec::new(), HashMap::new());
        let tmp_dir = tmp_dir.to_owned();
        Made { file: None, len: 0, most, entries, long, watched, of, tmp_dir }
    }

    /// Appends bytes; returns where they stand.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        let failed = |e| Error::scratch(&self.tmp_dir, e);
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = tempfile::tempfile_in(&self.tmp_dir).map_err(failed)?;
                none.insert(BufWriter::with_capacity(1 << 18, file))
            }
        };
        file.write_all(bytes).map_err(failed)?;
        let offset = self.len;
        self.len += bytes.len() as u64;
        if self.len >= self.most {
            return Err(ErrorKind::TooLarge { bytes: self.len, most: self.most }.into());
        }
        Ok(offset)
    }

    /// Appends an event.
    pub(super) fn event(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let offset = self.push(bytes)?;
        if Place::is_long(bytes.len()) {
            self.long.push((offset, bytes.len() as u64));
        }
        let spans = fields_of(bytes);
        let event = spans.of(bytes);
        if let Some(ts) = event.ts() {
            let place = Place::new(offset, bytes.len(), rank(ts, event.dur()));
            self.entries.push(Entry { time: ts.floor, place });
        }
        Ok(())
    }

    /// Appends what is made of an event.
    pub(super) fn event_of(&mut self, origin: Entry, bytes: &[u8]) -> Result<(), Error> {
        let number = self.entries.len();
        self.event(bytes)?;
        if self.watched.contains(&origin.place.offset()) {
            let made = self.entries.get(number).copied();
            made.map(|made| *self.of.entry(origin.place.offset()).or_insert(made));
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<All, Error> {
        let payload = match self.file {
            None => Payload::Empty,
            Some(mut file) => {
                let mapped = file.flush().and_then(|()| Mapped::new(file.get_ref()));
                Payload::Mapped(Arc::new(mapped.map_err(|e| Error::scratch(&self.tmp_dir, e))?))
            }
        };
        self.entries.sort_unstable();
        Ok(All { payload, entries: self.entries, long: self.long, of: self.of })
    }
}
