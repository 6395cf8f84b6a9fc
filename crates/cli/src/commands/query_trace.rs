//! `tracemill query --format trace`: writes the events that the rows of a result name, by the rules
//! of `filter`.

use super::running::{Flags, Running};
use super::writing::{TraceFlags, Writing};
use crate::args::{OutputArgs, TraceArgs};
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use std::sync::Arc;
use tracemill_pipeline::{EventList, Filter, filter};
use tracemill_trace::output::draft::Draft;

/// The events that a result names, and copies of the pipes that it was made of.
pub(super) struct NamedEvents {
    pub(super) events: Option<EventList>,
    pub(super) kept: Vec<Draft>,
}

/// Filters the input for the events that `find` returns.
pub(super) fn run(
    flags: Flags<'_>,
    output: &OutputArgs,
    messages: &Messages,
    find: impl FnOnce(&mut Running<'_>) -> Result<NamedEvents, Failure>,
) -> Result<Exit, Failure> {
    let trace = TraceArgs::default();
    let given = TraceFlags { output, trace: &trace, viewer: None };
    let (mut writing, output) = Writing::one(flags, given, &[], messages)?;
    let rules = writing.running.config.clone();
    let NamedEvents { events, kept } = find(&mut writing.running)?;
    let running = &mut writing.running;
    running.config = rules;
    running.config.limits.progress.restart();
    let wanted = Filter { events: events.map(Arc::new), ..Filter::default() };
    let report = running.watch(|sources, config| filter(sources, &wanted, &output, config))?;
    drop(kept);

    writing.tell_decisions(&report.run, &[]);
    writing.tell_disk(report.spilled_bytes, &report.run);
    writing.tell_outcome(&report.run, &[]);
    let lost = report.run.lost();
    let exit = writing.finish(&report.run, lost, 0, |run| report::filter(&report, &output, run));
    Ok(exit?.unless_empty(report.is_empty()))
}
