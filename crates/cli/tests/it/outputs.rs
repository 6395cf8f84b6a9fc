//! Checks outputs: traces, reports, lists, messages.

use crate::support::{Folder, trace, truncated};
use serde_json::{Value, json};

#[test]
fn merge_sorts_two_traces_into_one() {
    let folder = Folder::new().with("a.json", trace([5, 1, 3])).with("b.json", trace([4, 2]));
    assert_eq!(folder.run("merge a.json b.json").ends(0).times(), [1, 2, 3, 4, 5]);
    folder.run("merge a.json b.json --pid keep -o c.json").ends(0).quietly();
    assert_eq!(folder.read("c.json"), folder.run("merge a.json b.json --pid keep").stdout);
}

/// Otherwise a second run would read the output of the first and double its events.
#[test]
fn outputs_in_an_input_folder_are_refused() {
    let folder = Folder::new().with("a.json", trace([5, 1, 3])).with("list", "sub\n");
    std::fs::create_dir(folder.path("sub")).expect("a folder");
    std::fs::copy(folder.path("a.json"), folder.path("sub/a.json")).expect("a copy");
    std::os::unix::fs::symlink("sub", folder.path("link")).expect("a link");
    let whole = trace([7]);
    std::fs::write(folder.path("sub/all.json"), &whole).expect("it is ours");
    for words in [
        "merge sub -f -o sub/all.json",
        "merge sub -o sub/all.json",
        "merge sub -o sub/more/../all.json",
        "merge sub/. -f -o link/all.json",
        "merge link -f -o sub/../sub/all.json",
        "merge --files-from list -f -o sub/all.json",
        "filter sub -f -o sub/all.json",
        "info sub -f -o sub/all.json",
        "merge sub -f -o other.json --report sub/all.json",
        "split sub -f -d sub -O all.json --by events=10",
        "merge . -f -o sub/all.json",
        "info . -f -o sub/all.json",
        "split . -f -d link/new -O all.json --by events=10",
        "index -f -o out.tmi sub/a.json --report sub/all.json --files-from list",
    ] {
        folder.run(words).ends(2).says(&["in the input folder"]);
        assert_eq!(folder.read("sub/all.json"), whole, "{words}");
    }
    folder.run("merge sub -o all.json").ends(0);
    folder.run("merge sub -f -o all.json").ends(0);
    folder.run("split link -d sub --by events=10").ends(2).says(&["in the input folder link"]);
    folder.run("merge sub -o sub/new.json").ends(2).says(&["in the input folder sub"]);
    folder.run("index sub").ends(0);
}

#[test]
fn outputs_replace_neither_each_other_nor_inputs() {
    let files = ["a.json", "b.json", "base.svg", "list", "ids", "o.json.tmi"];
    let folder = files.iter().fold(Folder::new(), |folder, name| folder.with(name, trace([1])));
    let folder = folder.with("list", "a.json\nb.json\n");
    std::fs::create_dir(folder.path("sub")).expect("a folder");
    std::os::unix::fs::symlink("sub", folder.path("link")).expect("a link");
    std::fs::hard_link(folder.path("ids"), folder.path("hard")).expect("a link");
    let before: Vec<String> = folder.names();
    for words in [
        "merge a.json -o x.json --write-manifest x.json",
        "merge a.json -o x.json --report none/../x.json",
        "merge a.json -o sub/x.json --report link/x.json",
        "merge a.json -o x.json --write-manifest m --report ./m",
        "merge a.json -f -o o.json --write-index --report o.json.tmi",
        "merge a.json -f --write-manifest o.json.tmi -o o.json --write-index",
        "merge a.json -f --manifest ids -o hard",
        "merge --files-from list -f -o list",
        "merge --files-from list -f -o x.json --report b.json",
        "split a.json --by pid -d sub --manifest sub/m --report link/m",
        "profile extract a.json -f -o sub/../b.json --report b.json",
        "top a.json -f --entities ids -o ids",
        "top a.json -f --source-maps ids --report hard",
        "info a.json -f --index o.json.tmi -o o.json.tmi",
        "flame a.json --diff base.svg -o base.svg -f",
        "diff a.json b.json -f --report ./b.json",
        "index a.json -f -o a.json",
    ] {
        let run = folder.run(words).ends(2);
        let is_said = ["are the same file", "is one of the inputs"];
        assert!(is_said.iter().any(|text| run.stderr.contains(text)), "{words}: {}", run.stderr);
        assert_eq!(folder.names(), before, "{words}");
        assert!(files.iter().all(|name| !folder.read(name).is_empty()), "{words}");
        assert_eq!(folder.read("ids"), trace([1]), "{words}");
    }
    let profile = crate::support::testdata().join("node/trace.json").display().to_string();
    let run = folder.run(&format!("profile extract {profile} -d new -O p --report new/../new/p"));
    run.ends(2).says(&["a CPU profile would be written over new/p"]);
    let run = folder.run("split a.json --by pid -d new -O p --manifest new/../new/p");
    run.ends(2).says(&["a part would be written over new/p"]);
    assert_eq!(folder.names(), before);
    folder.run("merge a.json -o /dev/null --report /dev/null").ends(0);
}

