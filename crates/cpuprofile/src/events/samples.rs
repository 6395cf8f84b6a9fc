//! Reads samples, times and positions of a profile from the input, one chunk at a time.
//!
//! ```text
//!   samples      9    9    ?    4              ?: the id of no node
//!   timeDeltas   5    7    3    6
//!   chunk        9    9         4
//!                5    7         9              the step of `?` is added to the next one
//! ```
//!
//! Samples without times, and times without samples, are counted and left out.

use super::list::{Steps, time};
use super::{MOST, ProfileEvents};
use crate::chunk::numbers::odd_id;
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::store::Store;

/// Samples of a chunk in lists of equal length, at most [`MOST`].
#[derive(Default)]
pub(super) struct SampleBatch {
    pub(super) nodes: Vec<u32>,
    /// Nanoseconds from the previous sample to each sample.
    pub(super) deltas: Vec<i64>,
    pub(super) positions: [Vec<i64>; 2],
    pub(super) first: i64,
}

impl ProfileEvents {
    /// Reads the next samples, except those of unknown nodes. Returns false after the last samples.
    pub(super) fn read_samples(&mut self, store: &Store<'_>, batch: &mut SampleBatch) -> bool {
        let mut flaws = Flaws::default();
        let mut ids = Vec::with_capacity(MOST);
        self.samples.read(store, |cursor, at| {
            let id = match cursor.integer() {
                Some(id) => u64::try_from(id).ok(),
                None => odd_id(cursor.value()),
            };
            ids.push((id, at));
            ids.len() < MOST
        });
        let mut steps = self.read_steps(store, ids.len(), &mut flaws);
        let more = ids.len() == MOST && steps.len() == MOST;
        self.surplus += (ids.len() - steps.len()) as u64;
        ids.truncate(steps.len());
        let positions = self.read_positions(store, ids.len(), &mut flaws);
        for (i, &(id, at)) in ids.iter().enumerate() {
            self.time = self.time.saturating_add(steps[i]);
            match id.and_then(|id| self.tree.number(id)) {
                Some(node) => {
                    if batch.nodes.is_empty() {
                        batch.first = self.time;
                    }
                    self.last = self.last.max(self.time);
                    batch.nodes.push(node);
                    batch.deltas.push(steps[i].saturating_add(std::mem::take(&mut self.carried)));
                    for (list, position) in batch.positions.iter_mut().zip(&positions) {
                        list.push(position.get(i).copied().unwrap_or(0));
                    }
                }
                None => {
                    self.carried = self.carried.saturating_add(steps[i]);
                    flaws.add(FlawKind::Sample, at);
                }
            }
        }
        steps.clear();
        self.note(&flaws);
        more
    }

    /// Reads the time steps of up to `count` samples.
    fn read_steps(&mut self, store: &Store<'_>, count: usize, flaws: &mut Flaws) -> Vec<i64> {
        let mut steps = Vec::with_capacity(count);
        if count == 0 {
            return steps;
        }
        if let Steps::Even { taken, count: all } = &mut self.steps {
            let Some((_, end)) = self.end else { return steps };
            let duration = i128::from(end.saturating_sub(self.start_ns).max(0));
            let time = |sample: u64| (duration * i128::from(sample) / i128::from(*all)) as i64;
            let samples = *taken..*taken + count as u64;
            steps.extend(samples.map(|i| time(i) - time(i.saturating_sub(1))));
            *taken += count as u64;
            return steps;
        }
        let mut before = match self.steps {
            Steps::Times(last) => Some(last.unwrap_or(self.start_ns)),
            _ => None,
        };
        self.times.read(store, |cursor, at| {
            let read = time(cursor);
            match read {
                None => flaws.add(FlawKind::Delta, at),
                Some((_, false)) => flaws.add(FlawKind::Rounded, at),
                Some(_) => {}
            }
            let read = read.map(|(time, _)| time);
            steps.push(match &mut before {
                None => read.unwrap_or(0),
                Some(before) => {
                    let time = read.unwrap_or(*before);
                    let step = time.checked_sub(std::mem::replace(before, time));
                    if step.is_none() {
                        flaws.add(FlawKind::Delta, at);
                    }
                    step.unwrap_or(0)
                }
            });
            steps.len() < count
        });
        if let Steps::Times(last) = &mut self.steps {
            *last = before;
        }
        steps
    }

    /// Reads lines and columns of the next `count` samples.
    fn read_positions(
        &mut self,
        store: &Store<'_>,
        count: usize,
        flaws: &mut Flaws,
    ) -> [Vec<i64>; 2] {
        let mut lists = [Vec::new(), Vec::new()];
        for (list, numbers) in self.positions.iter_mut().zip(&mut lists) {
            if !list.given || count == 0 {
                continue;
            }
            list.read(store, |cursor, at| {
                let number = cursor.integer();
                if number.is_none() {
                    flaws.add(FlawKind::Lines, at);
                    cursor.value();
                }
                numbers.push(number.unwrap_or(0));
                numbers.len() < count
            });
            if numbers.len() < count {
                flaws.add(FlawKind::Lines, list.start);
            }
        }
        lists
    }

    /// Counts samples without times and times without samples.
    pub(super) fn note_unpaired(&self, store: &Store<'_>) {
        let mut flaws = Flaws::default();
        let surplus = self.surplus + self.samples.count(store) + self.times.count(store);
        flaws.add_many(FlawKind::Unpaired, self.samples.start, surplus);
        self.note(&flaws);
    }
}
