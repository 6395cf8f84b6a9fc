//! Finds the next event with a name, in a trace that is shown by its index. The index returns the
//! byte ranges that contain the name. The ranges are read from the nearest on, until no other range
//! can contain a nearer event.

use crate::indexed::Indexed;
use crate::tile::search::{self, SearchStart};
use crate::tracks::Grid;
use crate::tracks::found::{EachChunk, Found};
use crate::tracks::names::holds;
use serde_json::{Value, json};
use std::sync::Arc;
use tracemill_index::DrawnStretch;
use tracemill_join::input_set::InputSet;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Cancel;
use tracemill_trace::time::windows::TimeSpan;

/// Maximum number of ranges that are requested from the index at once.
const STRETCHES: usize = 4096;
/// Maximum number of ranges whose pixel columns are returned.
const MARKED: usize = 1 << 20;
/// Maximum number of ranges that are read from the trace at once.
const AT_ONCE: usize = 64;
/// Maximum number of ranges that are read at once from a compressed trace, where each may need much
/// decompression.
const AT_ONCE_PACKED: usize = 4;

/// Maps a time to a number that grows in the direction of the search.
fn rank(time: i64, forwards: bool) -> i64 {
    if forwards { time } else { time.saturating_neg() }
}

impl Indexed {
    /// Finds the nearest event with a text in its name, like [`search::find`]. Cost: a pass over the
    /// rows of the index, and over the ranges between the time and the event.
    pub(crate) fn find(
        &self,
        text: &str,
        from: SearchStart,
        cancel: &Cancel,
    ) -> Result<Value, Error> {
        // every window contains the calls
        let nearest = match self.nearest(text, from, cancel)? {
            Some(start) => self.window(TimeSpan::new(start, start.saturating_add(1)), cancel)?,
            None => Arc::clone(self.whole()),
        };
        let goes_on = || cancel.check().is_ok();
        Ok(search::find(&nearest, text, from, &goes_on).unwrap_or_default())
    }

    /// Returns how many events match, and the pixel columns of the ranges that contain a match.
    /// Cost: a pass over the rows of the index.
    pub(crate) fn matches(&self, text: &str, px: u32) -> Result<Value, Error> {
        let names = search::matching(self.whole(), text);
        let sums = &self.whole().sums;
        let count: u64 = names.iter().map(|&name| sums[name as usize].count).sum();
        let bounds = self.whole().bounds;
        let grid = Grid { from: bounds.start, to: bounds.end, px, exact: false };
        let mut marked = vec![false; px as usize];
        let mut mark = |first: i64, last: i64| {
            let (first, last) = (grid.column(first) as usize, grid.column(last) as usize);
            marked[first..=last.max(first)].fill(true);
        };
        self.index().spans(None, |span| {
            if span.name.is_some_and(|name| names.contains(&name)) {
                mark(span.start, span.start);
            }
            Ok(())
        })?;
        let (is_wanted, by_start) =
            (|name: u32| names.contains(&name), |times: (i64, i64)| Some(times.0));
        let ranges = match names.is_empty() {
            true => Vec::new(),
            false => self.index().stretches_of(is_wanted, by_start, None, MARKED)?,
        };
        ranges.iter().for_each(|range| mark(range.times.0, range.times.1));
        let columns: Vec<u32> = (0..px).filter(|&at| marked[at as usize]).collect();
        Ok(json!({ "count": count, "columns": columns, "rank": null }))
    }

    fn nearest(
        &self,
        text: &str,
        from: SearchStart,
        cancel: &Cancel,
    ) -> Result<Option<i64>, Error> {
        let forwards = from.forwards;
        let names = search::matching(self.whole(), text);
        let mut best = None;
        let look = |best: &mut Option<_>, start: i64, place: u64| {
            // the offset of an event differs from that of all others
            let place = match forwards {
                true => (start, place, 0, 0),
                false => (start, place, usize::MAX, u16::MAX),
            };
            if from.precedes(place) && best.is_none_or(|best| from.prefers(place, best)) {
                *best = Some(place);
            }
        };
        self.index().spans(None, |span| {
            if span.name.is_some_and(|name| names.contains(&name)) {
                look(&mut best, span.start, span.place);
            }
            Ok(())
        })?;
        for special in self.special().iter().filter(|special| names.contains(&special.1.name)) {
            look(&mut best, special.1.start, special.1.place);
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
                let nearest = batch.first().map(|range| range.key.0);
                let is_far = |start| nearest.is_none_or(|nearest| rank(start, forwards) < nearest);
                if best.is_some_and(|best| is_far(best.0)) {
                    return Ok(best.map(|best| best.0));
                }
                cancel.check()?;
                let mut look = |start, place| look(&mut best, start, place);
                self.look_at(batch, text, cancel, &mut look)?;
            }
            match all.last() {
                Some(last) if all.len() == STRETCHES => beyond = Some(last.key),
                _ => return Ok(best.map(|best| best.0)),
            }
        }
    }

    /// Passes the start and the offset of each event whose name contains `text` to `look`.
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
                // several ranges may exceed a limit of decompression that a single range does not
                _ => batch.iter().try_for_each(|range| self.look_at(&[*range], text, cancel, look)),
            };
        };
        let config = self.config(cancel);
        let take = |found: Found, _| {
            let names = &found.labels.names;
            let is_one = |name: u32| holds(names.bytes_of(name), text.as_bytes());
            let spans =
                found.spans.iter().map(|timed| (timed.1.name, timed.1.start, timed.1.place));
            let marks = found.marks.iter().filter(|mark| matches!(mark.phase, b'B' | b'b' | b'S'));
            let marks = marks.map(|mark| (mark.name, mark.ts, mark.place));
            // a sample of a counter has no name
            let named = spans.chain(marks).filter(|span| span.0 != 0 && is_one(span.0));
            named.for_each(|(_, start, place)| look(start, place));
            Ok(())
        };
        InputSet::read_planned(&plan, &config, EachChunk(take)).map(drop)
    }
}
