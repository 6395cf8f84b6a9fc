//! What was asked for and nothing is: which of it, and what there is instead.

use crate::args::CriteriaArgs;
use crate::similar::suggestion;
use std::collections::HashSet;
use tracemill_pipeline::{Config, FilterReport, InfoConfig, InfoReport, Source, TopList, info};

/// Names that a sentence lists.
const LISTED: usize = 8;

/// Names of each kind that are looked at: what is rarer is not suggested.
pub(super) const NAMES: usize = 1000;

/// A sentence for each flag of which something matches nothing; one if each matches something, but no event all.
///
/// What there is instead is read from the inputs once more, if they are files: the scan keeps no names.
pub(super) fn sentences(
    report: &FilterReport,
    args: &CriteriaArgs,
    sources: &[Source],
    config: &Config,
) -> Vec<String> {
    if report.unmatched.is_empty() {
        let why = match args.invert {
            true => "",
            false => ": each criterion matches something, but no event meets all of them",
        };
        let text = format!("no event matches; only metadata is written{why}");
        return report.is_empty().then_some(text).into_iter().collect();
    }
    let wanted = InfoConfig { top: NAMES, full: false, self_times: false };
    let known = match sources.iter().all(can_be_read_again) {
        true => info(sources, &wanted, config).ok(),
        false => None,
    };
    let mut flags: Vec<&str> = report.unmatched.iter().map(|own| own.flag).collect();
    flags.dedup();
    let sentence = |flag| {
        let own = report.unmatched.iter().filter(|own| own.flag == flag);
        let asked: Vec<&str> = own.map(|own| own.asked.as_str()).collect();
        said(flag, &asked, known.as_ref().map(|known| there(known, flag)))
    };
    flags.into_iter().map(sentence).collect()
}

/// Whether it is a file or a folder.
pub(super) fn can_be_read_again(source: &Source) -> bool {
    let Source::Path(path) = source else { return false };
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() || metadata.is_dir())
}

/// What there is in the inputs of the kind that a flag asks for, each once.
fn there<'r>(report: &'r InfoReport, flag: &str) -> Vec<&'r str> {
    let processes = || report.processes.iter();
    let threads = || processes().flat_map(|process| &process.threads);
    let rows = |list: &'r TopList| list.by_bytes.iter().filter_map(|row| row.name.as_deref());
    let mut all: Vec<&str> = match flag {
        "--pid" => processes().map(|process| process.pid.as_str()).collect(),
        "--tid" => threads().map(|thread| thread.tid.as_str()).collect(),
        "--process" => processes().filter_map(|process| process.name.as_deref()).collect(),
        "--thread" => threads().filter_map(|thread| thread.name.as_deref()).collect(),
        "--ph" => report.phases.iter().map(|(phase, _)| phase.as_str()).collect(),
        "--cat" => {
            rows(&report.categories).flat_map(|list| list.split(',')).map(str::trim).collect()
        }
        "--args-key" => report.args.iter().flat_map(rows).collect(),
        _ => rows(&report.names).collect(),
    };
    if matches!(flag, "--pid" | "--tid") {
        all.sort_by_key(|id| (id.parse::<i64>().unwrap_or(i64::MAX), *id));
    }
    let mut seen = HashSet::new();
    all.retain(|name| !name.is_empty() && seen.insert(*name));
    all
}

/// That nothing matches what was asked for with a flag, what there is, and what was meant perhaps.
fn said(flag: &str, asked: &[&str], there: Option<Vec<&str>>) -> String {
    let separator = if matches!(flag, "--pid" | "--tid") { "," } else { ", " };
    let given = asked.join(separator);
    let Some(there) = there else { return format!("nothing matches {flag} {given}") };
    let meant = asked.iter().map(|word| suggestion(word, there.iter().copied()));
    let meant = meant.filter(|text| !text.is_empty()).collect::<Vec<_>>().concat();
    let mut list = there.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    if there.len() > LISTED {
        list.push_str(&format!(" … and {} more", there.len() - LISTED));
    }
    let there = match there.is_empty() {
        true => "there is none in the trace".to_owned(),
        false => format!("in the trace are {list}"),
    };
    format!("nothing matches {flag} {given}{meant} ({there})")
}

/// Keys of args that no input has, as one sentence.
pub(super) fn args_keys(keys: &[String], sources: &[Source], config: &Config) -> Option<String> {
    if keys.is_empty() {
        return None;
    }
    let wanted = InfoConfig { top: NAMES, full: true, self_times: false };
    let known = match sources.iter().all(can_be_read_again) {
        true => info(sources, &wanted, config).ok(),
        false => None,
    };
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    Some(said("--args-key", &keys, known.as_ref().map(|known| there(known, "--args-key"))))
}
