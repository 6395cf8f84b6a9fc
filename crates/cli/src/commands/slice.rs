//! `tracemill slice`.

use super::{note_form, note_limits, note_repeated, refuse_pouring, report_place};
use crate::args::SliceArgs;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary};
use crate::progress::Watch;
use crate::report::{self, Run};
use crate::size::{grouped, human, plural};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{Config, Progress, SliceReport, slice};

/// Slices, then says how it went.
pub(super) fn run(args: &SliceArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let mut config = args.limits.config(&args.input, &progress)?;
    config.repair = args.trace.repair;
    let windows = args.window.windows()?;
    let output = args.trace.config(&args.output, io::stdout().is_terminal())?;
    let sources = args.input.sources()?;
    refuse_pouring(&args.output, &sources)?;
    let report_place = report_place(&args.messages, &args.output, &sources)?;

    note_repeated(&sources, messages);
    note_limits(&args.limits, &config, messages);
    let watch = Watch::start(&args.messages, &progress);
    let sliced = slice(&sources, &windows, args.window.edges(), &output, &config);
    drop(watch);
    let report = sliced?;

    let elapsed = start.elapsed();
    messages.inputs(&report.written.inputs);
    note_form(&args.trace, report.written.format, output.compression, messages);
    for text in decisions(&report, &config) {
        messages.note(&text);
    }
    report.written.warnings.iter().for_each(|text| messages.warning(text));
    let lasts = report.trace.map_or(0, |(start, end)| end.abs_diff(start));
    args.window.unit_hint(lasts).iter().for_each(|text| messages.say(text));
    messages.losses(&report.written.inputs);
    for (kind, flaw) in report.flaws.iter() {
        messages.warning(&format!(
            "CPU profiles: {} × {}: {}; first at byte {} of {}",
            grouped(flaw.count),
            kind.name(),
            kind.sentence(),
            flaw.offset,
            flaw.input
        ));
    }
    let mut summary = Summary::new("slice", &report.written.inputs, report.lost(), elapsed);
    summary.output = Some((report.written.events, report.written.bytes));
    messages.summary(&summary);
    if let Some(place) = report_place {
        let run = Run { config: &config, elapsed };
        place.write_json(&report::slice(&report, &output, &run))?;
    }
    Ok(Exit::written(report.lost(), &report.written.inputs).unless_empty(report.is_empty))
}

/// What the run decided and did, for `-v`.
fn decisions(report: &SliceReport, config: &Config) -> Vec<String> {
    let mut texts = Vec::new();
    for (count, noun, what) in [
        (report.clipped, "event", "cut at edges"),
        (report.opened, "begin", "repeated at the start of a window"),
        (report.closed, "end", "made at the end of a window"),
        (report.counters, "counter value", "repeated at the start of a window"),
        (report.moved, "TracingStartedInBrowser event", "moved to the start of a window"),
        (report.rebased, "CPU profile stream", "re-based"),
        (report.samples, "sample", "in re-based CPU profiles"),
    ] {
        if count > 0 {
            texts.push(format!("{} {what}", plural(count, noun)));
        }
    }
    let tmp_dir = config.tmp_dir.display();
    if report.written.spilled_runs > 0 {
        let runs = plural(report.written.spilled_runs, "sorted run");
        texts.push(format!("{runs} of the index went to {tmp_dir}: more memory (-m) avoids it"));
    }
    if report.written.spooled_bytes > 0 {
        let bytes = human(report.written.spooled_bytes);
        texts.push(format!("{bytes} of pipes and packed inputs went to {tmp_dir}"));
    }
    texts
}
