//! Chrome's page events for reports: requests, navigations, paints, layout shifts, interactions.

use crate::value::args::Args;
use crate::value::clock::Clock;
use crate::value::micros;
use crate::value::typed::{decode_data, decode_short};
use serde::de::DeserializeOwned;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::spill::hash::HashSet;

/// The kinds of page events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A request will be sent.
    WillSend,
    /// A request is sent.
    Send,
    /// The head of a response arrived.
    Response,
    /// Data of a response arrived.
    Data,
    /// A request ended.
    Finish,
    /// The priority of a request changed.
    ChangePriority,
    /// A request was answered from a cache.
    Cached,
    /// An event that says whether the page waits for a request.
    RenderBlocking,
    /// The recording started.
    Started,
    /// A navigation.
    Navigation,
    /// A navigation by scripts.
    SoftNavigation,
    /// A change of the URL in the address bar, made by a script.
    SameDocument,
    /// The first paint with content.
    FirstPaint,
    /// A candidate for the largest paint with content.
    LargestPaint,
    /// A candidate for the largest paint with content after a navigation by scripts.
    SoftLargestPaint,
    /// A candidate for the largest image.
    LargestImage,
    /// A shift of the layout.
    Shift,
    /// A phase of a Bazel build. The id is the name of the event.
    Phase,
    /// The begin of an interaction (ph b).
    Begin,
    /// The end of an interaction (ph e).
    End,
    /// Whether a document declares its character encoding.
    Charset,
    /// A `<meta name=viewport>`.
    ViewportTag,
    /// A frame that goes to the compositor.
    Commit,
    /// The size of the main frame and its device pixel ratio.
    MainViewport,
    /// The load of a font began.
    FontLoad,
    /// A font is loaded.
    FontLoaded,
    /// An image is painted (ph X).
    PaintImage,
    /// The size of a document.
    DomStats,
    /// A layout or style recalculation of at least [`LARGE`] microseconds.
    LargeUpdate,
    /// The last style recalculation before a [`Mark::Selectors`].
    Style,
    /// The times of CSS selectors in a style recalculation.
    Selectors,
    /// A `<link rel=preconnect>`.
    Preconnect,
}

/// Minimum duration in microseconds of a [`Mark::LargeUpdate`].
pub const LARGE: f64 = 40_000.0;

/// A page event.
pub struct Marked {
    /// Kind of the event.
    pub mark: Mark,
    /// Index of the event's input.
    pub input: usize,
    /// Number of the event among all events of the trace.
    pub number: u64,
    /// Time in microseconds.
    pub ts: f64,
    /// Duration in microseconds; 0 if the event has none.
    pub dur: f64,
    /// Pid, as written in the trace.
    pub pid: Box<[u8]>,
    /// Tid, as written in the trace.
    pub tid: Box<[u8]>,
    /// Id of the request, frame or interaction, as written in the trace. Name of a large update.
    pub id: Box<[u8]>,
    /// The `args`, as written in the trace.
    pub args: Box<[u8]>,
    /// Microseconds that clock alignment added to `ts`.
    pub offset: f64,
}

impl Marked {
    /// Decodes the object `data` of the event's `args`.
    pub fn data<T: DeserializeOwned + Default>(&self) -> Option<T> {
        decode_data(&self.args)
    }
}

/// The last style recalculation of a chunk, which becomes a page event if times of selectors follow.
#[derive(Default)]
struct LastStyle {
    number: u64,
    ts: f64,
    dur: f64,
    args: Vec<u8>,
}

impl LastStyle {
    /// Replaces the recalculation. Cost: copies the `args` into the same memory.
    fn set(&mut self, number: u64, ts: f64, dur: f64, args: &[u8]) {
        (self.number, self.ts, self.dur) = (number, ts, dur);
        self.args.clear();
        self.args.extend_from_slice(args);
    }

    fn marked(&self) -> Marked {
        Marked {
            mark: Mark::Style,
            input: 0,
            number: self.number,
            ts: self.ts,
            dur: self.dur,
            pid: Box::default(),
            tid: Box::default(),
            id: Box::default(),
            args: (&*self.args).into(),
            offset: 0.0,
        }
    }
}

/// Page events in input order.
#[derive(Default)]
pub(crate) struct Pages {
    pub(crate) all: Vec<Marked>,
    style: Option<LastStyle>,
    /// Index in `all` of the first selector times, if no style recalculation of the chunk is before
    /// them.
    without_style: Option<usize>,
    /// Index of the input of the last chunk.
    input: usize,
    /// Requests that have a data event in this chunk. Only the first data event of a request is
    /// kept, since there may be many.
    received: HashSet<Box<[u8]>>,
    bytes: u64,
}

