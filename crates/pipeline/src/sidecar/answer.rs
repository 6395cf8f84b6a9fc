//! `info` from an index, where that says all of it; else from the trace.

use super::build::TOP;
use super::chosen::{Candidate, unused_of_several};
use crate::config::Config;
use crate::info::{self, InfoConfig, InfoReport, TopList, Unended, Usage};
use crate::pieces::{Stop, Unused};
use tracemill_core::error::Error;
use tracemill_core::source::Source;
use tracemill_tokenizer::Mapped;

/// Counts what is in `sources`, taken together.
///
/// Cost: one pass over the inputs on all cores. Heap: a row for each thread and, within an eighth of the budget's share
/// for indexes each, for each name and list of categories, beyond that on disk. With [`InfoConfig::full`] three times the
/// time, and 40 bytes for each X, B and E, on disk beyond half of that share; what is open at one time in one thread.
///
/// Where [`Config::index`] allows it and there is an index of the one input, that is asked instead: at most 16 MiB of the input
/// are read, to see that it is still what it was.
///
/// ```
/// use tracemill_pipeline::{Config, InfoConfig, Source, info};
/// # let folder = tempfile::tempdir()?;
/// # let trace = folder.path().join("trace.json");
/// # std::fs::write(&trace, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":50},{"ph":"X","name":"b","pid":1,"tid":2,"ts":2000,"dur":900}]"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let wanted = InfoConfig { top: 10, full: true, self_times: false };
/// let report = info(&[Source::Path(trace)], &wanted, &config)?;
/// assert_eq!((report.events, report.start_ns, report.processes[0].threads.len()), (2, Some(1_000_000), 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`crate::merge()`], but for the output. [`crate::ErrorKind::NotATrace`] for an index that was named and cannot answer.
pub fn info(sources: &[Source], wanted: &InfoConfig, config: &Config) -> Result<InfoReport, Error> {
    info_with(sources, wanted, config, |_| ())
}

/// As [`info()`], and `look` sees the report before it is given out: where `look` reads the files again, what it finds is of the
/// bytes that were counted.
///
/// # Errors
/// As [`info()`]; [`crate::ErrorKind::Changed`] also for a file that was written to until `look` was done.
pub fn info_with(
    sources: &[Source],
    wanted: &InfoConfig,
    config: &Config,
    look: impl FnOnce(&InfoReport),
) -> Result<InfoReport, Error> {
    config.check()?;
    let Some(candidate) = Candidate::of(sources, config)? else {
        let mut report = info::info(sources, wanted, config, look)?;
        report.index_unused = unused_of_several(sources, config).map(Unused::text);
        return Ok(report);
    };
    let answer = match can_be_asked(wanted, config) {
        true => ask(&candidate, wanted),
        false if candidate.is_named => candidate.check().and(Err(Stop::Missing)),
        false => Err(Stop::Missing),
    };
    let stop = match answer {
        Ok((report, bytes)) => {
            look(&report);
            return candidate.open(&bytes).map(|_| report).map_err(|_| candidate.changed());
        }
        Err(Stop::Wrong(problem)) if candidate.is_named => return Err(candidate.refused(problem)),
        Err(stop) => stop,
    };
    let mut report = info::info(sources, wanted, config, look)?;
    if let Stop::Wrong(problem) = stop {
        report.warnings.push(candidate.unused(problem));
    }
    Ok(report)
}

/// Whether an index has what is wanted: it knows nothing of args, and has not looked at every byte.
fn can_be_asked(wanted: &InfoConfig, config: &Config) -> bool {
    !wanted.full && !config.strict && config.profiles.pid_tid.is_empty()
}

/// What an index says of a file, and the index, if that is all that is wanted.
fn ask(candidate: &Candidate, wanted: &InfoConfig) -> Result<(InfoReport, Mapped), Stop> {
    let bytes = candidate.map()?;
    let (_, meta) = candidate.open(&bytes)?;
    let name = candidate.trace.display().to_string();
    let input = meta.input(&name).ok_or("its summary has something unknown")?;
    let mut report = meta.info.ok_or(Stop::Missing)?;
    if !has_rows(&report, wanted.top) {
        return Err(Stop::Missing);
    }
    report.inputs = vec![input];
    for event in [&mut report.first, &mut report.last].into_iter().flatten() {
        event.input.clone_from(&name);
    }
    if !wanted.self_times {
        forget_self_times(&mut report);
    }
    cut(&mut report, wanted.top);
    report.index = Some(candidate.index.clone());
    Ok((report, bytes))
}

/// Whether all lists have so many rows, if there are so many.
fn has_rows(report: &InfoReport, top: usize) -> bool {
    let most = TOP as u64;
    top <= TOP
        || report.gaps.len() < TOP
            && report.names.distinct <= most
            && report.categories.distinct <= most
}

fn cut(report: &mut InfoReport, top: usize) {
    report.gaps.truncate(top);
    for list in [&mut report.names, &mut report.categories] {
        for rows in [&mut list.by_bytes, &mut list.by_time, &mut list.by_self] {
            rows.truncate(top);
        }
    }
}

/// As if nobody had asked for them.
fn forget_self_times(report: &mut InfoReport) {
    let forget = |usage: &mut Usage| usage.self_ns = 0;
    report.has_self = false;
    report.unended = Unended::default();
    let TopList { by_bytes, by_time, by_self, .. } = &mut report.names;
    by_self.clear();
    by_bytes.iter_mut().chain(by_time).for_each(|row| forget(&mut row.usage));
    for process in &mut report.processes {
        forget(&mut process.usage);
        process.threads.iter_mut().for_each(|thread| forget(&mut thread.usage));
    }
}
