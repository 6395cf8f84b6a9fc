//! Tables of windows of a trace that has an index: made of a part of it, if they are those of all.

use crate::choose::ThreadChoice;
use crate::clock::{Clock, Window};
use crate::kinds::flag;
use crate::maps::SourceMaps;
use crate::parts::span_of;
use crate::sorting::Pairs;
use crate::trace::{ReadRules, Thread, Trace};
use std::path::PathBuf;
use tracemill_core::hash::HashSet;
use tracemill_pipeline::{
    Attempt, ByIndex, Config, Error, Excerpt, ExcerptQuery, Source, Unsettled, by_excerpt,
};

/// What tables are made of.
pub struct Scope<'s> {
    /// From the first and the last microsecond of the trace the windows that are asked for, in milliseconds; else why all must be read.
    pub windows: &'s dyn Fn((f64, f64)) -> Result<Vec<Window>, &'static str>,
    /// Of which threads.
    pub threads: &'s ThreadChoice,
}

/// What an index had to do with an answer.
#[derive(Clone, Debug, Default)]
pub struct IndexRole {
    /// The index that said what to read, and how many bytes of events it said.
    pub used: Option<(PathBuf, u64)>,
    /// Why an index there is could not say that.
    pub unused: Option<&'static str>,
}

impl Trace {
    /// As [`Trace::read_mapped`], for tables of what `scope` says alone: by the index of the one input, if it has one and
    /// `config.index` allows it, only a part of that is read. Tables of other windows and threads would be wrong.
    ///
    /// Cost: what lies around the windows, of CPU profiles too where they are as V8 writes them, and metadata; else as [`Trace::read_mapped`].
    ///
    /// # Errors
    /// As [`Trace::read_mapped`]; also if an index was named and is not that of the one input.
    pub fn read_within(
        sources: &[Source],
        rules: ReadRules,
        maps: &SourceMaps,
        scope: &Scope<'_>,
        config: &Config,
    ) -> Result<(Self, IndexRole), Error> {
        // names without their numbers meet others than those that the index has paired
        let needs_all = rules.as_devtools || rules.as_stored || rules.fold_numbers;
        let window =
            |bounds: (f64, f64)| match needs_all || rules.wanted.urls || rules.wanted.report {
                true => Err("what is asked for follows from events of the whole trace"),
                false => (scope.windows)(bounds).map(|windows| span_of(&windows, Clock::default())),
            };
        let ThreadChoice { pid, tid, .. } = scope.threads;
        let is_wanted = |of_pid: &[u8], of_tid: &[u8]| {
            pid.as_ref().is_none_or(|set| set.contains(of_pid))
                && tid.as_ref().is_none_or(|set| set.contains(of_tid))
        };
        let query = ExcerptQuery { window: &window, is_wanted: &is_wanted };
        let part = |source: &Source, excerpt: &Excerpt| {
            let read = Trace::read_part((source, excerpt), rules, maps, config)?;
            let Some(trace) = read else { return Ok(Attempt::Wrong) };
            if excerpt.has_parts_of_profiles() && trace.needs_whole_profiles() {
                return Ok(Attempt::NeedsProfiles);
            }
            let chosen = trace.choose(scope.threads);
            let all = chosen.iter().map(|&at| trace.unsettled(&trace.threads[at], excerpt));
            let unsettled = all.fold(Unsettled::default(), Unsettled::with);
            Ok(match unsettled.is_none() {
                true if excerpt.is_probe => Attempt::Promising,
                true => Attempt::Done(trace),
                false => Attempt::Unsettled(unsettled),
            })
        };
        let all = || Trace::read_mapped(sources, rules, maps, config);
        let ByIndex { answer: mut trace, used, unused, warning } =
            by_excerpt(sources, config, &query, part, all)?;
        trace.warnings.extend(warning);
        Ok((trace, IndexRole { used, unused }))
    }

    /// Takes over what is known of the trace beside what was read of it.
    pub(crate) fn know(&mut self, excerpt: &Excerpt) {
        let Excerpt { unended, lone_ends, .. } = *excerpt;
        let (first, last) = excerpt.bounds;
        self.bounds = (self.clock.placed_micros(first), self.clock.placed_micros(last));
        self.pairs = Some(Pairs { unended, lone_ends });
        self.numbers.clone_from(&excerpt.numbers);
        for thread in &mut self.threads {
            let own = thread.lane.and_then(|lane| excerpt.threads.get(lane as usize));
            thread.known = own.map(|own| own.events);
        }
    }

    /// Whether functions that no window names count, or samples make frames by themselves.
    fn needs_whole_profiles(&self) -> bool {
        self.mapped.was_asked || self.threads.iter().any(|own| self.stands_alone(own).is_some())
    }

    /// Whether the samples before a time, of which some were read, tell the stack there: but for the first, which may be one that takes another's stack, one
    /// has a stack of its own.
    fn tells_stack(&self, thread: &Thread, time: f64) -> bool {
        let Some(model) = thread.model.as_deref().filter(|model| model.span.before > 0) else {
            return true;
        };
        let samples = self.samples.range(model.span.range.clone()).skip(1);
        let mut before =
            samples.take_while(|own| self.clock.written_micros(self.clock.tick(own.ms)) < time);
        before.any(|own| Some(own.node) != model.gc)
    }

