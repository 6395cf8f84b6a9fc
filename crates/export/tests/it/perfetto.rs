//! Reads exported Perfetto traces with an independent reader that replays the packets.

use crate::common::random::{config, generate};
use crate::protobuf::{Field, fields};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use tracemill_export::{Perfetto, PerfettoDraft};
use tracemill_pipeline::merge;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;
use tracemill_trace::output::target::OutputConfig;

/// The result of replaying a trace.
#[derive(Debug, Default)]
struct Played {
    /// Track, name, start and duration.
    slices: Vec<(u64, String, i64, i64)>,
    instants: Vec<(u64, String, i64)>,
    counters: Vec<(u64, f64)>,
    /// Phase, id and track of flow events.
    flows: Vec<(char, u64, u64)>,
    /// Field and id of flows bound to slices.
    bound: Vec<(u64, u64)>,
    /// Name and parent of other tracks.
    tracks: BTreeMap<u64, (String, u64)>,
    threads: BTreeMap<u64, (u64, u64, String)>,
    processes: BTreeMap<u64, String>,
    /// Tid, microseconds, and stack from its root.
    samples: Vec<(u64, i64, Vec<String>)>,
    annotations: Vec<(String, String)>,
    unended: usize,
    /// Number of times a sequence was reset.
    cleared: usize,
}

fn number(message: &[(u64, Field<'_>)], field: u64) -> Option<u64> {
    message.iter().find_map(|(key, value)| match value {
        Field::Number(number) | Field::Fixed(number) if *key == field => Some(*number),
        _ => None,
    })
}

fn bytes<'b>(message: &[(u64, Field<'b>)], field: u64) -> Vec<&'b [u8]> {
    let all = message.iter().filter(|(key, _)| *key == field);
    all.filter_map(|(_, value)| if let Field::Bytes(bytes) = value { Some(*bytes) } else { None })
        .collect()
}

