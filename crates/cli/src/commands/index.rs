//! `tracemill index`.

use super::around::report_place;
use super::running::{Flags, Running};
use crate::args::IndexArgs;
use crate::files::whole_file::OutputPlace;
use crate::messages::{Messages, plain};
use crate::outcome::exit::{Exit, Failure};
use crate::outcome::remedies;
use crate::report;
use crate::text::size::human;
use tracemill_index::{IndexReport, index};
use tracemill_trace::Source;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::words::{grouped, plural};

pub(super) fn run(args: &IndexArgs, messages: &Messages) -> Result<Exit, Failure> {
    let IndexArgs { input, common, .. } = args;
    let flags = Flags { verb: "index", input, common };
    let running = Running::new(flags, &[], messages)?;
    let output = args.output();
    let sources = &running.sources;
    if output.output.is_some() && (sources.len() != 1 || sources[0].is_folder()) {
        return Err(Failure::usage("-o names one index, so name only one trace"));
    }
    let is_remote = |source: &&Source| matches!(source, Source::Remote(_));
    if let Some(source) = sources.iter().find(is_remote).filter(|_| output.output.is_none()) {
        return Err(Failure::usage(format!(
            "name the index of {source} by -o, and then copy it next to the trace"
        )));
    }
    let place = report_place(&common.messages, messages, &output, sources)?;
    running.announce();
    let reports = running.watch(|sources, config| index(sources, &args.wanted(), config))?;

    if args.print {
        let text: String = reports.iter().filter(|report| report.bytes > 0).map(print).collect();
        OutputPlace::Stdout.write(text.as_bytes())?;
    }
    let inputs: Vec<InputReport> = reports.iter().map(|report| report.input.clone()).collect();
    messages.inputs(&inputs);
    for report in &reports {
        messages.warnings(&remedies::warnings(&report.warnings));
        say(report, messages);
    }
    messages.losses(&inputs);
    let lost = inputs.iter().map(InputReport::lost).sum();
    let differs = reports.iter().any(|report| report.is_same == Some(false));
    running.end(&running.summary(&inputs, lost), place.as_ref(), |run| {
        report::index(&reports, &inputs, run)
    })?;
    // the report of an input that is not a trace has no path
    let is_empty = reports.iter().all(|report| report.path.as_os_str().is_empty());
    if is_empty {
        messages.warning(
            "no trace was found, so no index was written: name a trace, or a folder with traces",
        );
    }
    Ok(if differs { Exit::Input } else { Exit::finished(lost).unless_empty(is_empty) })
}

/// Reports whether an index was built, or why not.
pub(super) fn say(report: &IndexReport, messages: &Messages) {
    let path = report.path.display();
    match report.is_same {
        Some(true) => {
            return messages.say(&format!("{path}: still right for its trace"));
        }
        Some(false) => {
            let trace = &report.input.name;
            return messages.warning(&format!(
                "{path}: no longer right for its trace; tracemill index -f {trace} makes a new one"
            ));
        }
        None => {}
    }
    if report.is_elsewhere && !report.is_fresh {
        let trace = plain(&report.input.name);
        messages.say(&format!("the folder of {trace} cannot be written: its index is {path}"));
    }
    if report.is_fresh {
        messages.note(&format!("{path}: up to date, left alone"));
    } else if report.bytes > 0 {
        let (size, text) = (human(report.bytes), human(report.input.bytes));
        messages.note(&format!("{path}: {size} for {text} of text"));
        for name in &report.left_out {
            messages.note(&format!("{path}: has no room for {name}"));
        }
    }
}

/// Formats the contents of an index as text.
fn print(report: &IndexReport) -> String {
    let path = plain(&report.path.display().to_string());
    let mut text = format!("{path}: {}\n", human(report.bytes));
    for section in &report.sections {
        let (name, rows, bytes) = (section.name, grouped(section.rows), human(section.bytes));
        text.push_str(&format!("  {name:<10}{rows:>12} rows {bytes:>12}\n"));
    }
    if let Some(reach) = report.reach {
        let (median, worst) = (human(reach.median), human(reach.worst));
        text.push_str(&format!(
            "  a window of a hundredth of its time reads {median} of the trace (median of 64), at worst {worst}\n"
        ));
        // only the share that is read matters, also for compressed inputs
        if reach.median > report.input.bytes / 4 && report.input.bytes > 1 << 20 {
            let (one, name) = (plural(1, "window"), plain(&report.input.name));
            text.push_str(&format!(
                "  times are scattered, so {one} reads much: sort first with tracemill merge {name} -o sorted.json\n"
            ));
        }
    }
    text
}
