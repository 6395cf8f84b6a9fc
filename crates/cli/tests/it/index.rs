//! Runs `index`, and other verbs with the indexes.

use crate::support::{Folder, Run, event, testdata, truncated};
use serde_json::Value;

/// Returns a folder with a complete and a truncated trace.
fn folder() -> Folder {
    let node = std::fs::read(testdata().join("node/trace.json")).expect("a trace");
    Folder::new().with("a.json", node).with("cut.json", truncated().0)
}

/// Returns whether `info` uses the index.
fn is_answered(folder: &Folder, flags: &str) -> bool {
    folder.run(&format!("info -v {flags}")).stderr.contains("answered by a.json.tmi")
}

#[test]
fn info_gives_the_same_result_with_an_index() {
    let folder = folder();
    folder.run("index a.json cut.json").ends(1).says(&["cut.json", "lost"]);
    folder.run("index a.json cut.json").ends(1).says(&["cut.json", "lost"]);
    for trace in ["a.json", "cut.json"] {
        for flags in ["", "--top 3", "--markdown", "--top 100", "--top 5000"] {
            let scanned = folder.run(&format!("info {flags} --index never {trace}"));
            let answered = folder.run(&format!("info {flags} {trace}"));
            let all = |run: &Run| (run.code, run.stdout.clone(), run.stderr.clone());
            assert_eq!(all(&answered), all(&scanned), "{trace} {flags}");
        }
        let json = |flags: &str| -> Value {
            let run = folder.run(&format!("info --json {flags} {trace}"));
            let mut json: Value = serde_json::from_str(&run.stdout).expect("JSON");
            json["seconds"] = Value::Null;
            json
        };
        assert_eq!(json("--index auto"), json("--index never"), "{trace}");
        assert_eq!(json(&format!("--index {trace}.tmi")), json("--index never"), "{trace}");
    }
    assert!(is_answered(&folder, "a.json"));
    for flags in ["--full a.json", "--strict a.json", "--index never a.json", "a.json cut.json"] {
        assert!(!is_answered(&folder, flags), "{flags}");
    }
}

#[test]
fn exit_codes_show_the_state_of_the_index() {
    let folder = folder();
    folder.run("index a.json").ends(0).quietly();
    folder.run("index --verify a.json").ends(0).says(&["still right"]);
    let index = folder.path("a.json.tmi");
    let mut bytes = std::fs::read(&index).expect("it was made");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&index, &bytes).expect("the folder takes it");
    folder.run("index --verify a.json").ends(3).says(&["no longer right", "index -f a.json"]);
    folder.run("index a.json -o notes").ends(0);
    std::fs::write(folder.path("notes"), "keep me").expect("the folder takes it");
    folder.run("index a.json -o notes").ends(2).says(&["exists", "-f"]);
    folder.run("index a.json -o a.json -f").ends(2).says(&["one of the inputs"]);
    folder.run("index a.json cut.json -o x").ends(2).says(&["-o names one index"]);
    folder.run("index none.json").ends(3).says(&["none.json"]);
    folder.pipe("index", event(1)).ends(2).says(&["only a file can have an index"]);
    folder.run("info --index none.tmi a.json").ends(3).says(&["none.tmi"]);
    folder.run("info a.json.tmi").ends(3).says(&["a tracemill index"]);
    folder.run("index . -f").ends(1);
    let run = folder.run("info .");
    assert!(!run.stderr.contains("tmi"), "{}", run.stderr);
}

#[test]
fn changed_traces_are_read_with_a_warning() {
    let folder = folder();
    folder.run("index a.json").ends(0);
    let text = folder.read("a.json");
    std::fs::write(folder.path("a.json"), text.replace("nodeStart", "nodeStrat")).expect("ours");
    let run = folder.run("info a.json").ends(0).says(&["was not used", "index a.json"]);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert_eq!(run.stdout, folder.run("info --index never a.json").stdout);
    folder.run("index a.json").ends(0);
    assert!(is_answered(&folder, "a.json"));
}

#[test]
fn contents_are_printed_and_reported() {
    let folder = folder();
    let run = folder.run("index --print a.json --report report.json").ends(0);
    for word in ["a.json.tmi", "META", "GRANULES", "LANES", "median of 64"] {
        assert!(run.stdout.contains(word), "{word}: {}", run.stdout);
    }
    let report: Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
    let index = &report["indexes"][0];
    let len = std::fs::metadata(folder.path("a.json.tmi")).expect("it was made").len();
    assert_eq!((&index["bytes"], &index["fresh"]), (&Value::from(len), &Value::from(false)));
    assert!(len < 64 << 10, "{len}");
}

