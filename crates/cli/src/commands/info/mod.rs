//! `tracemill info`: what there is, as text for people, Markdown for issues, or JSON.

mod brief;
mod get;
mod json;
mod page;
mod report;
mod words;

pub(super) use words::{duration_text, micros, short};

use crate::args::InfoArgs;
use crate::commands::reporting::Reporting;
use crate::commands::running::Flags;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, colored_stdout};
use crate::whole_file::Place;
use crate::wrap;
use brief::brief;
use json::json_of;
use report::page_of;
use tracemill_pipeline::{InputReport, info};

/// Reads, then says what there is.
pub(super) fn run(args: &InfoArgs, messages: &Messages) -> Result<Exit, Failure> {
    let InfoArgs { input, limits, messages: said, .. } = args;
    let flags = Flags { verb: "info", input, limits, messages: said };
    let mut reporting = Reporting::new(flags, &args.output, messages)?;
    reporting.running.config.index = args.index.clone();
    let (running, output) = (&reporting.running, &reporting.output);
    if let Some(key) = &args.get {
        return get::run(key, &running.sources, output, &running.config, messages);
    }
    running.announce();
    let report = running.watch(|sources, config| info(sources, &args.wanted(), config))?;

    let json = json_of(&report, &running.described());
    match (args.json, args.markdown) {
        (true, _) => output.write_json(&json)?,
        (_, true) => output.write(page_of(&report).markdown().as_bytes())?,
        _ => {
            let color = *output == Place::Stdout && colored_stdout(said.color);
            let columns = if *output == Place::Stdout { wrap::columns() } else { None };
            let mut text = brief(&report).text(color, columns);
            if args.lists() {
                text.push('\n');
                text.push_str(&page_of(&report).text(color, columns));
            }
            output.write(text.as_bytes())?;
        }
    }
    if let Some(index) = &report.index {
        messages.note(&format!("answered by {}, not by reading the trace", index.display()));
    }
    reporting.tell(&report.inputs, &report.warnings);
    messages.losses(&report.inputs);
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    reporting.end((&report.inputs, lost), |_| json)?;
    Ok(Exit::finished(lost))
}
