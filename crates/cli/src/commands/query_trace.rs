//! `tracemill query --format trace`: writes the events that the rows of a result name, by the rules
//! of `filter`.

use super::query::{Question, failure_of};
use super::running::Flags;
use super::writing::{TraceFlags, Writing};
use crate::args::{OutputArgs, TraceArgs};
use crate::engine::QueryEngine;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use std::io;
use std::sync::Arc;
use tracemill_pipeline::{Filter, filter};

/// Answers a question, then filters the input for the events of the answer.
pub(super) fn run(
    question: &Question<'_>,
    flags: Flags<'_>,
    output: &OutputArgs,
    messages: &Messages,
    engine: &dyn QueryEngine,
) -> Result<Exit, Failure> {
    let trace = TraceArgs::default();
    let given = TraceFlags { output, trace: &trace, viewer: None };
    let (mut writing, output) = Writing::one(flags, given, &[], messages)?;
    let running = &mut writing.running;
    let rules = running.config.clone();
    let kept = question.prepare(running)?;
    if running.config.joins(&running.sources)? {
        return Err(Failure::usage(
            "--format trace filters one input, but there are several: pipe them on with tracemill merge … | \
             tracemill query … -, or keep their pids and times with --as-is",
        ));
    }
    let prepared = question.places(running)?;
    let end = engine.run(&question.query(&prepared, running), &mut io::sink());
    let wanted = Filter { events: end.map_err(failure_of)?.events.map(Arc::new), ..Filter::default() };
    running.config = rules;
    running.config.limits.progress.restart();
    let report = running.watch(|sources, config| filter(sources, &wanted, &output, config))?;
    drop(kept);

    writing.tell_decisions(&report.run, &[]);
    writing.tell_disk(report.spilled_bytes, &report.run);
    writing.tell_outcome(&report.run, &[]);
    let lost = report.run.lost();
    let exit = writing.finish(&report.run, lost, 0, |run| report::filter(&report, &output, run));
    Ok(exit?.unless_empty(report.is_empty()))
}
