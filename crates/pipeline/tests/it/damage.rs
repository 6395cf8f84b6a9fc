//! Damages traces as real files are damaged: intact events survive, and damaged events are counted.

use crate::run::{Knobs, Merged, PLAIN, knobs, run};
use crate::trace::{Output, assert_same, missing, show};
use std::time::{Duration, Instant};
use tracemill_join::report::MergeReport;
use tracemill_testkit::damage::{DamageKind, Damaged, any_damage, damage};
use tracemill_testkit::generate::{Form, TraceShape, trace};
use tracemill_testkit::rounds::factor;
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::output::target::Format;
use tracemill_trace::run::error::ErrorClass;

const SEEDS: u64 = 100;
const SEEDS_MIN: u64 = 20;
/// Time after which a kind starts no further seed.
const TIME_BOX: Duration = Duration::from_millis(600);

/// Returns seeds until the time is over; long tests multiply the time.
fn timed_seeds(least: u64, most: u64) -> impl Iterator<Item = u64> {
    let (begun, time) = (Instant::now(), TIME_BOX * factor() as u32);
    seeds(0, most).take_while(move |&seed| seed < least || begun.elapsed() < time)
}

fn corners(seed: u64) -> impl Iterator<Item = Knobs> {
    (0..4).map(move |corner| knobs(seed as usize * 4 + corner))
}

#[track_caller]
fn check_kind(kind: DamageKind) {
    for seed in timed_seeds(SEEDS_MIN, SEEDS) {
        check_seed(kind, seed);
    }
}

#[track_caller]
fn check_seed(kind: DamageKind, seed: u64) {
    let mut rng = Rng::new(seed);
    let form = [Form::Object, Form::Object, Form::Array, Form::Ndjson][rng.index(4)];
    let shape = TraceShape { form, ..TraceShape::plain(3 + rng.index(20)) };
    let whole = trace(seed, &shape);
    let events = reference::events(&whole).expect("well-formed");
    let spans: Vec<_> = events.into_iter().map(|event| event.span).collect();
    let damaged = damage(&mut rng, &whole, &spans, kind);
    if kind == DamageKind::Restarted && first_document(&whole, &damaged).ends_with(b":") {
        // the second document may also be the value of the first one's last key, which is no loss
        // either
        return;
    }
    check(&format!("{kind:?}, seed {seed}, {form:?}"), &whole, &damaged, corners(seed));
}

/// Returns the text before the second document, or all of it.
fn first_document<'d>(whole: &[u8], damaged: &'d Damaged) -> &'d [u8] {
    let second = if damaged.kind == DamageKind::Restarted { whole.len() } else { 0 };
    damaged.bytes[..damaged.bytes.len() - second].trim_ascii_end()
}

#[track_caller]
fn check(what: &str, whole: &[u8], damaged: &Damaged, corners: impl Iterator<Item = Knobs>) {
    let input = &damaged.bytes;
    let plain = run(&[input], None, PLAIN);
    match &plain {
        Ok((output, report)) => {
            let parsed = Output::parse(report.run.format, output);
            check_survivors(what, whole, damaged, &parsed, report);
            check_nothing_vanishes(what, whole, damaged, &parsed, report);
        }
        Err(error) => {
            let nothing_left = damaged.survivors.is_empty() && error.class() == ErrorClass::Input;
            assert!(nothing_left, "{what}: {error}\n{}", show(input, 200));
        }
    }
    check_knobs(what, input, &plain, corners);
}

/// Asserts that knobs change neither the output nor the losses.
#[track_caller]
fn check_knobs(what: &str, input: &[u8], plain: &Merged, corners: impl Iterator<Item = Knobs>) {
    for corner in corners {
        match (plain, run(&[input], None, corner)) {
            (Ok((expected, report)), Ok((got, again))) => {
                assert_same(&format!("{what} {corner:?}"), expected, &got);
                assert_eq!(
                    report.run.inputs[0].losses, again.run.inputs[0].losses,
                    "{what} {corner:?}"
                );
            }
            (Err(expected), Err(got)) => assert_eq!(expected.class(), got.class(), "{what}"),
            (expected, got) => panic!("{what} {corner:?}: {expected:?}\n{got:?}"),
        }
    }
}

