//! Messages about criteria that match nothing. They list names that exist in the inputs.

use crate::args::{AskedRows as Asked, ChosenThreads, CriteriaArgs, PartArgs};
use crate::text::similar::{instead, listed, suggestion};
use tracemill_analysis::{ThreadChoice, Trace, title_of};
use tracemill_index::info;
use tracemill_inspect::info::{InfoConfig, InfoReport, TopList};
use tracemill_join::config::Config;
use tracemill_join::config::id_set::IdSet;
use tracemill_join::config::pattern::Pattern;
use tracemill_join::report::FilterReport;
use tracemill_trace::Source;
use tracemill_trace::run::words::plural;

/// For each kind of name, the number of names with the most bytes in which similar ones are
/// searched.
pub(super) const NAMES: usize = 1000;

/// Returns a sentence for each criterion that matches nothing. If each matches something, returns
/// one sentence that no event matches all of them.
///
/// Pids, tids and thread names come from the report. For names, categories and phases, the inputs
/// are read again if they are files.
pub(super) fn sentences(
    report: &FilterReport,
    args: &CriteriaArgs,
    sources: &[Source],
    config: &Config,
) -> Vec<String> {
    if report.unmatched.is_empty() {
        let why = match args.invert {
            true => "",
            false => ": each criterion matches something, but no event matches all of them",
        };
        let text = format!("no event matches, so only metadata was written{why}");
        return report.is_empty().then_some(text).into_iter().collect();
    }
    let wanted = InfoConfig { top: NAMES, full: false, self_times: false };
    let mut flags: Vec<&str> = report.unmatched.iter().map(|value| value.flag).collect();
    flags.dedup();
    let present = |flag| {
        let found = report.present.iter().find(|present| present.flag == flag)?;
        Some(found.values.iter().map(String::as_str).collect())
    };
    let is_known = flags.iter().all(|&flag| present(flag).is_some());
    let known = match !is_known && sources.iter().all(Source::is_rereadable) {
        true => info(sources, &wanted, config).ok(),
        false => None,
    };
    let sentence = |flag| {
        let values = report.unmatched.iter().filter(|value| value.flag == flag);
        let names: Vec<&str> = values.map(|value| value.asked.as_str()).collect();
        let there = present(flag).or_else(|| Some(there(known.as_ref()?, flag)));
        no_match(flag, &names, there)
    };
    flags.into_iter().map(sentence).collect()
}

/// Returns the distinct values in the inputs that a criterion could have matched.
fn there<'r>(report: &'r InfoReport, flag: &str) -> Vec<&'r str> {
    let rows = |list: &'r TopList| list.by_bytes.iter().filter_map(|row| row.name.as_deref());
    match flag {
        "--ph" => report.phases.iter().map(|(phase, _)| phase.as_str()).collect(),
        "--cat" => {
            rows(&report.categories).flat_map(|list| list.split(',')).map(str::trim).collect()
        }
        // the scan does not count values of args
        "--args" => Vec::new(),
        "--args-key" => report.args.iter().flat_map(rows).collect(),
        _ => rows(&report.names).flat_map(|name| [title_of(name), Some(name)]).flatten().collect(),
    }
}

