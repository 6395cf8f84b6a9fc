//! Maps events to tracks and names.

use super::lanes::{LaneKind, LaneTable};
use super::text::{NAME_MOST, cut};
use tracemill_tokenizer::{Event, Field, members, number_text, parse, string_is};
use tracemill_trace::event::names::Names;
use tracemill_trace::json::{content, member};

/// Maximum number of series drawn per counter.
const SERIES_MOST: usize = 16;

/// Members of `args.data` of Chrome's `UpdateCounters`, with the names of their tracks.
const PAGE_COUNTERS: [(&[u8], &[u8]); 4] = [
    (b"jsHeapSizeUsed", b"JS heap\xFF\"value\""),
    (b"nodes", b"DOM nodes\xFF\"value\""),
    (b"jsEventListeners", b"Listeners\xFF\"value\""),
    (b"documents", b"Documents\xFF\"value\""),
];

/// The shape that an event is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A slice of one event.
    Complete,
    /// An instant on a track of this kind.
    Moment(LaneKind),
    /// The begin of a slice on a track of this kind.
    Begin(LaneKind),
    /// The end of a slice on a track of this kind.
    End(LaneKind),
    /// The samples of a counter's series.
    Samples,
    /// A step of a flow.
    Flow,
    /// No shape: the event is not drawn.
    None,
}

impl Shape {
    /// Returns the shape of events of a phase.
    #[inline]
    pub fn of(phase: u8) -> Self {
        match phase {
            b'X' => Shape::Complete,
            b'i' | b'I' | b'R' => Shape::Moment(LaneKind::Thread),
            b'n' => Shape::Moment(LaneKind::Async),
            b'B' => Shape::Begin(LaneKind::Thread),
            b'E' => Shape::End(LaneKind::Thread),
            b'b' | b'S' => Shape::Begin(LaneKind::Async),
            b'e' | b'F' => Shape::End(LaneKind::Async),
            b'C' => Shape::Samples,
            b's' | b't' | b'f' => Shape::Flow,
            _ => Shape::None,
        }
    }
}

/// Returns whether an instant event is Chrome's `UpdateCounters`, which has counters of a page.
#[inline]
pub fn is_page_counters(event: &Event<'_>) -> bool {
    event.field(Field::Name) == Some(b"\"UpdateCounters\"")
}

/// Tracks and names of some events, numbered in order of appearance.
#[derive(Default)]
pub struct Labels {
    /// Names; number 0 is for events without a name.
    pub names: Names,
    /// Tracks: threads, categories of async operations, and series of counters.
    pub lanes: LaneTable,
    scratch: Vec<u8>,
}

impl Labels {
    /// Returns the number of an event's name. Long names are cut to [`NAME_MOST`] bytes.
    #[inline]
    pub fn name(&mut self, event: &Event<'_>) -> u32 {
        let Some(value) = event.field(Field::Name).filter(|value| *value != b"null") else {
            return 0;
        };
        let text = content(value, &mut self.scratch);
        if text.len() <= NAME_MOST {
            return self.names.number(text);
        }
        let mut short = cut(text).to_vec();
        short.extend_from_slice("…".as_bytes());
        self.names.number(&short)
    }

    /// Returns the number of an event's track; for counters use [`Labels::samples`].
    #[inline]
    pub fn lane(&mut self, event: &Event<'_>, kind: LaneKind) -> u32 {
        let pid = event.field(Field::Pid).unwrap_or_default();
        let track = match kind {
            LaneKind::Async => event.field(Field::Cat).unwrap_or_default(),
            _ => event.field(Field::Tid).unwrap_or_default(),
        };
        self.lanes.number(kind, pid, track)
    }

    /// Passes track and value of each counter of a page to `visit`, if the event is Chrome's
    /// `UpdateCounters`.
    #[inline]
    pub fn page_samples(&mut self, event: &Event<'_>, mut visit: impl FnMut(u32, f64)) {
        if !is_page_counters(event) {
            return;
        }
        let args = event.field(Field::Args).unwrap_or_default();
        let Some(data) = member(args, b"data").filter(|data| data.first() == Some(&b'{')) else {
            return;
        };
        let pid = event.field(Field::Pid).unwrap_or_default();
        for (key, value) in members(data) {
            let Some((_, track)) = PAGE_COUNTERS.iter().find(|(known, _)| string_is(key, known))
            else {
                continue;
            };
            if let Some(value) = number_text(value, &mut self.scratch).and_then(parse::<f64>) {
                visit(self.lanes.number(LaneKind::Counter, pid, track), value);
            }
        }
    }

    /// Passes track and value of each series of a counter to `visit`. Returns false if the event's
    /// args are not an object.
    pub fn samples(&mut self, event: &Event<'_>, mut visit: impl FnMut(u32, f64)) -> bool {
        let args = event.field(Field::Args).unwrap_or_default();
        if args.first() != Some(&b'{') {
            return false;
        }
        let pid = event.field(Field::Pid).unwrap_or_default();
        let name = content(event.field(Field::Name).unwrap_or_default(), &mut self.scratch);
        let mut track = cut(name).to_vec();
        if let Some(id) = event.field(Field::Id) {
            track.push(b' ');
            track.extend_from_slice(id);
        }
        let end = track.len();
        for (key, value) in members(args).take(SERIES_MOST) {
            let Some(value) = number_text(value, &mut self.scratch).and_then(parse::<f64>) else {
                continue;
            };
            track.truncate(end);
            track.push(0xFF);
            track.extend_from_slice(cut(key));
            visit(self.lanes.number(LaneKind::Counter, pid, &track), value);
        }
        true
    }
}
