//! Runs `record` with Node programs; without Node the tests do nothing.

use crate::support::{Folder, Run};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A main thread, two workers and a child process, all busy.
const BUSY: &str = "
import { Worker, isMainThread } from 'node:worker_threads';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
function spin(ms) { const end = Date.now() + ms; let n = 0; while (Date.now() < end) n += Math.sqrt(n + 1); return n; }
function inMain() { return spin(60); }
function inWorker() { return spin(60); }
function inChild() { return spin(60); }
if (process.argv[2] === 'child') {
  inChild();
} else if (isMainThread) {
  const own = new URL(import.meta.url);
  const ends = [1, 2].map(() => once(new Worker(own), 'exit'));
  ends.push(once(fork(fileURLToPath(own), ['child']), 'exit'));
  inMain();
  console.log(process.argv.slice(2).join());
  await Promise.all(ends);
  process.exitCode = 3;
} else {
  inWorker();
}";

fn has_node() -> bool {
    let version = Command::new("node").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Returns the samples of a profile as stacks of functions, and the time deltas.
fn samples(profile: &Value) -> (Vec<Vec<String>>, Vec<i64>) {
    let nodes = profile["nodes"].as_array().expect("nodes");
    let by_id = |id: &Value| nodes.iter().find(|node| node["id"] == *id).expect("a node");
    let parent = |id: &Value| {
        let has = |node: &&Value| {
            node["children"].as_array().is_some_and(|children| children.contains(id))
        };
        nodes.iter().find(has).map(|node| node["id"].clone())
    };
    let stack = |id: &Value| {
        let ids = std::iter::successors(Some(id.clone()), parent);
        ids.map(|id| by_id(&id)["callFrame"].to_string()).collect::<Vec<_>>()
    };
    let ids = profile["samples"].as_array().expect("samples");
    let steps = profile["timeDeltas"].as_array().expect("steps");
    (ids.iter().map(stack).collect(), steps.iter().map(|step| step.as_i64().expect("µs")).collect())
}

#[test]
fn threads_of_all_processes_are_in_one_trace() {
    if !has_node() {
        return;
    }
    let folder = Folder::new();
    std::fs::create_dir(folder.path("a folder")).expect("a folder");
    std::fs::write(folder.path("a folder/busy.mjs"), BUSY).expect("a program");
    let mut command = folder.command("record -o a.json --keep kept --");
    command.args(["node", "a folder/busy.mjs", "--x", "two words"]).env_remove("NODE_OPTIONS");
    command.env("TMPDIR", folder.path("a folder"));
    let run = Run::of(command.output().expect("it runs")).ends(3);
    assert_eq!(run.stdout, "--x,two words\n");
    assert!(
        run.stderr.contains("wrote a.json: 4 CPU profiles of 2 processes. Next: "),
        "{}",
        run.stderr
    );
    assert_eq!(std::fs::read_dir(folder.path("a folder")).expect("a folder").count(), 1);

    folder.run("check --for devtools a.json").ends(0);
    for function in ["inMain", "inWorker", "inChild"] {
        let rows =
            json(&folder.run(&format!("top --json --focus {function} a.json")).ends(0).stdout);
        assert!(rows["parts"][0]["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
    }
    let listed = json(&folder.run("profile list --json a.json").ends(0).stdout);
    let names: Vec<_> =
        listed["profiles"].as_array().expect("a list").iter().map(|p| &p["thread"]).collect();
    assert!(names.contains(&&Value::from("JavaScriptMainThread")), "{listed}");
    // still a trace of Node, even with events for DevTools
    let report = folder.run("report a.json").ends(0).stdout;
    assert!(report.starts_with("# node: a.json, "), "{report}");
    assert!(report.contains("JavaScriptMainThread") && report.contains("## blocks"), "{report}");
    assert!(!report.contains("CrRendererMain") && !report.contains("## web"), "{report}");
    let mut lanes: Vec<_> = (listed["profiles"].as_array().expect("a list").iter())
        .map(|profile| (profile["pid"].to_string(), profile["tid"].to_string()))
        .collect();
    lanes.sort();
    lanes.dedup();
    assert_eq!(lanes.len(), 4, "{listed}");

    folder.run("profile extract a.json -d out").ends(0);
    let read = |dir: &str| {
        let files = std::fs::read_dir(folder.path(dir)).expect("profiles").map(|e| e.expect("one"));
        let files = files.filter(|file| file.path().extension().is_some_and(|e| e == "cpuprofile"));
        let text = |file: std::fs::DirEntry| std::fs::read_to_string(file.path()).expect("text");
        let mut all: Vec<_> = files.map(|file| samples(&json(&text(file)))).collect();
        all.sort();
        all
    };
    let kept = read("kept");
    assert_eq!(kept.len(), 4);
    assert!(kept.iter().all(|(stacks, _)| stacks.len() > 10));
    assert_eq!(kept, read("out"));
}

#[test]
fn single_processes_keep_their_node_options() {
    if !has_node() {
        return;
    }
    let folder = Folder::new()
        .with("the app.cjs", "console.log(globalThis.given, process.argv[2]);")
        .with("the options.cjs", "globalThis.given = 'given';");
    for name in ["the traces", "the scratch"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    let mut command = folder.command("record -o");
    command.args(["the traces/one trace.json.gz", "--keep", "what is kept", "-T", "the scratch"]);
    command.args(["--", "node", "the app.cjs", "a word"]);
    command.env("NODE_OPTIONS", "--require \"./the options.cjs\"");
    let run = Run::of(command.output().expect("it runs")).ends(0);
    assert_eq!(run.stdout, "given a word\n");
    assert!(
        run.stderr.contains(
            "one trace.json.gz: 1 CPU profile of 1 process. Next: tracemill report 'the traces/"
        ),
        "{run:?}"
    );
    assert_eq!(std::fs::read_dir(folder.path("the scratch")).expect("a folder").count(), 0);
    // a trace, a profile, and the script that Node loads
    assert_eq!(std::fs::read_dir(folder.path("what is kept")).expect("a folder").count(), 3);

    let mut list = folder.command("profile list --json");
    let output = list.arg("the traces/one trace.json.gz").output().expect("it runs");
    let listed = json(&Run::of(output).ends(0).stdout);
    assert_eq!(listed["profiles"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed["profiles"][0]["thread"], "JavaScriptMainThread");
}

#[test]
fn killed_programs_determine_the_status() {
    if !has_node() {
        return;
    }
    let program = "process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000);";
    let folder = Folder::new().with("killed.cjs", program);
    let run = folder.run("record --categories= -o a.json -- node killed.cjs").ends(137);
    run.says(&["nothing was recorded, and no trace is written: node was ended by signal 9"]);
    assert_eq!(folder.names(), ["killed.cjs"]);
}

#[test]
fn killed_children_lose_only_their_own_profiles() {
    if !has_node() {
        return;
    }
    let program = "
        const { fork } = require('child_process');
        if (process.argv[2]) { process.send(1); setInterval(() => {}, 1000); }
        else { const c = fork(__filename, ['x']); c.on('message', () => setTimeout(() => c.kill('SIGKILL'), 1500)); }";
    let folder = Folder::new().with("kill.cjs", program);
    let run = folder.run("record -o a.json.gz -- node kill.cjs");
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    assert!(run.stderr.contains("a.json.gz: 1 CPU profile of "), "{}", run.stderr);
    folder.run("check --for devtools a.json.gz").ends(0);
}

#[test]
fn ctrl_c_ends_only_the_program() {
    if !has_node() {
        return;
    }
    let program = "console.log('up'); setInterval(() => { for (let n = 0; n < 1e6; n++); }, 1);";
    let folder = Folder::new().with("endless.cjs", program);
    let mut command = Command::new(crate::support::binary());
    command.args(["record", "-o", "a.json", "--", "node", "endless.cjs"]).process_group(0);
    command.current_dir(folder.path(".")).env("TMPDIR", folder.path("."));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(2));
    let group = Pid::from_raw(child.id().cast_signed()).expect("a pid");
    kill_process_group(group, Signal::INT).expect("it is there");
    let begun = Instant::now();
    let run = Run::of(child.wait_with_output().expect("it ends")).ends(130);
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert!(run.stderr.contains("1 CPU profile of 1 process"), "{}", run.stderr);
    assert_eq!(folder.names(), ["a.json", "endless.cjs"]);
    folder.run("check --for devtools a.json").ends(0);
}

#[test]
fn impossible_recordings_are_refused() {
    let folder = Folder::new().with("old.json", "[]").with("kept", "");
    folder.run("record -- sh -c exit").ends(1).says(&["nothing was recorded", "sh ran no Node"]);
    let mut seven = folder.command("record -q --");
    Run::of(seven.args(["sh", "-c", "exit 7"]).output().expect("it runs")).ends(7);
    folder.run("record -- no-such-program").ends(127).says(&["cannot start no-such-program"]);
    for words in ["-o old.json", "-o -", "--keep .", "--interval 0s", "--interval fast"] {
        let run = folder.run(&format!("record {words} -- touch ran")).ends(2);
        assert!(run.stderr.starts_with("tracemill: "), "{words}: {}", run.stderr);
    }
    folder.run("record --keep kept -- touch ran").ends(4);
    folder.run("record").ends(2);
    assert_eq!(folder.names(), ["kept", "old.json"]);
}

#[test]
fn printed_commands_record_again() {
    if !has_node() {
        return;
    }
    let folder =
        Folder::new().with("a.mjs", "const end = Date.now() + 60; while (Date.now() < end);");
    let mut command = folder.command("record -v -o a.json --keep kept --");
    let command = command.arg("node a.mjs && exit 4").env_remove("NODE_OPTIONS");
    let run = Run::of(command.output().expect("it runs")).ends(4);
    let line = run.stderr.lines().find(|line| line.contains("NODE_OPTIONS=")).expect(&run.stderr);
    let line = line.trim_start_matches("tracemill: ");
    assert!(line.ends_with(" sh -c 'node a.mjs && exit 4'"), "{line}");

    let profiles = || {
        let files = std::fs::read_dir(folder.path("kept")).expect("a folder").flatten();
        files.filter(|file| file.path().extension().is_some_and(|end| end == "cpuprofile")).count()
    };
    assert_eq!(profiles(), 1);
    // base64 of `node a.mjs`
    let files = std::fs::read_dir(folder.path("kept")).expect("a folder").flatten();
    let mut names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    assert!(names.any(|name| name.starts_with("MAIN-CPU--bm9kZSBhLm1qcw.")));
    let mut again = Command::new("sh");
    let again = again.arg("-c").arg(line).current_dir(folder.path(".")).status().expect("it runs");
    assert_eq!((again.code(), profiles()), (Some(4), 2));
}
