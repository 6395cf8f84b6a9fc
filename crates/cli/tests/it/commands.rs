//! Runs every command that a verb prints as a suggestion, and checks its result.

use crate::remedies::traces;
use crate::support::{Folder, binary, testdata};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns small traces of the test data and, if present, of the corpus and the cases.
fn small_traces() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    for folder in [testdata(), shared.join("cases"), shared.join("corpus")] {
        let mut found = Vec::new();
        traces(&folder, &mut found);
        found.sort();
        // only some of each folder, because all take minutes
        let step = found.len().div_ceil(60).max(1);
        files.extend(found.into_iter().step_by(step));
    }
    files
}

/// Runs a shell line in the folder, with the program on the path.
pub(crate) fn shell(folder: &Folder, line: &str) -> Output {
    let programs = binary().parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command.args(["-c", line]).env("PATH", format!("{programs}:{path}"));
    command.current_dir(folder.path("")).output().expect("a shell")
}

/// Returns why a command is wrong, if it fails or prints nothing.
fn wrong(folder: &Folder, line: &str, written: Option<&str>) -> Option<String> {
    let output = shell(folder, line);
    let is_answer = match written {
        Some(name) => folder.path(name).metadata().is_ok_and(|file| file.len() > 0),
        None => !output.stdout.is_empty(),
    };
    let is_done = matches!(output.status.code(), Some(0 | 1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let status = output.status;
    (!is_done || !is_answer).then(|| format!("{line}\n  {status}, answer: {is_answer}, {stderr}"))
}

/// Returns the commands of a report, which end its rows.
fn commands_of(report: &str) -> Vec<String> {
    let Ok(report) = serde_json::from_str::<Value>(report) else { return Vec::new() };
    let sections = report["sections"].as_array().into_iter().flatten();
    let rows = sections.flat_map(|section| section["rows"].as_array().into_iter().flatten());
    let of_rows = rows.filter_map(|row| Some(row.as_array()?.last()?.as_str()?.to_owned()));
    report["verdict"]["next"].as_str().map(str::to_owned).into_iter().chain(of_rows).collect()
}

#[test]
fn every_command_of_a_report_runs() {
    let folder = Folder::new();
    let (mut all, mut ran) = (Vec::new(), 0);
    for file in small_traces() {
        let report = folder.run(&format!("report -q --json -n 2 {}", file.display()));
        for line in commands_of(&report.stdout) {
            ran += 1;
            all.extend(wrong(&folder, &line, None));
        }
    }
    assert!(all.is_empty(), "{} of {ran}:\n{}", all.len(), all.join("\n"));
    assert!(ran > 200, "{ran}");
}

/// Returns the verb and flags of a command in prose.
fn flags_in(rest: &str) -> Option<(String, Vec<String>)> {
    let ends = |c: char| c.is_whitespace() || ";),:".contains(c);
    let mut words = rest.split(ends).filter(|word| !word.is_empty());
    let name = words.next()?.to_owned();
    let command = tracemill::flags();
    let verb = command.find_subcommand(&name)?;
    let mut flags = Vec::new();
    while let Some(flag) = words.next().filter(|word| word.starts_with('-')) {
        let long = |arg: &clap::Arg| {
            let short = arg.get_short().map(|letter| format!("-{letter}"));
            arg.get_long() == flag.strip_prefix("--") || short.as_deref() == Some(flag)
        };
        let arg = verb.get_arguments().find(|arg| long(arg))?;
        let value = arg.get_action().takes_values().then(|| words.next()).flatten();
        if flag != "-o" {
            flags.extend([flag].into_iter().chain(value).map(str::to_owned));
        }
    }
    Some((name, flags))
}

#[test]
fn every_command_in_a_message_runs() {
    let folder = Folder::new();
    let (mut all, mut ran) = (Vec::new(), 0);
    for file in small_traces() {
        let file = file.display();
        let mut texts = String::new();
        for verb in ["info", "check", "check --for devtools", "check --for perfetto", "report"] {
            let run = folder.run(&format!("{verb} {file}"));
            texts.push_str(&run.stderr);
            if !verb.starts_with("report") {
                texts.push_str(&run.stdout);
            }
        }
        let run = folder.run(&format!("diff {file} {file}"));
        texts.push_str(&(run.stdout + &run.stderr));
        let texts = texts.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut seen = std::collections::BTreeSet::new();
        seen.extend(texts.split("tracemill ").skip(1).filter_map(flags_in));
        for (verb, flags) in seen {
            let written = match &*verb {
                "merge" | "filter" | "convert" | "slice" => " -f -o out.json.gz",
                "split" => " -f -d parts",
                "profile" | "index" | "view" => continue,
                _ => "",
            };
            ran += 1;
            let line = format!("tracemill {verb} {} '{file}'{written}", flags.join(" "));
            let name = match written {
                "" => None,
                " -f -d parts" => Some("parts"),
                _ => Some("out.json.gz"),
            };
            let _ = std::fs::remove_file(folder.path("out.json.gz"));
            all.extend(wrong(&folder, &line, name));
        }
    }
    assert!(all.is_empty(), "{} of {ran}:\n{}", all.len(), all.join("\n"));
    assert!(ran > 100, "{ran}");
}

/// A page with long input names puts them into a shell array that its commands use.
#[test]
fn commands_of_many_inputs_share_an_array() {
    let folder = Folder::new();
    let profiles = std::fs::read_dir(testdata().join("node-cpu-prof")).expect("a folder");
    let mut names: Vec<String> = Vec::new();
    for (at, profile) in profiles.enumerate() {
        let name = format!("a profile with blanks {at}.cpuprofile");
        std::fs::copy(profile.expect("an entry").path(), folder.path(&name)).expect("a copy");
        names.push(format!("'{name}'"));
    }
    let inputs = names.join(" ");
    let page = shell(&folder, &format!("tracemill report {inputs}"));
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    // row labels have the name without quotes
    assert_eq!(page.matches("a profile with blanks 0.cpuprofile'").count(), 1, "{page}");
    let array = page.lines().find(|line| line.starts_with("F=(")).expect("an array");
    let json = shell(&folder, &format!("tracemill report --json {inputs}"));
    let whole = commands_of(&String::from_utf8_lossy(&json.stdout));
    let short = page.lines().filter_map(|line| line.split_once("tracemill ").map(|parts| parts.1));
    let short: Vec<&str> = short.collect();
    assert_eq!(short.len(), whole.len(), "{page}");
    for (short, whole) in short.into_iter().zip(whole) {
        let [one, other] =
            [format!("{array}\ntracemill {short}"), whole].map(|line| shell(&folder, &line));
        assert_eq!(one.status.code(), Some(0), "{short}");
        assert_eq!(one.stdout, other.stdout, "{short}");
    }
}

#[test]
fn categories_select_their_rows_of_the_whole_log() {
    let path = testdata().join("chromium/trace.json.gz");
    let folder = Folder::new().with("t.json.gz", std::fs::read(path).expect("a trace"));
    let rows = |flags: &str| -> Vec<[Value; 5]> {
        let log = folder.run(&format!("tree --log --json --main {flags} t.json.gz")).ends(0);
        let log: Value = serde_json::from_str(&log.stdout).expect("JSON");
        let columns = log["columns"].as_array().expect("columns");
        let at = |name: &str| columns.iter().position(|column| column == name).expect("a column");
        let places = ["category", "label", "start_ms", "total_ms", "key"].map(at);
        let rows = log["parts"][0]["rows"].as_array().expect("rows");
        rows.iter().map(|row| places.map(|at| row[at].clone())).collect()
    };
    let whole = rows("");
    for names in [&["scripting"][..], &["loading"], &["rendering", "painting"]] {
        let is_listed = |row: &&[Value; 5]| names.iter().any(|name| row[0] == *name);
        let expected: Vec<_> = whole.iter().filter(is_listed).cloned().collect();
        assert!(!expected.is_empty() && expected.len() < whole.len(), "{names:?}");
        assert_eq!(rows(&format!("--category {}", names.join(","))), expected, "{names:?}");
        let flags: String =
            names.iter().map(|name| format!(" --category {}", name.to_uppercase())).collect();
        assert_eq!(rows(&flags), expected, "{flags}");
    }
    let run = folder.run("tree --category scripting t.json.gz").ends(2);
    assert!(run.stderr.contains("--log"), "{}", run.stderr);
}

#[test]
fn keys_printed_by_reports_are_accepted() {
    let path = testdata().join("chromium/trace.json.gz");
    let folder = Folder::new().with("t.json.gz", std::fs::read(path).expect("a trace"));
    let log = folder.run("tree --log --json --times exact -n 400 t.json.gz").ends(0).stdout;
    let log: Value = serde_json::from_str(&log).expect("JSON");
    let columns = log["columns"].as_array().expect("columns");
    let at = |name: &str| columns.iter().position(|column| column == name).expect("a column");
    let info = folder.run("info --json t.json.gz").ends(0).stdout;
    let info: Value = serde_json::from_str(&info).expect("JSON");
    let start = info["time"]["start_ns"].as_i64().expect("a time");
    let mut tried = 0;
    for part in log["parts"].as_array().expect("parts") {
        let rows = part["rows"].as_array().expect("rows").iter();
        let rows = rows.filter(|row| row[at("total_ms")].as_f64() > Some(0.5));
        for row in rows.filter(|row| row[at("key")].is_string()).take(2) {
            let key = row[at("key")].as_str().expect("a key");
            let ns = |ms: &Value| (ms.as_f64().expect("a time") * 1e6).round() as i64;
            let from = start + ns(&row[at("start_ms")]);
            let to = from + ns(&row[at("total_ms")]);
            let thread = &part["threads"][0];
            let window =
                |margin: i64| format!("--from @{}ns --to @{}ns", from - margin, to + margin + 1);
            let same = |one: &str, other: &str| {
                let [one, other] =
                    [one, other].map(|words| folder.run(&format!("{words} t.json.gz -o -")));
                assert_eq!((one.code, &one.stdout), (other.code, &other.stdout), "{key}");
                assert!(one.stdout.len() > 100, "{one:?}");
            };
            same(
                &format!("slice --event {key} --margin 2ms --for devtools"),
                &format!("slice {} --for devtools", window(2_000_000)),
            );
            same(&format!("slice --event {key}"), &format!("slice {}", window(5_000_000)));
            let during = folder.run(&format!("top --times exact --during {key} t.json.gz")).ends(0);
            let within = format!("top --times exact --from @{from}ns --to @{to}ns t.json.gz");
            let head = |text: &str| text.lines().skip(1).collect::<Vec<_>>().join("\n");
            assert_eq!(head(&during.stdout), head(&folder.run(&within).stdout), "{key}");
            let ids: Vec<String> = ["pid", "tid"]
                .map(|id| format!("--{id} {}", thread[id].to_string().trim_matches('"')))
                .to_vec();
            same(
                &format!("filter --event {key}"),
                &format!("filter {} {}", ids.join(" "), window(0)),
            );
            tried += 1;
        }
    }
    assert!(tried > 3, "{tried}: {}", log["parts"][0]);
    folder
        .run("slice --event r-99999999 t.json.gz -o x.json")
        .ends(2)
        .says(&["no event has this key"]);
    folder
        .run("filter --event r-99999999 t.json.gz -o x.json")
        .ends(2)
        .says(&["no event has this key"]);
    folder.run("top --event r-99999999 t.json.gz").ends(1);
}

#[test]
fn both_names_of_an_event_are_equivalent() {
    let path = testdata().join("chromium/trace.json.gz");
    let folder = Folder::new().with("t.json.gz", std::fs::read(path).expect("a trace"));
    let pairs =
        [("FunctionCall", "Function call"), ("RunTask", "Task"), ("TimerFire", "Timer fired")];
    for (pair, title) in pairs {
        for words in [
            "top --csv --all-events --focus '^NAME$'",
            "top --csv --all-events --ignore '^NAME$'",
            "top --csv --all-events --during '^NAME$'",
            "top --csv --all-events --text 'NAME'",
            "tree --csv --all-events --hide '^NAME$'",
            "tree --csv --all-events --root '^NAME$'",
            "tree --all-events --heaviest='^NAME$'",
            "tree --all-events --peek NAME",
            "flame --all-events --peek NAME --format text",
            "filter --name '^NAME$'",
            "filter --invert --name '^NAME$'",
            "filter -i --name '^name$'",
            "slice --around NAME",
            "slice --around '/^NAME$/' --nth 1",
        ] {
            let is_of_rows =
                ["--text", "--heaviest", "--peek"].iter().any(|pair| words.contains(pair));
            if is_of_rows && title == "Task" {
                continue;
            }
            let run = |name: &str| {
                let (name, lower) = (name.replace(' ', "\\ "), name.to_lowercase());
                let quoted = words.contains('\'');
                let name = if quoted { name.replace("\\ ", " ") } else { name };
                let words = words.replace("NAME", &name).replace("name$", &format!("{lower}$"));
                let output = shell(
                    &folder,
                    &format!(
                        "tracemill {words} -q t.json.gz -o - | sed 's/Function call/FunctionCall/;s/Timer fired/TimerFire/;s/what calls Task/what calls RunTask/;s/what Task calls/what RunTask calls/;s/  Task$/  RunTask/'"
                    ),
                );
                String::from_utf8_lossy(&output.stdout).into_owned()
            };
            let [one, other] = [pair, title].map(run);
            assert!(one.len() > 100, "{words} {pair}: {one}");
            assert_eq!(one, other, "{words} {pair}");
        }
    }
    let near = [
        ("top --focus FunctonCall", "did you mean FunctionCall?"),
        ("tree --peek Functioncal", "did you mean FunctionCall?"),
        ("flame --peek RunTsk", "did you mean RunTask?"),
        ("slice --around Tassk", "did you mean Task?"),
        ("filter --name ^Timer.fird$", "did you mean Timer fired?"),
    ];
    for (words, expected) in near {
        let run = folder.run(&format!("{words} t.json.gz -o -"));
        assert!(run.stderr.contains(expected), "{words}: {}", run.stderr);
    }
}

#[test]
fn commands_quote_odd_names() {
    let event = |name: &str, ids: &str, at: u32| {
        format!(r#"{{"ph":"X","name":"{name}","cat":"c",{ids},"ts":{at},"dur":500,"args":{{}}}}"#)
    };
    let events = [
        event("-[NSView draw]", r#""pid":3"#, 1000),
        event("--json", r#""pid":"","tid":"w""#, 1100),
        event("c", r#""pid":-1,"tid":0"#, 1200),
        event("'quoted' \\\"twice\\\"", r#""pid":"a,b","tid":"5-9""#, 1300),
        event(
            "$(x) `y` \\\\",
            r#""pid":" ","tid":"\"""#.replace("\"\"\"", "\"\\\"\"").as_str(),
            1400,
        ),
    ];
    let folder = Folder::new().with("odd.json", format!("[{}]", events.join(",\n")));
    let report = folder.run("report --json -n 9 odd.json").ends(0).stdout;
    let lines = commands_of(&report);
    assert!(lines.len() > 15, "{lines:?}");
    let all: Vec<String> = lines.iter().filter_map(|line| wrong(&folder, line, None)).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
    for line in lines {
        assert_eq!(shell(&folder, &line).status.code(), Some(0), "{line}");
    }
    for (words, count) in
        [("--tid \"\"", 1), ("--pid \"\"", 1), ("--pid -1", 1), ("--pid 3", 1), ("--pid -1,3", 2)]
    {
        for verb in ["top --csv", "filter --format ndjson", "calls --rows"] {
            let run = folder.run(&format!("{verb} odd.json {words}")).ends(0);
            let lines = run.stdout.lines().filter(|line| {
                line.contains("\"c\"") || line.contains(",500") || line.contains("0.5")
            });
            assert!(lines.count() >= count, "{verb} {words}: {}", run.stdout);
        }
    }
}
