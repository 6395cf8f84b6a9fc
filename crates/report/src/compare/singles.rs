//! Sums the self time and total time of each event by function. Looks up each function only once.

use super::keys::Key;
use super::spread::Spread;
use tracemill_analysis::View;
use tracemill_analysis::entries::Entry;
use tracemill_analysis::entries::walk::{Counted, Visit};
use tracemill_analysis::names::groups::{Ids, Named};
use tracemill_analysis::tree::NONE;
use tracemill_trace::Error;
use tracemill_trace::spill::hash::HashMap;

/// A function, and the spreads of its self time and total time in milliseconds.
pub(super) type Each = (Key, [Spread; 2]);

pub(super) type IsWanted<'w> = &'w dyn Fn(&Key) -> bool;

#[derive(Clone, Copy)]
struct Open {
    /// Index in `left` of this event. If DevTools does not find the event, index of its parent, or
    /// `NONE`.
    at: u32,
    /// Whether DevTools finds the children of the event.
    matched: bool,
    /// Whether `at` is the index of this event instead of its parent.
    is_own: bool,
}

/// Computes the spreads of events in one walk over a thread. Times are those of the event log.
pub(super) struct Singles<'v, 't> {
    view: &'v View<'t>,
    ids: &'v Ids<'t>,
    is_wanted: IsWanted<'v>,
    as_devtools: bool,
    /// The index of each function in `all`; `NONE` for a function that is not wanted.
    numbers: HashMap<Named, u32>,
    all: Vec<Each>,
    /// Number of open events of each function.
    depths: Vec<u32>,
    /// Function and remaining time of each open event, in milliseconds or exact nanoseconds. The
    /// function of the first element is [`NONE`].
    left: Vec<(u32, f64)>,
    open: Vec<Open>,
    /// Heap bytes allocated since the last call of [`Visit::grown`].
    grown: usize,
}

impl<'v, 't> Singles<'v, 't> {
    pub(super) fn new(
        view: &'v View<'t>,
        ids: &'v Ids<'t>,
        as_devtools: bool,
        is_wanted: IsWanted<'v>,
    ) -> Self {
        Singles {
            view,
            ids,
            is_wanted,
            as_devtools,
            numbers: HashMap::default(),
            all: Vec::new(),
            depths: Vec::new(),
            left: vec![(NONE, 0.0)],
            open: vec![Open { at: 0, matched: true, is_own: false }],
            grown: 0,
        }
    }

    pub(super) fn finish(self) -> Vec<Each> {
        self.all
    }

    fn number(&mut self, entry: &Entry) -> u32 {
        let named = self.ids.named(entry);
        if let Some(&known) = self.numbers.get(&named) {
            return known;
        }
        let key = Key::of_entry(entry, self.view, self.ids);
        let mut number = NONE;
        if (self.is_wanted)(&key) {
            number = self.all.len() as u32;
            self.all.push((key, Default::default()));
            self.depths.push(0);
        }
        /// Heap bytes of a table entry with a key, its texts and its sums.
        const FUNCTION: usize = 280;
        self.grown += FUNCTION;
        self.numbers.insert(named, number);
        number
    }

    /// Adds the total time of an event, unless an event of the same function is open.
    fn add_total(&mut self, number: u32, sum: f64) {
        if self.depths.get(number as usize) == Some(&0) {
            self.all[number as usize].1[1].add(self.view.trace().clock().ms(sum));
        }
    }

    fn add_own(&mut self, number: u32, sum: f64) {
        if let Some((_, [self_times, _])) = self.all.get_mut(number as usize) {
            self_times.add(self.view.trace().clock().ms(sum));
        }
    }
}

impl Visit for Singles<'_, '_> {
    fn grown(&mut self) -> Result<u64, Error> {
        Ok(std::mem::take(&mut self.grown) as u64)
    }

    fn start(&mut self, Counted { entry, written }: &Counted, sum: f64) {
        let parent = self.open[self.open.len() - 1];
        if entry.dur < 0.0 && self.as_devtools {
            return self.open.push(Open { is_own: false, ..parent });
        }
        if let Some((_, left)) = self.left.get_mut(parent.at as usize) {
            *left -= sum;
        }
        let is_own = parent.at != NONE && parent.matched;
        let at = if is_own { self.left.len() as u32 } else { NONE };
        if is_own {
            let number = self.number(written);
            self.left.push((number, sum));
            self.add_total(number, sum);
            self.depths.get_mut(number as usize).into_iter().for_each(|depth| *depth += 1);
        }
        let matched = !self.as_devtools || entry.end() != 0.0 && !entry.end().is_nan();
        self.open.push(Open { at, matched, is_own });
    }

    fn end(&mut self, _own: &Counted, _sum: f64) {
        if self.open.pop().is_some_and(|open| open.is_own)
            && let Some((number, sum)) = self.left.pop()
        {
            self.depths.get_mut(number as usize).into_iter().for_each(|depth| *depth -= 1);
            self.add_own(number, sum);
        }
    }

    fn instant(&mut self, counted: &Counted) {
        let parent = self.open[self.open.len() - 1];
        if parent.at != NONE && parent.matched {
            let number = self.number(&counted.written);
            self.add_total(number, 0.0);
            self.add_own(number, 0.0);
        }
    }
}
