//! Which index is asked about the one input of a run.

use super::fresh::{Fit, beside, fit, input_of, map, open};
use super::meta::Meta;
use crate::config::{Config, IndexUse};
use crate::warning::Warning;
use std::path::{Path, PathBuf};
use tracemill_core::error::{Error, ErrorKind};
use tracemill_core::source::Source;
use tracemill_index::Index;
use tracemill_tokenizer::Mapped;

/// An index that may be asked.
pub(super) struct Candidate {
    pub(super) trace: PathBuf,
    pub(super) index: PathBuf,
    /// Whether it was named: then it must be that of the trace.
    pub(super) is_named: bool,
}

impl Candidate {
    /// The one of a run over `sources`, if there may be one.
    pub(super) fn of(sources: &[Source], config: &Config) -> Option<Candidate> {
        let [Source::Path(path)] = sources else { return None };
        if !is_plain_file(path) {
            return None;
        }
        let (index, is_named) = match &config.index {
            IndexUse::Never => return None,
            IndexUse::Auto => (beside(path), false),
            IndexUse::File(index) => (index.clone(), true),
        };
        Some(Candidate { trace: path.clone(), index, is_named })
    }

    /// Its bytes; `None` if there is none. An error says what is wrong.
    pub(super) fn map(&self) -> Result<Option<Mapped>, String> {
        match map(&self.index).map_err(|error| error.to_string())? {
            None if self.is_named => Err("there is no such file".to_owned()),
            bytes => Ok(bytes),
        }
    }

    /// Opens those, with META; `None` if nobody knows whether it is that of the trace as it is now.
    pub(super) fn open<'b>(&self, bytes: &'b [u8]) -> Result<Option<(Index<'b>, Meta)>, String> {
        let opened = open(bytes).map_err(|error| error.to_string())?;
        let Ok(now) = input_of(&self.trace) else { return Ok(None) };
        match fit(opened.input(), &now) {
            Fit::Same => {}
            // what lies between the samples may be other than it was, and nothing of the trace will be read that shows it
            Fit::Copied if self.is_named => {}
            Fit::Copied => return Ok(None),
            Fit::Other => {
                return Err("the trace has changed since, or it is of another one".to_owned());
            }
        }
        let meta = Meta::read(&opened)?;
        Ok(Some((opened, meta)))
    }

    /// An index that was named is none.
    pub(super) fn refused(&self, found: String) -> Error {
        let input = self.index.display().to_string();
        ErrorKind::NotATrace { input, offset: 0, found, around: None }.into()
    }

    /// Another one that is none was not used.
    pub(super) fn unused(&self, why: String) -> Warning {
        let (index, trace) = (self.index.display().to_string(), self.trace.display().to_string());
        Warning::IndexUnused { index, why, trace }
    }
}

/// Not a pipe, and no file of /proc, whose length says nothing.
fn is_plain_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
}
