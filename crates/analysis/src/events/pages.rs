//! What Chrome tells of pages while it records: requests, navigations, paints, shifts of the layout, interactions. Reports are made of
//! these few events; of each stays what `args` say.

use crate::value::args::Args;
use crate::value::clock::Clock;
use crate::value::micros;
use crate::value::typed::{decode_data, decode_short};
use serde::de::DeserializeOwned;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::spill::hash::HashSet;

/// What an event tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A request will be sent.
    WillSend,
    /// A request is sent.
    Send,
    /// The head of an answer is there.
    Response,
    /// Data of an answer came.
    Data,
    /// A request ended.
    Finish,
    /// A request has another priority.
    ChangePriority,
    /// A cache answered.
    Cached,
    /// Whether the page waits for a request.
    RenderBlocking,
    /// The recording started.
    Started,
    /// A navigation.
    Navigation,
    /// A navigation by scripts.
    SoftNavigation,
    /// A URL that scripts wrote to the address bar.
    SameDocument,
    /// The first paint with content.
    FirstPaint,
    /// A candidate for the largest paint with content.
    LargestPaint,
    /// The same after a navigation by scripts.
    SoftLargestPaint,
    /// A candidate for the largest image.
    LargestImage,
    /// A shift of the layout.
    Shift,
    /// A phase of a build by Bazel: its id is the event's name.
    Phase,
    /// The begin of an interaction (ph b).
    Begin,
    /// The end of an interaction (ph e).
    End,
}

/// One of them.
pub struct Marked {
    /// What it tells of.
    pub mark: Mark,
    /// The number of its input.
    pub input: usize,
    /// Among all events.
    pub number: u64,
    /// Microseconds.
    pub ts: f64,
    /// As written.
    pub pid: Box<[u8]>,
    /// As written.
    pub id: Box<[u8]>,
    /// As written.
    pub args: Box<[u8]>,
    /// What was added to its time when inputs were put beside each other.
    pub offset: f64,
}

impl Marked {
    /// What `data` of its `args` says.
    pub fn data<T: DeserializeOwned + Default>(&self) -> Option<T> {
        decode_data(&self.args)
    }
}

/// All of them, in the order of the inputs.
#[derive(Default)]
pub(crate) struct Pages {
    pub(crate) all: Vec<Marked>,
    /// Requests of which data came in this stretch. There may be much of it, and what matters is where the first stands.
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
        _ => return None,
    })
}

impl Pages {
    /// Takes an event, the `number`th of its stretch, if it is one of them.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, number_in: u64) {
        let Some(written @ [b'"', name @ .., b'"']) = event.field(Field::Name) else { return };
        let is_phase = event.field(Field::Cat) == Some(b"\"build phase marker\"");
        if !is_phase
            && !matches!(name, [b'R' | b'P' | b'T' | b'n' | b'S' | b'f' | b'l' | b'L' | b'E', ..])
        {
            return;
        }
        let mark = if is_phase { Some(Mark::Phase) } else { mark_of(name, event.phase()) };
        let Some(mark) = mark else { return };
        let field = |field| event.field(field).unwrap_or_default();
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
            ts: micros(event, Field::Ts).unwrap_or(0.0),
            pid: field(Field::Pid).into(),
            id: if is_phase { written.into() } else { field(Field::Id).into() },
            args: field(Field::Args).into(),
            offset: 0.0,
        };
        self.push(marked);
    }

    fn push(&mut self, marked: Marked) {
        /// Of the value itself, and of what is made of it.
        const OWN: usize = 2 * size_of::<Marked>() + 200;
        self.bytes += (OWN + marked.pid.len() + marked.id.len() + marked.args.len()) as u64;
        self.all.push(marked);
    }

    /// Takes over those of a later stretch of an input, before which `first` events stand.
    pub(crate) fn append(&mut self, later: Pages, input: usize, first: u64) {
        for own in later.all {
            self.push(Marked { input, number: own.number + first, ..own });
        }
    }

    /// Bytes of heap.
    pub(crate) fn heap(&self) -> u64 {
        self.bytes
    }

    /// Puts them where their inputs stand beside each other.
    pub(crate) fn align_inputs<'p>(&mut self, place: impl Fn(usize) -> &'p InputPlace) {
        for own in &mut self.all {
            let place = place(own.input);
            let ts = place.moved(own.ts);
            own.offset = ts - own.ts;
            own.ts = ts;
            own.pid = place.pid(&own.pid).into();
        }
    }

    /// Puts them on a clock.
    pub(crate) fn place_on(&mut self, clock: Clock) {
        if clock.origin().is_none() {
            return;
        }
        for own in &mut self.all {
            let ts = clock.placed_micros(own.ts);
            own.offset += ts - own.ts;
            own.ts = ts;
        }
    }
}
