//! Uses arbitrary bytes as the index of a trace.

use super::below;
use crate::run::{Folder, PLAIN, config, output_to, read};
use arbitrary::Unstructured;
use std::path::Path;
use tracemill_index::format::{Index, PageBuilder, Writer};
use tracemill_index::{IndexConfig, index, info, slice};
use tracemill_inspect::info::InfoConfig;
use tracemill_join::config::{Config, IndexUse};
use tracemill_testkit::Rng;
use tracemill_testkit::generate::{ProfileShape, TraceShape, profile_trace, trace};
use tracemill_testkit::mutate::mutated;
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};
use tracemill_trace::{Error, Source};

/// Runs a verb on a trace with an index that is new, changed, forged, or that of another trace.
///
/// Changed indexes must be refused. Forged ones, with valid checksums, may be used but must do no
/// harm.
pub(crate) fn sidecar(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let seed: u64 = bytes.arbitrary().unwrap_or(0);
    let (kind, how, verb) = (below(&mut bytes, 3), below(&mut bytes, 5), below(&mut bytes, 4));
    let rng = &mut Rng::new(seed);
    let folder = Folder::new();
    let path = folder.file("a.json", any_trace(seed, kind, rng));
    let beside = folder.path("a.json.tmi");
    let Some(good) = index_bytes(&path) else { return };
    let other =
        index_bytes(&folder.file("b.json", any_trace(!seed, kind, rng))).unwrap_or_default();
    let is_forged = how == 4;
    let bytes = match how {
        0 => bytes.take_rest().to_vec(),
        1 => [&b"TMIX\r\n\x1a\n\x01\0"[..], bytes.take_rest()].concat(),
        2 => mutated(rng, &good, &other),
        3 => other,
        _ => forged(&good, rng),
    };
    std::fs::write(&beside, &bytes).expect("the folder takes it");
    let answer = |index: IndexUse| {
        let config = Config { index, ..config(PLAIN) };
        answer(&path, verb, rng_of(seed), &folder, &config)
    };
    let scanned = answer(IndexUse::Never);
    let found = answer(IndexUse::Auto);
    let named = answer(IndexUse::File(beside));
    if !is_forged {
        assert_eq!(found.as_ref().ok(), scanned.as_ref().ok(), "{how} {verb}");
        match named {
            Err(error) if scanned.is_ok() => {
                assert_eq!(error.class(), ErrorClass::Input, "{error}")
            }
            named => assert_eq!(named.ok(), scanned.ok(), "{how} {verb}"),
        }
    }
}

fn rng_of(seed: u64) -> Rng {
    Rng::new(seed ^ 7)
}

fn any_trace(seed: u64, kind: usize, rng: &mut Rng) -> Vec<u8> {
    if kind == 0 {
        let shape = ProfileShape::arbitrary(rng);
        let samples = shape.samples.min(20);
        return profile_trace(seed, &ProfileShape { samples, others: 100, ..shape });
    }
    let shape = TraceShape { documents: 1, big: false, ..TraceShape::arbitrary(rng) };
    let odd = if kind == 1 { 0 } else { shape.odd };
    trace(seed, &TraceShape { events: 200, odd, ..shape })
}

fn index_bytes(path: &Path) -> Option<Vec<u8>> {
    let sources = [Source::Path(path.to_owned())];
    let reports = index(&sources, &IndexConfig::default(), &config(PLAIN)).ok()?;
    Some(read(&reports.first()?.path))
}

/// Returns the output and report of a verb, without its cost and what concerns the index.
fn answer(
    path: &Path,
    verb: usize,
    mut rng: Rng,
    folder: &Folder,
    config: &Config,
) -> Result<(String, Vec<u8>), Error> {
    let sources = [Source::Path(path.to_owned())];
    match verb {
        0 => {
            let wanted = InfoConfig { top: 10, full: false, self_times: true };
            let mut report = info(&sources, &wanted, config)?;
            (report.index, report.warnings) = (None, Vec::new());
            Ok((format!("{report:?}"), Vec::new()))
        }
        _ => {
            let target = folder.path("out");
            let from = rng.below(100_000) as i64;
            let (from, to) = (Moment::FromStart(from), Moment::FromStart(from + 20_000));
            let windows = [TimeWindow { from: Some(from), to: Some(to) }];
            let edges = [Edges::Clip, Edges::Keep, Edges::Drop][verb - 1];
            let report = slice(&sources, &windows, edges, &output_to(&target, None), config);
            let written = std::fs::read(&target).unwrap_or_default();
            _ = std::fs::remove_file(&target);
            let mut report = report?;
            (report.index, report.index_unused, report.written.spilled_runs) = (None, None, 0);
            report.written.run.warnings.clear();
            Ok((format!("{report:?}"), written))
        }
    }
}

/// Returns an index with other numbers in some columns and valid checksums.
fn forged(good: &[u8], rng: &mut Rng) -> Vec<u8> {
    let sections = Index::open(good).expect("it was just made").sections().len();
    let which = rng.index(sections);
    let index = Index::open(good).expect("it was just made");
    let mut writer = Writer::new(Vec::new());
    for (number, entry) in index.sections().iter().enumerate() {
        writer.section(entry.id).expect("in their order");
        for page_entry in &entry.pages {
            let page = index.page(page_entry).expect("sound");
            let fill = |to: &mut PageBuilder| {
                for column in 0.. {
                    match (page.numbers(column), page.bytes(column)) {
                        (Ok(mut numbers), _) => {
                            if number == which && rng.chance(40) {
                                change(&mut numbers, rng);
                            }
                            to.numbers(&numbers);
                        }
                        (_, Ok(bytes)) => _ = to.bytes(bytes),
                        _ => return,
                    }
                }
            };
            writer.page(page.rows(), page_entry.first..=page_entry.last, fill).expect("it fits");
        }
    }
    let (body, head) = writer.finish(index.input()).expect("it fits");
    [&head[..], &body].concat()
}

fn change(numbers: &mut [u64], rng: &mut Rng) {
    for _ in 0..rng.below(4) {
        let (at, from) = (rng.index(numbers.len().max(1)), rng.index(numbers.len().max(1)));
        let value = match rng.below(5) {
            0 => rng.below(1 << 20),
            1 => u64::MAX - rng.below(3),
            2 => 1 << rng.below(64),
            3 => numbers.get(from).copied().unwrap_or(0),
            _ => numbers.get(at).copied().unwrap_or(0).wrapping_add(rng.below(9)).wrapping_sub(4),
        };
        if let Some(number) = numbers.get_mut(at) {
            *number = value;
        }
    }
}
