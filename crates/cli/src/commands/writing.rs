//! Code that commands share if they write traces: checks before the run, and messages after it.

use super::around::{note_form, on_disk, refuse_pouring, report_place};
use super::index::say;
use super::joining::Joined;
use super::running::{Flags, Running};
use super::viewer::changed;
use crate::args::{OutputArgs, TraceArgs, ViewerArgs};
use crate::files::whole_file::OutputPlace;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::outcome::remedies;
use crate::report::{Object, Run};
use crate::text::size::human;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use tracemill_index::{IndexConfig, index, index_path};
use tracemill_join::report::RunReport;
use tracemill_trace::Source;
use tracemill_trace::output::target::{Compression, OutputConfig};

/// Flags about the trace that a command writes.
#[derive(Clone, Copy)]
pub(super) struct TraceFlags<'a> {
    pub(super) output: &'a OutputArgs,
    pub(super) trace: &'a TraceArgs,
    /// Flags about a viewer, for commands that have such flags.
    pub(super) viewer: Option<&'a ViewerArgs>,
}

/// A run of a command that writes traces.
pub(super) struct Writing<'a> {
    pub(super) running: Running<'a>,
    trace: &'a TraceArgs,
    compression: Compression,
    report: Option<OutputPlace>,
    /// Paths of the output traces for which an index is written.
    pub(super) indexed: Vec<PathBuf>,
}

impl<'a> Writing<'a> {
    /// Starts a run with one output. `listed` are inputs that are not on the command line.
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

    /// Starts a run with any number of outputs. Their paths and compression must be decided
    /// already.
    pub(super) fn of(
        mut running: Running<'a>,
        trace: &'a TraceArgs,
        compression: Compression,
        report: Option<OutputPlace>,
    ) -> Self {
        running.config.limits.repair = trace.repair;
        Writing { running, trace, compression, report, indexed: Vec::new() }
    }

    /// Merges several inputs into one. See [`Joined::of`].
    pub(super) fn join(&mut self, output: Option<&OutputConfig>) -> Result<Joined, Failure> {
        Joined::of(&mut self.running, output)
    }

    /// Prints descriptions of the inputs and of how the run was done (`-v`).
    pub(super) fn tell_decisions(&self, run: &RunReport, decisions: &[String]) {
        let messages = self.running.messages;
        messages.inputs(&run.inputs);
        note_form(self.trace, run.format, self.compression, messages);
        decisions.iter().for_each(|text| messages.note(text));
    }

    /// Reports data in temporary files, for commands that keep the order of the input (`-v`).
    pub(super) fn tell_disk(&self, spilled: u64, run: &RunReport) {
        let Running { messages, config, .. } = &self.running;
        let events = (spilled > 0).then(|| format!("{} of sorted events", human(spilled)));
        on_disk(config, events, run.spooled_bytes).iter().for_each(|text| messages.note(text));
    }

    /// Prints warnings, `done` (changes that the user did not request), changes for a viewer, and
    /// losses.
    pub(super) fn tell_outcome(&self, run: &RunReport, done: &[String]) {
        let messages = self.running.messages;
        messages.warnings(&remedies::warnings(&run.warnings));
        done.iter().for_each(|text| messages.say(text));
        changed(&run.viewer).iter().for_each(|text| messages.say(text));
        messages.losses(&run.inputs);
        // if no event matches, the command has explained that already
        if run.warnings.is_empty() && run.inputs.iter().all(|input| input.events == 0) {
            messages.warning("the input has no events, so the output has none either");
        }
    }

    /// Ends a run: writes the requested indexes, the summary and the report. Returns the exit
    /// status.
    ///
    /// `lost` is the number of lost events and other parts, and `copies` the number of duplicates
    /// left out.
    pub(super) fn finish<'r>(
        &self,
        run: &RunReport,
        lost: u64,
        copies: u64,
        report: impl FnOnce(&Run<'_>) -> Object<'r>,
    ) -> Result<Exit, Failure> {
        for path in &self.indexed {
            // an existing index describes the trace that was replaced
            let replacing = IndexConfig { replace: true, ..IndexConfig::default() };
            let sources = [Source::Path(path.clone())];
            let reports = self.running.watch(|_, config| index(&sources, &replacing, config))?;
            reports.iter().for_each(|report| say(report, self.running.messages));
        }
        let mut summary = self.running.summary(&run.inputs, lost);
        summary.output = Some((run.events, run.bytes));
        summary.copies = copies;
        self.running.end(&summary, self.report.as_ref(), report)?;
        Ok(Exit::written(lost, &run.inputs))
    }

    /// Like [`Writing::finish`], but for a run that wrote no trace.
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

/// Returns the path of the output if `--write-index` is given. Returns an error if its index may
/// not be written.
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
