//! `tracemill split`.

use super::around::{delayed, on_disk, report_place};
use super::running::{Flags, Running};
use super::writing::Writing;
use crate::args::SplitArgs;
use crate::files::whole_file::OutputPlace;
use crate::messages::{Messages, plain};
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use crate::text::size::human;
use std::path::Path;
use tracemill_join::config::Config;
use tracemill_pipeline::{SplitReport, split};
use tracemill_trace::Source;
use tracemill_trace::run::words::{grouped, plural};

pub(super) fn run(args: &SplitArgs, messages: &Messages) -> Result<Exit, Failure> {
    let SplitArgs { input, trace, viewer, common, .. } = args;
    let mut parts = args.config()?;
    let flags = Flags { verb: "split", input, common };
    let mut running = Running::new(flags, &[], messages)?;
    running.config.viewer = viewer.rules(parts.format)?;
    let manifest = args.output.manifest.as_deref().map(OutputPlace::of);
    if let Some(manifest) = &manifest {
        manifest.check("the manifest", &running.sources, args.output.force)?;
    }
    let report_place = report_place(&common.messages, messages, &args.plain(), &running.sources)?;
    let mut writing = Writing::of(running, trace, parts.compression, report_place);
    writing.running.announce();
    let inputs = writing.running.sources.clone();
    let joined = writing.join(None)?;
    let running = &writing.running;
    if inputs != running.sources {
        // the split reads the merged trace, so it does not know the paths of the inputs
        parts.reserved.extend(inputs.iter().filter_map(Source::file).map(Path::to_path_buf));
    }
    let mut report = running.watch(|sources, config| split(sources, &parts, config))?;
    joined.complete(&mut report.run);

    writing.tell_decisions(&report.run, &decisions(&report, &running.config));
    tell_parts(&report, args.dry_run, &manifest, messages)?;
    writing.tell_outcome(&report.run, &[]);
    if let Some(place) = manifest {
        place.write_json(&report::manifest(&report))?;
    }
    if trace.write_index && !args.dry_run {
        writing.indexed = report.parts.iter().map(|part| part.file.clone()).collect();
    }
    let lost = report.run.lost();
    writing.finish(&report.run, lost, 0, |run| report::split(&report, args.dry_run, run))
}

/// Reports the parts. A dry run prints a table, unless the manifest goes to standard output. Other
/// runs name the parts with `-v`.
fn tell_parts(
    report: &SplitReport,
    dry_run: bool,
    manifest: &Option<OutputPlace>,
    messages: &Messages,
) -> Result<(), Failure> {
    if dry_run {
        return match manifest {
            Some(OutputPlace::Stdout) => Ok(()),
            _ => messages.place(Path::new("-")).write(table(report).as_bytes()),
        };
    }
    for part in &report.parts {
        let (events, bytes) = (plural(part.events, "event"), human(part.bytes));
        messages.note(&format!("{}: {events}, {bytes}", part.file.display()));
    }
    Ok(())
}

/// Returns messages for `-v` about how the trace was split.
fn decisions(report: &SplitReport, config: &Config) -> Vec<String> {
    let mut texts = vec![plural(report.parts.len() as u64, "part")];
    let tmp_dir = config.limits.tmp_dir.display();
    if report.spills > 0 {
        let times = plural(report.spills, "time");
        texts.push(format!(
            "sorted events went to {tmp_dir} {times}, because the memory budget (-m) was full"
        ));
    }
    texts.extend(on_disk(config, None, report.run.spooled_bytes));
    texts.extend(delayed(report.delayed_chunks));
    texts
}

/// Formats a table with one line per part: events, bytes and name.
fn table(report: &SplitReport) -> String {
    let mut text = format!("{:>14}  {:>10}  file\n", "events", "size");
    for part in &report.parts {
        let (events, bytes) = (grouped(part.events), human(part.bytes));
        let file = plain(&part.file.to_string_lossy());
        text.push_str(&format!("{events:>14}  {bytes:>10}  {file}\n"));
    }
    text
}
