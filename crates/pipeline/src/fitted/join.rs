//! Merges several inputs into one trace, for commands that read one trace.

use crate::extract::ProfilesReport;
use crate::merge::merge;
use tracemill_join::config::{Config, ViewerRules};
use tracemill_join::report::warning::Warning;
use tracemill_join::report::{MergeReport, RunReport};
use tracemill_trace::input::source::Source;
use tracemill_trace::output;
use tracemill_trace::output::draft::Draft;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::losses::InputReport;

/// The merge of several inputs, in the folder of temporary files.
pub struct JoinedInputs {
    source: Source,
    merged: MergeReport,
}

/// Merges several inputs by the rules of `config`, which gives them one clock and unique processes.
///
/// [`Config::as_merged`] has the rules of `merge` without options. Returns `None` if the command
/// can read the inputs directly: a single input, or rules that keep all names and clocks, as in
/// [`Config::of`]. `output` is the output of the command, which must not be an input.
///
/// Cost: a merge, and disk space for its output.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tracemill_pipeline::{Config, Filter, OutputConfig, Source, filter, join};
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()).as_merged(); // threads, bytes of heap
/// let output = OutputConfig::writer(Arc::new(Mutex::new(std::io::sink())));
/// let event = br#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":5}]"#;
/// let sources = ["a.json", "b.json"].map(|name| Source::bytes(name, event));
/// let joined = join(&sources, Some(&output), &config)?.expect("two inputs");
/// let mut report = filter(&[joined.source()], &Filter::default(), &output, &config)?;
/// joined.complete(&mut report.run);
/// assert_eq!((report.run.events, report.run.inputs.len()), (2, 2));
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`crate::merge()`].
pub fn join(
    sources: &[Source],
    output: Option<&OutputConfig>,
    config: &Config,
) -> Result<Option<JoinedInputs>, Error> {
    if !config.joins(sources)? {
        return Ok(None);
    }
    if let Some(output) = output {
        output::check(output, &sources.iter().collect::<Vec<_>>())?;
    }
    let config = Config { viewer: ViewerRules::default(), ..config.clone() };
    let draft = Draft::new(&config.limits.tmp_dir)?;
    let merged = merge(sources, &draft.output(), &config).map_err(|error| draft.error(error))?;
    config.limits.progress.restart();
    // output files of `split` are named after the first input
    let name = sources[0].path().display().to_string();
    Ok(Some(JoinedInputs { source: draft.source(&name)?, merged }))
}

impl JoinedInputs {
    /// Returns the merged trace.
    pub fn source(&self) -> Source {
        self.source.clone()
    }

    /// Returns the report of the merge, with its new pids, new ids and moved clocks.
    pub fn merged(&self) -> &MergeReport {
        &self.merged
    }

    /// Adds the inputs and warnings of the merge to the report of the command.
    pub fn complete(self, run: &mut RunReport) {
        run.follow(self.merged.run);
    }

    /// Does the same as [`JoinedInputs::complete`], for a command that does not write a trace.
    pub fn complete_inputs(self, inputs: &mut Vec<InputReport>, warnings: &mut Vec<Warning>) {
        *inputs = self.merged.run.inputs;
        warnings.splice(0..0, self.merged.run.warnings);
    }

    /// Does the same as [`JoinedInputs::complete`], for a report of CPU profiles. Offsets of
    /// problems refer to the merged trace.
    pub fn complete_profiles(self, report: &mut ProfilesReport) {
        self.complete_inputs(&mut report.inputs, &mut report.warnings);
        let place = |offset| ("the trace that merge makes of the inputs".to_owned(), offset);
        report.profiles.iter_mut().for_each(|profile| profile.flaws.locate(place));
    }
}
