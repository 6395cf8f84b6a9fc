//! Compares our tables bit by bit with those of DevTools' engine, for each trace of the corpus that
//! it opens.
//!
//! Stored results are in `../shared/oracle/golden-trees` (format: its README). Compared are the
//! flame chart, the event log, the call tree and bottom-up rows to six levels, for each kind of
//! entries (all, visible, panel), thread, window and group, by checksums of rows and labels.

use crate::common::files::{goldens, has_goldens, input_of, lines};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tracemill_analysis::{
    Entities, Entries, FlameRow, GroupBy, ReadRules, Refusal, Table, TableRules, ThreadChoice,
    Trace, TreeRow, View, Wanted, Window,
};
use tracemill_join::config::Config;
use tracemill_trace::Source;

pub(crate) fn hex(number: f64) -> String {
    // The bits of a NaN depend on the processor; the stored ones have a sign.
    let bits = if number.is_nan() { 0xFFF8_0000_0000_0000 } else { number.to_bits() };
    format!("{bits:016x}")
}

/// Checksums of rows and of their labels.
#[derive(Default)]
struct Sums {
    rows: Sha256,
    labels: Sha256,
    count: u64,
}

impl Sums {
    fn add(&mut self, row: &Value, label: &Option<String>) {
        self.rows.update(row.to_string());
        self.rows.update("\n");
        self.labels.update(json!(label).to_string());
        self.labels.update("\n");
        self.count += 1;
    }

    fn finish(self) -> (u64, String, String) {
        let text = |sum: Sha256| sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        (self.count, text(self.rows), text(self.labels))
    }
}

fn flame_row(row: &FlameRow) -> Value {
    let kind = if row.is_call { "P" } else { "E" };
    json!([row.depth, kind, row.id, hex(row.ts), hex(row.dur), hex(row.self_time), row.key])
}

fn tree_row(row: &TreeRow, table: &str) -> Value {
    let (self_time, total, children) = (hex(row.own), hex(row.total), u8::from(row.expandable));
    match table {
        "log" => json!([row.depth, row.id, hex(row.start), self_time, total, row.key]),
        "callTree" => json!([row.depth, row.id, self_time, total, row.count, children, row.key]),
        _ => {
            let bytes =
                if row.bytes.fract() == 0.0 { json!(row.bytes as i64) } else { json!(row.bytes) };
            json!([row.depth, row.id, self_time, total, row.count, children, bytes, row.key])
        }
    }
}

#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) compared: u64,
    /// Messages of traces that the engine refuses.
    pub(crate) refused: Vec<String>,
    wrong: BTreeMap<String, u64>,
    examples: Vec<String>,
    /// The head of the first wrong table of each file.
    pub(crate) first_wrong: Vec<(PathBuf, Value)>,
}

impl Outcome {
    pub(crate) fn is_right(&self) -> bool {
        self.wrong.is_empty()
    }

    #[track_caller]
    pub(crate) fn assert_right(&self, explained: impl Fn() -> String) {
        if self.is_right() {
            return;
        }
        // Show a few examples of each file.
        let mut first = String::new();
        let (mut file, mut count) = ("", 0);
        for example in &self.examples {
            let name = example.split(':').next().unwrap_or_default();
            count = if name == file { count + 1 } else { 0 };
            file = name;
            if count < 4 {
                first += &format!("{example}\n");
            }
        }
        panic!("{:#?}\n{first}\n{}", self.wrong, explained());
    }
}

fn number(value: &Value) -> f64 {
    let bits = value.as_str().and_then(|text| u64::from_str_radix(text, 16).ok());
    f64::from_bits(bits.expect("16 digits"))
}

fn entries_of(name: &str) -> Entries {
    match name {
        "all" => Entries::All,
        "visible" => Entries::Visible,
        _ => Entries::Panel,
    }
}

/// Returns the index of the thread that a line names.
fn thread_of(trace: &Trace, head: &Value) -> Option<usize> {
    let written = |value: &Value| match value {
        Value::Null => Vec::new(),
        value => value.to_string().into_bytes(),
    };
    let (pid, tid) = (written(&head["pid"]), written(&head["tid"]));
    trace.threads.iter().position(|thread| *thread.pid == *pid && *thread.tid == *tid)
}

fn table(view: &View<'_>, head: &Value) -> Option<Table> {
    let window = Window { from: number(&head["hex"][0]), to: number(&head["hex"][1]) };
    let by = head["groupBy"].as_str().unwrap_or("none");
    let by = GroupBy::ALL.into_iter().find(|grouping| grouping.name() == by)?;
    Some(match head["table"].as_str()? {
        "log" => view.log(window).expect("room"),
        "callTree" => view.call_tree(window, by).expect("room"),
        _ => view.bottom_up(window, by, 6).expect("room"),
    })
}

