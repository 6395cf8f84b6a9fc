//! `tracemill convert`.

use super::{note_form, note_limits, note_repeated, refuse_pouring, report_place};
use crate::args::ConvertArgs;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary};
use crate::progress::Watch;
use crate::report::{self, Run};
use crate::size::human;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{Config, Progress, convert};

/// Converts, then says how it went.
pub(super) fn run(args: &ConvertArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let mut config = args.limits.config(&args.input, &progress)?;
    config.repair = args.trace.repair;
    let output = args.trace.config(&args.output, io::stdout().is_terminal())?;
    let sources = args.input.sources()?;
    refuse_pouring(&args.output, &sources)?;
    let report_place = report_place(&args.messages, &args.output, &sources)?;

    note_repeated(&sources, messages);
    note_limits(&args.limits, &config, messages);
    let watch = Watch::start(&args.messages, &progress);
    let converted = convert(&sources, args.style.style(), &output, &config);
    drop(watch);
    let report = converted?;

    let elapsed = start.elapsed();
    messages.inputs(&report.inputs);
    note_form(&args.trace, report.format, output.compression, messages);
    messages.note(&format!("white space: {}", report.style.name()));
    note_disk(messages, &config, (report.spilled_bytes, report.spooled_bytes));
    report.warnings.iter().for_each(|text| messages.warning(text));
    messages.losses(&report.inputs);
    let mut summary = Summary::new("convert", &report.inputs, report.lost(), elapsed);
    summary.output = Some((report.events, report.bytes));
    messages.summary(&summary);
    if let Some(place) = report_place {
        let run = Run { config: &config, elapsed };
        place.write_json(&report::convert(&report, &output, &run))?;
    }
    Ok(Exit::written(report.lost(), &report.inputs))
}

/// What went to disk besides the output, for `-v`.
pub(super) fn note_disk(messages: &Messages, config: &Config, (spilled, spooled): (u64, u64)) {
    let tmp_dir = config.tmp_dir.display();
    if spilled > 0 {
        let bytes = human(spilled);
        messages
            .note(&format!("{bytes} of the index went to {tmp_dir}: more memory (-m) avoids it"));
    }
    if spooled > 0 {
        let bytes = human(spooled);
        messages.note(&format!("{bytes} of pipes and packed inputs went to {tmp_dir}"));
    }
}
