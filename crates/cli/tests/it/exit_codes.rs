//! Checks the exit status and message of each kind of failure.

use crate::support::{Folder, Run, testdata, trace, truncated};
use std::fs;

#[test]
fn undamaged_traces_end_quietly_with_0() {
    let folder = Folder::new().with("a.json", trace([2, 1]));
    folder.run("merge a.json").ends(0).quietly();
    folder.run("info a.json").ends(0).quietly();
}

#[test]
fn damage_is_reported_with_its_offset() {
    let (trace, cut_at) = truncated();
    let folder = Folder::new().with("a.json", trace);
    let place = format!("first at byte {cut_at}: ");
    let parts = ["tracemill: warning: a.json: lost 1 piece (truncated, 20 bytes): ", &place];
    let run = folder.run("merge a.json").ends(1).says(&parts);
    assert_eq!(run.times(), [1, 3]);
    let run = folder.run("info a.json").ends(1).says(&parts);
    assert!(run.stdout.contains(&place), "{}", run.stdout);
    folder.run("merge -q a.json").ends(1).quietly();
}

#[test]
fn strict_stops_at_damage_and_writes_nothing() {
    let folder = Folder::new().with("a.json", truncated().0);
    let run = folder.run("merge --strict a.json -o out.json").ends(3);
    run.points(&["tracemill: error: a.json: defect at byte "]);
    assert_eq!(folder.names(), ["a.json"]);
    folder.run("merge --strict a.json").ends(3).points(&["defect"]);
    folder.run("info --strict a.json").ends(3).points(&["defect"]);
    let folder = folder.with("b.json", trace([2, 1]));
    assert_eq!(folder.run("merge --strict b.json").ends(0).quietly().times(), [1, 2]);
}

#[test]
fn wrong_flags_end_with_2() {
    let folder = Folder::new().with("a.json", trace([1]));
    for words in [
        "merge a.json --no-such-flag",
        "merge a.json -@ 0",
        "merge a.json -m lots",
        "merge a.json -z rar",
        "merge a.json -z gz --level 10",
        "merge a.json --level 3",
        "merge a.json --read-size 0",
        "merge a.json --tier mmx",
        "merge a.json -q -v",
        "merge - -",
        "merge - --files-from -",
        "info a.json --format array",
        "merge a.json --report -",
        "info a.json --report -",
        "merge a.json --report a.json -f",
        "merge a.json -o b.json --report ./b.json",
        "info a.json -o a.json -f",
    ] {
        let run = folder.run(words).ends(2);
        assert!(!run.stderr.contains("as a value"), "{}", run.stderr);
        assert!(run.stderr.starts_with("tracemill: error: "), "{words}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{words}");
        assert_eq!(folder.names(), ["a.json"], "{words}");
    }
}

#[test]
fn existing_outputs_are_replaced_only_with_force() {
    let folder = Folder::new().with("a.json", trace([2, 1])).with("b.json", "precious");
    let error = ["tracemill: error: the output b.json exists already", "-f"];
    folder.run("merge a.json -o b.json").ends(2).says(&error);
    folder.run("info a.json -o b.json").ends(2).says(&error);
    assert_eq!(folder.read("b.json"), "precious");
    folder.run("merge -f a.json -o b.json").ends(0).quietly();
    assert_eq!(folder.read("b.json"), folder.run("merge a.json").stdout);
    folder.run("info -f a.json -o b.json").ends(0).quietly();
    assert_eq!(folder.read("b.json"), folder.run("info a.json").stdout);
    assert_eq!(folder.names(), ["a.json", "b.json"]);
}

#[test]
fn outputs_that_are_inputs_are_refused() {
    let folder = Folder::new().with("a.json", trace([2, 1])).with("b.json", trace([3]));
    fs::hard_link(folder.path("a.json"), folder.path("c.json")).unwrap();
    for output in ["a.json", "./a.json", "c.json"] {
        let run = folder.run(&format!("merge -f b.json a.json -o {output}")).ends(2);
        run.says(&["tracemill: error: the output ", " is one of the inputs; choose another name"]);
    }
    assert_eq!(folder.read("a.json"), trace([2, 1]));
}

#[test]
fn missing_output_folders_are_named() {
    let folder = Folder::new().with("a.json", trace([1]));
    let says = ["cannot write nowhere/", ": its folder does not exist"];
    for words in ["merge a.json -o", "filter a.json -o", "info a.json -o", "tree a.json -o"] {
        folder.run(&format!("{words} nowhere/out.json")).ends(4).says(&says);
    }
    folder.run("merge a.json -o out.json --report nowhere/r.json").ends(4).says(&says);
}

#[test]
fn unusable_inputs_are_named() {
    let folder = Folder::new().with("a.json", trace([1]));
    let missing = ["tracemill: error: ", "missing.json", "No such file"];
    folder.run("merge a.json missing.json -o out.json").ends(3).says(&missing);
    folder.run("info missing.json").ends(3).says(&missing);
    folder.run("merge --files-from missing.json").ends(3).says(&missing);
    assert_eq!(folder.names(), ["a.json"]);
}

#[test]
fn other_formats_are_refused() {
    for entry in fs::read_dir(testdata().join("not-traces")).unwrap() {
        let path = entry.unwrap().path();
        let folder = Folder::new();
        let mut command = folder.command("merge -o out.json");
        let run = Run::of(command.arg(&path).output().unwrap()).ends(3);
        let parts = ["tracemill: error: ", "not a trace", &path.display().to_string()];
        // a known format is named in the message, others are shown as an excerpt
        if run.stderr.lines().count() == 1 {
            run.says(&parts)
        } else {
            run.points(&parts)
        };
        assert_eq!(folder.names(), [""; 0], "{}", path.display());
    }
}

