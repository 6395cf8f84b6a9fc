//! Requests: `NetworkRequestsHandler` of DevTools.

use crate::events::pages::{Mark, Marked};
use crate::trace::Trace;
use crate::value::{at, is_true, member, number, string, template};
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::spill::hash::HashMap;

/// A request. Times are microseconds on the trace's clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Its id in the trace.
    pub id: String,
    /// DevTools' key of it.
    pub key: String,
    /// The number of its input.
    pub input: usize,
    /// Its URL.
    pub url: String,
    /// Those that led to it, in order.
    pub redirects: Vec<String>,
    /// When it began.
    pub start: f64,
    /// When it was sent.
    pub send: f64,
    /// When the head of the answer was there; `None` if nothing says so.
    pub first_byte: Option<f64>,
    /// When the network was done.
    pub finish: f64,
    /// When the page had it.
    pub end: f64,
    /// From what was sent to the whole head.
    pub waiting: Option<f64>,
    /// From what was sent to the first of the head.
    pub server: Option<f64>,
    /// Bytes over the network.
    pub transfer: Option<f64>,
    /// Bytes of what it brought.
    pub body: Option<f64>,
    /// In the end.
    pub priority: Option<String>,
    /// At first.
    pub initial_priority: Option<String>,
    /// Whether the page waits for it, as Chrome says.
    pub render_blocking: String,
    /// Document, Script, …
    pub resource: String,
    /// As the answer says.
    pub mime: String,
    /// HTTP's.
    pub status: f64,
    /// Such as h2.
    pub protocol: String,
    /// memory, disk or worker if one answered.
    pub cache: Option<&'static str>,
    /// What began it: parser, script, …
    pub initiator: Option<String>,
    /// Of which frame.
    pub frame: Option<String>,
    /// When the first byte of the answer was there, as the largest paint is taken apart; `None` if nothing says so.
    pub(super) answered: Option<f64>,
}

impl Request {
    /// Microseconds from its start to its end.
    pub fn duration(&self) -> f64 {
        self.end - self.start
    }
}

/// The events of a request.
#[derive(Default)]
struct Events<'m> {
    will_sends: Vec<&'m Marked>,
    sends: Vec<&'m Marked>,
    response: Option<&'m Marked>,
    finish: Option<&'m Marked>,
    priority: Option<&'m Marked>,
    cached: bool,
    blocking: Option<&'m Marked>,
}

/// A value of `args.data`.
pub(super) fn data<'m>(own: &'m Marked, key: &[u8]) -> Option<&'m [u8]> {
    at(&own.args, &[b"data", key])
}

pub(super) fn text(value: Option<&[u8]>) -> Option<String> {
    value.and_then(string).map(|text| unescaped_text(&text))
}

/// URLs that DevTools follows.
fn is_followed(url: &str) -> bool {
    const PROTOCOLS: [&str; 5] = ["blob:", "file:", "filesystem:", "http:", "https:"];
    PROTOCOLS.iter().any(|own| url.starts_with(own))
}

/// What an answer says of its times; what is missing is no number.
struct Timing {
    request: f64,
    send_start: f64,
    send_end: f64,
    headers_start: Option<f64>,
    headers_end: f64,
    /// What was added to the times of the input, in microseconds.
    offset: f64,
}

impl Timing {
    fn of(response: &Marked) -> Option<Self> {
        let timing = data(response, b"timing").filter(|own| is_true(Some(own)))?;
        let of = |key: &[u8]| member(timing, key).and_then(number);
        let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
        Some(Timing {
            request: or_nan(of(b"requestTime")),
            send_start: or_nan(of(b"sendStart")),
            send_end: or_nan(of(b"sendEnd")),
            headers_start: of(b"receiveHeadersStart"),
            headers_end: or_nan(of(b"receiveHeadersEnd")),
            offset: response.offset,
        })
    }

    /// So many milliseconds behind the request.
    fn behind(&self, ms: f64) -> f64 {
        self.request * 1_000_000.0 + ms * 1000.0 + self.offset
    }

    fn first_of_head(&self) -> f64 {
        self.headers_start.unwrap_or(self.headers_end)
    }
}

