//! Merges inputs that use the same pids and ids.

use crate::support::{Folder, Run, trace};
use serde_json::{Value, json};

/// Returns a trace of one named process.
fn process(pid: &str, name: &str, ts: u64) -> String {
    format!(
        "{{\"traceEvents\":[\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{pid},\"args\":{{\"name\":\"{name}\"}}}},\n\
         {{\"ph\":\"b\",\"cat\":\"c\",\"name\":\"n\",\"id\":\"0x1\",\"ts\":{ts},\"pid\":{pid},\"tid\":1}}\n]}}\n"
    )
}

fn folder() -> Folder {
    Folder::new().with("a.json", process("7", "x", 1)).with("b.json", process("7", "y", 1))
}

fn events(trace: &str) -> Vec<Value> {
    let value: Value = serde_json::from_str(trace).expect("JSON");
    value["traceEvents"].as_array().expect("events").clone()
}

fn pids(trace: &str) -> Vec<Value> {
    events(trace).iter().map(|event| event["pid"].clone()).collect()
}

#[test]
fn clashing_ids_are_renumbered_with_a_message() {
    let folder = folder();
    let run = folder.run("merge a.json b.json --report r.json").ends(0);
    let run = run.says(&[
        "process ids, event ids of b.json renumbered so that they do not clash with earlier inputs",
        "--pid keep",
    ]);
    assert_eq!(pids(&run.stdout), [7, 10_000_007, 7, 10_000_007]);
    assert_eq!(events(&run.stdout)[3]["id"], "0x11");
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let second = &report["identity"]["inputs"][1];
    assert_eq!(second["pids"], json!({"7": "10000007"}));
    assert_eq!(second["ids"], json!({"id": "hexadecimal + 0x10"}));
    assert_eq!(second["recording"], 1);
    folder.run("merge -q a.json b.json").ends(0).quietly();
}

/// Misspelled keys get a suggestion; existing keys get no message.
#[test]
fn missing_args_keys_are_reported() {
    let one = |pid: u64| {
        format!(
            "[{{\"ph\":\"X\",\"name\":\"n\",\"ts\":1,\"dur\":1,\"pid\":{pid},\"tid\":1,\"args\":{{\"External id\":5}}}}]"
        )
    };
    let folder = Folder::new().with("a.json", one(1)).with("b.json", one(1));
    let wrong = "nothing matches --args-key Extrnal id: did you mean External id? (the trace has External id)";
    for (key, expected) in [("Extrnal id", Some(wrong)), ("External id", None)] {
        let mut command = folder.command("merge a.json b.json -o out.json -f --args-key");
        let run = Run::of(command.arg(key).output().expect("it runs")).ends(0);
        assert_eq!(run.stderr.contains("nothing matches"), expected.is_some(), "{}", run.stderr);
        assert!(expected.is_none_or(|text| run.stderr.contains(text)), "{}", run.stderr);
    }
}

#[test]
fn verbs_read_several_inputs_as_merged() {
    let folder = folder();
    let merged = folder.run("merge a.json b.json").ends(0).stdout;
    for verb in ["convert", "filter --ph b", "slice --from 0", "redact", "convert --format ndjson"]
    {
        let run = folder.run(&format!("{verb} a.json b.json -f --report r.json")).ends(0);
        for part in ["process ids, event ids of b.json renumbered", "(tracemill merge --pid keep"] {
            assert!(run.stderr.contains(part), "{verb}: {}", run.stderr);
        }
        let one = folder.pipe(&format!("{verb} -"), merged.clone()).ends(0);
        assert_eq!(run.stdout, one.stdout, "{verb}");
        let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        let inputs = report["inputs"].as_array().expect("inputs");
        let names: Vec<&Value> = inputs.iter().map(|input| &input["name"]).collect();
        assert_eq!(names, ["a.json", "b.json"], "{verb}");
    }
    folder.run("split --by pid a.json b.json -d parts").ends(0);
    let parts = ["a.7.json", "a.10000007.json"].map(|part| folder.read(&format!("parts/{part}")));
    assert_eq!(parts.map(|part| pids(&part).len()), [2, 2]);
    folder.run("convert a.json b.json -f -o b.json").ends(2);
    let folder = folder.with("7.json", process("7", "z", 1));
    let run = folder.run("split a.json 7.json --by pid -f -O {pid}.json -d .").ends(2);
    assert!(run.stderr.contains("a part would be written over ./7.json"), "{}", run.stderr);
}

