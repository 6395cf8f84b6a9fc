//! Runs `check`.

use crate::support::{Folder, trace, truncated};
use serde_json::Value;

#[test]
fn sound_traces_end_with_0() {
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
    // a note in general is an error for DevTools
    let run = folder.run("check --for devtools a.json").ends(1).quietly();
    assert!(run.stdout.contains("error    missing-cat"), "{}", run.stdout);
}

#[test]
fn only_check_reports_traces_without_events() {
    for text in ["", "[]", "{\"traceEvents\":[]}"] {
        let folder = Folder::new().with("a.json", text);
        let run = folder.run("check a.json").ends(1);
        assert!(run.stdout.starts_with("error    no-events"), "{}", run.stdout);
        let run = folder.run("info a.json").ends(0);
        assert!(
            run.stdout.contains("opens in   Perfetto no, or wrong: no events"),
            "{}",
            run.stdout
        );
        folder.run("merge a.json -o out.json -f").ends(0);
    }
}

#[test]
fn json_and_report_agree() {
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
    folder.run("check --strict a.json").ends(1);
    let text = folder.run("check a.json").ends(0).stdout;
    assert!(text.contains("\n         X \"e\" pid 1 tid 2 at 0 ns (byte "), "{text}");
    assert!(text.ends_with("\nverdict: sound, but not in order\n"), "{text}");
    assert_eq!(json["verb"], "check");
}

#[test]
fn pipes_and_files_give_the_same_findings() {
    let folder = Folder::new().with("a.json", trace([2, 1]));
    let file = folder.run("check a.json").ends(0).stdout;
    let pipe = folder.pipe("check", trace([2, 1])).ends(0).stdout;
    assert_eq!(pipe.replace("standard input", "a.json"), file);
}

#[test]
fn other_files_are_refused() {
    let folder = Folder::new().with("a.txt", "once upon a time");
    folder.run("check a.txt").ends(3).points(&["not a trace"]);
    folder.run("check missing.json").ends(3).says(&["No such file"]);
    folder.run("check --for emacs a.txt").ends(2);
}

/// Returns events of many lengths, every 41st of them truncated at random.
fn damaged() -> String {
    let mut random = 7_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as usize % below
    };
    let event = |number: usize| {
        let args = "x".repeat(next(90));
        let text = format!(
            r#"{{"ph":"X","name":"e{number}","pid":1,"tid":1,"ts":{number},"dur":1,"args":{{"s":"{args}"}}}}"#
        );
        let len = if number % 41 == 7 { 10 + next(text.len() - 12) } else { text.len() };
        text[..len].to_owned()
    };
    format!("[{}]", (0..300).map(event).collect::<Vec<_>>().join(",\n"))
}

#[test]
fn findings_do_not_depend_on_read_boundaries() {
    let damaged = damaged();
    let folder = Folder::new().with("a.json", &damaged);
    let findings = |run: crate::support::Run| {
        let json: Value = serde_json::from_str(&run.ends(1).stdout).expect("JSON");
        let text = json["findings"].to_string().replace("standard input", "a.json");
        assert!(text.contains("excerpt") && text.len() > 1000, "{text}");
        text
    };
    let warnings =
        |run: crate::support::Run| run.ends(1).stderr.replace("standard input", "a.json");
    let filter = "filter --name e5";
    let expected = (
        findings(folder.run("check --json a.json")),
        warnings(folder.run(&format!("{filter} a.json"))),
    );
    assert!(expected.1.contains("lost"), "{}", expected.1);
    for cut in ["--read-size 1", "--read-size 63", "--read-size 64 -@ 1", "--read-size 4097", ""] {
        let check = folder.pipe(&format!("check --json {cut} -"), damaged.as_bytes());
        let filter = folder.pipe(&format!("{filter} {cut} -"), damaged.as_bytes());
        assert_eq!((findings(check), warnings(filter)), expected, "{cut}");
    }
}
