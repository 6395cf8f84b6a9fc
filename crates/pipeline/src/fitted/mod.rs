//! Runs commands other than `merge` for a viewer: the command writes a draft, and a merge for the
//! viewer writes the output.
//!
//! ```text
//!   slice, filter, a part of split ─> draft ─> merge for the viewer ─> output
//!   convert:    merge for the viewer ─> draft ─> convert            ─> output
//!   several inputs of any of them: merge ─> draft ─> the command with one input ([`join`])
//! ```
//!
//! So only `merge` needs the viewer's rules ([`crate::for_viewer`]). Drafts are in the folder of
//! temporary files. The two runs are sequential, and each may use the whole memory.

pub(crate) mod join;
pub(crate) mod verbs;

use crate::merge::merge_window;
use tracemill_join::config::{ClockRules, Config, IdentityRules, ViewerRules};
use tracemill_join::report::MergeReport;
use tracemill_trace::input::source::Source;
use tracemill_trace::output::draft::Draft;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::error::Error;

/// Returns the config for writing a draft: no viewer, with repair of JSON.
pub(crate) fn plain(config: &Config) -> Config {
    let mut plain = Config { viewer: ViewerRules::default(), ..config.clone() };
    plain.limits.repair = true;
    plain
}

/// Returns the config for merging a draft, whose names and clocks are final.
fn settled(config: &Config) -> Config {
    let (identity, clocks) = (IdentityRules::default(), ClockRules::default());
    config.limits.progress.restart();
    Config { identity, clocks, ..config.clone() }
}

/// Calls `write` with the draft as output and the config of a draft. Returns the report of `write`,
/// and the draft.
///
/// # Errors
/// Returns the errors of `write`, and [`tracemill_trace::ErrorKind::Scratch`] if the draft cannot
/// be written.
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

/// Merges a draft for the viewer into the output. `window` is the time range that DevTools shows
/// when it opens the output.
pub(crate) fn fit(
    draft: Source,
    window: Option<(i64, i64)>,
    output: &OutputConfig,
    config: &Config,
) -> Result<MergeReport, Error> {
    merge_window(&[draft], window, output, &settled(config))
}