#[test]
fn an_impossible_budget_is_refused() {
    let folder = Folder::new().with("a.json", trace([1]));
    let run = folder.run("merge -m 1M a.json -o out.json").ends(4);
    run.says(&["tracemill: error: the memory budget of ", "-m "]);
    folder.run("info -m 1M a.json").ends(4).says(&["budget"]);
    assert_eq!(folder.names(), ["a.json"]);
}

#[test]
fn unwritable_outputs_are_named() {
    let folder = Folder::new().with("a.json", trace([1]));
    let run = folder.run("merge a.json -o no/such/folder.json").ends(4);
    run.says(&["tracemill: error: cannot write no/such/folder.json"]);
    let run = folder.run("info a.json -o no/such/folder.json").ends(4);
    run.says(&["tracemill: error: cannot write no/such/folder.json"]);
    let run = folder.run("merge a.json -o b.json --report no/such/folder.json").ends(4);
    run.says(&["tracemill: error: cannot write no/such/folder.json"]);
}

#[test]
fn quirks_have_their_documented_status() {
    let table = fs::read_to_string(testdata().join("quirks/expected.tsv")).unwrap();
    let wrong: Vec<String> = table.lines().skip(1).filter_map(|line| quirk(line).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Merges the file named by a line of the table; returns an error if the result differs from the
/// line.
fn quirk(line: &str) -> Result<(), String> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [name, kept, lost, code] = columns[..] else { panic!("four columns: {line}") };
    let folder = Folder::new();
    let mut command = folder.command("merge -o out.json --report report.json");
    let run = Run::of(command.arg(testdata().join("quirks").join(name)).output().expect("it runs"));
    let wrong = |what: &str| Err(format!("{name}: {what}: {line:?}\n{run:#?}"));
    if run.code != code.parse().ok() {
        return wrong("status");
    }
    if code == "3" {
        return if folder.names().is_empty() { Ok(()) } else { wrong("something was written") };
    }
    let report: serde_json::Value =
        serde_json::from_str(&folder.read("report.json")).expect("JSON");
    if report["output"]["events"].as_u64() != kept.parse().ok() {
        return wrong("kept");
    }
    if report["lost"].as_u64() < lost.parse().ok() {
        return wrong(&format!("lost {}", report["lost"]));
    }
    Ok(())
}

#[test]
fn files_and_urls_are_recognised_in_place_of_verbs() {
    let folder = Folder::new().with("a.json", trace([2, 1])).with("b.json", trace([3]));
    for words in ["a.json", "a.json b.json", "a.json --json"] {
        let ends = folder.run(words).ends(0);
        let whole = folder.run(&format!("info {words}")).ends(0);
        let plain =
            |text: &str| text.lines().filter(|line| !line.contains("seconds")).collect::<String>();
        assert_eq!(plain(&ends.stdout), plain(&whole.stdout), "{words}");
    }
    let run = folder.run("c.json").ends(2);
    assert!(run.stderr.contains("no verb and no file is called so"), "{}", run.stderr);
    for (words, expected) in [
        ("https://a.test/t.json", "download it first, e.g. curl -LO 'https://a.test/t.json'"),
        ("info https://a.test/t.json", "download it first, e.g. curl -LO"),
        ("merge a.json s3://a/t.json", "download it first, e.g. aws s3 cp"),
        ("merge a.json --for chrome", "did you mean devtools?"),
        ("check a.json --for chromium", "did you mean devtools?"),
        ("filter a.json --dur 5", "did you mean --min-dur?"),
        ("slice a.json --dur 5", "did you mean --duration?"),
        ("filter a.json --nmae 5", "'--name'"),
        ("convert a.json -o t.csv", "it writes .json and .ndjson"),
        ("convert a.json -o t.csv", ".pftrace, .folded, .speedscope.json and .pb"),
    ] {
        let run = folder.run(words).ends(2);
        assert!(run.stderr.contains(expected), "{words}: {}", run.stderr);
    }
    let run = folder.run("filter a.json --drpo 5").ends(2);
    assert!(run.stderr.contains("'--drop'"), "{}", run.stderr);
    let run = folder.run("merge a.json --xyz").ends(2);
    assert!(!run.stderr.contains("tip: "), "{}", run.stderr);
}

#[test]
fn equal_warnings_are_folded() {
    let folder = Folder::new();
    let profile = fs::read(testdata().join("quirks/cpuprofile-minimal.cpuprofile"));
    let profile = profile.expect("a profile");
    for at in 0..18 {
        fs::write(folder.path(&format!("p{at}.cpuprofile")), &profile).expect("a copy");
    }
    let names: Vec<String> = (0..18).map(|at| format!("p{at}.cpuprofile")).collect();
    let names = names.join(" ");
    for words in ["top", "report", "merge -o m.json -f", "diff --base NAMES --new"] {
        let words = format!("{} {names}", words.replace("NAMES", &names));
        let run = folder.run(&words);
        let lines: Vec<&str> = run
            .stderr
            .lines()
            .filter(|line| line.contains("names no process and thread"))
            .collect();
        assert_eq!(lines.len(), 1, "{words}: {}", run.stderr);
        let count = if words.starts_with("diff") { 36 } else { 18 };
        assert!(lines[0].ends_with(&format!("; {count} equal warnings")), "{}", lines[0]);
    }
}
