//! Bytes to events on one core: every tier on a Chrome-like trace, on the same one pretty-printed, and the full grammar
//! of `--strict` beside them.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use std::sync::LazyLock;
use tracemill_benches::{Count, Sum, chrome, pretty, scan, tiers};
use tracemill_tokenizer::{Tier, Validator};

fn main() {
    tracemill_benches::with_folder(divan::main);
}

static PRETTY: LazyLock<Vec<u8>> = LazyLock::new(|| pretty(&chrome().bytes));

/// Events and their fields' places.
#[divan::bench(args = tiers(), max_time = 1)]
fn events(bencher: Bencher<'_, '_>, tier: Tier) {
    count(bencher, tier, &chrome().bytes);
}

/// The same on some two times as many bytes that hold no more.
#[divan::bench(args = tiers(), max_time = 1)]
fn events_pretty(bencher: Bencher<'_, '_>, tier: Tier) {
    count(bencher, tier, &PRETTY);
}

/// And their time stamps, which is what a merge needs.
#[divan::bench(args = tiers(), max_time = 1)]
fn events_and_ts(bencher: Bencher<'_, '_>, tier: Tier) {
    let trace = chrome();
    let run = || scan(tier, &trace.bytes, Sum::default()).0;
    assert_eq!(run(), trace.answer);
    bencher
        .counter(BytesCount::of_slice(&trace.bytes))
        .counter(ItemsCount::new(trace.answer.events))
        .bench(run);
}

/// Every byte proved to be JSON.
#[divan::bench(args = tiers(), max_time = 1)]
fn validate_all(bencher: Bencher<'_, '_>, tier: Tier) {
    check(bencher, tier, &chrome().bytes);
}

/// The same on the pretty-printed trace.
#[divan::bench(args = tiers(), max_time = 1)]
fn validate_pretty(bencher: Bencher<'_, '_>, tier: Tier) {
    check(bencher, tier, &PRETTY);
}

fn count(bencher: Bencher<'_, '_>, tier: Tier, bytes: &[u8]) {
    let answer = chrome().answer;
    assert_eq!(scan(tier, bytes, Sum::default()).0, answer);
    let run = || scan(tier, bytes, Count::default()).0;
    assert_eq!(run(), answer.events);
    bencher.counter(BytesCount::of_slice(bytes)).counter(ItemsCount::new(answer.events)).bench(run);
}

fn check(bencher: Bencher<'_, '_>, tier: Tier, bytes: &[u8]) {
    let mut validator = Validator::new(tier);
    assert_eq!(validator.check(bytes), Ok(()));
    let cut = &bytes[..bytes.len() - 2];
    assert_eq!(validator.check(cut).map_err(|defect| defect.offset), Err(cut.len() as u64));
    bencher.counter(BytesCount::of_slice(bytes)).bench_local(|| validator.check(bytes));
}
