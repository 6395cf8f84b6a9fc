//! What a run took, by function: of tables that were just made, or that an earlier run left.

use crate::rows::TreeRow;
use crate::trace::Trace;
use crate::urls::without_hashes;
use std::collections::BTreeMap;
use tracemill_core::hash::HashMap;

/// Which function: its name, its URL as builds share it, its line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) line: Option<i64>,
}

impl Key {
    fn of(row: &TreeRow) -> Self {
        let name = row.name();
        let (url, line) = (without_hashes(&row.location.url), row.location.line);
        Key { name: name.to_owned(), url, line }
    }
}

/// A function of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunRow {
    pub(super) own: f64,
    pub(super) total: f64,
    pub(super) count: u64,
    /// The variance of its own time that its samples leave.
    pub(super) variance: Option<f64>,
    /// Own times of its single events.
    pub(super) each: Vec<f64>,
}

/// A run, by function.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Milliseconds in which anything is open, of all threads.
    pub busy: f64,
    pub(super) rows: BTreeMap<Key, RunRow>,
}

impl Run {
    /// Of a call tree, or of the upper rows of a bottom-up tree, which are functions already.
    pub fn new(busy: f64, rows: &[TreeRow], is_call_tree: bool) -> Self {
        let mut run = Run { busy, ..Run::default() };
        let mut path: Vec<Key> = Vec::new();
        let mut open: HashMap<Key, u32> = HashMap::default();
        for row in rows {
            let key = Key::of(row);
            if !is_call_tree && row.depth > 0 {
                continue;
            }
            while is_call_tree && path.len() > row.depth as usize {
                let left = path.pop().unwrap_or_default();
                open.entry(left).and_modify(|count| *count -= 1);
            }
            let own = run.rows.entry(key.clone()).or_default();
            own.own += row.own;
            own.count += row.count;
            let within = open.entry(key.clone()).or_default();
            if !is_call_tree || *within == 0 {
                own.total += row.total;
            }
            if is_call_tree {
                *within += 1;
                path.push(key);
            }
        }
        run
    }

    /// Adds own times of single events, of a log: those without samples are judged by them.
    pub fn add_events(&mut self, log: &[TreeRow]) {
        for row in log {
            if let Some(own) = self.rows.get_mut(&Key::of(row)).filter(|own| own.variance.is_none())
            {
                own.each.push(row.own);
            }
        }
    }

    /// Learns from the samples of threads, given by their numbers, how far own times can be trusted. A function that was seen in n samples may as
    /// well have been seen in more or fewer, by the root of n.
    pub fn add_samples(&mut self, trace: &Trace, threads: &[usize]) {
        let mut sums: HashMap<Key, (f64, f64)> = HashMap::default();
        for model in threads.iter().filter_map(|&at| trace.threads[at].model.as_ref()) {
            let mut by_node: Vec<(f64, f64)> = vec![(0.0, 0.0); model.nodes.len()];
            let mut samples = trace.samples.range(model.span.range.clone()).peekable();
            while let Some(sample) = samples.next() {
                let weight = samples.peek().map_or(model.end, |next| next.ms) - sample.ms;
                if let Some(own) = by_node.get_mut(sample.node as usize).filter(|_| weight > 0.0) {
                    own.0 += weight;
                    own.1 += weight * weight;
                }
            }
            for (node, (sum, squares)) in (0..).zip(by_node) {
                if sum <= 0.0 {
                    continue;
                }
                let frame = model.frame(node);
                let name = match trace.names.text(frame.function) {
                    name if name.is_empty() => "(anonymous)".to_owned(),
                    name => name,
                };
                let url = without_hashes(&trace.names.text(frame.url));
                let line =
                    trace.names.text(frame.line).parse().ok().filter(|&line: &i64| line >= 0);
                let own = sums.entry(Key { name, url, line }).or_default();
                own.0 += sum;
                own.1 += squares;
            }
        }
        for (key, row) in &mut self.rows {
            // what counts may be less than all samples: its variance is that share of theirs
            if let Some((sum, squares)) = sums.get(key) {
                row.variance = Some(squares / sum * row.own.max(0.0));
            }
        }
    }
}
