//! Compares `tree --json=nested` with the rows of `tree --json`.

use crate::support::{Folder, STACKS, testdata};
use serde_json::{Map, Value};

/// Returns the children of each row; index 0 has the roots.
fn below(rows: &[Map<String, Value>]) -> Vec<Vec<usize>> {
    let mut below = vec![Vec::new(); rows.len() + 1];
    for (at, row) in rows.iter().enumerate() {
        below[row["parent"].as_u64().map_or(0, |parent| parent as usize + 1)].push(at);
    }
    below
}

/// Returns the nodes of rows, each with its children.
fn nodes(
    (rows, below): (&[Map<String, Value>], &[Vec<usize>]),
    numbers: &[usize],
    value: &str,
) -> Vec<Value> {
    let mut all = Vec::new();
    for &at in numbers {
        let mut node = rows[at].clone();
        let label = node
            .remove("label")
            .filter(|label| label.as_str().is_some_and(|text| !text.is_empty()));
        node.insert("name".to_owned(), label.unwrap_or_else(|| node["id"].clone()));
        node.insert("value".to_owned(), node[value].clone());
        node.insert("children".to_owned(), nodes((rows, below), &below[at + 1], value).into());
        ["parent", "depth"].iter().for_each(|key| drop(node.remove(*key)));
        node.retain(|_, member| !member.is_null());
        all.push(Value::Object(node));
    }
    all
}

/// Builds the nested tree from the flat one, without names of parts.
fn nested_of(flat: &Value) -> Value {
    let value = if flat["view"] == "bottom-up" { "self_ms" } else { "total_ms" };
    let columns = flat["columns"].as_array().expect("columns");
    let named = |row: &Value| -> Map<String, Value> {
        let values = row.as_array().expect("a row");
        let name = |column: &Value| column.as_str().expect("a name").to_owned();
        columns.iter().map(name).zip(values.iter().cloned()).collect()
    };
    let mut root = flat.as_object().expect("a table").clone();
    let mut busy = 0.0;
    let mut parts = Vec::new();
    for part in root.remove("parts").and_then(|parts| parts.as_array().cloned()).expect("parts") {
        let mut part = part.as_object().expect("a part").clone();
        let rows = part.remove("rows").expect("rows");
        let rows: Vec<_> = rows.as_array().expect("rows").iter().map(named).collect();
        let number = |key: &str| part[key].as_f64().expect("a number");
        let self_free = number("total_ms") - number("self_ms");
        busy += self_free;
        part.insert("value".to_owned(), self_free.into());
        let below = below(&rows);
        let top = nodes((&rows, &below), &below[0], value);
        part.insert("children".to_owned(), top.into());
        parts.push(Value::Object(part));
    }
    root.remove("columns");
    root.insert("schema".to_owned(), "tracemill.nested/1".into());
    root.insert("name".to_owned(), "all".into());
    root.insert("value".to_owned(), busy.into());
    root.insert("children".to_owned(), parts.into());
    Value::Object(root)
}

/// Asserts that no node is smaller than the sum of its children, apart from rounding.
fn assert_room(node: &Value) -> usize {
    let value = |node: &Value| node["value"].as_f64().expect("a number");
    let below = node["children"].as_array().expect("children");
    let sum: f64 = below.iter().map(value).sum();
    assert!(sum <= value(node) + 1e-6 * value(node).abs().max(1.0), "{sum} in {}", node["name"]);
    1 + below.iter().map(assert_room).sum::<usize>()
}

#[test]
fn nested_nodes_match_the_flat_rows() {
    let folder = Folder::new().with("t.json", STACKS);
    let path = |name: &str| testdata().join(name).display().to_string();
    let inputs = [
        "t.json".to_owned(),
        path("node/trace.json"),
        path("node-cpu-prof"),
        path("chromium/trace.json.gz"),
        path("cases/unnamed.json"),
    ];
    let mut nodes = 0;
    for input in &inputs {
        for flags in [
            "",
            "--bottom-up --depth 3",
            "--log --depth 20",
            "--per all --min 1%",
            "--group-by category -n 7",
            "--bottom-up --group-by url --sort name",
        ] {
            // JSON readers limit the nesting depth
            let depth = if flags.contains("--depth") { "" } else { "--depth 30" };
            let words = format!("tree {input} {flags} {depth}");
            let read = |form: &str| -> Value {
                let stdout = folder.run(&format!("{words} {form}")).stdout;
                serde_json::from_str(&stdout).unwrap_or_else(|why| panic!("{words} {form}: {why}"))
            };
            let (expected, mut found) = (nested_of(&read("--json")), read("--json=nested"));
            nodes += assert_room(&found);
            for part in found["children"].as_array_mut().expect("parts") {
                let name = part.as_object_mut().and_then(|part| part.remove("name"));
                assert!(
                    name.is_some_and(|name| name.as_str().is_some_and(|text| !text.is_empty()))
                );
            }
            assert_eq!(found, expected, "{words}");
        }
    }
    assert!(nodes > 3000, "{nodes}");
}

#[test]
fn nested_trees_are_refused_as_baselines() {
    let folder = Folder::new().with("t.json", STACKS);
    assert_eq!(
        folder.run("tree t.json --json=rows").stdout,
        folder.run("tree t.json --json").stdout
    );
    folder.run("tree t.json --json=nested -o n.json").ends(0);
    folder
        .run("diff n.json t.json")
        .ends(2)
        .says(&["n.json: a table of tracemill.nested/1, and tracemill.tree/1 is read"]);
    let refused = |words: &str| folder.run(&format!("tree t.json {words}")).ends(2).stderr;
    assert!(refused("--json=deep").contains("rows, nested"));
    for excerpt in ["--peek a", "--heaviest"] {
        assert!(refused(&format!("--json {excerpt}")).contains("cannot be used with"));
    }
    folder.run("tree t.json --json=nested --format folded").ends(2);
}

#[test]
fn deep_trees_are_nested() {
    let deep = |at: u64| {
        let (ts, dur) = (at, 40_001 - 2 * at);
        format!(r#"{{"ph":"X","name":"f","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
    };
    let events: Vec<String> = (1..=20_000).map(deep).collect();
    let folder = Folder::new().with("deep.json", format!("[{}]", events.join(",\n")));
    let stdout = folder.run("tree deep.json --json=nested").ends(0).stdout;
    assert_eq!(stdout.matches("\"children\":[").count(), 20_002);
    assert_eq!(stdout.matches("]}").count(), 20_002);
    assert!(stdout.ends_with("]}\n"));
}
