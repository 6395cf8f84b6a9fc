//! Details from the `args` of events: texts and ids that rows, groups and calls need. Equal details
//! are stored once.

use crate::events::{compiled, reflows};
use crate::value::args::{Args, Data};
use crate::value::typed::decode_short;
use crate::value::{Value, shortest};
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::sync::LazyLock;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::names::Names;
use tracemill_trace::spill::hash::HashMap;

/// Optional details to read from events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Whether to read URLs, for groups by URL and domain.
    pub urls: bool,
    /// Whether to read frames, for groups by frame.
    pub frames: bool,
    /// Whether to read types of dispatched events and names of time stamps, for labels.
    pub titles: bool,
    /// Whether to read data of reports: counters, Chrome's requests, pages and tracks, clang's source
    /// files.
    pub report: bool,
    /// Whether to read what connects events to their causes: flows, stacks, ids of timers and tasks.
    pub causes: bool,
    /// Whether to read CPU times.
    pub cpu_times: bool,
    /// Whether to read the colours that events name.
    pub colors: bool,
}

/// The details of an event, as numbers of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Numbered {
    /// Trace id of the event's sample; 0 if there is none.
    pub(crate) trace_id: u32,
    /// Text that names the event's row, if that is not the event's name.
    pub(crate) row: u32,
    pub(crate) url: u32,
    /// Id of the event's request. An event without a URL has the URL of its request.
    pub(crate) request: u32,
    pub(crate) frame: u32,
    /// Suffix of the event's title in labels: [`ADDED`] and a text, or [`PLAIN`]; 0 if unknown.
    pub(crate) title: u32,
    /// Text for reports: the detail of a clang event, or the raw stack frame of a forced layout.
    pub(crate) subject: u32,
    /// Received bytes, as the bits of an `f64`.
    pub(crate) bytes: u64,
    pub(crate) is_cached: bool,
    /// Whether the event has its own URL, which may be empty.
    pub(crate) is_located: bool,
    /// Whether the event may carry a stack.
    pub(crate) is_stacked: bool,
    /// Number of the event's [reserved colour](tracemill_viewers::color); 0 if it names none.
    pub(crate) color: u8,
}

/// Prefix of a text that a label adds to a title.
pub(crate) const ADDED: &str = ": ";
/// Marks a label that adds nothing to the title.
pub(crate) const PLAIN: &str = ".";

/// Returns the suffix of a title for a value. If the value is missing, null or false, the suffix is
/// only [`ADDED`].
fn added(value: &Value) -> Vec<u8> {
    let is_none = matches!(value, Value::Missing | Value::Null | Value::Bool(false));
    let text = if is_none { Cow::default() } else { value.template() };
    [ADDED.as_bytes(), &*text].concat()
}

/// A table of distinct details. Number 0 means no details.
pub(crate) struct DetailsTable {
    pub(crate) all: Vec<Numbered>,
    numbers: HashMap<Numbered, u32>,
}

impl Default for DetailsTable {
    fn default() -> Self {
        let none = Numbered::default();
        DetailsTable { all: vec![none], numbers: HashMap::from_iter([(none, 0)]) }
    }
}

impl DetailsTable {
    pub(crate) fn heap(&self) -> u64 {
        let table = self.numbers.capacity() * (size_of::<(Numbered, u32)>() + 2);
        (self.all.capacity() * size_of::<Numbered>() + table) as u64
    }

    pub(crate) fn number(&mut self, numbered: Numbered) -> u32 {
        let next = self.all.len() as u32;
        *self.numbers.entry(numbered).or_insert_with(|| {
            self.all.push(numbered);
            next
        })
    }

    /// Adds the details of another table. `texts` maps text numbers of that table to those of this
    /// one. Returns the new number of each detail.
    pub(crate) fn append(&mut self, other: &DetailsTable, texts: &[u32]) -> Vec<u32> {
        let text = |number: u32| texts[number as usize];
        let moved = |numbered: &Numbered| Numbered {
            trace_id: text(numbered.trace_id),
            row: text(numbered.row),
            url: text(numbered.url),
            request: text(numbered.request),
            frame: text(numbered.frame),
            title: text(numbered.title),
            subject: text(numbered.subject),
            ..*numbered
        };
        other.all.iter().map(|details| self.number(moved(details))).collect()
    }
}

/// The details to search for in events with the same name and phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sought {
    /// Whether the event reports received bytes of a request.
    received: bool,
    stamp: bool,
    dispatched: bool,
    /// Whether dispatched events of each type have a separate row. In DevTools all types share a
    /// row.
    typed: bool,
    animated: bool,
    connected: bool,
    compiled: bool,
    layout: bool,
    /// Whether the event is a call that names its function, if causes are requested.
    calls: bool,
    wanted: Wanted,
}