#[track_caller]
fn check_survivors(
    what: &str,
    whole: &[u8],
    damaged: &Damaged,
    output: &Output<'_>,
    report: &MergeReport,
) {
    let survivors: Vec<Vec<u8>> = damaged
        .survivors
        .iter()
        .map(|(_, span)| written_as(report.run.format, &damaged.bytes[span.clone()]))
        .collect();
    if let Some(lost) = missing(survivors.iter().map(Vec::as_slice), &output.events) {
        let lost = String::from_utf8_lossy(lost).into_owned();
        let input = String::from_utf8_lossy(&damaged.bytes);
        panic!("{what}: lost {lost}\n{report:#?}\n{input}");
    }
    // a number or word at the very end may be cut off
    let may_go_on = first_document(whole, damaged).last().is_some_and(u8::is_ascii_alphanumeric);
    if damaged.lossless && !may_go_on {
        assert_eq!(report.run.lost(), 0, "{what}: {report:#?}");
    }
}

/// Returns an event as written: NDJSON escapes raw line breaks.
fn written_as(format: Format, event: &[u8]) -> Vec<u8> {
    let is_break = |b: &u8| matches!(b, b'\n' | b'\r');
    if format != Format::Ndjson || !event.iter().any(is_break) {
        return event.to_vec();
    }
    let text = String::from_utf8(event.to_vec()).expect("the generator writes UTF-8");
    text.replace('\n', "\\n").replace('\r', "\\r").into_bytes()
}

/// Asserts that every byte of the input is in an event or key of the output, counted as lost, or
/// part of the text around events.
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
    let lost: u64 = report.run.inputs[0].losses.iter().map(|(_, tally)| tally.bytes).sum();
    let around = damaged.bytes.len() as i64 - written as i64 - lost as i64;
    // damage that looks like a top-level key is written as one
    let most = (framing(whole) * documents + 2 + output.keys.len()) as i64;
    // NDJSON writes a raw line break as an escape, which is longer
    assert!((-1..=most).contains(&around), "{what}: {around} of {most}: {report:#?}");
    let is_certain = matches!(
        damaged.kind,
        DamageKind::UnescapedQuote
            | DamageKind::Garbage
            | DamageKind::Comment
            | DamageKind::MissingBrace
            | DamageKind::StrayBracket
    );
    assert!(report.run.lost() > 0 || !is_certain, "{what}: nothing is counted");
}

/// Number of bytes of a trace outside its events.
fn framing(trace: &[u8]) -> usize {
    let events = reference::events(trace).expect("well-formed");
    trace.len() - events.iter().map(|event| event.bytes.len()).sum::<usize>()
}

/// Damage in nested strings or documents leaves open what must survive, but the output is valid and
/// unique.
#[test]
fn any_damage_gives_one_valid_output() {
    for seed in timed_seeds(SEEDS_MIN, 400) {
        let mut rng = Rng::new(seed);
        let whole = trace(seed, &TraceShape::arbitrary(&mut rng));
        let events = reference::events(&whole).expect("well-formed");
        let spans: Vec<_> = events.into_iter().map(|event| event.span).collect();
        let damaged = any_damage(&mut rng, &whole, &spans);
        let what = format!("{:?}, seed {seed}", damaged.kind);
        let plain = run(&[&damaged.bytes], None, PLAIN);
        check_knobs(&what, &damaged.bytes, &plain, corners(seed));
        // NDJSON without events is an empty file, which has no form
        if let Ok((output, _)) = &plain
            && !output.is_empty()
        {
            let (again, report) = run(&[output], None, PLAIN).expect(&what);
            assert_same(&format!("{what} again"), output, &again);
            assert_eq!(report.run.lost(), 0, "{what} again: {report:#?}");
        }
    }
}

/// One test per kind, so that a failure does not hide others.
macro_rules! kinds {
    ($($name:ident: $kind:ident,)*) => {
        $(
            #[test]
            fn $name() {
                check_kind(DamageKind::$kind);
            }
        )*

        #[test]
        fn every_kind_has_its_test() {
            assert_eq!(DamageKind::ALL, [$(DamageKind::$kind),*]);
        }
    };
}

kinds! {
    truncated: Truncated,
    unclosed: Unclosed,
    unescaped_quote: UnescapedQuote,
    control_byte: ControlByte,
    not_a_number: NotANumber,
    garbage: Garbage,
    missing_brace: MissingBrace,
    flipped_bit: FlippedBit,
    stray_bracket: StrayBracket,
    leading_comma: LeadingComma,
    trailing_comma: TrailingComma,
    comment: Comment,
    nul_run: NulRun,
    restarted: Restarted,
}
