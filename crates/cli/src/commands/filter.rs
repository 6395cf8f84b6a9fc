//! `tracemill filter`.

use super::around::{
    note_disk, note_form, note_limits, note_repeated, refuse_pouring, report_place,
};
use super::unmatched;
use super::viewer::changed;
use crate::args::FilterArgs;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary};
use crate::progress::Watch;
use crate::report::{self, Run};
use crate::size::{human, plural};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{FilterReport, Progress, filter};

/// Filters, then says how it went.
pub(super) fn run(args: &FilterArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let mut config = args.limits.config(&args.input, &progress)?;
    config.repair = args.trace.repair;
    let output = args.trace.config(&args.output, io::stdout().is_terminal())?;
    config.viewer = args.viewer.rules(output.format)?;
    let sources = args.input.sources()?;
    refuse_pouring(&args.output, &sources)?;
    let report_place = report_place(&args.messages, &args.output, &sources)?;

    note_repeated(&sources, messages);
    note_limits(&args.limits, &config, messages);
    let watch = Watch::start(&args.messages, &progress);
    let filtered = filter(&sources, &args.criteria.filter(), &output, &config);
    drop(watch);
    let mut report = filtered?;
    if report.is_empty() {
        report.warnings.extend(unmatched::sentences(&args.criteria, &sources, &config));
    }

    let elapsed = start.elapsed();
    messages.inputs(&report.inputs);
    note_form(&args.trace, report.format, output.compression, messages);
    note_disk(messages, &config, (report.spilled_bytes, report.spooled_bytes));
    for text in dropped(&report) {
        messages.note(&text);
    }
    report.warnings.iter().for_each(|text| messages.warning(text));
    changed(&report.viewer).iter().for_each(|text| messages.say(text));
    messages.losses(&report.inputs);
    let mut summary = Summary::new("filter", &report.inputs, report.lost(), elapsed);
    summary.output = Some((report.events, report.bytes));
    messages.summary(&summary);
    if let Some(place) = report_place {
        let run = Run { config: &config, elapsed };
        place.write_json(&report::filter(&report, &output, &run))?;
    }
    Ok(Exit::written(report.lost(), &report.inputs).unless_empty(report.is_empty()))
}

/// What went, for `-v`.
fn dropped(report: &FilterReport) -> Vec<String> {
    let by_reason = report.dropped.iter().map(|dropped| {
        let (events, bytes) = (plural(dropped.events, "event"), human(dropped.bytes));
        format!("left out by {}: {events}, {bytes}", dropped.reason)
    });
    let threshold = report.threshold_ns.map(|ns| match ns {
        0 => "all that was left fits --shrink-to".to_owned(),
        i64::MAX => "--shrink-to: nothing but metadata fits".to_owned(),
        ns => format!("--shrink-to: kept what lasts at least {}.{:03} µs", ns / 1000, ns % 1000),
    });
    by_reason.chain(threshold).collect()
}
