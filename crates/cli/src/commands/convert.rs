//! `tracemill convert`.

use super::analysis;
use super::query::Answering;
use super::running::Flags;
use super::screenshots;
use super::tables;
use super::writing::{TraceFlags, Writing};
use crate::args::ConvertArgs;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use tracemill_pipeline::convert;

pub(super) fn run(
    args: &ConvertArgs,
    messages: &Messages,
    answering: Answering<'_>,
) -> Result<Exit, Failure> {
    if let Some(dir) = &args.screenshots {
        return screenshots::run(args, dir, messages);
    }
    if let Some(format) = args.table() {
        args.refuse_with_export()?;
        return answering.answer(messages, |engine| tables::run(args, format, messages, engine));
    }
    args.refuse_tables()?;
    if let Some(export) = args.export() {
        return analysis::convert(args, export, messages);
    }
    if let Some(packed) = args.perfetto() {
        return analysis::perfetto(args, packed, messages);
    }
    let ConvertArgs { input, output, trace, viewer, common, .. } = args;
    let flags = Flags { verb: "convert", input, common };
    let given = TraceFlags { output, trace, viewer: Some(viewer) };
    let (mut writing, output) = Writing::one(flags, given, &[], messages)?;
    writing.running.announce();
    let joined = writing.join(Some(&output))?;
    writing.running.config.clocks.rebase = args.rebase;
    let running = &writing.running;
    let mut report =
        running.watch(|sources, config| convert(sources, args.style, &output, config))?;
    joined.complete(&mut report.run);

    writing.tell_decisions(&report.run, &[format!("white space: {}", report.style.name())]);
    writing.tell_disk(report.spilled_bytes, &report.run);
    writing.tell_outcome(&report.run, &[]);
    let lost = report.run.lost();
    writing.finish(&report.run, lost, 0, |run| report::convert(&report, &output, run))
}
