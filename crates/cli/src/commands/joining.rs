//! Merges several inputs for a command that reads a single trace.

use super::clocks;
use super::merge_told::{KEEP, renamed};
use super::running::Running;
use crate::outcome::exit::Failure;
use tracemill_index::index_unused;
use tracemill_join::report::RunReport;
use tracemill_join::report::warning::Warning;
use tracemill_pipeline::{JoinedInputs, ProfilesReport, join};
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::losses::InputReport;

/// The merged inputs. Empty if there was only one input.
pub(super) struct Joined {
    inputs: Option<JoinedInputs>,
    index_unused: Option<&'static str>,
}

impl Joined {
    /// Merges several inputs into one trace by the rules of `merge`, and reports the changes.
    /// `output` is the output of the command, if it has exactly one.
    pub(super) fn of(
        running: &mut Running<'_>,
        output: Option<&OutputConfig>,
    ) -> Result<Self, Failure> {
        let as_merged = running.config.as_merged();
        let config = std::mem::replace(&mut running.config, as_merged);
        let joined = Self::by_rules(running, output, &format!("tracemill merge {KEEP}"));
        running.config = config;
        joined
    }

    /// Like [`Joined::of`], but with the rules of the run. `keep` is a command with the flags that
    /// keep pids and ids.
    pub(super) fn by_rules(
        running: &mut Running<'_>,
        output: Option<&OutputConfig>,
        keep: &str,
    ) -> Result<Self, Failure> {
        let (inputs, index_unused) = running.watch(|sources, config| {
            let unused = match config.joins(sources)? {
                true => index_unused(sources, config)?,
                false => None,
            };
            Ok((join(sources, output, config)?, unused))
        })?;
        if let Some(joined) = &inputs {
            running.sources = vec![joined.source()];
            let (merged, messages) = (joined.merged(), running.messages);
            clocks::details(&merged.clocks).iter().for_each(|text| messages.note(text));
            let renamed = renamed(&merged.identity, keep);
            let changes = clocks::moved(&merged.clocks).into_iter().chain(renamed);
            changes.for_each(|text| messages.say(&text));
        }
        Ok(Joined { inputs, index_unused })
    }

    /// Returns the reason why the indexes of inputs were not used. Returns `None` if no input has
    /// an index.
    pub(super) fn index_unused(&self) -> Option<&'static str> {
        self.index_unused
    }

    /// Replaces the inputs in a report by those before the merge, and adds the warnings of the
    /// merge.
    pub(super) fn complete(self, run: &mut RunReport) {
        if let Some(joined) = self.inputs {
            joined.complete(run);
        }
    }

    /// Replaces `inputs` by those before the merge, and adds the warnings of the merge. For
    /// commands without a [`RunReport`].
    pub(super) fn complete_inputs(
        self,
        inputs: &mut Vec<InputReport>,
        warnings: &mut Vec<Warning>,
    ) {
        if let Some(joined) = self.inputs {
            joined.complete_inputs(inputs, warnings);
        }
    }

    /// Like [`Joined::complete`], for a report about CPU profiles.
    pub(super) fn complete_profiles(self, report: &mut ProfilesReport) {
        report.index_unused = report.index_unused.or(self.index_unused);
        if let Some(joined) = self.inputs {
            joined.complete_profiles(report);
        }
    }
}
