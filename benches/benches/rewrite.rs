//! What verbs that write traces cost: some events out, another form, a file for each thread.

use divan::Bencher;
use divan::counter::BytesCount;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tracemill_benches::{chrome, config, events_of, path, to_null};
use tracemill_join::config::Config;
use tracemill_pipeline::{Filter, SplitBy, SplitConfig, SplitReport, convert, filter, split};
use tracemill_trace::output::target::{Compression, Format, OutputConfig, Style};

fn main() {
    tracemill_benches::with_folder(divan::main);
}

/// The id behind a key, as it is written.
fn id<'e>(event: &'e str, key: &str) -> &'e str {
    let behind = event.split_once(key).expect("every event has it").1;
    behind.split([',', '}']).next().unwrap_or_default()
}

/// Events but for metadata and chunks of CPU profiles, by process and thread.
fn threads() -> BTreeMap<(String, String), u64> {
    let mut threads = BTreeMap::new();
    for event in events_of(chrome()) {
        let event = String::from_utf8_lossy(event);
        if !event.contains("\"ph\":\"M\"") && !event.contains("\"ProfileChunk\"") {
            let key = (id(&event, "\"pid\":").to_owned(), id(&event, "\"tid\":").to_owned());
            *threads.entry(key).or_insert(0) += 1;
        }
    }
    threads
}

/// About half of the threads.
#[divan::bench(args = [1, 2], max_time = 1)]
fn filter_by_thread(bencher: Bencher<'_, '_>, threads_of_run: usize) {
    let (source, config) = ([chrome().source()], config(threads_of_run));
    let threads = threads();
    let some: Vec<&str> = threads.keys().step_by(2).map(|(_, tid)| tid.as_str()).collect();
    let criteria = Filter { tid: Some(some.join(",").parse().expect("ids")), ..Filter::default() };
    let report = filter(&source, &criteria, &to_null(), &config).expect("the trace is sound");
    // chunks go with their profiles, metadata stays
    let others = |event: &&[u8]| {
        let event = String::from_utf8_lossy(event);
        event.contains("\"ph\":\"M\"") || event.contains("\"ProfileChunk\"")
    };
    let most = events_of(chrome()).filter(others).count() as u64;
    let kept: u64 =
        threads.iter().filter(|((_, tid), _)| some.contains(&tid.as_str())).map(|(_, n)| n).sum();
    assert!((kept..=kept + most).contains(&report.run.events), "{} of {kept}", report.run.events);
    bencher
        .counter(BytesCount::of_slice(&chrome().bytes))
        .bench(|| filter(&source, &criteria, &to_null(), &config).expect("as above").run.events);
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn convert_to_lines(bencher: Bencher<'_, '_>, threads: usize) {
    let (source, config) = ([chrome().source()], config(threads));
    let output = OutputConfig { format: Some(Format::Ndjson), ..to_null() };
    let report = convert(&source, Style::Keep, &output, &config).expect("the trace is sound");
    assert_eq!((report.run.events, report.run.lost()), (chrome().answer.events, 0));
    bencher
        .counter(BytesCount::of_slice(&chrome().bytes))
        .bench(|| convert(&source, Style::Keep, &output, &config).expect("as above").run.bytes);
}

fn split_into(dir: PathBuf, config: &Config) -> SplitReport {
    let settings = SplitConfig {
        by: SplitBy::Tid,
        max_size: None,
        dir,
        template: None,
        replace: true,
        reserved: Vec::new(),
        format: None,
        compression: Compression::None,
        dry_run: false,
    };
    split(&[chrome().source()], &settings, config).expect("the trace is sound")
}

#[divan::bench(args = [1, 2], max_time = 1)]
fn split_by_thread(bencher: Bencher<'_, '_>, threads_of_run: usize) {
    let config = config(threads_of_run);
    let dir = path(&format!("parts-{threads_of_run}"));
    let report = split_into(dir.clone(), &config);
    assert_eq!(report.parts.len(), threads().len());
    for part in &report.parts {
        assert_eq!(part.file.metadata().expect("it was written").len(), part.bytes);
    }
    bencher
        .counter(BytesCount::of_slice(&chrome().bytes))
        .bench(|| split_into(dir.clone(), &config).parts.len());
}
