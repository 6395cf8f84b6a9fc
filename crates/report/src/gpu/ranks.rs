//! Compares the ranks of a distributed job: times of their steps, and waits for each other in
//! collectives. A rank is a recording: an input, or several that are parts of one.
//!
//! The kernel of a collective ends on all ranks when the last rank has joined. So the last rank has
//! the shortest kernel, and the other ranks wait for as long as their kernels are longer. Starts
//! are not compared, because hosts have different clocks.
//!
//! ```text
//!  rank 0  ──▓▓▓▓▓▓▓▓▓─   waits 6 ms for rank 1
//!  rank 1  ────────▓▓▓─   last
//!  rank 2  ─────▓▓▓▓▓▓─   waits 3 ms for rank 1
//! ```
//!
//! Collectives with the same name and process group correspond by their position within a step. The
//! step of a kernel is that of its launch; of a kernel without a known launch, that at its start.

use super::launched::{OnDevice, millis};
use crate::found::ReportRules;
use crate::found::ranks::{Collective, Rank, Ranks};
use std::collections::{BTreeMap, BTreeSet};
use tracemill_analysis::Trace;
use tracemill_analysis::events::devices::{DeviceEvent, Role};
use tracemill_analysis::events::kinds::NO_CAT;
use tracemill_trace::order::{KeySorter, Keyed};
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::{Error, record};

record! {
    /// A collective on a device.
    #[derive(Clone, Copy)]
    struct Joined {
        /// Number of the name and process group.
        kind: u32,
        /// Number of the step; −1 before the first step.
        step: i64,
        /// Position among the collectives of the kind in the step, on the device.
        at: u64,
        device: u32,
        recording: u32,
        dur: i64,
    }
}

impl Keyed for Joined {
    type Key = (u32, i64, u64, u32);

    fn key(&self) -> Self::Key {
        (self.kind, self.step, self.at, self.device)
    }
}

/// A step of a recording, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    recording: u32,
    begin: i64,
    number: i64,
    end: i64,
}

/// Sums of the collectives with a name, in nanoseconds.
#[derive(Default)]
struct Sums {
    count: u64,
    skew: i128,
    most: i64,
    /// Time for which others wait, by rank.
    delays: BTreeMap<u32, i128>,
}

/// The steps of all recordings, by recording and time.
struct Steps {
    all: Vec<Step>,
    /// The first input of each recording.
    inputs: Vec<usize>,
}

impl Steps {
    /// Reads the steps that begin within the window. Steps of devices count for recordings without
    /// steps of the host.
    fn of(trace: &Trace, rules: &ReportRules, room: &Quota) -> Result<Self, Error> {
        let [mut all, mut on_devices] = [Vec::new(), Vec::new()];
        let mut inputs: Vec<usize> = Vec::new();
        let origin = i128::from(trace.clock().origin().unwrap_or(0));
        let is_in = |event: &DeviceEvent| {
            let starts = millis(i128::from(event.ts) - origin);
            rules.window.is_none_or(|window| (window.from..=window.to).contains(&starts))
        };
        for event in trace.device_events() {
            let recording = event.recording as usize;
            if recording >= inputs.len() {
                room.take(size_of::<Rank>() as u64, "ranks")?;
                inputs.resize(recording + 1, usize::MAX);
            }
            inputs[recording] = inputs[recording].min(event.input as usize);
            if event.role != Role::Step || !is_in(&event) {
                continue;
            }
            let kind = trace.kinds()[event.kind as usize];
            let name = trace.names().bytes_of(kind.name);
            let Some(number) = number_of(name) else { continue };
            room.take(2 * size_of::<Step>() as u64, "steps of ranks")?;
            let end = event.ts.saturating_add(event.dur);
            let step = Step { recording: event.recording, begin: event.ts, number, end };
            let is_of_device =
                kind.cat != NO_CAT && trace.names().bytes_of(kind.cat) == b"gpu_user_annotation";
            if is_of_device { on_devices.push(step) } else { all.push(step) }
        }
        let hosts: BTreeSet<u32> = all.iter().map(|step| step.recording).collect();
        all.extend(on_devices.into_iter().filter(|step| !hosts.contains(&step.recording)));
        all.sort_unstable();
        all.dedup_by_key(|step| (step.recording, step.number));
        if rules.devices.drop_last_step {
            let is_last = |at: usize| {
                let is_of = |at: Option<usize>, step: &Step| {
                    at.and_then(|at| all.get(at)).is_some_and(|it| it.recording == step.recording)
                };
                is_of(at.checked_sub(1), &all[at]) && !is_of(Some(at + 1), &all[at])
            };
            let kept = (0..all.len()).filter(|&at| !is_last(at)).map(|at| all[at]);
            all = kept.collect();
        }
        Ok(Steps { all, inputs })
    }

