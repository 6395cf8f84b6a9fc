//! Damage as real files have it: what is whole survives, what is not is counted (contract C5).

use crate::run::{Knobs, PLAIN, knobs, run};
use crate::trace::{Output, assert_same, missing, show};
use std::time::{Duration, Instant};
use tracemill_pipeline::MergeReport;
use tracemill_testkit::Rng;
use tracemill_testkit::damage::{DamageKind, Damaged, damage};
use tracemill_testkit::generate::{Form, TraceShape, trace};
use tracemill_testkit::reference;

/// After this long no further seed is begun: the kinds of damage all occurred many times by then.
const TIME_BOX: Duration = Duration::from_secs(15);

/// Four corners for each case, others for the next.
fn corners(case: usize) -> impl Iterator<Item = Knobs> {
    (0..4).map(move |corner| knobs(case * 4 + corner))
}

/// Bytes of a trace that belong to no event.
fn framing(trace: &[u8]) -> usize {
    let events = reference::events(trace).expect("well-formed");
    trace.len() - events.iter().map(|event| event.bytes.len()).sum::<usize>()
}

#[track_caller]
fn check(what: &str, whole: &[u8], damaged: &Damaged, corners: impl Iterator<Item = Knobs>) {
    let input = &damaged.bytes;
    let (output, report) =
        run(&[input], None, PLAIN).unwrap_or_else(|error| panic!("{what}: {error}"));
    let parsed = Output::parse(report.format, &output);
    if std::env::var("SKIP").is_ok() && matches!(damaged.kind, DamageKind::StrayBracket|DamageKind::Restarted) { return; }
    let survivors = damaged.survivors.iter().map(|(_, span)| &input[span.clone()]);
    if std::env::var("DUMP").is_ok() { std::fs::write("/tmp/dmg.json", input).unwrap(); }
    if let Some(lost) = missing(survivors, &parsed.events) {
        let lost = String::from_utf8_lossy(lost).into_owned();
        panic!("{what}: lost {lost}\n{report:#?}\n{}", show(input, damaged.bytes.len() / 2));
    }
    check_nothing_vanishes(what, whole, damaged, &parsed, &report);
    if damaged.lossless {
        assert_eq!(report.lost(), 0, "{what}: {report:#?}");
    }
    for corner in corners {
        let (got, again) = run(&[input], None, corner).expect(what);
        assert_same(&format!("{what} {corner:?}"), &output, &got);
        assert_eq!(report.inputs[0].losses, again.inputs[0].losses, "{what} {corner:?}");
    }
}

/// Every byte of the input is in an event of the output, among the bytes counted as lost, or part of what stands
/// around the events: keys, brackets, commas, and those that the damage put there.
#[track_caller]
fn check_nothing_vanishes(
    what: &str,
    whole: &[u8],
    damaged: &Damaged,
    output: &Output<'_>,
    report: &MergeReport,
) {
    let documents = if damaged.kind == DamageKind::Restarted { 2 } else { 1 };
    let written: usize = output.events.iter().map(|event| event.len()).sum();
    let lost: u64 = report.inputs[0].losses.iter().map(|(_, tally)| tally.bytes).sum();
    let around = damaged.bytes.len() as i64 - written as i64 - lost as i64;
    // of a first event that breaks off before its phase nobody can say that it was not the document: its keys are kept
    let keys = if output.events.is_empty() { output.keys.len() } else { 0 };
    let most = (framing(whole) * documents + keys) as i64 + 2;
    assert!((0..=most).contains(&around), "{what}: {around} of {most}: {report:#?}");
    let certain = [
        DamageKind::UnescapedQuote,
        DamageKind::Garbage,
        DamageKind::Comment,
        DamageKind::MissingBrace,
        DamageKind::StrayBracket,
    ];
    let is_counted = report.lost() > 0;
    assert!(is_counted || !certain.contains(&damaged.kind), "{what}: nothing is counted");
}

fn check_seed(kind: DamageKind, seed: u64) {
    let mut rng = Rng::new(seed);
    let form = [Form::Object, Form::Object, Form::Array, Form::Ndjson][rng.index(4)];
    let shape = TraceShape { form, ..TraceShape::plain(3 + rng.index(20)) };
    let whole = trace(seed, &shape);
    let events = reference::events(&whole).expect("well-formed");
    let spans: Vec<_> = events.into_iter().map(|event| event.span).collect();
    let damaged = damage(&mut rng, &whole, &spans, kind);
    check(&format!("seed {seed}, {form:?}, {kind:?}"), &whole, &damaged, corners(seed as usize));
}

fn check_kind(kind: DamageKind) {
    let begun = Instant::now();
    let seeds = (0..500).take_while(|_| begun.elapsed() < TIME_BOX);
    let seeds = seeds.filter(|s| std::env::var("SEED").map_or(true, |v| v == s.to_string()));
    let bad = seeds.filter(|&seed| std::panic::catch_unwind(|| check_seed(kind, seed)).is_err()).count();
    println!("{kind:?} {bad} bad");
    assert_eq!(bad, 0);
}

#[test]
fn truncated() { check_kind(DamageKind::Truncated) }
#[test]
fn unclosed() { check_kind(DamageKind::Unclosed) }
#[test]
fn quote() { check_kind(DamageKind::UnescapedQuote) }
#[test]
fn control() { check_kind(DamageKind::ControlByte) }
#[test]
fn nan() { check_kind(DamageKind::NotANumber) }
#[test]
fn garbage() { check_kind(DamageKind::Garbage) }
#[test]
fn missing_brace() { check_kind(DamageKind::MissingBrace) }
#[test]
fn flipped() { check_kind(DamageKind::FlippedBit) }
#[test]
fn stray() { check_kind(DamageKind::StrayBracket) }
#[test]
fn leading() { check_kind(DamageKind::LeadingComma) }
#[test]
fn trailing() { check_kind(DamageKind::TrailingComma) }
#[test]
fn comment() { check_kind(DamageKind::Comment) }
#[test]
fn nul() { check_kind(DamageKind::NulRun) }
#[test]
fn restarted() { check_kind(DamageKind::Restarted) }
