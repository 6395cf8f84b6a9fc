//! Runs `split`.

use crate::support::{Folder, times, trace, truncated};
use serde_json::{Value, json};

/// Returns two processes with three threads, names, a CPU profile written by another thread, and an
/// open slice.
fn example() -> String {
    let events = [
        r#"{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"Browser/main"}}"#,
        r#"{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"../up"}}"#,
        r#"{"name":"open","ph":"B","ts":0,"pid":1,"tid":2,"cat":"a,b"}"#,
        r#"{"name":"x","ph":"X","ts":5,"dur":1,"pid":1,"tid":3,"cat":"b"}"#,
        r#"{"name":"Profile","ph":"P","ts":6,"pid":1,"tid":2,"id":"0x1","cat":"p","args":{}}"#,
        r#"{"name":"ProfileChunk","ph":"P","ts":7,"pid":1,"tid":3,"id":"0x1","cat":"p","args":{}}"#,
        r#"{"name":"y","ph":"X","ts":20,"dur":1,"pid":9,"tid":"s/p","cat":"a","sf":2}"#,
        r#"{"name":"open","ph":"E","ts":21,"pid":1,"tid":2,"cat":"a,b"}"#,
    ];
    let frames = r#"{"1":{"name":"root"},"2":{"parent":1,"name":"f"},"3":{"name":"other"}}"#;
    format!("{{\"traceEvents\":[\n{}\n],\n\"stackFrames\":{frames},\"k\":1}}", events.join(",\n"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn names(part: &Value) -> Vec<&str> {
    let events = part["traceEvents"].as_array().expect("events");
    events.iter().map(|event| event["name"].as_str().expect("a name")).collect()
}

#[test]
fn parts_of_threads_are_complete() {
    let folder = Folder::new().with("t.json", example());
    folder.run("split t.json --by tid").ends(0).quietly();
    assert_eq!(folder.names(), ["t.1.2.json", "t.1.3.json", "t.9.s_p.json", "t.json"]);
    let part = json(&folder.read("t.1.2.json"));
    let expected = ["process_name", "thread_name", "open", "Profile", "ProfileChunk", "open"];
    assert_eq!(names(&part), expected);
    assert_eq!((&part["k"], &part["stackFrames"]), (&json!(1), &json!({})));
    assert_eq!(names(&json(&folder.read("t.1.3.json"))), ["process_name", "x"]);
    let part = json(&folder.read("t.9.s_p.json"));
    assert_eq!(names(&part), ["y"]);
    assert_eq!(
        part["stackFrames"],
        json!({"1": {"name": "root"}, "2": {"parent": 1, "name": "f"}})
    );
}

#[test]
fn templates_use_names_of_the_trace_safely() {
    let folder = Folder::new();
    let words = "split - --by tid -d out/deep -O {process}-{thread}-{tid}-{part}.{ext} -z gz";
    folder.pipe(words, example()).ends(0).quietly();
    let mut names: Vec<_> = std::fs::read_dir(folder.path("out/deep"))
        .expect("the folder was made")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    let expected = [
        "Browser_main-___up-2-001.json.gz",
        "Browser_main-none-3-002.json.gz",
        "none-none-s_p-003.json.gz",
    ];
    assert_eq!(names, expected);
    folder.pipe("split --by cat -O {cat}.json.zst", example()).ends(0).quietly();
    let packed = std::fs::read(folder.path("a.json.zst")).expect("a part");
    assert_eq!(&packed[..4], [0x28, 0xB5, 0x2F, 0xFD]);
}

#[test]
fn open_slices_are_repeated_after_a_cut() {
    let folder = Folder::new().with("t.json", example());
    folder.run("split t.json --by time=10 --manifest list.json").ends(0).quietly();
    let second = json(&folder.read("t.002.json"));
    assert_eq!(names(&second), ["process_name", "thread_name", "open", "y", "open"]);
    let open = json!({"name": "open", "ph": "B", "ts": 0, "pid": 1, "tid": 2, "cat": "a,b", "tracemill.repeated": true});
    assert_eq!(second["traceEvents"][2], open);
    let whole = json!({"events": 8, "bytes": 572, "first_ns": 0, "last_ns": 21_000});
    assert_eq!(second["tracemill"], json!({"part_of": whole}));
    let list = json(&folder.read("list.json"));
    let parts = list["parts"].as_array().expect("parts");
    assert_eq!(parts.len(), 2);
    let length = folder.read("t.002.json").len();
    let expected = json!({
        "part": 2, "file": "./t.002.json", "key": {}, "events": 5, "metadata": 2, "copies": 1,
        "bytes": length, "start_ns": 20_000, "end_ns": 21_000,
    });
    assert_eq!(parts[1], expected);
    let run = folder.run("split t.json --by time=10 --format array -f").ends(1);
    let text = "left out: \"stackFrames\", \"k\"";
    assert!(run.stderr.contains(text), "{}", run.stderr);
}

#[test]
fn merging_time_parts_gives_each_event_once() {
    let folder = Folder::new().with("t.json", example());
    folder.run("split t.json --by time=10").ends(0).quietly();
    let merged = folder.run("merge t.001.json t.002.json -v --report r.json").ends(0);
    assert!(merged.stderr.contains(" out, 1 copy left out, 0 lost, "), "{}", merged.stderr);
    assert!(
        merged.stderr.contains("1 event left out that split had repeated"),
        "{}",
        merged.stderr
    );
    assert_eq!(json(&folder.read("r.json"))["copies"], json!(1));
    let (merged, whole) = (json(&merged.stdout), json(&folder.run("merge t.json").ends(0).stdout));
    let sorted = |trace: &Value| -> Vec<String> {
        let events = trace["traceEvents"].as_array().expect("events").iter();
        let mut events: Vec<String> = events.map(Value::to_string).collect();
        events.sort();
        events
    };
    assert_eq!(sorted(&merged), sorted(&whole));
    // a single part is sorted and stays the same
    let alone = folder.run("merge t.002.json").ends(0).quietly();
    assert_eq!(alone.stdout, folder.read("t.002.json"));
}

#[test]
fn dry_runs_print_and_write_nothing() {
    let folder = Folder::new().with("t.json", example());
    let run = folder.run("split t.json --by pid --dry-run -d nowhere").ends(0).quietly();
    let lines: Vec<Vec<&str>> =
        run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1][0], "7");
    assert_eq!(lines[2].last(), Some(&"nowhere/t.9.json"));
    assert_eq!(folder.names(), ["t.json"]);
    let run = folder.run("split t.json --by pid --dry-run --manifest -").ends(0).quietly();
    let list = json(&run.stdout);
    folder.run("split t.json --by pid --manifest list").ends(0).quietly();
    assert_eq!(list, json(&folder.read("list")));
    for part in list["parts"].as_array().expect("parts") {
        let file = part["file"].as_str().expect("a name");
        assert_eq!(part["bytes"], json!(folder.read(file).len()), "{file}");
    }
    assert_eq!(list["parts"][1]["key"], json!({"pid": 9}));
}

#[test]
fn existing_files_are_refused_before_writing() {
    let folder = Folder::new().with("t.json", example()).with("t.9.json", "mine");
    folder.run("split t.json --by pid").ends(2).says(&["exists already", "t.9.json", "-f"]);
    folder.run("split t.json --by tid -O same.json").ends(2).says(&["two parts", "same", "{part}"]);
    folder.run("split t.json --by events=99 -O t.json -f").ends(2).says(&["one of the inputs"]);
    folder.run("split t.json --by pid -f --manifest t.1.json").ends(2).says(&["written over"]);
    folder.run("split t.json --by pid -f --report t.1.json").ends(2).says(&["written over"]);
    folder.run("split t.json --by pid --manifest t.json -f").ends(2).says(&["one of the inputs"]);
    assert_eq!((folder.names().len(), &*folder.read("t.9.json")), (2, "mine"));
    folder.run("split t.json --by pid -f").ends(0).quietly();
    assert_ne!(folder.read("t.9.json"), "mine");
    for words in [
        "",
        "--by nothing",
        "--by pid -O a/b",
        "--by pid -O {tid}",
        "--by time=1s -O {pid}",
        "--by cat --max-size 1M",
        "--by pid --max-size 0",
        "--by pid --level 3",
        "--by pid --manifest x --report x",
    ] {
        folder.run(&format!("split t.json {words}")).ends(2);
    }
}

#[test]
fn size_limits_hold_or_are_reported() {
    let folder = Folder::new().with("t.json", trace(0..200));
    folder.run("split t.json --by size=2K -d parts").ends(0).quietly();
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder.path("parts")).expect("a folder") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a part");
        assert!(text.len() <= 2048, "{}", text.len());
        all.extend(times(&text));
    }
    all.sort_unstable();
    assert_eq!(all, (0..200).collect::<Vec<_>>());
    folder.run("split t.json --by size=50 -d small").ends(0).says(&["200 of 200 parts are larger"]);
    folder.run("split t.json --by tid --max-size 2K -d threads").ends(0).quietly();
    assert!(folder.path("threads/t.1.2.001.json").exists());
}