    /// Returns the number of the step of a recording at a time; −1 if there is none.
    fn at(&self, recording: u32, time: i64) -> i64 {
        let after =
            self.all.partition_point(|step| (step.recording, step.begin) <= (recording, time));
        let step = after.checked_sub(1).map(|at| self.all[at]);
        step.filter(|step| step.recording == recording).map_or(-1, |step| step.number)
    }
}

/// Returns the number at the end of a step's name, `ProfilerStep#5`.
fn number_of(name: &[u8]) -> Option<i64> {
    let digits = name.rsplit(|&byte| byte == b'#').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// State of the comparison during the walk over the events of devices.
pub(super) struct Comparing<'r> {
    room: &'r Quota,
    steps: Steps,
    /// Numbers of the pairs of name and process group, and the name of each.
    kinds: HashMap<(u32, u64), u32>,
    names: Vec<u32>,
    /// Step and position of the next collective, by device and kind.
    positions: HashMap<(u32, u32), (i64, u64)>,
    joined: KeySorter<Joined>,
    unmatched: u64,
}

impl<'r> Comparing<'r> {
    /// Creates the state. Returns `None` if the trace has a single rank.
    pub(super) fn of(
        trace: &Trace,
        rules: &ReportRules,
        room: &'r Quota,
    ) -> Result<Option<Self>, Error> {
        let steps = Steps::of(trace, rules, room)?;
        Ok((steps.inputs.len() > 1).then(|| Comparing {
            room,
            steps,
            kinds: HashMap::default(),
            names: Vec::new(),
            positions: HashMap::default(),
            joined: trace.space().sorter(4),
            unmatched: 0,
        }))
    }

    /// Adds the next communication kernel of a device.
    pub(super) fn add(&mut self, event: &OnDevice, trace: &Trace) -> Result<(), Error> {
        if memchr::memmem::find(trace.names().bytes_of(event.name), b"SendRecv").is_some() {
            self.unmatched += 1;
            return Ok(());
        }
        let next = self.names.len() as u32;
        let kind = *self.kinds.entry((event.name, event.group)).or_insert(next);
        if kind == next {
            self.room.take(256, "names of collectives")?;
            self.names.push(event.name);
        }
        let time = event.launch.map_or(event.ts, |launch| launch.ts);
        let step = self.steps.at(event.recording, time);
        if !self.positions.contains_key(&(event.device, kind)) {
            self.room.take(64, "positions of collectives")?;
        }
        let (last, at) = self.positions.entry((event.device, kind)).or_insert((step, 0));
        if step > *last {
            (*last, *at) = (step, 0);
        }
        let OnDevice { device, recording, dur, .. } = *event;
        let joined = Joined { kind, step: *last, at: *at, device, recording, dur };
        *at += 1;
        self.joined.push(joined)
    }

    /// Compares the ranks.
    pub(super) fn finish(self, trace: &Trace) -> Result<Ranks, Error> {
        let Comparing { room, steps, names, joined, unmatched, .. } = self;
        let (order, is_numbered) = order(trace, &steps.inputs);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &recording)| places[recording] = at as u32);
        let mut waits = Waits {
            room,
            places,
            pairs: BTreeMap::new(),
            last: vec![0; order.len()],
            kinds: BTreeMap::new(),
            matched: 0,
            unmatched,
        };
        let sorted = joined.finish()?;
        let mut group: Vec<Joined> = Vec::new();
        for part in sorted.iter() {
            let key = |part: &Joined| (part.kind, part.step, part.at);
            if group.first().is_some_and(|first| key(first) != key(&part)) {
                waits.add(&group)?;
                group.clear();
            }
            group.push(part);
        }
        waits.add(&group)?;
        let mut all: Vec<Rank> = order.iter().map(|&at| rank(trace, &steps, at)).collect();
        all.iter_mut().for_each(|rank| rank.number = rank.number.filter(|_| is_numbered));
        Ok(waits.finish(trace, all, &names))
    }
}

/// Sums of waits, in nanoseconds.
struct Waits<'r> {
    room: &'r Quota,
    /// Index of the rank of each recording.
    places: Vec<u32>,
    /// Waits of a rank for another.
    pairs: BTreeMap<(u32, u32), i128>,
    /// Number of collectives that each rank joins last.
    last: Vec<u64>,
    /// Sums by kind.
    kinds: BTreeMap<u32, Sums>,
    matched: u64,
    unmatched: u64,
}

