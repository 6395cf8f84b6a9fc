//! Tables of analyses, against the verbs that show the same.

use crate::support::{Knobs, rows, rows_with};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tracemill_testkit::Folder;

fn recording(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

const CHROMIUM: &str = "chromium/trace.json.gz";
const PYTORCH: &str = "pytorch/rank-0.json";

/// Returns the standard output of a verb of the program.
fn verb(words: &[&str], file: &PathBuf) -> String {
    let folder = Folder::new();
    let (verb, rest) = words.split_first().unwrap();
    let mut command = folder.program(env!("CARGO_BIN_EXE_tracemill-query"), verb);
    command.env_remove("TRACEMILL_VERSION").args(rest).arg(file).arg("-q");
    folder.run(&mut command).stdout
}

#[test]
fn calls_are_those_that_the_verb_writes() {
    let file = recording(CHROMIUM);
    let folder = Folder::new().with("calls.json", verb(&["calls"], &file));
    let written = rows(
        &folder.path("calls.json"),
        "SELECT ts_ns, dur_ns, pid, tid, name, args->>'url' AS url, (args->>'line')::bigint AS l, \
         (args->>'node')::bigint AS n FROM events WHERE cat = 'v8.calls' ORDER BY 1, 2 DESC, 8",
    );
    // the verb names functions without a name
    let computed = rows(
        &file,
        "SELECT c.ts, c.dur, t.pid, t.tid, CASE c.name WHEN '' THEN '(anonymous)' ELSE c.name END, \
         nullif(c.url, '') AS url, c.line AS l, c.node AS n \
         FROM call c JOIN (SELECT DISTINCT utid, pid, tid FROM events) t ON t.utid = c.utid \
         ORDER BY 1, 2 DESC, 8",
    );
    assert!(written.len() > 50, "{}", written.len());
    assert_eq!(computed, written);
}

#[test]
fn self_times_of_calls_are_what_calls_within_leave() {
    let file = recording(CHROMIUM);
    let calls = rows(&file, "SELECT id, parent_id, dur, self_dur, depth FROM call ORDER BY id");
    let mut within: BTreeMap<i64, i64> = BTreeMap::new();
    let depths: BTreeMap<i64, i64> =
        calls.iter().map(|row| (row[0].as_i64().unwrap(), row[4].as_i64().unwrap())).collect();
    for row in &calls {
        if let Some(parent) = row[1].as_i64() {
            *within.entry(parent).or_default() += row[2].as_i64().unwrap();
            assert!(depths[&parent] < row[4].as_i64().unwrap(), "{row:?}");
        }
    }
    for row in calls {
        let [id, dur, self_dur] = [0, 2, 3].map(|at| row[at].as_i64().unwrap());
        // events may lie within too
        assert!(self_dur <= dur - within.get(&id).copied().unwrap_or(0), "{row:?}");
    }
}

#[test]
fn initiators_and_stacks_are_those_of_show() {
    for name in [CHROMIUM, PYTORCH] {
        let file = recording(name);
        let shown = verb(&["show", "--causes"], &file);
        let (mut initiators, mut frames) = (Vec::new(), Vec::new());
        for line in shown.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let key = |value: &Value| value.as_str().map(str::to_owned);
            if !row["initiator"].is_null() {
                initiators.push(json!([key(&row["event"]), key(&row["initiator"])]));
            }
            let levels = std::iter::once(&row["stack"]);
            let parents = row["parents"].as_array().into_iter().flatten();
            let levels = levels.chain(parents.map(|parent| &parent["frames"]));
            for (level, sites) in levels.enumerate() {
                for site in sites.as_array().into_iter().flatten() {
                    frames.push(json!([key(&row["event"]), level, site[0], site[1], site[2]]));
                }
            }
        }
        assert!(!initiators.is_empty(), "{name}");
        let found = rows(&file, "SELECT event_key, initiator_key FROM initiator");
        let found: Vec<Value> = found.into_iter().map(Value::Array).collect();
        assert_eq!(found, initiators, "{name}");
        let found = rows(&file, "SELECT event_key, level, name, url, line FROM stack");
        let found: Vec<Value> = found.into_iter().map(Value::Array).collect();
        assert_eq!(found, frames, "{name}");
    }
}

#[test]
fn ids_of_initiators_are_those_of_events_in_all_inputs() {
    let text = r#"[{"ph":"X","name":"TimerInstall","cat":"c","pid":1,"tid":1,"ts":1,"dur":1,"args":{"data":{"timerId":7}}},
        {"ph":"X","name":"TimerFire","cat":"c","pid":1,"tid":1,"ts":9,"dur":5,"args":{"data":{"timerId":7}}}]"#;
    let folder = Folder::new().with("a.json", text).with("b.json", text);
    let files = [folder.path("a.json"), folder.path("b.json")];
    let sql = "SELECT event_id, event_name, initiator_id FROM initiator ORDER BY 1";
    let second = 1_i64 << 40;
    assert_eq!(
        rows_with(&files, sql, Knobs::default()),
        [
            vec![json!(1), json!("TimerFire"), json!(0)],
            vec![json!(second + 1), json!("TimerFire"), json!(second)]
        ]
    );
}

#[test]
fn samples_are_those_of_the_profiles() {
    let file = recording(CHROMIUM);
    let listed: Value = serde_json::from_str(&verb(&["profile", "list", "--json"], &file)).unwrap();
    let listed = listed["profiles"].as_array().unwrap().iter();
    let mut counts: Vec<i64> = listed.map(|profile| profile["samples"].as_i64().unwrap()).collect();
    counts.sort_unstable();
    let sql = "SELECT count(*) AS n FROM stack_sample GROUP BY profile_id ORDER BY n";
    let found: Vec<i64> = rows(&file, sql).iter().map(|row| row[0].as_i64().unwrap()).collect();
    assert_eq!(found, counts);
    let sql = "SELECT samples AS n FROM profile ORDER BY n";
    let found: Vec<i64> = rows(&file, sql).iter().map(|row| row[0].as_i64().unwrap()).collect();
    assert_eq!(found, counts);
    // call sites and functions of all samples are there, and parents come from the same profile
    let sql = "SELECT count(*) AS n, count(c.id) AS sites, count(f.id) AS frames \
               FROM stack_sample s LEFT JOIN stack_profile_callsite c ON c.id = s.callsite_id \
               LEFT JOIN stack_profile_frame f ON f.id = c.frame_id AND f.profile_id = s.profile_id";
    let total: i64 = counts.iter().sum();
    assert_eq!(rows(&file, sql), [vec![json!(total), json!(total), json!(total)]]);
    let sql = "SELECT count(*) AS n FROM stack_profile_callsite c \
               JOIN stack_profile_callsite p ON p.id = c.parent_id \
               WHERE p.depth + 1 <> c.depth OR p.profile_id <> c.profile_id";
    assert_eq!(rows(&file, sql), [vec![json!(0)]]);
}

#[test]
fn tables_of_analyses_do_not_depend_on_threads_and_memory() {
    let file = [recording(CHROMIUM)];
    for sql in [
        "SELECT * FROM call",
        "SELECT * FROM initiator",
        "SELECT * FROM stack",
        "SELECT * FROM stack_sample LIMIT 9000",
    ] {
        let expected = rows_with(&file, sql, Knobs::default());
        assert!(!expected.is_empty(), "{sql}");
        for (threads, memory) in [(1, 32 << 20), (7, 256 << 20)] {
            assert_eq!(rows_with(&file, sql, Knobs { threads, memory }), expected, "{sql}");
        }
    }
}
