//! Events of the tracks that DevTools draws above the threads: frames, user timings, animations,
//! screenshots, and the counters of page processes.
//!
//! The scan collects them as records of one size, which move to disk beyond their lease. Reports
//! pair and sum them.

use crate::value::Value;
use crate::value::clock::Clock;
use crate::value::record::ChunkPosition;
use crate::value::typed::{Object, decode_short, object, parse};
use memchr::memmem;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::Error;
use tracemill_trace::event::KeyHash;
use tracemill_trace::event::names::Names;
use tracemill_trace::observe::EventRef;
use tracemill_trace::record;
use tracemill_trace::spill::{SpillVec, SpilledVec};

/// The part of an event in DevTools' tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrackKind {
    /// A begin, step or end of `performance.measure`.
    Measure,
    /// A begin, step or end of `console.time`.
    ConsoleTime,
    /// A begin, step or end of an animation.
    Animation,
    /// A `performance.mark`.
    Mark,
    /// A `console.timeStamp`.
    TimeStamp,
    /// A screenshot.
    Screenshot,
    /// Counters of a page process: heap, nodes, listeners, documents.
    Counters,
    /// Names the layer tree of a frame.
    SetLayerTree,
    /// A frame begins in the compositor.
    BeginFrame,
    /// A frame is dropped.
    DropFrame,
    /// A frame is drawn.
    DrawFrame,
    /// The compositor asks the main thread for a frame.
    RequestFrame,
    /// The compositor begins or stops to need frames.
    NeedsFrame,
    /// A layer tree becomes active.
    Activate,
    /// The main thread commits a frame.
    Commit,
    /// An event that shows that the main thread works on a frame.
    MainFrame,
}

record! {
    enum TrackKind {
        Measure, ConsoleTime, Animation, Mark, TimeStamp, Screenshot, Counters, SetLayerTree, BeginFrame, DropFrame, DrawFrame,
        RequestFrame, NeedsFrame, Activate, Commit, MainFrame,
    }
}

/// Names in the category of user timings that come from Chrome, not from scripts.
const TIMINGS_OF_CHROME: [&[u8]; 23] = [
    b"workerStart",
    b"redirectStart",
    b"redirectEnd",
    b"fetchStart",
    b"domainLookupStart",
    b"domainLookupEnd",
    b"connectStart",
    b"connectEnd",
    b"secureConnectionStart",
    b"requestStart",
    b"responseStart",
    b"responseEnd",
    b"navigationStart",
    b"unloadEventStart",
    b"unloadEventEnd",
    b"commitNavigationEnd",
    b"domLoading",
    b"domInteractive",
    b"domContentLoadedEventStart",
    b"domContentLoadedEventEnd",
    b"domComplete",
    b"loadEventStart",
    b"loadEventEnd",
];

impl TrackKind {
    /// Returns the kind of events with this name and categories, if their phase and `args` are
    /// right too.
    pub(crate) fn of(name: &[u8], cats: &[u8]) -> Option<Self> {
        let is_of_scripts = || !TIMINGS_OF_CHROME.contains(&name);
        Some(match name {
            _ if cats == b"blink.user_timing" => return is_of_scripts().then_some(Self::Measure),
            _ if cats == b"blink.console" => Self::ConsoleTime,
            b"Animation" if memmem::find(cats, b"devtools.timeline").is_some() => Self::Animation,
            b"TimeStamp" => Self::TimeStamp,
            b"Screenshot" => Self::Screenshot,
            b"UpdateCounters" => Self::Counters,
            b"SetLayerTreeId" => Self::SetLayerTree,
            b"BeginFrame" => Self::BeginFrame,
            b"DroppedFrame" => Self::DropFrame,
            b"DrawFrame" => Self::DrawFrame,
            b"RequestMainThreadFrame" => Self::RequestFrame,
            b"NeedsBeginFrameChanged" => Self::NeedsFrame,
            b"ActivateLayerTree" => Self::Activate,
            b"Commit" | b"CompositeLayers" => Self::Commit,
            b"ScheduleStyleRecalculation"
            | b"InvalidateLayout"
            | b"BeginMainThreadFrame"
            | b"ScrollLayer" => Self::MainFrame,
            _ => return None,
        })
    }

