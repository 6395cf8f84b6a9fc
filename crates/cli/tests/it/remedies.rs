//! The law of remedies: what one names, once done, is not found again.

use crate::support::{Folder, testdata};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Larger files are checked by other tests.
const BYTES_MAX: u64 = 100_000;

/// All traces below a folder.
fn traces(folder: &Path, found: &mut Vec<PathBuf>) {
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

/// The flags of the merge that a remedy names, if it names one.
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

/// The findings of `check --json`, or nothing if it is no trace.
fn findings(folder: &Folder, words: &str) -> Vec<Value> {
    let run = folder.run(words);
    match serde_json::from_str::<Value>(&run.stdout) {
        Ok(report) => report["findings"].as_array().expect("a list").clone(),
        Err(_) => Vec::new(),
    }
}

#[test]
fn what_a_remedy_names_is_not_found_again_once_done() {
    let mut files = Vec::new();
    traces(&testdata(), &mut files);
    let own = files.len();
    traces(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), &mut files);
    files.sort();
    let folder = Folder::new();
    let (mut wrong, mut done) = (Vec::new(), 0);
    for file in &files {
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
    assert!(own > 20 && done > 50, "{own} {done}");
}

#[test]
fn merges_are_found_in_remedies() {
    assert_eq!(
        merge_in("DevTools fails: tracemill merge --for devtools adds it").as_deref(),
        Some(" --for devtools")
    );
    assert_eq!(merge_in("tracemill merge sorts").as_deref(), Some(""));
    assert_eq!(merge_in("tracemill merge --repair writes null").as_deref(), Some(" --repair"));
    assert_eq!(merge_in("write a number"), None);
}

/// What Chrome wrote a moment ago opens, and nothing about it needs mending.
#[test]
fn a_fresh_recording_passes_for_devtools() {
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
    // with an E on one of the threads DevTools pairs the wrong ones
    let end = r#"{"ph":"E","name":"open","cat":"v8","pid":1,"tid":2,"ts":990,"args":{}}"#;
    let folder = Folder::new().with("a.json", text.replace(']', &format!(",\n{end}]")));
    let run = folder.run("check a.json --for devtools").ends(1);
    assert!(run.stdout.contains("warning  be-threads"), "{}", run.stdout);
}