#[test]
fn named_indexes_must_match_the_trace() {
    let folder = folder();
    folder.run("index a.json cut.json").ends(1);
    for verb in [
        "info",
        "info --full",
        "info --strict",
        "slice --to 1ms",
        "slice --to 1ms --strict",
        "profile list",
        "profile list --strict",
    ] {
        folder.run(&format!("{verb} --index none.tmi a.json")).ends(3).says(&["none.tmi"]);
        folder.run(&format!("{verb} --index cut.json.tmi a.json")).ends(3).says(&["another one"]);
        folder.run(&format!("{verb} --index a.json.tmi a.json")).ends(0);
        let several = folder.run(&format!("{verb} --index a.json.tmi a.json cut.json"));
        several.ends(2).says(&["of one file"]);
    }
}

#[test]
fn indexes_of_several_inputs_are_not_used() {
    let folder = folder();
    let expected = "there are several inputs";
    for verb in ["info", "slice --to 1ms", "profile list"] {
        let run = folder.run(&format!("{verb} -v a.json cut.json"));
        assert!(!run.stderr.contains(expected), "none has one: {}", run.stderr);
    }
    folder.run("index a.json").ends(0);
    for verb in ["info", "slice --to 1ms", "profile list"] {
        let run = folder.run(&format!("{verb} -v a.json cut.json"));
        assert!(run.stderr.contains(expected), "{}", run.stderr);
        let never = folder.run(&format!("{verb} --index never a.json cut.json"));
        assert_eq!(run.stdout, never.stdout);
        for flags in ["", "--index never -v"] {
            let run = folder.run(&format!("{verb} {flags} a.json cut.json"));
            assert!(!run.stderr.contains(expected), "{}", run.stderr);
        }
    }
}

#[test]
fn folders_without_traces_get_no_index() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("none")).expect("a folder");
    folder.run("index none").ends(1).says(&["no trace was found"]);
    std::fs::write(folder.path("none/a.txt"), "hello").expect("a file");
    let run = folder.run("index none").ends(1);
    assert!(run.stderr.contains("left out: none/a.txt"), "{}", run.stderr);
    assert!(run.stderr.contains("no trace was found"), "{}", run.stderr);
}

