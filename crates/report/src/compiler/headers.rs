//! Included files: the total time of all inclusions of each file, and the include chains of its
//! longest inclusions.

use super::nested::{Event, Nested};
use super::sums::{Costs, Rows, Sum};
use crate::found::{Chain, Header};
use tracemill_analysis::Trace;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// Maximum number of include chains that are reported for a header.
const CHAINS: usize = 5;

struct Best {
    path: u32,
    sum: Sum,
    /// The longest inclusions: duration in ticks (time units of the trace's clock), and the files
    /// of the include chain.
    chains: Vec<(f64, Vec<String>)>,
}

/// All headers, by the number of their path.
#[derive(Default)]
pub(super) struct Headers {
    costs: Costs<u32>,
    /// Headers that a source includes directly.
    roots: HashSet<u32>,
    best: Vec<Best>,
    places: HashMap<u32, usize>,
}

impl Headers {
    /// Adds the inclusion that was entered last, if the file is a header.
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

    /// Selects the headers with the most time.
    pub(super) fn choose(&mut self, trace: &Trace, rows: usize) {
        let is_root = |root: &u32| self.roots.contains(root);
        let best = self.costs.best(rows, is_root, |&path| trace.names().text(path));
        self.best =
            best.into_iter().map(|(&path, &sum)| Best { path, sum, chains: Vec::new() }).collect();
        self.places = self.best.iter().enumerate().map(|(at, header)| (header.path, at)).collect();
    }

    /// Keeps the include chain of the inclusion that was entered last, if it is one of the longest
    /// of its header.
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
