//! DevTools' annotations (`metadata.modifications`): kept with the events that they are of.
//!
//! They name events by their index, so whatever moves, drops or adds events must rewrite them; and one key that DevTools
//! cannot resolve makes it discard all hidden entries, or all annotations behind it (devtools-semantics §10). So `merge`,
//! `slice` and `convert` read every key, follow it to its event, and write it anew, or drop its annotation and count it
//! ([`tracemill_join::report::warning::AnnotationDrop`]); `split` and `filter` drop and count all of them ([`unfollowed`]):
//!
//! ```text
//!   document ─ read ─> index ─ numbers ─> event ─┬─ indices ─> new index ─┬─> merged ─> metadata
//!                      p- key ───────────────────┴─ calls ──> pid, sample ┘
//! ```
//!
//! | what | becomes |
//! |---|---|
//! | `r-INDEX` | the index of the same event, of what an edge left of it; dropped if it is not written |
//! | `s-INDEX` | likewise, if all is there that DevTools makes the entry of |
//! | `p-PID-TID-SAMPLE-NODE` | the same with its new pid; dropped if DevTools might not find that call (`calls`) |
//! | `l-INDEX` | dropped: frames are counted by DevTools |
//! | labels, links, ranges, hidden and expandable entries | those of all inputs, in their order; of equal ones of two inputs one |
//! | `initialBreadcrumb` | the bounds of the output, where they may be others than before, or the window of a slice that keeps events outside of it; within it the breadcrumbs of the first input that has any |
//! | anything else in `modifications` | that of the first input that has annotations |
//!
//! What does not change keeps its bytes. Inputs without annotations cost nothing but a mark at every 1024th event
//! ([`tracemill_trace::read::EventNumbers`]).

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

/// Whether any document has annotations, which refer to events by index.
pub fn name_events(documents: &[Document], inputs: &Inputs) -> bool {
    let store = inputs.store();
    documents.iter().any(|document| modifications(document, &store).is_some())
}

/// The annotations of all documents.
#[derive(Default)]
pub struct Annotations<'p> {
    documents: Vec<Annotated<'p>>,
    /// Whether the trace has documents in addition to the annotated one.
    several: bool,
}

impl<'p> Annotations<'p> {
    /// Reads the annotations of all documents and finds the events that they refer to. `whole` says
    /// that all events will be written.
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
