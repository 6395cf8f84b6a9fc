//! Reads damaged inputs in pieces of any length. Reports must not depend on the pieces.

use crate::run::{Folder, Knobs, PLAIN, config, output_to, over};
use tracemill_index::info;
use tracemill_inspect::check::{FoundAt, check};
use tracemill_inspect::info::InfoConfig;
use tracemill_join::config::CheckFor;
use tracemill_pipeline::{Filter, filter};
use tracemill_testkit::damage::any_damage;
use tracemill_testkit::generate::{Form, TraceShape, trace};
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::Error;
use tracemill_trace::output::target::Format;
use tracemill_trace::run::losses::InputReport;

/// Returns knobs for files and pipes, read as a whole and in pieces.
fn cuts() -> impl Iterator<Item = Knobs> {
    let small = |read_size| Knobs { read_size, budget: Some(2000), chunk: 64, threads: 2, ..PLAIN };
    let reads = [1, 7, 63, 64, 65, 257, 4096];
    let ample = reads.map(|size| Knobs { read_size: Some(size), ..PLAIN });
    ample.into_iter().chain(reads.map(|size| small(Some(size)))).chain([small(None)])
}

fn damaged(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let form = [Form::Object, Form::Array, Form::Ndjson][rng.index(3)];
    let whole = trace(seed, &TraceShape { form, ..TraceShape::plain(3 + rng.index(20)) });
    let events = reference::events(&whole).expect("well-formed");
    let spans: Vec<_> = events.into_iter().map(|event| event.span).collect();
    any_damage(&mut rng, &whole, &spans).bytes
}

/// Formats the report of an input without its name, which pipes do not have.
fn summary(inputs: &[InputReport]) -> String {
    let of = |input_report: &InputReport| {
        let InputReport { losses, lapses, unclosed, odd_separators, events, .. } = input_report;
        format!("{events} {losses:?} {lapses:?} {unclosed} {odd_separators}")
    };
    inputs.iter().map(of).collect()
}

#[track_caller]
fn compare(what: &str, input: &[u8], verb: impl Fn(&[u8], Knobs) -> Result<String, Error>) {
    let of = |knobs| verb(input, knobs).map_err(|error| error.class());
    let whole = of(PLAIN);
    for cut in cuts() {
        assert_eq!(of(cut), whole, "{what} {cut:?}\n{}", String::from_utf8_lossy(input));
    }
}

#[test]
fn reports_of_damage_do_not_depend_on_read_sizes() {
    for seed in seeds(9000, 60) {
        let input = damaged(seed);
        compare(&format!("check, seed {seed}"), &input, |input, knobs| {
            let viewers = [CheckFor::Devtools, CheckFor::Perfetto];
            let report = over(&[input], knobs, |sources| check(sources, &viewers, &config(knobs)))?;
            let places = report.findings.iter().map(|finding| {
                let unnamed = |at: &FoundAt| FoundAt { input: String::new(), ..at.clone() };
                let places: Vec<_> = finding.places.iter().map(unnamed).collect();
                format!("{} {} {places:?}", finding.kind, finding.count)
            });
            Ok(summary(&report.inputs) + &places.collect::<String>())
        });
        compare(&format!("filter, seed {seed}"), &input, |input, knobs| {
            let folder = Folder::new();
            let to = output_to(&folder.path("out"), Some(Format::Object));
            let wanted = Filter { ph: vec!["X".into()], ..Filter::default() };
            let filter = |sources: &[_]| filter(sources, &wanted, &to, &config(knobs));
            Ok(summary(&over(&[input], knobs, filter)?.run.inputs))
        });
        compare(&format!("info, seed {seed}"), &input, |input, knobs| {
            let wanted = InfoConfig { top: 3, full: false, self_times: false };
            let info = |sources: &[_]| info(sources, &wanted, &config(knobs));
            Ok(summary(&over(&[input], knobs, info)?.inputs))
        });
    }
}
