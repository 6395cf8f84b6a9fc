//! Opened traces with their CPU profiles, for programs that need no verbs.
//!
//! ```text
//!   open ─> ProfiledTrace ─ profiles ─> Profiles ─ iter ─> CpuProfile ─ hot ─> HotFunction, …
//!           events, threads, keys       decodes chunks     assembles one        sums by function
//! ```
//!
//! One profile is in memory at a time, unless the caller keeps several.

use super::write::CallFrame;
use crate::chunk::source::ProfileSource;
use crate::events::identity::ProfileInputs;
use crate::events::inputs::ProfileReader;
use crate::streams::ProfileGroup;
use crate::streams::collect::{Collector, PlacedProfile, source_of};
use crate::streams::router::{Role, Router};
use crate::tree::assemble::Assembly;
use crate::tree::assembled::SampleColumn;
use tracemill_tokenizer::{Event, fields_of, to_text};
use tracemill_trace::input::source::Source;
use tracemill_trace::json::printable;
use tracemill_trace::observe::trace::Trace;
use tracemill_trace::observe::{EventRef, Look, Observer, SealedChunk, Starter};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::flaws::Flaws;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::spill::{SpillVec, SpilledVec};
use tracemill_trace::store::Store;
use tracemill_trace::store::place::Place;

/// Events that are decoded before the memory budget is checked again.
const AT_ONCE: usize = 1024;

/// Opens traces and `.cpuprofile` files; the events of these are what V8 would have streamed.
///
/// Content decides what a document is, never its name: an object that is no trace and has `nodes`, or
/// `head` as old ones do, is a profile. The file name that Node gives it has its process and thread;
/// without one it gets unused numbers, see [`Identities`](crate::Identities).
///
/// Cost: as [`Trace::open`]. The places of profile events are kept too, 8 bytes each.
///
/// # Errors
/// As [`Trace::open`].
///
/// ```
/// use tracemill_trace::{EventOrder, Limits, Source};
/// use tracemill_tokenizer::Field;
///
/// let text = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"startTime":10,"endTime":30,"samples":[1],"timeDeltas":[5]}"#;
/// let source = Source::bytes("CPU.20250510.134625.4711.0.001.cpuprofile", text);
/// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
/// let opened = tracemill_cpuprofile::open(&[source], &limits)?;
/// let events = opened.trace.events(EventOrder::Time);
/// let chunks = events.filter(|event| event.fields().is_string(Field::Name, b"ProfileChunk"));
/// assert_eq!(chunks.count(), 2); // one with the sample, one with the end
/// assert_eq!(opened.trace.span(), Some((10_000, 30_000)));
/// assert_eq!(opened.profiles()?.count(), 1);
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub fn open(sources: &[Source], limits: &Limits) -> Result<ProfiledTrace, Error> {
    let mut reader = ProfileReader::new(&ProfileInputs::default(), false, false);
    let mut places = ProfilePlaces(SpillVec::new(
        limits.lease("places of profile events", Share::of_index(1, 8)),
    ));
    let trace = Trace::observe(sources, limits, &mut reader, &mut places)?;
    Ok(ProfiledTrace { trace, places: places.0.finish()? })
}

/// An opened trace, and the places of its profile events.
pub struct ProfiledTrace {
    /// Events, threads and top-level keys.
    pub trace: Trace,
    places: SpilledVec<Place>,
}

/// Observes where profile events are.
struct ProfilePlaces(SpillVec<Place>);

/// The places of profile events in one chunk.
#[derive(Default)]
struct ProfilePlacesLook(Vec<Place>);

impl Look for ProfilePlacesLook {
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        if !at.is_metadata && Role::of(event).is_some() {
            self.0.push(Place::new(at.offset, at.len, 0));
        }
        true
    }
}

impl Observer for ProfilePlaces {
    type Chunk = ProfilePlacesLook;

    fn starter(&self) -> Starter<ProfilePlacesLook> {
        Box::new(|_| ProfilePlacesLook::default())
    }

    fn merge(&mut self, found: ProfilePlacesLook, _: &SealedChunk<'_>) -> Result<(), Error> {
        self.0.extend(&found.0)
    }
}

impl ProfiledTrace {
    /// Finds the CPU profiles: decodes every chunk once, and looks at no other event.
    ///
    /// # Errors
    /// [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file cannot be written.
    pub fn profiles(&self) -> Result<Profiles<'_>, Error> {
        let (store, limits) = (self.trace.store(), self.trace.limits());
        let mut collector = Collector::new(limits);
        let (mut router, mut pending, mut input) = (Router::default(), 0, None);
        for place in self.places.iter() {
            let start = self.trace.input_start(place.offset());
            if input.is_some_and(|input| input != start) || pending == AT_ONCE {
                let full = std::mem::take(&mut router);
                collector.streams.append(full, input.unwrap_or(start))?;
                pending = 0;
            }
            input = Some(start);
            pending += 1;
            let bytes = store.event(place);
            let spans = fields_of(bytes);
            router.note(&spans.of(bytes), place.offset());
        }
        collector.streams.append(router, input.unwrap_or(0))?;
        collector.streams.finish()?;
        Ok(Profiles { store, collector, limits })
    }
}

/// The CPU profiles of a trace. Each is assembled when the iterator reaches it.
///
/// Decoded chunks are kept within an eighth of [`Limits::memory`]. Others are decoded again when their
/// profile is assembled.
pub struct Profiles<'t> {
    store: Store<'t>,
    collector: Collector,
    limits: &'t Limits,
}

impl<'t> Profiles<'t> {
    /// Number of profiles: one for each process and stream id, unless later inputs have a profile of the same ids, which is then
    /// another one.
    pub fn count(&self) -> usize {
        self.collector.streams.groups().len()
    }

