//! `check`: what it prints, and its status.

use crate::support::{Folder, trace, truncated};
use serde_json::Value;

#[test]
fn a_sound_trace_is_complete() {
    let folder =
        Folder::new().with("a.json", trace([1, 2]).replace("\"ph\"", "\"cat\":\"c\",\"ph\""));
    let run = folder.run("check a.json").ends(0).quietly();
    assert_eq!(run.stdout, "a.json: 2 events; nothing found\nverdict: sound, and in order\n");
    assert_eq!(folder.run("check -q a.json").ends(0).quietly().stdout, "");
}

#[test]
fn findings_are_printed_and_change_the_status() {
    let (text, at) = truncated();
    let folder = Folder::new().with("a.json", text);
    let run = folder.run("check a.json").ends(1).quietly();
    assert!(run.stdout.starts_with("error    truncated"), "{}", run.stdout);
    let noticed = format!("byte {at}, noticed at byte {}\n", at + 20);
    assert!(run.stdout.contains(&noticed), "{}", run.stdout);
    assert!(run.stdout.contains("-> tracemill merge"), "{}", run.stdout);
    assert_eq!(folder.run("check -q a.json").ends(1).quietly().stdout, "");
}

#[test]
fn notes_do_not_change_the_status() {
    let sound = trace([1]);
    let folder = Folder::new().with("a.json", &sound);
    let run = folder.run("check a.json").ends(0).quietly();
    assert!(run.stdout.contains("note     missing-cat"), "{}", run.stdout);
    // what is a note for all is an error for DevTools
    let run = folder.run("check --for devtools a.json").ends(1).quietly();
    assert!(run.stdout.contains("error    missing-cat"), "{}", run.stdout);
}

#[test]
fn json_and_report_say_the_same() {
    let folder = Folder::new().with("a.json", trace([2, 1]));
    let words = "check --json --for perfetto --for devtools a.json --report r.json";
    let run = folder.run(words).ends(1).quietly();
    let mut json: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let mut report: Value = serde_json::from_str(&folder.read("r.json")).expect("JSON");
    [&mut json, &mut report].into_iter().for_each(|value| value["seconds"] = Value::Null);
    assert_eq!(json, report);
    assert_eq!(json["for"], serde_json::json!(["perfetto", "devtools"]));
    let kinds: Vec<_> = json["findings"].as_array().expect("a list").iter().collect();
    let unsorted = kinds.iter().find(|f| f["kind"] == "unsorted").expect("it is not sorted");
    assert_eq!((&unsorted["severity"], &unsorted["count"]), (&"note".into(), &1.into()));
    assert_eq!(unsorted["places"][0]["input"], "a.json");
    let event = serde_json::json!({"ph": "X", "name": "e", "pid": 1, "tid": 2, "ts_ns": 1000});
    assert_eq!(unsorted["places"][0]["event"], event);
    let text = folder.run("check a.json").ends(1).stdout;
    assert!(text.contains("\n         X \"e\" pid 1 tid 2 at 0 ns (byte "), "{text}");
    assert!(
        text.ends_with(
            "\nverdict: some readers show it wrong: an event that stands after a later one\n"
        ),
        "{text}"
    );
    assert_eq!(json["verb"], "check");
}

#[test]
fn pipes_and_files_are_one() {
    let folder = Folder::new().with("a.json", trace([2, 1]));
    let file = folder.run("check a.json").ends(1).stdout;
    let pipe = folder.pipe("check", trace([2, 1])).ends(1).stdout;
    assert_eq!(pipe.replace("standard input", "a.json"), file);
}

#[test]
fn what_is_no_trace_is_refused() {
    let folder = Folder::new().with("a.txt", "once upon a time");
    folder.run("check a.txt").ends(3).points(&["not a trace"]);
    folder.run("check missing.json").ends(3).says(&["No such file"]);
    folder.run("check --for emacs a.txt").ends(2);
}
