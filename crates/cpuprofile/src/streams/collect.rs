//! Collects the CPU profiles of all inputs in one pass, and assembles each profile.
//!
//! ```text
//!   ProfileLook ─> Collector ─ finish ─> Streams ─ groups ─> Group ─ assemble ─> PlacedProfile
//!   one per chunk  in input order                                    one, on any thread
//! ```
//!
//! The start of a profile is the first of these that is known:
//!
//! | start | when |
//! |---|---|
//! | `ts` of the last `Profile` event | as in DevTools; `startTime` in its data may use another clock |
//! | `startTime` of a `CpuProfile` event, else its `ts` | it has no `Profile` event |
//! | `startTime` of chunks | no `Profile` event: counted |
//! | time of the first chunk minus its steps, at least 1 µs | guessed: counted |
//!
//! A profile ends with its latest sample, or at its `endTime` if that is later.

use crate::chunk::key::Written;
use crate::chunk::source::ProfileSource;
use crate::streams::contents::{Contents, decode};
use crate::streams::order::{ChunkOrder, chunk_order_lease, order_chunks};
use crate::streams::router::Router;
use crate::streams::{ProfileGroup, Streams};
use crate::tree::assemble::{Assembler, Assembly};
use crate::tree::assembled::Profile;
use crate::write::ProfileBounds;
use tracemill_tokenizer::{Event, Field, fields_of, members, number_text, string_is, to_text};
use tracemill_trace::event::envelope::Document;
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::json::micros;
use tracemill_trace::observe::{EventRef, Look, Needs, Observer, SealedChunk, Starter};
use tracemill_trace::order::Order;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::run::limits::{Limits, Quota};
use tracemill_trace::run::memory::Share;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;

/// Observer that collects the streams of CPU profiles and the names of threads.
///
/// ```
/// use tracemill_trace::observe::Scan;
/// use tracemill_trace::{Limits, Source};
/// use tracemill_cpuprofile::{Collector, Assembly, ProfileInputs, ProfileReader};
///
/// let text = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"startTime":10,"endTime":30,"samples":[1,1],"timeDeltas":[5,7]}"#;
/// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
/// let mut reader = ProfileReader::new(&ProfileInputs::default(), false, false);
/// let sources = [Source::bytes("a.cpuprofile", text)];
/// let scanned = Scan::new(&sources, &limits, &mut reader).observe(Collector::new(&limits)).run()?;
/// let (inputs, mut collector) = (scanned.inputs, scanned.observed);
/// collector.streams.finish()?;
///
/// let store = inputs.store().with_long(&collector.streams.long);
/// let whole = collector.streams.groups()[0].assemble(&store, Assembly::Tree, &limits)?;
/// assert_eq!((whole.start, whole.bounds.end, whole.profile.tree.len()), (10_000, 30_000, 1));
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub struct Collector {
    /// CPU profile streams of all inputs.
    pub streams: Streams,
    /// Names of processes and threads from metadata events, in up to a quarter of the memory.
    pub names: MetadataNames,
    quota: Quota,
}

/// Decoded profile events and names of one chunk of the scan.
#[derive(Default)]
pub struct ProfileLook {
    streams: Router,
    names: MetadataNames,
}

impl Look for ProfileLook {
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        match event.is_metadata() {
            true => self.names.note(event),
            false => self.streams.note(event, at.offset),
        }
        true
    }
}

impl Look for Router {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.note(event, at.offset);
        true
    }
}

/// Decodes the events of CPU profiles on the scan workers and routes them to their streams.
impl Observer for Streams {
    type Chunk = Router;

    fn needs(&self) -> Needs {
        Needs { input_bytes: true, synthetic_bytes: true, ..Needs::NONE }
    }

    fn starter(&self) -> Starter<Router> {
        Box::new(|_| Router::default())
    }

    fn merge(&mut self, found: Router, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.append(found, chunk.base)
    }
}

impl Observer for Collector {
    type Chunk = ProfileLook;

    fn needs(&self) -> Needs {
        self.streams.needs()
    }

    fn starter(&self) -> Starter<ProfileLook> {
        Box::new(|_| ProfileLook::default())
    }

    fn merge(&mut self, found: ProfileLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.streams.merge(found.streams, chunk)?;
        self.names.append(found.names);
        self.quota.check(self.names.heap(), "names of processes and threads")
    }
}