#[test]
fn info_reads_several_inputs_as_merged() {
    let based = |base: u64| {
        let profile = r#"{"ph":"P","name":"Profile","id":"0x1","ts":3,"pid":7,"tid":1,"args":{}}"#;
        process("7", "x", 5)
            .replace("\n]}", &format!(",\n{profile}\n],\"baseTimeNanoseconds\":{base}}}"))
    };
    let folder = Folder::new().with("a.json", based(1_000_000)).with("b.json", based(9_000_000));
    let merged = folder.run("merge a.json b.json").ends(0).stdout;
    let parsed = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
    let several = parsed(&folder.run("info --json a.json b.json").ends(0).stdout);
    let one = parsed(&folder.pipe("info --json -", merged).ends(0).stdout);
    assert_eq!(several["processes"].as_array().map(Vec::len), Some(2));
    for key in ["time", "events"] {
        assert!(!several[key].is_null(), "{key}");
        assert_eq!(several[key], one[key], "{key}");
    }
    let rows = |info: &Value, list: &str, columns: [&str; 3]| -> Vec<[Value; 3]> {
        let rows = info[list].as_array().expect("a list").iter();
        rows.map(|row| columns.map(|column| row[column].clone())).collect()
    };
    for (list, columns) in
        [("processes", ["pid", "name", "events"]), ("profiles", ["pid", "tid", "id"])]
    {
        let entries = rows(&several, list, columns);
        assert!(entries.len() == 2 && entries[0][2] != Value::Null, "{entries:?}");
        assert_eq!(entries, rows(&one, list, columns));
    }
    let run = folder.pipe("info a.json -", process("7", "x", 1)).ends(2);
    assert!(run.stderr.contains("name files"), "{}", run.stderr);
}

#[test]
fn check_keeps_recordings_apart() {
    let slice = |ts: u64| {
        format!(
            "[{{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"c\",\"ts\":{ts},\"dur\":10,\"pid\":1,\"tid\":1,\"args\":{{}}}}]"
        )
    };
    let folder = Folder::new()
        .with("pod-1.json", slice(1))
        .with("pod-2.json", slice(5))
        .with("one.json", [slice(1), slice(5)].concat());
    let one = folder.run("check one.json").ends(1);
    assert!(one.stdout.contains("overlap"), "{}", one.stdout);
    let pods = folder.run("check pod-1.json pod-2.json").ends(0);
    assert!(!pods.stdout.contains("overlap"), "{}", pods.stdout);
}

#[test]
fn containers_with_the_same_pid_stay_separate() {
    let folder = Folder::new()
        .with("pod-1.json", process("1", "app", 1))
        .with("pod-2.json", process("1", "app", 500))
        .with("app.1.json", process("1", "app", 1))
        .with("app.2.json", process("1", "app", 500));
    let pods = folder.run("merge pod-1.json pod-2.json").ends(0);
    assert_eq!(pids(&pods.stdout), [1, 10_000_001, 1, 10_000_001]);
    let logs = folder.run("merge app.1.json app.2.json").ends(0).quietly();
    assert_eq!(pids(&logs.stdout), [1; 4]);
}

#[test]
fn unmatched_labels_set_exit_code_1() {
    let folder = folder();
    let run = folder.run("merge a.json b.json --label-from-name rank[0-9] -o out.json").ends(1);
    assert!(run.stderr.contains("--label-from-name rank[0-9] matches none"), "{}", run.stderr);
}

#[test]
fn identity_flags_override_the_defaults() {
    let folder = folder();
    let kept = folder.run("merge a.json b.json --pid keep").ends(0).quietly();
    assert_eq!(pids(&kept.stdout), [7; 4]);
    let kept = folder
        .run("merge a.json b.json --ids keep")
        .ends(0)
        .says(&["process ids of b.json renumbered"]);
    assert_eq!(events(&kept.stdout)[3]["id"], "0x1");
    let offset = folder.run("merge a.json b.json --pid offset").ends(0);
    assert_eq!(pids(&offset.stdout), [7, 17, 7, 17]);
    folder.run("merge a.json --pid offset").ends(0).quietly();
}

