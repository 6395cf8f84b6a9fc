//! Cuts CPU profile streams to windows: each stream is kept, dropped, or re-based (see `rebase`).
//!
//! | profile | `Clip` | `Keep` | `Drop` |
//! |---|---|---|---|
//! | all events and samples in one window | kept | kept | kept |
//! | all events and samples in several windows | kept | kept | dropped |
//! | has samples in a window, or a sample in force at its start | re-based | kept | dropped |
//! | only spans windows | dropped | kept | dropped |
//! | overlaps windows, but is a `CpuProfile` event or has no `Profile` event | kept and reported | kept | dropped |
//! | outside | dropped | dropped | dropped |
//!
//! Cost: [`Edges::Clip`] assembles only the part of each profile that windows need (`excerpt`);
//! other modes assemble whole profiles. Profiles are assembled in parallel, at most one per 64 MiB
//! of memory, since call trees are outside all leases.

pub(crate) mod excerpt;
pub(crate) mod rebase;

use crate::chunk::in_force::InForce;
use crate::streams::collect::PlacedProfile;
use crate::streams::{ProfileGroup, Streams};
use crate::tree::assemble::Assembly;
use crate::tree::assembled::SampleColumn;
use crate::window::excerpt::excerpt;
use crate::window::rebase::Rebase;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::flaws::Flaws;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::threads::try_each;
use tracemill_trace::store::Store;
use tracemill_trace::time::windows::{Edges, Windows};

/// Bytes of memory for each profile assembled in parallel, since call trees are outside all leases.
const STREAM: u64 = 64 << 20;

/// Counts and decisions that [`cut_streams`] returns.
#[derive(Default)]
pub struct Cut {
    /// Whether the events of each profile are kept unchanged.
    pub stays: Vec<bool>,
    /// Number of re-based streams.
    pub rebased: u64,
    /// Number of samples in re-based streams.
    pub samples: u64,
    /// Number of streams kept whole beyond the windows, since they cannot be re-based.
    pub whole: u64,
    /// Defects of re-based streams.
    pub flaws: Flaws,
}

impl Cut {
    /// Returns the profiles whose events are kept, or all other profiles if `stay` is false.
    pub fn groups<'c>(
        &'c self,
        streams: &'c Streams,
        stay: bool,
    ) -> impl Iterator<Item = ProfileGroup<'c>> {
        let all = streams.groups().into_iter().zip(&self.stays);
        all.filter(move |(_, stays)| **stays == stay).map(|(group, _)| group)
    }
}

/// The decision whether the events of a stream are kept.
enum StreamOutcome {
    Kept,
    /// Keep the events and report that some are outside the windows.
    Whole,
    Dropped,
    /// Replace the events by synthetic events.
    Rebased,
}

