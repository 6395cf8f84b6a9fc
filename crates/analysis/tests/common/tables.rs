//! Queries for tables.

use tracemill_analysis::{
    Entries, GroupBy, Part, Per, Picks, Query, Shape, TableRules, ThreadChoice, Trace, Window,
};

pub(crate) fn query(shape: Shape, entries: Entries, windows: Vec<Window>) -> Query {
    let rules = TableRules { entries, as_devtools: false };
    let (by, per, picks) = (GroupBy::None, Per::Thread, Picks::default());
    Query { shape, by, rules, per, windows, picks, key: None }
}

/// The call trees of all threads.
pub(crate) fn parts(trace: &Trace, per: Per) -> Vec<Part> {
    let query = Query { per, ..query(Shape::CallTree, Entries::Visible, Vec::new()) };
    trace.parts(&trace.choose(&ThreadChoice::default()), &query).expect("room")
}
