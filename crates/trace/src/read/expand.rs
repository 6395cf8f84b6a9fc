//! Interface for inputs whose events are derived, such as `.cpuprofile` files.

use super::warning::ProfilePlace;
use crate::event::envelope::Document;
use crate::input;
use crate::run::flaws::Flaws;
use crate::store::Payload;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Derives events from documents without events, such as `.cpuprofile` inputs.
///
/// The session calls the methods in input order. It reads events while they are produced, like the
/// events of a pipe.
pub trait Expand {
    /// Receives the paths of all inputs before the first is read.
    fn begin(&mut self, paths: &mut dyn Iterator<Item = &Path>);

    /// Returns whether a stream that begins with `first` may be accepted. If so, the session keeps
    /// the bytes of the stream.
    fn may_take(&self, first: &[u8]) -> bool;

    /// Returns whether the document is accepted.
    fn takes(&self, document: &Document) -> bool;

    /// Derives the events of a document of the input `path`. Offsets in the document are relative
    /// to `payload`.
    fn expand(&mut self, path: &Path, payload: &Arc<Payload>, document: &Document) -> Expanded;

    /// Returns the name and the bytes of a trace to read after all inputs. `first` is the earliest
    /// time of all inputs, in nanoseconds.
    fn last(&mut self, first: Option<i64>) -> Option<(&'static str, Vec<u8>)>;
}

/// An [`Expand`] that accepts no documents, for runs that read only traces.
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
        // never called, because `takes` returns false
        let events = Box::new(io::empty());
        Expanded { events, heap: 0, flaws: Arc::default(), place: None }
    }

    fn last(&mut self, _: Option<i64>) -> Option<(&'static str, Vec<u8>)> {
        None
    }
}

/// The events derived from a document.
pub struct Expanded {
    /// The events as trace text, produced on demand.
    pub events: Box<dyn Read + Send>,
    /// Bytes of heap that the events take until they are read.
    pub heap: u64,
    /// Flaws of the document; complete after all events are read.
    pub flaws: Arc<Mutex<Flaws>>,
    /// A warning for the user about the pid and tid.
    pub place: Option<ProfilePlace>,
}

/// Number of bytes of a stream that are inspected.
const LOOK: usize = 256;
/// Inspects the first bytes of a stream. Returns the stream, and whether [`Expand`] may accept it.
pub(super) fn look(
    mut stream: Box<dyn Read + Send>,
    expand: &dyn Expand,
) -> io::Result<(Box<dyn Read + Send>, bool)> {
    // the first key identifies such a document
    let enough = |first: &[u8]| first.contains(&b':') || first.trim_ascii_start().starts_with(b"[");
    let (first, failure) = match input::look(&mut *stream, LOOK, LOOK, enough) {
        Ok(first) => (first, None),
        // packed data may break off; the stream reports the error again when it is read
        Err((first, error)) => (first, Some(error)),
    };
    let may_be = expand.may_take(&first);
    let rest: Box<dyn Read + Send> = match failure {
        None => stream,
        Some(error) => Box::new(Broken(Some(error))),
    };
    Ok((Box::new(Cursor::new(first).chain(rest)), may_be))
}

/// A stream that returns one error and then ends.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
