//! The next event of a name in a trace by its index: which stretches of the text have such names the index says; these are read, the
//! nearest first, until no other can have one that is nearer.

use crate::indexed::Indexed;
use crate::tile::stats::{self, SearchStart};
use crate::tracks::found::{EachChunk, Found};
use crate::tracks::names::holds;
use serde_json::Value;
use std::sync::Arc;
use tracemill_index::DrawnStretch;
use tracemill_join::input_set::InputSet;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Cancel;
use tracemill_trace::time::windows::TimeSpan;

/// Stretches that are looked for at a time, and that are read at a time.
const STRETCHES: usize = 4096;
const AT_ONCE: usize = 64;
/// The same of a packed trace, where much may have to be unpacked for each.
const AT_ONCE_PACKED: usize = 4;

/// A time as a number that is less where it is nearer.
fn rank(time: i64, forwards: bool) -> i64 {
    if forwards { time } else { time.saturating_neg() }
}

fn is_next(start: i64, place: u64, from: SearchStart) -> bool {
    let SearchStart { at, forwards, after } = from;
    let is_behind =
        (rank(start, forwards), place) > (rank(at, forwards), after.unwrap_or_default());
    is_behind || after.is_none() && start == at
}

impl Indexed {
    /// As [`stats::find`]. Cost: a look at all rows of the index, and the stretches between the time and the event.
    pub(crate) fn find(
        &self,
        text: &str,
        from: SearchStart,
        cancel: &Cancel,
    ) -> Result<Value, Error> {
        // calls stand in all windows, and in the whole
        let nearest = match self.nearest(text, from, cancel)? {
            Some((start, _)) => {
                self.window(TimeSpan::new(start, start.saturating_add(1)), cancel)?
            }
            None => Arc::clone(self.whole()),
        };
        let goes_on = || cancel.check().is_ok();
        Ok(stats::find(&nearest, text, from, &goes_on).unwrap_or_default())
    }

    /// The start and the place of the nearest event whose name holds a text.
    fn nearest(
        &self,
        text: &str,
        from: SearchStart,
        cancel: &Cancel,
    ) -> Result<Option<(i64, u64)>, Error> {
        let forwards = from.forwards;
        let names = stats::matching(self.whole(), text);
        let mut best: Option<(i64, u64)> = None;
        let look = |best: &mut Option<(i64, u64)>, start: i64, place: u64| {
            let key = (rank(start, forwards), place);
            if is_next(start, place, from) && best.is_none_or(|best| key < best) {
                *best = Some(key);
            }
        };
        self.index().spans(None, |span| {
            if span.name.is_some_and(|name| names.contains(&name)) {
                look(&mut best, span.start, span.place);
            }
            Ok(())
        })?;
        for own in self.special().iter().filter(|own| names.contains(&own.1.name)) {
            look(&mut best, own.1.start, own.1.place);
        }
        let ranked = |(least, greatest): (i64, i64)| match forwards {
            true => (greatest >= from.at).then_some(least),
            false => (least <= from.at).then(|| greatest.saturating_neg()),
        };
        let at_once = if self.index().is_packed() { AT_ONCE_PACKED } else { AT_ONCE };
        let mut beyond = None;
        loop {
            let is_wanted = |name: u32| names.contains(&name);
            let all = self.index().stretches_of(is_wanted, ranked, beyond, STRETCHES)?;
            for batch in all.chunks(at_once) {
                let nearest = batch.first().map(|own| own.key.0);
                if best.is_some_and(|best| nearest.is_none_or(|nearest| best.0 < nearest)) {
                    return Ok(unranked(best, forwards));
                }
                cancel.check()?;
                let mut look = |start, place| look(&mut best, start, place);
                self.look_at(batch, text, cancel, &mut look)?;
            }
            match all.last() {
                Some(last) if all.len() == STRETCHES => beyond = Some(last.key),
                _ => return Ok(unranked(best, forwards)),
            }
        }
    }

    /// Gives start and place of events whose names hold a text to `look`.
    fn look_at(
        &self,
        batch: &[DrawnStretch],
        text: &str,
        cancel: &Cancel,
        look: &mut impl FnMut(i64, u64),
    ) -> Result<(), Error> {
        let Some(plan) = self.index().stretches_plan(batch)? else {
            return match batch {
                [] | [_] => Err(self.index().one_piece()),
                // each may be unpacked by itself
                _ => batch.iter().try_for_each(|own| self.look_at(&[*own], text, cancel, look)),
            };
        };
        let config = self.config(cancel);
        let take = |found: Found, _| {
            let names = &found.labels.names;
            let is_one = |name: u32| holds(names.bytes_of(name), text.as_bytes());
            let spans = found.spans.iter().map(|own| (own.1.name, own.1.start, own.1.place));
            let marks = found.marks.iter().filter(|mark| matches!(mark.phase, b'B' | b'b' | b'S'));
            let marks = marks.map(|mark| (mark.name, mark.ts, mark.place));
            // samples of counters have no name
            let named = spans.chain(marks).filter(|span| span.0 != 0 && is_one(span.0));
            named.for_each(|(_, start, place)| look(start, place));
            Ok(())
        };
        InputSet::read_planned(&plan, &config, EachChunk(take)).map(drop)
    }
}

fn unranked(best: Option<(i64, u64)>, forwards: bool) -> Option<(i64, u64)> {
    best.map(|(key, place)| (rank(key, forwards), place))
}
