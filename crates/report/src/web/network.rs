//! Network requests (DevTools: `NetworkRequestsHandler`).

use crate::web::navigations::number_above_zero;
use tracemill_analysis::Trace;
use tracemill_analysis::events::pages::{Mark, Marked};
use tracemill_analysis::value::Value;
use tracemill_analysis::value::typed::{List, Object, object};
use tracemill_causes::Cause;
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::spill::hash::HashMap;

/// A network request. Times are microseconds on the trace's clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Request id in the trace.
    pub id: String,
    /// DevTools' key of the request.
    pub key: String,
    /// Index of the input.
    pub input: usize,
    /// Final URL.
    pub url: String,
    /// URLs that redirected to `url`, in order.
    pub redirects: Vec<String>,
    /// Start of the request.
    pub start: f64,
    /// Time at which sending of the request began.
    pub send: f64,
    /// Time at which the response headers were complete; `None` if unknown.
    pub first_byte: Option<f64>,
    /// Time at which the last data arrived from the network.
    pub finish: f64,
    /// Time at which the page received the complete response.
    pub end: f64,
    /// Time from the end of sending to the complete response headers.
    pub waiting: Option<f64>,
    /// Time from the end of sending to the first byte of the response headers.
    pub server: Option<f64>,
    /// Bytes transferred over the network.
    pub transfer: Option<f64>,
    /// Bytes of the decoded body.
    pub body: Option<f64>,
    /// Final priority.
    pub priority: Option<String>,
    /// Initial priority.
    pub initial_priority: Option<String>,
    /// Chrome's render-blocking status.
    pub render_blocking: String,
    /// Resource type, such as `Document` or `Script`.
    pub resource: String,
    /// MIME type of the response.
    pub mime: String,
    /// HTTP status code.
    pub status: f64,
    /// Protocol, such as `h2`.
    pub protocol: String,
    /// `memory`, `disk` or `worker` if the response came from a cache or service worker.
    pub cache: Option<&'static str>,
    /// Type of the request's initiator, such as `parser` or `script`.
    pub initiator: Option<String>,
    /// URL that the event names as initiator, or that of the script at the top of its stack.
    pub(crate) initiator_url: Option<String>,
    /// The request that made this one start, and the function that sent this one, if
    /// [`Report::add_causes`](crate::Report::add_causes) looked for them.
    pub started_by: Option<Cause>,
    /// Number of the last `ResourceSendRequest` among all events.
    pub(crate) sent: u64,
    /// The last `ResourceSendRequest` and the response among the page events.
    pub(crate) places: Places,
    /// Time from the start to the request for the final URL, in microseconds.
    pub(crate) redirected: f64,
    /// Id of the page frame.
    pub frame: Option<String>,
    /// Time of the first byte of the response. Used to divide the time to the largest contentful
    /// paint.
    pub(crate) answered: Option<f64>,
}

impl Request {
    /// Returns the time from start to end in microseconds.
    pub fn duration(&self) -> f64 {
        self.end - self.start
    }
}

/// Indices of a request's events among the page events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// Index of the last `ResourceSendRequest`.
    pub(crate) sent: usize,
    /// Index of the response; `None` if none arrived.
    pub(crate) answer: Option<usize>,
}

#[derive(Default)]
struct Events<'m> {
    places: Places,
    will_sends: Vec<&'m Marked>,
    sends: Vec<&'m Marked>,
    response: Option<&'m Marked>,
    finish: Option<&'m Marked>,
    priority: Option<&'m Marked>,
    cached: bool,
    blocking: Option<&'m Marked>,
}

object! {
    struct Said {
        url, frame, priority, render_blocking, resource_type, initiator: Object<Initiator>, mime_type, status_code, protocol, from_cache,
        from_service_worker, stack_trace: List<Object<Called>, 1>, timing: Object<WrittenTiming>, finish_time, encoded_data_length, decoded_body_length,
    }

