//! Checks that outputs are valid JSON: invalid text is dropped, kept or repaired, with a message.

use crate::support::{Folder, Run};
use serde_json::Value;

/// Verbs that write a trace to standard output.
const VERBS: [&str; 6] = [
    "merge",
    "convert",
    "convert --style compact",
    "filter --min-dur 0",
    "slice --from 0",
    "merge --format ndjson",
];

fn event(name: &str, ts: u64, rest: &str) -> String {
    format!(r#"{{"name":"{name}","cat":"c","ph":"X","ts":{ts},"dur":1,"pid":1,{rest}}}"#)
}

/// Returns six events, five with a mistake that does not affect brackets.
fn broken() -> String {
    let tid = r#""tid":1,"args":"#;
    let events = [
        event("sound", 1, &format!("{tid}{{}}")),
        event("colon", 2, r#""tid" 1,"args":{}"#),
        event("word", 3, &format!(r#"{tid}{{"x":tru}}"#)),
        event("escape", 4, &format!(r#"{tid}{{"x":"torch\cuda"}}"#)),
        event("zero", 5, &format!(r#"{tid}{{"x":01}}"#)),
        event("pair", 6, &format!(r#"{tid}{{"x" "y"}}"#)),
    ];
    format!("[{}]", events.join(",\n"))
}

/// Returns an event for each mistake that some readers accept, and a top-level key.
fn lenient() -> Vec<u8> {
    let events = [
        event("nan", 1, r#""tid":1,"args":{"x":[NaN,-Infinity]}"#).into_bytes(),
        event("raw\tcontrol", 2, r#""tid":1,"args":{}"#).into_bytes(),
        event("comma", 3, r#""tid":1,"args":{"x":1,}"#).into_bytes(),
    ];
    let latin = [event("caf", 4, r#""tid":1,"args":{"#).as_bytes(), b""].concat();
    let latin = [&latin[..latin.len() - 1], b"\"x\":\"caf\xe9\"}}"].concat();
    let all = [&events[..], &[latin]].concat().join(&b",\n"[..]);
    [b"{\"traceEvents\":[", &all[..], b"],\"extra\":{\"x\":Infinity}}"].concat()
}

fn events(run: &Run) -> Vec<Value> {
    let lines = serde_json::Deserializer::from_str(&run.stdout).into_iter::<Value>();
    let documents: Vec<Value> = lines.map(|line| line.expect("JSON")).collect();
    match &documents[..] {
        [Value::Array(events)] => events.clone(),
        [one] if one.get("traceEvents").is_some() => {
            one["traceEvents"].as_array().expect("an array").clone()
        }
        lines => lines.iter().filter(|line| line.get("tracemill").is_none()).cloned().collect(),
    }
}

/// Asserts that the messages contain all `parts`.
#[track_caller]
fn tells(run: Run, parts: &[&str]) -> Run {
    for part in parts {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    run
}

#[test]
fn invalid_events_are_dropped_with_a_message() {
    let text = broken();
    let folder = Folder::new().with("a.json", &text);
    for verb in VERBS {
        let run = folder.run(&format!("{verb} a.json")).ends(1);
        let first = text.find("{\"name\":\"colon").expect("it is there");
        let first = format!("first at byte {first}: {{\"name\":\"colon");
        let run = tells(run, &["a.json: lost 5 pieces (not-json", &first, "--repair saves those"]);
        assert_eq!(events(&run).len(), 1, "{verb}");
        let run = folder.run(&format!("{verb} a.json --repair")).ends(1);
        let run = tells(
            run,
            &["a.json: lost 4 pieces (not-json", "a.json: mended in 1 place (bad-escape"],
        );
        let kept = events(&run);
        assert_eq!(kept.len(), 2, "{verb}");
        assert_eq!(kept[1]["args"]["x"], "torch\\cuda", "{verb}");
        folder.pipe(&format!("{verb} - --read-size 63"), text.as_bytes()).ends(1);
    }
    tells(folder.run("split a.json --by tid -d parts").ends(1), &["lost 5 pieces (not-json"]);
    for viewer in ["devtools", "perfetto"] {
        let run = folder.run(&format!("merge a.json --for {viewer}")).ends(1);
        assert_eq!(events(&tells(run, &["lost 4 pieces (not-json"])).len(), 2, "{viewer}");
    }
    folder.run("merge a.json --strict -o b.json").ends(3);
}

#[test]
fn lenient_json_is_kept_or_repaired() {
    let text = lenient();
    let folder = Folder::new().with("a.json", &text);
    let kinds =
        ["2 places (nan)", "1 place (raw-control)", "1 place (utf8)", "1 place (trailing-comma)"];
    for verb in VERBS {
        let run = tells(folder.run(&format!("{verb} a.json")).ends(1), &kinds);
        let run = tells(run, &["a.json: kept as it stands in ", "--repair mends it"]);
        assert!(run.stdout.contains("[NaN,-Infinity]"), "{verb}");
        let run = tells(folder.run(&format!("{verb} a.json --repair")).ends(0), &kinds);
        let events = events(&run);
        assert_eq!(events.len(), 4, "{verb}");
        assert_eq!(events[0]["args"]["x"], serde_json::json!([null, null]), "{verb}");
        assert_eq!(events[1]["name"], "raw\tcontrol", "{verb}");
        assert_eq!(events[3]["args"]["x"], "caf\u{fffd}", "{verb}");
        assert!(run.stdout.contains(r#""extra":{"x":null}"#), "{verb}");
    }
    for viewer in ["devtools", "perfetto"] {
        let run = folder.run(&format!("merge a.json --for {viewer}")).ends(0);
        assert_eq!(events(&run).len(), 4, "{viewer}");
    }
    tells(folder.run("split a.json --by tid -d parts --repair").ends(0), &kinds);
    let part = folder.read("parts/a.1.1.json");
    assert!(serde_json::from_str::<Value>(&part).is_ok(), "{part}");
}

#[test]
fn top_level_keys_are_valid_json() {
    let sound = event("sound", 1, r#""tid":1,"args":{}"#);
    let text = format!(r#"{{"a":{{"b":tru}},"traceEvents":[{sound}],"c":01,"d":[1,{{}}]}}"#);
    let folder = Folder::new().with("a.json", text);
    for verb in VERBS {
        let run =
            tells(folder.run(&format!("{verb} a.json")).ends(1), &["lost 2 pieces (not-json"]);
        assert_eq!(events(&run).len(), 1, "{verb}");
        assert!(run.stdout.contains(r#""d":[1,{}]"#), "{verb}: {}", run.stdout);
    }
}

#[test]
fn repair_and_strict_exclude_each_other() {
    let folder = Folder::new().with("a.json", "[]");
    folder.run("merge a.json --strict --repair").ends(2);
}

/// A function name that looks like an escape, in a Windows path.
#[test]
fn backslashes_in_names_and_paths_are_kept() {
    let (name, url) = (r"a\nb", r"C:\new\temp.js");
    let frame = |name: &str, url: &str| serde_json::json!({"functionName": name, "scriptId": "1", "url": url, "lineNumber": 1, "columnNumber": 1});
    let profile = serde_json::json!({
        "nodes": [
            {"id": 1, "callFrame": frame("(root)", ""), "children": [2]},
            {"id": 2, "callFrame": frame(name, url)},
        ],
        "startTime": 1000, "endTime": 4000, "samples": [2, 2, 2], "timeDeltas": [0, 1000, 1000],
    });
    let folder = Folder::new().with("a.cpuprofile", profile.to_string());
    let json = |words: &str| -> Value {
        serde_json::from_str(&folder.run(words).ends(0).stdout).expect("JSON")
    };
    let calls = json("calls a.cpuprofile");
    let events = calls["traceEvents"].as_array().expect("events");
    let call = events.iter().find(|event| event["cat"] == "v8.calls").expect("a call");
    assert_eq!((&call["name"], &call["args"]["url"]), (&name.into(), &url.into()));
    let speedscope = json("convert a.cpuprofile --format speedscope");
    let frame = &speedscope["shared"]["frames"][0];
    assert_eq!((&frame["name"], &frame["file"]), (&name.into(), &url.into()));
    let svg = folder.run("flame a.cpuprofile --format svg").ends(0).stdout;
    assert!(svg.contains(r"<title>a\nb"), "{svg}");
    let labelled =
        folder.run(r"merge a.cpuprofile --label a.cpuprofile=x\ny --report r.json").ends(0);
    let labelled: Value = serde_json::from_str(&labelled.stdout).expect("JSON");
    let events = labelled["traceEvents"].as_array().expect("events");
    let name = events.iter().rfind(|event| event["name"] == "process_name").expect("a name");
    assert_eq!(name["args"]["name"], r"x\ny: a");
}
