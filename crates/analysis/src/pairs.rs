//! B and E events as complete ones.
//!
//! An E ends the innermost B that is open on its thread and has its name and categories, as far as it has them, in order of time:
//! [`DevtoolsBegins`], as `merge --for devtools` has it. DevTools itself has one stack for the whole file, in its order
//! (devtools-semantics §8.1).

use crate::facts::{Lane, Record};
use crate::kinds::{Kind, NO_CAT};
use tracemill_core::pairing::DevtoolsBegins;

/// What became of B and E events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// B events without an end: they last no time.
    pub unended: u64,
    /// E events that end nothing.
    pub lone_ends: u64,
}

/// Gives each B of a lane its duration, and takes the E events out. Cost: a sort, if the lane has any.
pub(crate) fn pair(records: &mut Vec<Record>, kinds: &[Kind]) -> Pairs {
    let mut pairs = Pairs::default();
    if !records.iter().any(|record| matches!(record.phase(), b'B' | b'E')) {
        return pairs;
    }
    records.sort_by(|a, b| a.ts.total_cmp(&b.ts));
    let mut open = DevtoolsBegins::default();
    for at in 0..records.len() {
        let Kind { name, cat } = kinds[records[at].kind as usize];
        let has_cat = cat != NO_CAT;
        match records[at].phase() {
            b'B' => {
                records[at].dur = 0.0;
                // what has no category fits no end that has one
                open.begin(u64::from(name) + 1, u64::from(cat) + 2, at);
                pairs.unended += 1;
            }
            b'E' => {
                let name = (name != 0).then_some(u64::from(name) + 1);
                match open.end(name, has_cat.then_some(u64::from(cat) + 2)) {
                    Some(begin) => {
                        records[begin].dur = records[at].ts - records[begin].ts;
                        pairs.unended -= 1;
                    }
                    None => pairs.lone_ends += 1,
                }
            }
            _ => {}
        }
    }
    records.retain(|record| record.phase() != b'E');
    pairs
}

/// The same as DevTools does it.
pub(crate) fn pair_as_devtools(lanes: &mut [Lane]) {
    let mut marks: Vec<(u64, usize, usize)> = Vec::new();
    for (lane, own) in lanes.iter().enumerate() {
        let own = own.records.iter().enumerate();
        let own = own.filter(|(_, record)| matches!(record.phase(), b'B' | b'E'));
        marks.extend(own.map(|(at, record)| (record.number(), lane, at)));
    }
    marks.sort_unstable();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (_, lane, at) in marks {
        let record = lanes[lane].records[at];
        if record.phase() == b'B' {
            lanes[lane].records[at].dur = 0.0;
            open.push((lane, at));
        } else if let Some((of, begin)) = open.pop() {
            let begin = &mut lanes[of].records[begin];
            if begin.kind == record.kind {
                begin.dur = record.ts - begin.ts;
            }
        }
    }
    for lane in lanes {
        lane.records.retain(|record| record.phase() != b'E');
    }
}
