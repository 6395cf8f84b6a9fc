//! CPU profile streams in windows of time: kept, dropped, or re-based (see `rebase`).

use super::assemble::Keep;
use super::assembled::Wanted;
use super::collect::PlacedProfile;
use super::excerpt::excerpt;
use super::in_force::InForce;
use super::rebase::Rebase;
use super::streams::{Group, Streams};
use tracemill_core::error::Error;
use tracemill_core::flaws::Flaws;
use tracemill_core::limits::Limits;
use tracemill_core::store::Store;
use tracemill_core::threads::try_each;
use tracemill_core::windows::Edges;
use tracemill_core::windows::Windows;

/// Bytes of the budget for each stream that is put together: its tree and the nodes that are looked through are beyond
/// all shares.
const STREAM: u64 = 64 << 20;

/// What became of the streams of a trace.
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
    ) -> impl Iterator<Item = Group<'c>> {
        let all = streams.groups().into_iter().zip(&self.stays);
        all.filter(move |(_, own)| **own == stay).map(|(group, _)| group)
    }
}

/// What becomes of a stream.
enum StreamOutcome {
    Kept,
    Whole,
    Dropped,
    Rebased,
}

/// Decides on every profile of `streams`; events of those re-based go to `emit`. Nothing of that counts if a chunk that was known
/// proved to be another one, or cannot be read (see `known`).
///
/// # Errors
/// Those of `emit`, and [`Scratch`](tracemill_core::error::ErrorKind::Scratch) if the disk does not take a profile.
pub fn cut_streams(
    streams: &Streams,
    windows: &Windows,
    edges: Edges,
    store: &Store<'_>,
    config: &Limits,
    emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<Cut, Error> {
    let mut cut = Cut::default();
    let memory = config.shares().payload / 2;
    let groups = streams.groups();
    let at_once = (config.memory / STREAM).clamp(1, config.threads.max(1) as u64);
    for some in groups.chunks(at_once as usize) {
        let found = try_each(some.len(), some.len(), |number| {
            let group = some[number];
            let memory = memory / some.len() as u64;
            let part = match edges {
                Edges::Clip => excerpt(group, windows, store, memory, config)?,
                Edges::Keep | Edges::Drop => None,
            };
            let whole = match part {
                Some(part) => part,
                None if group.check_all(store) => {
                    group.assemble(store, Keep::All { memory }, config)?
                }
                None => return Ok(None),
            };
            Ok::<_, Error>(Some((outcome(group, &whole, windows, edges)?, whole)))
        })?;
        if streams.is_in_vain() {
            // others may ask in vain too: so all that is missing is known
            continue;
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

fn outcome(
    group: Group<'_>,
    whole: &PlacedProfile<'_, '_>,
    windows: &Windows,
    edges: Edges,
) -> Result<StreamOutcome, Error> {
    let times = group.events().map(|event| event.time);
    let times = times.filter(|&time| time != i64::MIN);
    let mut seen = StreamTimes::default();
    times.for_each(|time| {
        seen.note(time, windows);
    });
    let (mut time, mut inside) = (whole.start, false);
    let mut in_force = InForce::new(windows);
    for sample in whole.profile.samples(Wanted::Steps) {
        time = time.saturating_add(sample.delta);
        inside |= seen.note(time, windows);
        in_force.note(time, ());
    }
    inside |= in_force.finish(whole.last).contains(&Some(()));
    let Some((first, last)) = seen.extent else { return Ok(StreamOutcome::Kept) };
    let in_one = windows.at(first).is_some_and(|window| last < windows.0[window].1);
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
