//! `tracemill info`: what there is, as text for people, Markdown for issues, or JSON.

mod brief;
mod get;
mod json;
mod page;
mod report;
mod words;

pub(super) use words::{duration_text, micros, short};

use crate::args::InfoArgs;
use crate::commands::around::{note_limits, note_repeated, report_place};
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary, colored_stdout};
use crate::progress::Watch;
use crate::report::Run;
use crate::whole_file::Place;
use brief::brief;
use json::json_of;
use report::page_of;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{InputReport, Progress, info};

/// Reads, then says what there is.
pub(super) fn run(args: &InfoArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let config = args.limits.config(&args.input, &progress)?;
    let sources = args.input.sources()?;
    let output = Place::of(args.output.output.as_deref().unwrap_or(Path::new("-")));
    output.check("the output", &sources, args.output.force)?;
    if let Some(key) = &args.get {
        return get::run(key, &sources, &output, &config, messages);
    }
    let report_place = report_place(&args.messages, &args.output, &sources)?;

    note_repeated(&sources, messages);
    note_limits(&args.limits, &config, messages);
    let watch = Watch::start(&args.messages, &progress);
    let counted = info(&sources, &args.wanted(), &config);
    drop(watch);
    let report = counted?;

    let elapsed = start.elapsed();
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    let json = json_of(&report, &Run { config: &config, elapsed });
    match (args.json, args.markdown) {
        (true, _) => output.write_json(&json)?,
        (_, true) => output.write(page_of(&report).markdown().as_bytes())?,
        _ => {
            let color = output == Place::Stdout && colored_stdout(args.messages.color);
            let mut text = brief(&report).text(color);
            if args.lists() {
                text.push('\n');
                text.push_str(&page_of(&report).text(color));
            }
            output.write(text.as_bytes())?;
        }
    }
    messages.inputs(&report.inputs);
    report.warnings.iter().for_each(|text| messages.warning(text));
    messages.losses(&report.inputs);
    messages.summary(&Summary::new("info", &report.inputs, lost, elapsed));
    if let Some(place) = report_place {
        place.write_json(&json)?;
    }
    Ok(Exit::finished(lost))
}