fn mark_of(name: &[u8], phase: u8) -> Option<Mark> {
    Some(match name {
        b"ResourceWillSendRequest" => Mark::WillSend,
        b"ResourceSendRequest" => Mark::Send,
        b"ResourceReceiveResponse" => Mark::Response,
        b"ResourceReceivedData" => Mark::Data,
        b"ResourceFinish" => Mark::Finish,
        b"ResourceChangePriority" => Mark::ChangePriority,
        b"ResourceMarkAsCached" => Mark::Cached,
        b"PreloadRenderBlockingStatusChange" => Mark::RenderBlocking,
        b"TracingStartedInBrowser" => Mark::Started,
        b"navigationStart" => Mark::Navigation,
        b"SoftNavigationStart" => Mark::SoftNavigation,
        b"RenderFrameHostImpl::DidCommitSameDocumentNavigation" if phase == b'X' => {
            Mark::SameDocument
        }
        b"firstContentfulPaint" => Mark::FirstPaint,
        b"largestContentfulPaint::Candidate" => Mark::LargestPaint,
        b"largestContentfulPaint::CandidateForSoftNavigation" => Mark::SoftLargestPaint,
        b"LargestImagePaint::Candidate" => Mark::LargestImage,
        b"LayoutShift" => Mark::Shift,
        b"EventTiming" if phase == b'b' => Mark::Begin,
        b"EventTiming" if phase == b'e' => Mark::End,
        b"MetaCharsetCheck" => Mark::Charset,
        b"ParseMetaViewport" => Mark::ViewportTag,
        b"BeginCommitCompositorFrame" => Mark::Commit,
        b"PaintTimingVisualizer::Viewport" => Mark::MainViewport,
        b"BeginRemoteFontLoad" => Mark::FontLoad,
        b"RemoteFontLoaded" => Mark::FontLoaded,
        b"PaintImage" if phase == b'X' => Mark::PaintImage,
        b"DOMStats" => Mark::DomStats,
        b"Layout" if phase == b'X' => Mark::LargeUpdate,
        b"UpdateLayoutTree" => Mark::Style,
        b"SelectorStats" => Mark::Selectors,
        b"LinkPreconnect" => Mark::Preconnect,
        _ => return None,
    })
}

impl Pages {
    /// Adds an event, the `number_in`th of its chunk, if it is a page event.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, number_in: u64) {
        let Some(written @ [b'"', name @ .., b'"']) = event.field(Field::Name) else { return };
        let is_phase = event.field(Field::Cat) == Some(b"\"build phase marker\"");
        if !is_phase
            && !matches!(
                name,
                [
                    b'R' | b'P'
                        | b'T'
                        | b'n'
                        | b'S'
                        | b'f'
                        | b'l'
                        | b'L'
                        | b'E'
                        | b'M'
                        | b'B'
                        | b'D'
                        | b'U',
                    ..
                ]
            )
        {
            return;
        }
        let mark = if is_phase { Some(Mark::Phase) } else { mark_of(name, event.phase()) };
        let Some(mut mark) = mark else { return };
        let field = |field| event.field(field).unwrap_or_default();
        let ts = micros(event, Field::Ts).unwrap_or(0.0);
        let dur = micros(event, Field::Dur).unwrap_or(0.0);
        if mark == Mark::Style {
            self.style.get_or_insert_default().set(number_in, ts, dur, field(Field::Args));
            mark = Mark::LargeUpdate;
        }
        if mark == Mark::LargeUpdate && (dur < LARGE || event.phase() != b'X') {
            return;
        }
        if mark == Mark::Selectors {
            match self.style.as_ref().map(LastStyle::marked) {
                Some(style) => self.push(style),
                None => self.without_style = self.without_style.or(Some(self.all.len())),
            }
        }
        if mark == Mark::Data {
            let args: Args = decode_short(field(Field::Args));
            let request = args.request_id();
            if self.received.contains(&*request) {
                return;
            }
            self.bytes += (size_of::<Box<[u8]>>() + request.len()) as u64;
            self.received.insert(request.into());
        }
        let marked = Marked {
            mark,
            input: 0,
            number: number_in,
            ts,
            dur,
            pid: field(Field::Pid).into(),
            tid: field(Field::Tid).into(),
            id: if is_phase || mark == Mark::LargeUpdate {
                written.into()
            } else {
                field(Field::Id).into()
            },
            args: field(Field::Args).into(),
            offset: 0.0,
        };
        self.push(marked);
    }

    fn push(&mut self, marked: Marked) {
        /// Heap bytes of an event and of its results.
        const OWN: usize = 2 * size_of::<Marked>() + 200;
        self.bytes += (OWN
            + [&marked.pid, &marked.tid, &marked.id, &marked.args]
                .iter()
                .map(|text| text.len())
                .sum::<usize>()) as u64;
        self.all.push(marked);
    }

    /// Adds the events of a later chunk of an input, before which there are `first` events.
    pub(crate) fn append(&mut self, later: Pages, input: usize, first: u64) {
        let is_same = self.input == input;
        for (at, mark) in later.all.into_iter().enumerate() {
            if is_same && later.without_style == Some(at) {
                let style = self.style.as_ref().map(LastStyle::marked);
                style.into_iter().for_each(|style| self.push(Marked { input, ..style }));
            }
            self.push(Marked { input, number: mark.number + first, ..mark });
        }
        if later.style.is_some() || !is_same {
            let style = later.style;
            self.style = style.map(|style| LastStyle { number: style.number + first, ..style });
        }
        self.input = input;
    }

    pub(crate) fn heap(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn align_inputs<'p>(&mut self, place: impl Fn(usize) -> &'p InputPlace) {
        for mark in &mut self.all {
            let place = place(mark.input);
            let ts = place.moved(mark.ts);
            mark.offset = ts - mark.ts;
            mark.ts = ts;
            mark.pid = place.pid(&mark.pid).into();
        }
    }

    /// Converts the times of all events to a clock.
    pub(crate) fn place_on(&mut self, clock: Clock) {
        if clock.origin().is_none() {
            return;
        }
        for mark in &mut self.all {
            let ts = clock.placed_micros(mark.ts);
            mark.offset += ts - mark.ts;
            mark.ts = ts;
        }
    }
}