impl Collector {
    /// Creates an empty collector.
    ///
    /// Decoded chunks take up to about an eighth of the memory, their locations a sixteenth. Beyond
    /// that chunks are decoded again, and locations spill to disk.
    pub fn new(limits: &Limits) -> Self {
        // small lists take more than their contents
        let lease = limits.lease("chunks of CPU profiles", Share::of_index(3, 4));
        let streams = Streams::new(lease, limits);
        let quota = limits.quota("names of processes and threads", Share::of(1, 4));
        Collector { streams, names: MetadataNames::default(), quota }
    }

    /// Returns date and time of the recording as `yyyymmdd` and `hhmmss`.
    ///
    /// They come from the `metadata` of DevTools or Chrome. Returns `None` without a readable date.
    pub fn recorded(documents: &[Document], store: &Store<'_>) -> Option<(String, String)> {
        let keys = documents.iter().flat_map(|document| &document.keys);
        let metadata = keys.filter(|key| string_is(&key.key, b"metadata"));
        // of DevTools, of Chrome
        const NAMES: [&[u8]; 2] = [b"startTime", b"trace-capture-datetime"];
        metadata
            .flat_map(|key| {
                let value = store.slice(key.offset, key.len);
                NAMES.map(|name| {
                    let (_, start) = members(value).find(|(key, _)| string_is(key, name))?;
                    date_and_time(to_text(start).trim_matches('"'))
                })
            })
            .flatten()
            .next()
    }
}

/// Parses `2026-11-21T01:58:12.000Z` or `2026-11-21 1:58:12` (Chrome, without leading zeros).
fn date_and_time(text: &str) -> Option<(String, String)> {
    let (date, time) = text.split_once(['T', ' '])?;
    let end = time.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(time.len());
    let three = |text: &str, separator, first: usize| {
        let mut parts = text.split(separator);
        let mut digits = String::new();
        for width in [first, 2, 2] {
            let part = parts.next()?;
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number || part.len() > width {
                return None;
            }
            digits.push_str(&format!("{part:0>width$}"));
        }
        parts.next().is_none().then_some(digits)
    };
    Some((three(date, '-', 4)?, three(&time[..end], ':', 2)?))
}

/// An assembled profile, with its start and end in the clock of the events. See
/// [`ProfileGroup::assemble`].
pub struct PlacedProfile<'s, 'p> {
    /// Call tree and sample columns of the profile.
    pub profile: Profile<'s, 'p>,
    /// Start and end as written to a `.cpuprofile`.
    pub bounds: ProfileBounds,
    /// Start in nanoseconds, from which the first step counts.
    pub start: i64,
    /// Time of the latest sample in nanoseconds. Steps may be negative, so the latest sample may
    /// not be the last sample.
    pub last: i64,
    /// Order in which the chunks were assembled.
    pub order: ChunkOrder,
}

type StreamStart = (i64, Vec<u8>);

