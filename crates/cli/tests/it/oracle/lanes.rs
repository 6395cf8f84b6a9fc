//! A merge of `.cpuprofile` files is a trace in which DevTools draws each profile on a separate
//! thread.

use super::engine::{Engine, beside, engine, inputs_with_profiles, json, tracemill};
use super::extract::{Repair, ask, repair};
use super::portrait::{assert_same, count, portrait, sheet};
use super::stream::Stream;
use crate::support::{Folder, testdata};
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A `.cpuprofile` named by Node, with DevTools' result for it.
pub(super) struct Single {
    pub(super) file: PathBuf,
    pub(super) pid: u64,
    pub(super) tid: u64,
    portrait: Value,
}

impl Single {
    fn read(oracle: &Engine, file: PathBuf) -> Self {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        // CPU.<date>.<time>.<pid>.<tid>.<seq>.cpuprofile
        let part = |at| name.split('.').nth(at).and_then(|part| part.parse().ok()).expect("Node's");
        let (pid, tid) = (part(3), part(4));
        Single { portrait: portrait(&oracle.ask(&file)), file, pid, tid }
    }

    /// Reads all profiles of a folder in the order of names, which is time order.
    pub(super) fn all(oracle: &Engine, folder: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(folder).expect("a folder of profiles");
        let mut files: Vec<PathBuf> =
            entries.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "cpuprofile"));
        files.sort();
        files.into_iter().map(|file| Single::read(oracle, file)).collect()
    }

    pub(super) fn thread_name(&self) -> String {
        if self.tid == 0 { "main thread".to_owned() } else { format!("worker {}", self.tid) }
    }
}

/// A profile in a merged trace, with the thread on which DevTools draws it.
pub(super) struct Lane {
    pub(super) pid: u64,
    pub(super) tid: u64,
    pub(super) name: String,
    /// Kind of thread, as DevTools sees it.
    pub(super) kind: String,
    portrait: Value,
}

/// A merged trace, DevTools' result for it, and its tracks.
pub(super) struct Merged {
    pub(super) answer: Value,
    pub(super) lanes: Vec<Lane>,
}

impl Merged {
    /// Merges inputs; `is_ours` selects the processes whose tracks are kept.
    pub(super) fn of(
        oracle: &Engine,
        inputs: &[&Path],
        words: &str,
        is_ours: impl Fn(u64) -> bool,
    ) -> Self {
        let folder = Folder::new();
        let file = folder.path("merged.json");
        let words = format!("merge {words} -o");
        let words: Vec<&str> = words.split_whitespace().collect();
        let output = tracemill(&words, &[&[&*file], inputs].concat());
        // status 1 means damage, whose effect is checked below
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        let (content, answer) = (json(&file), oracle.ask(&file));
        let profiles = answer["profiles"].as_array().expect("profiles").iter();
        let ours = profiles.filter(|profile| profile["pid"].as_u64().is_some_and(&is_ours));
        let lanes = ours.map(|profile| {
            let mut ids = profile.clone();
            ids["id"] = profile["profileId"].clone();
            let alone = folder.path("alone.json");
            std::fs::write(&alone, Stream::of(&content, &ids).alone().to_string()).expect("a file");
            let portrait = portrait(&oracle.ask(&alone));
            // alone it is the profile that DevTools sees among the others
            assert_same("a lane", &sheet(profile), &portrait["profiles"][0]);
            lane(&answer, profile, portrait)
        });
        let lanes = lanes.collect();
        Merged { answer, lanes }
    }

    /// Asserts that each profile has a separate track and is unchanged; returns the tracks in the
    /// order of `singles`.
    #[track_caller]
    pub(super) fn check(&self, singles: &[Single]) -> Vec<&Lane> {
        assert_eq!(self.lanes.len(), singles.len(), "number of lanes");
        let mut free: Vec<&Lane> = self.lanes.iter().collect();
        let threads: HashSet<_> = free.iter().map(|lane| (lane.pid, lane.tid)).collect();
        assert_eq!(threads.len(), free.len(), "two profiles on one thread");
        let of_single = |single: &Single| {
            let same = |lane: &&Lane| lane.portrait == single.portrait;
            // prefers the original thread, because a copy equals its original
            let at_home =
                |lane: &&Lane| same(lane) && (lane.pid, lane.tid) == (single.pid, single.tid);
            let at = free.iter().position(at_home).or(free.iter().position(same));
            let at = at.unwrap_or_else(|| panic!("{}: changed or lost", single.file.display()));
            free.remove(at)
        };
        singles.iter().map(of_single).collect()
    }
}