    /// The profiles, in the order in which their streams begin, each put together when it is its turn.
    ///
    /// Cost: about 1 ns for each byte of a profile's data, and the memory of its call tree; its samples take a quarter of the
    /// budget for streams at most, the rest goes to disk.
    ///
    /// # Errors
    /// An item is one if the disk does not take what exceeds the memory ([`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch)). Damage is
    /// none: see [`CpuProfile::flaws`].
    pub fn iter(&self) -> impl Iterator<Item = Result<CpuProfile<'_, 't>, Error>> + '_ {
        let lease = self.limits.lease("samples of a profile", Share::of_payload(5, 12));
        self.collector.streams.groups().into_iter().map(move |group| {
            let assembly = Assembly::All(lease.clone());
            let whole = group.assemble(&self.store, assembly, self.limits)?;
            Ok(CpuProfile { group, whole })
        })
    }
}

/// One CPU profile: a call tree, and samples that name its nodes. Times are nanoseconds in the clock of the trace.
pub struct CpuProfile<'c, 't> {
    group: ProfileGroup<'c>,
    whole: PlacedProfile<'c, 't>,
}

impl CpuProfile<'_, '_> {
    /// Process id as JSON, as the trace has it: `4711`, or `"a"` with its quotes. Empty if its events have none.
    pub fn pid(&self) -> String {
        to_text(&self.group.owner.pid)
    }

    /// Thread id of the profiled thread, as JSON like [`CpuProfile::pid`]. It is that of the `Profile` event, since V8 writes chunks
    /// from a thread of its own.
    pub fn tid(&self) -> String {
        to_text(self.group.tid())
    }

    /// Id of the stream of its events, as JSON: `"0x1"` with its quotes. V8 counts up from 1 in each process, so it tells nothing
    /// without [`CpuProfile::pid`].
    pub fn id(&self) -> String {
        to_text(&self.group.owner.id)
    }

    /// What asked V8 for the profile, if its events or its name say so.
    pub fn source(&self) -> Option<ProfileSource> {
        source_of(&self.whole, self.group)
    }

    /// First and last moment, in nanoseconds of the trace's clock. The first is the time of the `Profile` event, or guessed where there is
    /// none; the last is that of the latest sample, or the `endTime` that the profile has, if that is later.
    pub fn span(&self) -> (i64, i64) {
        (self.whole.start, self.whole.bounds.end)
    }

    /// Number of samples that name a node of the call tree; others are counted in [`CpuProfile::flaws`].
    pub fn samples(&self) -> u64 {
        self.whole.profile.extent.samples
    }

    /// Number of nodes in its call tree.
    pub fn nodes(&self) -> u64 {
        self.whole.profile.tree.len() as u64
    }

    /// Defects found in it, by kind. Offsets are bytes of all inputs behind each other: [`Trace::locate`] says in which input that is.
    pub fn flaws(&self) -> &Flaws {
        &self.whole.profile.flaws
    }

    /// Functions by self time in nanoseconds, the longest first. A sample counts until the next one, the last until the end.
    /// Functions of one name, script and line are one.
    ///
    /// All samples count, also those of `(program)` and `(idle)`, so the times add up to that from the first sample to the end. Rows of
    /// one time are in order of their names.
    ///
    /// Cost: one pass over the samples, and the call frame of each node that has time of its own is taken apart; 8 bytes of heap a node.
    pub fn hot(&self) -> Vec<HotFunction> {
        let profile = &self.whole.profile;
        let mut own = vec![0i64; profile.tree.len()];
        let (mut now, mut last) = (0i64, None);
        for sample in profile.samples(SampleColumn::Steps) {
            if let Some(node) = last.replace(sample.node) {
                own[node as usize] = own[node as usize].saturating_add(sample.delta);
            }
            now = now.saturating_add(sample.delta);
        }
        if let Some(node) = last {
            let end = self.whole.bounds.end.saturating_sub(self.whole.start);
            own[node as usize] = own[node as usize].saturating_add(end.saturating_sub(now).max(0));
        }
        let mut numbers: HashMap<[&[u8]; 3], usize> = HashMap::default();
        let mut all: Vec<HotFunction> = Vec::new();
        for (node, self_ns) in own.into_iter().enumerate().filter(|(_, time)| *time != 0) {
            let frame = CallFrame::of(profile.text(profile.tree.texts[node]));
            let [name, url, line] =
                [frame.function, frame.url, frame.position[0]].map(Option::unwrap_or_default);
            let number = *numbers.entry([name, url, line]).or_insert_with(|| {
                let line = to_text(line).parse::<i64>().ok();
                let line = line.map(|line| line - i64::from(frame.from_one));
                all.push(HotFunction {
                    name: printable(name),
                    url: printable(url),
                    line,
                    self_ns: 0,
                });
                all.len() - 1
            });
            all[number].self_ns = all[number].self_ns.saturating_add(self_ns);
        }
        all.sort_by(|a, b| b.self_ns.cmp(&a.self_ns).then_with(|| a.name.cmp(&b.name)));
        all
    }
}

/// A function of a CPU profile. Its texts are without JSON's quotes and escapes; what is no UTF-8 in them is U+FFFD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotFunction {
    /// Its name; empty for functions that have none.
    pub name: String,
    /// Its script; empty where there is none.
    pub url: String,
    /// Its line, from 0 on, as V8 counts; `None` where the profile has none, −1 for what has no place in a script.
    pub line: Option<i64>,
    /// Time in the function itself, without what it called, in nanoseconds.
    pub self_ns: i64,
}
