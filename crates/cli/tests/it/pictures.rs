//! Exports call trees to other programs, and draws flame graphs.

use crate::support::{Folder, STACKS as TRACE, testdata};
use std::collections::BTreeMap;

fn folder() -> Folder {
    Folder::new().with("t.json", TRACE)
}

#[test]
fn folded_stacks_are_the_tree() {
    let folder = folder();
    folder.run("convert t.json -o t.folded").ends(0).quietly();
    let expected = "thread 1/1;a 5000000\nthread 1/1;a;b 4000000\nthread 1/2;b 500000\n";
    assert_eq!(folder.read("t.folded"), expected);
    assert_eq!(folder.run("convert t.json --format folded").ends(0).stdout, expected);
    assert_eq!(folder.run("tree t.json --format folded").ends(0).stdout, expected);
    let one = folder.run("tree t.json --per all --tid 1 --from 4ms --format folded").ends(0).stdout;
    assert_eq!(one, "a 4000000\na;b 1000000\n");
    let run = folder.run("tree t.json --per all --depth 1 --format folded").ends(0);
    assert_eq!(run.stdout, "a 9000000\nb 500000\n");
    run.says(&["1 row deeper than 1"]);
}

#[test]
fn file_names_choose_format_and_compression() {
    let folder = folder();
    for name in ["t.speedscope.json", "t.pb", "t.collapsed", "t.pb.gz"] {
        folder.run(&format!("convert t.json -o {name}")).ends(0).quietly();
    }
    assert!(folder.read("t.speedscope.json").contains("speedscope.app/file-format-schema.json"));
    let packed = std::fs::read(folder.path("t.pb.gz")).expect("a file");
    assert_eq!(packed[..10], [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF], "neither name nor time");
    folder.run("convert t.json -f -o t.pb.gz").ends(0).quietly();
    assert_eq!(packed, std::fs::read(folder.path("t.pb.gz")).expect("a file"));
    folder.run("merge t.json -o m.folded").ends(2).says(&["tracemill convert"]);
    folder.run("merge t.json --format pprof").ends(2).says(&["convert --format pprof"]);
    folder.run("top t.json -o x.folded").ends(2).says(&["tracemill tree can"]);
    folder.run("tree t.json --bottom-up -o x.folded").ends(2).says(&["--bottom-up"]);
    folder.run("convert t.json --style compact -o x.folded").ends(2).says(&["--style"]);
}

#[test]
fn traces_are_written_for_perfetto() {
    let folder = folder();
    folder.run("convert t.json -o t.pftrace").ends(0).quietly();
    let plain = std::fs::read(folder.path("t.pftrace")).expect("a file");
    assert_eq!(plain[0], 10, "a packet comes first");
    folder.run("convert --format perfetto t.json -o t.bin").ends(0).quietly();
    assert_eq!(plain, std::fs::read(folder.path("t.bin")).expect("a file"));
    folder.run("convert t.json -o t.perfetto-trace.gz").ends(0).quietly();
    let packed = std::fs::read(folder.path("t.perfetto-trace.gz")).expect("a file");
    assert_eq!(packed[..4], [0x1F, 0x8B, 8, 0]);
    let verbose = folder.run("convert -v -f t.json -o t.pftrace").ends(0).stderr;
    assert!(verbose.contains(" slices, 0 instants, "), "{verbose}");
    folder.run("convert t.json -o t.pftrace").ends(2).says(&["exists already"]);
    folder.run("convert t.json --style compact -o x.pftrace").ends(2).says(&["--style"]);
    folder.run("merge t.json -o x.pftrace").ends(2).says(&["tracemill convert"]);
    folder.run("merge t.json --format perfetto").ends(2).says(&["convert --format perfetto"]);
    folder.run("tree t.json --format perfetto").ends(2);
    let cut = r#"{"otherData":{},"traceEvents":[{"ph":"E","name":"a","pid":1,"tid":1,"ts":1},{"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":"#;
    let folder = folder.with("cut.json", cut);
    let stderr = folder.run("convert cut.json -o cut.pftrace").ends(1).stderr;
    for part in ["1 end without a begin", "no place for it: otherData"] {
        assert!(stderr.contains(part), "{stderr}");
    }
}

/// Returns attributes and title of each frame of an SVG.
fn frames(svg: &str) -> Vec<(BTreeMap<String, String>, String)> {
    // wide frames have a visible name and a separate title
    let elements = svg.split(" class=\"f ").skip(1);
    let of = |element: &str| {
        let (head, rest) = element.split_once('>').expect("a tag ends");
        let words: Vec<&str> = head.split('"').collect();
        let mut all =
            BTreeMap::from([("class".to_owned(), words[0].trim_end_matches(" w").to_owned())]);
        for pair in words[1..].chunks_exact(2) {
            all.insert(pair[0].trim().trim_end_matches('=').to_owned(), pair[1].to_owned());
        }
        let title = match all.remove("data-t") {
            Some(title) => title.replace("&#10;", "\n"),
            None => {
                let rest = rest.strip_prefix("<title>").expect("a title");
                rest.split_once("</title>").expect("it ends").0.to_owned()
            }
        };
        (all, title)
    };
    elements.map(of).collect()
}

fn names(svg: &str) -> Vec<(String, String, String)> {
    let frames_drawn = frames(svg);
    frames_drawn
        .iter()
        .map(|(all, title)| {
            let name = title.lines().next().unwrap_or_default().to_owned();
            (name, all["x"].clone(), all["width"].clone())
        })
        .collect()
}