/// Returns the track of a profile, which must be drawn.
#[track_caller]
fn lane(answer: &Value, profile: &Value, portrait: Value) -> Lane {
    let [pid, tid] = ["pid", "tid"].map(|key| profile[key].as_u64().expect("a number"));
    let mut threads = answer["threads"].as_array().expect("threads").iter();
    let thread = threads.find(|thread| thread["pid"] == pid && thread["tid"] == tid);
    let thread = thread.unwrap_or_else(|| panic!("no lane for pid {pid}, tid {tid}"));
    assert!(count(&thread["profileCalls"]) > 0, "pid {pid}, tid {tid}: an empty lane");
    let text = |key: &str| thread[key].as_str().expect("a text").to_owned();
    Lane { pid, tid, name: text("name"), kind: text("type"), portrait }
}

fn process_names(answer: &Value) -> Vec<(u64, String)> {
    let names = answer["processNames"].as_array().expect("names").iter();
    let read = |name: &Value| {
        (name[0].as_u64().expect("a number"), name[1].as_str().expect("a name").to_owned())
    };
    let mut names: Vec<_> = names.map(read).collect();
    names.sort();
    names
}

fn files(singles: &[Single]) -> Vec<&Path> {
    singles.iter().map(|single| &*single.file).collect()
}

/// Returns folders written by `node --cpu-prof` with several processes and workers.
fn folders() -> [PathBuf; 2] {
    [testdata().join("node-cpu-prof"), beside("corpus/node20/cpu-prof")]
}

/// Runs `check` on the profiles of each folder and their merge.
fn on_each_folder(words: &str, check: impl Fn(&[Single], &Merged, &[&Lane])) {
    let Some(oracle) = &engine() else { return };
    for folder in folders() {
        let singles = Single::all(oracle, &folder);
        let pids: HashSet<u64> = singles.iter().map(|single| single.pid).collect();
        assert!(singles.len() >= 4 && pids.len() >= 2, "{}: too few", folder.display());
        let merged = Merged::of(oracle, &[&folder], words, |_| true);
        check(&singles, &merged, &merged.check(&singles));
    }
}

#[test]
fn profiles_go_to_the_thread_in_their_name() {
    on_each_folder("", |singles, merged, lanes| {
        assert_eq!(merged.answer["traceIsGeneric"], true);
        for (single, lane) in singles.iter().zip(lanes) {
            let expected = (single.pid, single.tid, single.thread_name());
            assert_eq!((lane.pid, lane.tid, lane.name.clone()), expected);
        }
        let pids: HashSet<u64> = singles.iter().map(|single| single.pid).collect();
        let mut names: Vec<_> = pids.iter().map(|pid| (*pid, format!("Process {pid}"))).collect();
        names.sort();
        assert_eq!(process_names(&merged.answer), names);
    });
}

/// DevTools draws no process without a page, and collapses all but the main thread.
#[test]
fn for_devtools_the_earliest_process_gets_the_main_thread() {
    on_each_folder("--for devtools", |singles, merged, lanes| {
        assert_eq!(merged.answer["traceIsGeneric"], false);
        for (at, (single, lane)) in singles.iter().zip(lanes).enumerate() {
            assert_eq!((lane.pid, lane.tid), (single.pid, single.tid));
            // this name makes DevTools call it "Main — <url>"
            let (name, kind) = match at {
                0 => ("CrRendererMain".to_owned(), "MAIN_THREAD"),
                _ => (single.thread_name(), "OTHER"),
            };
            assert_eq!((&lane.name, &*lane.kind), (&name, kind), "lane {at}");
        }
        let processes = merged.answer["processes"].as_array().expect("processes");
        for process in processes {
            assert!(process["url"].is_string(), "{process}");
            let is_first = process["pid"] == singles[0].pid;
            assert_eq!(process["isOnMainFrame"], is_first, "{process}");
            assert_eq!(is_first, process["url"] == merged.answer["mainFrameURL"], "{process}");
        }
        let starts = singles.iter().map(|single| json(&single.file)["startTime"].clone());
        let first = starts.min_by_key(|start| start.as_u64()).expect("a start");
        assert_eq!(merged.answer["bounds"]["min"], first, "something lies left of the range");
    });
}

