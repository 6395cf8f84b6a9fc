//! Keeps DevTools' annotations (`metadata.modifications`) with the events that they refer to.
//!
//! Annotations refer to events by index, so a command that moves, drops or adds events must rewrite
//! them. If DevTools cannot resolve a key, it discards all hidden entries, or all annotations after
//! that key. So `merge`, `slice` and `convert` find the event of every key. Then they write the
//! annotation with a new key, or drop and count the annotation
//! ([`tracemill_join::report::warning::AnnotationDrop`]). `split` and `filter` drop and count all
//! annotations ([`unfollowed`]):
//!
//! ```text
//!   document ─ read ─> index ─ numbers ─> event ─┬─ indices ─> new index ─┬─> merged ─> metadata
//!                      p- key ───────────────────┴─ calls ──> pid, sample ┘
//! ```
//!
//! | annotation | in the output |
//! |---|---|
//! | `r-INDEX` | index of the same event, or of its part inside a slice; dropped if not written |
//! | `s-INDEX` | the same; dropped unless the output has all events of the entry |
//! | `p-PID-TID-SAMPLE-NODE` | with the new pid; dropped if the call may be missing (`calls`) |
//! | `l-INDEX` | dropped, because DevTools counts frames itself |
//! | labels, links, ranges, hidden and expandable entries | those of all inputs; equal ones once |
//! | `initialBreadcrumb` | see below |
//! | other members of `modifications` | those of the first input with annotations |
//!
//! The first breadcrumb of the output is the window of a slice that keeps events outside its
//! window. Otherwise it has the bounds of the output, if these may have changed. Inside it are the
//! breadcrumbs of the first input that has inner breadcrumbs.
//!
//! Unchanged parts keep their bytes. Inputs without annotations cost only a mark at every 1024th
//! event ([`tracemill_trace::read::EventNumbers`]).

mod calls;
mod indices;
mod key;
mod outcomes;
mod read;
mod trace_bounds;
mod window;
mod write;

use crate::keys::modifications::modifications;
pub use read::{first_window, unfollowed};
pub use write::OutputChanges;

use read::{Annotated, EntryTarget};
use tracemill_trace::event::envelope::{Document, count};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::store::Store;

/// Returns whether any document has annotations. Annotations refer to events by index.
pub fn name_events(documents: &[Document], inputs: &Inputs) -> bool {
    let store = inputs.store();
    documents.iter().any(|document| modifications(document, &store).is_some())
}

/// The annotations of all documents.
#[derive(Default)]
pub struct Annotations<'p> {
    documents: Vec<Annotated<'p>>,
    /// Whether the trace has documents in addition to the annotated document.
    several: bool,
}

impl<'p> Annotations<'p> {
    /// Reads the annotations of all documents and finds the events that they refer to. `whole`:
    /// whether all events will be written.
    ///
    /// # Errors
    /// Returns an error if the annotations exceed the quota.
    pub fn read(
        documents: &[Document],
        inputs: &Inputs,
        whole: bool,
        store: &Store<'p>,
        quota: &Quota,
    ) -> Result<Self, Error> {
        // events converted from `.cpuprofile` files count as a document
        let several = inputs.payloads.len() > 1 || count(documents) > 1;
        let of =
            |document| Annotated::of(document, &inputs.numbers, whole && !several, store, quota);
        let documents = documents.iter().filter_map(|document| of(document).transpose());
        let documents = documents.collect::<Result<_, _>>()?;
        Ok(Annotations { documents, several })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Returns the offsets of all events that annotations refer to.
    pub fn events(&self) -> impl Iterator<Item = u64> + '_ {
        self.named().filter_map(|named| match named {
            EntryTarget::Event(entry) | EntryTarget::Synthetic(entry, _) => {
                Some(entry.place.offset())
            }
            EntryTarget::Call(_) => None,
        })
    }

    fn named(&self) -> impl Iterator<Item = &EntryTarget> + '_ {
        self.documents.iter().flat_map(Annotated::named)
    }
}