#[test]
fn metadata_counts_towards_the_size_of_every_part() {
    let name =
        |i: u32| format!(r#"{{"name":"process_labels","ph":"M","pid":1,"args":{{"l":{i}}}}}"#);
    let slice = |ts: u32| format!(r#"{{"name":"e","ph":"X","ts":{ts},"dur":1,"pid":1,"tid":2}}"#);
    let events: Vec<String> = (0..100).map(name).chain((0..500).map(slice)).collect();
    let folder = Folder::new().with("t.json", format!("[{}]", events.join(",\n")));
    folder.run("split t.json --by size=9K -d parts").ends(0).quietly();
    let mut parts = 0;
    for entry in std::fs::read_dir(folder.path("parts")).expect("a folder") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a part");
        assert!(text.len() <= 9 << 10, "{}", text.len());
        parts += 1;
    }
    assert!(parts > 5, "{parts}");
}

#[test]
fn damage_sets_exit_code_1() {
    let (damaged, at) = truncated();
    let folder = Folder::new().with("t.json", damaged);
    folder.run("split t.json --by pid").ends(1).says(&["truncated", &format!("byte {at}")]);
    assert_eq!(times(&folder.read("t.1.json")).len(), 2);
    folder.run("split t.json --by pid --strict -d strict").ends(3);
    assert!(!folder.path("strict").exists());
    folder.run("split missing.json --by pid").ends(3);
}

#[test]
fn many_parts_need_few_descriptors_and_little_memory() {
    let events: Vec<String> = (0..3000)
        .map(|i| format!(r#"{{"name":"e","ph":"X","ts":{i},"dur":1,"pid":{},"tid":1}}"#, i % 1500))
        .collect();
    let folder = Folder::new().with("t.json", format!("[{}]", events.join(",\n")));
    let mut command = std::process::Command::new("sh");
    command
        .current_dir(folder.path("."))
        .args(["-c", "ulimit -n 40; exec \"$0\" split t.json --by pid -d p -m 32M"]);
    let status = command.arg(crate::support::binary()).status().expect("a shell");
    assert!(status.success());
    assert_eq!(std::fs::read_dir(folder.path("p")).expect("a folder").count(), 1500);
}

#[test]
fn reports_have_the_parts() {
    let folder = Folder::new().with("t.json", example());
    folder.run("split t.json --by cat --report r.json -d p").ends(0).quietly();
    let report = json(&folder.read("r.json"));
    assert_eq!((&report["verb"], &report["dry_run"]), (&json!("split"), &json!(false)));
    assert_eq!(report["parts"][0]["key"], json!({"cat": "a"}));
    assert_eq!(report["parts"].as_array().map(Vec::len), Some(3));
}
