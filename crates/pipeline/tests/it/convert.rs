//! Compares `convert` with serde_json: the same events in the same order, the same keys, whatever
//! the knobs.

use crate::corpus::{corpus, files_below};
use crate::run::{Folder, Knobs, PLAIN, config, knobs, output_to, over, read};
use crate::trace::assert_same;
use std::path::PathBuf;
use tracemill_join::report::ConvertReport;
use tracemill_pipeline::{convert, merge};
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::{Rng, reference};
use tracemill_trace::Source;
use tracemill_trace::output::target::{Format, Style};

const FORMATS: [Format; 3] = [Format::Object, Format::Array, Format::Ndjson];

fn run(
    inputs: &[&[u8]],
    format: Option<Format>,
    style: Style,
    knobs: Knobs,
) -> (Vec<u8>, ConvertReport) {
    let folder = Folder::new();
    let target = folder.path("out");
    let run = |sources: &[Source]| {
        convert(sources, style, &output_to(&target, format), &config(knobs)).expect("sound inputs")
    };
    let report = over(inputs, knobs, run);
    (read(&target), report)
}

/// Returns the events and merged keys of inputs without white space outside strings.
fn tokens(inputs: &[&[u8]]) -> (Vec<String>, Vec<u8>) {
    let mut events = Vec::new();
    for input in inputs {
        let found = reference::events(input).expect("sound");
        events.extend(found.iter().map(|event| without_space(&event.bytes)));
    }
    // the keys that a merge writes; there are no events
    let merged = reference::merge(inputs, Some(reference::Format::Ndjson)).expect("sound");
    let header = merged.starts_with(b"{\"tracemill\":{").then(|| {
        let line = merged.split(|&b| b == b'\n').next().unwrap_or_default();
        without_space(line).into_bytes()
    });
    (events, header.unwrap_or_default())
}

fn without_space(json: &[u8]) -> String {
    let (mut out, mut in_string, mut escaped) = (Vec::new(), false, false);
    for &byte in json {
        if in_string || !byte.is_ascii_whitespace() {
            out.push(byte);
        }
        in_string = match byte {
            b'"' => !in_string || escaped,
            _ => in_string,
        };
        escaped = in_string && byte == b'\\' && !escaped;
    }
    String::from_utf8(out).expect("inputs are UTF-8")
}

pub(crate) fn check(seed: u64, inputs: &[&[u8]], knobs: Knobs) {
    let expected = tokens(inputs);
    for format in FORMATS {
        for style in [Style::Keep, Style::Compact] {
            let (output, report) = run(inputs, Some(format), style, knobs);
            let what = format!("seed {seed} {format:?} {style:?} {knobs:?}");
            assert_eq!(report.run.bytes as usize, output.len(), "{what}");
            let (events, keys) = tokens(&[&output]);
            assert!(events == expected.0, "{what}: events differ");
            if format == Format::Array {
                assert_eq!(keys, b"", "{what}");
            } else {
                assert_same(&what, &expected.1, &keys);
            }
            assert_eq!(report.run.keys_lost > 0, format == Format::Array && !expected.1.is_empty());
            let (again, _) = run(&[&output], Some(format), style, PLAIN);
            assert_same(&format!("{what} again"), &output, &again);
            if format == Format::Ndjson {
                let lines = output.strip_suffix(b"\n").unwrap_or_default();
                for line in lines.split(|&b| b == b'\n').filter(|_| !output.is_empty()) {
                    let parsed: Result<serde::de::IgnoredAny, _> = serde_json::from_slice(line);
                    assert!(parsed.is_ok(), "{what}: {}", String::from_utf8_lossy(line));
                }
            }
        }
    }
}

/// Asserts that events without line breaks survive a conversion to NDJSON and back.
fn check_round_trip(what: &str, input: &[u8], knobs: Knobs) {
    let (object, _) = run(&[input], Some(Format::Object), Style::Keep, PLAIN);
    let (lines, _) = run(&[&object], Some(Format::Ndjson), Style::Keep, knobs);
    let (back, _) = run(&[&lines], Some(Format::Object), Style::Keep, knobs);
    let originals = reference::events(&object).expect("sound");
    let returned = reference::events(&back).expect("sound");
    assert_eq!(originals.len(), returned.len(), "{what}");
    let mut keys_are_whole = true;
    for (original, returned) in originals.iter().zip(&returned) {
        if original.bytes.contains(&b'\n') || original.bytes.contains(&b'\r') {
            assert_eq!(without_space(&original.bytes), without_space(&returned.bytes), "{what}");
            keys_are_whole = false;
        } else {
            assert_same(what, &original.bytes, &returned.bytes);
        }
    }
    let keys = &object[object.windows(2).rposition(|pair| pair == b"\n]").unwrap_or(0)..];
    if keys_are_whole && !keys[2..].trim_ascii_end().contains(&b'\r') && !has_inner_break(keys) {
        assert_same(what, &object, &back);
    }
}

/// Returns whether the value of a key has a line break. Line breaks between keys come from
/// tracemill.
fn has_inner_break(keys: &[u8]) -> bool {
    String::from_utf8_lossy(keys).trim_end().replace("\n]", "").replace(",\n\"", "").contains('\n')
}

