//! The frame of verbs that write traces: what is refused before anything is read, and what is told behind it.

use super::around::{note_form, on_disk, refuse_pouring, report_place};
use super::index::say;
use super::joining::Joined;
use super::running::{Flags, Running};
use super::viewer::changed;
use crate::args::{OutputArgs, TraceArgs, ViewerArgs};
use crate::exit::{Exit, Failure};
use crate::messages::Messages;
use crate::remedies;
use crate::report::{Object, Run};
use crate::size::human;
use crate::whole_file::OutputPlace;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use tracemill_index::{IndexConfig, index, index_path};
use tracemill_join::report::RunReport;
use tracemill_trace::Source;
use tracemill_trace::output::target::{Compression, OutputConfig};

/// Flags on the trace that is written.
#[derive(Clone, Copy)]
pub(super) struct TraceFlags<'a> {
    pub(super) output: &'a OutputArgs,
    pub(super) trace: &'a TraceArgs,
    /// The viewer flags; only of verbs that write for viewers.
    pub(super) viewer: Option<&'a ViewerArgs>,
}

/// A run of a verb that writes traces.
pub(super) struct Writing<'a> {
    pub(super) running: Running<'a>,
    trace: &'a TraceArgs,
    compression: Compression,
    report: Option<OutputPlace>,
    /// Traces that get an index when they are written.
    pub(super) indexed: Vec<PathBuf>,
}

impl<'a> Writing<'a> {
    /// Begins a run with one output; `listed` are inputs beside those on the command line.
    pub(super) fn one(
        flags: Flags<'a>,
        given: TraceFlags<'a>,
        listed: &[PathBuf],
        messages: &'a Messages,
    ) -> Result<(Self, OutputConfig), Failure> {
        let mut running = Running::new(flags, listed, messages)?;
        let output = given.trace.config(given.output, io::stdout().is_terminal())?;
        if let Some(viewer) = given.viewer {
            running.config.viewer = viewer.rules(output.format)?;
        }
        refuse_pouring(given.output, &running.sources)?;
        let report =
            report_place(&flags.common.messages, messages, given.output, &running.sources)?;
        let indexed = to_index(given, &running.sources)?;
        let mut writing = Self::of(running, given.trace, output.compression, report);
        writing.indexed = indexed;
        Ok((writing, output))
    }

    /// Begins a run with any number of outputs, whose places and packing the verb has chosen already.
    pub(super) fn of(
        mut running: Running<'a>,
        trace: &'a TraceArgs,
        compression: Compression,
        report: Option<OutputPlace>,
    ) -> Self {
        running.config.limits.repair = trace.repair;
        Writing { running, trace, compression, report, indexed: Vec::new() }
    }

    /// Merges several inputs, see [`Joined::of`].
    pub(super) fn join(&mut self, output: Option<&OutputConfig>) -> Result<Joined, Failure> {
        Joined::of(&mut self.running, output)
    }

    /// What the inputs are and what was decided, for `-v`.
    pub(super) fn tell_decisions(&self, run: &RunReport, decisions: &[String]) {
        let messages = self.running.messages;
        messages.inputs(&run.inputs);
        note_form(self.trace, run.format, self.compression, messages);
        decisions.iter().for_each(|text| messages.note(text));
    }

    /// What went to disk, of verbs that keep the order of their input, for `-v`.
    pub(super) fn tell_disk(&self, spilled: u64, run: &RunReport) {
        let Running { messages, config, .. } = &self.running;
        let events = (spilled > 0).then(|| format!("{} of sorted events", human(spilled)));
        on_disk(config, events, run.spooled_bytes).iter().for_each(|text| messages.note(text));
    }

    /// Warnings, `done` (what was done without being asked for), and losses.
    pub(super) fn tell_outcome(&self, run: &RunReport, done: &[String]) {
        let messages = self.running.messages;
        messages.warnings(&remedies::warnings(&run.warnings));
        done.iter().for_each(|text| messages.say(text));
        changed(&run.viewer).iter().for_each(|text| messages.say(text));
        messages.losses(&run.inputs);
        // of a selection the verb says why nothing matches
        if run.warnings.is_empty() && run.inputs.iter().all(|input| input.events == 0) {
            messages.warning("the input has no events, so the output has none either");
        }
    }

    /// Makes the indexes that are wanted, says how it went, writes the report, if one is wanted, and gives the status. `lost` pieces were lost, and `copies`
    /// left out.
    pub(super) fn finish<'r>(
        &self,
        run: &RunReport,
        lost: u64,
        copies: u64,
        report: impl FnOnce(&Run<'_>) -> Object<'r>,
    ) -> Result<Exit, Failure> {
        for path in &self.indexed {
            // what stands there is that of what was replaced
            let anew = IndexConfig { replace: true, ..IndexConfig::default() };
            let sources = [Source::Path(path.clone())];
            let made = self.running.watch(|_, config| index(&sources, &anew, config))?;
            made.iter().for_each(|report| say(report, self.running.messages));
        }
        let mut summary = self.running.summary(&run.inputs, lost);
        summary.output = Some((run.events, run.bytes));
        summary.copies = copies;
        self.running.end(&summary, self.report.as_ref(), report)?;
        Ok(Exit::written(lost, &run.inputs))
    }

    /// The same of a run that has not made what it would write.
    pub(super) fn finish_dry<'r>(
        &self,
        run: &RunReport,
        lost: u64,
        report: impl FnOnce(&Run<'_>) -> Object<'r>,
    ) -> Result<Exit, Failure> {
        let summary = self.running.summary(&run.inputs, lost);
        self.running.end(&summary, self.report.as_ref(), report)?;
        Ok(Exit::written(lost, &run.inputs))
    }
}

/// The one output, if it is to have an index.
fn to_index(given: TraceFlags<'_>, sources: &[Source]) -> Result<Vec<PathBuf>, Failure> {
    if !given.trace.write_index {
        return Ok(Vec::new());
    }
    let Some(path) = given.output.file() else {
        return Err(Failure::usage("--write-index needs a file to stand beside: name one with -o"));
    };
    let place = OutputPlace::of(&index_path(path));
    place.check("the index", sources, given.output.force)?;
    Ok(vec![path.to_owned()])
}