#[test]
fn parts_of_one_recording_keep_their_pids() {
    let folder = Folder::new()
        .with("1.json", process("7", "x", 1))
        .with("2.json", process("7", "x", 5))
        .with("3.json", process("7", "x", 5));
    let run = folder.run("merge 1.json 2.json").ends(0).quietly();
    assert_eq!(pids(&run.stdout), [7; 4]);
    let run = folder.run("merge 1.json 2.json 3.json").ends(0).says(&["3.json"]);
    assert_eq!(pids(&run.stdout), [7, 7, 10_000_007, 7, 7, 10_000_007]);
}

#[test]
fn numeric_and_string_pids_stay_separate() {
    let folder = Folder::new()
        .with("a.json", process("10", "x", 1))
        .with("b.json", process("\"10\"", "y", 1))
        .with("c.json", process("\"10\"", "z", 1));
    let run = folder.run("merge a.json b.json c.json --ids keep").ends(0).says(&["c.json"]);
    let expected = [json!(10), json!("10"), json!("10000010")];
    assert_eq!(pids(&run.stdout)[..3], expected);
}

#[test]
fn labels_name_processes_in_order() {
    let folder = folder();
    let words = "merge -q a.json b.json --label b.json=second --label-from-name ([a-z])[.]json";
    let all = events(&folder.run(words).ends(0).stdout);
    let last = |pid: u64, name: &str| {
        let is_wanted = |event: &&Value| event["pid"] == pid && event["name"] == name;
        all.iter().rfind(is_wanted).map(|event| event["args"].clone())
    };
    assert_eq!(last(7, "process_name"), Some(json!({"name": "a: x"})));
    assert_eq!(last(10_000_007, "process_name"), Some(json!({"name": "second: y"})));
    assert_eq!(last(10_000_007, "process_labels"), Some(json!({"labels": "second"})));
    assert_eq!(last(7, "process_sort_index"), Some(json!({"sort_index": 0})));
    assert_eq!(last(10_000_007, "process_sort_index"), Some(json!({"sort_index": 1})));
    assert!(all[..8].iter().all(|event| event["ph"] == "M"), "{all:#?}");
}

#[test]
fn equal_metadata_is_written_once() {
    let folder =
        Folder::new().with("a.1.json", process("7", "x", 1)).with("a.2.json", process("7", "x", 5));
    let all = folder.run("merge a.1.json a.2.json").ends(0).quietly().stdout;
    let once = folder.run("merge a.1.json a.2.json --dedup-metadata").ends(0).quietly().stdout;
    let spilled = folder.run("merge a.1.json a.2.json --dedup-metadata -@1 -m 32M").ends(0).stdout;
    assert_eq!((events(&all).len(), events(&once).len()), (4, 3));
    assert_eq!(once, spilled);
    let folder = folder_of_copies();
    let copies = folder.run("merge -q a.json b.json --dedup-metadata").ends(0).stdout;
    assert_eq!(events(&copies).len(), 4);
}

fn folder_of_copies() -> Folder {
    Folder::new().with("a.json", process("7", "x", 1)).with("b.json", process("7", "x", 1))
}

#[test]
fn provenance_is_in_metadata() {
    let folder = folder().with("c.json", "{\"traceEvents\":[],\"metadata\":{\"a\":1}}");
    let metadata_of = |words: &str| {
        let run = folder.run(&format!("merge -q {words} --provenance")).ends(0);
        let value: Value = serde_json::from_str(&run.stdout).expect("JSON");
        value["metadata"].clone()
    };
    let metadata = metadata_of("c.json a.json b.json");
    assert_eq!(metadata["a"], 1);
    let inputs = metadata["tracemill"]["inputs"].as_array().unwrap();
    assert_eq!(inputs[2]["path"], "b.json");
    assert_eq!(inputs[2]["pids"], json!({"7": "10000007"}));
    assert_eq!(metadata_of("a.json")["tracemill"]["inputs"][0]["pids"], json!({}));
    let array = Folder::new().with("a.json", "[{\"ph\":\"X\",\"ts\":1,\"pid\":1}]");
    let run = array.run("merge a.json --provenance").ends(0).quietly();
    assert!(run.stdout.starts_with("{\"traceEvents\""), "{}", run.stdout);
}

