//! Extreme inputs: huge, deep, numerous, empty, vanishing.

use crate::run::{
    Folder, Knobs, Merged, PLAIN, config, knobs, output_to, run, run_files, run_sources,
};
use crate::trace::{Output, assert_same};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracemill_join::config::Config;
use tracemill_pipeline::merge;
use tracemill_testkit::generate::chrome_like;
use tracemill_testkit::packing::gz;
use tracemill_testkit::reference;
use tracemill_trace::output::target::Format;
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::{Error, ErrorKind, Source};

/// Returns knobs for files and pipes, few and many threads, small and large budgets, with large
/// reads.
fn corners() -> impl Iterator<Item = Knobs> {
    let large = |corner: Knobs| Knobs {
        read_size: corner.read_size.map(|_| 1 << 16),
        budget: corner.budget.map(|_| 1 << 16),
        ..corner
    };
    [PLAIN].into_iter().chain([3, 14, 25, 36].into_iter().map(knobs).map(large))
}

/// Asserts that all knobs give the reference's output.
#[track_caller]
fn check(what: &str, input: &[u8]) {
    let expected = reference::merge(&[input], None).expect(what);
    check_output(what, input, &expected);
}

#[track_caller]
fn check_output(what: &str, input: &[u8], expected: &[u8]) {
    for corner in corners() {
        let (output, report) = run(&[input], None, corner).expect(what);
        assert_same(&format!("{what} {corner:?}"), expected, &output);
        assert_eq!(report.run.lost(), 0, "{what} {corner:?}");
    }
}

fn paths<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Vec<Source> {
    files.into_iter().map(|file| Source::Path(file.clone())).collect()
}

#[track_caller]
fn check_refused(result: Merged, class: ErrorClass, parts: &[&str]) {
    let error = result.expect_err("refused");
    assert_eq!(error.class(), class, "{error}");
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "not said: {part}: {message}");
    }
}

#[test]
fn a_string_of_ten_megabytes_is_merged() {
    let long = "long \\\" text ]}, ".repeat(10 << 20 >> 4);
    let input = format!(
        "[{{\"ph\":\"X\",\"ts\":2,\"name\":\"{long}\"}},\n{{\"ph\":\"X\",\"ts\":1,\"args\":{{}}}}]"
    );
    check("a long string", input.as_bytes());
}

#[test]
fn nesting_of_depth_100_000_is_merged() {
    const DEPTH: usize = 100_000;
    let arrays = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
    let objects = format!("{}1{}", "{\"a\":".repeat(DEPTH), "}".repeat(DEPTH));
    let deep =
        |ts: u32, value: &str| format!("{{\"ph\":\"X\",\"ts\":{ts},\"args\":{{\"d\":{value}}}}}");
    let (first, second) = (deep(1, &objects), deep(2, &arrays));
    let input =
        format!("{{\"traceEvents\":[{second},{first}],\"metadata\":{{\"deep\":{arrays}}}}}");
    let expected = format!(
        "{{\"traceEvents\":[\n{first},\n{second}\n],\n\"metadata\":{{\"deep\":{arrays}}}}}\n"
    );
    // the reference is recursive
    check_output("deep nesting", input.as_bytes(), expected.as_bytes());
}

#[test]
fn a_truncated_deep_event_is_the_only_loss() {
    let input =
        format!("[{{\"ph\":\"X\",\"ts\":1}},{{\"ph\":\"X\",\"args\":{}", "[{\"a\":".repeat(50_000));
    for corner in corners() {
        let (output, report) = run(&[input.as_bytes()], None, corner).expect("a trace");
        assert_same("deep and cut", b"[\n{\"ph\":\"X\",\"ts\":1}\n]\n", &output);
        assert_eq!(report.run.lost(), 1, "{corner:?}");
    }
}

