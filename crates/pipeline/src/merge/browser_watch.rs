//! Detects browser traces.

use tracemill_cpuprofile::Role;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::observe::{EventRef, Look, Observer, SealedChunk, Starter};
use tracemill_trace::run::error::Error;
use tracemill_viewers::essential::{STARTED, is_start};

/// Returns whether events of this name are neither part of a CPU profile nor the start of a browser
/// trace, see [`Observer::ignores_plain_events`].
pub fn is_plain_name(name: &str) -> bool {
    name.as_bytes() != STARTED && !Role::NAMES.contains(&name)
}

/// Detects `TracingStartedInBrowser` events. In such a trace DevTools hides CPU profiles of Node.
#[derive(Default)]
pub(crate) struct BrowserWatch {
    pub(super) found: bool,
}

impl Look for BrowserWatch {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.found |= !at.is_metadata && starts_browser(event);
        true
    }
}

impl Observer for BrowserWatch {
    type Chunk = BrowserWatch;

    fn starter(&self) -> Starter<BrowserWatch> {
        Box::new(|_| BrowserWatch::default())
    }

    fn ignores_plain_events(&self) -> bool {
        true
    }

    fn merge(&mut self, chunk: BrowserWatch, _: &SealedChunk<'_>) -> Result<(), Error> {
        self.found |= chunk.found;
        Ok(())
    }
}

#[inline]
fn starts_browser(event: &Event<'_>) -> bool {
    // the first letter rules out nearly all names
    let may_be = matches!(event.field_and_rest(Field::Name), Some([b'"', b'T' | b'\\', ..]));
    may_be && is_start(event)
}
