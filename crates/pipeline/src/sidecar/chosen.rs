//! Which index is asked about the one input of a run.

use super::fresh::{Fit, fit, input_of, map};
use super::meta::Meta;
use super::place::{has_index, place_of};
use crate::config::{Config, IndexUse};
use crate::pieces::{Stop, Unused};
use crate::warning::Warning;
use std::path::{Path, PathBuf};
use tracemill_core::error::{Error, ErrorKind};
use tracemill_core::input;
use tracemill_core::source::Source;
use tracemill_index::Index;
use tracemill_tokenizer::Mapped;

/// An index that may be asked.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) trace: PathBuf,
    pub(super) index: PathBuf,
    /// Whether it was named: then it must be that of the trace.
    pub(super) is_named: bool,
}

impl Candidate {
    /// The one of a run over `sources`, if there may be one.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if one is named for anything but one file.
    pub(super) fn of(sources: &[Source], config: &Config) -> Result<Option<Candidate>, Error> {
        let path = match sources {
            [source] => source.file(),
            _ => None,
        };
        let path = match path {
            Some(path) if is_plain_file(path) => path,
            Some(path) if !path.exists() => return Ok(None), // who reads it says so
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
        Ok(Some(Candidate { trace: path.to_owned(), index, is_named }))
    }

    /// For who reads all in any case: one that was named must be that of the trace nevertheless.
    pub(super) fn check(&self) -> Result<(), Stop> {
        match self.map() {
            Ok(bytes) if self.is_named => self.open(&bytes).map(drop),
            Ok(_) | Err(Stop::Missing) => Ok(()),
            Err(stop) => Err(stop),
        }
    }

    /// Its bytes.
    pub(super) fn map(&self) -> Result<Mapped, Stop> {
        match map(&self.index).map_err(|error| error.to_string())? {
            Some(bytes) => Ok(bytes),
            None if self.is_named => Err("there is no such file".into()),
            None => Err(Stop::Missing),
        }
    }

    /// Opens those, with META.
    pub(super) fn open<'b>(&self, bytes: &'b [u8]) -> Result<(Index<'b>, Meta), Stop> {
        let opened = Index::open(bytes)?;
        let now = input_of(&self.trace).map_err(|_| Unused::Copied)?;
        match fit(opened.input(), &now) {
            Fit::Same => {}
            // what lies between the samples may be other than it was, and nothing of the trace will be read that shows it
            Fit::Copied if self.is_named => {}
            Fit::Copied => return Err(Unused::Copied.into()),
            Fit::Other => {
                return Err(
                    "the trace has changed since, or the index belongs to another one".into()
                );
            }
        }
        let meta = Meta::read(&opened)?;
        Ok((opened, meta))
    }

    /// An index that was named is none.
    pub(super) fn refused(&self, found: String) -> Error {
        let input = self.index.display().to_string();
        ErrorKind::NotATrace { input, offset: 0, found, around: None }.into()
    }

    /// The trace was written to after the index was asked.
    pub(super) fn changed(&self) -> Error {
        let input = self.trace.display().to_string();
        ErrorKind::Changed { input, how: "was written to".to_owned() }.into()
    }

    /// Another one that is none was not used.
    pub(super) fn unused(&self, why: String) -> Warning {
        let (index, trace) = (self.index.display().to_string(), self.trace.display().to_string());
        Warning::IndexUnused { index, why, trace }
    }
}

/// Returns why no index is asked in a run over several inputs, if any of these has one.
///
/// # Errors
/// [`ErrorKind::Usage`] if an index was named.
pub(crate) fn index_unused(
    sources: &[Source],
    config: &Config,
) -> Result<Option<&'static str>, Error> {
    Candidate::of(sources, config)?;
    Ok(unused_of_several(sources, config).map(Unused::text))
}

/// Why indexes are not asked in a run over several inputs, if any of these has one.
pub(super) fn unused_of_several(sources: &[Source], config: &Config) -> Option<Unused> {
    if config.index != IndexUse::Auto {
        return None;
    }
    let inputs = input::expand(sources).ok()?;
    let any = inputs.len() > 1 && inputs.iter().any(|input| has_index(&input.source));
    any.then_some(Unused::Several)
}

/// Not a pipe, and no file of /proc, whose length says nothing.
pub(super) fn is_plain_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
}
