//! Decides how to show the inputs. A single trace is shown by its index, which is built if missing.
//! Other inputs are read completely.
//!
//! Several inputs are always read by the rules of a merge, into rows on disk (82 bytes per event).
//! They are not merged into a temporary file, because the page could then not show the original
//! texts, the input of each event, and damaged positions. The page names the command that merges
//! the inputs.
//!
//! Indexes of several inputs cannot be combined. They lack the data that decides which inputs are
//! of one recording (sampled times, id ranges; see `join/identity`). Besides, a begin event in one
//! input may have its end in another.

use crate::build::build;
use crate::indexed::Indexed;
use crate::model::Model;
use crate::tile::around::{EventAt, around, event_at};
use crate::tile::search::{self, SearchStart};
use crate::tracks::flows::InLane;
use serde_json::Value;
use std::sync::Arc;
use tracemill_index::drawing::Seen;
use tracemill_index::{DrawnIndex, DrawnState};
use tracemill_join::config::{Config, IndexUse};
use tracemill_join::read_plan::Unused;
use tracemill_join::report::warning::Warning;
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::limits::Cancel;
use tracemill_trace::time::windows::TimeSpan;
use tracemill_trace::{Error, ErrorKind, Source};

/// Minimum size in bytes of a trace that is shown by its index. A smaller trace is read just as
/// fast.
const WORTH: u64 = 32 << 20;

pub(crate) struct OpenedTrace {
    pub(crate) shown: Shown,
    pub(crate) warnings: Vec<Warning>,
    /// The reason why a large input was read completely.
    pub(crate) whole: Option<String>,
}

pub(crate) enum Shown {
    Whole(Arc<Model>),
    Indexed(Box<Indexed>),
}

impl Shown {
    /// Reads the inputs, or the index of the only input. While an index is built, `seen` collects
    /// the events read so far.
    pub(crate) fn read(
        sources: &[Source],
        seen: &Arc<Seen>,
        config: &Config,
    ) -> Result<OpenedTrace, Error> {
        let (shown, warning, whole) = match indexed(sources, seen, config)? {
            ToShow::Index(index, warning) => (Shown::Indexed(index), warning, None),
            ToShow::All(why, warning) => {
                let all = Shown::Whole(Arc::new(build(sources, config)?));
                let bytes = all.whole().inputs().iter().map(|input| input.bytes).sum::<u64>();
                (all, warning, Some(why).filter(|_| bytes >= WORTH))
            }
        };
        let warnings = shown.whole().warnings().iter().cloned().chain(warning).collect();
        Ok(OpenedTrace { shown, warnings, whole })
    }

    pub(crate) fn whole(&self) -> &Arc<Model> {
        match self {
            Shown::Whole(model) => model,
            Shown::Indexed(index) => index.whole(),
        }
    }

    /// Returns the indexed trace if its calls have not been computed yet.
    pub(crate) fn without_calls(&self) -> Option<&Indexed> {
        match self {
            Shown::Indexed(index) if index.lacks_calls() => Some(index),
            _ => None,
        }
    }

    /// Returns the model of a window. It is exact unless the window has too many events.
    pub(crate) fn window(&self, window: TimeSpan, cancel: &Cancel) -> Result<Arc<Model>, Error> {
        match self {
            Shown::Whole(model) => Ok(Arc::clone(model)),
            Shown::Indexed(index) => index.window(window, cancel),
        }
    }

    /// Returns a window for sums, which may take longer than [`Shown::window`].
    pub(crate) fn summed(&self, window: TimeSpan, cancel: &Cancel) -> Result<Arc<Model>, Error> {
        match self {
            Shown::Whole(model) => Ok(Arc::clone(model)),
            Shown::Indexed(index) => index.summed(window, cancel),
        }
    }

    /// Estimates the number of events and bytes of a slice, from average sizes in the whole trace
    /// or in the blocks of its index.
    pub(crate) fn size(&self, TimeSpan { from, to }: TimeSpan) -> Result<(u64, u64), Error> {
        match self {
            Shown::Indexed(index) => index.size(from, to),
            Shown::Whole(model) => {
                let lanes: Vec<usize> = (0..model.lanes.len()).collect();
                let events = model.count(&lanes, from, to).min(model.facts.events);
                let each = model.facts.event_bytes as f64 / model.facts.events.max(1) as f64;
                Ok((events, (events as f64 * (each + 2.0)) as u64))
            }
        }
    }