#[test]
fn a_manifest_repeats_a_merge() {
    let folder = folder().with("c.json", process("7", "y", 9));
    let words = "merge -q a.json b.json c.json --label a.json=first --write-manifest m.json";
    let first = folder.run(words).ends(0).stdout;
    let again = folder.run("merge -q --manifest m.json").ends(0).stdout;
    assert_eq!(first, again);
    let edited = folder.read("m.json").replace("10000007", "12");
    let folder = folder.with("n.json", edited);
    let run = folder.run("merge -q --manifest n.json").ends(0).stdout;
    assert!(pids(&run).contains(&json!(12)), "{run}");
    folder
        .run("merge a.json --write-manifest m.json")
        .ends(2)
        .says(&["the manifest m.json exists"]);
    folder.run("merge --manifest a.json").ends(2).says(&["a.json", "inputs"]);
    folder.run("merge a.json --write-manifest -").ends(2).says(&["standard output"]);
}

#[test]
fn a_thousand_inputs_with_one_pid_are_merged() {
    let list: String = (0..1000).map(|n| format!("{n:04}.json\n")).collect();
    let folder = Folder::new().with("list", list);
    let folder = (0..1000).fold(folder, |f, n| f.with(&format!("{n:04}.json"), trace([1])));
    let run = folder
        .run("merge --files-from list")
        .ends(0)
        .says(&["process ids of 999 inputs renumbered so that they do not clash"]);
    let mut all: Vec<u64> = pids(&run.stdout).iter().map(|pid| pid.as_u64().unwrap()).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 1000);
    assert!(all.iter().all(|&pid| pid <= u32::MAX.into()));
}

#[test]
fn dry_runs_write_only_the_manifest() {
    let folder = folder();
    let plan = "merge a.json b.json --dry-run";
    let stderr = folder.run("merge a.json b.json --write-manifest m -o out.json").ends(0).stderr;
    let run = folder.run(&format!("{plan} --write-manifest dry --report r.json")).ends(0);
    assert_eq!((run.stderr.clone(), folder.read("dry")), (stderr, folder.read("m")));
    let rows: Vec<Vec<&str>> =
        run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1], ["0", "+0ns", "0", "-", "a.json"]);
    assert_eq!(rows[2], ["1", "+0ns", "1", "yes", "b.json"]);
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!((&report["dry_run"], &report["output"]), (&json!(true), &Value::Null));
    assert_eq!(report["identity"]["inputs"][1]["pids"], json!({"7": "10000007"}));
    // the manifest replaces the table
    let listed = folder.run(&format!("{plan} -q --write-manifest -")).ends(0).stdout;
    assert_eq!(listed, folder.read("m"));
    assert_eq!(folder.names(), ["a.json", "b.json", "dry", "m", "out.json", "r.json"]);
    // irrelevant flags are ignored, but conflicting outputs are refused
    folder.run(&format!("{plan} -z gz --level 9 --write-index -o new.json.gz")).ends(0);
    folder.run(&format!("{plan} -o out.json")).ends(2).says(&["out.json"]);
    folder.run(&format!("{plan} --report -")).ends(2).says(&["standard output"]);
    folder.run(&format!("{plan} --write-manifest x --report x")).ends(2).says(&["same file"]);
    assert!(!folder.names().contains(&"new.json.gz".to_owned()));
}

#[test]
fn dry_runs_print_the_manifest_of_the_merge() {
    let folder = folder();
    let plan = folder.run("merge a.json b.json --dry-run --write-manifest -").ends(0).stdout;
    let files = folder.names();
    folder.run("merge a.json b.json -o out.json --write-manifest out.manifest").ends(0);
    assert_eq!(plan, folder.read("out.manifest"));
    assert!(!files.contains(&"out.json".to_owned()), "{files:?}");
}
