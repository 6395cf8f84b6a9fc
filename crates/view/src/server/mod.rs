//! Serves a site on sockets. One thread reads requests, and other threads answer them.

pub(crate) mod patience;

use crate::ask::Ask;
use crate::ask::reply::{BodyPieces, Content, Reply};
use crate::server::patience::{Patient, Unread};
use crate::site::Site;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener as StdListener};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::AbortHandle;
use tracemill_trace::run::limits::Cancel;

const AT_WORK: usize = 8;
const CONNECTIONS: usize = 256;
/// Maximum number of bytes that are passed to a socket at once.
const FRAME: usize = 64 << 10;
/// Interval between progress lines.
const EVERY: Duration = Duration::from_millis(150);
/// Interval at which progress checks whether reading has ended. It is short because even a large
/// index is ready in 230 ms.
const LOOK: Duration = Duration::from_millis(10);
/// Timeout for receiving the head of a request.
const HEAD: Duration = Duration::from_secs(10);

/// Headers of every reply. They forbid foreign content, frames and referrers.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    // a viewer that the page opens sends messages to the page
    ("cross-origin-opener-policy", "same-origin-allow-popups"),
    ("cache-control", "no-store"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
];

/// A bound port that does not answer yet.
pub struct Bound(Vec<StdListener>);

impl Bound {
    /// Binds a port of an address; port 0 selects a free one. For 127.0.0.1 also binds ::1 if
    /// possible, because `localhost` may mean either.
    ///
    /// # Errors
    /// Returns an I/O error if the port cannot be bound.
    pub fn new(host: IpAddr, port: u16) -> io::Result<Self> {
        let mut all = vec![StdListener::bind((host, port))?];
        if host == Ipv4Addr::LOCALHOST {
            let port = all[0].local_addr()?.port();
            all.extend(StdListener::bind((Ipv6Addr::LOCALHOST, port)));
        }
        all.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        Ok(Bound(all))
    }

    /// Returns the port.
    ///
    /// # Errors
    /// Returns an I/O error if the system does not report the port.
    pub fn port(&self) -> io::Result<u16> {
        Ok(self.0[0].local_addr()?.port())
    }

    /// Answers requests until no request arrives for the time `idle`. With `None`, never ends.
    ///
    /// # Errors
    /// Returns an I/O error if the runtime or a listener fails.
    pub fn serve(self, site: &Arc<Site>, idle: Option<Duration>) -> io::Result<()> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let served = runtime.block_on(serve(self.0, site, idle));
        site.close();
        // work in progress has been cancelled and ends soon
        runtime.shutdown_background();
        served
    }
}

/// Time of the last request, in milliseconds since the start. While a request is in progress, the
/// current time.
struct RequestClock {
    start: Instant,
    last: AtomicU64,
    open: AtomicU64,
}

