//! Files that are included: how long all inclusions take, and by which others the longest came.

use super::nested::{Event, Nested};
use super::sums::{Costs, Rows, Sum};
use crate::found::{Chain, Header};
use tracemill_analysis::Trace;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// Chains of a header that are told.
const CHAINS: usize = 5;

/// A header of much time.
struct Best {
    path: u32,
    sum: Sum,
    /// The longest of its inclusions: ticks, and the files.
    chains: Vec<(f64, Vec<String>)>,
}

/// All headers, by the numbers of their paths.
#[derive(Default)]
pub(super) struct Headers {
    costs: Costs<u32>,
    /// Those that a source includes itself.
    roots: HashSet<u32>,
    /// Those of most time.
    best: Vec<Best>,
    places: HashMap<u32, usize>,
}

impl Headers {
    /// Adds the file that was entered last, if it is a header.
    pub(super) fn add(
        &mut self,
        event: &Event,
        nested: &Nested<'_>,
        room: &Quota,
    ) -> Result<(), Error> {
        let (is_header, is_root) = nested.header();
        if !is_header {
            return Ok(());
        }
        if is_root {
            self.roots.insert(event.text);
        }
        self.costs.add(event.text, Sum::of(event, nested.path()), room)
    }

    pub(super) fn len(&self) -> u64 {
        self.costs.len()
    }

    /// Chooses those of most time.
    pub(super) fn choose(&mut self, trace: &Trace, rows: usize) {
        let is_root = |own: &u32| self.roots.contains(own);
        let best = self.costs.best(rows, is_root, |&path| trace.names().text(path));
        self.best =
            best.into_iter().map(|(&path, &sum)| Best { path, sum, chains: Vec::new() }).collect();
        self.places = self.best.iter().enumerate().map(|(at, own)| (own.path, at)).collect();
    }

    /// Keeps how the file that was entered last came to be included, if that took long.
    pub(super) fn follow(&mut self, event: &Event, nested: &Nested<'_>) {
        let Some(&place) = self.places.get(&event.text) else { return };
        let chains = &mut self.best[place].chains;
        let at = chains.partition_point(|chain| chain.0 >= event.dur);
        if at < CHAINS {
            chains.insert(at, (event.dur, nested.chain()));
            chains.truncate(CHAINS);
        }
    }

    pub(super) fn finish(self, rows: &Rows<'_>) -> Vec<Header> {
        let clock = rows.trace.clock();
        let chain = |(total, files): (f64, Vec<String>)| Chain { files, total: clock.ms_of(total) };
        let header = |best: Best| Header {
            costly: rows.row(rows.trace.names().text(best.path), &best.sum),
            chains: best.chains.into_iter().map(chain).collect(),
        };
        self.best.into_iter().map(header).collect()
    }
}
