//! `tracemill convert`.

use super::around::{
    note_disk, note_form, note_limits, note_repeated, refuse_pouring, report_place,
};
use super::viewer::changed;
use crate::args::ConvertArgs;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary};
use crate::progress::Watch;
use crate::report::{self, Run};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{Progress, convert};

/// Converts, then says how it went.
pub(super) fn run(args: &ConvertArgs, messages: &Messages) -> Result<Exit, Failure> {
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
    let converted = convert(&sources, args.style.style(), &output, &config);
    drop(watch);
    let report = converted?;

    let elapsed = start.elapsed();
    messages.inputs(&report.inputs);
    note_form(&args.trace, report.format, output.compression, messages);
    messages.note(&format!("white space: {}", report.style.name()));
    note_disk(messages, &config, (report.spilled_bytes, report.spooled_bytes));
    report.warnings.iter().for_each(|text| messages.warning(text));
    changed(&report.viewer).iter().for_each(|text| messages.say(text));
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