#[test]
fn convert_keeps_events_in_every_form_and_style() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let count = 1 + rng.index(3);
        let inputs: Vec<Vec<u8>> = (0..count)
            .map(|i| {
                let mut shape = TraceShape::arbitrary(&mut rng);
                // in a single input, keys of further documents come too late for the first line
                shape.documents = if count == 1 { 1 } else { shape.documents };
                trace(seed * 10 + i as u64, &shape)
            })
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        check(seed, &inputs, PLAIN);
        check(seed, &inputs, knobs(seed as usize));
        check_round_trip(&format!("seed {seed}"), inputs[0], knobs(seed as usize + 1));
    }
}

#[test]
fn knobs_do_not_change_a_byte() {
    for seed in 200..240 {
        let mut rng = Rng::new(seed);
        let input = trace(seed, &TraceShape::arbitrary(&mut rng));
        let format = [None, Some(FORMATS[rng.index(3)])][rng.index(2)];
        let style = [Style::Keep, Style::Compact][rng.index(2)];
        let (expected, _) = run(&[&input], format, style, PLAIN);
        for number in 0..4 {
            let knobs = knobs(seed as usize * 4 + number);
            let (output, _) = run(&[&input], format, style, knobs);
            assert_same(&format!("seed {seed} {format:?} {style:?} {knobs:?}"), &expected, &output);
        }
    }
}

#[test]
fn real_traces_survive_ndjson_and_back() {
    let Some(folder) = corpus() else { return };
    let mut files: Vec<PathBuf> = Vec::new();
    files_below(&folder, &mut files);
    files.sort();
    let mut checked = 0;
    for (number, file) in files.iter().enumerate() {
        let text = crate::trace::text_of(file);
        let events = reference::events(&text).unwrap_or_default();
        // events without a phase are recognized in arrays only
        if text.len() > 1 << 20 || !events.iter().any(|event| event.ph.is_some()) {
            continue;
        }
        let folder = Folder::new();
        let copy = Source::Path(folder.file("in", &text));
        let target = output_to(&folder.path("out"), None);
        if convert(&[copy], Style::Keep, &target, &config(PLAIN)).is_err() {
            // an object of another kind, which serde_json reads as a line with an event
            continue;
        }
        let knobs = knobs(number);
        let read_size = knobs.read_size.map(|size| size.max(4096));
        let knobs = Knobs { read_size, chunk: knobs.chunk.max(5000), ..knobs };
        check_round_trip(&file.display().to_string(), &text, knobs);
        checked += 1;
    }
    assert!(checked > 80, "{checked} files");
}

/// An output started early on a wrong guess is written again.
#[test]
fn early_output_equals_late_output() {
    let event = |i: usize| format!("{{\"ph\":\"X\",\"ts\":{i},\"name\":\"event {i}\"}}");
    let list = |range: std::ops::Range<usize>| range.map(event).collect::<Vec<_>>().join(",\n");
    let long = "x".repeat(700);
    let inputs = [
        format!("{{\"a\":1,\"traceEvents\":[\n{}\n],\"b\":[1, 2]}}", list(0..100)),
        format!("[{}]", list(0..100)),
        format!("[{}", list(0..100)),
        // the last bytes look as if they came after the events
        format!("[{},{{\"ph\":\"X\",\"name\":\"}}],\\\"c\\\":{{\\\"ts\\\":1}}\"}}]", list(0..100)),
        format!("{{\"traceEvents\":[{}],\"c\":\"{{\\\"ts\\\":1}},{long}\"}}", list(0..100)),
        // two documents
        format!("{{\"traceEvents\":[{}],\"c\":1}}[{}]", list(0..50), list(50..100)),
        format!("[{}]{{\"traceEvents\":[{}],\"c\":1}}", list(0..50), list(50..100)),
        // an event on two lines, and an oversized one
        format!("[{},\n{{\"ph\":\"X\",\n\"ts\":7}}]", list(0..100)),
        format!("[{},\n{{\"ph\":\"X\",\"args\":\"{}\"}}]", list(0..100), long.repeat(30)),
        (0..100).map(event).collect::<Vec<_>>().join("\n"),
        format!("{{\"tracemill\":{{\"c\":1}}}}\n{}", list(0..100).replace(",\n", "\n")),
    ];
    for input in &inputs {
        for format in FORMATS {
            let (expected, _) = run(&[input.as_bytes()], Some(format), Style::Keep, PLAIN);
            for chunk in [64, 300] {
                let knobs = Knobs { threads: 2, chunk, ..PLAIN };
                let (output, report) = run(&[input.as_bytes()], Some(format), Style::Keep, knobs);
                let what = format!("{format:?} {chunk} {}", &input[input.len() - 60..]);
                assert_same(&what, &expected, &output);
                assert_eq!(report.run.bytes as usize, output.len(), "{what}");
            }
        }
    }
}

#[test]
fn rebased_conversion_equals_rebased_merge() {
    for seed in 0..12 {
        let input = trace(seed, &TraceShape { documents: 1, ..TraceShape::plain(60) });
        let (folder, corner) = (Folder::new(), knobs(seed as usize));
        let mut config = config(corner);
        config.clocks.rebase = Some(seed as i64 * 1_000);
        let [moved, merged] = ["moved", "merged"].map(|name| {
            let target = folder.path(name);
            let output = output_to(&target, Some(FORMATS[seed as usize % 3]));
            over(&[&input], corner, |sources| match name {
                "moved" => drop(convert(sources, Style::Keep, &output, &config).expect("sound")),
                _ => drop(merge(sources, &output, &config).expect("sound")),
            });
            read(&target)
        });
        assert_same(&format!("seed {seed}"), &merged, &moved);
    }
}
