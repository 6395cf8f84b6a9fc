//! What is shown: all of the inputs in rows, or one trace by its index, which is made if there is none.
//!
//! Several inputs are read whole, by the rules of a merge, and kept as rows on disk: two of 512 MiB with 64 MiB of memory take 15 s of a
//! processor, 16 MiB of heap and 842 MiB of disk (82 bytes an event). To merge them to a temporary file first, and index that, takes as long (5 and 8 s) and 1,027 MiB
//! of disk, and then slices are there in 0.05 s that otherwise read all again. It is not done by itself, since the page would show other texts than the
//! inputs have (new pids, moved times), would not know which input an event is of, nor where an input is damaged. So the page says what was read, and which
//! command makes one file of them.
//!
//! Nor are the indexes of several inputs asked side by side. Which inputs are one recording is told by times of processes at random places and by ranges of
//! ids (`pipeline/identity`), which no index has: without them nobody knows which pids and ids are renamed. And in parts of one recording a begin in one
//! input may have its end in another, where each index has only pairs of its own.

use crate::build::build;
use crate::indexed::Indexed;
use crate::model::Model;
use crate::tile::around::{EventAt, around, event_at};
use crate::tile::stats::{self, SearchStart};
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

/// Bytes of a trace that is worth an index: a smaller one is read as soon as an index would be.
const WORTH: u64 = 32 << 20;

/// The inputs, read, and what the user should know of how.
pub(crate) struct OpenedTrace {
    pub(crate) shown: Shown,
    pub(crate) warnings: Vec<Warning>,
    /// Why all of it was read, if that took its time.
    pub(crate) whole: Option<String>,
}

/// The inputs, read.
pub(crate) enum Shown {
    Whole(Arc<Model>),
    Indexed(Box<Indexed>),
}

impl Shown {
    /// Reads the inputs, or the index of the one input. `seen` has what was seen so far while that index is made.
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
    pub(crate) fn window(&self, window: TimeSpan, cancel: &Cancel) -> Result<Arc<Model>, Error> {
        match self {
            Shown::Whole(model) => Ok(Arc::clone(model)),
            Shown::Indexed(index) => index.window(window, cancel),
        }
    }

    /// As [`Shown::window`], for sums over what lies in it, which are worth some time.
    pub(crate) fn summed(&self, window: TimeSpan, cancel: &Cancel) -> Result<Arc<Model>, Error> {
        match self {
            Shown::Whole(model) => Ok(Arc::clone(model)),
            Shown::Indexed(index) => index.summed(window, cancel),
        }
    }

    /// How large a slice will be, about: as many bytes an event as the trace has on average, or as stretches of its text have.
    pub(crate) fn size(&self, TimeSpan { from, to }: TimeSpan) -> Result<(u64, u64), Error> {
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
    pub(crate) fn around(&self, at: EventAt, cancel: &Cancel) -> Result<Option<Value>, Error> {
        match self {
            Shown::Whole(model) => {
                let own = event_at(model, at).filter(|own| own.1.row == at.row);
                Ok(own.and_then(|own| around(model, own, |point| model.bound(point))))
            }
            Shown::Indexed(index) => index.around(at, cancel),
        }
    }

    /// The event nearest behind, or before, a time whose name holds a text: see [`stats::find`].
    pub(crate) fn find(
        &self,
        text: &str,
        from: SearchStart,
        cancel: &Cancel,
    ) -> Result<Value, Error> {
        let goes_on = || cancel.check().is_ok();
        let found = match self {
            Shown::Whole(model) => stats::find(model, text, from, &goes_on),
            Shown::Indexed(index) => Some(index.find(text, from, cancel)?),
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

/// What of the inputs is shown.
enum ToShow {
    Index(Box<Indexed>, Option<Warning>),
    /// All of them, and why.
    All(String, Option<Warning>),
}

/// The index of the one input, made anew if need be.
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
            Ok(made) => made,
            Err(error) => {
                config.limits.cancel.check()?;
                // a trace that cannot be read, or has no room in memory, is told by who reads it
                let is_told = error.class() == ErrorClass::System;
                let said = || format!("{source} has no index, and all of it was read: {error}");
                let warning = is_told.then(|| Warning::Said(said()));
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
