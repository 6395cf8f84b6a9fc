//! Code that commands share if they report on traces, as text or JSON, to standard output or a
//! file.

use super::around::report_place;
use super::running::{Flags, Running};
use crate::args::OutputArgs;
use crate::files::whole_file::OutputPlace;
use crate::messages::Messages;
use crate::outcome::exit::Failure;
use crate::outcome::remedies;
use crate::report::{Object, Run};
use std::path::Path;
use tracemill_join::report::warning::Warning;
use tracemill_trace::run::losses::InputReport;

/// A run of a command that reports on traces.
pub(super) struct Reporting<'a> {
    pub(super) running: Running<'a>,
    /// Destination of the text or JSON.
    pub(super) output: OutputPlace,
    report: Option<OutputPlace>,
}

impl<'a> Reporting<'a> {
    /// Starts a run. Returns an error if an output may not be written.
    pub(super) fn new(
        flags: Flags<'a>,
        output: &OutputArgs,
        messages: &'a Messages,
    ) -> Result<Self, Failure> {
        let running = Running::new(flags, &[], messages)?;
        let place = messages.place(output.output.as_deref().unwrap_or(Path::new("-")));
        place.check("the output", &running.sources, output.force)?;
        let report = report_place(&flags.common.messages, messages, output, &running.sources)?;
        Ok(Reporting { running, output: place, report })
    }

    /// Prints the warnings, and with `-v` also a description of each input.
    pub(super) fn tell(&self, inputs: &[InputReport], warnings: &[Warning]) {
        let messages = self.running.messages;
        messages.inputs(inputs);
        messages.warnings(&remedies::warnings(warnings));
    }

    /// Prints the summary, and writes the report if requested.
    pub(super) fn end<'r>(
        &self,
        inputs: &[InputReport],
        lost: u64,
        report: impl FnOnce(&Run<'_>) -> Object<'r>,
    ) -> Result<(), Failure> {
        self.running.end(&self.running.summary(inputs, lost), self.report.as_ref(), report)
    }
}
