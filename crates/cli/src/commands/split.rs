//! `tracemill split`.

use super::around::{note_form, note_limits, note_repeated, report_place, same_name};
use super::viewer::changed;
use crate::args::SplitArgs;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary, plain};
use crate::progress::Watch;
use crate::report::{self, Run};
use crate::size::{grouped, human, plural};
use crate::whole_file::Place;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{Config, Progress, SplitReport, split};

/// Splits, then says how it went.
pub(super) fn run(args: &SplitArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let mut config = args.limits.config(&args.input, &progress)?;
    config.repair = args.trace.repair;
    let parts = args.config()?;
    config.viewer = args.viewer.rules(parts.format)?;
    let sources = args.input.sources()?;
    let manifest = args.output.manifest.as_deref().map(Place::of);
    if let Some(manifest) = &manifest {
        manifest.check("the manifest", &sources, args.output.force)?;
    }
    let report_place = report_place(&args.messages, &args.plain(), &sources)?;
    if let (Some(report), Some(manifest)) = (&args.messages.report, &args.output.manifest)
        && same_name(report, manifest)
    {
        return Err(Failure::usage("--report and --manifest are one file: choose another name"));
    }

    note_repeated(&sources, messages);
    note_limits(&args.limits, &config, messages);
    let watch = Watch::start(&args.messages, &progress);
    let done = split(&sources, &parts, &config);
    drop(watch);
    let report = done?;

    let elapsed = start.elapsed();
    messages.inputs(&report.inputs);
    note_form(&args.trace, report.format, parts.compression, messages);
    for text in decisions(&report, &config) {
        messages.note(&text);
    }
    if args.dry_run {
        let to_stdout = manifest == Some(Place::Stdout);
        if !to_stdout {
            Place::of(Path::new("-")).write(table(&report).as_bytes())?;
        }
    } else {
        for part in &report.parts {
            messages.note(&format!(
                "{}: {}, {}",
                part.file.display(),
                plural(part.events, "event"),
                human(part.bytes)
            ));
        }
    }
    report.warnings.iter().for_each(|text| messages.warning(text));
    changed(&report.viewer).iter().for_each(|text| messages.say(text));
    messages.losses(&report.inputs);
    let mut summary = Summary::new("split", &report.inputs, report.lost(), elapsed);
    let sum = |of: fn(&tracemill_pipeline::SplitPart) -> u64| report.parts.iter().map(of).sum();
    summary.output = Some((sum(|part| part.events), sum(|part| part.bytes)));
    messages.summary(&summary);
    if let Some(place) = manifest {
        place.write_json(&report::manifest(&report))?;
    }
    if let Some(place) = report_place {
        let run = Run { config: &config, elapsed };
        place.write_json(&report::split(&report, args.dry_run, &run))?;
    }
    Ok(Exit::written(report.lost(), &report.inputs))
}

/// What the run decided, for `-v`.
fn decisions(report: &SplitReport, config: &Config) -> Vec<String> {
    let mut texts = vec![plural(report.parts.len() as u64, "part")];
    let tmp_dir = config.tmp_dir.display();
    if report.spills > 0 {
        let times = plural(report.spills, "time");
        texts.push(format!("the index went to {tmp_dir} {times}: more memory (-m) avoids it"));
    }
    if report.spooled_bytes > 0 {
        let bytes = human(report.spooled_bytes);
        texts.push(format!("{bytes} of pipes and packed inputs went to {tmp_dir}"));
    }
    if report.delayed_chunks > 0 {
        let chunks = plural(report.delayed_chunks, "chunk");
        texts.push(format!(
            "{chunks} of CPU profiles came before what they build on and were moved behind it"
        ));
    }
    texts
}

/// One line a part: events, bytes, name.
fn table(report: &SplitReport) -> String {
    let mut text = format!("{:>14}  {:>10}  file\n", "events", "size");
    for part in &report.parts {
        let (events, bytes) = (grouped(part.events), human(part.bytes));
        let file = plain(&part.file.to_string_lossy());
        text.push_str(&format!("{events:>14}  {bytes:>10}  {file}\n"));
    }
    text
}
