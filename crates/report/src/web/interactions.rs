//! User interactions (DevTools: `UserInteractionsHandler`, and the INP insight).

use crate::web::navigations::number_above_zero;
use std::cmp::Ordering;
use tracemill_analysis::Trace;
use tracemill_analysis::events::pages::{Mark, Marked};
use tracemill_analysis::value::Value;
use tracemill_analysis::value::clock::by_time;
use tracemill_analysis::value::typed::object;
use tracemill_trace::spill::hash::HashMap;

/// An interaction. Times are microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// Event type, such as `click`.
    pub kind: String,
    /// Chrome's id of the interaction. The events of one click have the same id: pointer down,
    /// pointer up and click.
    pub id: f64,
    /// DevTools' key of the interaction.
    pub key: String,
    /// Start on the trace's clock.
    pub ts: f64,
    /// Duration up to the next paint.
    pub dur: f64,
    processing: (f64, f64),
}

impl Interaction {
    /// Returns the time from the start until processing begins.
    pub fn delay(&self) -> f64 {
        self.processing.0 - self.ts
    }

    /// Returns the time from the start to the end of processing.
    pub fn handling(&self) -> f64 {
        self.processing.1 - self.processing.0
    }

    /// Returns the time from the end of processing to the paint.
    pub fn presentation(&self) -> f64 {
        self.end() - self.processing.1
    }

    pub(crate) fn end(&self) -> f64 {
        self.ts + self.dur
    }

    /// Returns whether a pointer caused the interaction.
    pub(crate) fn is_of_pointer(&self) -> bool {
        self.category() == 0
    }

    /// Returns the category of the event type. Only interactions of the same category are merged.
    pub(crate) fn category(&self) -> usize {
        match &*self.kind {
            "pointerdown" | "touchstart" | "pointerup" | "touchend" | "mousedown" | "mouseup"
            | "click" => 0,
            "keydown" | "keypress" | "keyup" => 1,
            _ => 2,
        }
    }
}

object! {
    struct Timing { r#type, interaction_id, duration, time_stamp, processing_start, processing_end }
}

fn begin(marked: &Marked) -> Option<(&Marked, Timing)> {
    let timing: Timing = Some(marked).filter(|marked| marked.mark == Mark::Begin)?.data()?;
    let is_short = timing.duration.number().is_some_and(|duration| duration < 1.0);
    (!is_short && number_above_zero(&timing.interaction_id).is_some()).then_some((marked, timing))
}

fn paired(begin: &Marked, timing: &Timing, end: &Marked) -> Option<Interaction> {
    let kind = timing.r#type.printable().filter(|kind| !kind.is_empty())?;
    let id = number_above_zero(&timing.interaction_id)?;
    let stamp = number_above_zero(&timing.time_stamp)?;
    let time = |ms: &Value| Some(number_above_zero(ms)? * 1000.0 - stamp * 1000.0 + begin.ts);
    let processing = (time(&timing.processing_start)?, time(&timing.processing_end)?);
    let (ts, dur) = (begin.ts, end.ts - begin.ts);
    let key = format!("s-{}", begin.number);
    Some(Interaction { kind, id, key, ts, dur, processing })
}

/// Merges interactions of a category that end at the same time into the one that began first. Its
/// processing time then covers the processing times of all merged interactions. Returns the indices
/// of the interactions that are left, in the order of their starts.
fn merge_parts(all: &mut [Interaction]) -> Vec<usize> {
    let mut kept: [Vec<usize>; 3] = Default::default();
    let mut places: HashMap<(usize, u64), usize> = HashMap::default();
    for at in 0..all.len() {
        let interaction = all[at].clone();
        let category = interaction.category();
        let kept = &mut kept[category];
        let next = kept.len();
        let place = (category, (interaction.end() + 0.0).to_bits());
        let place = *places.entry(place).or_insert(next);
        if place == next {
            kept.push(at);
            continue;
        }
        let known = &mut all[kept[place]];
        let same = interaction.ts == known.ts && interaction.id == known.id;
        if interaction.ts < known.ts || same && interaction.handling() > known.handling() {
            kept[place] = at;
        }
        known.processing.0 = known.processing.0.min(interaction.processing.0);
        known.processing.1 = known.processing.1.max(interaction.processing.1);
    }
    let mut left = kept.concat();
    left.sort_by(|&a, &b| by_time(all[a].ts, all[b].ts));
    left
}

/// The interactions of a trace.
pub(crate) struct Interactions {
    /// All interactions, in the order of their starts.
    pub(crate) all: Vec<Interaction>,
    /// Indices of those that are not part of another.
    outermost: Vec<usize>,
}

impl Interactions {
    /// Returns the interactions that are not part of another, in the order of their starts.
    pub(crate) fn outermost(&self) -> impl Iterator<Item = &Interaction> {
        self.outermost.iter().map(|&at| &self.all[at])
    }
}

/// Returns the interactions. Cost: sorts the events of interactions.
pub(crate) fn interactions(trace: &Trace) -> Interactions {
    let all = || trace.marks().iter();
    let mut begins = all().filter_map(begin).peekable();
    let mut ends = all().filter(|mark| mark.mark == Mark::End).peekable();
    let mut open: HashMap<_, Vec<(&Marked, Timing)>> = HashMap::default();
    let mut found = Vec::new();
    loop {
        let begin_first = match (begins.peek(), ends.peek()) {
            (Some((begin, _)), Some(end)) => by_time(begin.ts, end.ts) != Ordering::Greater,
            (begin, _) => begin.is_some(),
        };
        if begin_first {
            let Some((begin, timing)) = begins.next() else { break };
            open.entry((begin.input, &*begin.id)).or_default().push((begin, timing));
        } else {
            let Some(end) = ends.next() else { break };
            let waiting = open.get_mut(&(end.input, &*end.id)).and_then(Vec::pop);
            found.extend(waiting.and_then(|(begin, timing)| paired(begin, &timing, end)));
        }
    }
    found.sort_by(|a, b| by_time(a.ts, b.ts).then_with(|| by_time(b.end(), a.end())));
    let outermost = merge_parts(&mut found);
    Interactions { all: found, outermost }
}

/// Returns the longest interaction, and the interaction at the 98th percentile. Interactions with
/// the same id count once.
pub(crate) fn slowest<'a>(
    all: impl Iterator<Item = &'a Interaction>,
) -> Option<(Interaction, Interaction)> {
    let mut by_id: Vec<&Interaction> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::default();
    for interaction in all {
        let next = by_id.len();
        match *places.entry(interaction.id.to_bits()).or_insert(next) {
            at if at == next => by_id.push(interaction),
            at if interaction.dur > by_id[at].dur => by_id[at] = interaction,
            _ => {}
        }
    }
    by_id.sort_by(|a, b| by_time(b.dur, a.dur));
    // Chrome keeps only the ten longest interactions.
    let at = (by_id.len() / 50).min(9);
    Some(((*by_id.first()?).clone(), (*by_id.get(at)?).clone()))
}