#[test]
fn delayed_chunks_follow_the_one_they_need() {
    const CHUNKS: u64 = 20_000;
    let chunk = |ts: u64, data: &str| {
        format!(
            r#"{{"name":"ProfileChunk","ph":"P","pid":1,"id":"0x1","ts":{ts},"args":{{"data":{{"cpuProfile":{{{data}}}}}}}}}"#
        )
    };
    // the latest chunk comes first in the file, and defines the nodes of all others
    let first = chunk(90_000, r#""nodes":[{"id":1,"callFrame":{}}]"#);
    let others = (0..CHUNKS).map(|number| match number % 3 {
        0 => format!(r#"{{"name":"x","ph":"X","ts":{}}}"#, 100_000 - number),
        _ => chunk(80_000 - number, r#""samples":[1]"#),
    });
    let events: Vec<String> = std::iter::once(first).chain(others).collect();
    let input = format!("[{}]", events.join(",\n"));
    let expected = reference::merge(&[input.as_bytes()], None).expect("well-formed");
    let waiting = CHUNKS - CHUNKS.div_ceil(3);
    for (threads, budget) in [(1, None), (1, Some(2000)), (7, Some(40_000)), (2, Some(1 << 20))] {
        let corner = Knobs { threads, budget, chunk: 300_000, ..PLAIN };
        let (output, report) = run(&[input.as_bytes()], None, corner).expect("sound");
        assert_same(&format!("{corner:?}"), &expected, &output);
        assert_eq!(report.delayed_chunks, waiting, "{corner:?}");
    }
}

#[test]
fn a_trace_of_64_mib_on_one_line_is_merged() {
    let mut input = Vec::new();
    chrome_like(7, 64 << 20, &mut input).expect("memory takes bytes");
    input.iter_mut().filter(|b| **b == b'\n').for_each(|b| *b = b' ');
    let (output, report) = run(&[&input], None, PLAIN).expect("sound");
    assert_eq!(report.run.lost(), 0);
    let small = Knobs { threads: 7, budget: Some(1 << 20), chunk: 300_000, ..PLAIN };
    for corner in
        [Knobs { threads: 2, ..PLAIN }, small, Knobs { read_size: Some(1 << 20), ..small }]
    {
        let (again, _) = run(&[&input], None, corner).expect("sound");
        assert!(output == again, "{corner:?}");
    }
    let times = Output::parse(Format::Object, &output).events.into_iter().filter_map(time);
    assert!(times.is_sorted());
}

/// Parses the time of a generated event; `None` for metadata and profile chunks.
fn time(event: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(event).expect("the generator writes UTF-8");
    let digits = text.rsplit_once("\"ts\":")?.1;
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    // profile chunks may be delayed
    let is_timed = !text.contains("\"ph\":\"M\"") && !text.contains("\"ProfileChunk\"");
    is_timed.then(|| digits[..end].parse().expect("digits"))
}

#[test]
fn times_of_400_digits_are_sorted_stably() {
    // times beyond 10^11 years, or equal to 10^-18 s, keep input order
    let digits = "1234567890".repeat(40);
    let event =
        |integer: &str, fraction: &str| format!("{{\"ph\":\"i\",\"ts\":{integer}.{fraction}}}");
    let events = [
        event(&digits, "5"),
        event(&digits, "49"),
        event(&format!("-{digits}"), "5"),
        event("1", &format!("{digits}2")),
        event("1", &format!("{digits}1")),
        event("1", &digits),
    ];
    let input = format!("[{}]", events.join(","));
    check("long times", input.as_bytes());
    let (output, _) = run(&[input.as_bytes()], None, PLAIN).expect("sound");
    let order: Vec<&[u8]> =
        [2, 3, 4, 5, 0, 1].iter().map(|&i: &usize| events[i].as_bytes()).collect();
    assert_eq!(Output::parse(Format::Array, &output).events, order);
}

#[test]
fn more_inputs_than_open_files_are_merged() {
    const INPUTS: usize = 1500;
    let folder = Folder::new();
    let texts: Vec<String> = (0..INPUTS)
        .map(|i| {
            format!(
                "[{{\"ph\":\"i\",\"ts\":{},\"pid\":{i}}},{{\"ph\":\"i\",\"ts\":7}}]",
                INPUTS - i
            )
        })
        .collect();
    let names = |i: usize| format!("{i:04}.json");
    let files: Vec<PathBuf> =
        texts.iter().enumerate().map(|(i, text)| folder.file(&names(i), text.as_bytes())).collect();
    let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let expected = reference::merge(&texts, None).expect("sound");
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    // the usual limit, which leaves enough for tests that run in parallel
    let usual = rustix::process::Rlimit { current: Some(1024), maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, usual).expect("a lower limit");
    for corner in [PLAIN, Knobs { threads: 7, budget: Some(2000), ..PLAIN }] {
        let sources = paths(&files);
        let (output, report) = run_sources(&sources, None, &config(corner)).expect("sound");
        assert_same(&format!("{corner:?}"), &expected, &output);
        assert_eq!((report.run.inputs.len(), report.run.lost()), (INPUTS, 0));
        let parent = vec![Source::Path(folder.path("").clone())];
        let (output, _) = run_sources(&parent, None, &config(corner)).expect("sound");
        assert_same("the files of a folder", &expected, &output);
    }
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).expect("the old limit");
}

#[test]
fn a_file_given_twice_is_merged_twice() {
    let folder = Folder::new();
    let text = b"{\"traceEvents\":[{\"ph\":\"X\",\"ts\":2},{\"ph\":\"X\",\"ts\":1}],\"metadata\":{\"a\":1}}";
    let file = folder.file("twice.json", text);
    let expected = reference::merge(&[text, text], None).expect("sound");
    for corner in corners() {
        let (output, report) = run_files(&[&file, &file], None, corner).expect("sound");
        assert_same(&format!("{corner:?}"), &expected, &output);
        assert_eq!(report.run.events, 4);
    }
}

#[test]
fn empty_inputs_are_traces_without_events() {
    let cases: [(&[u8], &str); 5] = [
        (b"", "{\"traceEvents\":[\n]}\n"),
        (b" \n\t", "{\"traceEvents\":[\n]}\n"),
        (b"[]", "[\n]\n"),
        (b"[", "[\n]\n"),
        (b"{\"traceEvents\":[]}", "{\"traceEvents\":[\n]}\n"),
    ];
    for (input, expected) in cases {
        check_output(&format!("{input:?}"), input, expected.as_bytes());
    }
}

#[test]
fn a_missing_output_folder_is_named() {
    let folder = Folder::new();
    let file = folder.file("in.json", b"[]");
    let target = folder.path("no-such-folder/out.json");
    let result = merge(&paths([&file]), &output_to(&target, None), &config(PLAIN));
    let error = result.expect_err("no folder");
    assert_eq!(error.class(), ErrorClass::System, "{error}");
    assert!(error.to_string().contains("no-such-folder"), "{error}");
    assert_eq!(folder.names(), ["in.json"]);
}

#[test]
fn inputs_without_a_trace_are_refused_by_name() {
    let folder = Folder::new();
    let inside = |name: &str| {
        std::fs::create_dir(folder.path(name)).expect("a folder");
        folder.path(name)
    };
    let (empty, letters) = (inside("empty"), inside("letters"));
    std::fs::write(letters.join("letter.txt"), "Dear reader").expect("a file");
    let plain = config(PLAIN);
    let refused = |path: &Path| run_sources(&[Source::Path(path.into())], None, &plain);
    check_refused(refused(&empty), ErrorClass::Input, &["empty", "folder"]);
    check_refused(refused(&letters), ErrorClass::Input, &["letter.txt", "keys of an event"]);
    check_refused(refused(&folder.path("missing.json")), ErrorClass::Input, &["missing.json"]);
    // other files in a folder are left out with a warning
    std::fs::write(letters.join("trace.json"), "[{\"ph\":\"i\",\"ts\":1}]").expect("a file");
    let (output, report) = refused(&letters).expect("a trace among letters");
    assert_same("a trace among letters", b"[\n{\"ph\":\"i\",\"ts\":1}\n]\n", &output);
    assert!(
        report.run.warnings.iter().any(|warning| warning.to_string().contains("letter.txt")),
        "{report:#?}"
    );
}

#[test]
fn a_budget_below_the_minimum_is_refused() {
    let folder = Folder::new();
    let file = folder.file("in.json", b"[]");
    let mut below = config(PLAIN);
    below.limits.memory = Config::MEMORY_MIN - 1;
    let error = run_sources(&paths([&file]), None, &below).expect_err("too small");
    assert!(matches!(error.kind(), ErrorKind::Budget { .. }), "{error}");
    assert_eq!(error.class(), ErrorClass::System);
    let least = Config::new(PLAIN.threads, Config::MEMORY_MIN, std::env::temp_dir());
    run_sources(&paths([&file]), None, &least).expect("just enough");
}

#[test]
fn an_input_truncated_while_mapped_is_reported_as_changed() {
    tracemill_tokenizer::survive_lost_pages();
    let mut input = Vec::new();
    chrome_like(3, 64 << 20, &mut input).expect("memory takes bytes");
    let (mut changed, mut succeeded) = (0, 0);
    for (round, threads) in [1, 2, 7, 2, 2, 2].into_iter().enumerate() {
        let folder = Folder::new();
        let file = folder.file("shrinks.json", &input);
        // from before the first page is read until the output is written
        let wait = Duration::from_millis([0, 5, 20, 60, 120, 400][round]);
        let kept = [0, 100, 1 << 20, 10_000_001, 33 << 20, 5][round];
        let config = config(Knobs { threads, ..PLAIN });
        let result = std::thread::scope(|scope| {
            let merging = scope.spawn(|| run_sources(&paths([&file]), None, &config));
            std::thread::sleep(wait);
            File::options()
                .write(true)
                .open(&file)
                .expect("it is there")
                .set_len(kept)
                .expect("cut");
            merging.join().expect("no panic")
        });
        match result {
            Ok(_) => succeeded += 1,
            Err(error) => {
                check_changed(&error);
                changed += 1;
            }
        }
    }
    assert!(changed > 0, "{succeeded} runs were over before the cut: the test tests nothing");
}

#[track_caller]
fn check_changed(error: &Error) {
    assert!(matches!(error.kind(), ErrorKind::Changed { .. }), "{error}");
    assert!(error.to_string().contains("shrinks.json"), "{error}");
    assert_eq!(error.class(), ErrorClass::System);
}

#[test]
fn truncated_gzip_is_salvaged() {
    let mut text = Vec::new();
    chrome_like(5, 1 << 20, &mut text).expect("memory takes bytes");
    let packed = gz(&text, usize::MAX);
    let cut = &packed[..packed.len() / 2];
    let (expected, report) = run(&[cut], None, PLAIN).expect("the first half");
    let events = Output::parse(report.run.format, &expected).events;
    let all = reference::events(&text).expect("sound");
    assert!((all.len() / 3..all.len() * 2 / 3).contains(&events.len()), "{}", events.len());
    let first: Vec<&[u8]> = all[..events.len()].iter().map(|event| &event.bytes[..]).collect();
    assert_eq!(crate::trace::missing(first, &events), None, "the first events are there");
    // the event at the cut, and the compressed stream
    assert_eq!(report.run.lost(), 2, "{report:#?}");
    for corner in corners() {
        let (output, again) = run(&[cut], None, corner).expect("the first half");
        assert_same(&format!("{corner:?}"), &expected, &output);
        assert_eq!(report.run.inputs[0].losses, again.run.inputs[0].losses, "{corner:?}");
    }
    let folder = Folder::new();
    let strict = crate::run::strict(PLAIN);
    let file = folder.file("cut.json.gz", cut);
    check_refused(run_sources(&paths([&file]), None, &strict), ErrorClass::Input, &["cut.json.gz"]);
    let head = folder.file("head.json.gz", &packed[..8]);
    check_refused(run_files(&[&head], None, PLAIN), ErrorClass::Input, &["head.json.gz"]);
}
