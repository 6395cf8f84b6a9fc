//! Applies the suggestion of each finding, and checks that the finding is gone.

use crate::support::{Folder, testdata};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum size of files; larger ones are checked by other tests.
const BYTES_MAX: u64 = 100_000;

/// Collects all traces below a folder.
pub(crate) fn traces(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "golden" && name != "not-traces" && name != "json" {
                traces(&path, found);
            }
        } else if [".json", ".gz", ".cpuprofile", ".zst", ".ndjson"]
            .iter()
            .any(|end| name.ends_with(end))
            && path.metadata().is_ok_and(|metadata| metadata.len() <= BYTES_MAX)
        {
            found.push(path);
        }
    }
}

/// Returns the flags of the merge that a suggestion names, if any.
fn merge_in(remedy: &str) -> Option<String> {
    let (_, rest) = remedy.split_once("tracemill merge")?;
    let mut flags = String::new();
    let mut words = rest.split_whitespace();
    while let Some(flag @ ("--for" | "--overlaps" | "--format" | "--repair")) = words.next() {
        flags.push_str(&format!(" {flag}"));
        if flag != "--repair" {
            flags.push_str(&format!(" {}", words.next()?));
        }
    }
    Some(flags)
}

/// Returns the findings of `check --json`; empty if the file is no trace.
fn findings(folder: &Folder, words: &str) -> Vec<Value> {
    let run = folder.run(words);
    match serde_json::from_str::<Value>(&run.stdout) {
        Ok(report) => report["findings"].as_array().expect("a list").clone(),
        Err(_) => Vec::new(),
    }
}