    /// Returns whether the event is a part of an asynchronous operation.
    pub fn is_paired(self) -> bool {
        matches!(self, Self::Measure | Self::ConsoleTime | Self::Animation)
    }

    /// Returns whether frames are made of such events.
    pub fn is_of_frames(self) -> bool {
        self >= Self::SetLayerTree
    }

    /// Returns the kind of an event with this phase, if DevTools uses the event.
    fn with_phase(self, phase: u8) -> Option<Self> {
        match self {
            Self::Measure if matches!(phase, b'R' | b'I') => Some(Self::Mark),
            _ if self.is_paired() => matches!(phase, b'b' | b'e' | b'n').then_some(self),
            Self::TimeStamp | Self::DrawFrame | Self::Counters => (phase == b'I').then_some(self),
            Self::Screenshot => Some(self),
            _ => matches!(phase, b'X' | b'I' | b'B' | b'E').then_some(self),
        }
    }
}

/// Flags of a [`TrackEvent`].
pub mod flag {
    /// The dropped frame has a partial update, or the compositor needs frames.
    pub const IS_SET: u8 = 1;
    /// The time stamp has a start.
    pub const STARTS: u8 = 2;
    /// The time stamp has an end.
    pub const ENDS: u8 = 4;
    /// The timing is a marker of an extension.
    pub const MARKER: u8 = 8;
    /// The timing is an entry of an extension's track.
    pub const ENTRY: u8 = 16;
    /// The timing has data of an extension, so the track Timings does not show it.
    pub const EXTENSION: u8 = 32;
}

record! {
    /// An event of a track. Times are microseconds.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct TrackEvent {
        /// Kind of the event.
        pub kind: TrackKind,
        /// The `ph`.
        pub phase: u8,
        /// [Flags](flag) of the event.
        pub flags: u8,
        /// Index of the input.
        pub input: u32,
        /// Index of the track of the event's thread; [`NO_LANE`] for asynchronous events.
        pub lane: u32,
        /// Number of the event among all.
        pub number: u64,
        /// Start.
        pub ts: f64,
        /// Duration; 0 if missing.
        pub dur: f64,
        /// Identifies the asynchronous operation within its input.
        pub id: [u64; 2],
        /// Number of the text of the name; of [`TrackKind::SetLayerTree`] the frame's id.
        pub name: u32,
        /// Numbers of the texts of an extension's track and of the group of the track.
        pub track: [u32; 2],
        /// Numbers of the names of the time stamps at which this one starts and ends.
        pub edges: [u32; 2],
        /// Start and end of a time stamp, if they are numbers; layer tree and number of a frame;
        /// the values of counters; or the offset of a screenshot. NaN if missing.
        pub values: [f64; 4],
    }
}

/// Value of [`TrackEvent::lane`] without a thread.
pub const NO_LANE: u32 = u32::MAX;

object! {
    struct FrameArgs { layer_tree_id, frame_seq_id, has_partial_update, data: Object<FrameData> }

    struct FrameData { frame, layer_tree_id, needs_begin_frame }

    struct TimingArgs { detail, data: Object<TimingData> }

    struct TimingData { detail, name, message, start, end, track, track_group, display_name }

    struct Detail { devtools: Object<Extension> }

    struct Extension { track, track_group, data_type, url, description }

    struct CounterArgs { data: Object<CounterData> }

    struct CounterData { #[serde(rename = "jsHeapSizeUsed")] heap, nodes, #[serde(rename = "jsEventListeners")] listeners, documents }

