//! Code that all commands share: limits, progress, summary and report.

use super::around::{note_leases, note_limits, note_repeated};
use crate::args::{CommonArgs, InputArgs};
use crate::files::whole_file::OutputPlace;
use crate::messages::Messages;
use crate::messages::progress::Watch;
use crate::outcome::exit::Failure;
use crate::report::{Object, Run};
use crate::text::size::human;
use crate::text::summary::Summary;
use std::path::PathBuf;
use std::time::Instant;
use tracemill_join::config::Config;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::{Error, Source};

/// Flags of every command that reads traces.
#[derive(Clone, Copy)]
pub(super) struct Flags<'a> {
    /// Name of the command in reports and in the summary.
    pub(super) verb: &'static str,
    pub(super) input: &'a InputArgs,
    pub(super) common: &'a CommonArgs,
}

pub(super) struct Running<'a> {
    pub(super) flags: Flags<'a>,
    pub(super) messages: &'a Messages,
    pub(super) config: Config,
    pub(super) sources: Vec<Source>,
    start: Instant,
}

impl<'a> Running<'a> {
    /// Starts the clock of a run. `listed` are inputs that are not on the command line.
    pub(super) fn new(
        flags: Flags<'a>,
        listed: &[PathBuf],
        messages: &'a Messages,
    ) -> Result<Self, Failure> {
        let start = Instant::now();
        let caller = messages.caller().cloned().unwrap_or_default();
        let mut config = flags.common.limits.config(flags.input, &caller.progress)?;
        config.limits.cancel = caller.cancel;
        let sources = flags.input.sources_and(listed)?;
        Ok(Running { flags, messages, config, sources, start })
    }

    /// Reports the limits of the run, and files that are given twice. Must be called before inputs
    /// are read.
    pub(super) fn announce(&self) {
        note_repeated(&self.sources, self.messages);
        note_limits(&self.flags.common.limits, &self.config, self.messages);
    }

    /// Runs `work` and shows its progress.
    pub(super) fn watch<T>(
        &self,
        work: impl FnOnce(&[Source], &Config) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let is_shown = self.messages.caller().is_none();
        let watch = is_shown
            .then(|| Watch::start(&self.flags.common.messages, &self.config.limits.progress))
            .flatten();
        let done = work(&self.sources, &self.config);
        drop(watch);
        Ok(done?)
    }

    /// Returns the properties of the run for a report. The time is that elapsed so far.
    pub(super) fn described(&self) -> Run<'_> {
        Run { config: &self.config, elapsed: self.start.elapsed() }
    }

    /// Returns the summary of a run that read `inputs` and lost `lost` events or other parts.
    pub(super) fn summary(&self, inputs: &[InputReport], lost: u64) -> Summary {
        Summary::new(self.flags.verb, inputs, lost, self.start.elapsed())
    }

    /// Prints the summary, and writes the report if requested.
    pub(super) fn end<'r>(
        &self,
        summary: &Summary,
        place: Option<&OutputPlace>,
        report: impl FnOnce(&Run<'_>) -> Object<'r>,
    ) -> Result<(), Failure> {
        if self.flags.common.messages.verbose > 1 {
            note_leases(&self.config.limits.budget, self.messages);
        }
        self.messages.summary(summary);
        match place {
            Some(place) => place.write_json(&report(&self.described())),
            None => Ok(()),
        }
    }
}

/// Returns a message for `-v`: how much was read by an index, or why an existing index was not
/// used.
pub(super) fn of_index(
    used: Option<&(PathBuf, u64)>,
    unused: Option<&str>,
    inputs: &[InputReport],
) -> Option<String> {
    if let Some((index, bytes)) = used {
        let all = inputs.iter().map(|input| input.bytes).sum();
        let (read, of) = (human(*bytes), human(all));
        return Some(format!("read {read} of {of}: {} says where the rest lies", index.display()));
    }
    unused.map(|why| format!("the whole trace was read, although it has an index: {why}"))
}