#[test]
fn slice_explains_why_an_index_was_not_used() {
    let call =
        |i: usize| format!(r#"{{"name":"a","ph":"X","pid":1,"tid":1,"ts":{},"dur":5}}"#, 10 * i);
    let calls: Vec<String> = (0..20_000).map(call).collect();
    let events = format!(r#""traceEvents":[{}]"#, calls.join(","));
    let annotated = format!(
        r#"{{"metadata":{{"modifications":{{"entriesModifications":{{"hiddenEntries":["r-9"]}}}}}},{events}}}"#
    );
    let folder = Folder::new().with("a.json", format!("{{{events}}}")).with("b.json", annotated);
    folder.run("index a.json b.json").ends(0);
    let (read, all) = ("where the rest lies", "the whole trace was read");
    let rows: [(&str, &[&str]); 4] = [
        ("a.json", &[read]),
        ("a.json --strict", &[all, "a strict run"]),
        ("b.json", &[all, "DevTools annotations"]),
        ("b.json --index b.json.tmi", &[all, "DevTools annotations"]),
    ];
    for (flags, words) in rows {
        let window = "slice --from 100ms --to 101ms";
        let run = folder.run(&format!("{window} -v {flags}")).ends(0);
        assert!(!run.stderr.contains("was not used"), "{flags}: {}", run.stderr);
        for word in words {
            assert!(run.stderr.contains(word), "{flags}, not said: {word}: {}", run.stderr);
        }
        let quiet = folder.run(&format!("{window} {flags}")).ends(0).stderr;
        assert!(!quiet.contains(all) && !quiet.contains("was not used"), "{flags}: {quiet}");
        let trace = &flags[..6];
        assert_eq!(run.stdout, folder.run(&format!("{window} --index never {trace}")).stdout);
    }
    std::fs::remove_file(folder.path("a.json.tmi")).expect("it was made");
    let run = folder.run("slice --from 100ms --to 101ms -v --strict a.json").ends(0);
    assert!(!run.stderr.contains(all), "{}", run.stderr);
}

#[test]
fn profiles_are_the_same_with_an_index() {
    let packed = testdata().join("chromium/trace.json.gz");
    let folder = Folder::new();
    folder.run(&format!("convert {} -o a.json", packed.display())).ends(0);
    folder.run("index a.json").ends(0);
    let read = "where the rest lies";
    let listed = folder.run("profile list -v a.json").ends(0);
    let scanned = folder.run("profile list -v --index never a.json").ends(0);
    assert_eq!(listed.stdout, scanned.stdout);
    assert!(listed.stderr.contains(read) && !scanned.stderr.contains(read), "{}", listed.stderr);
    assert!(listed.stdout.lines().count() > 2, "{}", listed.stdout);
    let extracted = folder.run("profile extract -v a.json -d with").ends(0);
    assert!(extracted.stderr.contains(read), "{}", extracted.stderr);
    folder.run("profile extract a.json -d without --index never").ends(0);
    let files = |dir: &str| -> Vec<(std::ffi::OsString, Vec<u8>)> {
        let entries = std::fs::read_dir(folder.path(dir)).expect("it was made");
        let entries = entries.map(|entry| entry.expect("a file"));
        let mut files: Vec<_> = entries
            .map(|entry| (entry.file_name(), std::fs::read(entry.path()).expect("a file")))
            .collect();
        files.sort();
        files
    };
    assert!(!files("with").is_empty());
    assert_eq!(files("with"), files("without"));
}

#[test]
fn write_index_adds_indexes_to_outputs() {
    let folder = folder();
    let again = |trace: &str| folder.run(&format!("index --verify {trace}")).ends(0);
    for verb in ["merge", "slice --to 100ms", "convert", "filter --ph X", "redact", "calls"] {
        let name = verb.split(' ').next().expect("a verb");
        folder.run(&format!("{verb} a.json --write-index -o {name}.json")).ends(0);
        again(&format!("{name}.json"));
        let run = folder.run(&format!("info -v {name}.json"));
        assert!(run.stderr.contains("answered by"), "{verb}: {}", run.stderr);
    }
    folder.run("split a.json --by tid --write-index -d parts").ends(0);
    let parts = std::fs::read_dir(folder.path("parts")).expect("it was made");
    let names = parts.map(|part| part.expect("a file").file_name().into_string().expect("UTF-8"));
    let (indexes, traces): (Vec<String>, Vec<String>) =
        names.partition(|name| name.ends_with(".tmi"));
    assert!(traces.len() > 1 && indexes.len() == traces.len(), "{traces:?} {indexes:?}");
    traces.iter().for_each(|trace| drop(again(&format!("parts/{trace}"))));

    folder.run("convert a.json --write-index -o a.pb.gz").ends(2).says(&["--write-index"]);
    folder.run("merge a.json --write-index").ends(2).says(&["--write-index", "-o"]);
    folder.run("merge a.json --write-index -o merge.json").ends(2);
    std::fs::remove_file(folder.path("merge.json")).expect("it was made");
    folder.run("merge a.json --write-index -o merge.json").ends(2).says(&["merge.json.tmi", "-f"]);
    assert!(!folder.path("merge.json").exists(), "refused before anything is read");
    folder.run("slice a.json --to 50ms --write-index -f -o merge.json").ends(0);
    again("merge.json");
}

#[test]
fn indexes_of_read_only_folders_go_to_the_cache() {
    use std::fs::Permissions;
    use std::io::ErrorKind;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let folder = folder();
    let open = |path: &str, mode| {
        let path = folder.path(path);
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    };
    // root can write to every folder, so another user runs the command
    let program = folder.path("tracemill");
    std::fs::copy(env!("CARGO_BIN_EXE_tracemill"), &program).expect("there is room");
    std::fs::create_dir_all(folder.path("home")).expect("a folder");
    std::fs::create_dir_all(folder.path("traces")).expect("a folder");
    std::fs::rename(folder.path("a.json"), folder.path("traces/a.json")).expect("it is there");
    let is_root = std::fs::metadata(&program).expect("it was copied").uid() == 0;
    for (path, mode) in [
        ("", 0o755),
        ("home", 0o777),
        ("traces", 0o555),
        ("traces/a.json", 0o444),
        ("tracemill", 0o755),
    ] {
        open(path, mode);
    }
    let run = |words: &str| {
        let mut command = std::process::Command::new(&program);
        command
            .args(words.split(' '))
            .current_dir(folder.path(""))
            .env("XDG_CACHE_HOME", folder.path("home"));
        if is_root {
            command.uid(65534).gid(65534);
        }
        // until another test's child calls exec, it may hold the copy open for writing
        let output = loop {
            match command.output() {
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    std::thread::yield_now()
                }
                output => break output,
            }
        };
        Run::of(output.expect("the command runs"))
    };
    let cache = folder.path("home/tracemill");
    let indexed =
        run("index traces/a.json").ends(0).says(&["cannot be written", &cache.to_string_lossy()]);
    assert!(!folder.path("traces/a.json.tmi").exists(), "{indexed:?}");
    assert_eq!(std::fs::metadata(&cache).expect("it was made").mode() & 0o777, 0o700);
    run("index traces/a.json").ends(0).quietly();
    run("index --verify traces/a.json").ends(0).says(&["still right"]);
    let answered = run("info -v traces/a.json").ends(0);
    assert!(answered.stderr.contains("answered by"), "{}", answered.stderr);
    assert_eq!(answered.stdout, run("info --index never traces/a.json").stdout);
    open("traces", 0o755);
}