fn text(message: &[(u64, Field<'_>)], field: u64) -> String {
    let all = bytes(message, field);
    all.first().map_or(String::new(), |bytes| String::from_utf8(bytes.to_vec()).expect("UTF-8"))
}

/// The state of a sequence.
#[derive(Default)]
struct Known {
    texts: BTreeMap<(u64, u64), String>,
    frames: BTreeMap<u64, String>,
    stacks: BTreeMap<u64, Vec<String>>,
    thread: u64,
    micros: i64,
}

impl Known {
    fn learn(&mut self, interned: &[u8]) {
        for (field, value) in fields(interned) {
            let Field::Bytes(one) = value else { panic!("a message") };
            let one = fields(one);
            let id = number(&one, 1).expect("a number");
            match field {
                6 => {
                    let function = number(&one, 2).expect("a function");
                    assert!(self.texts.contains_key(&(19, number(&one, 3).expect("a mapping"))));
                    self.frames.insert(id, self.texts[&(5, function)].clone());
                }
                7 => {
                    let frames = one.iter().filter(|(key, _)| *key == 2);
                    let stack = frames.map(|(_, value)| match value {
                        Field::Number(frame) => self.frames[frame].clone(),
                        other => panic!("{other:?}"),
                    });
                    self.stacks.insert(id, stack.collect());
                }
                _ => drop(self.texts.insert((field, id), text(&one, 2))),
            }
        }
    }
}

fn play(trace: &[u8]) -> Played {
    let mut played = Played::default();
    let mut known: BTreeMap<u64, Known> = BTreeMap::new();
    let mut open: BTreeMap<u64, Vec<(String, i64)>> = BTreeMap::new();
    let mut last = 0;
    for packet in bytes(&fields(trace), 1) {
        let packet = fields(packet);
        let sequence = number(&packet, 10).expect("a sequence");
        let state = known.entry(sequence).or_default();
        if number(&packet, 13).unwrap_or(0) & 1 == 1 {
            *state = Known::default();
            played.cleared += 1;
        }
        bytes(&packet, 12).into_iter().for_each(|interned| state.learn(interned));
        bytes(&packet, 60).into_iter().for_each(|track| played.track(&fields(track)));
        for thread in bytes(&packet, 44) {
            let thread = fields(thread);
            state.thread = number(&thread, 2).expect("a tid");
            state.micros = number(&thread, 6).expect("a time") as i64;
        }
        for samples in bytes(&packet, 54) {
            let samples = fields(samples);
            let all = |field| samples.iter().filter(move |(sample, _)| *sample == field);
            for ((_, stack), (_, delta)) in all(1).zip(all(2)) {
                let (Field::Number(stack), Field::Number(delta)) = (stack, delta) else {
                    panic!("numbers")
                };
                state.micros += *delta as i64;
                played.samples.push((state.thread, state.micros, state.stacks[stack].clone()));
            }
        }
        let Some(event) = bytes(&packet, 11).first().map(|event| fields(event)) else { continue };
        let ts = number(&packet, 8).expect("a time") as i64;
        assert!(ts >= last, "packets are in order of time");
        last = ts;
        played.event(&event, ts, state, &mut open);
    }
    played.unended = open.values().map(Vec::len).sum();
    played
}

impl Played {
    fn track(&mut self, track: &[(u64, Field<'_>)]) {
        let uuid = number(track, 1).expect("a number");
        if let Some(thread) = bytes(track, 4).first() {
            let thread = fields(thread);
            let ids = [1, 2].map(|id| number(&thread, id).expect("an id"));
            self.threads.insert(uuid, (ids[0], ids[1], text(&thread, 5)));
        } else if let Some(process) = bytes(track, 3).first() {
            self.processes.insert(uuid, text(&fields(process), 6));
        } else {
            self.tracks.insert(uuid, (text(track, 2), number(track, 5).unwrap_or(0)));
        }
    }

    fn event(
        &mut self,
        event: &[(u64, Field<'_>)],
        ts: i64,
        known: &Known,
        open: &mut BTreeMap<u64, Vec<(String, i64)>>,
    ) {
        let track = number(event, 11).expect("a track");
        assert!(
            self.threads.contains_key(&track)
                || self.tracks.contains_key(&track)
                || self.processes.contains_key(&track),
            "a track is told before it is used"
        );
        let name =
            || number(event, 10).map_or(String::new(), |name| known.texts[&(2, name)].clone());
        for annotation in bytes(event, 4) {
            let annotation = fields(annotation);
            let key = known.texts[&(3, number(&annotation, 1).expect("a name"))].clone();
            let value = annotation.iter().find(|(field, _)| *field != 1).expect("a value");
            let shown = match value {
                (5, Field::Fixed(bits)) => format!("double {}", f64::from_bits(*bits)),
                (field, Field::Number(number)) => format!("{field} {}", *number as i64),
                (field, Field::Bytes(text)) => format!("{field} {}", String::from_utf8_lossy(text)),
                other => panic!("{other:?}"),
            };
            self.annotations.push((key, shown));
        }
        for (field, value) in event.iter().filter(|(field, _)| matches!(field, 47 | 48)) {
            let Field::Fixed(id) = value else { panic!("eight bytes") };
            self.bound.push((*field, *id));
        }
        match number(event, 9) {
            Some(1) => open.entry(track).or_default().push((name(), ts)),
            Some(2) => {
                let (name, start) =
                    open.get_mut(&track).and_then(Vec::pop).expect("something is open");
                self.slices.push((track, name, start, ts - start));
            }
            Some(3) => self.instants.push((track, name(), ts)),
            Some(4) => {
                let double = number(event, 44).map(f64::from_bits);
                self.counters.push((
                    track,
                    double.unwrap_or_else(|| number(event, 30).expect("a value") as i64 as f64),
                ));
            }
            None => {
                let flow = fields(bytes(event, 6)[0]);
                let [phase, id] = [2, 6].map(|field| number(&flow, field).expect("a number"));
                self.flows.push((char::from(phase as u8), id, track));
            }
            other => panic!("no type of event: {other:?}"),
        }
    }
}

fn written(sources: &[Source]) -> (Played, Perfetto) {
    let mut draft = PerfettoDraft::read(sources, &config()).expect("a trace");
    let mut out = Vec::new();
    let written = draft.write(&mut out).expect("memory takes it");
    let mut again = Vec::new();
    draft.write(&mut again).expect("memory takes it");
    assert_eq!(out, again, "the same bytes each time");
    let played = play(&out);
    assert_eq!(played.slices.len() + played.unended, written.slices as usize);
    assert_eq!(played.instants.len(), written.instants as usize);
    assert_eq!(played.counters.len(), written.counters as usize);
    assert_eq!(played.samples.len(), written.samples as usize);
    (played, written)
}

fn of_text(text: &str) -> (Played, Perfetto) {
    written(&[Source::bytes("t.json", text.as_bytes().to_vec())])
}

/// The stack in every microsecond of every thread equals that of the random trace.
#[test]
fn random_traces_keep_their_stacks() {
    for seed in seeds(0, 60) {
        let (text, all) = generate(&mut Rng::new(seed));
        let (played, report) = of_text(&text);
        assert_eq!(
            (report.cut, report.lone_ends, report.unended, report.other),
            (0, 0, 0, 0),
            "{seed}"
        );
        let mut stacks: Vec<_> = all.iter().map(|stacks| vec![Vec::new(); stacks.len()]).collect();
        // Of slices that begin at once the longer one is the outer one; of equal ones the one that
        // ends later.
        let mut slices = played.slices;
        slices.reverse();
        slices.sort_by_key(|(track, _, start, dur)| (*track, *start, -dur));
        for (track, name, start, dur) in slices {
            let (_, tid, _) = played.threads[&track];
            let from = (start / 1000 - 1000) as usize;
            stacks[tid as usize - 1][from..from + (dur / 1000) as usize]
                .iter_mut()
                .for_each(|stack| stack.push(name.clone()));
        }
        for (read, model) in stacks.iter().zip(&all) {
            for (at, (read, model)) in read.iter().zip(model).enumerate() {
                assert_eq!(read, model, "{seed}: microsecond {at}");
            }
        }
    }
}

const KINDS: &str = r#"{"traceEvents":[
{"ph":"M","name":"process_name","pid":7,"tid":1,"args":{"name":"main \"p\""}},
{"ph":"M","name":"thread_name","pid":7,"tid":1,"args":{"name":"t1"}},
{"ph":"M","name":"thread_sort_index","pid":7,"tid":1,"args":{"sort_index":3}},
{"ph":"M","name":"trace_config","pid":7,"tid":1,"args":{}},
{"ph":"X","name":"a","cat":"c","pid":7,"tid":1,"ts":10,"dur":20,"args":{"n":-1,"big":18446744073709551615,"x":1.5,"s":"a\nb","b":true,"o":{"k":[1]},"z":null}},
{"ph":"X","name":"no dur","pid":7,"tid":1,"ts":12},
{"ph":"B","name":"b","pid":7,"tid":1,"ts":14.0005},
{"ph":"E","pid":7,"tid":1,"ts":15.25},
{"ph":"E","pid":7,"tid":1,"ts":16},
{"ph":"i","name":"i","s":"g","pid":7,"tid":1,"ts":17},
{"ph":"I","name":"p","s":"p","pid":7,"tid":1,"ts":17},
{"ph":"R","name":"r","pid":7,"tid":1,"ts":17},
{"ph":"C","name":"heap","pid":7,"tid":1,"ts":18,"args":{"used":5,"free":2.5,"note":"x"}},
{"ph":"C","name":"none","pid":7,"tid":1,"ts":18,"args":{}},
{"ph":"b","name":"load","cat":"net","id":"0x1","pid":7,"tid":1,"ts":20},
{"ph":"n","name":"half","cat":"net","id":"0x1","pid":7,"tid":1,"ts":21},
{"ph":"S","name":"old","cat":"net","id":"0x2","pid":7,"tid":1,"ts":21},
{"ph":"F","name":"old","cat":"net","id":"0x2","pid":7,"tid":1,"ts":23},
{"ph":"e","name":"load","cat":"net","id":"0x1","pid":7,"tid":1,"ts":24},
{"ph":"s","name":"f","cat":"f","id":"0xff","pid":7,"tid":1,"ts":25},
{"ph":"f","bp":"e","name":"f","cat":"f","id":"0xff","pid":7,"tid":"worker","ts":40},
{"ph":"X","name":"in","cat":"f","bind_id":"0x5","flow_in":true,"pid":7,"tid":"worker","ts":39,"dur":4},
{"ph":"X","name":"over","pid":7,"tid":"worker","ts":41,"dur":9},
{"ph":"B","name":"never","pid":7,"tid":"worker","ts":60},
{"ph":"N","name":"object","id":"0x9","pid":7,"tid":1,"ts":61},
{"ph":"i","name":"no time","pid":7,"tid":1}],
"otherData":{"v":1}}"#;

#[test]
fn every_kind_of_event_is_written() {
    let (played, report) = of_text(KINDS);
    let slice = |name: &str| {
        let found: Vec<_> = played.slices.iter().filter(|slice| slice.1 == name).collect();
        assert_eq!(found.len(), 1, "{name}");
        (found[0].0, found[0].2, found[0].3)
    };
    let main = slice("a").0;
    assert_eq!(played.threads[&main], (7, 1, "t1".to_owned()));
    assert_eq!(slice("a"), (main, 10_000, 20_000));
    assert_eq!(slice("no dur"), (main, 12_000, 0));
    assert_eq!(slice("b"), (main, 14_000, 1_250));
    let [load, old] = ["load", "old"].map(&slice);
    assert_eq!((load.1, load.2, old.1, old.2), (20_000, 4_000, 21_000, 2_000));
    assert_eq!(played.tracks[&load.0].0, "load");
    assert_eq!(played.processes[&played.tracks[&load.0].1], "main \"p\"");
    let of = |name: &str| {
        played.instants.iter().find(|instant| instant.1 == name).expect("an instant").0
    };
    assert_eq!((of("r"), of("half")), (main, load.0));
    assert!(played.processes.contains_key(&of("p")) && played.tracks[&of("i")].1 == 0);
    let counters: Vec<_> =
        played.counters.iter().map(|(track, value)| (&*played.tracks[track].0, *value)).collect();
    assert_eq!(counters, [("heap used", 5.0), ("heap free", 2.5)]);
    let worker = slice("in").0;
    assert_eq!(played.threads[&worker].2, "worker");
    assert_eq!(played.flows, [('s', 255, main), ('f', 255, worker)]);
    assert_eq!(played.bound, [(48, 5)]);
    // It moved to a track of its own.
    assert_eq!((slice("over").1, slice("over").2), (41_000, 9_000));
    assert_ne!(slice("over").0, worker);
    let shown: Vec<_> =
        played.annotations.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let expected =
        ["n=4 -1", "big=3 -1", "x=double 1.5", "s=6 a\nb", "b=2 1", "o=9 {\"k\":[1]}", "z=9 null"];
    assert_eq!(shown[..7], expected);
    assert_eq!((report.lone_ends, report.unended, report.cut), (1, 1, 0));
    assert_eq!((report.other, &report.keys[..]), (4, &["otherData".to_owned()][..]));
}

#[test]
fn samples_keep_their_stacks_and_times() {
    let text = r#"[{"ph":"P","name":"Profile","pid":7,"tid":8,"id":"0x1","ts":100,"args":{"data":{"startTime":100}}},
{"ph":"P","name":"ProfileChunk","pid":7,"tid":9,"id":"0x1","ts":120,"args":{"data":{"cpuProfile":{"nodes":[
 {"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},
 {"id":2,"parent":1,"callFrame":{"functionName":"","scriptId":1,"url":"a.js","lineNumber":4}}],"samples":[2,1,77]},"timeDeltas":[5,7,1]}}},
{"ph":"P","name":"ProfileChunk","pid":7,"tid":9,"id":"0x1","ts":140,"args":{"data":{"cpuProfile":{"nodes":[
 {"id":3,"parent":2,"callFrame":{"functionName":"g","scriptId":1,"url":"a.js"}}],"samples":[3,2]},"timeDeltas":[10,-4]}}}]"#;
    let (played, report) = of_text(text);
    let stack = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let expected = [
        (8, 105, stack(&["(root)", "(anonymous)"])),
        (8, 112, stack(&["(root)"])),
        (8, 123, stack(&["(root)", "(anonymous)", "g"])),
        (8, 119, stack(&["(root)", "(anonymous)"])),
    ];
    assert_eq!(played.samples, expected);
    assert_eq!((report.lost_samples, report.slices), (1, 0));
}

#[test]
fn thread_0_is_the_main_thread() {
    let (played, _) = of_text(r#"[{"ph":"X","name":"a","pid":7,"tid":0,"ts":5,"dur":2}]"#);
    assert_eq!(
        played.threads.values().map(|thread| (thread.0, thread.1)).collect::<Vec<_>>(),
        [(7, 7)]
    );
}

#[test]
fn negative_times_are_shifted() {
    let (played, report) = of_text(
        r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":-5,"dur":2},{"ph":"i","name":"b","pid":1,"tid":1,"ts":1}]"#,
    );
    assert_eq!(report.shift, 5_000);
    assert_eq!((played.slices[0].2, played.instants[0].2), (0, 6_000));
}

#[test]
fn slice_crossing_an_open_begin_gets_its_own_track() {
    let (played, report) = of_text(
        r#"[{"ph":"B","name":"b","pid":1,"tid":1,"ts":1},{"ph":"X","name":"x","pid":1,"tid":1,"ts":2,"dur":9},{"ph":"E","name":"b","pid":1,"tid":1,"ts":5}]"#,
    );
    assert_eq!(report.cut, 0);
    assert_eq!(played.slices.iter().map(|slice| slice.3).collect::<Vec<_>>(), [4_000, 9_000]);
}

#[test]
fn begin_at_the_start_of_a_slice_is_cut_at_its_end() {
    let (played, report) = of_text(
        r#"[{"ph":"X","name":"x","pid":1,"tid":1,"ts":2,"dur":3},{"ph":"B","name":"b","pid":1,"tid":1,"ts":2},{"ph":"E","name":"b","pid":1,"tid":1,"ts":9}]"#,
    );
    assert_eq!(report.cut, 1);
    assert_eq!(played.slices.iter().map(|slice| slice.3).collect::<Vec<_>>(), [3_000, 3_000]);
}

/// The reader's state is reset and written again, which bounds the memory for distinct names.
#[test]
fn names_are_interned_again_after_a_reset() {
    let events = (0..60_000)
        .map(|at| format!(r#"{{"ph":"i","name":"name {at}","pid":1,"tid":1,"ts":{}}}"#, at + 1));
    let (played, _) = of_text(&format!("[{}]", events.collect::<Vec<_>>().join(",")));
    assert!(played.cleared > 1, "{}", played.cleared);
    let named = played.instants.iter().enumerate();
    named.for_each(|(at, (_, name, _))| assert_eq!(*name, format!("name {at}")));
}

/// Compares X events by thread, name, start and duration with serde_json's reading of a merge.
#[test]
fn real_traces_keep_all_their_slices() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    for (names, least) in [
        (&["node/trace.json", "node/trace-2.json"][..], 100),
        (&["chromium/trace.json.gz"], 1_000),
        (
            &[
                "node/CPU.20261121.044053.5418.0.001.cpuprofile",
                "node/CPU.20261121.044054.5418.1.002.cpuprofile",
            ],
            0,
        ),
    ] {
        let sources: Vec<Source> = names.iter().map(|name| Source::Path(data.join(name))).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("merged.json");
        merge(&sources, &OutputConfig::file(&path), &config()).expect("it merges");
        let text = std::fs::read_to_string(&path).expect("it is there");
        // serde_json rejects a lone surrogate, which one name has.
        let text: String = text.lines().filter(|line| !line.contains("\\ud8")).collect();
        let merged: Value = serde_json::from_str(&text).expect("JSON");
        let events = merged["traceEvents"].as_array().or(merged.as_array()).expect("events");
        let nanos = |value: &Value| (value.as_f64().unwrap_or(0.0) * 1000.0).round() as i64;
        let is = |event: &Value, phase: &str| event["ph"] == phase;
        let mut expected: Vec<(u64, String, i64, i64)> = Vec::new();
        for event in events.iter().filter(|event| is(event, "X")) {
            let name = event["name"].as_str().unwrap_or_default().to_owned();
            expected.push((
                event["tid"].as_u64().expect("a tid"),
                name,
                nanos(&event["ts"]),
                nanos(&event["dur"]),
            ));
        }
        let samples = events.iter().filter(|event| event["name"] == "ProfileChunk");
        let samples = samples.map(|event| {
            event["args"]["data"]["cpuProfile"]["samples"].as_array().map_or(0, Vec::len)
        });
        let (played, report) = written(&sources);
        assert_eq!(
            played.samples.len() + report.lost_samples as usize,
            samples.sum::<usize>(),
            "{names:?}"
        );
        assert!(expected.len() >= least, "{names:?}: {}", expected.len());
        let threads = &played.threads;
        let of_threads = |(track, name, start, dur)| {
            threads.get(&track).map(|thread| (thread.1, name, start, dur))
        };
        let mut read: Vec<_> = played.slices.into_iter().filter_map(of_threads).collect();
        expected.sort();
        read.sort();
        for one in &expected {
            assert!(read.binary_search(one).is_ok(), "{names:?}: {one:?}");
        }
        assert!(read.len() >= expected.len());
    }
}
