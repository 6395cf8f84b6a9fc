//! Opens traces together with their CPU profiles.
//!
//! ```text
//!   open ─> ProfiledTrace ─ profiles ─> Profiles ─ iter ─> CpuProfile ─ hot ─> HotFunction, …
//!           events, threads, keys       decodes chunks     assembles one        sums by function
//! ```
//!
//! Only one profile is in memory at a time, unless the caller keeps several profiles.

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

/// Number of events decoded between two checks of the memory budget.
const AT_ONCE: usize = 1024;

/// Opens traces and `.cpuprofile` files.
///
/// A `.cpuprofile` is read as the events that V8 would have streamed. It is recognized by its
/// content: an object that is not a trace and has the key `nodes`, or `head` in the old format.
/// Process and thread come from the file name if Node chose it; see
/// [`Identities`](crate::Identities).
///
/// Cost: that of [`Trace::open`], and 8 bytes for each profile event.
///
/// # Errors
/// Returns the errors of [`Trace::open`].
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

/// An opened trace and the locations of its profile events.
pub struct ProfiledTrace {
    /// Events, threads and top-level keys of the trace.
    pub trace: Trace,
    places: SpilledVec<Place>,
}

struct ProfilePlaces(SpillVec<Place>);

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
    /// Finds the CPU profiles by decoding each of their chunks once.
    ///
    /// # Errors
    /// Returns [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file
    /// cannot be written.
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

/// The CPU profiles of a trace. The iterator assembles each profile only when it returns the
/// profile.
///
/// Decoded chunks are kept in up to about an eighth of [`Limits::memory`]. Other chunks are decoded
/// again when their profile is assembled.
pub struct Profiles<'t> {
    store: Store<'t>,
    collector: Collector,
    limits: &'t Limits,
}

impl<'t> Profiles<'t> {
    /// Returns the number of profiles.
    ///
    /// There is one profile per process and stream id. A later input that has a `Profile` event for
    /// the same ids adds another profile.
    pub fn count(&self) -> usize {
        self.collector.streams.groups().len()
    }

    /// Returns an iterator that assembles the profiles in the order in which their streams begin.
    ///
    /// Cost: about 1 ns per byte of a profile's data, and the memory of its call tree. At most 5/48
    /// of [`Limits::memory`] is for samples; samples beyond that go to disk.
    ///
    /// # Errors
    /// An item is [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file
    /// cannot be written. Damage is not an error: see [`CpuProfile::flaws`].
    pub fn iter(&self) -> impl Iterator<Item = Result<CpuProfile<'_, 't>, Error>> + '_ {
        let lease = self.limits.lease("samples of a profile", Share::of_payload(5, 12));
        self.collector.streams.groups().into_iter().map(move |group| {
            let assembly = Assembly::All(lease.clone());
            let whole = group.assemble(&self.store, assembly, self.limits)?;
            Ok(CpuProfile { group, whole })
        })
    }
}

/// A CPU profile: a call tree, and samples that refer to its nodes.
///
/// Times are nanoseconds in the clock of the trace.
pub struct CpuProfile<'c, 't> {
    group: ProfileGroup<'c>,
    whole: PlacedProfile<'c, 't>,
}

impl CpuProfile<'_, '_> {
    /// Returns the process id as JSON: `4711`, or `"a"` with quotes; empty if the events have none.
    pub fn pid(&self) -> String {
        to_text(&self.group.owner.pid)
    }

    /// Returns the id of the sampled thread as JSON, like [`CpuProfile::pid`].
    ///
    /// It comes from the `Profile` event, since V8 writes chunks from another thread.
    pub fn tid(&self) -> String {
        to_text(self.group.tid())
    }

    /// Returns the id of the profile's stream as JSON: `"0x1"` with quotes.
    ///
    /// V8 counts from 1 in each process, so the id is unique only together with
    /// [`CpuProfile::pid`].
    pub fn id(&self) -> String {
        to_text(&self.group.owner.id)
    }

    /// Returns the API that recorded the profile, if the events or the profile's name report it.
    pub fn source(&self) -> Option<ProfileSource> {
        source_of(&self.whole, self.group)
    }

    /// Returns the start and end of the profile, in nanoseconds of the trace's clock.
    ///
    /// The start is the time of the `Profile` event, or a guess without that event. The end is the
    /// time of the latest sample, or the profile's `endTime` if that is later.
    pub fn span(&self) -> (i64, i64) {
        (self.whole.start, self.whole.bounds.end)
    }

    /// Returns the number of samples that refer to an existing node. [`CpuProfile::flaws`] counts
    /// all other samples.
    pub fn samples(&self) -> u64 {
        self.whole.profile.extent.samples
    }

    /// Returns the number of nodes in the call tree.
    pub fn nodes(&self) -> u64 {
        self.whole.profile.tree.len() as u64
    }

    /// Returns the defects of the profile, by kind.
    ///
    /// Offsets are in the concatenated inputs; [`Trace::locate`] finds the input of an offset.
    pub fn flaws(&self) -> &Flaws {
        &self.whole.profile.flaws
    }

    /// Returns the functions by self time in nanoseconds, longest first; ties are sorted by name.
    ///
    /// A sample counts until the next sample, the last sample until the end of the profile.
    /// Functions with the same name, script and line are one entry. `(program)` and `(idle)` are
    /// included, so the times add up to the time from the first sample to the end of the profile.
    ///
    /// Cost: one pass over the samples, and 8 bytes of heap per node.
    pub fn hot(&self) -> Vec<HotFunction> {
        let profile = &self.whole.profile;
        let mut self_times = vec![0i64; profile.tree.len()];
        let (mut now, mut last) = (0i64, None);
        for sample in profile.samples(SampleColumn::Steps) {
            if let Some(node) = last.replace(sample.node) {
                self_times[node as usize] = self_times[node as usize].saturating_add(sample.delta);
            }
            now = now.saturating_add(sample.delta);
        }
        if let Some(node) = last {
            let end = self.whole.bounds.end.saturating_sub(self.whole.start);
            self_times[node as usize] =
                self_times[node as usize].saturating_add(end.saturating_sub(now).max(0));
        }
        let mut numbers: HashMap<[&[u8]; 3], usize> = HashMap::default();
        let mut all: Vec<HotFunction> = Vec::new();
        for (node, self_ns) in self_times.into_iter().enumerate().filter(|(_, time)| *time != 0) {
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

/// A function of a CPU profile.
///
/// Its strings have no JSON quotes or escapes; invalid UTF-8 is replaced by U+FFFD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotFunction {
    /// Name of the function; empty for anonymous functions.
    pub name: String,
    /// URL of the script; empty if there is none.
    pub url: String,
    /// Line, counted from 0 as in V8; −1 outside scripts, `None` if the profile has none.
    pub line: Option<i64>,
    /// Time in the function itself, without its callees, in nanoseconds.
    pub self_ns: i64,
}
