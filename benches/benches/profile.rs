//! CPU profiles: all that a trace holds put together, and written; a `.cpuprofile` as events.

use divan::Bencher;
use divan::counter::BytesCount;
use std::path::PathBuf;
use tracemill_benches::{chrome, config, merged, path, to_null};
use tracemill_index::{extract_profiles, list_profiles};
use tracemill_pipeline::{ProfileChoice, ProfileTarget, ProfilesReport};
use tracemill_trace::Source;

fn main() {
    tracemill_benches::with_folder(divan::main);
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn list(bencher: Bencher<'_, '_>, threads: usize) {
    let (source, config, choice) = ([chrome().source()], config(threads), ProfileChoice::default());
    assert_counts(&list_profiles(&source, &choice, &config).expect("the trace is sound"));
    bencher
        .counter(BytesCount::of_slice(&chrome().bytes))
        .bench(|| list_profiles(&source, &choice, &config).expect("as above").profiles.len());
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn extract(bencher: Bencher<'_, '_>, threads: usize) {
    let config = config(threads);
    bencher
        .counter(BytesCount::of_slice(&chrome().bytes))
        .bench(|| extracted("extract", threads, &config).profiles.len());
}

/// Everything that is extracted, merged again.
#[divan::bench(args = [1, 2], max_time = 1)]
fn to_events(bencher: Bencher<'_, '_>, threads: usize) {
    let config = config(threads);
    let report = extracted("events", threads, &config);
    let files: Vec<PathBuf> = report.profiles.iter().filter_map(|p| p.file.clone()).collect();
    let bytes: u64 = files.iter().map(|file| file.metadata().expect("it was written").len()).sum();
    let sources: Vec<Source> = files.into_iter().map(Source::Path).collect();
    assert_eq!(merged(&sources, &to_null(), &config).run.inputs.len(), report.profiles.len());
    bencher
        .counter(BytesCount::new(bytes))
        .bench(|| merged(&sources, &to_null(), &config).run.events);
}

fn extracted(
    name: &str,
    threads: usize,
    config: &tracemill_join::config::Config,
) -> ProfilesReport {
    let dir = path(&format!("{name}-{threads}"));
    let target = ProfileTarget::Folder { dir, template: None, replace: true, reserved: None };
    let sources = [chrome().source()];
    let report = extract_profiles(&sources, &ProfileChoice::default(), &target, config);
    let report = report.expect("the trace is sound");
    assert_counts(&report);
    report
}

/// As many samples as the text has.
fn assert_counts(report: &ProfilesReport) {
    let text = String::from_utf8_lossy(&chrome().bytes);
    let lists = text.split("\"samples\":[").skip(1);
    let samples = lists.map(|list| list.split(']').next().unwrap_or_default().split(',').count());
    assert_eq!(report.lost(), 0);
    assert_eq!(
        report.profiles.iter().map(|p| p.samples).sum::<u64>(),
        samples.sum::<usize>() as u64
    );
}
