//! Trees with more rows than the budget are the same as within a large budget.

use crate::common::many_rows::{many_rows, query, read, tables};
use crate::common::tables::parts;
use std::sync::Arc;
use tracemill_analysis::{Part, Per, RowKey, RowLimit, RowOrder, RowThreshold, Shape};

fn rows(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.table.rows.len()).sum()
}

#[test]
fn tables_do_not_depend_on_the_budget() {
    let text: Arc<[u8]> = many_rows().into_bytes().into();
    let [small, large] = [32 << 20, 4 << 30].map(|memory| read(&text, memory));
    let all = RowLimit::default();
    let some = RowLimit { depth: 2, least: RowThreshold::Percent(0.02), rows: 200 };
    for (query, limit, least) in [
        (query(Shape::CallTree, Per::Thread, None), all, 170_000),
        (query(Shape::CallTree, Per::All, None), all, 160_000),
        (query(Shape::CallTree, Per::Process, Some(RowKey::Function)), some, 100),
        (query(Shape::Log, Per::All, None), all, 170_000),
    ] {
        let [few, many] = [&small, &large].map(|trace| tables(trace, &query, limit));
        assert!(rows(&few) > least, "{query:?}: {}", rows(&few));
        for (few, many) in few.iter().zip(&many) {
            assert!(few.table == many.table && few.threads == many.threads, "{query:?}");
        }
        assert_eq!(few.len(), many.len());
    }
    let [mut few, mut many] = [&small, &large].map(|trace| parts(trace, Per::All));
    let order = RowOrder::Name;
    assert!(small.sort(&mut few, order).is_ok() && large.sort(&mut many, order).is_ok());
    let (few, many) = (&few[0].table, &many[0].table);
    assert!(few == many && few.heaviest(None) == many.heaviest(None));
    let peek = few.peek("f7").expect("it is there");
    assert_eq!(Some(peek), many.peek("f7"));
}
