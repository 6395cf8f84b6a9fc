//! Documents whose events are made: `.cpuprofile` inputs, for who knows what they are.

use super::warning::ProfilePlace;
use crate::event::envelope::Document;
use crate::input;
use crate::run::flaws::Flaws;
use crate::store::Payload;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Makes events of documents that have none. [`TracesOnly`] takes none; the crate of CPU profiles has one that takes `.cpuprofile` inputs.
///
/// Called on the thread that reads, in the order of the inputs; the events are then read as they are made, like those of a pipe.
pub trait Expand {
    /// All inputs there are, before the first is read.
    fn begin(&mut self, paths: &mut dyn Iterator<Item = &Path>);

    /// Whether a stream that begins with these bytes may hold such a document: its bytes are kept until that is known.
    fn may_take(&self, first: &[u8]) -> bool;

    /// Whether this is such a document.
    fn takes(&self, document: &Document) -> bool;

    /// The events of a document of the input `path`; places in it are those in `payload`.
    fn expand(&mut self, path: &Path, payload: &Arc<Payload>, document: &Document) -> Expanded;

    /// A trace that is read behind all inputs, and what it is called; `first` is the earliest time of all, in nanoseconds.
    fn last(&mut self, first: Option<i64>) -> Option<(&'static str, Vec<u8>)>;
}

/// For runs that take nothing but traces.
pub struct TracesOnly;

impl Expand for TracesOnly {
    fn begin(&mut self, _: &mut dyn Iterator<Item = &Path>) {}

    fn may_take(&self, _: &[u8]) -> bool {
        false
    }

    fn takes(&self, _: &Document) -> bool {
        false
    }

    fn expand(&mut self, _: &Path, _: &Arc<Payload>, _: &Document) -> Expanded {
        // nothing is taken, so nothing comes here
        let events = Box::new(io::empty());
        Expanded { events, heap: 0, flaws: Arc::default(), said: None }
    }

    fn last(&mut self, _: Option<i64>) -> Option<(&'static str, Vec<u8>)> {
        None
    }
}

/// The events of a document.
pub struct Expanded {
    /// A trace, made as it is read.
    pub events: Box<dyn Read + Send>,
    /// Bytes of heap that it takes until it is read.
    pub heap: u64,
    /// What is wrong with the document: known when all is read.
    pub flaws: Arc<Mutex<Flaws>>,
    /// What the user should know of it.
    pub said: Option<ProfilePlace>,
}

/// Bytes of a stream that are looked at.
const LOOK: usize = 256;
/// Whether a stream may have to be expanded, by its first bytes: then it must be kept until that is known.
pub(super) fn look(
    mut stream: Box<dyn Read + Send>,
    expand: &dyn Expand,
) -> io::Result<(Box<dyn Read + Send>, bool)> {
    // by its first key such a document is known
    let enough = |first: &[u8]| first.contains(&b':') || first.trim_ascii_start().starts_with(b"[");
    let (first, failure) = match input::look(&mut *stream, LOOK, LOOK, enough) {
        Ok(first) => (first, None),
        // what is packed may break off: that shows again where it is read on
        Err((first, error)) => (first, Some(error)),
    };
    let may_be = expand.may_take(&first);
    let rest: Box<dyn Read + Send> = match failure {
        None => stream,
        Some(error) => Box::new(Broken(Some(error))),
    };
    Ok((Box::new(Cursor::new(first).chain(rest)), may_be))
}

/// A stream that has failed.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
