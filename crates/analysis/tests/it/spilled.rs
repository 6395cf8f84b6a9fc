//! Trees of more rows than the budget has room for: they are what they are with room for all.

use crate::export::parts;
use std::fmt::Write as _;
use std::sync::Arc;
use tracemill_analysis::{
    ChangeRules, Entries, ExportForm, GroupBy, Order, Part, Per, Picks, Picture, PictureRules,
    Query, ReadRules, RowKey, RowLimit, RowOrder, RowThreshold, Shape, TableRules, ThreadChoice,
    Times, Trace,
};
use tracemill_join::config::Config;
use tracemill_trace::Source;

/// Names at each of three levels: of few names there are many paths.
const NAMES: [u64; 3] = [60, 60, 45];

/// Two threads, of which the first has a call tree of more than 160,000 rows, the other one of a tenth.
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

fn read(text: &Arc<[u8]>, memory: u64) -> Trace {
    let config = Config::new(2, memory, std::env::temp_dir());
    let source = Source::bytes("many.json", Arc::clone(text));
    let rules = ReadRules { times: Times::Exact, ..ReadRules::default() };
    Trace::read(&[source], rules, &config).expect("it is a trace")
}

fn query(shape: Shape, per: Per, key: Option<RowKey>) -> Query {
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

fn tables(trace: &Trace, query: &Query, limit: RowLimit) -> Vec<Part> {
    let threads = trace.choose(&ThreadChoice::default());
    trace.parts_within(&threads, query, limit).expect("room on disk")
}

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

/// All that is made of the tables of a trace, by what it is.
fn made(trace: &Trace) -> Vec<(String, Vec<u8>)> {
    let all = RowLimit::default();
    let tree = tables(trace, &query(Shape::CallTree, Per::Thread, None), all);
    let log = tables(trace, &query(Shape::Log, Per::Thread, None), all);
    let mut made = Vec::new();
    for form in ExportForm::ALL {
        let mut out = Vec::new();
        let trees = trace.export(&tree, form, 1000).expect("room");
        trees.write(&mut out).expect("memory takes it");
        made.push((form.name().to_owned(), out));
    }
    let mut draw = |name: &str, picture: Picture| {
        let mut out = Vec::new();
        picture.write_svg(&mut out).expect("memory takes it");
        made.push((name.to_owned(), out));
    };
    let rules = PictureRules::default();
    draw("by total", trace.picture(&tree, rules).expect("room"));
    let by_name = PictureRules { order: Order::Name, most: 100, ..rules };
    draw("by name", trace.picture(&tree, by_name).expect("room"));
    let by_time = PictureRules { order: Order::Time, depth: 2, ..rules };
    draw("by time", trace.picture(&log, by_time).expect("room"));
    draw("sandwich", trace.sandwich(&tree[1..], "f7", rules).expect("room").expect("it is there"));
    let (some, change) = (&tree[1..], ChangeRules { normalize: true, ..ChangeRules::default() });
    draw("changes", trace.differential(some, trace, some, rules, change).expect("room"));
    made
}

#[test]
fn exports_and_pictures_do_not_depend_on_the_budget() {
    let text: Arc<[u8]> = many_rows().into_bytes().into();
    let [small, large] = [32 << 20, 4 << 30].map(|memory| made(&read(&text, memory)));
    for ((name, few), (_, many)) in small.iter().zip(&large) {
        assert!(few == many && few.len() > 10_000, "{name}: {} {}", few.len(), many.len());
    }
    assert_eq!(small.len(), large.len());
}
