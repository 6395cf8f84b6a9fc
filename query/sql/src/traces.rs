//! The traces of a query, and what its scans report.

use datafusion::error::DataFusionError;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tracemill::engine::Query;
use tracemill_arrow::ScanEnd;
use tracemill_join::config::Config;
use tracemill_join::input_set::InputPlace;
use tracemill_trace::{Error, Source};

/// The traces of a query.
pub struct Traces {
    /// Sources that may be read any number of times.
    pub sources: Vec<Source>,
    /// New pids and clock offsets, by the number of the input.
    pub places: Vec<InputPlace>,
    /// Limits of the run.
    pub config: Config,
    /// A folder for temporary files.
    pub scratch: PathBuf,
    /// The result of the first scan that read all inputs to their ends.
    end: Mutex<Option<ScanEnd>>,
    /// The first error of a scan. DataFusion's errors hold it where it cannot be taken from.
    error: Mutex<Option<Error>>,
}

impl Traces {
    /// Creates the traces of a query.
    pub fn new(query: &Query<'_>) -> Self {
        Traces {
            sources: query.sources.to_vec(),
            places: query.places.to_vec(),
            config: query.config.clone(),
            scratch: query.scratch.to_owned(),
            end: Mutex::default(),
            error: Mutex::default(),
        }
    }

    /// Returns the first error of a scan, if any.
    pub fn take_error(&self) -> Option<Error> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps an error, and returns it for DataFusion.
    pub(crate) fn failed(&self, error: Error) -> DataFusionError {
        let text = error.to_string();
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        DataFusionError::External(text.into())
    }

    /// Keeps the result of the first complete scan.
    pub(crate) fn ended(&self, end: ScanEnd) {
        if end.is_complete {
            self.end.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(end);
        }
    }

    /// Returns the result of the first complete scan. Returns `None` if no scan was complete.
    pub fn take_end(&self) -> Option<ScanEnd> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.sources.iter().map(Source::to_string)).finish()
    }
}