    struct Initiator { r#type, url }

    struct Called { url }

    struct WrittenTiming { request_time, send_start, send_end, receive_headers_start, receive_headers_end }

    struct OfRequest { request_id }
}

/// Returns whether DevTools follows URLs of this scheme.
fn is_followed(url: &str) -> bool {
    const PROTOCOLS: [&str; 5] = ["blob:", "file:", "filesystem:", "http:", "https:"];
    PROTOCOLS.iter().any(|protocol| url.starts_with(protocol))
}

/// Times of a response. Missing times are NaN.
struct Timing {
    request: f64,
    send_start: f64,
    send_end: f64,
    headers_start: Option<f64>,
    headers_end: f64,
    /// Clock offset of the input in microseconds.
    offset: f64,
}

impl Timing {
    fn of(written: &WrittenTiming, offset: f64) -> Self {
        let or_nan = |value: &Value| value.number().unwrap_or(f64::NAN);
        Timing {
            request: or_nan(&written.request_time),
            send_start: or_nan(&written.send_start),
            send_end: or_nan(&written.send_end),
            headers_start: written.receive_headers_start.number(),
            headers_end: or_nan(&written.receive_headers_end),
            offset,
        }
    }

    /// Returns the time that is `ms` milliseconds after the start of the request.
    fn behind(&self, ms: f64) -> f64 {
        self.request * 1_000_000.0 + ms * 1000.0 + self.offset
    }

