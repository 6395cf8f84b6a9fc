//! `tracemill merge --dry-run`.

use super::around::{report_place, same_name};
use super::clocks;
use super::merge_told::{decisions, renamed, unused};
use super::running::{Flags, Running};
use super::writing::Writing;
use crate::args::{MergeArgs, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::manifest;
use crate::messages::{Messages, plain};
use crate::report;
use crate::whole_file::Place;
use std::collections::HashMap;
use std::path::Path;
use tracemill_pipeline::{InputClock, MergePlan, MergeReport, plan_merge, plural};

/// Decides, and says what a merge would do; only the manifest is written, if one is wanted.
pub(super) fn run(args: &MergeArgs, messages: &Messages) -> Result<Exit, Failure> {
    let MergeArgs { input, viewer, identity, output, trace, limits, messages: said, .. } = args;
    let stated = identity.manifest()?;
    let flags = Flags { verb: "merge", input, limits, messages: said };
    let listed = stated.as_ref().map_or(&[][..], |manifest| &manifest.inputs);
    let mut running = Running::new(flags, listed, messages)?;
    // what is packed goes nowhere
    let output = trace.config(output, false)?;
    running.config.viewer = viewer.rules(output.format)?;
    args.set_rules(&mut running.config, stated.as_ref())?;
    running.config.index = args.index.index.clone();
    let (place, manifest) = places(args, messages, &running)?;
    let writing = Writing::of(running, (trace, output.compression), place);
    let running = &writing.running;
    running.announce();
    let plan = running.watch(|sources, config| plan_merge(sources, &output, config))?;

    let MergePlan { merge: mut report, indexed } = plan;
    writing.tell_decisions(&report.run, &decisions(&report, &running.config));
    messages.note(&of_indexes(indexed, report.run.inputs.len()));
    clocks::details(&report.clocks).iter().for_each(|text| messages.note(text));
    report.run.warnings.extend(unused(args, &report.identity, running));
    if !matches!(manifest, Some(Place::Stdout)) {
        messages.place(Path::new("-")).write(table(&report).as_bytes())?;
    }
    let done = clocks::moved(&report.clocks).into_iter().chain(renamed(&report.identity));
    writing.tell_outcome(&report.run, &Vec::from_iter(done));
    if let Some(place) = manifest {
        place.write_json(&manifest::written(&report.identity, &report.clocks))?;
    }
    let lost = report.run.lost();
    writing.finish_dry(&report.run, lost, |run| report::merge(&report, None, run))
}

/// Where the report and the manifest go, if they are wanted; refused before anything is read if they would spoil something.
fn places(
    args: &MergeArgs,
    messages: &Messages,
    running: &Running<'_>,
) -> Result<(Option<Place>, Option<Place>), Failure> {
    let (sources, force) = (&running.sources, args.output.force);
    let manifest = args.identity.write_manifest.as_deref();
    // what is said, or the manifest, goes to standard output
    let stdout = OutputArgs { output: None, force };
    let report = report_place((&args.messages, messages), &stdout, sources)?;
    if let (Some(report), Some(manifest)) = (&args.messages.report, manifest)
        && same_name(report, manifest)
    {
        return Err(Failure::usage(
            "--report and --write-manifest are the same file: choose another name",
        ));
    }
    let manifest = manifest.map(Place::of);
    if let Some(manifest) = &manifest {
        manifest.check("the manifest", sources, force)?;
    }
    Ok((report, manifest))
}

/// How many of the inputs were not read, for `-v`.
fn of_indexes(indexed: u64, inputs: usize) -> String {
    let all = plural(inputs as u64, "input");
    match indexed {
        0 => format!("all of {all} read: none has an index that says enough"),
        own if own == inputs as u64 => format!("{all} planned by their indexes, none read"),
        own => format!("{own} of {all} planned by their indexes, the others read"),
    }
}

/// One line an input: recording, what is added to its times, new pids, whether ids change, name.
fn table(report: &MergeReport) -> String {
    let by_name: HashMap<&str, &InputClock> =
        report.clocks.iter().rev().map(|clock| (&*clock.name, clock)).collect();
    let mut text = format!(
        "{:>9}  {:>16}  {:>8}  {:>7}  file\n",
        "recording", "offset", "new pids", "new ids"
    );
    let mut last = None;
    for input in &report.identity.inputs {
        let Some(clock) = by_name.get(&*input.name) else { continue };
        // what is made of CPU profiles in an input has its pids already
        if last.replace(&input.name) == Some(&input.name) {
            continue;
        }
        let ids = if input.ids.is_empty() { "-" } else { "yes" };
        let (offset, pids) = (clocks::signed(clock.offset_ns), input.pids.len());
        let file = plain(&input.name);
        text.push_str(&format!(
            "{:>9}  {offset:>16}  {pids:>8}  {ids:>7}  {file}\n",
            input.recording
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_said() {
        assert_eq!(of_indexes(0, 1), "all of 1 input read: none has an index that says enough");
        assert_eq!(of_indexes(3, 3), "3 inputs planned by their indexes, none read");
        assert_eq!(of_indexes(2, 3), "2 of 3 inputs planned by their indexes, the others read");
    }
}