fn owned(all: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    all.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect()
}

#[test]
fn frames_are_as_wide_as_their_time() {
    let folder = folder();
    folder.run("flame --per all t.json -o t.svg").ends(0).quietly();
    let svg = folder.read("t.svg");
    let expected = [
        ("process 1", "0%", "100%"),
        ("a", "0%", "94.7368%"),
        ("b", "0%", "42.1053%"),
        ("b", "94.7368%", "5.2632%"),
    ];
    assert_eq!(names(&svg), owned(&expected));
    let chart = folder.run("flame --order time --tid 1 --format svg t.json").ends(0).stdout;
    let expected = [
        ("thread 1/1", "0%", "100%"),
        ("a", "0%", "100%"),
        ("b", "11.1111%", "33.3333%"),
        ("b", "55.5556%", "11.1111%"),
    ];
    assert_eq!(names(&chart), owned(&expected));
    // nothing is fetched: the only URLs are XML namespaces
    let addresses = svg.matches("http").count();
    assert_eq!(addresses, svg.matches("\"http://www.w3.org/2000/svg\"").count());
}

#[test]
fn negative_self_times_are_reported() {
    let back = r#"[{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":10,"dur":90},
        {"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":50,"dur":-30}]"#;
    let folder = folder().with("back.json", back);
    folder.run("flame back.json -o back.svg").ends(0).says(&["below zero"]);
    let profiles = crate::support::testdata().join("node-cpu-prof").display().to_string();
    folder.run(&format!("flame {profiles} -o p.svg")).ends(0).quietly();
    folder.run("flame t.json -o t.svg").ends(0).quietly();
}

#[test]
fn peek_draws_callers_and_callees() {
    let folder = folder();
    let svg = folder.run("flame --peek b --format svg t.json").ends(0).stdout;
    let expected = [("b", "0%", "100%"), ("a", "0%", "88.8889%"), ("b", "0%", "100%")];
    assert_eq!(names(&svg), owned(&expected));
    let texts = ["nothing matches --peek nothing (the trace has a, b)"];
    folder.run("flame --peek nothing t.json").ends(1).says(&texts);
}

#[test]
fn differences_are_coloured_and_complete() {
    let folder = folder().with(
        "new.json",
        TRACE.replace("3000}", "4000}").replace(
            "\"b\",\"cat\":\"c\",\"pid\":1,\"tid\":2",
            "\"c\",\"cat\":\"c\",\"pid\":1,\"tid\":2",
        ),
    );
    let svg = folder.run("flame --diff t.json new.json --format svg").ends(0).stdout;
    let classes: Vec<(String, String)> = frames(&svg)
        .into_iter()
        .map(|(all, title)| {
            (title.lines().next().unwrap_or_default().to_owned(), all["class"].clone())
        })
        .collect();
    let of = |name: &str| {
        classes.iter().filter(|frame| frame.0 == name).map(|class| &*class.1).collect::<Vec<_>>()
    };
    assert_eq!(of("c"), ["new"]);
    assert_eq!(of("b"), ["p3", "p3", "gone"]);
    assert_eq!(of("a"), ["n3", "n3"]);
    let equal = folder.run("flame --diff t.json t.json --format svg").ends(0).stdout;
    assert!(frames(&equal).iter().all(|(all, _)| all["class"] == "same"), "{equal}");
}

#[test]
fn text_is_as_wide_as_the_terminal() {
    let folder = folder();
    let run =
        folder.command("flame --per all t.json").env("COLUMNS", "40").output().expect("a run");
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "9.50 ms  process 1");
    assert!(lines[1].starts_with("▏a 94.7 %") && lines[1].contains("▏b"), "{text}");
    assert!(lines[2].starts_with("▏b 42.1 %"), "{text}");
    assert!(lines.iter().skip(1).all(|line| line.chars().count() <= 40), "{text}");
    let coloured = folder.run("flame --per all --color always t.json").ends(0).stdout;
    assert!(coloured.contains("\u{1b}[30;48;5;"), "{coloured}");
    for name in ["x.png", "x.html"] {
        folder.run(&format!("flame t.json -o {name}")).ends(2).says(&["flame writes .svg"]);
    }
    folder.run("flame --order time --per all t.json").ends(2).says(&["leave out --per"]);
}

#[test]
fn frames_of_recordings_fit_their_parents() {
    let folder = Folder::new();
    let trace = testdata().join("chromium/trace.json.gz");
    for (flags, most) in
        [("", 20_000), ("--max-frames 50", 50), ("--order time --max-frames 300", 300)]
    {
        let mut command = folder.command(&format!("flame --format svg --main {flags}"));
        let output = command.arg(&trace).output().expect("a run");
        let svg = String::from_utf8(output.stdout).expect("UTF-8");
        let all = frames(&svg);
        assert!(all.len() <= most && all.len() > 20, "{flags}: {}", all.len());
        let number = |text: &str| text.trim_end_matches('%').parse::<f64>().expect("a number");
        let mut path: Vec<(f64, f64)> = Vec::new();
        for (frame, title) in &all {
            let depth: usize = frame["data-d"].parse().expect("a number");
            let (from, width) = (number(&frame["x"]), number(&frame["width"]));
            path.truncate(depth);
            if let Some((start, end)) = path.last() {
                let inside = from >= start - 0.0002 && from + width <= end + 0.0003;
                assert!(inside, "{flags}: {title} {from} {width} in {start} {end}");
            }
            path.push((from, from + width));
        }
    }
}