impl Trace {
    /// The requests, in the order of their first events. Cost: a look at each of their events.
    pub(super) fn requests(&self) -> Vec<Request> {
        let mut all: Vec<(String, Events<'_>)> = Vec::new();
        let mut numbers: HashMap<(usize, Vec<u8>), usize> = HashMap::default();
        for own in &self.pages.all {
            use Mark::*;
            if !matches!(
                own.mark,
                WillSend
                    | Send
                    | Response
                    | Data
                    | Finish
                    | ChangePriority
                    | Cached
                    | RenderBlocking
            ) {
                continue;
            }
            let id = template(data(own, b"requestId")).into_owned();
            let next = all.len();
            let place = *numbers.entry((own.input, id.clone())).or_insert(next);
            if place == next {
                all.push((unescaped_text(&id), Events::default()));
            }
            let events = &mut all[place].1;
            match own.mark {
                WillSend => events.will_sends.push(own),
                Send => events.sends.push(own),
                Response => events.response = Some(own),
                Data => {}
                Finish => events.finish = Some(own),
                ChangePriority => events.priority = Some(own),
                Cached => events.cached = true,
                _ => events.blocking = Some(own),
            }
        }
        all.iter().filter_map(|(id, events)| request(id, events)).collect()
    }
}

fn request(id: &str, events: &Events<'_>) -> Option<Request> {
    let Events { will_sends, sends, response, finish, priority, cached, blocking } = events;
    let (first, last) = (sends.first()?, sends.last()?);
    let url = text(data(last, b"url")).filter(|url| is_followed(url))?;
    let of_response = |key: &[u8]| response.and_then(|own| data(own, key));
    let of_finish = |key: &[u8]| finish.and_then(|own| data(own, key));
    let truth = |value: Option<&[u8]>| is_true(value);

    let start = will_sends.first().unwrap_or(first).ts;
    let redirected = will_sends.last().unwrap_or(last).ts;
    let end = finish.map_or(redirected, |own| own.ts);
    let finished = of_finish(b"finishTime").and_then(number).filter(|time| *time != 0.0);
    let finished = finished.map(|time| time * 1_000_000.0 + finish.map_or(0.0, |own| own.offset));
    let timing = response.filter(|_| !cached).and_then(Timing::of);
    let pushed = of_finish(b"encodedDataLength").and_then(number) != Some(0.0);
    let from_worker = truth(of_response(b"fromServiceWorker"));
    let cache = if *cached {
        Some("memory")
    } else if truth(of_response(b"fromCache")) && !from_worker && !pushed {
        Some("disk")
    } else {
        from_worker.then_some("worker")
    };
    let bytes = |key: &[u8]| match finish {
        Some(own) => data(own, key).and_then(number),
        None => Some(0.0),
    };
    let initial = text(data(last, b"priority"));
    let protocol = text(of_response(b"protocol")).unwrap_or_else(|| "unknown".to_owned());
    let usual = || "non_blocking".to_owned();
    let blocks = blocking.and_then(|own| text(data(own, b"renderBlocking")));
    let answered = match &*protocol {
        "file" => Some(start),
        _ => timing
            .as_ref()
            .map(|own| own.request * 1000.0 * 1000.0 + own.first_of_head() * 1000.0 + own.offset),
    };
    Some(Request {
        id: id.to_owned(),
        key: format!("s-{}", last.number),
        input: last.input,
        redirects: sends[..sends.len() - 1]
            .iter()
            .map(|own| text(data(own, b"url")).filter(|url| is_followed(url)).unwrap_or_default())
            .collect(),
        start,
        send: timing.as_ref().map_or(start, |own| own.behind(own.send_start)),
        first_byte: timing.as_ref().map(|own| own.behind(own.headers_end)),
        finish: finished.unwrap_or(end),
        end: start + (end - start),
        waiting: timing.as_ref().map(|own| (own.headers_end - own.send_end) * 1000.0),
        server: timing.as_ref().map(|own| (own.first_of_head() - own.send_end) * 1000.0),
        transfer: bytes(b"encodedDataLength"),
        body: bytes(b"decodedBodyLength"),
        priority: match priority {
            Some(own) => text(data(own, b"priority")),
            None => initial.clone(),
        },
        initial_priority: initial,
        render_blocking: blocks
            .or_else(|| text(data(last, b"renderBlocking")))
            .unwrap_or_else(usual),
        resource: text(data(last, b"resourceType")).unwrap_or_else(|| "Other".to_owned()),
        mime: text(of_response(b"mimeType")).unwrap_or_default(),
        status: of_response(b"statusCode").and_then(number).unwrap_or(0.0),
        protocol,
        cache,
        initiator: text(at(&last.args, &[b"data", b"initiator", b"type"])),
        frame: text(data(last, b"frame")),
        url,
        answered,
    })
}

/// The first of `requests` between two times that asked for a URL, or was led to what it asked for from there.
pub(super) fn asked_between<'r>(
    requests: &'r [Request],
    url: &str,
    from: f64,
    to: f64,
) -> Option<&'r Request> {
    let began = requests.iter().filter(|own| own.start >= from);
    let mut before = began.take_while(|own| own.start < to);
    before.find(|own| own.url == url || own.redirects.iter().any(|other| other == url))
}
