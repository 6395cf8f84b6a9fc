//! What single events say in `args` that rows, groups and calls are made of. Equal details are kept once.

use crate::compiled;
use crate::names::Names;
use crate::reflows;
use crate::value::{at, elements, is_true, member, number, shortest, string, template};
use memchr::memmem;
use tracemill_core::hash::HashMap;
use tracemill_tokenizer::{Event, Field};

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

/// The details of one event, as texts.
#[derive(Default)]
pub(crate) struct Details {
    trace_id: Option<Vec<u8>>,
    row: Option<Vec<u8>>,
    url: Option<Vec<u8>>,
    request: Option<Vec<u8>>,
    frame: Option<Vec<u8>>,
    title: Option<Vec<u8>>,
    told: Option<Vec<u8>>,
    bytes: Option<f64>,
    is_cached: bool,
}

/// The same by numbers of texts.
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
    /// What its label adds to its title.
    pub(crate) title: u32,
    /// What clang was at, or the frame in which a layout was forced, as it is written.
    pub(crate) told: u32,
    /// Bytes received: bits of a double.
    pub(crate) bytes: u64,
    /// Whether a response came from the cache.
    pub(crate) is_cached: bool,
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
    pub(crate) fn number(&mut self, details: &Details, names: &mut Names) -> u32 {
        let mut text = |text: &Option<Vec<u8>>| text.as_ref().map_or(0, |text| names.number(text));
        let numbered = Numbered {
            trace_id: text(&details.trace_id),
            row: text(&details.row),
            url: text(&details.url),
            request: text(&details.request),
            frame: text(&details.frame),
            title: text(&details.title),
            told: text(&details.told),
            bytes: details.bytes.unwrap_or(0.0).to_bits(),
            is_cached: details.is_cached,
        };
        self.enter(numbered)
    }

    /// Bytes of heap.
    pub(crate) fn heap(&self) -> u64 {
        let table = self.numbers.capacity() * (size_of::<(Numbered, u32)>() + 2);
        (self.all.capacity() * size_of::<Numbered>() + table) as u64
    }

    fn enter(&mut self, numbered: Numbered) -> u32 {
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
        other.all.iter().map(|own| self.enter(moved(own))).collect()
    }
}

impl Details {
    /// Of an event of this phase and name; `None` if it says nothing that matters.
    #[inline]
    pub(crate) fn of(event: &Event<'_>, phase: u8, name: &[u8], wanted: Wanted) -> Option<Self> {
        let has = |word: &[u8]| memmem::find(event.bytes, word).is_some();
        let traced = has(b"\"sampleTraceId\"");
        let is_received = matches!(
            name,
            b"ResourceReceivedData" | b"ResourceFinish" | b"ResourceReceiveResponse"
        );
        let is_stamp = name == b"TimeStamp" && phase == b'I';
        let titled = wanted.titles && matches!(name, b"EventDispatch" | b"Animation");
        let located =
            wanted.urls && (has(b"rl\"") || has(b"\"stackTrace\"") || has(b"\"requestId\""));
        let framed = wanted.frames && has(b"\"frame\"");
        let compiled = wanted.report && phase == b'X' && compiled::has_detail(name);
        let forced = wanted.report && reflows::is_layout(name) && has(b"\"stackTrace\"");
        if !(traced || is_received || is_stamp || titled || located || framed || compiled || forced)
        {
            return None;
        }
        let args = event.field(Field::Args)?;
        let data = member(args, b"data");
        let of_data = |key: &[u8]| data.and_then(|data| member(data, key));
        let mut details = Details::default();
        if traced {
            details.trace_id = trace_id(args, data);
        }
        if is_received {
            details.row = Some([b"req:", &*template(of_data(b"requestId"))].concat());
            details.bytes = of_data(b"encodedDataLength").and_then(number);
            details.is_cached = is_true(of_data(b"fromCache"));
        } else if is_stamp && is_true(data) {
            details.row = Some([name, b":", &*template(of_data(b"name"))].concat());
            details.title = of_data(b"name").or(of_data(b"message")).map(|v| template(Some(v)));
        }
        if titled {
            details.title = match name {
                b"EventDispatch" if phase == b'X' => Some(template(of_data(b"type"))),
                b"Animation" => of_data(b"name").filter(|v| is_true(Some(v))).and_then(string),
                _ => None,
            };
        }
        if located {
            (details.url, details.request) = url(name, args, data);
        }
        if framed {
            details.frame = frame(args, data);
        }
        if compiled {
            details.told = member(args, b"detail").and_then(string);
        }
        if forced {
            details.told = reflows::frame(args).map(<[u8]>::to_vec);
        }
        Some(details)
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

/// The URL of an event, and the request that it is of, or that knows its URL.
fn url(name: &[u8], args: &[u8], data: Option<&[u8]>) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    let (url, request) = url_or_request(name, args, data);
    if request.is_some() || !is_of_request(name) {
        return (url, request);
    }
    let id = data.and_then(|data| member(data, b"requestId"));
    (url, id.map(|id| template(Some(id))))
}

/// `getNonResolvedURL`: a URL, or the request that knows it.
pub(crate) fn url_or_request(
    name: &[u8],
    args: &[u8],
    data: Option<&[u8]>,
) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    let of_data = |key: &[u8]| data.and_then(|data| member(data, key));
    if name == b"ParseAuthorStyleSheet" {
        return (of_data(b"stylesheetUrl").and_then(string), None);
    }
    if let Some(frames) = of_data(b"stackTrace").map(elements)
        && let Some(first) = frames.first()
    {
        return (member(first, b"url").and_then(string), None);
    }
    if name == b"ParseHTML" {
        return (at(args, &[b"beginData", b"url"]).and_then(string), None);
    }
    if let Some(url) = of_data(b"url").filter(|url| is_true(Some(url))) {
        return (string(url), None);
    }
    let request = of_data(b"requestId").filter(|id| is_true(Some(id)));
    (None, request.map(|id| template(Some(id))))
}

/// `frameIDForEvent`
fn frame(args: &[u8], data: Option<&[u8]>) -> Option<Vec<u8>> {
    let begin = at(args, &[b"beginData", b"frame"]).and_then(string);
    let own = || member(data?, b"frame").filter(|frame| is_true(Some(frame)));
    begin.or_else(|| own().map(|frame| template(Some(frame))))
}
