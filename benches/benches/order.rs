//! What disorder costs: whole merges of the same events, sorted, as Chrome writes them, and in random order.
//!
//! The order alone is not public; all three scan and write the same bytes, so the differences are its cost (and, for the
//! random order, that of gathering events from all over the file).

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use tracemill_benches::{Trace, assert_merges, chrome, config, merged, shuffled, sorted, to_null};

fn main() {
    tracemill_benches::with_folder(divan::main);
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn already_sorted(bencher: Bencher<'_, '_>, threads: usize) {
    sort(bencher, sorted(), threads);
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn as_chrome_writes(bencher: Bencher<'_, '_>, threads: usize) {
    sort(bencher, chrome(), threads);
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn random(bencher: Bencher<'_, '_>, threads: usize) {
    sort(bencher, shuffled(), threads);
}

fn sort(bencher: Bencher<'_, '_>, trace: &Trace, threads: usize) {
    let (source, config) = ([trace.source()], config(threads));
    let len = assert_merges(&source, trace.answer, &config);
    bencher
        .counter(BytesCount::of_slice(&trace.bytes))
        .counter(ItemsCount::new(trace.answer.events))
        .bench(|| assert_eq!(merged(&source, &to_null(), &config).run.bytes, len));
}
