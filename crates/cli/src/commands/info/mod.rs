//! `tracemill info`: describes traces as text, Markdown or JSON.

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
use crate::messages::wrap::columns_of;
use crate::messages::{Messages, has_colors};
use crate::outcome::exit::{Exit, Failure};
use brief::brief;
use json::json_of;
use report::page_of;
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use tracemill_index::info_with;
use tracemill_inspect::check::{CheckReport, check};
use tracemill_inspect::info::InfoReport;
use tracemill_join::config::{CheckFor, Config};
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::memory::MemoryBudget;
use tracemill_trace::{Limits, Source};

/// Maximum size of inputs, in bytes, up to which they are checked for all viewers.
const CERTAIN: u64 = 16 << 20;
/// Maximum number of input files that stay open for this check.
const HELD: usize = 16;

pub(super) fn run(args: &InfoArgs, messages: &Messages) -> Result<Exit, Failure> {
    let InfoArgs { input, common, .. } = args;
    let flags = Flags { verb: "info", input, common };
    let mut reporting = Reporting::new(flags, &args.output, messages)?;
    let config = &mut reporting.running.config;
    *config = Config { index: args.index.clone(), ..config.as_merged() };
    let (running, output) = (&reporting.running, &reporting.output);
    if let Some(key) = &args.get {
        return get::run(key, &running.sources, output, &running.config, messages);
    }
    running.announce();
    let is_text = !args.json && !args.markdown;
    let mut seen = None;
    let report = running.watch(|sources, config| {
        let again = if is_text { Again::of(sources) } else { None };
        info_with(sources, &args.wanted(), config, |report| {
            seen = seen_by_viewers(again.as_ref(), report, config);
        })
    })?;

    let json = json_of(&report, &running.described());
    match (args.json, args.markdown) {
        (true, _) => output.write_json(&json)?,
        (_, true) => output.write(page_of(&report).markdown().as_bytes())?,
        _ => {
            let color = has_colors(common.messages.color, output.is_stdout());
            let columns = columns_of(output);
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
    reporting.end(&report.inputs, lost, |_| json)?;
    Ok(Exit::finished(lost))
}

/// The inputs of a second pass.
enum Again<'s> {
    /// Files that were opened before the first pass, because their paths may name other files
    /// later.
    Opened(Vec<(&'s Path, File)>),
    /// Folders, or files that are too many to stay open.
    ByName(&'s [Source]),
}

impl<'s> Again<'s> {
    /// Opens the inputs. Returns `None` if an input can be read only once.
    fn of(sources: &'s [Source]) -> Option<Self> {
        if !sources.iter().all(Source::is_rereadable) {
            return None;
        }
        let is_file =
            |source: &Source| !matches!(source, Source::Remote(_)) && source.path().is_file();
        if sources.len() > HELD || !sources.iter().all(is_file) {
            return Some(Again::ByName(sources));
        }
        let open = |source: &'s Source| Some((source.path(), File::open(source.path()).ok()?));
        sources.iter().map(open).collect::<Option<_>>().map(Again::Opened)
    }

    /// Reads the inputs. Returns `None` if an input is unreadable or too large.
    fn sources(&self) -> Option<Cow<'s, [Source]>> {
        let files = match self {
            Again::ByName(sources) => return Some(Cow::Borrowed(sources)),
            Again::Opened(files) => files,
        };
        let read = |(path, file): &(&Path, File)| {
            let mut bytes = Vec::new();
            file.take(CERTAIN + 1).read_to_end(&mut bytes).ok()?;
            let is_whole = bytes.len() as u64 <= CERTAIN;
            is_whole.then(|| Source::bytes(path.to_string_lossy(), bytes))
        };
        files.iter().map(read).collect()
    }
}

/// Checks the inputs for all viewers. Returns `None` if they are large, or can be read only once.
fn seen_by_viewers(
    again: Option<&Again<'_>>,
    report: &InfoReport,
    config: &Config,
) -> Option<CheckReport> {
    let bytes: u64 = report.inputs.iter().map(|input| input.bytes).sum();
    if bytes > CERTAIN {
        return None;
    }
    let sources = again?.sources()?;
    // the progress bar has ended, and small inputs need little memory
    let (progress, budget) = (Arc::default(), MemoryBudget::new(config.limits.memory));
    let limits = Limits { progress, budget, strict: false, ..config.limits.clone() };
    let config = Config { profiles: config.profiles.clone(), ..Config::of(limits) };
    check(&sources, &CheckFor::ALL, &config).ok()
}
