//! Counts the events of each process over time while a trace is being read, for a preview.
//!
//! Time is divided into at most [`STRETCHES`] intervals of 2^k ns. k grows with the time range, so
//! counts do not depend on the order of events.

use std::sync::{Mutex, MutexGuard, PoisonError};
use tracemill_trace::time::bounds::{Bounds, Times};

/// Maximum number of intervals.
const STRETCHES: usize = 1 << 10;
/// Maximum number of processes; the last one counts the events of all further processes.
const PROCESSES: usize = 8;

/// Progress of reading a trace, shared between the reader and a viewer.
#[derive(Default)]
pub struct Seen(Mutex<SeenCounts>);

/// A snapshot of the progress of reading a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenSoFar {
    /// Time bounds of the events so far.
    pub bounds: Bounds,
    /// Number of slices, instants and operations so far.
    pub events: u64,
    /// Approximate numbers of events by process: one number for each of equal parts of the time
    /// range.
    pub processes: Vec<Vec<f64>>,
}

#[derive(Default)]
struct SeenCounts {
    /// An interval is 2^`level` ns long.
    level: u32,
    first: i64,
    len: usize,
    events: Vec<Vec<u64>>,
    pids: Vec<Box<[u8]>>,
    times: Times,
}

impl Seen {
    fn counts(&self) -> MutexGuard<'_, SeenCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resets all counts, for a trace that is read again.
    pub fn clear(&self) {
        *self.counts() = SeenCounts::default();
    }

    /// Begins adding a chunk of the trace; `times` are the times of its events.
    pub fn count(&self, times: Times) -> SeenPart<'_> {
        let mut counts = self.counts();
        counts.times = counts.times.unite(times);
        SeenPart(counts)
    }

    /// Returns a snapshot with `parts` parts of the time range, or `None` before the first timed
    /// event.
    pub fn so_far(&self, parts: usize) -> Option<SeenSoFar> {
        let counts = self.counts();
        let bounds = counts.times.bounds().filter(|_| counts.len > 0)?;
        let events = counts.events.iter().flatten().sum();
        let processes =
            counts.events.iter().map(|event| counts.spread(event, bounds, parts)).collect();
        Some(SeenSoFar { bounds, events, processes })
    }
}

/// Adds the events of one chunk to [`Seen`], and holds its lock meanwhile.
pub struct SeenPart<'s>(MutexGuard<'s, SeenCounts>);

impl SeenPart<'_> {
    /// Returns the index of a process in the counts; adds the process if it is new.
    pub fn process(&mut self, pid: &[u8]) -> usize {
        let SeenCounts { pids, events, len, .. } = &mut *self.0;
        let known = pids.iter().position(|known_pid| **known_pid == *pid);
        known.unwrap_or_else(|| {
            if pids.len() == PROCESSES {
                return PROCESSES - 1;
            }
            pids.push(pid.into());
            events.push(vec![0; *len]);
            pids.len() - 1
        })
    }

    /// Adds `events` events of a process in the interval of 2^`level` ns that contains `time`.
    #[inline]
    pub fn add(&mut self, process: usize, time: i64, level: u32, events: u64) {
        let counts = &mut *self.0;
        counts.make_room(time, level.min(63));
        let at = ((time >> counts.level) - counts.first) as usize;
        if let Some(process_counts) = counts.events.get_mut(process) {
            process_counts[at] += events;
        }
    }
}

impl SeenCounts {
    /// Lengthens the intervals to at least 2^`level` ns, and adds intervals up to `time`.
    #[inline]
    fn make_room(&mut self, time: i64, level: u32) {
        let offset = (time >> self.level).wrapping_sub(self.first) as u64;
        if level > self.level || offset >= self.len as u64 {
            self.grow(time, level);
        }
    }

    #[cold]
    fn grow(&mut self, time: i64, level: u32) {
        let mut at = time >> self.level;
        if self.len == 0 {
            self.first = at;
        }
        let last = |counts: &Self| counts.first + (counts.len.max(1) as i64 - 1);
        while self.level < level
            || i128::from(last(self).max(at)) - i128::from(self.first.min(at)) >= STRETCHES as i128
        {
            self.coarsen();
            at = time >> self.level;
        }
        let (first, last) = (self.first.min(at), last(self).max(at));
        let (before, len) = ((self.first - first) as usize, (last - first) as usize + 1);
        for event in &mut self.events {
            event.splice(..0, std::iter::repeat_n(0, before));
            event.resize(len, 0);
        }
        (self.first, self.len) = (first, len);
    }