#[test]
fn unwritable_help_is_an_error() {
    for words in ["--help", "--version", "merge --help", "help top"] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut command = std::process::Command::new(crate::support::binary());
        let run = command.args(words.split(' ')).stdout(full).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(4), "{words}: {stderr}");
        assert!(stderr.contains("cannot write standard output"), "{words}: {stderr}");
    }
}

#[test]
fn lists_add_inputs() {
    let folder = Folder::new()
        .with("a.json", trace([5]))
        .with("b c.json", trace([2]))
        .with("d.json", trace([4]))
        .with("lines", "b c.json\nd.json\n")
        .with("nuls", "b c.json\0d.json\0")
        .with("empty", "\n");
    for list in ["lines", "nuls"] {
        let run = folder.run(&format!("merge a.json --files-from {list}")).ends(0);
        assert_eq!(run.times(), [2, 4, 5]);
    }
    let run = folder.pipe("merge --files-from -", folder.read("lines")).ends(0);
    assert_eq!(run.times(), [2, 4]);
    folder.run("merge --files-from empty").ends(2).says(&["no input"]);
}

#[test]
fn format_and_compression_follow_the_flags() {
    let folder = Folder::new().with("a.json", trace([2, 1]));
    let lines = folder.run("merge a.json --format ndjson").ends(0).stdout;
    assert_eq!(lines.lines().filter(|line| line.contains("\"ts\":")).count(), 2);
    assert!(folder.run("merge a.json --format array").ends(0).stdout.starts_with('['));
    folder.run("merge a.json -o b.json.gz").ends(0);
    folder.run("merge a.json -o b.json.zst --level 19").ends(0);
    folder.run("merge a.json -o plain.gz -z none").ends(0);
    let encoding = |name: &str| {
        let info = folder.run(&format!("info --json {name}")).ends(0).stdout;
        let info: Value = serde_json::from_str(&info).unwrap();
        info["inputs"][0]["encoding"].clone()
    };
    assert_eq!(encoding("b.json.gz"), json!("gzip"));
    assert_eq!(encoding("b.json.zst"), json!("zstd"));
    assert_eq!(encoding("plain.gz"), Value::Null);
    assert_eq!(folder.run("merge b.json.gz b.json.zst").ends(0).times(), [1, 1, 2, 2]);
}

#[test]
fn knobs_do_not_change_the_output() {
    let folder = Folder::new().with("a.json", trace((0..2000).rev()));
    let expected = folder.run("merge a.json").ends(0).stdout;
    for flags in ["--tier scalar", "--read-size 1", "-@ 1", "-j 7", "-m 32M", "-T ."] {
        assert_eq!(
            folder.run(&format!("merge a.json {flags}")).ends(0).stdout,
            expected,
            "{flags}"
        );
        let run = folder.pipe(&format!("merge - {flags}"), folder.read("a.json")).ends(0);
        assert_eq!(run.stdout, expected, "pipe, {flags}");
    }
    assert_eq!(folder.names(), ["a.json"]);
}

#[test]
fn the_tier_can_be_set_in_the_environment() {
    let folder = Folder::new().with("a.json", trace([1]));
    let mut command = folder.command("merge -v a.json -o b.json");
    let output = command.env("TRACEMILL_TIER", "scalar").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("scan by scalar"), "{stderr}");
}

