//! `check`: every byte proved, every event looked at, groups paired and nested.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use tracemill_benches::{Trace, chrome, config, events_of, sorted};
use tracemill_inspect::check::{CheckReport, check};
use tracemill_join::config::Config;
use tracemill_trace::Source;

fn main() {
    tracemill_benches::with_folder(divan::main);
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn as_chrome_writes(bencher: Bencher<'_, '_>, threads: usize) {
    let late = late_events(chrome());
    assert!(late > 0);
    run(bencher, chrome(), late, threads);
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn already_sorted(bencher: Bencher<'_, '_>, threads: usize) {
    run(bencher, sorted(), 0, threads);
}

fn checked(sources: &[Source], config: &Config) -> CheckReport {
    check(sources, &[], config).expect("the inputs are sound")
}

fn run(bencher: Bencher<'_, '_>, trace: &Trace, late: u64, threads: usize) {
    let (source, config) = ([trace.source()], config(threads));
    let report = checked(&source, &config);
    assert_eq!(report.events, trace.answer.events);
    let count =
        |kind| report.findings.iter().find(|found| found.kind == kind).map_or(0, |f| f.count);
    assert_eq!(count("unsorted"), late);
    assert_eq!(count("grammar"), 0);
    bencher
        .counter(BytesCount::of_slice(&trace.bytes))
        .counter(ItemsCount::new(trace.answer.events))
        .bench(|| checked(&source, &config).events);
}

/// Timed events that stand behind one of a later time, or of the same and a shorter duration.
fn late_events(trace: &Trace) -> u64 {
    let number = |event: &str, key| {
        let digits = event.rsplit_once(key).map_or("0", |(_, digits)| digits);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse::<u64>().expect("the generator writes whole numbers")
    };
    let texts = events_of(trace).map(|event| str::from_utf8(event).expect("text"));
    let timed = texts.filter(|event| !event.contains("\"ph\":\"M\""));
    let order: Vec<_> = timed
        .map(|event| (number(event, "\"ts\":"), u64::MAX - number(event, "\"dur\":")))
        .collect();
    order.windows(2).filter(|pair| pair[0] > pair[1]).count() as u64
}
