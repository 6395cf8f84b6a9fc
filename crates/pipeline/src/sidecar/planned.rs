//! A merge that is planned: traces with an index that says enough are not read.
//!
//! | asked for | traces are read |
//! |---|---|
//! | a strict run; a viewer; clocks by markers; values of args as ids | all |
//! | clocks by events of the phase `c`, or by what traces state | those with such events |
//! | times of an input multiplied | that one |
//! | anything else | those without a CENSUS, or with several documents |
//!
//! Keys beside the events are looked at where the index says that they stand. Packed traces are read.

use super::chosen::{Candidate, is_plain_file};
use super::fresh::{input_of, map, modified_ns};
use super::known::{Told, told};
use super::place::place_among;
use crate::config::{Align, Config, IndexUse};
use crate::merge::{KnownInput, plan_known};
use crate::report::MergeReport;
use crate::warning::Warning;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tracemill_core::error::{Error, ErrorKind};
use tracemill_core::hash::HashMap;
use tracemill_core::input;
use tracemill_core::output;
use tracemill_core::source::Source;
use tracemill_core::target::OutputConfig;
use tracemill_core::threads::try_each;
use tracemill_index::Input;

/// What a merge would do.
#[derive(Clone, Debug, Serialize)]
pub struct MergePlan {
    /// Its report, as far as it is known before the first event is put in its place: without what is left out, delayed or moved, and
    /// without the output.
    pub merge: MergeReport,
    /// Inputs that were not read, since their indexes say what there is to decide.
    pub indexed: u64,
}

/// Decides what [`crate::merge()`] of `sources` to such an output would call processes and ids, and how it would move times. Nothing is written.
///
/// Cost: one pass over the inputs on all cores; where [`Config::index`] allows it, of those that have an index no more than that, what stands
/// beside the events, and as much as shows that it is still that of the file: 16 MiB at most. Heap: what tells processes apart.
///
/// ```
/// use tracemill_pipeline::{Config, OutputConfig, PidPolicy, Source, plan_merge};
///
/// let mut config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// config.identity.pid = PidPolicy::Auto;
/// let text = r#"[{"ph":"X","name":"a","pid":7,"tid":1,"ts":1000,"dur":50}]"#;
/// let sources = ["a.json", "b.json"].map(|name| Source::bytes(name, text));
/// let plan = plan_merge(&sources, &OutputConfig::file("both.json"), &config)?;
/// assert_eq!(plan.merge.identity.inputs[1].pids, [("7".to_owned(), "10000007".to_owned())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`crate::merge()`], but for those of writing. [`crate::ErrorKind::Usage`] where an index is named for anything but one file,
/// [`crate::ErrorKind::NotATrace`] for one that was named and is not that of the file.
pub fn plan_merge(
    sources: &[Source],
    output: &OutputConfig,
    config: &Config,
) -> Result<MergePlan, Error> {
    config.check()?;
    output::check(output, &sources.iter().collect::<Vec<_>>())?;
    let candidate = Candidate::of(sources, config)?;
    let named = candidate.filter(|candidate| candidate.is_named);
    let mut asked = match (can_be_asked(config), &named) {
        (true, _) => ask_all(sources, named.as_ref(), config)?,
        (false, Some(named)) => {
            named.check().map_err(|problem| named.refused(problem))?;
            Asked::default()
        }
        (false, None) => Asked::default(),
    };
    let known = asked.known.drain().map(|(path, (known, now))| {
        asked.now.push((path.clone(), now));
        (path, known)
    });
    let known: HashMap<PathBuf, KnownInput> = known.collect();
    let indexed = asked.inputs;
    let mut merge = plan_known(sources, known, output.format, config)?;
    asked.now.iter().try_for_each(|(path, now)| check_unchanged(path, now))?;
    merge.run.warnings.extend(asked.warnings);
    Ok(MergePlan { merge, indexed })
}