    struct LocalId { global, local }

}

/// Where an event is: its thread, time and position in the chunk.
#[derive(Clone, Copy)]
pub(crate) struct TrackPlace {
    pub(crate) lane: u32,
    pub(crate) ts: f64,
    pub(crate) dur: f64,
    pub(crate) number: u64,
}

impl TrackEvent {
    /// Reads an event whose name and categories have a kind. `name` is the number of its name.
    pub(crate) fn of(
        event: &Event<'_>,
        kind: TrackKind,
        place: TrackPlace,
        name: u32,
        names: &mut Names,
    ) -> Option<Self> {
        let phase = event.phase();
        let kind = kind.with_phase(phase)?;
        let TrackPlace { lane, ts, dur, number } = place;
        let (track, edges, values) = ([0; 2], [0; 2], [f64::NAN; 4]);
        let (flags, input, id) = (0, 0, [0; 2]);
        let mut read = TrackEvent {
            kind,
            phase,
            flags,
            input,
            lane,
            number,
            ts,
            dur,
            id,
            name,
            track,
            edges,
            values,
        };
        let args = event.field(Field::Args).unwrap_or_default();
        match kind {
            TrackKind::MainFrame => {}
            TrackKind::Screenshot => {
                let is_new = || memmem::find(args, b"\"source_id\"").is_some();
                (event.field(Field::Id).is_some() || is_new()).then_some(())?;
            }
            TrackKind::Counters => {
                let data = decode_short::<CounterArgs>(args).data.0?;
                let values = [data.heap, data.nodes, data.listeners, data.documents];
                read.values = values.map(|value| value.number().unwrap_or(f64::NAN));
            }
            TrackKind::TimeStamp => read.read_stamp(args, names),
            _ if kind.is_of_frames() => read.read_frame(args, names)?,
            _ => read.read_timing(event, args, names)?,
        }
        Some(read)
    }

    /// Keeps the offset of a screenshot, if it is that of the event at `at`.
    pub(crate) fn note_offset(&mut self, at: &EventRef) {
        if self.kind == TrackKind::Screenshot && self.number == at.number {
            self.values[0] = at.offset as f64;
        }
    }

    /// Reads the `args` of an event of frames. Returns `None` if DevTools ignores the event.
    fn read_frame(&mut self, args: &[u8], names: &mut Names) -> Option<()> {
        let FrameArgs { layer_tree_id, frame_seq_id, has_partial_update, data } =
            decode_short(args);
        let data = data.0.unwrap_or_default();
        let number = |value: &Value| match value {
            Value::Number(number) => *number,
            _ => f64::NAN,
        };
        self.values[..2].copy_from_slice(&[number(&layer_tree_id), number(&frame_seq_id)]);
        let is_set = match self.kind {
            TrackKind::SetLayerTree => {
                self.values[0] = number(&data.layer_tree_id);
                self.name = names.number(data.frame.text()?);
                false
            }
            TrackKind::NeedsFrame => data.needs_begin_frame.is_true(),
            _ => has_partial_update.is_true(),
        };
        self.flags = u8::from(is_set) * flag::IS_SET;
        let needs_number = matches!(self.kind, TrackKind::BeginFrame | TrackKind::DropFrame)
            || self.kind == TrackKind::Commit && names.bytes_of(self.name) == b"Commit";
        (!needs_number || frame_seq_id != Value::Missing).then_some(())
    }

    fn read_stamp(&mut self, args: &[u8], names: &mut Names) {
        let data = decode_short::<TimingArgs>(args).data.0;
        self.name = names.number(b"(name unknown)");
        let Some(data) = data else { return };
        self.name = names.number(&data.name.or(&data.message).template());
        let edges = [(&data.start, flag::STARTS), (&data.end, flag::ENDS)];
        for (at, (edge, flag)) in edges.into_iter().enumerate() {
            if edge.is_true() {
                self.flags |= flag;
            }
            match edge {
                Value::Number(number) => self.values[at] = *number,
                edge => self.edges[at] = names.number(&edge.template()),
            }
        }
        if data.track.is_true() {
            self.flags |= flag::ENTRY | flag::EXTENSION;
            self.set_track(&data.track, &data.track_group, names);
        }
    }

