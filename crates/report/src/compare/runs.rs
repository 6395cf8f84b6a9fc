//! The times of a run by function. They come from tables, or from the saved tables of an earlier
//! run.

use super::keys::{Key, Keys};
use super::rules::Normalize;
use super::singles::{Each, IsWanted, Singles};
use super::spread::Spread;
use std::borrow::Borrow;
use std::collections::BTreeMap;
use tracemill_analysis::entries::walk::Visit;
use tracemill_analysis::profile::model::{Model, NONE, Node};
use tracemill_analysis::table::tree_rows::RowRoom;
use tracemill_analysis::tree::By;
use tracemill_analysis::tree::views::{TopDown, TopDownRules};
use tracemill_analysis::{GroupBy, Part, Query, Trace, TreeRow, View};
use tracemill_trace::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::threads::try_each;
use tracemill_trace::spill::hash::HashMap;

/// Times of a function in a run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunRow {
    pub(super) own: f64,
    pub(super) total: f64,
    pub(super) count: u64,
    /// Spreads of the self time and the total time, computed from samples or events.
    pub(super) spread: Option<[Spread; 2]>,
    pub(super) trace_name: String,
}

/// The times of a run, by function.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Busy time of all threads in milliseconds.
    pub busy: f64,
    /// Functions, sorted by key.
    pub(super) rows: Vec<(Key, RunRow)>,
}

impl Run {
    /// Returns the approximate heap size in bytes.
    pub fn heap(&self) -> u64 {
        let of_row = |(key, row): &(Key, RunRow)| heap_of([&key.name, &key.url, &row.trace_name]);
        self.rows.iter().map(of_row).sum()
    }

    /// Returns the milliseconds by which this run is scaled: its busy time, or the total time of
    /// the functions or events with a name. A run for which the result is 0 is not scaled.
    pub fn measure(&self, to: &Normalize) -> f64 {
        match to {
            Normalize::None => 1.0,
            Normalize::Busy => self.busy,
            Normalize::Event(name) => {
                let is_it =
                    |(key, row): &&(Key, RunRow)| [&key.name, &row.trace_name].contains(&name);
                let rows = self.rows.iter().filter(is_it);
                rows.map(|(_, row)| row.total).sum()
            }
        }
    }

    /// Creates a run from the rows of a call tree, or from the top rows of a bottom-up tree.
    pub fn new(
        busy: f64,
        rows: impl IntoIterator<Item: Borrow<TreeRow>>,
        is_call_tree: bool,
    ) -> Self {
        let mut sums = FunctionSums::new(is_call_tree);
        rows.into_iter().for_each(|row| sums.add(row.borrow()));
        sums.finish(busy)
    }

    /// Creates a run from the call trees of the threads with the given numbers. If the run is
    /// `alone` on its side, also computes the spread of its samples or events.
    ///
    /// # Errors
    /// Returns the errors of [`Trace::parts`].
    pub fn of(trace: &Trace, threads: &[usize], query: &Query, alone: bool) -> Result<Self, Error> {
        let samples = if alone { Samples::of(trace, threads) } else { Samples::default() };
        let room = RowRoom::new(trace.limits());
        let of_thread = |number: usize| {
            let is_wanted = |key: &Key| !samples.0.contains_key(key);
            let is_wanted: Option<IsWanted<'_>> = if alone { Some(&is_wanted) } else { None };
            call_tree_and_singles(trace, threads[number], query, &room, is_wanted)
        };
        let all = try_each(trace.limits().threads, threads.len(), of_thread)?;
        room.finish()?;
        let (parts, singles): (Vec<Part>, Vec<Vec<Each>>) = all.into_iter().unzip();
        let mut run = match trace.call_tree_of_all(parts, query.key)? {
            Some(part) => {
                // The comparison itself needs twice this memory in addition.
                let quota = trace.limits().quota("functions of a run", Share::of(1, 4));
                let mut sums = FunctionSums::new(true);
                for row in &part.table.rows {
                    sums.add(&row);
                    quota.check(sums.heap, "functions of runs")?;
                }
                sums.finish(part.busy())
            }
            None => Run::default(),
        };
        run.judge_by(&samples);
        for (key, [single, total]) in singles.into_iter().flatten() {
            if let Ok(at) = run.rows.binary_search_by(|single| single.0.cmp(&key)) {
                let spread = run.rows[at].1.spread.get_or_insert_default();
                spread[0].extend(single);
                spread[1].extend(total);
            }
        }
        Ok(run)
    }

    /// Adds the spreads of times from the samples of the threads with the given numbers. The
    /// standard deviation of a number of samples is taken as the square root of the number.
    pub fn add_samples(&mut self, trace: &Trace, threads: &[usize]) {
        self.judge_by(&Samples::of(trace, threads));
    }

    fn judge_by(&mut self, samples: &Samples) {
        for (key, row) in &mut self.rows {
            let Some(spread) = samples.0.get(key) else { continue };
            // If only part of a function's samples counts, the squares are reduced in proportion. A
            // time without samples counts as a single sample.
            let of = |spread: Spread, counted: f64| match spread.sum > 0.0 {
                true => spread.squares / spread.sum * counted.max(0.0),
                false => counted * counted,
            };
            let squares = [of(spread[0], row.own), of(spread[1], row.total)];
            row.spread = Some(squares.map(|squares| Spread {
                squares,
                is_sampled: true,
                ..Spread::default()
            }));
        }
    }
}

/// Returns the approximate heap size in bytes of a function whose name, URL and event name are
/// given.
fn heap_of(texts: [&str; 3]) -> u64 {
    /// Bytes of a function without its texts.
    const FUNCTION: usize = 256;
    (FUNCTION + texts.map(str::len).iter().sum::<usize>()) as u64
}

