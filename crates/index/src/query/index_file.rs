//! Finds and opens the index of the only input of a run.

use crate::format::{Index, Input};
use crate::fresh::{Fit, fit, input_of, map};
use crate::meta::Meta;
use crate::place::{has_index, place_of};
use std::fs::Metadata;
use tracemill_join::config::{Config, IndexUse};
use tracemill_join::read_plan::{IndexFile, Stop, Unused};
use tracemill_tokenizer::Mapped;
use tracemill_trace::input;
use tracemill_trace::input::source::Source;
use tracemill_trace::run::error::{Error, ErrorKind};

/// Returns the index that a run over `sources` may query, if any.
///
/// # Errors
/// Returns [`ErrorKind::Usage`] if an index is named, but the input is not a single file.
pub(super) fn index_file_of(
    sources: &[Source],
    config: &Config,
) -> Result<Option<IndexFile>, Error> {
    let path = match sources {
        [source] => source.file(),
        _ => None,
    };
    let (path, metadata) = match path.map(|path| (path, std::fs::metadata(path))) {
        Some((path, Ok(metadata))) if is_plain(&metadata) => (path, metadata),
        Some((path, _)) if !path.exists() => return Ok(None), // the scan reports it
        _ if matches!(config.index, IndexUse::File(_)) => {
            let problem = "an index is of one file, and that is not what is read".to_owned();
            return Err(ErrorKind::Usage { problem, remedy: None }.into());
        }
        _ => return Ok(None),
    };
    let (index, is_named) = match &config.index {
        IndexUse::Never => return Ok(None),
        IndexUse::Auto => (place_of(path, config), false),
        IndexUse::File(index) => (index.clone(), true),
    };
    let is_remote = matches!(sources, [Source::Remote(_)]);
    Ok(Some(IndexFile { trace: path.to_owned(), index, is_named, is_remote, metadata }))
}

/// Checks that a named index matches the trace, for a run that scans the trace in any case.
pub(super) fn check_named(file: &IndexFile) -> Result<(), Stop> {
    match map_index(file) {
        Ok(bytes) if file.is_named => open_index(file, &bytes).map(drop),
        Ok(_) | Err(Stop::Missing) => Ok(()),
        Err(stop) => Err(stop),
    }
}

pub(super) fn map_index(file: &IndexFile) -> Result<Mapped, Stop> {
    match map(&file.index).map_err(|error| error.to_string())? {
        Some(bytes) => Ok(bytes),
        None if file.is_named => Err("there is no such file".into()),
        None => Err(Stop::Missing),
    }
}

pub(super) fn open_index<'b>(file: &IndexFile, bytes: &'b [u8]) -> Result<(Index<'b>, Meta), Stop> {
    let opened = Index::open(bytes)?;
    let now = match file.is_remote {
        // the index is newer than the trace, and checksums cover the ranges that are read
        true => Input { length: file.metadata.len(), ..*opened.input() },
        false => input_of(&file.trace).map_err(|_| Unused::Copied)?,
    };
    match fit(opened.input(), &now) {
        Fit::Same => {}
        // bytes between the samples of the fingerprint may differ, and no later read would show
        // that
        Fit::Copied if file.is_named => {}
        Fit::Copied => return Err(Unused::Copied.into()),
        Fit::Other => {
            return Err("the trace has changed since, or the index belongs to another one".into());
        }
    }
    let meta = Meta::read(&opened)?;
    Ok((opened, meta))
}

/// Returns the reason why a run over several inputs ignores the indexes of these inputs. Returns
/// `None` if no input has an index.
///
/// # Errors
/// Returns [`ErrorKind::Usage`] if the user named an index.
pub fn index_unused(sources: &[Source], config: &Config) -> Result<Option<&'static str>, Error> {
    index_file_of(sources, config)?;
    Ok(unused_of_several(sources, config).map(Unused::text))
}

/// Returns the reason of [`index_unused`], without checking that the user named no index.
pub(super) fn unused_of_several(sources: &[Source], config: &Config) -> Option<Unused> {
    if config.index != IndexUse::Auto {
        return None;
    }
    let inputs = input::expand(sources).ok()?;
    let any = inputs.len() > 1 && inputs.iter().any(|input| has_index(&input.source));
    any.then_some(Unused::Several)
}

/// Returns whether a file has a meaningful length, unlike pipes and files in /proc.
fn is_plain(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.len() > 0
}
