//! B and E events as complete ones.
//!
//! An E ends the innermost B that is open on its thread and has its name and categories, in order of time, as
//! `merge --for devtools` has it. DevTools itself has one stack for the whole file, in its order
//! (devtools-semantics §8.1).

use crate::facts::{Lane, Record};

/// Open events of a thread among which that of an E is sought, so that no trace takes quadratic time.
const SOUGHT: usize = 4096;

/// What became of B and E events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// B events without an end: they last no time.
    pub unended: u64,
    /// E events that end nothing.
    pub lone_ends: u64,
}

/// Gives each B of a lane its duration, and takes the E events out. Cost: a sort, if the lane has any.
pub(crate) fn pair(records: &mut Vec<Record>) -> Pairs {
    let mut pairs = Pairs::default();
    if !records.iter().any(|record| matches!(record.phase(), b'B' | b'E')) {
        return pairs;
    }
    records.sort_by(|a, b| a.ts.total_cmp(&b.ts));
    let mut open: Vec<usize> = Vec::new();
    for at in 0..records.len() {
        match records[at].phase() {
            b'B' => {
                records[at].dur = 0.0;
                open.push(at);
            }
            b'E' => {
                let outer = open.len().saturating_sub(SOUGHT);
                let fits = |&begin: &usize| records[begin].kind == records[at].kind;
                match open[outer..].iter().rposition(fits) {
                    Some(found) => {
                        let begin = open.remove(outer + found);
                        records[begin].dur = records[at].ts - records[begin].ts;
                    }
                    None => pairs.lone_ends += 1,
                }
            }
            _ => {}
        }
    }
    pairs.unended = open.len() as u64;
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
