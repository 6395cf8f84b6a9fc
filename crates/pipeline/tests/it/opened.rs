//! Compares opened traces with merges of the same inputs. Also tests other sources and targets than
//! files, and cancellation.

use crate::corpus::files_below;
use crate::run::{Folder, Knobs, PLAIN, config, knobs, over, run};
use std::sync::{Arc, Mutex};
use tracemill_index::list_profiles;
use tracemill_join::config::Config;
use tracemill_pipeline::{ProfileChoice, merge};
use tracemill_testkit::Rng;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_trace::observe::trace::{EventOrder, Trace};
use tracemill_trace::output::target::{Format, OutputConfig};
use tracemill_trace::{ErrorKind, Source};

fn array(events: &[&[u8]]) -> Vec<u8> {
    match events {
        [] => b"[\n]\n".to_vec(),
        _ => [b"[\n", &*events.join(&b",\n"[..]), b"\n]\n"].concat(),
    }
}

fn check(seed: u64, inputs: &[&[u8]], knobs: Knobs) {
    let (merged, report) = run(inputs, Some(Format::Array), PLAIN).expect("sound traces");
    over(inputs, knobs, |sources| {
        let trace = Trace::open(sources, &config(knobs).limits).expect("sound traces");
        let events: Vec<_> = trace.events(EventOrder::Time).collect();
        let bytes: Vec<&[u8]> = events.iter().map(|event| event.bytes).collect();
        let array = array(&bytes);
        let differs = array.iter().zip(&merged).position(|(a, b)| a != b);
        assert!(
            // a merge delays profile chunks that would precede those they need
            array == merged || report.delayed_chunks > 0,
            "seed {seed}, {knobs:?}: {differs:?}\n{}\n{}",
            String::from_utf8_lossy(&array[differs.unwrap_or(0)..]),
            String::from_utf8_lossy(&merged[differs.unwrap_or(0)..])
        );
        let in_input: Vec<u64> = trace.events(EventOrder::Input).map(|e| e.offset).collect();
        let mut sorted: Vec<u64> = events.iter().map(|event| event.offset).collect();
        sorted.sort_unstable();
        assert_eq!(in_input, sorted);
        assert_eq!(trace.len(), in_input.len() as u64);
        let of_threads: u64 = trace.threads().iter().map(|thread| thread.events).sum();
        let metadata = events.iter().filter(|event| event.fields().is_metadata()).count() as u64;
        assert_eq!(of_threads + metadata, trace.len());
        let (first, last) = trace.span().unwrap_or_default();
        let third = last.saturating_sub(first) / 3;
        let window = first.saturating_add(third)..last.saturating_sub(third);
        let of_time = |event: &&tracemill_trace::observe::trace::TraceEvent<'_>| {
            let fields = event.fields();
            !fields.is_metadata() && fields.ts().is_some_and(|ts| window.contains(&ts.floor))
        };
        let expected: Vec<u64> = events.iter().filter(of_time).map(|e| e.offset).collect();
        let within = trace.events(EventOrder::Time).within(window.clone());
        assert_eq!(within.map(|event| event.offset).collect::<Vec<_>>(), expected);
        trace.check_unchanged().expect("nobody writes to them");
    });
}

#[test]
fn opened_traces_have_the_order_of_a_merge() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let inputs: Vec<Vec<u8>> = (0..1 + rng.index(3))
            .map(|i| trace(seed * 10 + i as u64, &TraceShape::arbitrary(&mut rng)))
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        check(seed, &inputs, PLAIN);
        check(seed, &inputs, knobs(seed as usize));
    }
}

#[test]
fn last_names_of_threads_win() {
    let text = br#"[{"ph":"M","pid":1,"name":"process_name","args":{"name":"old"}},{"ph":"i","ts":1,"pid":1,"tid":"a"},
        {"ph":"i","ts":2,"pid":1,"tid":2},{"ph":"M","pid":1,"name":"process_name","args":{"name":"new"}},
        {"ph":"i","ts":3,"pid":1,"tid":"a"},{"ph":"M","pid":1,"tid":"a","name":"thread_name","args":{"name":"main"}}]"#;
    let trace =
        Trace::open(&[Source::bytes("t", *text)], &config(PLAIN).limits).expect("it is sound");
    let name_of = |name: &Option<String>| name.clone().unwrap_or_default();
    let all = trace.threads().iter().map(|thread| {
        (&*thread.tid, name_of(&thread.process_name), name_of(&thread.name), thread.events)
    });
    let all: Vec<_> = all.collect();
    let new = || "new".to_owned();
    assert_eq!(all, [(&b"\"a\""[..], new(), "main".into(), 2), (b"2", new(), String::new(), 1)]);
}

#[test]
fn merges_readers_into_a_vec() {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let sources = [
        Source::bytes("later", &br#"[{"ph":"i","ts":2}]"#[..]),
        Source::reader("earlier", &br#"[{"ph":"i","ts":1}]"#[..]),
    ];
    let report = merge(&sources, &OutputConfig::writer(Arc::clone(&bytes)), &config(PLAIN));
    let report = report.expect("they are sound");
    assert_eq!(
        *bytes.lock().unwrap(),
        b"[\n{\"ph\":\"i\",\"ts\":1},\n{\"ph\":\"i\",\"ts\":2}\n]\n"
    );
    let names: Vec<&str> = report.run.inputs.iter().map(|input| &*input.name).collect();
    assert_eq!(names, ["later", "earlier"]);
    let again = Trace::open(&sources[..1], &config(PLAIN).limits).err().expect("it was read");
    assert!(again.to_string().contains("later") && again.to_string().contains("read before"));
}

#[test]
fn a_cancelled_run_leaves_no_output() {
    let folder = Folder::new();
    let input = folder.file("in", trace(1, &TraceShape::arbitrary(&mut Rng::new(1))));
    let config: Config = config(PLAIN);
    config.limits.cancel.cancel();
    let sources = [Source::Path(input)];
    let error = merge(&sources, &OutputConfig::file(folder.path("out")), &config);
    let error = error.expect_err("it was told to end");
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
    assert_eq!(folder.names(), ["in"]);
}

#[test]
fn profiles_of_an_opened_trace_equal_the_listed_ones() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut files = Vec::new();
    ["node", "chromium"].iter().for_each(|folder| files_below(&root.join(folder), &mut files));
    files
        .retain(|file| file.extension().is_some_and(|kind| kind == "json" || kind == "cpuprofile"));
    assert!(!files.is_empty());
    let sources: Vec<Source> = files.into_iter().map(Source::Path).collect();
    let config = config(PLAIN);
    let listed =
        list_profiles(&sources, &ProfileChoice::default(), &config).expect("they are sound");
    let mut expected: Vec<_> = listed
        .profiles
        .iter()
        .map(|p| (p.pid.clone(), p.tid.clone(), p.samples, p.nodes))
        .collect();
    let opened = tracemill_cpuprofile::open(&sources, &config.limits).expect("they are sound");
    let profiles = opened.profiles().expect("there is room");
    let mut found: Vec<_> = profiles
        .iter()
        .map(|profile| {
            let profile = profile.expect("it is sound");
            let hot = profile.hot();
            let (start, end) = profile.span();
            let self_sum: i64 = hot.iter().map(|function| function.self_ns).sum();
            assert!(self_sum <= end - start, "{self_sum} of {}", end - start);
            (profile.pid(), profile.tid(), profile.samples(), profile.nodes())
        })
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}