    /// Returns up to `most` bytes of an event's text, and its full length.
    pub(crate) fn event(
        &self,
        place: u64,
        most: usize,
        cancel: &Cancel,
    ) -> Result<Option<(Vec<u8>, u64)>, Error> {
        match self {
            Shown::Whole(model) => Ok(model.event(place, most)),
            Shown::Indexed(index) => index.event(place, most, cancel),
        }
    }

    /// Returns the drawn event at a position, with the model of a window that contains its start.
    pub(crate) fn event_at(
        &self,
        at: EventAt,
        cancel: &Cancel,
    ) -> Result<Option<(Arc<Model>, InLane)>, Error> {
        let model = self.window(TimeSpan::new(at.start, at.start.saturating_add(1)), cancel)?;
        let is_moved = matches!(self, Shown::Indexed(_));
        let event = event_at(&model, at).filter(|event| is_moved || event.1.row == at.row);
        Ok(event.map(|event| (model, event)))
    }

    pub(crate) fn around(&self, at: EventAt, cancel: &Cancel) -> Result<Option<Value>, Error> {
        match self {
            Shown::Whole(_) => {
                let found = self.event_at(at, cancel)?;
                let bound = |(model, event): (Arc<Model>, _)| {
                    around(&model, event, |point| model.bound(point))
                };
                Ok(found.and_then(bound))
            }
            Shown::Indexed(index) => index.around(at, cancel),
        }
    }

    /// Returns the nearest event whose name contains a text; see [`search::find`].
    pub(crate) fn find(
        &self,
        text: &str,
        from: SearchStart,
        cancel: &Cancel,
    ) -> Result<Value, Error> {
        let goes_on = || cancel.check().is_ok();
        let found = match self {
            Shown::Whole(model) => search::find(model, text, from, &goes_on),
            Shown::Indexed(index) => Some(index.find(text, from, cancel)?),
        };
        found.ok_or_else(|| ErrorKind::Cancelled.into())
    }

    /// Returns where the events are whose names contain a text; see [`search::matches`].
    pub(crate) fn matches(
        &self,
        text: &str,
        px: u32,
        current: Option<SearchStart>,
        cancel: &Cancel,
    ) -> Result<Value, Error> {
        let goes_on = || cancel.check().is_ok();
        let found = match self {
            Shown::Whole(model) => search::matches(model, text, px, current, &goes_on),
            Shown::Indexed(index) => Some(index.matches(text, px)?),
        };
        found.ok_or_else(|| ErrorKind::Cancelled.into())
    }

    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        match self {
            Shown::Whole(model) => model.check_unchanged(),
            Shown::Indexed(index) => index.index().check_unchanged(),
        }
    }
}

enum ToShow {
    Index(Box<Indexed>, Option<Warning>),
    /// All inputs must be read, for this reason.
    All(String, Option<Warning>),
}

/// Opens the index of the only input. Builds the index if it is missing.
fn indexed(sources: &[Source], seen: &Arc<Seen>, config: &Config) -> Result<ToShow, Error> {
    let all = |why: &str| Ok(ToShow::All(why.to_owned(), None));
    let [source] = sources else {
        return all(Unused::Several.text());
    };
    if config.index == IndexUse::Never {
        return all("no index was to be asked");
    }
    let mut found = (DrawnIndex::open(source, config)?, None);
    let is_missing = matches!(found.0, DrawnState::Missing) && config.index == IndexUse::Auto;
    let bytes = if is_missing { DrawnIndex::may_be_made(source) } else { None };
    if is_missing && bytes.is_none() {
        return all(Unused::Packed.text());
    }
    if bytes.is_some_and(|bytes| bytes >= WORTH) {
        found = match DrawnIndex::make(source, seen, config) {
            Ok(found) => found,
            Err(error) => {
                config.limits.cancel.check()?;
                // if the trace is unreadable or too large for the memory, reading it fails too and
                // reports the error
                let is_told = error.class() == ErrorClass::System;
                let text = || format!("{source} has no index, and all of it was read: {error}");
                let warning = is_told.then(|| Warning::Said(text()));
                return Ok(ToShow::All("it has no index".to_owned(), warning));
            }
        };
    }
    match found {
        (DrawnState::Ready(index), warning) => match Indexed::new(*index, config)? {
            Some(index) => Ok(ToShow::Index(Box::new(index), warning)),
            None => all("its index does not say enough of it"),
        },
        (DrawnState::Cannot(why), _) => all(why.text()),
        (DrawnState::Missing, _) => all("it has no index"),
    }
}
