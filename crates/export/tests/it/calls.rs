//! Calls that are written as events.

use crate::common::recordings::{SHAPES, read, recording, source, tables};
use std::sync::{Arc, Mutex};
use tracemill_analysis::{Entries, ReadRules, SourceMaps, TableRules, ThreadChoice, Trace};
use tracemill_export::{draft_calls, write_calls};
use tracemill_join::config::{Align, Config, PidPolicy};
use tracemill_join::report::MergeReport;
use tracemill_pipeline::merge;
use tracemill_testkit::{Rng, generate, seeds};
use tracemill_trace::Source;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::limits::Shares;
use tracemill_trace::run::losses::InputReport;

#[test]
fn written_calls_have_the_rows_of_their_source() {
    let mut calls = 0;
    for seed in seeds(300, 24) {
        let text = recording(seed * 7);
        let of = || source(0, text.as_bytes());
        let trace = read(&[of()]);
        let rules = TableRules { entries: Entries::All, as_devtools: false };
        let threads = trace.choose(&ThreadChoice::default());
        let (written, drafts) = draft_calls(&trace, &threads, rules, None, "calls").expect("room");
        calls += written.calls;
        // Pids must stay those of the trace.
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let to = OutputConfig::writer(Arc::clone(&bytes));
        let usual = Config::new(2, 256 << 20, std::env::temp_dir());
        merge(&[vec![of()], drafts].concat(), &to, &usual).expect("they merge");
        let again = read(&[source(1, &bytes.lock().expect("nothing panicked"))]);
        assert_eq!(again.written_calls, written.calls, "seed {seed}");
        for shape in SHAPES {
            let tables = |trace| tables(trace, shape, Entries::All);
            assert_eq!(tables(&trace), tables(&again), "seed {seed}, {shape:?}");
        }
    }
    assert!(calls > 1000, "{calls}");
}

/// Inputs are traces and CPU profiles, files and pipes.
#[test]
fn reading_once_for_calls_and_merge_equals_reading_twice() {
    let (folder, mut calls) = (tempfile::tempdir().expect("a folder"), 0);
    for seed in seeds(1300, 40) {
        let mut rng = Rng::new(seed);
        let texts: Vec<String> = (0..1 + rng.below(3))
            .map(|at| match rng.below(3) {
                0 => generate::cpuprofile(seed + 100 * at).to_string(),
                _ => recording(seed * 7 + at),
            })
            .collect();
        let is_piped: Vec<bool> = texts.iter().map(|_| rng.below(3) == 0).collect();
        let sources = || {
            let all = texts.iter().zip(&is_piped).enumerate();
            let source = |(at, (text, is_piped)): (usize, (&String, &bool))| {
                let bytes = text.clone().into_bytes();
                if *is_piped {
                    return Source::reader(format!("{at}.cpuprofile"), std::io::Cursor::new(bytes));
                }
                let path = folder.path().join(format!("{at}.cpuprofile"));
                std::fs::write(&path, bytes).expect("the folder is ours");
                Source::Path(path)
            };
            all.map(source).collect::<Vec<Source>>()
        };
        let mut config = Config::new(1 + rng.below(3) as usize, 256 << 20, std::env::temp_dir());
        if rng.below(2) == 0 {
            config.identity.pid = PidPolicy::Auto;
            config.clocks.align = Align::Auto;
        }
        if rng.below(2) == 0 {
            config.limits.shares = Some(Shares { index: 2000, ..config.limits.shares() });
        }
        let written = |report: MergeReport, bytes: Arc<Mutex<Vec<u8>>>| {
            let of_input = |input_report: &InputReport| {
                (input_report.name.clone(), input_report.events, input_report.span)
            };
            let inputs: Vec<_> = report.run.inputs.iter().map(of_input).collect();
            (inputs, bytes.lock().expect("nothing panicked").clone())
        };
        let rules = TableRules { entries: Entries::All, as_devtools: false };
        let draft = |trace: &Trace| {
            let threads = trace.choose(&ThreadChoice::default());
            draft_calls(trace, &threads, rules, None, "calls").expect("room")
        };

        let twice = Arc::new(Mutex::new(Vec::new()));
        let trace = Trace::read(&sources(), ReadRules::default(), &config).expect("traces");
        let (counts, drafts) = draft(&trace);
        let to = OutputConfig::writer(Arc::clone(&twice));
        let report = merge(&[sources(), drafts].concat(), &to, &config).expect("they merge");
        let twice = written(report, twice);

        let once = Arc::new(Mutex::new(Vec::new()));
        let only = ReadRules { only_calls: true, ignore_refusals: true, ..ReadRules::default() };
        let read = Trace::read_to_merge(&sources(), only, &SourceMaps::default(), &config);
        let (trace, merging) = read.expect("traces");
        let (other_counts, drafts) = draft(&trace);
        let to = OutputConfig::writer(Arc::clone(&once));
        let once = written(merging.merge(&drafts, &to).expect("they merge"), once);
        assert_eq!(counts, other_counts, "seed {seed}");
        assert_eq!(twice.0, once.0, "seed {seed}");
        assert!(twice.1 == once.1, "seed {seed}");
        calls += counts.calls;
    }
    assert!(calls > 1000, "{calls}");
}

/// Merging calls from several files gives the same output as merging them from one file.
#[test]
fn calls_in_many_files_equal_calls_in_one() {
    let profile = |seed: u64| generate::cpuprofile(seed).to_string().into_bytes();
    let sources: Vec<Source> =
        (0..130).map(|seed| Source::bytes(format!("{seed}.cpuprofile"), profile(seed))).collect();
    let trace = read(&sources);
    let (rules, threads) = (TableRules::default(), trace.choose(&ThreadChoice::default()));
    let mut text = Vec::new();
    let write = |chunk: &[u8]| {
        text.extend_from_slice(chunk);
        Ok(())
    };
    let one = write_calls(&trace, &threads, rules, None, write).expect("memory takes it");
    let (all, drafts) = draft_calls(&trace, &threads, rules, None, "calls").expect("room");
    let merged = |sources: &[Source]| {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let usual = Config::new(2, 256 << 20, std::env::temp_dir());
        merge(sources, &OutputConfig::writer(Arc::clone(&bytes)), &usual).expect("they merge");
        let bytes = bytes.lock().expect("nothing panicked");
        bytes.clone()
    };
    assert!(one == all && all.calls > 1000 && (20..=64).contains(&drafts.len()), "{all:?}");
    assert!(merged(&[source(0, &text)]) == merged(&drafts));
}
