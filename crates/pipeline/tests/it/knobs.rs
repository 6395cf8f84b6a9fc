//! Random traces with random knobs equal the naive reference, byte for byte.

use crate::run::{Knobs, PLAIN, knobs, run};
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::output::target::Format;

fn formats(format: Option<Format>) -> Option<reference::Format> {
    format.map(|format| match format {
        Format::Object => reference::Format::Object,
        Format::Array => reference::Format::Array,
        Format::Ndjson => reference::Format::Ndjson,
    })
}

fn show(bytes: &[u8], at: usize) -> String {
    String::from_utf8_lossy(
        &bytes[at.saturating_sub(200).min(bytes.len())..(at + 200).min(bytes.len())],
    )
    .into_owned()
}

#[track_caller]
pub(crate) fn check(seed: u64, inputs: &[&[u8]], format: Option<Format>, knobs: Knobs) {
    let expected =
        reference::merge(inputs, formats(format)).expect("the generator writes sound traces");
    let (got, report) = run(inputs, format, knobs).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let differs = expected.iter().zip(&got).position(|(a, b)| a != b);
    let differs =
        differs.or((expected.len() != got.len()).then_some(expected.len().min(got.len())));
    if let Some(at) = differs {
        for (i, input) in inputs.iter().enumerate() {
            std::fs::write(std::env::temp_dir().join(format!("tracemill-failed-{i}")), input)
                .expect("writable");
        }
        panic!(
            "seed {seed}, {format:?}, {knobs:?}: differ at byte {at}\n--- expected\n{}\n--- got\n{}",
            show(&expected, at),
            show(&got, at)
        );
    }
    assert!(
        report.run.inputs.iter().all(|input| input.losses.count() == 0),
        "seed {seed}: {report:?}"
    );
}

#[test]
fn merges_match_the_reference_with_any_knobs() {
    for seed in seeds(0, 60) {
        let mut rng = Rng::new(seed);
        let inputs: Vec<Vec<u8>> = (0..1 + rng.index(3))
            .map(|i| trace(seed * 10 + i as u64, &TraceShape::arbitrary(&mut rng)))
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let format = [None, None, Some(Format::Object), Some(Format::Array), Some(Format::Ndjson)]
            [rng.index(5)];
        check(seed, &inputs, format, PLAIN);
        for number in 0..4 {
            check(seed, &inputs, format, knobs(seed as usize * 4 + number));
        }
    }
}

#[test]
fn merging_again_changes_nothing() {
    for seed in seeds(1000, 20) {
        let mut rng = Rng::new(seed);
        let input = trace(seed, &TraceShape::arbitrary(&mut rng));
        let (once, first) = run(&[&input], None, PLAIN).expect("sound");
        let (twice, _) = run(&[&once], None, knobs(seed as usize)).expect("sound");
        assert!(once == twice, "seed {seed} {first:?}");
    }
}
