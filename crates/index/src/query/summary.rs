//! Answers `info` from META.

use super::index_file::{check_named, map_index, open_index};
use super::ranges::query;
use crate::sound::TOP;
use tracemill_inspect::info::{IndexedReport, InfoConfig, InfoReport, TopList, Unended, Usage};
use tracemill_join::config::Config;
use tracemill_join::read_plan::{Planned, Stop};
use tracemill_trace::input::source::Source;
use tracemill_trace::run::error::Error;

/// Returns the report on `sources` from the index of the only input, if the index has all requested
/// data.
///
/// # Errors
/// Returns [`NotATrace`](tracemill_trace::run::error::ErrorKind::NotATrace) if a named index does
/// not match the input.
pub(crate) fn summary(
    sources: &[Source],
    wanted: &InfoConfig,
    config: &Config,
) -> Result<Planned<IndexedReport>, Error> {
    query(sources, config, |file| {
        // an index has no counts of args, and its scan did not check every byte
        if wanted.full || config.limits.strict || !config.profiles.pid_tid.is_empty() {
            return if file.is_named { check_named(file) } else { Ok(()) }.and(Err(Stop::Missing));
        }
        let bytes = map_index(file)?;
        let (_, meta) = open_index(file, &bytes).map_err(|stop| match stop {
            Stop::Cannot(_) => Stop::Missing,
            stop => stop,
        })?;
        let name = file.trace.display().to_string();
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
        report.index = Some(file.index.clone());
        Ok(IndexedReport { report, file: file.clone() })
    })
}

/// Returns whether each list of the report has `top` rows, or all of its rows.
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

/// Removes self times from the report of an index.
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