/// Returns one sentence per flag that names rows which the trace does not have, or which tables
/// leave out.
pub(super) fn of_rows(
    rows: &[(&'static str, Asked)],
    trace: &Trace,
    all_events: bool,
) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let all = trace.row_names();
    let [revealed, shown] = [true, all_events].map(|all_events| trace.shown_names(all_events));
    let sentence = |(flag, row): &(&'static str, Asked)| {
        let text = row.text();
        let matching = |names: &[String]| -> Vec<String> {
            names.iter().filter(|name| row.is_match(name)).cloned().collect()
        };
        let (in_trace, hidden) = (matching(&all), matching(&revealed));
        let there = || all.iter().map(String::as_str).collect();
        // these flags find tasks too, which no table has
        let finds_tasks = ["--during", "--focus", "--root"].contains(flag);
        let is_shown = !matching(&shown).is_empty() || finds_tasks && in_trace.len() > hidden.len();
        match row {
            Asked::Key(_) => Some(no_match(flag, &[text], None)),
            _ if in_trace.is_empty() => Some(no_match(flag, &[text], Some(there()))),
            _ if is_shown => None,
            _ => {
                let meant = suggestion(text, shown.iter().map(String::as_str));
                let why = match &hidden[..] {
                    [] => format!("tables have no rows of {}, as in DevTools", listed(&in_trace)),
                    names => {
                        let them = if names.len() == 1 { "it" } else { "them" };
                        format!("DevTools hides {}; --all-events shows {them}", listed(names))
                    }
                };
                Some(format!("no row matches {flag} {text}{meant} ({why})"))
            }
        }
    };
    rows.iter().filter_map(sentence).collect()
}

/// Returns a sentence for each flag that selects no thread of the trace.
pub(super) fn of_threads(part: &PartArgs, trace: &Trace) -> Vec<String> {
    let by_name = |flag, patterns: &[Pattern], names: Vec<String>| {
        let is_there = |pattern: &&Pattern| names.iter().any(|name| pattern.is_match(name));
        let values: Vec<&str> = patterns
            .iter()
            .filter(|pattern| !is_there(pattern))
            .map(|pattern| pattern.as_str())
            .collect();
        (!values.is_empty())
            .then(|| no_match(flag, &values, Some(names.iter().map(String::as_str).collect())))
    };
    let by_id = |flag, sets: &[IdSet], mut ids: Vec<String>| {
        ids.sort_by_key(|id| number_of(id));
        let is_there = |id_set: &&IdSet| ids.iter().any(|id| id_set.contains(id.as_bytes()));
        let values: Vec<String> =
            sets.iter().filter(|set| !is_there(set)).map(ToString::to_string).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        (!values.is_empty())
            .then(|| no_match(flag, &values, Some(ids.iter().map(String::as_str).collect())))
    };
    let threads = || trace.threads.iter();
    let id = |id: &[u8]| String::from_utf8_lossy(id).into_owned();
    let ChosenThreads { pid, tid, process, thread } = part.chosen();
    // a trace without these flags may have as many threads as events
    if pid.is_empty() && tid.is_empty() && process.is_empty() && thread.is_empty() {
        return Vec::new();
    }
    [
        by_id("--pid", pid, threads().map(|thread| id(&thread.pid)).collect()),
        by_id("--tid", tid, threads().map(|thread| id(&thread.tid)).collect()),
        by_name(
            "--process",
            process,
            threads().filter_map(|thread| trace.process_name(thread)).collect(),
        ),
        by_name("--thread", thread, threads().filter_map(|thread| thread.name.clone()).collect()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Phases of events that are not in the call tree of a thread, with a noun for each.
const UNFILED: [(&str, &[u8]); 9] = [
    ("async operation", b"bS"),
    ("async end", b"eF"),
    ("async step", b"nTp"),
    ("instant", b"iR"),
    ("counter event", b"C"),
    ("flow event", b"stf"),
    ("object event", b"NOD"),
    ("memory dump", b"vV"),
    ("metadata event", b"M"),
];

/// Returns a sentence about the contents of a trace whose threads have neither slices nor samples.
pub(super) fn without_threads(trace: &Trace) -> Option<String> {
    if !trace.choose(&ThreadChoice::default()).is_empty() {
        return None;
    }
    let count = |phases: &[u8]| phases.iter().filter_map(|phase| trace.unfiled.get(phase)).sum();
    let begins: u64 = count(UNFILED[0].1);
    let held = UNFILED.iter().filter(|(noun, _)| *noun != "async end" || begins == 0);
    let held: Vec<String> = held
        .map(|(noun, phases)| (noun, count(phases)))
        .filter(|(_, count)| *count > 0)
        .map(|(noun, count)| plural(count, noun))
        .collect();
    let held = if held.is_empty() { "nothing".to_owned() } else { held.join(", ") };
    let table = if begins > 0 { " (tracemill top --async has how long these last)" } else { "" };
    Some(format!(
        "no thread has a slice (X, B, E), an instant (I) or CPU samples; the trace holds {held}{table}"
    ))
}

/// Returns the key by which an id is sorted. Ids that are not numbers come last.
fn number_of(id: &str) -> i64 {
    id.parse().unwrap_or(i64::MAX)
}

/// Formats "nothing matches FLAG VALUE", and appends names that exist and a suggestion.
fn no_match(flag: &str, values: &[&str], there: Option<Vec<&str>>) -> String {
    let separator = if matches!(flag, "--pid" | "--tid") { "," } else { ", " };
    let given = values.join(separator);
    let there = there.map_or_else(String::new, |there| instead(values, there.into_iter()));
    format!("nothing matches {flag} {given}{there}")
}

/// Returns a sentence about a track that no input has. `names` are the tracks that there are.
pub(super) fn of_track(track: &str, names: &[String]) -> String {
    no_match("--track", &[track], Some(names.iter().map(String::as_str).collect()))
}

/// Returns a sentence about names of `--args-key` that no input has.
pub(super) fn args_keys(keys: &[String], sources: &[Source], config: &Config) -> Option<String> {
    if keys.is_empty() {
        return None;
    }
    let wanted = InfoConfig { top: NAMES, full: true, self_times: false };
    let known = match sources.iter().all(Source::is_rereadable) {
        true => info(sources, &wanted, config).ok(),
        false => None,
    };
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    Some(no_match("--args-key", &keys, known.as_ref().map(|known| there(known, "--args-key"))))
}
