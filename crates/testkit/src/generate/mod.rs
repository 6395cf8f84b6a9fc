//! Generates seeded traces: arbitrary well-formed traces with every oddity of real writers, and
//! Chrome-like traces for benchmarks, quickly.
//!
//! [`trace`] builds each document as a tree of raw tokens, then writes it in the layout of the
//! shape.

mod annotations;
mod chrome;
mod chrome_text;
mod clocks;
mod cpuprofile;
mod event;
mod finish;
mod json;
mod profile;
mod recording;
mod shape;
mod value;

use std::collections::VecDeque;

pub use annotations::annotated;
pub use chrome::chrome_like;
pub use clocks::{Base, BaseFormat, Skew, rank, times_in_args};
pub use cpuprofile::{Arrangement, ProfileShape, profile_trace};
use json::Json;
pub use recording::{cpuprofile, recording};
pub use shape::{Disorder, Form, Layout, TraceShape};

pub use crate::Rng;

/// Generates a well-formed trace of `shape.events` events, determined by `seed` and `shape`.
#[must_use]
pub fn trace(seed: u64, shape: &TraceShape) -> Vec<u8> {
    let rng = &mut Rng::new(seed);
    let mut events = VecDeque::from(event::events(rng, shape));
    let mut out = String::new();
    if shape.bom {
        out.push('\u{feff}');
    }
    let documents = shape.documents.max(1);
    for number in 0..documents {
        let last = number + 1 == documents;
        let count = if last { events.len() } else { rng.index(events.len() + 1) };
        let form = if number == 0 { shape.form } else { shape::form(rng) };
        let events: Vec<Json> = events.drain(..count).collect();
        document(&mut out, rng, shape, form, events);
        if !last || rng.chance(70) {
            out.push_str(rng.pick(&["\n", "", "\r\n", "\n\n", " "]));
        }
    }
    out.into_bytes()
}

fn document(out: &mut String, rng: &mut Rng, shape: &TraceShape, form: Form, events: Vec<Json>) {
    match form {
        Form::Object => {
            let name =
                if shape.escaped_events_key { "\"traceEv\\u0065nts\"" } else { "\"traceEvents\"" };
            let mut members = value::top_level(rng, shape, shape.keys_before);
            members.push((name.to_owned(), Json::Events(events)));
            members.extend(value::top_level(rng, shape, shape.keys_after));
            Json::Object(members).write(out, rng, shape.layout);
        }
        Form::Array => Json::Events(events).write(out, rng, shape.layout),
        Form::Ndjson | Form::NdjsonWithHeader => {
            let layout = shape.layout.on_one_line();
            let ending = if shape.layout == Layout::CrLf { "\r\n" } else { "\n" };
            if form == Form::NdjsonWithHeader {
                let keys = value::top_level(rng, shape, shape.keys_before + shape.keys_after);
                let header = vec![("\"tracemill\"".to_owned(), Json::Object(keys))];
                Json::Object(header).write(out, rng, layout);
                out.push_str(ending);
            }
            let count = events.len();
            for (i, event) in events.into_iter().enumerate() {
                event.write(out, rng, layout);
                if i + 1 < count || rng.chance(80) {
                    out.push_str(ending);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;
    use serde_json::value::RawValue;

    #[test]
    fn traces_are_well_formed_and_merge() {
        let (mut bytes, mut delayed, mut inconsistent) = (0, 0, 0);
        for seed in 0..800 {
            let mut rng = Rng::new(seed);
            let shape = TraceShape::arbitrary(&mut rng);
            let input = trace(seed, &shape);
            assert_eq!(input, trace(seed, &shape), "seed {seed} gives one answer");
            for document in serde_json::Deserializer::from_slice(&input).into_iter::<&RawValue>() {
                // serde_json does not skip a byte order mark; the reference does
                assert!(document.is_ok() || shape.bom, "seed {seed}: {shape:?}: {document:?}");
            }
            let events = reference::events(&input).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(events.len(), shape.events, "seed {seed}: {shape:?}");
            for format in [None, Some(reference::Format::Ndjson), Some(reference::Format::Object)] {
                let (output, notes) =
                    reference::merge_with_notes(&[&input], format).expect("well-formed");
                assert_eq!(notes.events, shape.events);
                inconsistent += notes.inconsistent_profiles;
                delayed += notes.delayed_chunks;
                let again = reference::merge(&[&output], Some(notes.format));
                let again = again.expect("an output is well-formed");
                assert!(output == again, "seed {seed}: sorting twice moves nothing: {shape:?}");
            }
            bytes += input.len();
        }
        assert!(delayed > 300, "{delayed} chunks wait for others");
        assert!(inconsistent > 100, "{inconsistent} hopeless profiles");
        assert!(bytes > 1_000_000, "{bytes} bytes in all");
    }

    #[test]
    fn several_traces_merge() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let inputs: Vec<Vec<u8>> = (0..rng.range(2, 4))
                .map(|i| trace(seed * 10 + i, &TraceShape::arbitrary(&mut rng)))
                .collect();
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            let output =
                reference::merge(&inputs, None).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let count = |input| reference::events(input).expect("well-formed").len();
            assert_eq!(count(&output), inputs.iter().map(|i| count(i)).sum::<usize>());
        }
    }

    #[test]
    fn every_oddity_occurs() {
        let mut all = String::new();
        for seed in 0..800 {
            let shape = TraceShape::arbitrary(&mut Rng::new(seed));
            all.push_str(&String::from_utf8(trace(seed, &shape)).expect("utf-8"));
        }
        for wanted in [
            "\"ProfileChunk\"",
            "\"ts\":-",
            "e-0",
            "\\ud83d",
            "\\\\\\\\\\\\\"",
            "},\"traceEvents\":[{",
            "\"\\\"ts\"",
            "\"tss\"",
            "\"t\\u0073\"",
            "\r\n",
            "\t\t",
            "\"ph\":\"M\"",
            "\"ph\":\"=\"",
            "null",
            "{}",
            "\u{feff}",
            "stackFrames",
            "\"tracemill\"",
            "[[[[[[[[[[",
            "é",
        ] {
            assert!(all.contains(wanted), "{wanted} never occurs");
        }
    }
}