/// Passes each row of the table with the head `head` to `each`. Returns the times of its root, if
/// any.
fn each_row(
    view: &View<'_>,
    head: &Value,
    each: &mut dyn FnMut(Value, &Option<String>),
) -> Option<Option<(f64, f64)>> {
    if head["table"] == "flame" {
        let rows = view.flame().expect("room on disk");
        let Ok(()) = rows.rows(|row| -> Result<(), std::convert::Infallible> {
            each(flame_row(&row), &row.label);
            Ok(())
        });
        return Some(None);
    }
    let name = head["table"].as_str()?;
    let table = table(view, head)?;
    table.rows.iter().for_each(|row| each(tree_row(&row, name), &row.label));
    Some(Some((table.own, table.total)))
}

/// Compares one table; returns the wrong properties.
fn compare(view: &View<'_>, head: &Value) -> Option<Vec<&'static str>> {
    let mut sums = Sums::default();
    let mut wrong = Vec::new();
    let root = each_row(view, head, &mut |row, label| sums.add(&row, label))?;
    if let Some((self_time, total)) = root {
        let theirs = &head["root"]["hex"];
        if (theirs[0].as_str(), theirs[1].as_str()) != (Some(&*hex(self_time)), Some(&*hex(total)))
        {
            wrong.push("root");
        }
    }
    let (count, rows, labels) = sums.finish();
    if head["rows"].as_u64() != Some(count) {
        wrong.push("count");
    }
    if head["sha256"].as_str() != Some(&*rows) {
        wrong.push("rows");
    }
    if head["sha256Labels"].as_str() != Some(&*labels) {
        wrong.push("labels");
    }
    Some(wrong)
}

/// Refusals of the panel only, not of the engine used without it.
pub(crate) const IN_THE_PANEL: [Refusal; 5] = [
    Refusal::TooLarge,
    Refusal::Packing,
    Refusal::Enhanced,
    Refusal::NothingDrawn,
    Refusal::Unbounded,
];

fn read(input: &Path, entities: Entities, config: &Config) -> Trace {
    let wanted = Wanted { urls: true, frames: true, titles: true, ..Wanted::default() };
    let rules = ReadRules { wanted, as_devtools: true, ..ReadRules::default() };
    let read = Trace::read(&[Source::Path(input.to_owned())], rules, config);
    let mut trace = read.expect("a trace");
    trace.entities = entities;
    trace
}

/// Describes our first rows that differ from the engine's table; `lines` holds its rows after the
/// head.
pub(crate) fn first_differences(
    input: &Path,
    (head, lines, entities): (&Value, &[Value], Entities),
) -> String {
    let trace = read(input, entities, &Config::new(2, 256 << 20, std::env::temp_dir()));
    let at = thread_of(&trace, head).expect("a thread");
    let track = trace.track(&trace.threads[at]).expect("room on disk");
    let entries = entries_of(head["entries"].as_str().unwrap_or_default());
    let view = View::new(&track, TableRules { entries, as_devtools: true });
    let mut ours = Vec::new();
    each_row(&view, head, &mut |row, label| {
        let mut cells = row.as_array().cloned().unwrap_or_default();
        cells.push(json!(label));
        ours.push(cells);
    });
    let theirs: Vec<&Vec<Value>> = lines.iter().filter_map(Value::as_array).collect();
    let mut report = String::new();
    for (number, row) in ours.iter().enumerate() {
        let other = theirs.get(number).map_or(&[][..], |line| line);
        if row.len() != other.len() || !row.iter().zip(other).all(|(a, b)| is_same(a, b)) {
            report += &format!("row {number}: {}\n  engine: {}\n", json!(row), json!(other));
        }
        if report.lines().count() > 7 {
            break;
        }
    }
    format!("{head}\n{} rows, engine {}\n{report}", ours.len(), theirs.len())
}

/// Returns whether cells are equal, up to the last digits of a time, which `json` reads for
/// display.
fn is_same(value: &Value, other: &Value) -> bool {
    let time = |bits: &str| u64::from_str_radix(bits, 16).map(f64::from_bits).ok();
    match (value.as_str().filter(|value| value.len() == 16).and_then(time), other.as_f64()) {
        (Some(value), Some(other)) => (value - other).abs() <= value.abs() * 1e-15,
        _ => value == other,
    }
}

pub(crate) fn check(
    name: &str,
    input: &Path,
    (lines, entities): (&[Value], Entities),
    outcome: &mut Outcome,
) {
    let config = Config::new(2, 256 << 20, std::env::temp_dir());
    if let Some(refused) = lines.iter().find(|line| line["type"] == "refused") {
        outcome.refused.push(format!("{name}: {}", refused["message"]));
        let read = Trace::read(&[Source::Path(input.to_owned())], ReadRules::default(), &config);
        let is_told = read.map_or(true, |trace| !trace.refusals.is_empty());
        let message = format!("refused, which is not told: {}", refused["message"]);
        note(name, refused, (!is_told).then_some(&*message), outcome);
        return;
    }
    let trace = read(input, entities, &config);
    let refusal = trace.refusals.iter().find(|refusal| !IN_THE_PANEL.contains(refusal));
    note(name, &lines[0], refusal.map(|reason| reason.name()), outcome);
    let opening = trace.opening_window().expect("room on disk");
    let opening = [opening.from, opening.to].map(hex);
    let tracks: Vec<_> =
        trace.threads.iter().map(|thread| trace.track(thread).expect("room on disk")).collect();
    let choice = ThreadChoice { as_panel: true, ..ThreadChoice::default() };
    let tracks_of_panel = trace.choose(&choice);
    let mut views: BTreeMap<(usize, String), View<'_>> = BTreeMap::new();
    let mut threads: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for head in lines {
        let kind = head["type"].as_str().unwrap_or_default();
        if kind == "trace" {
            threads.clear();
            let bounds = (number(&head["bounds"]["hex"][0]), number(&head["bounds"]["hex"][1]));
            let same = [bounds.0, bounds.1].map(hex) == [trace.bounds.0, trace.bounds.1].map(hex);
            note(name, head, (!same).then_some("bounds"), outcome);
            continue;
        }
        let Some(at) = thread_of(&trace, head) else {
            note(name, head, Some("no such thread"), outcome);
            continue;
        };
        let entries = head["entries"].as_str().unwrap_or_default().to_owned();
        let table_rules = TableRules { entries: entries_of(&entries), as_devtools: true };
        if kind == "thread" {
            let before = threads.entry(entries.clone()).or_default();
            before.push(at);
            // Tracks of the panel have their own order.
            let ordered = match entries == "panel" {
                true => tracks_of_panel.iter().filter(|at| before.contains(at)).eq(&*before),
                false => before.is_sorted(),
            };
            note(name, head, (!ordered).then_some("order of threads"), outcome);
            let thread_name = trace.threads[at].name.as_deref();
            note(name, head, (head["name"].as_str() != thread_name).then_some("name"), outcome);
            continue;
        }
        if !head["error"].is_null() {
            continue;
        }
        if head["window"] == "panel" {
            let theirs = [&head["hex"][0], &head["hex"][1]].map(|value| value.as_str());
            let same = theirs == [Some(&*opening[0]), Some(&*opening[1])];
            note(name, head, (!same).then_some("opening window"), outcome);
        }
        let view =
            views.entry((at, entries)).or_insert_with(|| View::new(&tracks[at], table_rules));
        for what in compare(view, head).unwrap_or_else(|| vec!["unknown table"]) {
            note(name, head, Some(what), outcome);
            if outcome.first_wrong.last().is_none_or(|(path, _)| path != input) {
                outcome.first_wrong.push((input.to_owned(), head.clone()));
            }
        }
        outcome.compared += 1;
    }
}

fn note(name: &str, head: &Value, wrong: Option<&str>, outcome: &mut Outcome) {
    let Some(wrong) = wrong else { return };
    let part = |key: &str| head[key].as_str().unwrap_or("-").to_owned();
    let kind = format!("{} {} {}", part("table"), part("groupBy"), wrong);
    *outcome.wrong.entry(kind.clone()).or_default() += 1;
    let (pid, tid) = (&head["pid"], &head["tid"]);
    outcome.examples.push(format!(
        "{name}: {kind}, {} entries, window {}, pid {pid}, tid {tid}",
        part("entries"),
        part("window")
    ));
}

#[test]
fn tables_match_devtools() {
    let mut outcome = Outcome::default();
    for (name, golden) in goldens(".trees.jsonl.gz") {
        let lines = lines(&golden);
        check(&name, &input_of(&name), (&lines, Entities::default()), &mut outcome);
    }
    assert!(!has_goldens() || outcome.compared > 0, "nothing was compared");
    assert!(!has_goldens() || outcome.refused.len() > 20, "{:?}", outcome.refused);
    outcome.assert_right(String::new);
}