impl ProfileGroup<'_> {
    /// Assembles the profile.
    ///
    /// Cost: a pass over the chunks, another pass over chunks that are not kept decoded, and more
    /// passes if the chunks are not in time order (see `order`).
    ///
    /// # Errors
    /// Returns [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file
    /// cannot be written.
    pub fn assemble<'s, 'p>(
        self,
        store: &'s Store<'p>,
        keep: Assembly,
        limits: &Limits,
    ) -> Result<PlacedProfile<'s, 'p>, Error> {
        let (mut contents, order) = (Contents::new(self.kept, store), Order(store));
        let lease = chunk_order_lease(limits);
        let ordered = order_chunks(self.chunks(), order, &mut contents, lease)?;
        let (samples, deltas) = self.counts();
        let mut assembler = Assembler::new(store, samples, deltas, keep, &limits.tmp_dir);
        let mut first = None;
        ordered.each(order, |entry| {
            first.get_or_insert(entry);
            assembler.add(contents.get(entry), entry.place.offset())
        })?;
        self.finish(assembler, ordered.order, first, store)
    }

    /// Finishes the profile after all its chunks were added to `assembler`. `first` is the first
    /// chunk.
    ///
    /// # Errors
    /// Returns the errors of [`ProfileGroup::assemble`].
    pub fn finish<'s, 'p>(
        self,
        mut assembler: Assembler<'s, 'p>,
        order: ChunkOrder,
        first: Option<Entry>,
        store: &'s Store<'p>,
    ) -> Result<PlacedProfile<'s, 'p>, Error> {
        let mut flaws = Flaws::default();
        let start = self.start(store, first, &mut flaws);
        if let (ChunkOrder::Neither, Some(first)) = (order, first) {
            flaws.add(FlawKind::Unordered, first.place.offset());
        }
        assembler.set_start(start.as_ref().map(|(start, _)| *start), self.own_start());
        let mut profile = assembler.finish()?;
        let (start, text) = start.unwrap_or_else(|| self.guess(&profile, store, &mut flaws));
        profile.flaws.append(&flaws);
        // the latest sample, or the end of the stream if that is later
        let last = start.saturating_add(profile.extent.last);
        let end = profile.end.map_or(last, |end| end.max(last));
        let bounds = ProfileBounds { start: text, end };
        Ok(PlacedProfile { profile, bounds, start, last, order })
    }

    /// Returns the start from the events: the time of the last `Profile` event, as in DevTools.
    fn start(
        self,
        store: &Store<'_>,
        first: Option<Entry>,
        flaws: &mut Flaws,
    ) -> Option<StreamStart> {
        if let Some(whole) = &self.parts.whole {
            let start = whole.start.map(|start| (start, micros(start)));
            return start.or_else(|| start_at(first?, store));
        }
        if let Some(second) = self.parts.heads.get(1) {
            flaws.add(FlawKind::TwoProfiles, second.entry.place.offset());
        }
        match self.parts.heads.last() {
            Some(head) => start_at(head.entry, store),
            None => {
                let offset = first.map_or(0, |entry| entry.place.offset());
                flaws.add(FlawKind::NoProfile, offset);
                None
            }
        }
    }

    /// Returns the start in the clock of the data, from the last `Profile` event.
    ///
    /// Some producers use a clock other than that of the events.
    pub fn own_start(self) -> Option<i64> {
        self.parts.heads.last()?.origin.start
    }

    /// Returns the start without a `Profile` event: from chunks, else the first chunk's time minus
    /// its steps.
    fn guess(self, profile: &Profile<'_, '_>, store: &Store<'_>, flaws: &mut Flaws) -> StreamStart {
        let recorded = profile.start.filter(|&start| start > 0);
        let start = recorded.unwrap_or_else(|| {
            let Some(first) = self.chunks().first() else { return 0 };
            flaws.add(FlawKind::NoStart, first.place.offset());
            first.time.max(0).saturating_sub(decode(first, store).duration()).max(1000)
        });
        (start, micros(start))
    }
}

/// Returns the time of an event. Returns `None` if the event has none.
pub(crate) fn start_at(entry: Entry, store: &Store<'_>) -> Option<StreamStart> {
    let event = store.event(entry.place);
    let value = fields_of(event).field(event, Field::Ts)?;
    let mut scratch = Vec::new();
    let text = number_text(value, &mut scratch)?;
    Some((tracemill_tokenizer::nanos(text)?.floor, text.to_vec()))
}

/// Returns thread, recording API and start of a stream from the last `Profile` event, as written.
///
/// For a `CpuProfile` event, returns the values of that event. Cost: one event is read.
pub fn head_of(
    group: ProfileGroup<'_>,
    store: &Store<'_>,
) -> (Option<Written>, Option<ProfileSource>, Option<Written>) {
    let start = |entry| start_at(entry, store).map(|(_, text)| text.into_boxed_slice());
    if let Some(whole) = &group.parts.whole {
        let chunk = group.chunks().first().map(|entry| decode(entry, store));
        let start = chunk.and_then(|chunk| chunk.start).map(|start| micros(start).into());
        return (Some(group.owner.tid.clone()), whole.source, start);
    }
    let Some(head) = group.parts.heads.last() else { return (None, None, None) };
    (Some(head.tid.clone()), head.origin.source, start(head.entry))
}

/// Returns the API that recorded a profile.
///
/// The last chunk that names an API decides, else the last `Profile` event.
pub fn source_of(whole: &PlacedProfile<'_, '_>, group: ProfileGroup<'_>) -> Option<ProfileSource> {
    whole.profile.source.or(group.parts.heads.last().and_then(|head| head.origin.source))
}