#[test]
fn pid_one_puts_all_profiles_into_one_process() {
    on_each_folder("--pid one", check_one_process);
    on_each_folder("--pid one --for devtools", |singles, merged, lanes| {
        check_one_process(singles, merged, lanes);
        assert_eq!(merged.answer["traceIsGeneric"], false);
        let mains = lanes.iter().filter(|lane| lane.kind == "MAIN_THREAD");
        let mains: Vec<_> = mains.map(|lane| (lane.pid, lane.tid)).collect();
        assert_eq!(mains, [(singles[0].pid, singles[0].tid)]);
    });
}

fn check_one_process(singles: &[Single], merged: &Merged, lanes: &[&Lane]) {
    let pid = singles[0].pid;
    for (single, lane) in singles.iter().zip(lanes) {
        assert_eq!(lane.pid, pid);
        let name = match single.pid == pid {
            true => single.thread_name(),
            false => format!("Process {}: {}", single.pid, single.thread_name()),
        };
        assert!([&*name, "CrRendererMain"].contains(&&*lane.name), "{name}: {}", lane.name);
    }
    assert_eq!(process_names(&merged.answer), [(pid, format!("Process {pid}"))]);
}

/// DevTools draws one profile per thread and drops all other profiles of the thread.
#[test]
fn two_profiles_of_one_thread_get_two_tracks() {
    let Some(oracle) = &engine() else { return };
    let mut singles = Single::all(oracle, &folders()[0]);
    singles.truncate(2);
    let name = singles[0].file.file_name().expect("a name").to_string_lossy().into_owned();
    let folder = Folder::new();
    // another profile of the first thread, and a copy of the first profile
    for (original, sequence) in [(1, "003"), (0, "004")] {
        let copy = folder.path(&name.replace(".001.", &format!(".{sequence}.")));
        std::fs::copy(&singles[original].file, &copy).expect("a copy");
        singles.push(Single::read(oracle, copy));
    }
    for words in ["", "--for devtools", "--pid one"] {
        let merged = Merged::of(oracle, &files(&singles), words, |_| true);
        let lanes = merged.check(&singles);
        assert!(lanes.iter().all(|lane| lane.pid == singles[0].pid), "{words}");
        let names: Vec<&str> = lanes.iter().skip(1).map(|lane| &*lane.name).collect();
        assert_eq!(
            names,
            ["worker 1", "main thread, profile 003", "main thread, profile 004"],
            "{words}"
        );
    }
}

/// A stream with fewer than two samples does not tell its end; DevTools then ends it at its start.
#[test]
fn cpuprofiles_are_the_same_in_a_trace() {
    let Some(oracle) = &engine() else { return };
    let (mut profiles, mut samples) = (0, 0);
    for input in inputs_with_profiles().iter().filter(|input| !input.is_trace) {
        let is_known = matches!(repair(input), None | Some(Repair::End));
        let Some(answer) = ask(oracle, input).filter(|_| is_known) else { continue };
        let count = answer["profiles"][0]["samples"].as_u64().expect("a count");
        if count < 2 {
            continue;
        }
        let merged = Merged::of(oracle, &[&input.file], "", |_| true);
        assert_eq!(merged.lanes.len(), 1, "{}", input.name);
        assert_same(&input.name, &portrait(&answer), &merged.lanes[0].portrait);
        profiles += 1;
        samples += count;
    }
    assert!(profiles >= 20 && samples >= 20_000, "{profiles} profiles, {samples} samples");
}
