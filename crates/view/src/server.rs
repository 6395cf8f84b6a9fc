//! Sockets: requests are read on one thread, and answered on threads of their own.

use crate::ask::Ask;
use crate::reply::{Content, Pieces, Reply};
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
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tracemill_pipeline::Cancel;

/// Requests at work at one time.
const AT_WORK: usize = 8;
/// Connections at one time.
const CONNECTIONS: usize = 256;
/// How often progress is told.
const EVERY: Duration = Duration::from_millis(150);
/// How long a client may take to send a request's head.
const HEAD: Duration = Duration::from_secs(10);

/// What every answer says: nothing of anyone else is loaded, shown around it, or told where it came from.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    // a viewer that is opened from here answers to the window that opened it
    ("cross-origin-opener-policy", "same-origin-allow-popups"),
    ("cache-control", "no-store"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
];

/// A port that is taken, on which nobody is answered yet.
pub struct Bound(Vec<StdListener>);

impl Bound {
    /// Takes a port of an address; 0 is any that is free. With 127.0.0.1 goes ::1, where there is that, since `localhost` may be either.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(host: IpAddr, port: u16) -> io::Result<Self> {
        let mut all = vec![StdListener::bind((host, port))?];
        if host == Ipv4Addr::LOCALHOST {
            let port = all[0].local_addr()?.port();
            all.extend(StdListener::bind((Ipv6Addr::LOCALHOST, port)));
        }
        all.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        Ok(Bound(all))
    }

    /// Its port.
    ///
    /// # Errors
    /// What the system says.
    pub fn port(&self) -> io::Result<u16> {
        Ok(self.0[0].local_addr()?.port())
    }

    /// Answers until nobody asked for `idle`; for ever if that is `None`.
    ///
    /// # Errors
    /// What the system says.
    pub fn serve(self, site: &Arc<Site>, idle: Option<Duration>) -> io::Result<()> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let served = runtime.block_on(serve(self.0, site, idle));
        site.close();
        // what is at work ends by itself
        runtime.shutdown_background();
        served
    }
}

/// When anybody asked, in milliseconds since the start; what is being answered counts as asked.
struct Asked {
    start: Instant,
    last: AtomicU64,
    open: AtomicU64,
}

impl Asked {
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
    let asked =
        Arc::new(Asked { start: Instant::now(), last: AtomicU64::new(0), open: AtomicU64::new(0) });
    let (work, connections) =
        (Arc::new(Semaphore::new(AT_WORK)), Arc::new(Semaphore::new(CONNECTIONS)));
    loop {
        let accepted = tokio::time::timeout(Duration::from_millis(500), accept()).await;
        let Ok(stream) = accepted else {
            if idle.is_some_and(|idle| asked.since() >= idle) {
                return Ok(());
            }
            continue;
        };
        let Ok((stream, _)) = stream else {
            // no descriptors, say: those that are open go on
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else { continue };
        let (site, work, asked) = (Arc::clone(site), Arc::clone(&work), Arc::clone(&asked));
        // small answers are not held back
        let _as_is = stream.set_nodelay(true);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let (site, work, asked) =
                    (Arc::clone(&site), Arc::clone(&work), Arc::clone(&asked));
                async move { Ok::<_, Infallible>(respond(request, site, work, asked).await) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // a client that goes, or speaks something else, is no concern of others
            let _gone = http.serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
}

/// Counts a request that is being answered.
struct Open(Arc<Asked>);

impl Open {
    fn new(asked: Arc<Asked>) -> Self {
        asked.open.fetch_add(1, Ordering::Relaxed);
        Open(asked)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.now();
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Tells the thread that answers that nobody waits for it, when it is dropped.
struct Waits(Cancel, bool);

impl Drop for Waits {
    fn drop(&mut self) {
        if self.1 {
            self.0.cancel();
        }
    }
}

/// A request that outlives its socket.
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

async fn respond(
    request: Request<Incoming>,
    site: Arc<Site>,
    work: Arc<Semaphore>,
    asked: Arc<Asked>,
) -> Response<Sent> {
    let open = Open::new(asked);
    let header = |name: &str| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.map(ToOwned::to_owned)
    };
    let (host, origin) = (header("host"), header("origin"));
    let is_own = header("x-tracemill").is_some();
    let (method, target) = (request.method().to_string(), request.uri().to_string());
    let own = OwnAsk { method, target, host, origin, is_own };
    let cancel = Cancel::default();
    if Site::is_quick(&own.ask()) {
        let reply = site.answer(&own.ask(), &cancel);
        return response(reply, &site, open);
    }
    let Ok(permit) = work.try_acquire_owned() else {
        let reply =
            Reply::error(429, "too many requests at a time", "Ask again when others are answered.");
        return response(reply, &site, open);
    };
    let (sender, receiver) = oneshot::channel();
    let mut waits = Waits(cancel.clone(), true);
    let answering = Arc::clone(&site);
    let answer = move || {
        let reply = answering.answer(&own.ask(), &cancel);
        drop(permit);
        // nobody waits for it
        let _gone = sender.send(reply);
    };
    let spawned = std::thread::Builder::new().name("answer".into()).spawn(answer);
    let reply = match spawned {
        Ok(_) => receiver.await.ok(),
        Err(_) => None,
    };
    waits.1 = false;
    let reply = reply.unwrap_or_else(|| Reply::error(503, "the request failed", "Try again."));
    response(reply, &site, open)
}

fn response(reply: Reply, site: &Arc<Site>, open: Open) -> Response<Sent> {
    let Reply { status, kind, content, headers } = reply;
    let body = match content {
        Content::Whole(bytes) => What::Whole(Some(bytes.into())),
        Content::Fixed(bytes) => What::Whole(Some(Bytes::from_static(bytes))),
        Content::Pieces(pieces) => What::Pieces(pieces),
        Content::Progress => What::Lines(tell(Arc::clone(site))),
    };
    // a page that only shows progress may be forgotten
    let open = (!matches!(body, What::Lines(_))).then_some(open);
    let mut response = Response::new(Sent { what: body, _open: open });
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

/// Lines of progress, until the inputs are read.
fn tell(site: Arc<Site>) -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(async move {
        loop {
            let (line, is_last) = site.progress();
            let line = format!("data: {line}\n\n");
            if sender.send(line.into()).await.is_err() || is_last {
                return;
            }
            tokio::time::sleep(EVERY).await;
        }
    });
    receiver
}

enum What {
    Whole(Option<Bytes>),
    Pieces(Pieces),
    Lines(mpsc::Receiver<Bytes>),
}

/// A body as it is sent.
struct Sent {
    what: What,
    _open: Option<Open>,
}

/// A body that cannot be finished: the connection is broken off, so that nobody takes what was sent for all of it.
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
            What::Whole(bytes) => {
                let bytes = bytes.take().filter(|bytes| !bytes.is_empty());
                Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
            What::Lines(lines) => {
                lines.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line))))
            }
            What::Pieces(pieces) => {
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
        matches!(&self.what, What::Whole(None))
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match &self.what {
            What::Whole(bytes) => {
                hyper::body::SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            _ => hyper::body::SizeHint::default(),
        }
    }
}