/// A word by which a quick search finds `args` that may have a detail.
struct Word(LazyLock<Finder<'static>>);

impl Word {
    const fn new(find: fn() -> Finder<'static>) -> Self {
        Word(LazyLock::new(find))
    }

    fn is_in(&self, args: &[u8]) -> bool {
        self.0.find(args).is_some()
    }
}

static TRACED: Word = Word::new(|| Finder::new(b"\"sampleTraceId\""));
/// Finds the keys that end in `rl`, such as `url` and `stylesheetUrl`.
static URL: Word = Word::new(|| Finder::new(b"rl\""));
static STACK: Word = Word::new(|| Finder::new(b"\"stackTrace\""));
static REQUEST: Word = Word::new(|| Finder::new(b"\"requestId\""));
static FRAME: Word = Word::new(|| Finder::new(b"\"frame\""));

impl Sought {
    /// Returns the details to search for. With `typed`, dispatched events of each type have a
    /// separate row.
    pub(crate) fn of(phase: u8, name: &[u8], wanted: Wanted, typed: bool) -> Self {
        let dispatched = name == b"EventDispatch" && phase != b'I';
        Sought {
            received: matches!(
                name,
                b"ResourceReceivedData" | b"ResourceFinish" | b"ResourceReceiveResponse"
            ),
            stamp: name == b"TimeStamp" && phase == b'I',
            dispatched: dispatched && (wanted.titles || typed),
            typed: dispatched && typed,
            animated: wanted.titles && name == b"Animation",
            connected: wanted.titles && name == b"WebSocketCreate",
            compiled: wanted.report && phase == b'X' && compiled::has_detail(name),
            layout: wanted.report && reflows::is_layout(name),
            calls: wanted.causes && phase != b'I' && name == b"FunctionCall",
            wanted,
        }
    }

    /// Reads the details of an event, and adds their texts to `names`. Returns `None` if the event
    /// has no details.
    #[inline]
    pub(crate) fn details(
        self,
        event: &Event<'_>,
        name: u32,
        names: &mut Names,
    ) -> Option<Numbered> {
        let Sought { received, stamp, dispatched, animated, connected, compiled, .. } = self;
        let rest = event.field_and_rest(Field::Args)?;
        let by_name = received | stamp | dispatched | animated | connected | compiled;
        // Most events have empty `args` and no details.
        if rest.starts_with(b"{}") && !by_name {
            return None;
        }
        let traced = TRACED.is_in(rest);
        let located =
            self.wanted.urls && (URL.is_in(rest) || STACK.is_in(rest) || REQUEST.is_in(rest));
        let framed = self.wanted.frames && FRAME.is_in(rest);
        let forced = self.layout && STACK.is_in(rest);
        let stacked = self.calls || self.wanted.causes && STACK.is_in(rest);
        if !(by_name || traced || located || framed || forced || stacked) {
            return None;
        }
        let mut details = Numbered { is_stacked: stacked, ..Numbered::default() };
        if forced && let Some(frame) = event.field(Field::Args).and_then(reflows::frame) {
            details.subject = names.number(frame);
        }
        if !(by_name || traced || located || framed) {
            return Some(details);
        }
        let args: Args = decode_short(rest);
        if by_name {
            self.read(&args, names, &mut details);
        }
        if traced && let Some(id) = args.trace_id() {
            details.trace_id = names.number(shortest(id).as_bytes());
        }
        if framed && let Some(frame) = args.frame() {
            details.frame = names.number(&frame.template());
        }
        if located {
            let (url, request) = args.url_or_request(names.bytes_of(name));
            details.url = url.map_or(0, |url| names.number(&url.template()));
            details.is_located = url.is_some();
            details.request = request.map_or(0, |id| names.number(&id.template()));
        }
        Some(details)
    }

    /// Reads the details that depend on the event's name.
    fn read(self, args: &Args, names: &mut Names, details: &mut Numbered) {
        let mut text = |text: Vec<u8>| names.number(&text);
        let none = Data::default();
        let (has_data, data) = (args.data.0.is_some(), args.data.0.as_ref().unwrap_or(&none));
        if self.received {
            details.row = text([b"req:", &*data.request_id.template()].concat());
            details.bytes = data.encoded_data_length.number().unwrap_or(f64::NAN).to_bits();
            details.is_cached = data.from_cache.is_true();
        } else if self.stamp && has_data {
            details.row = text([b"TimeStamp:", &*data.name.template()].concat());
            details.title = text(added(data.name.or(&data.message)));
        } else if self.dispatched && has_data {
            if self.typed {
                details.row = text([b"EventDispatch:", &*data.r#type.template()].concat());
            }
            details.title = text(added(&data.r#type));
        } else if self.animated && has_data {
            details.title = text(data.name.truthy().map_or(PLAIN.into(), added));
        } else if self.connected {
            details.title = data.url.truthy().map_or(0, |url| text(added(url)));
        }
        if self.compiled {
            details.subject = args.detail.text().map_or(0, |detail| text(detail.into()));
        }
    }
}