/// Whether what is asked for can be told without a look at events.
fn can_be_asked(config: &Config) -> bool {
    let by_markers = matches!(config.clocks.align, Align::Marker(_) | Align::Series(_));
    !config.strict
        && config.viewer.viewer.is_none()
        && config.identity.args_keys.is_empty()
        && !by_markers
}

/// What indexes say.
#[derive(Default)]
struct Asked {
    known: HashMap<PathBuf, (KnownInput, Input)>,
    /// Inputs that are known, each as often as it is given.
    inputs: u64,
    /// Files as they were when their indexes were asked.
    now: Vec<(PathBuf, Input)>,
    warnings: Vec<Warning>,
}

/// Asks the indexes of all files that have one.
fn ask_all(sources: &[Source], named: Option<&Candidate>, config: &Config) -> Result<Asked, Error> {
    let mut asked = Asked::default();
    if config.index == IndexUse::Never {
        return Ok(asked);
    }
    // who reads them says what is wrong with them
    let Ok(inputs) = input::expand(sources) else { return Ok(asked) };
    let paths = inputs.iter().filter_map(|input| match &input.source {
        Source::Path(path) => Some(path),
        Source::Stdin | Source::Reader(_) => None,
    });
    let paths: Vec<&PathBuf> = paths.collect();
    let answers = try_each(config.threads, paths.len(), |at| {
        config.cancel.check()?;
        Ok::<_, Error>(ask(paths[at], named, config))
    })?;
    for (path, answer) in paths.into_iter().zip(answers) {
        match answer {
            Ok(Some(known)) => {
                asked.inputs += 1;
                asked.known.insert(path.clone(), known);
            }
            Ok(None) => {}
            Err((candidate, problem)) if candidate.is_named => {
                return Err(candidate.refused(problem));
            }
            Err((candidate, problem)) => asked.warnings.push(candidate.unused(problem)),
        }
    }
    Ok(asked)
}

/// What the index of a file says, and the file as it is; `None` if it must be read. An error says why the index is none of it.
fn ask(
    path: &Path,
    named: Option<&Candidate>,
    config: &Config,
) -> Result<Option<(KnownInput, Input)>, (Candidate, String)> {
    if !is_plain_file(path) {
        return Ok(None);
    }
    let (index, now) = match named {
        Some(named) => (named.index.clone(), None),
        None => place_among(path, config),
    };
    let candidate = Candidate { trace: path.to_owned(), index, is_named: named.is_some() };
    match ask_one(&candidate, now, config) {
        Ok(answer) => Ok(answer),
        Err(problem) => Err((candidate, problem)),
    }
}

fn ask_one(
    candidate: &Candidate,
    now: Option<Input>,
    config: &Config,
) -> Result<Option<(KnownInput, Input)>, String> {
    let Some(bytes) = candidate.map()? else { return Ok(None) };
    let now = now.map_or_else(|| input_of(&candidate.trace), Ok);
    let Ok(now) = now else { return Ok(None) };
    let Some((index, meta)) = candidate.open_for(&bytes, &now)? else { return Ok(None) };
    let name = candidate.trace.display().to_string();
    if config.clocks.factor_of(&name).is_some() {
        return Ok(None);
    }
    let Ok(Some(text)) = map(&candidate.trace) else { return Ok(None) };
    let told = told(&index, &meta, &name, &text)?;
    let by_events = matches!(config.clocks.align, Align::Auto | Align::ClockSync);
    let told = told.filter(|told| !(told.has_syncs && by_events));
    Ok(told.map(|Told { mut input, .. }| {
        input.report.lapses.mended = config.repair;
        (input, now)
    }))
}

/// What was said of a file counts as long as nobody has written to it since.
fn check_unchanged(path: &Path, then: &Input) -> Result<(), Error> {
    let now = std::fs::metadata(path);
    if now.is_ok_and(|now| (now.len(), modified_ns(&now)) == (then.length, then.modified_ns)) {
        return Ok(());
    }
    let (input, how) = (path.display().to_string(), "was written to".to_owned());
    Err(ErrorKind::Changed { input, how }.into())
}
