//! Merges several inputs for a verb that reads a single trace.

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

/// Result of merging the inputs; empty if there was only one.
pub(super) struct Joined {
    inputs: Option<JoinedInputs>,
    index_unused: Option<&'static str>,
}

impl Joined {
    /// Merges several inputs into one trace for the verb, with the rules of `merge`, and reports
    /// what the merge changed. `output` is the only output of the verb, if it has one.
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

    /// Like [`Joined::of`], but with the rules of the run; `keep` names the flags that keep pids
    /// and ids.
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

    /// Returns why indexes of the inputs were not used, if there are any.
    pub(super) fn index_unused(&self) -> Option<&'static str> {
        self.index_unused
    }

    /// Replaces the inputs in the report of the verb by those of the merge, and adds its warnings.
    pub(super) fn complete(self, run: &mut RunReport) {
        if let Some(joined) = self.inputs {
            joined.complete(run);
        }
    }

    /// Replaces `inputs` by those of the merge, and adds its warnings: for verbs without a
    /// [`RunReport`].
    pub(super) fn complete_inputs(
        self,
        inputs: &mut Vec<InputReport>,
        warnings: &mut Vec<Warning>,
    ) {
        if let Some(joined) = self.inputs {
            joined.complete_inputs(inputs, warnings);
        }
    }

    /// Like [`Joined::complete`], for a report of CPU profiles.
    pub(super) fn complete_profiles(self, report: &mut ProfilesReport) {
        report.index_unused = report.index_unused.or(self.index_unused);
        if let Some(joined) = self.inputs {
            joined.complete_profiles(report);
        }
    }
}
