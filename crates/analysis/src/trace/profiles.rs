//! Decodes the CPU profiles of a recording in parallel, and selects at most one for each thread.

use crate::events::meta::ThreadId;
use crate::profile::functions::meta_names;
use crate::profile::model::{Model, Weights, micros};
use crate::profile::raw::Raw;
use crate::profile::refusals::{Refusal, refused_profile};
use crate::profile::samples::{Raw as RawSamples, Samples};
use crate::trace::ReadRules;
use crate::trace::uncounted::UncountedProfiles;
use crate::value::clock::{Clock, written};
use crate::value::space::Space;
use tracemill_cpuprofile::ProfileSource;
use tracemill_join::input_set::{InputPlace, InputSet, ProfileFacts};
use tracemill_trace::Error;
use tracemill_trace::event::names::Names;
use tracemill_trace::run::limits::{Limits, Quota};
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::threads::{both, try_each};
use tracemill_trace::spill::hash::HashMap;

/// A decoded profile with its model.
pub(crate) struct ReadProfile {
    pub(crate) facts: ProfileFacts,
    source: Option<ProfileSource>,
    pub(crate) model: Model,
    /// Reason why DevTools refuses a trace with this profile.
    pub(crate) refusal: Option<Refusal>,
}

/// The profile selected for a thread.
pub(crate) struct Chosen {
    pub(crate) pid: Box<[u8]>,
    pub(crate) tid: Box<[u8]>,
    pub(crate) input: Option<String>,
    pub(crate) model: Option<Model>,
}

/// The decoded chunks of a profile, with its own table of names.
struct Decoded {
    facts: ProfileFacts,
    raw: Raw,
    samples: RawSamples,
    names: Names,
}

/// Memory and temporary files for reading profiles.
pub(crate) struct ProfileRoom<'r> {
    pub(crate) space: &'r Space,
    pub(crate) quota: &'r Quota,
    pub(crate) limits: &'r Limits,
}

/// Decodes all profiles, with one profile per processor thread at a time. Appends their samples to
/// `samples`.
pub(crate) fn read_profiles(
    inputs: &InputSet,
    rules: ReadRules,
    names: &mut Names,
    samples: &mut Samples,
    room: ProfileRoom<'_>,
    clock: Clock,
) -> Result<Vec<ReadProfile>, Error> {
    let ProfileRoom { space, quota, limits } = room;
    let (pieces, mut profiles) = (inputs.pieces(), inputs.profiles());
    if rules.as_devtools {
        profiles.retain(|profile| !profile.is_of_stacks);
    }
    let threads = limits.threads.max(1);
    let space = space.divided((2 * threads).min(profiles.len()));
    let kept = limits.lease("call trees of CPU profiles", Share::of(1, 8));
    let kept = Space::new(kept, 1).divided(profiles.len());
    let decode = |number: usize| {
        let (mut raw, mut raw_samples) = (Raw::new(&space), RawSamples::new(&space));
        let (facts, mut names) = (profiles[number].clone(), meta_names());
        let mut added = Ok(());
        pieces.each(number, rules.as_devtools, |piece| {
            if added.is_ok() {
                let nodes = raw.add(piece, facts.is_whole, &mut names, quota);
                added = nodes.and_then(|()| raw_samples.add(piece.samples, piece.micros()));
            }
            if raw_samples.are_complete() {
                raw.source = piece.source.or(raw.source);
            }
        })?;
        added.map(|()| Decoded { facts, raw, samples: raw_samples, names })
    };
    let (mut all, mut decoded) = (Vec::new(), Vec::new());
    // In each round, models of the previous group are built. The last round only builds models.
    for first in (0..profiles.len() + threads).step_by(threads) {
        let count = threads.min(profiles.len().saturating_sub(first));
        let read = |profile: Decoded| profile.read(inputs, rules, names, samples, &kept, clock);
        let models = || decoded.drain(..).map(read).collect::<Result<Vec<_>, Error>>();
        let next = || try_each(threads, count, |at| decode(first + at));
        let (models, next) = both(threads, models, next);
        all.extend(models?);
        decoded = next?;
    }
    Ok(all)
}