/// Decides on every profile of `streams`. Passes the events of re-based profiles to `emit`, each as
/// the text of one JSON object. All results are invalid if a chunk does not match the index (see
/// [`KnownChunks`](crate::KnownChunks)).
///
/// With [`Edges::Clip`], a profile whose chunks were taken with [`Detail::Times`](crate::Detail) is
/// assembled only as far as windows need it. All other profiles are assembled as a whole.
///
/// ```
/// use tracemill_trace::time::windows::{Edges, TimeSpan, Windows};
/// use tracemill_trace::run::memory::Share;
/// use tracemill_trace::{EventOrder, Limits, Source, Trace};
/// use tracemill_cpuprofile::{Detail, Role, Router, Streams, cut_streams};
///
/// let text = r#"[{"name":"Profile","ph":"P","pid":7,"tid":8,"id":1,"ts":10,"args":{"data":{"startTime":10}}},
///   {"name":"ProfileChunk","ph":"P","pid":7,"tid":9,"id":1,"ts":12,"args":{"data":{"cpuProfile":{"nodes":[{"id":1},
///   {"id":2,"parent":1},{"id":3,"parent":1}],"samples":[2,3,2,3]},"timeDeltas":[2,3,6,3]}}}]"#;
/// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
/// let trace = Trace::open(&[Source::bytes("a.json", text)], &limits)?;
/// for detail in [Detail::Times, Detail::All] {
///     let mut router = Router::default();
///     for event in trace.events(EventOrder::Input) {
///         let role = Role::of(&event.fields()).expect("all are of the profile");
///         router.take(&event.fields(), event.offset, role, detail);
///     }
///     let mut streams = Streams::new(limits.lease("profiles", Share::of(1, 32)), &limits);
///     streams.append(router, 0)?;
///     streams.finish()?;
///
///     let (window, mut made) = (Windows(vec![TimeSpan::new(20_000, 22_000)]), Vec::new()); // samples are at 12, 15, 21 and 24 µs
///     let cut = cut_streams(&streams, &window, Edges::Clip, &trace.store(), &limits, &mut |event| {
///         made.push(String::from_utf8_lossy(event).into_owned());
///         Ok(())
///     })?;
///     assert_eq!((cut.rebased, cut.samples, cut.stays), (1, 2, vec![false])); // the one at 15 is in force at 20
///     assert!(made[1].contains(r#""samples":[3,2]},"timeDeltas":[0,1]"#), "{made:?}");
/// }
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of `emit`, and [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch)
/// if a temporary file cannot be written.
pub fn cut_streams(
    streams: &Streams,
    windows: &Windows,
    edges: Edges,
    store: &Store<'_>,
    limits: &Limits,
    emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<Cut, Error> {
    let mut cut = Cut::default();
    let lease = limits.lease("samples of profiles that are cut", Share::of_payload(5, 6));
    let groups = streams.groups();
    let at_once = (limits.memory / STREAM).clamp(1, limits.threads.max(1) as u64);
    for some in groups.chunks(at_once as usize) {
        let found = try_each(limits.threads, some.len(), |number| {
            let group = some[number];
            let lease = lease.divided(some.len());
            let part = match edges {
                Edges::Clip => excerpt(group, windows, store, &lease, limits)?,
                Edges::Keep | Edges::Drop => None,
            };
            let whole = match part {
                Some(part) => part,
                None if group.known.is_some_and(|known| !known.check_all(store)) => {
                    return Ok(None);
                }
                None => group.assemble(store, Assembly::All(lease), limits)?,
            };
            Ok::<_, Error>(Some((outcome(group, &whole, windows, edges)?, whole)))
        })?;
        if streams.is_wrong() {
            break;
        }
        for (&group, (outcome, whole)) in some.iter().zip(found.into_iter().flatten()) {
            if matches!(outcome, StreamOutcome::Rebased) {
                cut.rebased += 1;
                cut.samples += Rebase::new(group, &whole, windows, store)?.write(emit)?;
                cut.flaws.append(&whole.profile.flaws);
            }
            cut.whole += u64::from(matches!(outcome, StreamOutcome::Whole));
            cut.stays.push(matches!(outcome, StreamOutcome::Kept | StreamOutcome::Whole));
        }
    }
    Ok(cut)
}

#[derive(Default)]
struct StreamTimes {
    extent: Option<(i64, i64)>,
    outside: bool,
}

impl StreamTimes {
    fn note(&mut self, time: i64, windows: &Windows) -> bool {
        let inside = windows.at(time).is_some();
        self.outside |= !inside;
        self.extent = Some(self.extent.map_or((time, time), |(a, b)| (a.min(time), b.max(time))));
        inside
    }
}

/// Decides whether a profile is kept, dropped or re-based, by the table in the module docs.
///
/// After [`excerpt()`], `whole` lacks samples outside the windows, but the event times show that
/// there are some.
fn outcome(
    group: ProfileGroup<'_>,
    whole: &PlacedProfile<'_, '_>,
    windows: &Windows,
    edges: Edges,
) -> Result<StreamOutcome, Error> {
    let times = group.times().filter(|&time| time != i64::MIN);
    let mut seen = StreamTimes::default();
    times.for_each(|time| {
        seen.note(time, windows);
    });
    let (mut time, mut inside) = (whole.start, false);
    let mut in_force = InForce::new(windows);
    for sample in whole.profile.samples(SampleColumn::Steps) {
        time = time.saturating_add(sample.delta);
        inside |= seen.note(time, windows);
        in_force.note(time, ());
    }
    inside |= in_force.finish(whole.last).contains(&Some(()));
    let Some((first, last)) = seen.extent else { return Ok(StreamOutcome::Kept) };
    let in_one = windows.at(first).is_some_and(|window| last < windows.0[window].to);
    if in_one || edges == Edges::Clip && !seen.outside {
        return Ok(StreamOutcome::Kept);
    }
    let is_stream = !group.parts.heads.is_empty() && group.parts.whole.is_none();
    Ok(match edges {
        Edges::Drop => StreamOutcome::Dropped,
        Edges::Keep if windows.touch(first, last) => StreamOutcome::Kept,
        Edges::Keep => StreamOutcome::Dropped,
        Edges::Clip if is_stream && inside => StreamOutcome::Rebased,
        Edges::Clip if is_stream || !windows.touch(first, last) => StreamOutcome::Dropped,
        Edges::Clip => StreamOutcome::Whole,
    })
}
