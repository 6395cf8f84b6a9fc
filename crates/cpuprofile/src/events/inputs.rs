//! Reads the `.cpuprofile` inputs of a run as trace events.
//!
//! ```text
//!   input ─ scan ─> document ─ takes? ─ no ──> a trace, or nothing
//!                                └ yes ─ expand ─> generated events ─ scan ─> like a trace
//!   after all inputs: events for DevTools, on request (`browser`) ─ scan ─> like a trace
//! ```
//!
//! The session of [`tracemill_trace::read`] calls this module through [`Expand`] and knows nothing
//! of profiles.

use crate::events::browser::{FOR_DEVTOOLS, StartedProfile, browser_events};
use crate::events::identity::{Identities, ProfileInputs};
use crate::events::{ProfileEvents, content, is_profile};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tracemill_trace::event::envelope::Document;
use tracemill_trace::read::{Expand, Expanded};
use tracemill_trace::run::flaws::Flaws;
use tracemill_trace::store::{Payload, Store};

/// First keys of profiles; pipes with another first key are not buffered as profiles.
const KEYS: [&[u8]; 10] = [
    b"\"nodes\"",
    b"\"head\"",
    b"\"startTime\"",
    b"\"endTime\"",
    b"\"samples\"",
    b"\"timeDeltas\"",
    b"\"timestamps\"",
    b"\"typeId\"",
    b"\"title\"",
    b"\"$vscode\"",
];

/// Reads CPU profiles as the events that V8 would have streamed.
///
/// Pass a new reader to each [`Trace::observe`](tracemill_trace::Trace::observe) or
/// [`Scan`](tracemill_trace::observe::Scan). Heap: 60 bytes per node of the current profile, and a
/// few dozen bytes per profile.
///
/// ```
/// use tracemill_trace::{EventOrder, Limits, Source, Trace};
/// use tracemill_cpuprofile::{ProfileInputs, ProfileReader};
///
/// let text = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"startTime":10,"endTime":30,"samples":[1],"timeDeltas":[5]}"#;
/// let rules = ProfileInputs { pid_tid: vec![("a.cpuprofile".into(), 7, 8)] }; // what the file does not say
/// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
/// let mut reader = ProfileReader::new(&rules, false, false);
/// let trace = Trace::observe(&[Source::bytes("a.cpuprofile", text)], &limits, &mut reader, ())?;
/// let first = trace.events(EventOrder::Time).next().expect("there is one");
/// assert!(String::from_utf8_lossy(first.bytes).contains(r#""pid":7,"tid":8"#));
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub struct ProfileReader {
    rules: ProfileInputs,
    one_process: bool,
    for_devtools: bool,
    identities: Option<Identities>,
    started: Vec<StartedProfile>,
}

impl ProfileReader {
    /// Creates a reader for the `.cpuprofile` inputs of a run.
    ///
    /// If `one_process`, all profiles become threads of the process with the earliest name. If
    /// `for_devtools`, the reader adds events that make DevTools show the main thread.
    pub fn new(rules: &ProfileInputs, one_process: bool, for_devtools: bool) -> Self {
        let rules = rules.clone();
        ProfileReader { rules, one_process, for_devtools, identities: None, started: Vec::new() }
    }
}

impl Expand for ProfileReader {
    fn begin(&mut self, paths: &mut dyn Iterator<Item = &Path>) {
        self.identities = Some(Identities::new(paths, &self.rules, self.one_process));
    }

    fn may_take(&self, first: &[u8]) -> bool {
        let text = first.trim_ascii_start();
        let key = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        key.is_some_and(|key| KEYS.iter().any(|known| key.starts_with(known)))
    }

    fn takes(&self, document: &Document) -> bool {
        is_profile(document)
    }

    fn expand(&mut self, path: &Path, payload: &Arc<Payload>, document: &Document) -> Expanded {
        let content = content(document, &Store::of_one(payload));
        let (rules, one) = (&self.rules, self.one_process);
        let identities =
            self.identities.get_or_insert_with(|| Identities::new(std::iter::empty(), rules, one));
        let mut identity = identities.next(path, &content);
        let place = identity.place.take();
        let flaws = Arc::new(Mutex::new(Flaws::default()));
        let events =
            ProfileEvents::new(Arc::clone(payload), document, identity, Arc::clone(&flaws));
        self.started.push(events.started());
        Expanded { heap: events.heap(), events: Box::new(events), flaws, place }
    }

    fn last(&mut self, first: Option<i64>) -> Option<(&'static str, Vec<u8>)> {
        let events = browser_events(&self.started, first).filter(|_| self.for_devtools)?;
        Some((FOR_DEVTOOLS, events))
    }
}
