//! The traces of a query, and what its scans report.

use datafusion::error::DataFusionError;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tracemill::engine::Query;
use tracemill_arrow::ScanEnd;
use tracemill_index::{IndexedEvents, events_plan, indexed_events, info};
use tracemill_inspect::info::{InfoConfig, InfoReport};
use tracemill_join::config::Config;
use tracemill_join::input_set::InputPlace;
use tracemill_join::read_plan::{IndexFile, IndexOutcome, Planned, ReadPlan, Stop};
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
    /// Whether only the plan is wanted.
    pub explain: bool,
    /// Start and end of the trace that the inputs are together, once they are known.
    bounds: Mutex<Option<Option<(i64, i64)>>>,
    /// The facts of an index about all events, if a plan may use them instead of a scan.
    known: Mutex<Option<IndexedEvents>>,
    /// Whether any scan began.
    is_scanned: AtomicBool,
    /// How an index was used.
    index: Mutex<IndexOutcome>,
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
            explain: query.explain,
            bounds: Mutex::default(),
            known: Mutex::default(),
            is_scanned: AtomicBool::new(false),
            index: Mutex::default(),
            end: Mutex::default(),
            error: Mutex::default(),
        }
    }

    /// Returns the first error of a scan, if any.
    pub fn take_error(&self) -> Option<Error> {
        locked(&self.error).take()
    }

    /// Keeps an error, and returns it for DataFusion.
    pub(crate) fn failed(&self, error: Error) -> DataFusionError {
        let text = error.to_string();
        locked(&self.error).get_or_insert(error);
        DataFusionError::External(text.into())
    }

    /// Keeps the result of the first complete scan.
    pub(crate) fn ended(&self, end: ScanEnd) {
        if end.is_complete {
            locked(&self.end).get_or_insert(end);
        }
    }

    /// Returns the result of the first complete scan, or of an index that answered without a scan.
    /// Returns an empty result if there is neither.
    ///
    /// # Errors
    /// Returns an error if the trace was written to after its index was read.
    pub fn take_end(&self) -> Result<ScanEnd, Error> {
        if let Some(end) = locked(&self.end).take() {
            return Ok(end);
        }
        match locked(&self.known).take() {
            Some(IndexedEvents { input, file, .. }) if !self.is_scanned.load(Relaxed) => {
                file.check_unchanged()?;
                self.used(&file, 0);
                Ok(ScanEnd { inputs: vec![input], ..ScanEnd::default() })
            }
            _ => Ok(ScanEnd::default()),
        }
    }

    /// Returns the report of `info` on some sources with the `top` longest gaps, by an index if
    /// possible.
    ///
    /// # Errors
    /// Returns the errors of [`info`].
    pub(crate) fn info(&self, sources: &[Source], top: usize) -> Result<InfoReport, Error> {
        let wanted = InfoConfig { top, full: false, self_times: false };
        let report = info(sources, &wanted, &self.config)?;
        if let Some(index) = &report.index {
            locked(&self.index).used = Some((index.clone(), 0));
        }
        Ok(report)
    }

    /// Returns start and end of the trace that the inputs are together, in nanoseconds. Returns
    /// `None` if no event has a time. Reads the inputs at the first call only.
    ///
    /// # Errors
    /// Returns the errors of [`info`].
    pub(crate) fn bounds(&self) -> Result<Option<(i64, i64)>, Error> {
        let mut known = locked(&self.bounds);
        if let Some(bounds) = *known {
            return Ok(bounds);
        }
        let InfoReport { start_ns, end_ns, inputs, warnings, .. } = self.info(&self.sources, 0)?;
        self.ended(ScanEnd { inputs, warnings, is_complete: true });
        Ok(*known.insert(start_ns.zip(end_ns)))
    }

    /// Returns how an index was used.
    pub fn take_index(&self) -> IndexOutcome {
        std::mem::take(&mut *locked(&self.index))
    }

    /// Notes that a scan begins.
    pub(crate) fn opened(&self) {
        self.is_scanned.store(true, Relaxed);
    }

    /// Notes that an index was used, and the number of event bytes that were read with it.
    pub(crate) fn used(&self, file: &IndexFile, bytes: u64) {
        locked(&self.index).used = Some((file.index.clone(), bytes));
    }

    /// Returns the facts of an index about all events.
    ///
    /// # Errors
    /// Returns an error if a named index does not match its trace.
    pub(crate) fn indexed_events(&self) -> Result<Option<IndexedEvents>, Error> {
        let events = self.answer(indexed_events(&self.sources, &self.config)?);
        locked(&self.known).clone_from(&events);
        Ok(events)
    }

    /// Plans to read only the events in a range of time, if an index allows that.
    ///
    /// # Errors
    /// Returns an error if a named index does not match its trace.
    pub(crate) fn plan(&self, times: &RangeInclusive<i64>) -> Result<Option<ReadPlan>, Error> {
        Ok(self.answer(events_plan(&self.sources, times, &self.config)?))
    }

    /// Describes the part of the trace that a plan for a range of time reads.
    ///
    /// # Errors
    /// Returns the errors of [`Traces::plan`].
    pub(crate) fn reads_of_plan(&self, times: &RangeInclusive<i64>) -> Result<String, Error> {
        Ok(match events_plan(&self.sources, times, &self.config)? {
            Planned::Plan(plan) => {
                format!("{} of {} bytes, by the index", plan.bytes, plan.report.bytes)
            }
            Planned::Scan(IndexOutcome { unused: Some(why), .. }) => format!("all, because {why}"),
            Planned::Scan(_) => String::new(),
        })
    }

    /// Notes that a trace differs from its index.
    ///
    /// # Errors
    /// Returns an error if the index was named.
    pub(crate) fn reject(&self, plan: &ReadPlan) -> Result<(), Error> {
        *locked(&self.index) = plan.reject(Stop::changed(), &self.config.limits)?;
        Ok(())
    }

    /// Returns the answer of an index, or notes why there is none.
    fn answer<T>(&self, planned: Planned<T>) -> Option<T> {
        match planned {
            Planned::Plan(answer) => Some(answer),
            Planned::Scan(outcome) => {
                *locked(&self.index) = outcome;
                None
            }
        }
    }
}

/// Locks a value. A panic elsewhere does not make it unusable.
pub(crate) fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.sources.iter().map(Source::to_string)).finish()
    }
}
