//! A trace whose trees have more rows than a small budget has room for.

use std::fmt::Write as _;
use std::sync::Arc;
use tracemill_analysis::{
    Entries, GroupBy, Part, Per, Picks, Query, ReadRules, RowKey, RowLimit, Shape, TableRules,
    ThreadChoice, Times, Trace,
};
use tracemill_join::config::Config;
use tracemill_trace::Source;

/// Number of names at each of three levels, which give many paths.
const NAMES: [u64; 3] = [60, 60, 45];

/// Returns two threads: one with a call tree of more than 160,000 rows, the other of a tenth.
pub(crate) fn many_rows() -> String {
    let mut text = String::from("[");
    for tid in [1, 2] {
        let mut start = 0;
        for path in (0..NAMES[0] * NAMES[1]).filter(|path| tid == 1 || path % 10 == 0) {
            let (first, second) = (path / NAMES[1], path % NAMES[1]);
            let len = 2 * NAMES[2] + path % 7;
            let mut push = |name: u64, ts: u64, dur: u64| {
                let _ = write!(
                    text,
                    "{{\"ph\":\"X\",\"name\":\"f{name}\",\"cat\":\"c\",\"pid\":1,\"tid\":{tid},\"ts\":{ts},\"dur\":{dur}}},"
                );
            };
            push(first, start, len);
            push(second, start, len);
            (0..NAMES[2]).for_each(|at| push(at, start + 2 * at, 1 + (path + at * tid) % 2));
            start += len + path % 3;
        }
    }
    text.pop();
    text + "]"
}

pub(crate) fn read(text: &Arc<[u8]>, memory: u64) -> Trace {
    let config = Config::new(2, memory, std::env::temp_dir());
    let source = Source::bytes("many.json", Arc::clone(text));
    let rules = ReadRules { times: Times::Exact, ..ReadRules::default() };
    Trace::read(&[source], rules, &config).expect("it is a trace")
}

pub(crate) fn query(shape: Shape, per: Per, key: Option<RowKey>) -> Query {
    Query {
        shape,
        by: GroupBy::None,
        rules: TableRules { entries: Entries::Visible, as_devtools: false },
        per,
        windows: Vec::new(),
        picks: Picks::default(),
        key,
    }
}

pub(crate) fn tables(trace: &Trace, query: &Query, limit: RowLimit) -> Vec<Part> {
    let threads = trace.choose(&ThreadChoice::default());
    trace.parts_within(&threads, query, limit).expect("room on disk")
}
