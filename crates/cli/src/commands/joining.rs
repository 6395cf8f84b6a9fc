//! Several inputs of a verb that reads one trace: they are merged before it begins.

use super::clocks;
use super::merge_told::{KEEP, renamed};
use super::running::Running;
use crate::exit::Failure;
use tracemill_index::index_unused;
use tracemill_join::report::RunReport;
use tracemill_join::report::warning::Warning;
use tracemill_pipeline::{JoinedInputs, ProfilesReport, join};
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::losses::InputReport;

/// The inputs of a verb that reads one trace, where they were several.
pub(super) struct Joined {
    inputs: Option<JoinedInputs>,
    index_unused: Option<&'static str>,
}

impl Joined {
    /// Merges several inputs, so that the verb reads one trace, and reports what the merge changed. `output` is the one
    /// output of the verb.
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

    /// The same by the rules of the run, where it has flags for them; `keep` is how to keep the names.
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

    /// Completes the report of the verb: its inputs are those of the command line.
    pub(super) fn complete(self, run: &mut RunReport) {
        if let Some(joined) = self.inputs {
            joined.complete(run);
        }
    }

    /// Completes the inputs and warnings of a verb that does not write a trace.
    pub(super) fn complete_inputs(
        self,
        inputs: &mut Vec<InputReport>,
        warnings: &mut Vec<Warning>,
    ) {
        if let Some(joined) = self.inputs {
            joined.complete_inputs(inputs, warnings);
        }
    }

    /// Completes a report of CPU profiles likewise.
    pub(super) fn complete_profiles(self, report: &mut ProfilesReport) {
        report.index_unused = report.index_unused.or(self.index_unused);
        if let Some(joined) = self.inputs {
            joined.complete_profiles(report);
        }
    }
}
