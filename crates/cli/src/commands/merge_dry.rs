//! `tracemill merge --dry-run`.

use super::around::report_place;
use super::clocks;
use super::merge_told::{KEEP, decisions, renamed, warn_unused};
use super::running::{Flags, Running};
use super::writing::Writing;
use crate::args::{MergeArgs, OutputArgs};
use crate::files::manifest;
use crate::files::whole_file::OutputPlace;
use crate::messages::{Messages, plain};
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use std::collections::HashMap;
use std::path::Path;
use tracemill_join::report::{InputClock, MergeReport};
use tracemill_pipeline::plan_merge;

/// Reports the changes that a merge would make. Writes only the manifest, if requested.
pub(super) fn run(args: &MergeArgs, messages: &Messages) -> Result<Exit, Failure> {
    let MergeArgs { input, viewer, identity, output, trace, common, .. } = args;
    let stated = identity.manifest()?;
    let flags = Flags { verb: "merge", input, common };
    let listed = stated.as_ref().map_or(&[][..], |manifest| &manifest.inputs);
    let mut running = Running::new(flags, listed, messages)?;
    let output = trace.config(output, false)?;
    running.config.viewer = viewer.rules(output.format)?;
    args.set_rules(&mut running.config, stated.as_ref())?;
    let (place, manifest) = places(args, messages, &running)?;
    let writing = Writing::of(running, trace, output.compression, place);
    let running = &writing.running;
    running.announce();
    let mut report = running.watch(|sources, config| plan_merge(sources, &output, config))?;

    writing.tell_decisions(&report.run, &decisions(&report, &running.config));
    clocks::details(&report.clocks).iter().for_each(|text| messages.note(text));
    let is_unused = warn_unused(args, &mut report, running);
    if !matches!(manifest, Some(OutputPlace::Stdout)) {
        messages.place(Path::new("-")).write(table(&report).as_bytes())?;
    }
    let done = clocks::moved(&report.clocks).into_iter().chain(renamed(&report.identity, KEEP));
    writing.tell_outcome(&report.run, &Vec::from_iter(done));
    if let Some(place) = manifest {
        place.write_json(&manifest::written(&report.identity, &report.clocks))?;
    }
    let lost = report.run.lost();
    let exit = writing.finish_dry(&report.run, lost, |run| report::merge(&report, None, run));
    Ok(exit?.unless_empty(is_unused))
}

/// Returns the destinations of the report and the manifest. Returns an error if one of them would
/// replace an input.
fn places(
    args: &MergeArgs,
    messages: &Messages,
    running: &Running<'_>,
) -> Result<(Option<OutputPlace>, Option<OutputPlace>), Failure> {
    let (sources, force) = (&running.sources, args.output.force);
    let manifest = args.identity.write_manifest.as_deref();
    // standard output has the table or the manifest, so the report cannot go there
    let stdout = OutputArgs { output: None, force };
    let report = report_place(&args.common.messages, messages, &stdout, sources)?;
    let manifest = manifest.map(OutputPlace::of);
    if let Some(manifest) = &manifest {
        manifest.check("the manifest", sources, force)?;
    }
    Ok((report, manifest))
}

/// Formats a table with one line per input: recording, offset, new pids, whether ids change, and
/// name.
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
        // the events generated from a CPU profile are listed as another input with the same name
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
