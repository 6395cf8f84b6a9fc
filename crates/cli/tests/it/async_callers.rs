//! Compares `tree --bottom-up --async` with a naive second implementation on random traces, and with
//! `tree --bottom-up` on recordings.

use crate::support::{Folder, testdata};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tracemill_testkit::{Rng, seeds};

const LEVELS: usize = 9;

/// A slice of a random trace.
struct Slice {
    name: &'static str,
    tid: u64,
    from: u64,
    to: u64,
    parent: Option<usize>,
    /// The slice that scheduled it.
    scheduler: Option<usize>,
}

/// Adds a slice and the slices in it. Starts are distinct.
fn add(rng: &mut Rng, parent: Option<usize>, tid: u64, [from, to]: [u64; 2], all: &mut Vec<Slice>) {
    let name = rng.pick(&["a", "b", "c", "d", "e"]);
    let depth = std::iter::successors(parent, |&at| all[at].parent).count();
    all.push(Slice { name, tid, from, to, parent, scheduler: None });
    let number = all.len() - 1;
    let mut at = from + 1 + rng.below(40);
    while at + 3 < to && depth < 3 {
        let end = at + 2 + rng.below(to - at - 2);
        add(rng, Some(number), tid, [at, end], all);
        at = end + 1 + rng.below(200);
    }
}

/// Returns slices of two threads; earlier slices schedule some of them.
fn slices(rng: &mut Rng) -> Vec<Slice> {
    let mut all = Vec::new();
    for tid in 1..3 {
        for start in 0..4 {
            let from = 1000 * start + tid;
            let to = from + 300 + rng.below(600);
            add(rng, None, tid, [from, to], &mut all);
        }
    }
    for number in 0..all.len() {
        let scheduler = rng.index(all.len());
        let is_before = all[scheduler].from < all[number].from;
        let is_around = std::iter::successors(Some(number), |&at| all[at].parent)
            .any(|around| around == scheduler);
        all[number].scheduler =
            Some(scheduler).filter(|_| is_before && !is_around && rng.chance(40));
    }
    all
}

fn text_of(slices: &[Slice]) -> String {
    let mut events: Vec<Value> = Vec::new();
    for (number, slice) in slices.iter().enumerate() {
        let Slice { name, tid, from, to, .. } = slice;
        events.push(json!({"ph": "X", "name": name, "cat": "c", "pid": 1, "tid": tid, "ts": from, "dur": to - from}));
        let Some(scheduler) = slice.scheduler.map(|at| &slices[at]) else { continue };
        let point = |ph: &str, slice: &Slice| {
            json!({"ph": ph, "bp": "e", "name": "flow", "cat": "f", "id": number, "pid": 1,
                   "tid": slice.tid, "ts": slice.from})
        };
        events.push(point("s", scheduler));
        events.push(point("f", slice));
    }
    json!({"traceEvents": events}).to_string()
}

type Sums = BTreeMap<Vec<String>, (u64, u64)>;

/// Sums up self times, in microseconds, and counts by path from a slice to its callers.
fn expected(slices: &[Slice], tid: u64) -> Sums {
    let mut sums = Sums::new();
    for number in (0..slices.len()).filter(|&at| slices[at].tid == tid) {
        let slice = &slices[number];
        let children = slices.iter().filter(|child| child.parent == Some(number));
        let in_children = children.map(|child| child.to - child.from).sum::<u64>();
        let self_time = slice.to - slice.from - in_children;
        let mut path: Vec<String> = Vec::new();
        let mut next = Some(number);
        while let Some(from) = next {
            let around: Vec<usize> =
                std::iter::successors(Some(from), |&at| slices[at].parent).collect();
            path.extend(around.iter().map(|&at| slices[at].name.to_owned()));
            next = around.iter().find_map(|&at| slices[at].scheduler);
        }
        for end in 1..=path.len().min(LEVELS) {
            let sum = sums.entry(path[..end].to_vec()).or_default();
            *sum = (sum.0 + self_time, sum.1 + 1);
        }
    }
    sums
}

/// A row of a table: its path, self time in microseconds, and count.
struct Row {
    path: Vec<String>,
    self_time: f64,
    count: u64,
}

/// Returns the rows of each thread's bottom-up table.
fn tables(folder: &Folder, flags: &str) -> Vec<Vec<Row>> {
    let words = format!("tree --bottom-up --depth {LEVELS} --json {flags}");
    let table: Value = serde_json::from_str(&folder.run(&words).stdout).expect("JSON");
    let columns = table["columns"].as_array().expect("columns");
    let at = |name: &str| columns.iter().position(|column| column == name).expect("a column");
    let [depth, id, self_ms, count] = ["depth", "id", "self_ms", "count"].map(at);
    let parts = table["parts"].as_array().expect("parts").iter();
    let rows = |part: &Value| {
        let mut path: Vec<String> = Vec::new();
        let rows = part["rows"].as_array().expect("rows").iter();
        rows.map(|row| {
            path.truncate(row[depth].as_u64().expect("a number") as usize);
            path.push(row[id].as_str().expect("a text").to_owned());
            let self_time = row[self_ms].as_f64().expect("a number") * 1000.0;
            Row { path: path.clone(), self_time, count: row[count].as_u64().expect("a number") }
        })
        .collect()
    };
    parts.map(rows).collect()
}

#[test]
fn callers_continue_with_the_stack_of_the_scheduler() {
    let (mut compared, mut deepest) = (0, 0);
    for seed in seeds(0, 30) {
        let slices = slices(&mut Rng::new(seed));
        let folder = Folder::new().with("t.json", text_of(&slices));
        for (rows, tid) in tables(&folder, "--async t.json").iter().zip(1..) {
            let sums = |row: &Row| (row.path.clone(), (row.self_time.round() as u64, row.count));
            let found: Sums = rows.iter().map(sums).collect();
            let mut expected = expected(&slices, tid);
            // Rows without self time are left out with their callers.
            let empty = expected.iter().filter(|(path, sum)| path.len() == 1 && sum.0 == 0);
            let empty: Vec<String> = empty.map(|(path, _)| path[0].clone()).collect();
            expected.retain(|path, _| !empty.contains(&path[0]));
            assert_eq!(found, expected, "seed {seed}");
            compared += found.len();
            deepest = deepest.max(found.keys().map(Vec::len).max().unwrap_or(0));
        }
    }
    assert!(compared > 2000 && deepest == LEVELS, "{compared} {deepest}");
}

#[test]
fn functions_keep_their_times_and_callers_share_them() {
    for name in ["chromium/trace.json.gz", "node/trace.json", "pytorch/rank-0.json"] {
        let path = testdata().join(name);
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let folder = Folder::new().with(&name, std::fs::read(&path).expect("a trace"));
        let (before, after) = (tables(&folder, &name), tables(&folder, &format!("--async {name}")));
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            let top = |rows: &[Row]| -> Vec<(String, f64, u64)> {
                let rows = rows.iter().filter(|row| row.path.len() == 1);
                rows.map(|row| (row.path[0].clone(), row.self_time, row.count)).collect()
            };
            assert_eq!(top(before), top(after), "{name}");
            let mut sums: BTreeMap<&[String], f64> = BTreeMap::new();
            for row in after {
                *sums.entry(&row.path[..row.path.len() - 1]).or_default() += row.self_time;
            }
            for row in after {
                let callers = sums.get(&row.path[..]).copied().unwrap_or(0.0);
                assert!(callers <= row.self_time + 1e-3, "{name}: {:?} {callers}", row.path);
            }
        }
    }
}
