//! CPU profile streams in windows of time: kept, dropped, or re-based (see `rebase`).
//!
//! | a profile | edges are clipped | kept | dropped |
//! |---|---|---|---|
//! | lies in one window with all its events and samples | stays | stays | stays |
//! | lies in windows, though in several | stays | stays | goes |
//! | has samples in a window, or one in force where it begins | re-based | stays | goes |
//! | only reaches over windows | goes | stays | goes |
//! | is a `CpuProfile` event or has no `Profile` event, and reaches into windows | stays, and is told: it cannot be re-based | stays | goes |
//! | lies outside | goes | goes | goes |
//!
//! Cost: with [`Edges::Clip`] what windows need of each profile is put together (`excerpt`), otherwise all of it. Several profiles are done
//! at a time, each with its part of the memory; call trees are beyond all shares, so there are no more at a time than 64 MiB of budget each.

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

/// Bytes of the budget for each stream that is put together: its tree and the nodes that are looked through are beyond
/// all shares.
const STREAM: u64 = 64 << 20;

/// What became of the streams of a trace: see [`cut_streams`].
#[derive(Default)]
pub struct Cut {
    /// Whether the events of each profile stay as they are, by its number.
    pub stays: Vec<bool>,
    /// Streams re-based, and the samples in them.
    pub rebased: u64,
    /// Samples in those.
    pub samples: u64,
    /// Streams that reach beyond the windows and were kept whole, since they cannot be re-based.
    pub whole: u64,
    /// What is wrong with those re-based.
    pub flaws: Flaws,
}

impl Cut {
    /// The profiles whose events stay as they are, or the others.
    pub fn groups<'c>(
        &'c self,
        streams: &'c Streams,
        stay: bool,
    ) -> impl Iterator<Item = ProfileGroup<'c>> {
        let all = streams.groups().into_iter().zip(&self.stays);
        all.filter(move |(_, own)| **own == stay).map(|(group, _)| group)
    }
}

/// What becomes of a stream.
enum StreamOutcome {
    /// Its events stay as they are.
    Kept,
    /// They do, though they reach beyond the windows: the caller is told.
    Whole,
    /// None of its events stays.
    Dropped,
    /// Events are made in place of its own.
    Rebased,
}

/// Decides on every profile of `streams`; events of those re-based go to `emit`, each as the text of one JSON object. Nothing of that
/// counts if a chunk that was known proved to be another one (see [`KnownChunks`](crate::KnownChunks)).
///
/// With [`Edges::Clip`] profiles whose chunks were taken with [`Detail::Times`](crate::Detail), which says when their samples are, are put together as
/// far as windows need them, all others as a whole.
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
/// Those of `emit`, and [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if the disk does not take a profile.
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

/// Times of a stream.
#[derive(Default)]
struct StreamTimes {
    /// The least and the greatest, in nanoseconds.
    extent: Option<(i64, i64)>,
    /// Whether any lies in no window.
    outside: bool,
}

impl StreamTimes {
    /// Notes a time; whether it lies in a window.
    fn note(&mut self, time: i64, windows: &Windows) -> bool {
        let inside = windows.at(time).is_some();
        self.outside |= !inside;
        self.extent = Some(self.extent.map_or((time, time), |(a, b)| (a.min(time), b.max(time))));
        inside
    }
}

/// What becomes of a profile, by the table above. `whole` need not have samples that lie in no window ([`excerpt()`]): their events' times say that there are
/// some.
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
    let is_stream = !group.own.heads.is_empty() && group.own.whole.is_none();
    Ok(match edges {
        Edges::Drop => StreamOutcome::Dropped,
        Edges::Keep if windows.touch(first, last) => StreamOutcome::Kept,
        Edges::Keep => StreamOutcome::Dropped,
        Edges::Clip if is_stream && inside => StreamOutcome::Rebased,
        Edges::Clip if is_stream || !windows.touch(first, last) => StreamOutcome::Dropped,
        Edges::Clip => StreamOutcome::Whole,
    })
}
