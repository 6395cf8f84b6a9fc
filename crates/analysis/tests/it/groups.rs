//! Groups of calls to functions without a script.

use crate::common::recordings::read;
use crate::common::tables::query;
use serde_json::json;
use std::collections::BTreeMap;
use tracemill_analysis::{Entries, GroupBy, Query, Shape, ThreadChoice};
use tracemill_trace::Source;

/// Returns the self time of each group of a profile in which each function runs for 1 ms.
fn groups(by: GroupBy) -> BTreeMap<String, f64> {
    let urls =
        ["", "native V8Runtime", "node:fs", "file:///app/a.js?v=1", "/x/node_modules/p/i.js"];
    let node = |(id, url): (usize, &&str)| {
        json!({"id": id + 2, "callFrame": {"functionName": format!("f{id}"), "url": url,
               "scriptId": "7", "lineNumber": 1, "columnNumber": 1}})
    };
    let mut nodes: Vec<_> = urls.iter().enumerate().map(node).collect();
    let children: Vec<usize> = (2..nodes.len() + 2).collect();
    nodes.insert(
        0,
        json!({"id": 1, "callFrame": {"functionName": "(root)", "url": "", "scriptId": "0",
                      "lineNumber": -1, "columnNumber": -1}, "children": children}),
    );
    let deltas = vec![1000; children.len()];
    let end = 1000 * children.len();
    let profile = json!({"nodes": nodes, "startTime": 5000, "endTime": end + 6000,
                         "samples": children, "timeDeltas": deltas});
    let trace = read(&[Source::bytes("a.cpuprofile", profile.to_string().into_bytes())]);
    let query = Query { by, ..query(Shape::BottomUp { levels: 1 }, Entries::All, Vec::new()) };
    let parts = trace.parts(&trace.choose(&ThreadChoice::default()), &query).expect("room");
    let rows = parts[0].table.rows.iter().filter(|row| row.is_group);
    rows.map(|row| (row.name().to_owned(), row.total)).collect()
}

#[test]
fn functions_without_a_script_are_native() {
    let package = groups(GroupBy::Package);
    assert_eq!(
        package.into_iter().collect::<Vec<_>>(),
        [("[native]", 2.0), ("[no package]", 1.0), ("node:", 1.0), ("p", 1.0)]
            .map(|(name, ms)| (name.to_owned(), ms))
    );
    let file: Vec<String> = groups(GroupBy::File).into_keys().collect();
    assert_eq!(file, ["/x/node_modules/p/i.js", "[native]", "file:///app/a.js", "node:fs"]);
    // DevTools groups by URL otherwise.
    let url = groups(GroupBy::Url);
    assert_eq!((url["[unattributed]"], url["native V8Runtime"]), (1.0, 1.0));
}
