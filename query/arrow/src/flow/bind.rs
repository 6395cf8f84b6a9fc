//! Binds the points of flows to slices, and connects the slices of each flow.

use crate::slice::{Binding, FlowKey, FlowPoint, FlowStep, Length, Slice};
use std::iter::{Peekable, once};
use tracemill_trace::Error;
use tracemill_trace::order::{KeySorter, Keyed, SortedByKey};
use tracemill_trace::record;
use tracemill_trace::run::limits::Quota;

record! {
    /// A slice as an end of an arrow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct FlowSlice {
        id: i64,
        ts: i64,
    }
}

record! {
    /// A point of a flow with its slice.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct BoundPoint {
        flow: FlowKey,
        ts: i64,
        id: i64,
        slice: Option<FlowSlice>,
        step: FlowStep,
    }
}

impl Keyed for BoundPoint {
    type Key = (FlowKey, i64, i64);

    fn key(&self) -> Self::Key {
        (self.flow, self.ts, self.id)
    }
}

record! {
    /// An arrow from a slice to another.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Arrow {
        /// Id of the event at which the flow arrives.
        pub(super) id: i64,
        pub(super) slice_out: i64,
        pub(super) slice_in: i64,
    }
}

impl Keyed for Arrow {
    type Key = i64;

    fn key(&self) -> i64 {
        self.id
    }
}

/// A slice whose end is known.
struct OpenSlice {
    slice: FlowSlice,
    end: i64,
}

/// The slices of a track that are open at a time, in order of their begin.
struct OpenSlices {
    track: i64,
    open: Vec<OpenSlice>,
    quota: Quota,
}

impl OpenSlices {
    /// Returns the innermost slice at a time. Tracks and times do not descend.
    fn at(&mut self, track: i64, ts: i64) -> Option<FlowSlice> {
        if track != self.track {
            self.track = track;
            self.open.clear();
        }
        let is_over = |open: &mut OpenSlice| open.end <= ts && open.slice.ts != ts;
        while self.open.pop_if(is_over).is_some() {}
        self.open.last().map(|open| open.slice)
    }

    fn enter(&mut self, slice: &Slice) -> Result<(), Error> {
        self.at(slice.track, slice.ts);
        let end = match slice.length() {
            Length::Known { nearest, .. } => slice.ts.saturating_add_unsigned(nearest),
            Length::Missing => slice.ts,
            Length::Unended => self.open.last().map_or(i64::MAX, |parent| parent.end),
        };
        self.open.push(OpenSlice { slice: FlowSlice { id: slice.id(), ts: slice.ts }, end });
        self.quota.check((self.open.capacity() * size_of::<OpenSlice>()) as u64, "open slices")
    }
}

/// Binds points to slices. Both come by track and time.
pub(super) fn bind(
    points: &SortedByKey<FlowPoint>,
    slices: &SortedByKey<Slice>,
    bound: &mut KeySorter<BoundPoint>,
    quota: Quota,
) -> Result<(), Error> {
    let with = |binding| points.iter().filter(move |point| point.binding == binding).peekable();
    let [mut around, mut next] = [Binding::Around, Binding::Next].map(with);
    let mut open = OpenSlices { track: i64::MIN, open: Vec::new(), quota };
    for slice in slices.iter().map(Some).chain(once(None)) {
        let start = slice.map_or((i64::MAX, i64::MAX), |slice| (slice.track, slice.ts));
        let is_earlier = |point: &FlowPoint| (point.track, point.ts) < start;
        push_while(&mut around, is_earlier, bound, |point| open.at(point.track, point.ts))?;
        let is_up_to = |point: &FlowPoint| (point.track, point.ts) <= start;
        push_while(&mut next, is_up_to, bound, |point| {
            let slice = slice.filter(|slice| slice.track == point.track)?;
            Some(FlowSlice { id: slice.id(), ts: slice.ts })
        })?;
        if let Some(slice) = slice {
            open.enter(&slice)?;
        }
    }
    for FlowPoint { flow, ts, id, step, .. } in with(Binding::Event) {
        bound.push(BoundPoint { flow, ts, id, slice: Some(FlowSlice { id, ts }), step })?;
    }
    Ok(())
}

/// Binds the next points, as long as `is_next` holds.
fn push_while(
    points: &mut Peekable<impl Iterator<Item = FlowPoint>>,
    is_next: impl Fn(&FlowPoint) -> bool,
    bound: &mut KeySorter<BoundPoint>,
    mut slice_of: impl FnMut(&FlowPoint) -> Option<FlowSlice>,
) -> Result<(), Error> {
    while let Some(point) = points.next_if(&is_next) {
        let FlowPoint { flow, ts, id, step, .. } = point;
        bound.push(BoundPoint { flow, ts, id, slice: slice_of(&point), step })?;
    }
    Ok(())
}

/// Connects the slices of each flow. The points come by flow and time.
pub(super) fn connect(
    bound: &SortedByKey<BoundPoint>,
    arrows: &mut KeySorter<Arrow>,
) -> Result<(), Error> {
    let (mut flow, mut from): (_, Option<FlowSlice>) = (None, None);
    for point in bound.iter() {
        if flow.replace(point.flow) != Some(point.flow) {
            from = None;
        }
        let Some(to) = point.slice else { continue };
        if point.step != FlowStep::Begin {
            let Some(before) = from else { continue };
            let [first, last] = if before.ts > to.ts { [to, before] } else { [before, to] };
            arrows.push(Arrow { id: point.id, slice_out: first.id, slice_in: last.id })?;
        }
        if point.step != FlowStep::End {
            from = Some(to);
        }
    }
    Ok(())
}
