//! Laws that hold for any input and any verb.

use super::ask::{Answer, Ask};
use super::{SEPARATOR, below};
use crate::run::{PLAIN, knobs};
use crate::trace::assert_same;
use arbitrary::Unstructured;
use tracemill_testkit::damage::any_damage;
use tracemill_testkit::generate::{ProfileShape, TraceShape, profile_trace, trace};
use tracemill_testkit::{Rng, mutate::mutated, reference};
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::time::windows::{Edges, TimeWindow};

pub(crate) fn verbs(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let (ask, corner) = (Ask::read(&mut bytes), below(&mut bytes, 256));
    let inputs: Vec<&[u8]> = bytes.take_rest().splitn(3, |&b| b == SEPARATOR).collect();
    check(&ask, corner, &inputs);
}

pub(crate) fn damaged(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let (ask, corner) = (Ask::read(&mut bytes), below(&mut bytes, 256));
    let count = 1 + below(&mut bytes, 2);
    let inputs: Vec<Vec<u8>> = (0..count).map(|_| generated(&mut bytes)).collect();
    check(&ask, corner, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
}

/// Generates a small trace, damaged up to three times.
fn generated(bytes: &mut Unstructured<'_>) -> Vec<u8> {
    let seed: u64 = bytes.arbitrary().unwrap_or(0);
    let (kind, damages) = (below(bytes, 3), below(bytes, 4));
    let rng = &mut Rng::new(seed);
    let mut input = if kind == 0 {
        let shape = ProfileShape::arbitrary(rng);
        let (samples, others) = (shape.samples.min(20), shape.others.min(10));
        profile_trace(seed, &ProfileShape { samples, others, ..shape })
    } else {
        let shape = TraceShape::arbitrary(rng);
        let events = 1 + shape.events % 40;
        trace(seed, &TraceShape { events, big: false, ..shape })
    };
    for _ in 0..damages {
        let spans = match reference::events(&input) {
            Ok(events) => events.into_iter().map(|event| event.span).collect(),
            Err(_) => Vec::new(),
        };
        input = match spans.is_empty() {
            true => mutated(rng, &input, &input),
            false => any_damage(rng, &input, &spans).bytes,
        };
    }
    input
}

fn check(ask: &Ask, corner: usize, inputs: &[&[u8]]) {
    let what = format!("{ask:?}");
    let plain = ask.answer(inputs, PLAIN, false);
    let other = ask.answer(inputs, knobs(corner), false);
    assert_equal(&format!("{what} {:?}", knobs(corner)), &plain, &other);
    // a strict `check` also reports the order
    if corner.is_multiple_of(4) && !matches!(ask, Ask::Check(_)) {
        check_strict(&what, &plain, &ask.answer(inputs, PLAIN, true));
    }
    if let (Ask::Merge(..), Ok((files, _))) = (ask, &plain) {
        check_merged(&what, &files[0]);
    }
}

pub(super) fn assert_equal(what: &str, one: &Answer, other: &Answer) {
    match (one, other) {
        (Ok((files, summary)), Ok((others, also))) => {
            assert_eq!(files.len(), others.len(), "{what}");
            for (file, other) in files.iter().zip(others) {
                assert_same(what, file, other);
            }
            assert_eq!(summary, also, "{what}");
        }
        _ => assert_eq!(one.as_ref().err(), other.as_ref().err(), "{what}"),
    }
}

/// Asserts that a strict run gives the same result or an input error.
fn check_strict(what: &str, plain: &Answer, strict: &Answer) {
    match strict {
        Ok(_) => assert_equal(&format!("{what} strictly"), plain, strict),
        Err(ErrorClass::Input) => {}
        Err(class) => assert_eq!(plain.as_ref().err(), Some(class), "{what} strictly"),
    }
}

/// Asserts that merging the output again, or slicing all of it, changes nothing.
fn check_merged(what: &str, output: &[u8]) {
    // empty NDJSON cannot be recognized
    if output.is_empty() || reference::is_ambiguous(output) {
        return;
    }
    let all = vec![TimeWindow { from: None, to: None }];
    for again in [Ask::plain_merge(), Ask::Slice(all, Edges::Clip, None)] {
        let answer = again.answer(&[output], PLAIN, false);
        let (files, _) = answer.unwrap_or_else(|class| panic!("{what}, {again:?}: {class:?}"));
        assert_same(&format!("{what}, {again:?}"), output, &files[0]);
    }
}
