//! `tracemill merge`.

use super::merge_told::{KEEP, decisions, renamed, warn_unused};
use super::running::Flags;
use super::writing::{TraceFlags, Writing};
use super::{clocks, merge_dry};
use crate::args::MergeArgs;
use crate::files::manifest;
use crate::files::whole_file::OutputPlace;
use crate::messages::{Messages, plain};
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tracemill_pipeline::merge;
use tracemill_trace::Source;

pub(super) fn run(args: &MergeArgs, messages: &Messages) -> Result<Exit, Failure> {
    if args.dry_run {
        return merge_dry::run(args, messages);
    }
    let MergeArgs { input, viewer, identity, trace, common, .. } = args;
    let output = &args.output.in_folder(SystemTime::now());
    if let (Some(folder), Some(file)) = (args.output.file(), output.file()) {
        refuse_earlier_output(folder, file, &input.inputs)?;
    }
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

/// Returns an error if an input folder gets the output and already has a trace that the command or
/// DevTools named by its time. It would be merged again.
fn refuse_earlier_output(folder: &Path, file: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    let is_output = |input: &&PathBuf| folder != file && input.is_dir() && same_file(input, folder);
    if !inputs.iter().any(|input| is_output(&input)) {
        return Ok(());
    }
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    match names.find(|name| name.starts_with("Trace-")) {
        None => Ok(()),
        Some(name) => Err(Failure::usage(format!(
            "{}: has {name}, which would be merged again: remove it, or write to another folder",
            plain(&folder.to_string_lossy())
        ))),
    }
}

/// Returns whether two paths lead to the same file or folder.
fn same_file(path: &Path, other: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
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