    fn first_of_head(&self) -> f64 {
        self.headers_start.unwrap_or(self.headers_end)
    }
}

/// Returns the requests in the order of their first events. Cost: visits each event of a request.
pub(crate) fn requests(trace: &Trace) -> Vec<Request> {
    let mut all: Vec<(String, Events<'_>)> = Vec::new();
    let mut numbers: HashMap<(usize, Vec<u8>), usize> = HashMap::default();
    for (at, marked) in trace.marks().iter().enumerate() {
        use Mark::*;
        if !matches!(
            marked.mark,
            WillSend | Send | Response | Data | Finish | ChangePriority | Cached | RenderBlocking
        ) {
            continue;
        }
        let OfRequest { request_id } = marked.data().unwrap_or_default();
        let id = request_id.template().into_owned();
        let next = all.len();
        let place = *numbers.entry((marked.input, id.clone())).or_insert(next);
        if place == next {
            all.push((unescaped_text(&id), Events::default()));
        }
        let events = &mut all[place].1;
        match marked.mark {
            WillSend => events.will_sends.push(marked),
            Send => {
                events.sends.push(marked);
                events.places.sent = at;
            }
            Response => {
                events.response = Some(marked);
                events.places.answer = Some(at);
            }
            Data => {}
            Finish => events.finish = Some(marked),
            ChangePriority => events.priority = Some(marked),
            Cached => events.cached = true,
            _ => events.blocking = Some(marked),
        }
    }
    all.iter().filter_map(|(id, events)| request(id, events)).collect()
}

fn request(id: &str, events: &Events<'_>) -> Option<Request> {
    let Events { places, will_sends, sends, response, finish, priority, cached, blocking } = events;
    let (first, last) = (sends.first()?, sends.last()?);
    let data_of =
        |marked: Option<&Marked>| marked.and_then(Marked::data::<Said>).unwrap_or_default();
    let followed_url = |data: &Said| data.url.printable().filter(|url| is_followed(url));
    let (sent, answer, finished) = (data_of(Some(last)), data_of(*response), data_of(*finish));
    let url = followed_url(&sent)?;

    let start = will_sends.first().unwrap_or(first).ts;
    let redirected = will_sends.last().unwrap_or(last).ts;
    let end = finish.map_or(redirected, |event| event.ts);
    let finish_time = number_above_zero(&finished.finish_time);
    let finish_time =
        finish_time.map(|time| time * 1_000_000.0 + finish.map_or(0.0, |event| event.offset));
    let timing = response.filter(|_| !cached).and_then(|event| {
        let written = answer.timing.0.as_ref()?;
        Some(Timing::of(written, event.offset))
    });
    let cache = cache_of(*cached, &answer, &finished);
    let bytes = |length: &Value| if finish.is_some() { length.number() } else { Some(0.0) };
    let initial = sent.priority.printable();
    let protocol = answer.protocol.printable().unwrap_or_else(|| "unknown".to_owned());
    let usual = || "non_blocking".to_owned();
    let blocks = data_of(*blocking).render_blocking.printable();
    let answered = match &*protocol {
        "file" => Some(start),
        _ => timing.as_ref().map(|phases| {
            phases.request * 1000.0 * 1000.0 + phases.first_of_head() * 1000.0 + phases.offset
        }),
    };
    Some(Request {
        id: id.to_owned(),
        key: format!("s-{}", last.number),
        input: last.input,
        redirects: sends[..sends.len() - 1]
            .iter()
            .map(|event| followed_url(&data_of(Some(event))).unwrap_or_default())
            .collect(),
        start,
        send: timing.as_ref().map_or(start, |phases| phases.behind(phases.send_start)),
        first_byte: timing.as_ref().map(|phases| phases.behind(phases.headers_end)),
        finish: finish_time.unwrap_or(end),
        end: start + (end - start),
        waiting: timing.as_ref().map(|phases| (phases.headers_end - phases.send_end) * 1000.0),
        server: timing.as_ref().map(|phases| (phases.first_of_head() - phases.send_end) * 1000.0),
        transfer: bytes(&finished.encoded_data_length),
        body: bytes(&finished.decoded_body_length),
        priority: match priority {
            Some(event) => data_of(Some(event)).priority.printable(),
            None => initial.clone(),
        },
        initial_priority: initial,
        render_blocking: blocks.or_else(|| sent.render_blocking.printable()).unwrap_or_else(usual),
        resource: sent.resource_type.printable().unwrap_or_else(|| "Other".to_owned()),
        mime: answer.mime_type.printable().unwrap_or_default(),
        status: answer.status_code.number().unwrap_or(0.0),
        protocol,
        cache,
        initiator_url: initiator_url(&sent),
        initiator: sent.initiator.0.and_then(|initiator| initiator.r#type.printable()),
        sent: last.number,
        places: *places,
        redirected: redirected - start,
        frame: sent.frame.printable(),
        url,
        started_by: None,
        answered,
    })
}

/// Returns the cache that answered a request, if one did.
fn cache_of(is_cached: bool, answer: &Said, finished: &Said) -> Option<&'static str> {
    let pushed = finished.encoded_data_length.number() != Some(0.0);
    let from_worker = answer.from_service_worker.is_true();
    if is_cached {
        Some("memory")
    } else if answer.from_cache.is_true() && !from_worker && !pushed {
        Some("disk")
    } else {
        from_worker.then_some("worker")
    }
}

/// Returns the URL of the initiator that an event names, else of the innermost script of its stack.
fn initiator_url(sent: &Said) -> Option<String> {
    let named = sent.initiator.0.as_ref().and_then(|initiator| initiator.url.printable());
    let script = || {
        let Object(first) = sent.stack_trace.0.as_ref()?.first()?;
        first.as_ref()?.url.printable().filter(|url| is_followed(url))
    };
    named.filter(|url| !url.is_empty()).or_else(script)
}

/// Returns the first request for a URL that starts between two times. A request that began with a
/// redirect from the URL counts too.
pub(crate) fn asked_between<'r>(
    requests: &'r [Request],
    url: &str,
    from: f64,
    to: f64,
) -> Option<&'r Request> {
    let began = requests.iter().filter(|request| request.start >= from);
    let mut before = began.take_while(|request| request.start < to);
    before.find(|request| request.url == url || request.redirects.iter().any(|other| other == url))
}