impl Waits<'_> {
    /// Adds the kernels of a collective on all devices.
    fn add(&mut self, group: &[Joined]) -> Result<(), Error> {
        let place = |part: &Joined| self.places[part.recording as usize];
        let Some(first) = group.iter().min_by_key(|part| (part.dur, place(part))) else {
            return Ok(());
        };
        let (last, least) = (place(first), first.dur);
        if group.iter().all(|part| place(part) == last) {
            self.unmatched += group.len() as u64;
            return Ok(());
        }
        self.matched += 1;
        let skew = group.iter().map(|part| part.dur - least).max().unwrap_or(0);
        self.last[last as usize] += u64::from(skew > 0);
        let sums = self.kinds.entry(first.kind).or_default();
        sums.count += 1;
        sums.skew += i128::from(skew);
        sums.most = sums.most.max(skew);
        for part in group.iter().filter(|part| part.dur > least && place(part) != last) {
            let wait = i128::from(part.dur - least);
            let pair = (place(part), last);
            if !self.pairs.contains_key(&pair) {
                self.room.take(96, "waits of ranks")?;
            }
            *self.pairs.entry(pair).or_insert(0) += wait;
            *sums.delays.entry(last).or_insert(0) += wait;
        }
        Ok(())
    }

    fn finish(self, trace: &Trace, mut all: Vec<Rank>, names: &[u32]) -> Ranks {
        let mut longest = vec![(0, u32::MAX); all.len()];
        let mut sums: Vec<(i128, i128)> = vec![(0, 0); all.len()];
        for (&(waiter, last), &wait) in &self.pairs {
            sums[waiter as usize].0 += wait;
            sums[last as usize].1 += wait;
            let best = &mut longest[waiter as usize];
            *best = (*best).max((wait, u32::MAX - last));
        }
        for (at, rank) in all.iter_mut().enumerate() {
            (rank.wait, rank.delay) = (millis(sums[at].0), millis(sums[at].1));
            rank.last = self.last[at];
            rank.waits_for = (longest[at].0 > 0).then(|| (u32::MAX - longest[at].1) as usize);
        }
        let total: i128 = sums.iter().map(|sum| sum.1).sum();
        let (most, at) = sums.iter().zip(0..).map(|(sum, at)| (sum.1, at)).max().unwrap_or((0, 0));
        // more than (1 + 1/n) / 2 of all waits
        let ranks = all.len() as i128;
        let straggler = (2 * ranks * most > (ranks + 1) * total).then_some(at);
        let Waits { matched, unmatched, kinds, .. } = self;
        let kinds = kinds.into_iter().map(|(kind, sums)| (names[kind as usize], sums));
        Ranks { all, collectives: collectives(trace, kinds), matched, unmatched, straggler }
    }
}

/// Returns the recordings in the order of the report, and whether each has a different number.
fn order(trace: &Trace, inputs: &[usize]) -> (Vec<usize>, bool) {
    let numbers: BTreeSet<Option<u64>> = inputs.iter().map(|&at| trace.job_ranks[at]).collect();
    let is_numbered = numbers.len() == inputs.len() && !numbers.contains(&None);
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by_key(|&at| (trace.job_ranks[inputs[at]].filter(|_| is_numbered), inputs[at]));
    (order, is_numbered)
}

/// Sums the steps of a rank.
fn rank(trace: &Trace, steps: &Steps, recording: usize) -> Rank {
    let is_of = |step: &&Step| step.recording as usize == recording;
    let from = steps.all.partition_point(|step| (step.recording as usize) < recording);
    let durations = steps.all[from..].iter().take_while(is_of).map(|step| step.end - step.begin);
    let (mut count, mut sum, mut least, mut most) = (0, 0, i64::MAX, 0);
    for dur in durations {
        count += 1;
        sum += i128::from(dur);
        (least, most) = (least.min(dur), most.max(dur));
    }
    let input = steps.inputs[recording];
    Rank {
        number: trace.job_ranks[input],
        input,
        steps: count,
        time: millis(sum),
        least: millis(i128::from(if count > 0 { least } else { 0 })),
        most: millis(i128::from(most)),
        ..Rank::default()
    }
}

/// Unites the process groups of each name.
fn collectives(trace: &Trace, kinds: impl Iterator<Item = (u32, Sums)>) -> Vec<Collective> {
    let mut by_name: BTreeMap<u32, Sums> = BTreeMap::new();
    for (name, sums) in kinds {
        let all = by_name.entry(name).or_default();
        all.count += sums.count;
        all.skew += sums.skew;
        all.most = all.most.max(sums.most);
        for (rank, wait) in sums.delays {
            *all.delays.entry(rank).or_insert(0) += wait;
        }
    }
    let of_name = |(name, sums): (u32, Sums)| {
        let delays = sums.delays.iter().map(|(&at, &wait)| (wait, at));
        let last = delays.max_by_key(|&(wait, at)| (wait, std::cmp::Reverse(at)));
        Collective {
            name: trace.names().text(name),
            count: sums.count,
            skew: millis(sums.skew) / sums.count as f64,
            most: millis(i128::from(sums.most)),
            wait: millis(sums.delays.values().sum()),
            last: last.map(|(wait, at)| (at as usize, millis(wait))),
        }
    };
    let mut all: Vec<Collective> = by_name.into_iter().map(of_name).collect();
    all.sort_by(|a, b| b.wait.total_cmp(&a.wait).then_with(|| a.name.cmp(&b.name)));
    all
}
