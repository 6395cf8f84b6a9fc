//! Compares our refusals with DevTools' engine, for events of every known name and phase, and for
//! text that is not JSON.

use crate::common::engine::engine;
use crate::golden::IN_THE_PANEL;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tracemill_analysis::{ReadRules, Trace};
use tracemill_join::config::Config;
use tracemill_testkit::packing::gz;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

/// A script that loads each file named on standard input, and prints a line with the engine's
/// error, or an empty line.
const ASK: &str = r"
import readline from 'node:readline';
const {load} = await import(process.argv[2] + '/engine.mjs');
for await (const file of readline.createInterface({input: process.stdin})) {
  let said = '';
  try { await load(file); } catch (error) { said = String(error.message).replaceAll('\n', ' ') || 'refused'; }
  process.stdout.write(said + '\n');
}
";

/// Returns the event names in the engine's sources, and some others.
fn names(engine: &Path) -> Vec<String> {
    let source = engine
        .join("node_modules/chrome-devtools-frontend/front_end/models/trace/types/TraceEvents.ts");
    let source = std::fs::read_to_string(source).expect("a source of the engine");
    // Matches `X = 'name',` in its list, and `name === 'name'`.
    let quoted = |line: &str| Some(line.split('\'').nth(1)?.to_owned());
    let is_one = |line: &&str| {
        line.trim_end().ends_with("',") && line.contains(" = '") || line.contains("name === '")
    };
    let mut names: Vec<String> = source.lines().filter(is_one).filter_map(quoted).collect();
    // The engine creates these events itself; no file has them.
    names.retain(|name| !name.starts_with("Synthetic") && name != "CpuProfile");
    names.extend(
        ["process_name", "ScriptCatchup", "LargeScriptCatchup", "of nobody"].map(str::to_owned),
    );
    names.sort();
    names.dedup();
    names
}

/// Returns args that lack data of some events.
fn args() -> Vec<Option<Value>> {
    let all = [
        json!(null),
        json!({}),
        json!({"data": null}),
        json!({"data": {}}),
        json!({"beginData": null}),
        json!({"beginData": {}}),
        json!({"context": {}}),
        json!({"render_frame_host": {}}),
        json!({"data": {"navigationId": "N1"}}),
        json!({"data": {"frame": "F"}}),
        json!({"data": {"frame": ""}}),
        json!({"data": {"url": "https://a.b/"}}),
        json!({"data": {"url": 5}}),
        json!({"data": {"performanceTimelineNavigationId": 3}}),
        json!({"data": {"viewport_rect": [0, 0, 0, 0, 0, 0]}}),
        json!({"beginData": {"frame": "F"}, "data": {"frame": "F", "stackTrace": []}}),
    ];
    std::iter::once(None).chain(all.map(Some)).collect()
}

const CATEGORIES: [Option<&str>; 7] = [
    Some("devtools.timeline"),
    Some("disabled-by-default-devtools.timeline"),
    Some("blink.user_timing"),
    Some("blink.console"),
    Some("disabled-by-default-devtools.target-rundown"),
    Some("disabled-by-default-devtools.v8-source-rundown"),
    Some("disabled-by-default-devtools.v8-source-rundown-sources"),
];
const PHASES: [&str; 11] = ["X", "X", "I", "B", "E", "R", "b", "M", "P", "O", "i"];

/// Returns a trace around an event: of any program, of a page, or of a page with a navigation.
fn around(rng: &mut Rng, event: Value) -> Value {
    let plain = json!({"ph": "X", "name": "plain", "cat": "c", "pid": 7, "tid": 1, "ts": 1000, "dur": 900, "args": {}});
    let mut events = vec![plain];
    if rng.chance(75) {
        let frame = json!({"frame": "F", "url": "https://a.b/", "name": "", "processId": 7,
            "isInPrimaryMainFrame": true, "isOutermostMainFrame": true});
        events.push(json!({"ph": "M", "name": "thread_name", "cat": "__metadata", "pid": 7, "tid": 1, "ts": 0, "args": {"name": "CrRendererMain"}}));
        events.push(json!({"ph": "I", "name": "TracingStartedInBrowser", "cat": "disabled-by-default-devtools.timeline", "pid": 3, "tid": 1, "ts": 900,
            "args": {"data": {"frames": [frame]}}}));
    }
    if rng.chance(30) {
        events.push(json!({"ph": "R", "name": "navigationStart", "cat": "blink.user_timing", "pid": 7, "tid": 1, "ts": 950,
            "args": {"frame": "F", "data": {"documentLoaderURL": "https://a.b/", "navigationId": "N1", "isLoadingMainFrame": true}}}));
    }
    let (mut end, args) = (event.clone(), event["args"].clone());
    events.push(event);
    if end["ph"] == "b" {
        end["ph"] = json!("e");
        end["args"] = if args.is_null() { json!({}) } else { args };
        events.push(end);
    }
    json!({"traceEvents": events})
}

fn event(rng: &mut Rng, name: &str, args: Option<&Value>) -> Value {
    let phase = PHASES[rng.index(PHASES.len())];
    let mut event =
        json!({"ph": phase, "name": name, "pid": if rng.chance(75) { 7 } else { 9 }, "tid": 1});
    event["ts"] = json!(if rng.chance(95) { 1100 } else { 0 });
    if phase == "X" {
        event["dur"] = json!(5);
    }
    let cat = if rng.chance(60) { Some(CATEGORIES[0]) } else { None };
    if let Some(cat) = cat.unwrap_or_else(|| CATEGORIES[rng.index(7)]) {
        event["cat"] = json!(cat);
    }
    if let Some(args) = args {
        event["args"] = args.clone();
    }
    if rng.chance(50) {
        event["id"] = json!("0x1");
    }
    for (key, percent) in [("name", 1), ("cat", 3)] {
        if rng.chance(percent) {
            event.as_object_mut().expect("an event is an object").remove(key);
        }
    }
    event
}

