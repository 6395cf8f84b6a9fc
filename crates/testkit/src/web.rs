//! A web server with faults, as an object store answers.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What the server does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// Each third request is answered with 503.
    Busy,
    /// Each third answer with a body has only half of it.
    Short,
    /// All requests are answered with this status.
    Status(u16),
    /// All requests are redirected to another host.
    Elsewhere,
    /// Requests for paths without `/same` are redirected to the path with it.
    SameHost,
}

/// An object, and the number of its version.
struct Stored {
    bytes: Arc<[u8]>,
    version: u64,
    /// Seconds since 1970, within a day.
    modified: u64,
}

struct Shared {
    objects: Mutex<HashMap<String, Stored>>,
    fault: Mutex<Fault>,
    requests: AtomicU64,
    bytes: AtomicU64,
    is_stopped: AtomicBool,
}

/// A server on 127.0.0.1, which ends when it is dropped.
pub struct WebServer {
    port: u16,
    shared: Arc<Shared>,
}

impl WebServer {
    /// Starts a server without objects.
    ///
    /// # Panics
    /// Panics if no port is free.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared {
            objects: Mutex::default(),
            fault: Mutex::new(Fault::None),
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
        });
        let served = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if served.is_stopped.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&served);
                std::thread::spawn(move || stream.map(|stream| shared.serve(&stream)));
            }
        });
        WebServer { port, shared }
    }

    /// Returns the address of an object.
    #[must_use]
    pub fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// Stores an object, or replaces it by another version. `modified` orders the times of objects.
    pub fn put(&self, path: &str, bytes: impl Into<Arc<[u8]>>, modified: u64) {
        let mut objects = lock(&self.shared.objects);
        let version = objects.get(path).map_or(1, |known| known.version + 1);
        objects.insert(path.to_owned(), Stored { bytes: bytes.into(), version, modified });
    }

    /// Sets what goes wrong from now on.
    pub fn fail(&self, fault: Fault) {
        *lock(&self.shared.fault) = fault;
    }

    /// Returns the numbers of requests and of bytes in answers since the last call.
    #[must_use]
    pub fn take_counts(&self) -> (u64, u64) {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        (take(&self.shared.requests), take(&self.shared.bytes))
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        // wakes the thread that waits for connections
        _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn lock<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lines of a request that matter.
#[derive(Default)]
struct Request {
    is_head: bool,
    path: String,
    range: Option<String>,
    if_match: Option<String>,
}

impl Request {
    /// Reads a request. Returns `None` at the end of the connection.
    fn read(lines: &mut impl BufRead) -> Option<Self> {
        let mut line = String::new();
        lines.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let mut words = line.split(' ');
        let is_head = words.next() == Some("HEAD");
        let path = words.next()?.trim_start_matches('/').replace("%20", " ");
        let mut request = Request { is_head, path, ..Request::default() };
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                return Some(request);
            };
            match &*name.to_ascii_lowercase() {
                "range" => request.range = Some(value.to_owned()),
                "if-match" => request.if_match = Some(value.to_owned()),
                _ => {}
            }
        }
    }

    /// Returns the range of `bytes=FROM-TO`.
    fn range(&self, length: u64) -> Option<Range<u64>> {
        let (from, to) = self.range.as_ref()?.strip_prefix("bytes=")?.split_once('-')?;
        let from: u64 = from.parse().ok()?;
        Some(from..to.parse().map_or(length, |to: u64| length.min(to + 1)))
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.take(u64::MAX));
        while let Some(request) = Request::read(&mut lines) {
            let number = self.requests.fetch_add(1, Ordering::Relaxed);
            let fault = *lock(&self.fault);
            let mut to = stream;
            let status = |text: &str| format!("HTTP/1.1 {text}\r\nContent-Length: 0\r\n");
            let redirect = |to: String| format!("{}Location: {to}\r\n\r\n", status("302 Found"));
            let head = match fault {
                Fault::Busy if number % 3 == 1 => status("503 Busy") + "\r\n",
                Fault::Status(code) => status(&format!("{code} Refused")) + "\r\n",
                Fault::Elsewhere => redirect("http://localhost:9/x".to_owned()),
                Fault::SameHost if !request.path.starts_with("same/") => {
                    redirect(format!("/same/{}", request.path))
                }
                _ => {
                    let is_short = fault == Fault::Short && number % 3 == 1;
                    if self.answer(&request, is_short, &mut to)? {
                        continue;
                    }
                    return Ok(());
                }
            };
            to.write_all(head.as_bytes())?;
        }
        Ok(())
    }

    /// Answers with an object. Returns whether the connection stays open.
    fn answer(
        &self,
        request: &Request,
        is_short: bool,
        to: &mut impl Write,
    ) -> std::io::Result<bool> {
        let path = request.path.trim_start_matches("same/");
        let found = lock(&self.objects).get(path).map(|stored| {
            (Arc::clone(&stored.bytes), format!("\"{}\"", stored.version), stored.modified)
        });
        let Some((bytes, tag, modified)) = found else {
            to.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?;
            return Ok(true);
        };
        if request.if_match.as_ref().is_some_and(|wanted| *wanted != tag) {
            to.write_all(b"HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n")?;
            return Ok(true);
        }
        let length = bytes.len() as u64;
        let range = request.range(length);
        let body = range.clone().unwrap_or(0..length);
        let (status, extra) = match &range {
            Some(range) => (
                "206 Partial Content",
                format!("Content-Range: bytes {}-{}/{length}\r\n", range.start, range.end - 1),
            ),
            None => ("200 OK", String::new()),
        };
        let time = format!("{:02}:{:02}:{:02}", modified / 3600, modified / 60 % 60, modified % 60);
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: {tag}\r\n{extra}\
             Last-Modified: Mon, 05 Jan 2026 {time} GMT\r\nAccept-Ranges: bytes\r\n\r\n",
            body.end - body.start
        );
        to.write_all(head.as_bytes())?;
        if request.is_head {
            return Ok(true);
        }
        let body = &bytes[body.start as usize..body.end as usize];
        let sent = if is_short { &body[..body.len() / 2] } else { body };
        self.bytes.fetch_add(sent.len() as u64, Ordering::Relaxed);
        to.write_all(sent)?;
        Ok(!is_short)
    }
}