#[test]
fn reports_have_everything() {
    let (cut, cut_at) = truncated();
    let folder = Folder::new().with("a.json", cut).with("b.json", trace([9]));
    folder.run("merge a.json b.json -o c.json --report r.json").ends(1);
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(report["verb"], "merge");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["lost"], 1);
    assert_eq!(report["output"]["events"], 3);
    assert_eq!(report["output"]["bytes"], folder.read("c.json").len());
    assert_eq!(report["inputs"][0]["events"], 2);
    let loss = &report["inputs"][0]["losses"][0];
    assert_eq!((&loss["kind"], &loss["count"]), (&json!("truncated"), &json!(1)));
    assert_eq!(loss["examples"][0]["offset"], cut_at);
    assert_eq!(report["inputs"][1]["losses"], json!([]));

    let again = folder.run("merge b.json -o d.json --report r.json").ends(2);
    again.says(&["the report r.json exists already"]);
    assert_eq!(folder.names(), ["a.json", "b.json", "c.json", "r.json"]);
    let run = folder.run("merge -f b.json -o d.json --report -").ends(0);
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap()["lost"], 0);
}

#[test]
fn info_text_and_json_agree() {
    let folder = Folder::new().with("a.json", trace([30, 10, 20]));
    let text = folder.run("info --top 10 a.json").ends(0).stdout;
    for line in [
        "input      a.json: 3 events, 214 B",
        "time       lasts 21.00 µs; not sorted (tracemill merge sorts)",
        "busiest    thread 2 (pid 1) 3.00 µs of 21.00 µs (of 1 thread)",
        "names      by time: 100 % e; by size: 100 % e",
        "profiles   no CPU profile",
        "opens in   Perfetto yes · DevTools no: it has events without cat (3) (fix: tracemill merge a.json --for devtools -o OUT.json.gz)",
        "time       10 to 31 µs (21.00 µs)",
        "order      not sorted: 1 neighbour out of order (merge sorts)",
        "phases     X  3",
        "processes  (1 thread)  events  bytes     time",
        "           1                3  189 B  3.00 µs",
        "             2              3  189 B  3.00 µs",
        "damage     none",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
    assert_eq!(folder.run("info a.json").ends(0).stdout.lines().count(), 6);
    let run = folder.run("info --json a.json --report r.json").ends(0);
    assert_eq!(run.stdout, folder.read("r.json"));
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["time"], json!({"start_ns": 10_000, "end_ns": 31_000, "duration_ns": 21_000}));
    assert_eq!((&json["sorted"], &json["inversions"]), (&json!(false), &json!(1)));
    assert_eq!(
        json["processes"][0]["threads"][0],
        json!({
            "tid": 2, "name": null, "events": 3, "bytes": 189, "time_ns": 3000,
        })
    );
}

#[test]
fn verbose_explains_and_quiet_is_silent() {
    let folder = Folder::new().with("a.json", trace([2, 1]));
    let run = folder.run("merge -v a.json").ends(0);
    assert!(run.stderr.lines().all(|line| line.starts_with("tracemill: ")), "{}", run.stderr);
    let last = run.stderr.lines().last().unwrap();
    assert!(last.starts_with("tracemill: merge: 1 input, 2 events ("), "{last}");
    for part in ["a.json: 2 events", "scan by ", "written as object", " out, 0 lost, "] {
        assert!(run.stderr.contains(part), "{part}\n{}", run.stderr);
    }
    folder.run("merge -q --progress always a.json").ends(0).quietly();
}

#[test]
fn colours_need_a_terminal_or_a_flag() {
    let folder = Folder::new();
    let plain = folder.run("merge missing").ends(3).stderr;
    assert!(plain.starts_with("tracemill: error: "), "{plain}");
    let red = folder.run("merge --color always missing").ends(3).stderr;
    assert!(red.starts_with("tracemill: \u{1b}[1m\u{1b}[31merror:\u{1b}[0m "), "{red:?}");
}

