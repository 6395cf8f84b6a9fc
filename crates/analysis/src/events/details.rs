//! What single events say in `args` that rows, groups and calls are made of. Equal details are kept once.

use crate::events::{compiled, reflows};
use crate::value::{at, is_true, member, number, shortest, string, template};
use memchr::memmem::Finder;
use std::sync::LazyLock;
use tracemill_tokenizer::{Cursor, Event, Field};
use tracemill_trace::event::names::Names;
use tracemill_trace::spill::hash::HashMap;

/// Which details are looked for beyond those that times and rows need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// URLs, for groups by URL and domain.
    pub urls: bool,
    /// Frames, for groups by frame.
    pub frames: bool,
    /// Types of dispatched events and names of time stamps, for labels.
    pub titles: bool,
    /// What reports are made of beside trees: counters, what Chrome tells of requests and pages, and what clang was at.
    pub report: bool,
}

/// The details of one event, by numbers of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Numbered {
    /// Id of the sample that was taken for the event; 0 if there is none.
    pub(crate) trace_id: u32,
    /// Its row, if that is not its name.
    pub(crate) row: u32,
    /// Its URL.
    pub(crate) url: u32,
    /// The request that it is of, or that its URL is that of, if it has none itself.
    pub(crate) request: u32,
    /// Its frame.
    pub(crate) frame: u32,
    /// What its label adds to its title: [`ADDED`] and a text, or [`PLAIN`]; 0 if it was not looked for, or if `args` has not what DevTools
    /// takes it from.
    pub(crate) title: u32,
    /// What clang was at, or the frame in which a layout was forced, as it is written.
    pub(crate) told: u32,
    /// Bytes received: bits of a double.
    pub(crate) bytes: u64,
    /// Whether a response came from the cache.
    pub(crate) is_cached: bool,
    /// Whether its URL is its own, also if that is empty.
    pub(crate) is_located: bool,
}

/// Before a text that a label adds to a title.
pub(crate) const ADDED: &str = ": ";
/// A label adds nothing.
pub(crate) const PLAIN: &str = ".";

/// What a label adds of a value: of one that is none, nothing but the colon.
fn added(value: Option<&[u8]>) -> Vec<u8> {
    let value = value.filter(|value| !matches!(*value, b"null" | b"false"));
    let text = value.map(|value| template(Some(value))).unwrap_or_default();
    [ADDED.as_bytes(), &*text].concat()
}

/// All details; number 0 has none.
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
    /// Bytes of heap.
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

    /// Takes over the details of another, whose texts became `texts`; gives their numbers here.
    pub(crate) fn append(&mut self, other: &DetailsTable, texts: &[u32]) -> Vec<u32> {
        let text = |number: u32| texts[number as usize];
        let moved = |own: &Numbered| Numbered {
            trace_id: text(own.trace_id),
            row: text(own.row),
            url: text(own.url),
            request: text(own.request),
            frame: text(own.frame),
            title: text(own.title),
            told: text(own.told),
            ..*own
        };
        other.all.iter().map(|own| self.number(moved(own))).collect()
    }
}

/// What is looked for in events of a name and phase: asked once for many events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sought {
    /// It is of what a request brought.
    received: bool,
    stamp: bool,
    dispatched: bool,
    /// Dispatched events of each type have a row; in DevTools those of all types have one.
    typed: bool,
    animated: bool,
    connected: bool,
    compiled: bool,
    layout: bool,
    wanted: Wanted,
}

/// A word that `args` must have for a detail.
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
/// Of `url`, and of `stylesheetUrl`.
static URL: Word = Word::new(|| Finder::new(b"rl\""));
static STACK: Word = Word::new(|| Finder::new(b"\"stackTrace\""));
static REQUEST: Word = Word::new(|| Finder::new(b"\"requestId\""));
static FRAME: Word = Word::new(|| Finder::new(b"\"frame\""));

