//! Criteria that left no event: which of them match nothing, and what there is instead.

use crate::args::CriteriaArgs;
use crate::similar::suggestion;
use tracemill_pipeline::{Config, IdSet, InfoConfig, InfoReport, Pattern, Source, info};

/// Names that a sentence lists.
const LISTED: usize = 8;

/// Names of each kind that are looked at: what is rarer is not suggested.
pub(super) const NAMES: usize = 1000;

/// A sentence for each criterion that nothing in the inputs matches; one if each matches something, but no event all.
///
/// Reads the inputs once more, if they are files: the scan that found nothing keeps no names.
pub(super) fn sentences(args: &CriteriaArgs, sources: &[Source], config: &Config) -> Vec<String> {
    let wanted = InfoConfig { top: NAMES, full: false, self_times: false };
    let known = match sources.iter().all(can_be_read_again) {
        true => info(sources, &wanted, config).ok(),
        false => None,
    };
    let unmatched = known.iter().flat_map(|known| Known(known).unmatched(args));
    let sentences: Vec<String> = unmatched.collect();
    if sentences.is_empty() {
        let why = match known {
            Some(_) if !args.invert => {
                ": each criterion matches something, but no event meets all of them"
            }
            _ => "",
        };
        return vec![format!("no event matches; only metadata is written{why}")];
    }
    sentences
}

/// Whether it is a file or a folder.
pub(super) fn can_be_read_again(source: &Source) -> bool {
    let Source::Path(path) = source else { return false };
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() || metadata.is_dir())
}

/// What there is in the inputs.
struct Known<'r>(&'r InfoReport);

impl Known<'_> {
    fn unmatched(&self, args: &CriteriaArgs) -> Vec<String> {
        let report = self.0;
        let processes = || report.processes.iter();
        let threads = || processes().flat_map(|process| &process.threads);
        let names: Vec<&str> = processes().filter_map(|process| process.name.as_deref()).collect();
        let thread_names: Vec<&str> =
            threads().filter_map(|thread| thread.name.as_deref()).collect();
        let phases: Vec<&str> = report.phases.iter().map(|(phase, _)| phase.as_str()).collect();
        let cats = report.categories.by_bytes.iter().filter_map(|row| row.name.as_deref());
        let cats: Vec<&str> = cats.flat_map(|list| list.split(',')).map(str::trim).collect();
        let events: Vec<&str> =
            report.names.by_bytes.iter().filter_map(|row| row.name.as_deref()).collect();
        let mut pids: Vec<&str> = processes().map(|process| process.pid.as_str()).collect();
        let mut tids: Vec<&str> = threads().map(|thread| thread.tid.as_str()).collect();
        for ids in [&mut pids, &mut tids] {
            ids.sort_by_key(|id| (id.parse::<i64>().unwrap_or(i64::MAX), *id));
        }
        let is_id = |sets: &[IdSet], id: &str| sets.iter().any(|set| set.contains(id.as_bytes()));
        let matches = |patterns: &[Pattern], name: &str| {
            patterns.iter().any(|pattern| match args.ignore_case {
                true => format!("(?i){}", pattern.as_str())
                    .parse::<Pattern>()
                    .is_ok_and(|pattern| pattern.is_match(name)),
                false => pattern.is_match(name),
            })
        };
        let is_cat = |name: &str| {
            args.cat.iter().any(|glob| match args.ignore_case {
                true => glob
                    .as_str()
                    .to_lowercase()
                    .parse::<tracemill_pipeline::Glob>()
                    .is_ok_and(|glob| glob.is_match(&name.to_lowercase())),
                false => glob.is_match(name),
            })
        };
        let words = |patterns: &[Pattern]| -> Vec<String> {
            patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect()
        };
        let given = |flag: &'static str, given: Vec<String>| Criterion { flag, given };
        let mut all = Vec::new();
        let mut check = |criterion: Criterion, there: &[&str], found: bool| {
            if !criterion.given.is_empty() && !found {
                all.push(criterion.sentence(there));
            }
        };
        let ids = |sets: &[IdSet]| sets.iter().map(ToString::to_string).collect();
        check(given("--pid", ids(&args.pid)), &pids, pids.iter().any(|id| is_id(&args.pid, id)));
        check(given("--tid", ids(&args.tid)), &tids, tids.iter().any(|id| is_id(&args.tid, id)));
        for (flag, patterns, names) in [
            ("--process", &args.process, &names),
            ("--thread", &args.thread, &thread_names),
            ("--name", &args.name, &events),
        ] {
            let found = names.iter().any(|name| matches(patterns, name));
            check(given(flag, words(patterns)), names, found);
        }
        let globs = args.cat.iter().map(|glob| glob.as_str().to_owned()).collect();
        check(given("--cat", globs), &cats, cats.iter().any(|cat| is_cat(cat)));
        let found = phases.iter().any(|phase| args.ph.iter().any(|ph| ph == phase));
        check(given("--ph", args.ph.clone()), &phases, found);
        all
    }
}

/// What was asked for with one flag.
struct Criterion {
    flag: &'static str,
    given: Vec<String>,
}

impl Criterion {
    /// That nothing matches, what there is, and what was meant perhaps.
    fn sentence(&self, there: &[&str]) -> String {
        let mut distinct: Vec<&str> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        distinct.extend(there.iter().filter(|name| !name.is_empty() && seen.insert(**name)));
        let given = self.given.join(", ");
        let meant = self.given.iter().map(|word| suggestion(word, distinct.iter().copied()));
        let meant = meant.filter(|text| !text.is_empty()).collect::<Vec<_>>().concat();
        let mut list = distinct.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
        if distinct.len() > LISTED {
            list.push_str(&format!(" … and {} more", distinct.len() - LISTED));
        }
        let there = match distinct.is_empty() {
            true => "there is none in the trace".to_owned(),
            false => format!("in the trace are {list}"),
        };
        format!("nothing matches {} {given}{meant} ({there})", self.flag)
    }
}
