//! What is shown: all of the inputs in rows, or one trace by its index, which is made if there is none.

use crate::around::{around, event_at};
use crate::build::build;
use crate::indexed::Indexed;
use crate::model::Model;
use crate::stats;
use serde_json::Value;
use std::sync::Arc;
use tracemill_pipeline::{
    Cancel, Config, DrawnIndex, DrawnState, Error, ErrorClass, ErrorKind, IndexUse, Source, Warning,
};

/// Bytes of a trace that is worth an index: a smaller one is read as soon as an index would be.
const WORTH: u64 = 32 << 20;

/// The inputs, read.
pub(crate) enum Shown {
    Whole(Arc<Model>),
    Indexed(Box<Indexed>),
}

impl Shown {
    /// Reads the inputs, or the index of the one input. What the user should know comes beside it.
    pub(crate) fn read(sources: &[Source], config: &Config) -> Result<(Self, Vec<Warning>), Error> {
        let (index, warning) = indexed(sources, config)?;
        let shown = match index {
            Some(index) => Shown::Indexed(Box::new(index)),
            None => Shown::Whole(Arc::new(build(sources, config)?)),
        };
        let warnings = shown.whole().warnings().iter().cloned().chain(warning).collect();
        Ok((shown, warnings))
    }

    /// All of the trace; about, if it is that of an index.
    pub(crate) fn whole(&self) -> &Arc<Model> {
        match self {
            Shown::Whole(model) => model,
            Shown::Indexed(index) => index.whole(),
        }
    }

    /// The index, if calls of its CPU profiles are still to be worked out.
    pub(crate) fn without_calls(&self) -> Option<&Indexed> {
        match self {
            Shown::Indexed(index) if index.lacks_calls() => Some(index),
            _ => None,
        }
    }

    /// What there is in a window: to the last, or about where it has too many events for that.
    pub(crate) fn window(&self, window: (i64, i64), cancel: &Cancel) -> Result<Arc<Model>, Error> {
        match self {
            Shown::Whole(model) => Ok(Arc::clone(model)),
            Shown::Indexed(index) => index.window(window, cancel),
        }
    }

    /// As [`Shown::window`], for sums over what lies in it, which are worth some time.
    pub(crate) fn summed(&self, window: (i64, i64), cancel: &Cancel) -> Result<Arc<Model>, Error> {
        match self {
            Shown::Whole(model) => Ok(Arc::clone(model)),
            Shown::Indexed(index) => index.summed(window, cancel),
        }
    }

    /// How large a slice will be, about: as many bytes an event as the trace has on average, or as stretches of its text have.
    pub(crate) fn size(&self, (from, to): (i64, i64)) -> Result<(u64, u64), Error> {
        match self {
            Shown::Indexed(index) => index.size(from, to),
            Shown::Whole(model) => {
                let lanes: Vec<usize> = (0..model.lanes.len()).collect();
                let events = model.count(&lanes, from, to).min(model.told.events);
                let each = model.told.event_bytes as f64 / model.told.events.max(1) as f64;
                Ok((events, (events as f64 * (each + 2.0)) as u64))
            }
        }
    }

    /// Up to `most` bytes of the text of an event, and how long that is; nothing if none begins there.
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

    /// Ancestors of an event and arrows from and to it; nothing if there is no such event.
    pub(crate) fn around(
        &self,
        place: (usize, u16, i64),
        cancel: &Cancel,
    ) -> Result<Option<Value>, Error> {
        match self {
            Shown::Whole(model) => {
                let own = event_at(model, place).filter(|own| own.1.row == place.1);
                Ok(own.and_then(|own| around(model, own, |point| model.bound(point))))
            }
            Shown::Indexed(index) => index.around(place, cancel),
        }
    }

    /// The event nearest behind, or before, a time whose name holds a text: see [`stats::find`].
    pub(crate) fn find(
        &self,
        text: &str,
        wanted: (i64, bool, Option<u64>),
        cancel: &Cancel,
    ) -> Result<Value, Error> {
        let goes_on = || cancel.check().is_ok();
        let found = match self {
            Shown::Whole(model) => stats::find(model, text, wanted, &goes_on),
            Shown::Indexed(index) => Some(index.find(text, wanted, cancel)?),
        };
        found.ok_or_else(|| ErrorKind::Cancelled.into())
    }

    /// Whether the inputs still are what they were.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        match self {
            Shown::Whole(model) => model.check_unchanged(),
            Shown::Indexed(index) => index.index().check_unchanged(),
        }
    }
}

/// The index of the one input, made anew if need be.
fn indexed(
    sources: &[Source],
    config: &Config,
) -> Result<(Option<Indexed>, Option<Warning>), Error> {
    let [source] = sources else { return Ok((None, None)) };
    let bytes = source.path().metadata().map_or(0, |known| known.len());
    let mut state = DrawnIndex::open(source, config)?;
    let is_missing = matches!(state, DrawnState::Missing) && config.index == IndexUse::Auto;
    if is_missing && bytes >= WORTH && DrawnIndex::may_be_made(source) {
        if let Err(error) = DrawnIndex::make(source, config) {
            config.cancel.check()?;
            // a trace that cannot be read, or has no room in memory, is told by who reads it
            let is_told = error.class() == ErrorClass::System;
            let said = || format!("{source} has no index, and all of it was read: {error}");
            return Ok((None, is_told.then(|| Warning::Said(said()))));
        }
        state = DrawnIndex::open(source, config)?;
    }
    match state {
        DrawnState::Ready(index) => Ok((Indexed::new(*index, config)?, None)),
        _ => Ok((None, None)),
    }
}