impl Sought {
    /// In events of this phase and name.
    /// With `typed` dispatched events of each type have a row.
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
            wanted,
        }
    }

    /// What an event says; `None` if that is nothing that matters. Texts are entered into `names`.
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
        // most events say nothing
        if rest.starts_with(b"{}") && !by_name {
            return None;
        }
        let traced = TRACED.is_in(rest);
        let located =
            self.wanted.urls && (URL.is_in(rest) || STACK.is_in(rest) || REQUEST.is_in(rest));
        let framed = self.wanted.frames && FRAME.is_in(rest);
        let forced = self.layout && STACK.is_in(rest);
        if !(by_name || traced || located || framed || forced) {
            return None;
        }
        let mut details = Numbered::default();
        if by_name || traced || framed || forced {
            let args = event.field(Field::Args)?;
            self.read(args, (traced, framed, forced), names, &mut details);
        }
        if located {
            let (url, request) = url_or_request(names.bytes_of(name), rest);
            details.url = url.map_or(0, |url| names.content(url));
            details.is_located = url.is_some();
            details.request = request.map_or(0, |id| names.number(&template(Some(id))));
        }
        Some(details)
    }

    /// Reads all but URLs.
    fn read(
        self,
        args: &[u8],
        (traced, framed, forced): (bool, bool, bool),
        names: &mut Names,
        details: &mut Numbered,
    ) {
        let data = member(args, b"data");
        let of_data = |key: &[u8]| data.and_then(|data| member(data, key));
        let mut text = |text: Option<Vec<u8>>| text.map_or(0, |text| names.number(&text));
        if traced {
            details.trace_id = text(trace_id(args, data));
        }
        if self.received {
            let id = template(of_data(b"requestId"));
            details.row = text(Some([b"req:", &*id].concat()));
            details.bytes =
                of_data(b"encodedDataLength").and_then(number).unwrap_or(f64::NAN).to_bits();
            details.is_cached = is_true(of_data(b"fromCache"));
        } else if self.stamp && is_true(data) {
            let name = of_data(b"name");
            details.row = text(Some([b"TimeStamp:", &*template(name)].concat()));
            let title = name.filter(|own| *own != b"null").or(of_data(b"message"));
            details.title = text(Some(added(title)));
        }
        let data = data.filter(|data| *data != b"null");
        if let Some(data) = data {
            details.title = match self {
                Sought { dispatched: true, typed, .. } => {
                    let kind = member(data, b"type");
                    if typed {
                        let kind = template(kind);
                        details.row = text(Some([b"EventDispatch:", &*kind].concat()));
                    }
                    text(Some(added(kind)))
                }
                Sought { animated: true, .. } => {
                    let name = member(data, b"name").filter(|name| is_true(Some(name)));
                    text(Some(name.map_or(PLAIN.into(), |name| added(Some(name)))))
                }
                Sought { connected: true, .. } => {
                    let url = member(data, b"url").filter(|url| is_true(Some(url)));
                    text(url.map(|url| added(Some(url))))
                }
                _ => details.title,
            };
        }
        if framed {
            details.frame = text(frame(args, data));
        }
        if self.compiled {
            details.told = text(member(args, b"detail").and_then(string));
        }
        if forced {
            details.told = text(reflows::frame(args).map(<[u8]>::to_vec));
        }
    }
}

/// `extractSampleTraceId`: of `beginData` alone if there is one.
fn trace_id(args: &[u8], data: Option<&[u8]>) -> Option<Vec<u8>> {
    let value = match member(args, b"beginData") {
        Some(begin) => member(begin, b"sampleTraceId"),
        None => member(args, b"sampleTraceId")
            .filter(|value| *value != b"null")
            .or_else(|| data.and_then(|data| member(data, b"sampleTraceId"))),
    };
    let id = number(value?)?;
    (id != 0.0).then(|| shortest(id).into_bytes())
}

/// Whether an event is one of those that a request is made of.
pub(crate) fn is_of_request(name: &[u8]) -> bool {
    matches!(
        name,
        b"ResourceChangePriority"
            | b"ResourceWillSendRequest"
            | b"ResourceSendRequest"
            | b"ResourceReceiveResponse"
            | b"ResourceReceivedData"
            | b"ResourceFinish"
            | b"ResourceMarkAsCached"
            | b"PreloadRenderBlockingStatusChange"
    )
}

