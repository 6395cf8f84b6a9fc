//! Whole merges of two traces, by where the bytes come from and go to. Against `cat` and the clock of a whole process:
//! `scripts/bench`.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use tracemill_benches::{
    Answer, assert_merges, chrome, config, merged, pair, path, size, to_file, to_null,
};
use tracemill_join::config::Config;
use tracemill_trace::Source;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::limits::Shares;

fn main() {
    tracemill_benches::with_folder(divan::main);
}

fn sources() -> [Source; 2] {
    let [a, b] = pair();
    [a.source(), b.source()]
}

fn answer() -> Answer {
    let [a, b] = pair();
    a.answer.plus(b.answer)
}

fn bytes() -> BytesCount {
    let [a, b] = pair();
    BytesCount::new(a.bytes.len() + b.bytes.len())
}

/// A file that was not there before.
#[divan::bench(args = [1, 2], max_time = 1, sample_size = 1)]
fn new_file(bencher: Bencher<'_, '_>, threads: usize) {
    let (target, config) = (path("new.json"), config(threads));
    let len = assert_merges(&sources(), answer(), &config);
    bencher
        .counter(bytes())
        .counter(ItemsCount::new(answer().events))
        .with_inputs(|| {
            let _ = std::fs::remove_file(&target);
        })
        .bench_values(|()| {
            assert_eq!(merged(&sources(), &to_file(&target), &config).run.bytes, len);
        });
    assert_eq!(std::fs::metadata(&target).expect("it was just written").len(), len);
}

/// A file that is replaced.
#[divan::bench(args = [1, 2], max_time = 1)]
fn existing_file(bencher: Bencher<'_, '_>, threads: usize) {
    let (target, config) = (path("existing.json"), config(threads));
    std::fs::write(&target, b"old").expect("the folder takes files");
    to(bencher, &to_file(&target), &config);
}

/// No file system: scan, order and gather.
#[divan::bench(args = [1, 2], max_time = 1)]
fn nowhere(bencher: Bencher<'_, '_>, threads: usize) {
    to(bencher, &to_null(), &config(threads));
}

/// The same with room for a quarter of the index: it goes to disk in sorted runs, which are merged.
#[divan::bench(args = [1, 2], max_time = 1)]
fn nowhere_spilled(bencher: Bencher<'_, '_>, threads: usize) {
    // of both traces together the index takes about an eighth of one trace's bytes
    let shares = Shares { index: size() / 32, ..Shares::of(1 << 30, 2) };
    let mut config = config(threads);
    config.limits.shares = Some(shares);
    assert!(merged(&sources(), &to_null(), &config).spilled_runs > 0);
    to(bencher, &to_null(), &config);
}

/// One trace from a pipe that another thread fills from memory.
#[divan::bench(args = [1, 2], max_time = 1)]
fn pipe(bencher: Bencher<'_, '_>, threads: usize) {
    let (trace, config) = (chrome(), config(threads));
    let run = || through_pipe(&trace.bytes, |source| merged(&[source], &to_null(), &config));
    let len = assert_merges(&[trace.source()], trace.answer, &config);
    let report = run();
    assert_eq!((report.run.events, report.run.bytes), (trace.answer.events, len));
    bencher
        .counter(BytesCount::of_slice(&trace.bytes))
        .counter(ItemsCount::new(trace.answer.events))
        .bench(|| assert_eq!(run().run.bytes, len));
}

fn to(bencher: Bencher<'_, '_>, output: &OutputConfig, config: &Config) {
    let len = assert_merges(&sources(), answer(), config);
    bencher
        .counter(bytes())
        .counter(ItemsCount::new(answer().events))
        .bench(|| assert_eq!(merged(&sources(), output, config).run.bytes, len));
}

fn through_pipe<T>(bytes: &[u8], run: impl FnOnce(Source) -> T) -> T {
    let (reader, mut writer) = std::io::pipe().expect("a pipe can be made");
    std::thread::scope(|scope| {
        scope.spawn(move || writer.write_all(bytes).expect("all of it is read"));
        run(Source::Path(PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()))))
    })
}
