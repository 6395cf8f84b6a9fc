//! `top`, `tree` and `calls` as users run them.

use crate::support::Folder;
use serde_json::Value;

/// Two threads: `a` around `b` twice, and `b` alone.
const TRACE: &str = r#"[
{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000,"dur":9000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":2000,"dur":3000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":6000,"dur":1000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":2,"ts":1000,"dur":500}]"#;

fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::write(folder.path("t.json"), TRACE).expect("a file");
    folder
}

#[test]
fn top_adds_threads_and_says_what_it_counts() {
    let folder = folder();
    let said = folder.run("top t.json").ends(0).stdout;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "2 threads of 1 process: 9.50 ms busy of 18.00 ms (52.8 %)");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[2]), ["5.00", "52.6", "9.00", "94.7", "1", "a"]);
    assert_eq!(words(lines[3]), ["4.50", "47.4", "4.50", "47.4", "3", "b"]);
    let csv = folder.run("top --csv --per thread t.json").ends(0).stdout;
    assert!(
        csv.lines().any(|line| line.starts_with("0,0.5,0.5,100,100,1,0,b,,,,other,1,2,")),
        "{csv}"
    );
}

#[test]
fn trees_have_every_bit_in_json() {
    let folder = folder();
    let said = folder.run("tree --json --tid 1 t.json").ends(0).stdout;
    let tree: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(tree["schema"], "tracemill.tree/1");
    let rows = tree["parts"][0]["rows"].as_array().expect("rows");
    let row = |at: usize| (&rows[at][0], &rows[at][2], &rows[at][4], &rows[at][5], &rows[at][6]);
    assert_eq!(row(0), (&Value::Null, &"a".into(), &5.0.into(), &9.0.into(), &1.into()));
    assert_eq!(row(1), (&0.into(), &"b".into(), &4.0.into(), &4.0.into(), &2.into()));
    let log = folder.run("tree --log --tid 1 --from 4ms --duration 1500us t.json").ends(0).stdout;
    assert!(log.contains("├─ b") && log.contains("└─ b"), "{log}");
    let peek = folder.run("tree --peek b --per all t.json").ends(0).stdout;
    assert!(peek.contains("calls it"), "{peek}");
}

#[test]
fn calls_are_rows_of_the_flame_chart() {
    let folder = folder();
    let said = folder.run("calls --tid 1 t.json").ends(0).stdout;
    let rows: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[2].to_string(), r#"[1,"E","b",2000.0,3000.0,3000.0,"r-1"]"#);
}

#[test]
fn what_is_not_there_is_told() {
    let folder = folder();
    folder.run("top --tid 9 t.json").ends(1).says(&["nothing of what was asked for"]);
    folder.run("tree --from 1s t.json").ends(2).says(&["--to is before --from"]);
    std::fs::write(folder.path("b.json"), r#"[{"ph":"B","name":"x","pid":1,"tid":1,"ts":1},{"ph":"E","pid":1,"tid":1,"ts":2,"name":"y"},{"ph":"X","name":"n"}]"#)
        .expect("a file");
    let run = folder.run("top b.json").ends(1);
    for said in ["1 begin", "1 end", "1 event without a time"] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}
