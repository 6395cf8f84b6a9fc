//! `tracemill redact`.

use super::around::{
    note_disk, note_form, note_limits, note_repeated, refuse_pouring, report_place,
};
use crate::args::RedactArgs;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary};
use crate::progress::Watch;
use crate::report::{self, Run};
use crate::size::{grouped, plural};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{Progress, RedactReport, redact};

/// Redacts, then says how often what was replaced.
pub(super) fn run(args: &RedactArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let config = args.limits.config(&args.input, &progress)?;
    let output = args.trace.config(&args.output, io::stdout().is_terminal())?;
    let sources = args.input.sources()?;
    refuse_pouring(&args.output, &sources)?;
    let report_place = report_place(&args.messages, &args.output, &sources)?;

    note_repeated(&sources, messages);
    note_limits(&args.limits, &config, messages);
    let watch = Watch::start(&args.messages, &progress);
    let redacted = redact(&sources, &args.redaction(), &output, &config);
    drop(watch);
    let report = redacted?;

    let (elapsed, written) = (start.elapsed(), &report.written);
    messages.inputs(&written.inputs);
    note_form(&args.trace, written.format, output.compression, messages);
    note_disk(messages, &config, (written.spilled_bytes, written.spooled_bytes));
    written.warnings.iter().for_each(|text| messages.warning(text));
    messages.losses(&written.inputs);
    messages.say(&replaced(&report));
    let mut summary = Summary::new("redact", &written.inputs, written.lost(), elapsed);
    summary.output = Some((written.events, written.bytes));
    messages.summary(&summary);
    if let Some(place) = report_place {
        let run = Run { config: &config, elapsed };
        place.write_json(&report::redact(&report, &output, &run))?;
    }
    Ok(Exit::written(written.lost(), &written.inputs))
}

/// What was replaced, as one sentence.
fn replaced(report: &RedactReport) -> String {
    let each = report.replaced.iter().map(|&(name, count)| match name {
        "url" => plural(count, "address").replace("addresss", "addresses"),
        "path" => plural(count, "path"),
        "user" => plural(count, "user name"),
        "also" => format!("{} × what --also matches", grouped(count)),
        _ => format!("{} of more than 4 MiB, as a whole", plural(count, "text")),
    });
    let each: Vec<String> = each.collect();
    match each.is_empty() {
        true => "nothing was found to replace".to_owned(),
        false => format!("replaced: {}", each.join(", ")),
    }
}