/// Sums the rows of a table by function.
struct FunctionSums {
    /// Whether the rows are a call tree. If so, recursive calls count only once in a function's
    /// total time.
    is_call_tree: bool,
    keys: Keys,
    rows: Vec<RunRow>,
    /// Number of open calls of each function.
    open: Vec<u32>,
    /// Indices of the functions on the path from the root to the last row.
    path: Vec<usize>,
    /// Approximate heap size of the functions in bytes.
    heap: u64,
}

impl FunctionSums {
    fn new(is_call_tree: bool) -> Self {
        FunctionSums {
            is_call_tree,
            keys: Keys::default(),
            rows: Vec::new(),
            open: Vec::new(),
            path: Vec::new(),
            heap: 0,
        }
    }

    /// Adds the next row. Rows must come depth first.
    fn add(&mut self, row: &TreeRow) {
        if !self.is_call_tree && row.depth > 0 {
            return;
        }
        let number = self.keys.number(row);
        if number == self.rows.len() {
            let trace_name = row.trace_name().unwrap_or_default().to_owned();
            let added = RunRow { trace_name, ..RunRow::default() };
            self.heap += heap_of([row.name(), &row.location.url, &added.trace_name]);
            self.rows.push(added);
            self.open.push(0);
        }
        while self.is_call_tree && self.path.len() > row.depth as usize {
            self.path.pop().into_iter().for_each(|left| self.open[left] -= 1);
        }
        let sums = &mut self.rows[number];
        sums.own += row.own;
        sums.count += row.count;
        if !self.is_call_tree || self.open[number] == 0 {
            sums.total += row.total;
        }
        if self.is_call_tree {
            self.open[number] += 1;
            self.path.push(number);
        }
    }

    fn finish(mut self, busy: f64) -> Run {
        let row = |(key, number): (Key, usize)| (key, std::mem::take(&mut self.rows[number]));
        let mut rows: Vec<(Key, RunRow)> = self.keys.numbers.into_iter().map(row).collect();
        rows.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Run { busy, rows }
    }
}

/// Spreads of the self time and the total time of each sampled function.
#[derive(Default)]
struct Samples(HashMap<Key, [Spread; 2]>);

impl Samples {
    fn of(trace: &Trace, threads: &[usize]) -> Self {
        let mut sums: HashMap<Key, [Spread; 2]> = HashMap::default();
        for model in threads.iter().filter_map(|&at| trace.threads[at].model()) {
            let by_node = weights(trace, model);
            // Distinct functions by number.
            let mut keys: BTreeMap<Key, usize> = BTreeMap::new();
            let mut numbers: HashMap<u32, usize> = HashMap::default();
            let mut all: Vec<[Spread; 2]> = Vec::new();
            for (node, spread) in (0..).zip(by_node).filter(|(_, spread)| spread.sum > 0.0) {
                let (mut at, mut path) = (node, Vec::new());
                while at != NONE {
                    let Node { frame, parent, .. } = model.node(at);
                    let number = *numbers.entry(frame).or_insert_with(|| {
                        let next = keys.len();
                        *keys.entry(Key::of_frame(&model.frame(at), trace.names())).or_insert(next)
                    });
                    all.resize(keys.len(), Default::default());
                    if path.is_empty() {
                        all[number][0].extend(spread);
                    }
                    if !path.contains(&number) {
                        all[number][1].extend(spread);
                    }
                    path.push(number);
                    at = parent;
                }
            }
            for (key, number) in keys {
                let [self_times, total] = sums.entry(key).or_default();
                self_times.extend(all[number][0]);
                total.extend(all[number][1]);
            }
        }
        Samples(sums)
    }
}

/// Returns the spread of the samples of each node of a profile.
fn weights(trace: &Trace, model: &Model) -> Vec<Spread> {
    let mut by_node = vec![Spread::default(); model.nodes.len()];
    let mut samples = trace.samples(model).peekable();
    while let Some(sample) = samples.next() {
        let weight = samples.peek().map_or(model.end, |next| next.ms) - sample.ms;
        let weight = trace.clock().ms(weight);
        let spread = by_node.get_mut(sample.node as usize);
        spread.filter(|_| weight > 0.0).into_iter().for_each(|spread| spread.add(weight));
    }
    by_node
}

/// Computes the call tree of a thread, and the spreads of the events of each wanted function.
fn call_tree_and_singles(
    trace: &Trace,
    at: usize,
    query: &Query,
    room: &RowRoom,
    is_wanted: Option<IsWanted<'_>>,
) -> Result<(Part, Vec<Each>), Error> {
    trace.limits().cancel.check()?;
    let track = trace.track(&trace.threads[at])?;
    let view = View::new(&track, query.rules);
    let ids = view.ids(GroupBy::None);
    let over = view.walked(query, &ids, false);
    let as_devtools = query.rules.as_devtools;
    let rules = TopDownRules { as_devtools, ..TopDownRules::default() };
    let mut tree = TopDown::new(&ids, &trace.space_of_rows(), rules);
    let mut singles = is_wanted.map(|filter| Singles::new(&view, &ids, as_devtools, filter));
    let mut visits: Vec<&mut dyn Visit> = vec![&mut tree];
    visits.extend(singles.as_mut().map(|single| single as &mut dyn Visit));
    view.walk(&over, &ids, &mut visits, &room.grown)?;
    let rows = tree.finish(over.window);
    let table = view.table(&rows, &ids, room, over.window, By::Total, usize::MAX)?;
    Ok((view.part(at, table), singles.map_or_else(Vec::new, Singles::finish)))
}
