//! What other verbs than `merge` write for a viewer: the verb writes a draft, and a merge for the viewer makes the output of it.
//!
//! ```text
//!   slice, filter, a part of split ─> draft ─> merge for the viewer ─> output
//!   convert:    merge for the viewer ─> draft ─> convert            ─> output
//!   several inputs of any of them: merge ─> draft ─> the verb, as for one input ([`join`])
//! ```
//!
//! So there is one set of rules ([`crate::for_viewer`]), and the output is what a merge for the viewer makes of the verb's. A
//! draft is on disk, in the folder of temporary files; each run has the whole budget, one after the other.

pub(crate) mod join;
pub(crate) mod verbs;

use crate::merge::merge_window;
use tracemill_join::config::{ClockRules, Config, IdentityRules, ViewerRules};
use tracemill_join::report::MergeReport;
use tracemill_trace::input::source::Source;
use tracemill_trace::output::draft::Draft;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::error::Error;

/// What the verb is told: it writes for nobody, and what it writes is JSON, as all that is for a viewer.
pub(crate) fn plain(config: &Config) -> Config {
    let mut plain = Config { viewer: ViewerRules::default(), ..config.clone() };
    plain.limits.repair = true;
    plain
}

/// What the merge is told: names and clocks are settled.
fn settled(config: &Config) -> Config {
    let (identity, clocks) = (IdentityRules::default(), ClockRules::default());
    config.limits.progress.restart();
    Config { identity, clocks, ..config.clone() }
}

/// Runs `write`, which is given where a draft goes and what it is told; returns what it says, and the draft.
///
/// # Errors
/// The errors of `write`, and [`tracemill_trace::ErrorKind::Scratch`].
pub(crate) fn draft<R>(
    name: &str,
    output: &OutputConfig,
    config: &Config,
    write: impl FnOnce(&OutputConfig, &Config) -> Result<R, Error>,
) -> Result<(R, Source), Error> {
    let draft = Draft::new(&config.limits.tmp_dir)?;
    let to = OutputConfig { format: output.format, ..draft.output() }.called_like(output);
    let report = write(&to, &plain(config)).map_err(|error| draft.error(error))?;
    Ok((report, draft.source(name)?))
}

/// Makes the output of a draft; DevTools opens it on `window`, if there is one.
pub(crate) fn fit(
    draft: Source,
    window: Option<(i64, i64)>,
    output: &OutputConfig,
    config: &Config,
) -> Result<MergeReport, Error> {
    merge_window(&[draft], window, output, &settled(config))
}