/// Members of `args` that an event has its URL of, as they are written.
#[derive(Default)]
struct Places<'a> {
    begin_url: Option<&'a [u8]>,
    data: DataPlaces<'a>,
}

#[derive(Default)]
struct DataPlaces<'a> {
    stylesheet: Option<&'a [u8]>,
    /// Of the first frame of a stack, if there is a frame.
    frame_url: Option<Option<&'a [u8]>>,
    url: Option<&'a [u8]>,
    request: Option<&'a [u8]>,
}

impl<'a> Places<'a> {
    /// Of `args` and whatever follows them. Cost: one pass.
    fn of(args: &'a [u8]) -> Self {
        let mut found = Places::default();
        of_members(&mut Cursor::new(args), |key, cursor| match key {
            b"data" => found.data = DataPlaces::of(cursor),
            b"beginData" => {
                found.begin_url = None;
                of_members(cursor, |key, cursor| {
                    let value = cursor.value();
                    if key == b"url" {
                        found.begin_url = Some(value);
                    }
                });
            }
            _ => drop(cursor.value()),
        });
        found
    }
}

impl<'a> DataPlaces<'a> {
    fn of(cursor: &mut Cursor<'a>) -> Self {
        let mut found = DataPlaces::default();
        of_members(cursor, |key, cursor| match key {
            b"stackTrace" => found.frame_url = first_frame(cursor),
            b"url" => found.url = Some(cursor.value()),
            b"requestId" => found.request = Some(cursor.value()),
            b"stylesheetUrl" => found.stylesheet = Some(cursor.value()),
            _ => drop(cursor.value()),
        });
        found
    }
}

/// Hands on the members of the next value, whose values `each` must take; takes a value that is no object.
fn of_members<'a>(cursor: &mut Cursor<'a>, mut each: impl FnMut(&[u8], &mut Cursor<'a>)) {
    if !cursor.enter(b'{') {
        cursor.value();
        return;
    }
    while let Some(key) = cursor.next_key() {
        each(&key, cursor);
    }
}

/// The URL of the first frame of a stack, if there is a frame.
fn first_frame<'a>(cursor: &mut Cursor<'a>) -> Option<Option<&'a [u8]>> {
    if !cursor.enter(b'[') {
        cursor.value();
        return None;
    }
    let mut first = None;
    while cursor.next_element() {
        if first.is_some() {
            cursor.value();
            continue;
        }
        let mut url = None;
        of_members(cursor, |key, cursor| {
            let value = cursor.value();
            if key == b"url" {
                url = Some(value);
            }
        });
        first = Some(url);
    }
    first
}

/// `getNonResolvedURL` of an event whose `args` begin so: a URL, or the request that knows it, as they are written.
pub(crate) fn url_or_request<'a>(
    name: &[u8],
    args: &'a [u8],
) -> (Option<&'a [u8]>, Option<&'a [u8]>) {
    let Places { begin_url, data } = Places::of(args);
    // what a request is made of is of it, whether it has a URL or not
    let own = data.request.filter(|_| is_of_request(name));
    if name == b"ParseAuthorStyleSheet" {
        return (data.stylesheet, own);
    }
    if let Some(url) = data.frame_url {
        return (Some(url.unwrap_or(b"\"\"")), own);
    }
    if name == b"ParseHTML" {
        return (begin_url, own);
    }
    if let Some(url) = data.url.filter(|url| is_true(Some(url))) {
        return (Some(url), own);
    }
    (None, own.or(data.request.filter(|id| is_true(Some(id)))))
}

/// `frameIDForEvent`
fn frame(args: &[u8], data: Option<&[u8]>) -> Option<Vec<u8>> {
    let begin = at(args, &[b"beginData", b"frame"]).and_then(string);
    let own = || member(data?, b"frame").filter(|frame| is_true(Some(frame)));
    begin.or_else(|| own().map(|frame| template(Some(frame)).into_owned()))
}
