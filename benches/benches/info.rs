//! `info`: everything there is to say about a trace, in one pass.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use tracemill_benches::{Trace, chrome, config, informed, sorted};

fn main() {
    tracemill_benches::with_folder(divan::main);
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn as_chrome_writes(bencher: Bencher<'_, '_>, threads: usize) {
    assert!(!informed(&[chrome().source()], &config(threads)).sorted);
    run(bencher, chrome(), threads);
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn already_sorted(bencher: Bencher<'_, '_>, threads: usize) {
    assert!(informed(&[sorted().source()], &config(threads)).sorted);
    run(bencher, sorted(), threads);
}

fn run(bencher: Bencher<'_, '_>, trace: &Trace, threads: usize) {
    let (source, config) = ([trace.source()], config(threads));
    let report = informed(&source, &config);
    assert_eq!(report.events, trace.answer.events);
    let sum = |counts: Vec<u64>| counts.into_iter().sum::<u64>();
    assert_eq!(sum(report.phases.iter().map(|phase| phase.1).collect()), report.events);
    assert_eq!(
        sum(report.processes.iter().map(|process| process.usage.events).collect()),
        report.events
    );
    assert_eq!(report.keys, ["metadata"]);
    bencher
        .counter(BytesCount::of_slice(&trace.bytes))
        .counter(ItemsCount::new(trace.answer.events))
        .bench(|| informed(&source, &config).events);
}