/// Returns the engine's verdicts, in the order of the files.
fn ask(engine: &Path, folder: &Path, files: &[String]) -> Vec<String> {
    let script = folder.join("ask.mjs");
    std::fs::write(&script, ASK).expect("a script");
    let list = folder.join("files");
    std::fs::write(&list, files.iter().map(|file| format!("{file}\n")).collect::<String>())
        .expect("a list");
    let mut command = Command::new("node");
    command.arg(&script).arg(engine).stdin(std::fs::File::open(&list).expect("a list"));
    let output = command.output().expect("the engine runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

/// Returns our refusals, except those of the panel only.
fn ours(file: &str) -> Vec<&'static str> {
    let config = Config::new(1, 64 << 20, std::env::temp_dir());
    match Trace::read(&[Source::Path(file.into())], ReadRules::default(), &config) {
        Ok(trace) => {
            let refusals = trace.refusals.iter().filter(|refusal| !IN_THE_PANEL.contains(refusal));
            refusals.map(|refusal| refusal.name()).collect()
        }
        Err(_) => vec!["unreadable"],
    }
}

/// Returns texts that are not, or barely, JSON traces.
fn texts() -> Vec<String> {
    let event = r#"{"name":"a","cat":"c","ph":"X","pid":1,"tid":1,"ts":5,"dur":1,"args":{"x":#}}"#;
    let values = [
        "NaN",
        "-Infinity",
        "01",
        "+1",
        ".5",
        "1.",
        "1e5",
        "\"\\u00e9\"",
        "\"\\x\"",
        "\"\t\"",
        "tru",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "'a'",
        "[1 2]",
        "\"\\ud83d\"",
        "{\"a\":1,\"a\":2}",
        "-0",
    ];
    let mut all: Vec<String> = Vec::new();
    for value in values {
        let event = event.replace('#', value);
        all.push(format!("[{event}]"));
        all.push(format!(
            "{{\"traceEvents\":[{}],\"metadata\":{{\"v\":{value}}}}}",
            event.replace(value, "1")
        ));
    }
    let sound = event.replace('#', "1");
    for text in [
        "[#,null]",
        "[#,5]",
        "[#,\"x\"]",
        "[#,{}]",
        "[#,[]]",
        "[null]",
        "[#",
        "[#,",
        "[#,]",
        "[,#]",
        "[#]#",
        "[#][#]",
        "[#] ",
        "{\"traceEvents\":[#]",
        "{\"traceEvents\":[#]}",
        "\u{feff}[#]",
        "#\n#\n",
        "{\"a\":1}",
    ] {
        all.push(text.replace('#', &sound));
    }
    all
}

#[test]
fn refusals_match_the_engine() {
    let Some(engine) = engine() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    let mut file = |text: String| {
        let path = folder.path().join(format!("{}.json", files.len()));
        std::fs::write(&path, text).expect("a file");
        files.push(path.to_string_lossy().into_owned());
    };
    texts().into_iter().for_each(&mut file);
    let (names, args) = (names(engine), args());
    assert!(names.len() > 150, "{}", names.len());
    for seed in seeds(1, 2) {
        let rng = &mut Rng::new(seed);
        for name in &names {
            for args in &args {
                // No program writes a URL that is not a string.
                let is_odd = args.as_ref().is_some_and(|arg| arg["data"]["url"] == 5);
                if is_odd && name != "ResourceSendRequest" {
                    continue;
                }
                let event = event(rng, name, args.as_ref());
                file(around(rng, event).to_string());
            }
        }
    }
    let verdicts = ask(engine, folder.path(), &files);
    assert_eq!(verdicts.len(), files.len());
    let (mut wrong, mut refused) = (BTreeMap::<String, (u32, String)>::new(), 0);
    for (file, verdict) in files.iter().zip(&verdicts) {
        let reasons = ours(file);
        refused += u64::from(!verdict.is_empty());
        if reasons.is_empty() != verdict.is_empty() {
            let text = std::fs::read_to_string(file).expect("a file");
            let kind = format!("ours {reasons:?}, the engine's {verdict:?}");
            wrong.entry(kind).or_insert((0, text)).0 += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(refused > 500, "{refused} of {}", files.len());
}

/// DevTools' panel unpacks only the first member; its engine in Node unpacks all.
#[test]
fn gzip_with_several_members_is_refused() {
    let event = r#"[{"name":"a","cat":"c","ph":"X","pid":1,"tid":1,"ts":5,"dur":1,"args":{}}]"#;
    let [one, members] = [event.len(), 20].map(|member| gz(event.as_bytes(), member));
    let padded = [&*one, &[0; 512]].concat();
    for (bytes, expected) in [(one, None), (members, Some("packing")), (padded, Some("packing"))] {
        let config = Config::new(1, 64 << 20, std::env::temp_dir());
        let source = Source::bytes("a.json.gz".to_owned(), bytes);
        let trace = Trace::read(&[source], ReadRules::default(), &config).expect("a trace");
        let names = trace.refusals.iter().map(|refusal| refusal.name());
        assert_eq!(names.collect::<Vec<_>>(), Vec::from_iter(expected));
    }
}
