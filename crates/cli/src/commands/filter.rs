//! `tracemill filter`.

use super::analysis::{EventTime, event_window};
use super::running::{Flags, Running};
use super::unmatched;
use super::writing::{TraceFlags, Writing};
use crate::args::FilterArgs;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use crate::text::size::human;
use tracemill_join::report::FilterReport;
use tracemill_join::report::warning::Warning;
use tracemill_pipeline::filter;
use tracemill_trace::run::words::plural;
use tracemill_trace::time::TimePoint;

pub(super) fn run(args: &FilterArgs, messages: &Messages) -> Result<Exit, Failure> {
    let FilterArgs { input, criteria, output, trace, viewer, common, .. } = args;
    let flags = Flags { verb: "filter", input, common };
    let given = TraceFlags { output, trace, viewer: Some(viewer) };
    let (mut writing, output) = Writing::one(flags, given, &[], messages)?;
    writing.running.announce();
    let mut wanted = criteria.filter()?;
    if let Some(key) = &criteria.event {
        let Running { sources, config, .. } = &writing.running;
        let EventTime { pid, tid, from, to, .. } = event_window(sources, key, config)?;
        (wanted.pid, wanted.tid) = (Some(pid), Some(tid));
        // the end of a window is not in the window
        let times = [from, to.saturating_add(1)].map(TimePoint::Absolute);
        [wanted.from, wanted.to] = times.map(Some);
    }
    let joined = writing.join(Some(&output))?;
    let running = &writing.running;
    let mut report = running.watch(|sources, config| filter(sources, &wanted, &output, config))?;
    joined.complete(&mut report.run);
    let sentences = unmatched::sentences(&report, criteria, &running.sources, &running.config);
    report.run.warnings.extend(sentences.into_iter().map(Warning::Said));

    writing.tell_decisions(&report.run, &[]);
    writing.tell_disk(report.spilled_bytes, &report.run);
    dropped(&report).iter().for_each(|text| messages.note(text));
    writing.tell_outcome(&report.run, &[]);
    let lost = report.run.lost();
    let exit = writing.finish(&report.run, lost, 0, |run| report::filter(&report, &output, run));
    Ok(exit?.unless_empty(report.is_empty()))
}

/// Returns messages for `-v` about the events that were dropped.
fn dropped(report: &FilterReport) -> Vec<String> {
    let by_reason = report.dropped.iter().map(|dropped| {
        let (events, bytes) = (plural(dropped.events, "event"), human(dropped.bytes));
        format!("left out by --{}: {events}, {bytes}", dropped.reason)
    });
    let threshold = report.threshold_ns.map(|ns| match ns {
        0 => "everything that was left fits --shrink-to".to_owned(),
        i64::MAX => "--shrink-to: only metadata fits".to_owned(),
        ns => {
            format!("--shrink-to: kept events that last at least {}.{:03} µs", ns / 1000, ns % 1000)
        }
    });
    by_reason.chain(threshold).collect()
}