    /// Where more must be read until what of a thread lies in the window has the places and calls that it has in the whole trace; of a probe
    /// until it may have.
    fn unsettled(&self, thread: &Thread, excerpt: &Excerpt) -> Unsettled {
        let own = thread.lane.and_then(|lane| excerpt.threads.get(lane as usize));
        let Some(own) = own.filter(|_| self.stands_alone(thread).is_none()) else {
            return Unsettled::default();
        };
        let mut watch = Watch::new(excerpt, &own.lasting);
        for record in self.records.range(thread.records.clone()) {
            let [ts, end] =
                [record.ts, record.ts + record.dur].map(|own| self.clock.written_micros(own));
            let phase = record.phase();
            watch.note((ts, end), self.flags[record.kind as usize], phase);
            let is_seen = end >= excerpt.window.0 && ts <= excerpt.window.1;
            // rows name their events by number
            if is_seen && phase != b'B' && self.number_of(record.number()).is_none() {
                return Unsettled { before: true, behind: true };
            }
        }
        let is_told = self.tells_stack(thread, excerpt.window.0 - micros(excerpt.reach));
        let own = Unsettled { before: !is_told, behind: false };
        watch.unsettled(thread.model.is_some()).with(own)
    }
}

/// A moment before which all is to be known that is open.
struct Probe {
    moment: f64,
    /// From when on what is open is known if it is not one of those that last.
    from: f64,
    is_settled: bool,
}

/// Looks for moments at which nothing is open but what is known to last. Times are microseconds.
struct Watch<'e> {
    excerpt: &'e Excerpt,
    lasting: HashSet<(i64, i64)>,
    /// Ascending; those before `next` have passed.
    probes: Vec<Probe>,
    next: usize,
    /// When all of it has ended, but for what lasts; and with that.
    end: f64,
    end_of_all: f64,
    /// Whether there is an event at which no call is open, before the window and behind it.
    resets: [bool; 2],
    /// Whether something reaches into the window from before what is read around it, and a task begins in that.
    reaches: bool,
    has_task: bool,
}

fn micros(nanos: i64) -> f64 {
    nanos as f64 / 1000.0
}

impl<'e> Watch<'e> {
    fn new(excerpt: &'e Excerpt, lasting: &[(i64, i64)]) -> Self {
        let (reach, first) = (micros(excerpt.reach), micros(excerpt.first));
        let settled = |moment: f64| moment - reach <= first;
        let probe = |moment: f64| Probe {
            moment,
            from: moment - reach + micros(excerpt.look_back) + 0.002,
            is_settled: settled(moment),
        };
        let (begin, end) = excerpt.window;
        let starts = lasting.iter().map(|own| micros(own.0));
        let mut probes: Vec<Probe> = starts.chain([begin]).map(probe).collect();
        probes.sort_by(|a, b| a.moment.total_cmp(&b.moment));
        Watch {
            excerpt,
            lasting: lasting.iter().copied().collect(),
            probes,
            next: 0,
            end: f64::NEG_INFINITY,
            end_of_all: f64::NEG_INFINITY,
            resets: [settled(begin), end + micros(excerpt.ahead) >= micros(excerpt.last)],
            reaches: false,
            has_task: settled(begin),
        }
    }

    /// The next event of the thread, in order.
    fn note(&mut self, (ts, end): (f64, f64), flags: u16, phase: u8) {
        let (begin, behind) = self.excerpt.window;
        let [reach, ahead] = [self.excerpt.reach, self.excerpt.ahead].map(micros);
        self.pass(ts);
        for probe in self.probes[self.next..].iter_mut().take_while(|probe| probe.from <= ts) {
            probe.is_settled |= self.end <= ts;
        }
        if flags & flag::EMPTIES_STACK != 0 && phase != b'I' {
            let look_back = micros(self.excerpt.look_back);
            let is_known = ts >= begin - reach + look_back + 0.002 && ts < begin;
            self.resets[0] |= is_known && self.end_of_all <= ts;
            self.resets[1] |= ts > behind && ts <= behind + ahead;
        }
        self.reaches |= ts < begin - reach && end >= begin;
        self.has_task |= flags & flag::TOP_LEVEL != 0 && ts >= begin - reach && ts <= begin;
        self.end_of_all = self.end_of_all.max(end);
        let nanos = |micros: f64| (micros * 1000.0).round() as i64;
        if !self.lasting.contains(&(nanos(ts), nanos(end))) {
            self.end = self.end.max(end);
        }
    }

    /// What was before `time` has been seen.
    fn pass(&mut self, time: f64) {
        for probe in self.probes[self.next..].iter_mut().take_while(|own| own.moment <= time) {
            probe.is_settled |= self.end <= probe.moment;
            self.next += 1;
        }
    }

    /// Where more must be read until the windows follow from it.
    fn unsettled(mut self, has_calls: bool) -> Unsettled {
        self.pass(f64::INFINITY);
        let has_begin = !self.excerpt.has_tasks || !self.reaches || self.has_task;
        let [before, behind] = match has_calls {
            true => self.resets,
            false => [self.probes.iter().all(|probe| probe.is_settled), true],
        };
        Unsettled { before: !(has_begin && before), behind: !behind }
    }
}
