//! Exports and pictures of more rows than the budget has room for: they are what they are with room for all.

use crate::common::many_rows::{many_rows, query, read, tables};
use std::sync::Arc;
use tracemill_analysis::{Per, RowLimit, Shape, Trace};
use tracemill_export::{
    ChangeRules, ExportForm, Order, Picture, PictureRules, differential, export, picture, sandwich,
};

/// Returns all outputs computed from the tables of a trace, by name.
fn exports(trace: &Trace) -> Vec<(String, Vec<u8>)> {
    let all = RowLimit::default();
    let tree = tables(trace, &query(Shape::CallTree, Per::Thread, None), all);
    let log = tables(trace, &query(Shape::Log, Per::Thread, None), all);
    let mut files = Vec::new();
    for form in ExportForm::ALL {
        let mut out = Vec::new();
        let trees = export(trace, &tree, form, 1000).expect("room");
        trees.write(&mut out).expect("memory takes it");
        files.push((form.name().to_owned(), out));
    }
    let mut draw = |name: &str, picture: Picture| {
        let mut out = Vec::new();
        picture.write_svg(&mut out).expect("memory takes it");
        files.push((name.to_owned(), out));
    };
    let rules = PictureRules::default();
    draw("by total", picture(trace, &tree, rules).expect("room"));
    let by_name = PictureRules { order: Order::Name, most: 100, ..rules };
    draw("by name", picture(trace, &tree, by_name).expect("room"));
    let by_time = PictureRules { order: Order::Time, depth: 2, ..rules };
    draw("by time", picture(trace, &log, by_time).expect("room"));
    draw("sandwich", sandwich(trace, &tree[1..], "f7", rules).expect("room").expect("it is there"));
    let (some, change) = (&tree[1..], ChangeRules { normalize: true, ..ChangeRules::default() });
    draw("changes", differential(trace, some, trace, some, rules, change).expect("room"));
    files
}

#[test]
fn exports_and_pictures_do_not_depend_on_the_budget() {
    let text: Arc<[u8]> = many_rows().into_bytes().into();
    let [small, large] = [32 << 20, 4 << 30].map(|memory| exports(&read(&text, memory)));
    for ((name, few), (_, many)) in small.iter().zip(&large) {
        assert!(few == many && few.len() > 10_000, "{name}: {} {}", few.len(), many.len());
    }
    assert_eq!(small.len(), large.len());
}