    /// Joins pairs of intervals to intervals of twice the length.
    fn coarsen(&mut self) {
        let is_odd = self.first & 1 != 0;
        for event in &mut self.events {
            event.splice(..0, is_odd.then_some(0));
            *event = event.chunks(2).map(|two| two.iter().sum()).collect();
        }
        self.len = (self.len + usize::from(is_odd)).div_ceil(2);
        (self.first, self.level) = (self.first >> 1, self.level + 1);
    }

    /// Converts the counts of intervals to counts of equal parts of the time range.
    fn spread(&self, counts: &[u64], bounds: Bounds, parts: usize) -> Vec<f64> {
        /// Least width of an interval, in parts, for events at the very end or before the start.
        const LEAST: f64 = 1e-6;
        let (mut all, most) = (vec![0.0; parts], parts as f64);
        let from = i128::from(bounds.start);
        let end = i128::from(bounds.end.max(bounds.last)) + 1;
        let each = (end - from) as f64 / most;
        let place = |number: i128| ((number << self.level) - from) as f64 / each;
        let counts = counts.iter().zip(i128::from(self.first)..);
        for (count, number) in counts.filter(|(count, _)| **count > 0) {
            let begin = place(number).clamp(0.0, most - LEAST);
            let end = place(number + 1).clamp(begin + LEAST, most);
            let share = *count as f64 / (end - begin);
            let touched = begin as usize..end.ceil() as usize;
            for (column, part) in all.iter_mut().zip(0_u32..).take(touched.end).skip(touched.start)
            {
                let part = f64::from(part);
                *column += share * (end.min(part + 1.0) - begin.max(part)).max(0.0);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::Rng;

    fn times(first: i64, last: i64) -> Times {
        let event = br#"{"ph":"X","ts":1,"dur":1}"#;
        let fields = tracemill_tokenizer::fields_of(event);
        let mut times = Times::NONE;
        for at in [first, last] {
            let ts = tracemill_tokenizer::Nanos { floor: at, exact: true };
            times.note(&fields.of(event), ts, at.saturating_add(1));
        }
        times
    }

    #[test]
    fn counts_do_not_depend_on_event_order() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let range = *rng.pick(&[&1_u64, &900, &5000, &(1 << 40), &u64::MAX]);
            let first = rng.below(u64::MAX - range.min(u64::MAX - 1)) as i64;
            let level = *rng.pick(&[&0_u32, &0, &3, &20]);
            let mut events = Vec::new();
            for _ in 0..rng.range(1, 3000) {
                let time = first.saturating_add_unsigned(rng.below(range));
                events.push((rng.below(12), time));
            }
            let (least, greatest) = events
                .iter()
                .fold((i64::MAX, i64::MIN), |all, event| (all.0.min(event.1), all.1.max(event.1)));
            let seen = Seen::default();
            for some in events.chunks(100) {
                let mut part = seen.count(times(least, greatest));
                for (pid, time) in some {
                    let process = part.process(&pid.to_le_bytes());
                    part.add(process, *time, level, 1);
                }
            }
            {
                let counts = seen.counts();
                assert!(counts.len <= STRETCHES && counts.level >= level, "{seed}");
                let mut order: Vec<u64> = Vec::new();
                let mut expected = vec![vec![0; counts.len]; counts.events.len()];
                for (pid, time) in &events {
                    if !order.contains(pid) {
                        order.push(*pid);
                    }
                    let process =
                        order.iter().position(|known| known == pid).unwrap().min(PROCESSES - 1);
                    expected[process][((time >> counts.level) - counts.first) as usize] += 1;
                }
                assert_eq!(counts.events, expected, "{seed}");
            }
            let so_far = seen.so_far(37).unwrap();
            assert_eq!(so_far.events, events.len() as u64);
            let drawn: f64 = so_far.processes.iter().flatten().sum();
            assert!(
                (drawn - events.len() as f64).abs() < 0.01,
                "{seed}: {drawn} of {}",
                events.len()
            );
        }
    }

    #[test]
    fn reports_nothing_before_the_first_event() {
        let seen = Seen::default();
        assert_eq!(seen.so_far(10), None);
        drop(seen.count(times(3, 5)));
        assert_eq!(seen.so_far(10), None);
        seen.count(times(3, 5)).process(b"1");
        assert_eq!(seen.so_far(10), None);
    }
}