    fn set_track(&mut self, track: &Value, group: &Value, names: &mut Names) {
        let group = group.truthy().map_or(0, |group| names.number(&group.template()));
        self.track = [names.number(&track.template()), group];
    }

    /// Reads the operation and the extension's data of a user timing, `console.time` or animation.
    /// Returns `None` if an asynchronous event has no id.
    fn read_timing(&mut self, event: &Event<'_>, args: &[u8], names: &mut Names) -> Option<()> {
        if self.kind.is_paired() {
            let mut id = KeyHash::<2>::new(self.kind as u8);
            id.opaque(&operation(event)?);
            id.field(event, Field::Cat);
            id.field(event, Field::Name);
            self.id = id.finish();
            if self.phase != b'b' || self.kind == TrackKind::ConsoleTime {
                return Some(());
            }
        }
        let TimingArgs { detail, data } = decode_short(args);
        let data = data.0.unwrap_or_default();
        if self.kind == TrackKind::Animation {
            if let Some(name) = data.display_name.truthy() {
                self.name = names.number(&name.template());
            }
            return Some(());
        }
        let detail = if self.kind == TrackKind::Mark { &data.detail } else { &detail };
        let extension = detail.text().and_then(|text| parse::<Object<Detail>>(text).0?.devtools.0);
        let Some(Extension { track, track_group, data_type, url, description }) = extension else {
            return Some(());
        };
        let is_entry = match data_type.text() {
            Some(kind) => kind == b"track-entry",
            None => data_type == Value::Missing,
        };
        if data_type.text() == Some(b"marker") {
            self.flags = flag::MARKER | flag::EXTENSION;
        } else if is_entry && track.is_true() {
            self.flags = flag::ENTRY | flag::EXTENSION;
            self.set_track(&track, &track_group, names);
        } else if url != Value::Missing && description != Value::Missing {
            self.flags = flag::EXTENSION;
        }
        Some(())
    }

    /// Returns the event after the earlier events of all inputs, with numbers of the merged tables.
    pub(crate) fn after(self, chunk: ChunkPosition, lanes: &[u32], texts: &[u32]) -> Self {
        let text = |number: u32| texts[number as usize];
        TrackEvent {
            number: self.number + chunk.first,
            input: chunk.input as u32,
            lane: if self.lane == NO_LANE { NO_LANE } else { lanes[self.lane as usize] },
            name: text(self.name),
            track: self.track.map(text),
            edges: self.edges.map(text),
            ..self
        }
    }
}

/// Returns the id of an asynchronous operation as text: `id`, else `id2`. Returns `None` if
/// JavaScript treats the id as false.
fn operation(event: &Event<'_>) -> Option<Vec<u8>> {
    let field = |field| event.field(field).map_or(Value::Missing, parse::<Value>);
    let LocalId { global, local } = match event.field(Field::Id2) {
        Some(id) => decode_short(id),
        None => LocalId::default(),
    };
    let id = field(Field::Id);
    id.or(&global).or(&local).truthy().map(|id| id.template().into_owned())
}

/// Sets the final track and time of each event. `moved` holds the new track and the input of each
/// old track.
pub(crate) fn tracks_on_clock<'p>(
    mut events: SpillVec<TrackEvent>,
    moved: &[(u32, usize)],
    clock: Clock,
    place: impl Fn(usize) -> &'p InputPlace,
    mut to: SpillVec<TrackEvent>,
) -> Result<SpilledVec<TrackEvent>, Error> {
    events.drain(|event| {
        let time = |ts: f64| clock.placed_micros(place(event.input as usize).moved(ts));
        let mut event = TrackEvent { ts: time(event.ts), ..event };
        if event.lane != NO_LANE {
            event.lane = moved[event.lane as usize].0;
        }
        if event.kind == TrackKind::TimeStamp {
            event.values = event.values.map(|edge| if edge.is_nan() { edge } else { time(edge) });
        }
        to.push(event)
    })?;
    to.finish()
}