#[test]
fn suggested_repairs_remove_the_finding() {
    let folder = Folder::new();
    let (mut wrong, mut done) = (Vec::new(), 0);
    for file in &all_traces() {
        for viewer in ["", " --for devtools", " --for perfetto"] {
            let mut by_merge: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for finding in findings(&folder, &format!("check --json {}{viewer}", file.display())) {
                let kind = finding["kind"].as_str().expect("a name").to_owned();
                if let Some(flags) = merge_in(finding["remedy"].as_str().expect("a text")) {
                    by_merge.entry(flags).or_default().push(kind);
                }
            }
            for (flags, kinds) in by_merge {
                folder.run(&format!("merge -q -f {} -o out.json{flags}", file.display()));
                let after = findings(&folder, &format!("check --json out.json{viewer}"));
                done += kinds.len();
                for kind in kinds {
                    if after.iter().any(|finding| finding["kind"] == kind.as_str()) {
                        wrong.push(format!("{}: {kind} after merge{flags}", file.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(done > 50, "{done}");
}

/// Returns the traces of the test data and, if present, of the corpus.
pub(crate) fn all_traces() -> Vec<PathBuf> {
    let mut files = Vec::new();
    traces(&testdata(), &mut files);
    assert!(files.len() > 20, "{}", files.len());
    traces(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), &mut files);
    files.sort();
    files
}

#[test]
fn outputs_for_viewers_need_no_repair() {
    let folder = Folder::new();
    let (mut wrong, mut written) = (Vec::new(), 0);
    for (number, file) in all_traces().into_iter().enumerate() {
        for viewer in ["devtools", "perfetto"] {
            let verbs = [
                "slice --from 0 --duration 1h",
                "slice --from 0 --duration 300us",
                "filter --min-dur 2us",
                "filter --shrink-to 3K",
                "convert --style compact",
                "split --by size=20K -d parts -O out.{part}.json",
            ];
            let verb = verbs[number % verbs.len()];
            let _ = std::fs::remove_dir_all(folder.path("parts"));
            let to = if verb.starts_with("split") { "" } else { "-o parts/out.json" };
            std::fs::create_dir(folder.path("parts")).expect("it was removed");
            let run = folder.run(&format!("{verb} -q -f {} {to} --for {viewer}", file.display()));
            assert!(matches!(run.code, Some(0..=3)), "{}: {run:?}", file.display());
            for part in std::fs::read_dir(folder.path("parts")).expect("it was made") {
                let part = part.expect("an entry").path();
                written += 1;
                for finding in
                    findings(&folder, &format!("check --json --for {viewer} {}", part.display()))
                {
                    let flags = merge_in(finding["remedy"].as_str().expect("a text"));
                    if flags.is_some_and(|flags| flags == format!(" --for {viewer}")) {
                        wrong.push(format!(
                            "{} {verb} --for {viewer}: {}",
                            file.display(),
                            finding["kind"]
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(written > 40, "{written}");
}

/// A verb with `--for` writes what a merge with `--for` makes of its plain output.
#[test]
fn for_viewer_equals_a_later_merge() {
    let folder = Folder::new();
    let trace = testdata().join("node/trace.json");
    for viewer in ["devtools", "perfetto"] {
        for verb in ["slice --from 10ms --to 80ms", "filter --min-dur 5us", "filter --ph B,E,M"] {
            folder.run(&format!("{verb} --repair {} -f -o plain.json", trace.display())).ends(0);
            folder.run(&format!("merge plain.json --for {viewer} -f -o merged.json")).ends(0);
            let run = folder.run(&format!(
                "{verb} --for {viewer} {} -f -o out.json --report r.json",
                trace.display()
            ));
            run.ends(0);
            assert_eq!(folder.read("merged.json"), folder.read("out.json"), "{verb} {viewer}");
            let report: Value = serde_json::from_str(&folder.read("r.json")).expect("JSON");
            assert_eq!(report["viewer"]["for"], viewer, "{verb}");
            assert_eq!(report["output"]["bytes"], folder.read("out.json").len(), "{verb}");
            for memory in ["32M", "64M"] {
                let run = folder.run(&format!(
                    "{verb} --for {viewer} -m {memory} {} -f -o small.json",
                    trace.display()
                ));
                run.ends(0);
                assert_eq!(folder.read("small.json"), folder.read("out.json"), "{verb} {viewer}");
            }
        }
        let split = format!("split --by tid {} -f", trace.display());
        folder.run(&format!("{split} -d plain")).ends(0);
        folder.run(&format!("{split} -d fitted --for {viewer} --manifest m.json -m 64M")).ends(0);
        let parts: Value = serde_json::from_str(&folder.read("m.json")).expect("JSON");
        let parts = parts["parts"].as_array().expect("a list");
        assert!(parts.len() > 1, "{}", parts.len());
        for part in parts {
            let file = part["file"].as_str().expect("a path");
            let plain = file.replace("fitted", "plain");
            folder.run(&format!("merge {plain} --for {viewer} -f -o merged.json")).ends(0);
            // a part with changes for a viewer is no longer marked as a part
            let merged = folder.read("merged.json");
            let (events, _) =
                merged.split_once("\n],\n\"tracemill\":{\"part_of\":").expect("a part");
            assert_eq!(format!("{events}\n]}}\n"), folder.read(file), "{file} {viewer}");
            assert_eq!(part["bytes"], folder.read(file).len(), "{file}");
            let written: Value = serde_json::from_str(&folder.read(file)).expect("JSON");
            let events = written["traceEvents"].as_array().expect("a list").len();
            assert_eq!(part["events"], events, "{file}");
        }
        let run = folder.run(&format!("{split} -d none --for {viewer} -m 40M")).ends(4);
        assert!(
            run.stderr.contains("expected at least 67108864: give it -m 64M"),
            "{}",
            run.stderr
        );
    }
    let run = folder.run(&format!("filter {} --for devtools -o a.ndjson", trace.display())).ends(2);
    assert!(run.stderr.contains("none reads ndjson"), "{}", run.stderr);
    assert_eq!(
        folder.run(&format!("merge {} --for devtools -o a.ndjson", trace.display())).code,
        Some(2)
    );
}

#[test]
fn shrink_to_includes_changes_for_the_viewer() {
    // each event needs a cat and args, which make the output half as long again
    let event = |n: u32| format!(r#"{{"ph":"X","name":"e","pid":1,"tid":1,"ts":{n},"dur":{n}}}"#);
    let events: Vec<String> = (1..2000).map(event).collect();
    let folder = Folder::new().with("a.json", format!("[{}]", events.join(",")));
    for size in [20_000, 60_000, 100_000, 150_000, 1_000_000] {
        folder
            .run(&format!("filter a.json --shrink-to {size} --for devtools -f -o out.json"))
            .ends(0);
        let written = folder.read("out.json");
        let report: Value = serde_json::from_str(&written).expect("JSON");
        assert!(written.len() <= size, "{size}: {}", written.len());
        let kept = report.as_array().expect("an array").len();
        assert!(written.len() > size / 10 * 7 || kept >= 1999, "{size}: {}", written.len());
    }
    folder.run("filter a.json --shrink-to 50 --for devtools -f -o out.json").ends(1);
}

#[test]
fn merge_flags_are_found_in_suggestions() {
    assert_eq!(
        merge_in("DevTools fails: tracemill merge --for devtools adds it").as_deref(),
        Some(" --for devtools")
    );
    assert_eq!(merge_in("tracemill merge sorts").as_deref(), Some(""));
    assert_eq!(merge_in("tracemill merge --repair writes null").as_deref(), Some(" --repair"));
    assert_eq!(merge_in("write a number"), None);
}

#[test]
fn fresh_recordings_pass_check_for_devtools() {
    let begin = r#"{"ph":"B","name":"open","cat":"v8","pid":1,"tid":2,"ts":900,"args":{}}"#;
    let other = r#"{"ph":"B","name":"open too","cat":"v8","pid":1,"tid":3,"ts":950,"args":{}}"#;
    let late = r#"{"ph":"X","name":"late","cat":"v8","pid":1,"tid":2,"ts":100,"dur":5,"args":{}}"#;
    let async_open =
        r#"{"ph":"b","name":"load","cat":"net","id":"0x1","pid":1,"tid":2,"ts":960,"args":{}}"#;
    let step =
        r#"{"ph":"n","name":"step","cat":"net","id":"0x2","pid":1,"tid":2,"ts":50,"args":{}}"#;
    let text = format!("[{begin},\n{other},\n{late},\n{async_open},\n{step}]");
    let folder = Folder::new().with("a.json", &text);
    for viewer in ["devtools", "perfetto"] {
        let run = folder.run(&format!("check a.json --for {viewer}")).ends(0).quietly();
        assert!(run.stdout.contains("and is shown right\n"), "{}", run.stdout);
        assert!(run.stdout.contains("note     unsorted "), "{}", run.stdout);
    }
    folder.run("check a.json").ends(1);
    folder.run("check a.json --for devtools --strict").ends(1);
    // an E on one of the threads makes DevTools pair the wrong events
    let end = r#"{"ph":"E","name":"open","cat":"v8","pid":1,"tid":2,"ts":990,"args":{}}"#;
    let folder = Folder::new().with("a.json", text.replace(']', &format!(",\n{end}]")));
    let run = folder.run("check a.json --for devtools").ends(1);
    assert!(run.stdout.contains("warning  be-threads"), "{}", run.stdout);
}
