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
use crate::commands::running::{Flags, Running};
use crate::commands::unmatched::can_be_read_again;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, colored_stdout};
use crate::whole_file::Place;
use crate::wrap::columns_of;
use brief::brief;
use json::json_of;
use report::page_of;
use std::sync::Arc;
use std::time::SystemTime;
use tracemill_pipeline::{
    CheckFor, CheckReport, Config, Error, ErrorKind, InfoReport, InputReport, Limits, Source,
    check, info,
};

/// Up to so many bytes of text are looked at once more, to say for certain whether DevTools opens them.
const CERTAIN: u64 = 16 << 20;

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
    let stamps = stamps(&running.sources);
    let report = running.watch(|sources, config| info(sources, &args.wanted(), config))?;

    let json = json_of(&report, &running.described());
    match (args.json, args.markdown) {
        (true, _) => output.write_json(&json)?,
        (_, true) => output.write(page_of(&report).markdown().as_bytes())?,
        _ => {
            let color = *output == Place::Stdout && colored_stdout(said.color);
            let columns = columns_of(output);
            let seen = seen_by_devtools(running, &report, &stamps)?;
            let mut text = brief(&report, seen.as_ref()).text(color, columns);
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
    if let Some(why) = report.index_unused {
        messages.note(&format!("all was read, though there is an index: {why}"));
    }
    reporting.tell(&report.inputs, &report.warnings);
    messages.losses(&report.inputs);
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    reporting.end((&report.inputs, lost), |_| json)?;
    Ok(Exit::finished(lost))
}

/// What `check --for devtools` says of inputs that are small and can be read again; they had these stamps before they were read.
fn seen_by_devtools(
    running: &Running<'_>,
    report: &InfoReport,
    before: &[Stamp],
) -> Result<Option<CheckReport>, Failure> {
    let Running { sources, config, .. } = running;
    let bytes: u64 = report.inputs.iter().map(|input| input.bytes).sum();
    if bytes > CERTAIN || !sources.iter().all(can_be_read_again) {
        return Ok(None);
    }
    // the bar has been shown
    let limits = Limits { progress: Arc::default(), strict: false, ..config.limits.clone() };
    let config = Config { profiles: config.profiles.clone(), ..Config::of(limits) };
    let seen = check(sources, &[CheckFor::Devtools], &config);
    let changed = stamps(sources).iter().zip(before).position(|(now, before)| now != before);
    match (changed, seen) {
        // who says the one of a file and the other of another says nothing
        (Some(_), Err(error)) => Err(error.into()),
        (Some(at), Ok(_)) => {
            let (input, how) = (sources[at].to_string(), "was written to".to_owned());
            Err(Error::from(ErrorKind::Changed { input, how }).into())
        }
        (None, seen) => Ok(seen.ok()),
    }
}

/// Length of a file and when it was last written to, as far as that is known.
type Stamp = Option<(u64, Option<SystemTime>)>;

fn stamps(sources: &[Source]) -> Vec<Stamp> {
    let stamp = |source: &Source| {
        let Source::Path(path) = source else { return None };
        std::fs::metadata(path).ok().map(|now| (now.len(), now.modified().ok()))
    };
    sources.iter().map(stamp).collect()
}