#[test]
fn format_follows_the_name_of_the_output() {
    let folder = Folder::new().with("a.json", trace([2, 1]));
    for name in ["b.ndjson", "b.jsonl"] {
        folder.run(&format!("merge a.json -o {name}")).ends(0).quietly();
        assert_eq!(folder.read(name).lines().filter(|line| line.contains("\"ts\":")).count(), 2);
        assert!(!folder.read(name).contains("traceEvents"), "{name}");
    }
    folder.run("filter a.json --pid 1 -o c.ndjson.gz").ends(0);
    assert_eq!(folder.run("merge c.ndjson.gz --format array").ends(0).times(), [1, 2]);
    folder.run("merge a.json --format object -o d.ndjson").ends(0);
    assert!(folder.read("d.ndjson").contains("traceEvents"));
    for (name, instead) in
        [("x.folded", "tracemill convert"), ("x.pftrace", "--for perfetto"), ("x.csv", ".ndjson")]
    {
        let run = folder.run(&format!("merge a.json -o {name}")).ends(2);
        run.says(&["not what this verb writes", instead]);
        assert!(!folder.names().contains(&name.to_owned()));
    }
}

#[test]
fn outputs_in_folders_are_named_by_their_time() {
    let folder = Folder::new().with("a.json", trace([2, 1]));
    std::fs::create_dir(folder.path("sub")).expect("a folder");
    folder.run("merge a.json -o sub/").ends(0);
    let names = std::fs::read_dir(folder.path("sub")).expect("a folder").flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    let [name] = &names[..] else { panic!("{names:?}") };
    let name = name.to_string_lossy();
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let time = name.strip_prefix("Trace-").and_then(|name| name.strip_suffix(".json"));
    let (date, time) = time.and_then(|time| time.split_once('T')).expect("a date and a time");
    assert!((date.len(), time.len()) == (8, 6) && digits(date) && digits(time), "{name}");
    assert_eq!(folder.read(&format!("sub/{name}")), folder.run("merge a.json").stdout);
    // a later merge of the folder would read the trace again
    folder.run("merge sub -o sub/").ends(2).says(&["is one of the inputs"]);
    folder.run("merge a.json -o none/").ends(4).says(&["its folder does not exist"]);
}

#[test]
fn inputs_given_twice_are_reported() {
    let folder = Folder::new().with("a.json", trace([2, 1]));
    let run = folder.run("merge a.json a.json --pid keep").ends(0);
    run.says(&["a.json is given twice, so its events are there twice"]);
    folder.run("info a.json ./a.json").ends(0).says(&["a.json is given twice (as ./a.json)"]);
    folder.run("merge a.json a.json --pid keep -q").ends(0).quietly();
}

#[test]
fn unmatched_labels_are_reported() {
    let folder = Folder::new().with("rank0.json", trace([2, 1])).with("rank1.json", trace([3]));
    let merge = "merge rank0.json rank1.json --pid keep -o x.json -f";
    let run = folder.run(&format!("{merge} --label rank2.json=two")).ends(1);
    run.says(&["no input has this path or name: did you mean rank0.json?"]);
    let run = folder.run(&format!("{merge} --label-from-name step([0-9])")).ends(1);
    run.says(&["matches none of the inputs' names, such as rank0.json"]);
    let flags = "--label-from-name rank([0-9]) --label rank1.json=b";
    folder.run(&format!("{merge} {flags}")).ends(0).quietly();
    // labels distinguish processes with the same name, such as CPU and GPU
    let named = |name: &str, key: &str, pid: u8, text: &str| {
        format!(r#"{{"ph":"M","name":"{name}","pid":{pid},"args":{{"{key}":"{text}"}}}}"#)
    };
    let events = [
        named("process_name", "name", 1, "python3"),
        named("process_labels", "labels", 1, "CPU"),
        named("process_name", "name", 2, "python3"),
        named("process_labels", "labels", 2, "GPU 0"),
        crate::support::event(5).replace("\"pid\":1", "\"pid\":2"),
    ];
    let folder = Folder::new().with("rank0.json", format!("[{}]", events.join(",")));
    let run = folder.run("merge rank0.json --label-from-name rank([0-9])").ends(0);
    for text in
        [r#""name":"0: python3 (CPU)""#, r#""name":"0: python3 (GPU 0)""#, r#""labels":"0, GPU 0""#]
    {
        assert!(run.stdout.contains(text), "{text}\n{}", run.stdout);
    }
    let run = folder.run("info rank0.json --top 5").ends(0);
    assert!(run.stdout.contains("python3 (2) [GPU 0]"), "{}", run.stdout);
}