impl Decoded {
    /// Builds the model of the profile, adds its samples to `samples`, and adds its names to
    /// `names`.
    fn read(
        self,
        inputs: &InputSet,
        rules: ReadRules,
        names: &mut Names,
        samples: &mut Samples,
        kept: &Space,
        clock: Clock,
    ) -> Result<ReadProfile, Error> {
        let Decoded { mut facts, mut raw, samples: raw_samples, names: profile_names } = self;
        raw.rename(&names.append(&profile_names));
        let refusal = refused_profile(&facts, &raw);
        let source = raw.source.or(facts.source);
        if facts.input.is_some() && rules.as_devtools {
            facts.pid = b"1"[..].into();
            facts.tid = Some(b"1"[..].into());
        }
        let place = facts.input_number.map(|input| inputs.place(input));
        if let Some(place) = place {
            facts.pid = place.pid(&facts.pid).into();
        }
        let start = time_of(facts.start.as_deref(), place, clock).unwrap_or(0.0);
        // The end matters only if there are no samples, so the clock offset of samples is not
        // added.
        let end = time_of(facts.end.as_deref(), None, clock).unwrap_or(f64::NAN);
        let weights = if facts.is_whole { rules.weights } else { Weights::Next };
        let (mut model, by_id) = raw.model(clock.sum(end), kept)?;
        let node = |id: u64| by_id.get(id).filter(|&node| model.is_known(node));
        let span = raw_samples.finish(start, weights, clock, node, &model, samples)?;
        if let Some(end) = span.end.filter(|end| *end != 0.0 && !end.is_nan()) {
            model.end = end;
        }
        (model.span, model.is_of_stacks) = (span, facts.is_of_stacks);
        Ok(ReadProfile { facts, source, model, refusal })
    }
}

/// Converts a time as written in the profile to the clock.
pub(crate) fn time_of(
    text: Option<&[u8]>,
    place: Option<&InputPlace>,
    clock: Clock,
) -> Option<f64> {
    let Some(origin) = clock.origin() else {
        let time = micros(text)?;
        return Some(place.map_or(time, |place| place.moved(time)));
    };
    let offset = place.map_or(0, InputPlace::offset);
    Some(written(text?)?.saturating_add(offset).saturating_sub(origin) as f64)
}

/// Selects one profile per thread, as DevTools does: the profile recorded by tracing, else the
/// profile of the inspector, else the first profile.
pub(crate) fn choose(
    profiles: Vec<ReadProfile>,
    is_cpu_profile: bool,
) -> (Vec<Chosen>, UncountedProfiles) {
    let rank = |source: Option<ProfileSource>| match source {
        Some(ProfileSource::Internal) if !is_cpu_profile => 0,
        Some(ProfileSource::Inspector) => 1,
        _ => 2,
    };
    let mut chosen: Vec<(u8, Chosen)> = Vec::new();
    let mut places: HashMap<ThreadId, usize> = HashMap::default();
    let mut uncounted = UncountedProfiles::default();
    for profile in profiles {
        let ReadProfile { facts, source, model, .. } = profile;
        let holds_any = u64::from(model.span.count > 0 || !model.nodes.is_empty());
        uncounted.of += holds_any;
        let Some(tid) = facts.tid else {
            uncounted.unowned += holds_any;
            continue;
        };
        let priority = rank(source);
        let next = chosen.len();
        let at = *places.entry((facts.pid.clone(), tid.clone())).or_insert(next);
        if at < next {
            uncounted.further += holds_any;
        }
        let this = Chosen { pid: facts.pid, tid, input: facts.input, model: Some(model) };
        match chosen.get_mut(at) {
            None => chosen.push((priority, this)),
            Some((known, _)) if *known <= priority => {}
            Some(known) => *known = (priority, this),
        }
    }
    let all = chosen.into_iter().map(|(_, chosen)| chosen);
    let has_nodes =
        |chosen: &Chosen| chosen.model.as_ref().is_some_and(|model| !model.nodes.is_empty());
    (all.filter(has_nodes).collect(), uncounted)
}