impl RequestClock {
    fn now(&self) {
        self.last.store(self.start.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    fn since(&self) -> Duration {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        match self.open.load(Ordering::Relaxed) {
            0 => self.start.elapsed().saturating_sub(last),
            _ => Duration::ZERO,
        }
    }
}

async fn serve(
    listeners: Vec<StdListener>,
    site: &Arc<Site>,
    idle: Option<Duration>,
) -> io::Result<()> {
    let listeners = listeners.into_iter().map(TcpListener::from_std);
    let listeners: Vec<TcpListener> = listeners.collect::<io::Result<_>>()?;
    let accept = || {
        poll_fn(|context| {
            let mut all = listeners.iter().map(|listener| listener.poll_accept(context));
            all.find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
    };
    let clock = Arc::new(RequestClock {
        start: Instant::now(),
        last: AtomicU64::new(0),
        open: AtomicU64::new(0),
    });
    let mut connections = Connections::default();
    let (work, unread) = (Arc::new(Semaphore::new(AT_WORK)), Arc::new(Unread::default()));
    let (site, service_clock) = (Arc::clone(site), Arc::clone(&clock));
    let service = Service { site, work, unread, clock: service_clock, busy: Arc::default() };
    loop {
        let accepted = tokio::time::timeout(Duration::from_millis(500), accept()).await;
        let Ok(stream) = accepted else {
            if idle.is_some_and(|idle| clock.since() >= idle) {
                return Ok(());
            }
            continue;
        };
        let Ok((stream, _)) = stream else {
            // for example, if the process has no file descriptors left, the open connections go on
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        if !connections.has_room() {
            continue;
        }
        let busy = Arc::new(AtomicUsize::new(0));
        let state = Service { busy: Arc::clone(&busy), ..service.clone() };
        // send small replies immediately
        let _as_is = stream.set_nodelay(true);
        let served = tokio::spawn(async move {
            let stream = Patient::new(stream, Arc::clone(&state.unread));
            let service = service_fn(move |request| {
                let state = state.clone();
                async move { Ok::<_, Infallible>(respond(request, state).await) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // errors of one client do not affect others
            let _gone = http.serve_connection(TokioIo::new(stream), service).await;
        });
        connections.0.push(Connection { task: served.abort_handle(), busy });
    }
}

#[derive(Default)]
struct Connections(Vec<Connection>);

struct Connection {
    task: AbortHandle,
    busy: Arc<AtomicUsize>,
}

impl Connections {
    /// Returns whether another connection is possible. If there are too many, closes the oldest one
    /// that is idle.
    fn has_room(&mut self) -> bool {
        self.0.retain(|connection| !connection.task.is_finished());
        if self.0.len() < CONNECTIONS {
            return true;
        }
        let is_idle = |connection: &Connection| connection.busy.load(Ordering::Relaxed) == 0;
        let Some(idle) = self.0.iter().position(is_idle) else { return false };
        self.0.remove(idle).task.abort();
        true
    }
}

/// Marks a connection as busy while one of its requests is answered.
struct Busy(Arc<AtomicUsize>);

impl Busy {
    fn new(requests: Arc<AtomicUsize>) -> Self {
        requests.fetch_add(1, Ordering::Relaxed);
        Busy(requests)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

struct OpenRequest(Arc<RequestClock>);

impl OpenRequest {
    fn new(clock: Arc<RequestClock>) -> Self {
        clock.open.fetch_add(1, Ordering::Relaxed);
        OpenRequest(clock)
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.now();
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Cancels the work of a request when dropped. The flag is cleared when the work is complete.
struct Waits(Cancel, bool);

impl Drop for Waits {
    fn drop(&mut self) {
        if self.1 {
            self.0.cancel();
        }
    }
}

struct OwnAsk {
    method: String,
    target: String,
    host: Option<String>,
    origin: Option<String>,
    is_own: bool,
}

impl OwnAsk {
    fn ask(&self) -> Ask<'_> {
        let OwnAsk { method, target, is_own, .. } = self;
        let (host, origin) = (self.host.as_deref(), self.origin.as_deref());
        Ask { method, target, host, origin, is_own: *is_own }
    }
}

#[derive(Clone)]
struct Service {
    site: Arc<Site>,
    work: Arc<Semaphore>,
    unread: Arc<Unread>,
    clock: Arc<RequestClock>,
    /// Number of requests in progress on this connection.
    busy: Arc<AtomicUsize>,
}

async fn respond(request: Request<Incoming>, service: Service) -> Response<Sent> {
    let Service { site, work, unread, clock, busy } = service;
    let (open, busy) = (OpenRequest::new(clock), Busy::new(busy));
    let header = |name: &str| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.map(ToOwned::to_owned)
    };
    let (host, origin) = (header("host"), header("origin"));
    let is_own = header("x-tracemill").is_some();
    let (method, target) = (request.method().to_string(), request.uri().to_string());
    let owned_ask = OwnAsk { method, target, host, origin, is_own };
    let cancel = Cancel::default();
    if Site::is_quick(&owned_ask.ask()) {
        let reply = site.answer(&owned_ask.ask(), &cancel);
        return response(reply, &site, open, busy, None);
    }
    let Ok(permit) = work.try_acquire_owned() else {
        let reply =
            Reply::error(429, "too many requests at a time", "Ask again when others are answered.");
        return response(reply, &site, open, busy, None);
    };
    let (sender, receiver) = oneshot::channel();
    let mut waits = Waits(cancel.clone(), true);
    let answering = Arc::clone(&site);
    let answer = move || {
        let reply = answering.answer(&owned_ask.ask(), &cancel);
        // the client may have disconnected
        let _gone = sender.send((reply, permit));
    };
    let spawned = std::thread::Builder::new().name("answer".into()).spawn(answer);
    let reply = match spawned {
        Ok(_) => receiver.await.ok(),
        Err(_) => None,
    };
    waits.1 = false;
    let failed = |why: &str| (Reply::error(503, why, "Try again."), None);
    let (reply, room) = match reply {
        None => failed("the request failed"),
        // the permit is kept until there is room for the reply
        Some((reply, _at_work)) => match &reply.content {
            Content::Whole(bytes) => match unread.room(bytes.len()).await {
                None => failed("too many answers wait to be read"),
                room => (reply, room),
            },
            _ => (reply, None),
        },
    };
    response(reply, &site, open, busy, room)
}

fn response(
    reply: Reply,
    site: &Arc<Site>,
    open: OpenRequest,
    busy: Busy,
    room: Option<OwnedSemaphorePermit>,
) -> Response<Sent> {
    let Reply { status, kind, content, headers } = reply;
    let body = match content {
        Content::Whole(bytes) => SentBody::Whole(bytes.into()),
        Content::Fixed(bytes) => SentBody::Whole(Bytes::from_static(bytes)),
        Content::Pieces(pieces) => SentBody::Pieces(pieces),
        Content::Progress => SentBody::Lines(tell(Arc::clone(site))),
    };
    // connections that only wait for progress do not keep the server running
    let open = (!matches!(body, SentBody::Lines(_))).then_some(open);
    let mut response = Response::new(Sent { what: body, _open: open, _busy: busy, _room: room });
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let all = response.headers_mut();
    for (name, value) in HEADERS {
        all.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    all.insert("content-type", HeaderValue::from_static(kind));
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            all.insert(HeaderName::from_static(name), value);
        }
    }
    response
}

/// Returns a channel of progress lines, which ends when the inputs are read.
fn tell(site: Arc<Site>) -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(async move {
        loop {
            let (began, is_reading) = (Instant::now(), site.is_reading());
            let (line, is_last) = site.progress();
            let line = format!("data: {line}\n\n");
            if sender.send(line.into()).await.is_err() || is_last {
                return;
            }
            while began.elapsed() < EVERY && site.is_reading() == is_reading {
                tokio::time::sleep(LOOK).await;
            }
        }
    });
    receiver
}

enum SentBody {
    Whole(Bytes),
    Pieces(BodyPieces),
    Lines(mpsc::Receiver<Bytes>),
}

struct Sent {
    what: SentBody,
    _open: Option<OpenRequest>,
    _busy: Busy,
    _room: Option<OwnedSemaphorePermit>,
}

/// The error of a body that ends early. It closes the connection, so that the client does not take
/// the body for complete.
#[derive(Debug)]
struct BrokenOff;

impl std::fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the slice could not be finished")
    }
}

impl std::error::Error for BrokenOff {}

impl Body for Sent {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match &mut self.what {
            SentBody::Whole(bytes) => {
                // the bytes are sent in frames, so that the reply keeps its room until the client
                // has read nearly all
                let next = bytes.split_to(bytes.len().min(FRAME));
                Poll::Ready((!next.is_empty()).then(|| Ok(Frame::data(next))))
            }
            SentBody::Lines(lines) => {
                lines.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line))))
            }
            SentBody::Pieces(pieces) => {
                if let Some(first) = pieces.first.take() {
                    return Poll::Ready(Some(Ok(Frame::data(first.into()))));
                }
                let next = pieces.rest.poll_recv(context);
                next.map(|piece| {
                    piece.map(|piece| match piece {
                        Ok(piece) => Ok(Frame::data(piece.into())),
                        Err(()) => Err(BrokenOff),
                    })
                })
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.what, SentBody::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match &self.what {
            SentBody::Whole(bytes) => hyper::body::SizeHint::with_exact(bytes.len() as u64),
            _ => hyper::body::SizeHint::default(),
        }
    }
}
