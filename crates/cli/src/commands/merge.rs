//! `tracemill merge`.

use super::merge_told::{KEEP, decisions, renamed, warn_unused};
use super::running::Flags;
use super::writing::{TraceFlags, Writing};
use super::{clocks, merge_dry};
use crate::args::MergeArgs;
use crate::files::manifest;
use crate::files::whole_file::OutputPlace;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use std::time::SystemTime;
use tracemill_pipeline::merge;
use tracemill_trace::Source;

pub(super) fn run(args: &MergeArgs, messages: &Messages) -> Result<Exit, Failure> {
    if args.dry_run {
        return merge_dry::run(args, messages);
    }
    let MergeArgs { input, viewer, identity, trace, common, .. } = args;
    let output = &args.output.in_folder(SystemTime::now());
    let manifest = identity.manifest()?;
    let flags = Flags { verb: "merge", input, common };
    let given = TraceFlags { output, trace, viewer: Some(viewer) };
    let listed = manifest.as_ref().map_or(&[][..], |manifest| &manifest.inputs);
    let (mut writing, output) = Writing::one(flags, given, listed, messages)?;
    args.set_rules(&mut writing.running.config, manifest.as_ref())?;
    let manifest_place = manifest_place(args, &writing.running.sources)?;
    let running = &writing.running;
    running.announce();
    let mut report = running.watch(|sources, config| merge(sources, &output, config))?;

    writing.tell_decisions(&report.run, &decisions(&report, &running.config));
    clocks::details(&report.clocks).iter().for_each(|text| messages.note(text));
    let is_unused = warn_unused(args, &mut report, running);
    let done = clocks::moved(&report.clocks).into_iter().chain(renamed(&report.identity, KEEP));
    writing.tell_outcome(&report.run, &Vec::from_iter(done));
    if let Some(place) = manifest_place {
        place.write_json(&manifest::written(&report.identity, &report.clocks))?;
    }
    let lost = report.run.lost();
    let exit = writing
        .finish(&report.run, lost, report.copies, |run| report::merge(&report, Some(&output), run));
    Ok(exit?.unless_empty(is_unused))
}

/// Returns the destination of the manifest. Returns an error if the destination is an input, or if
/// the manifest and the trace would both go to standard output.
fn manifest_place(args: &MergeArgs, sources: &[Source]) -> Result<Option<OutputPlace>, Failure> {
    let Some(path) = &args.identity.write_manifest else { return Ok(None) };
    let place = OutputPlace::of(path);
    if matches!((&place, args.output.file()), (OutputPlace::Stdout, None)) {
        return Err(Failure::usage(
            "--write-manifest - would mix with the output on standard output: name a file, or give -o",
        ));
    }
    place.check("the manifest", sources, args.output.force)?;
    Ok(Some(place))
}
