//! Metadata of a trace: names of threads, frames of pages, and their processes (DevTools:
//! `MetaHandler`).

use crate::value::typed::{List, Object, decode, decode_data, object};
use crate::value::{Value, micros, template};
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::metadata::NODE_MAIN;
use tracemill_trace::spill::hash::{HashMap, HashSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    ThreadName,
    ProcessName,
    StartedInBrowser,
    StartedInPage,
    SessionForWorker,
    CpuProfile,
    FrameCommitted,
    CommitLoad,
    SendRequest,
}

/// An event whose data [`Meta`] collects: names, frames, pages and requests.
pub(crate) struct Notable {
    role: Role,
    pid: Box<[u8]>,
    tid: Box<[u8]>,
    ts: Option<f64>,
    args: Box<[u8]>,
}

impl Notable {
    #[inline]
    pub(crate) fn of(event: &Event<'_>) -> Option<Self> {
        let name = event.field_and_rest(Field::Name)?;
        if !matches!(name, [b'"', b't' | b'p' | b'T' | b'C' | b'F' | b'R' | b'\\', ..]) {
            return None;
        }
        let name = match event.field(Field::Name)? {
            [b'"', content @ .., b'"'] => content,
            _ => return None,
        };
        let role = match name {
            b"thread_name" => Role::ThreadName,
            b"process_name" => Role::ProcessName,
            b"TracingStartedInBrowser" => Role::StartedInBrowser,
            b"TracingStartedInPage" => Role::StartedInPage,
            b"TracingSessionIdForWorker" => Role::SessionForWorker,
            b"CpuProfile" => Role::CpuProfile,
            b"FrameCommittedInBrowser" => Role::FrameCommitted,
            b"CommitLoad" => Role::CommitLoad,
            b"ResourceSendRequest" => Role::SendRequest,
            _ => return None,
        };
        let field = |field| event.field(field).unwrap_or_default();
        let args = if role == Role::CpuProfile { b"" } else { field(Field::Args) };
        Some(Notable {
            role,
            pid: field(Field::Pid).into(),
            tid: field(Field::Tid).into(),
            ts: micros(event, Field::Ts),
            args: args.into(),
        })
    }

    pub(crate) fn heap(&self) -> u64 {
        /// Heap bytes of an event and of its results.
        const OWN: usize = 2 * size_of::<(usize, Notable)>() + 100;
        (OWN + self.pid.len() + self.tid.len() + 2 * self.args.len()) as u64
    }

    /// Returns whether Chrome writes events with this name only when it records for DevTools.
    pub(crate) fn is_web(&self) -> bool {
        use Role::*;
        matches!(self.role, StartedInBrowser | StartedInPage | SessionForWorker | CpuProfile)
    }
}

/// URL schemes of the requests that DevTools records; it drops requests of other schemes.
const PROTOCOLS: [&[u8]; 5] = [b"blob:", b"file:", b"filesystem:", b"http:", b"https:"];

/// A process that shows frames.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The URL of the frame that the process shows.
    pub url: Option<Vec<u8>>,
    /// Whether the process shows the main frame.
    pub is_on_main_frame: bool,
}

/// Pid and tid of a thread, as written in the trace.
pub(crate) type ThreadId = (Box<[u8]>, Box<[u8]>);

type Numbers = HashMap<Box<[u8]>, usize>;

/// A process that shows a frame, and the frame's URL.
type Shown = (Box<[u8]>, Vec<u8>);

/// The metadata of a trace.
#[derive(Default)]
pub struct Meta {
    /// Names of threads, in the order of their first name events.
    pub(crate) thread_names: Vec<(ThreadId, Vec<u8>)>,
    /// Main threads of Node, recognised by a name that a later event may change.
    pub(crate) node_mains: HashSet<ThreadId>,
    thread_numbers: HashMap<Box<[u8]>, Numbers>,
    pub(crate) process_names: HashMap<Box<[u8]>, Vec<u8>>,
    /// The last process that is named as the GPU process.
    pub gpu_process: Option<Box<[u8]>>,
    /// Tid of the last main thread of a GPU process.
    pub gpu_thread: Option<Box<[u8]>>,
    /// Processes that show frames, in the order of their first frames.
    pub(crate) pages: Vec<(Box<[u8]>, Page)>,
    page_numbers: Numbers,
    /// The id of the main frame.
    pub main_frame: Option<Vec<u8>>,
    /// URL of the main frame when the recording began.
    pub main_frame_url: Option<Vec<u8>>,
    /// Time of the last `TracingStartedInBrowser`.
    pub(crate) started: Option<f64>,
    /// URLs of requests by id.
    pub(crate) requests: HashMap<Vec<u8>, Vec<u8>>,
    /// Worker threads with a DevTools session.
    pub workers: HashSet<ThreadId>,
    /// For each frame, the processes that show it, with their URLs, in input order.
    frames: Vec<(Vec<u8>, Vec<Shown>)>,
    frame_numbers: HashMap<Vec<u8>, usize>,
    /// Latest name and URL of each frame that was present when the recording began, by id.
    pub(crate) frame_titles: HashMap<Vec<u8>, (Vec<u8>, Vec<u8>)>,
}

impl Meta {
    /// Adds an event. `place` has the clock offset and ids of its input.
    pub(crate) fn note(&mut self, event: &Notable, place: &InputPlace) {
        let pid = place.pid(&event.pid);
        let args = &*event.args;
        match event.role {
            Role::ThreadName => self.name_thread(pid, event),
            Role::ProcessName => {
                let name = decode::<Named>(args).name;
                if matches!(name.text(), Some(b"Gpu" | b"GPU Process")) {
                    self.gpu_process = Some(pid.into());
                }
                if name != Value::Missing {
                    self.process_names.insert(pid.into(), name.template().into_owned());
                }
            }
            Role::StartedInBrowser => {
                self.started = event.ts.map(|ts| place.moved(ts));
                let started: Started = decode_data(args).unwrap_or_default();
                for frame in started.frames() {
                    self.frame(frame, place.pid(&frame.process_id.written()).into());
                    if frame.is_main() {
                        self.main_frame = frame.frame.text().map(<[u8]>::to_vec);
                        self.main_frame_url = frame.url.text().map(<[u8]>::to_vec);
                    }
                    let title = (text(&frame.name), text(&frame.url));
                    self.frame_titles.insert(text(&frame.frame), title);
                }
            }
            Role::FrameCommitted => {
                if let Some(frame) = decode_data::<Frame>(args) {
                    self.frame(&frame, place.pid(&frame.process_id.written()).into());
                }
            }
            Role::CommitLoad => {
                if let Some(frame) = decode_data::<Frame>(args) {
                    self.frame(&frame, pid.into());
                    if let Some((name, url)) = self.frame_titles.get_mut(&text(&frame.frame)) {
                        *name = text(&frame.name);
                        *url =
                            Some(text(&frame.url)).filter(|u| !u.is_empty()).unwrap_or(url.clone());
                    }
                }
            }
            Role::SendRequest => {
                let SendRequest { request_id: id, url } = decode_data(args).unwrap_or_default();
                if id != Value::Missing
                    && let Value::Text(url) = url
                {
                    // The last request with an id counts, even if DevTools does not record its URL.
                    let id = id.template().into_owned();
                    match PROTOCOLS.iter().any(|protocol| url.starts_with(protocol)) {
                        true => self.requests.insert(id, url),
                        false => self.requests.remove(&id),
                    };
                }
            }
            Role::SessionForWorker => {
                let tid = decode_data::<Session>(args).unwrap_or_default().worker_thread_id;
                if tid != Value::Missing {
                    self.workers.insert((pid.into(), tid.written().into()));
                }
            }
            Role::StartedInPage | Role::CpuProfile => {}
        }
    }

    /// Sets the name of a thread; the last one wins.
    fn name_thread(&mut self, pid: &[u8], Notable { tid, args, .. }: &Notable) {
        let name = match decode::<Named>(args).name {
            Value::Missing | Value::Null => template(Some(tid)).into_owned(),
            name => name.template().into_owned(),
        };
        if name == b"CrGpuMain" {
            self.gpu_thread = Some(tid.clone());
            return;
        }
        if name == NODE_MAIN {
            self.node_mains.insert((pid.into(), tid.clone()));
        }
        let next = self.thread_names.len();
        let of_process = self.thread_numbers.entry(pid.into()).or_default();
        match *of_process.entry(tid.clone()).or_insert(next) {
            new if new == next => self.thread_names.push(((pid.into(), tid.clone()), name)),
            known => self.thread_names[known].1 = name,
        }
    }

    /// Adds a process that shows a frame (DevTools: `updateRendererProcessByFrame`).
    fn frame(&mut self, frame: &Frame, pid: Box<[u8]>) {
        let (id, url) = (text(&frame.frame), text(&frame.url));
        let at = *self.frame_numbers.entry(id.clone()).or_insert_with(|| {
            self.frames.push((id, Vec::new()));
            self.frames.len() - 1
        });
        self.frames[at].1.push((pid, url));
    }

    /// Assigns pages to processes (DevTools: `assignOrigin`, `assignIsMainFrame`).
    pub(crate) fn finish(&mut self) {
        for (id, processes) in &self.frames {
            for (pid, url) in processes {
                let next = self.pages.len();
                let at = *self.page_numbers.entry(pid.clone()).or_insert(next);
                if at == next {
                    self.pages.push((pid.clone(), Page::default()));
                }
                let page = &mut self.pages[at].1;
                if page.url.as_deref().is_none_or(|url| url == b"about:blank") {
                    page.url = is_url(url).then(|| url.clone());
                }
                page.is_on_main_frame |= self.main_frame.as_ref() == Some(id);
            }
        }
    }

    /// Returns whether the page of the main frame is synthetic. Tracemill writes such a page so
    /// that DevTools shows CPU profiles.
    pub(crate) fn is_page_made(&self) -> bool {
        self.main_frame_url.as_deref().is_some_and(|url| url.starts_with(b"process:"))
    }

    /// Returns whether a process ever showed a frame.
    pub fn shows(&self, frame: &[u8], pid: &[u8]) -> bool {
        let at = self.frame_numbers.get(frame);
        at.is_some_and(|&at| self.frames[at].1.iter().any(|(process, _)| **process == *pid))
    }

    /// Returns the page that a process shows.
    pub fn page(&self, pid: &[u8]) -> Option<&Page> {
        self.page_numbers.get(pid).map(|&at| &self.pages[at].1)
    }

    pub(crate) fn thread_name(&self, pid: &[u8], tid: &[u8]) -> Option<&[u8]> {
        let at = *self.thread_numbers.get(pid)?.get(tid)?;
        Some(&self.thread_names[at].1)
    }
}

object! {
    /// Args of `thread_name` and `process_name`.
    struct Named { name }

    /// Data of `ResourceSendRequest`.
    struct SendRequest { request_id, url }

    /// Data of `TracingSessionIdForWorker`.
    struct Session { worker_thread_id }

    /// Data of `TracingStartedInBrowser`.
    pub struct Started { frames: List<Object<Frame>> }
}

impl Started {
    fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame> {
        self.frames.0.iter().flatten().filter_map(|frame| frame.0.as_ref())
    }

    /// Returns the id of the last main frame.
    pub fn main_frame(&self) -> Option<&[u8]> {
        self.frames().rfind(|frame| frame.is_main())?.frame.text()
    }
}

object! {
    struct Frame { frame, name, url, parent, process_id, is_in_primary_main_frame, is_outermost_main_frame }
}

impl Frame {
    /// Returns whether the frame is the main frame, by its flags or the lack of a parent (DevTools:
    /// `MetaHandler`).
    fn is_main(&self) -> bool {
        match (&self.is_in_primary_main_frame, &self.is_outermost_main_frame) {
            (_, Value::Missing) => !self.parent.is_true() && self.url.is_true(),
            (Value::Missing, outermost) => outermost.is_true(),
            (primary, outermost) => primary.is_true() && outermost.is_true(),
        }
    }
}

/// Returns the content of a string; empty for other values.
fn text(value: &Value) -> Vec<u8> {
    value.text().unwrap_or_default().to_vec()
}

/// Returns whether JavaScript's `new URL` accepts the text. It needs a scheme, and for some schemes
/// a host.
fn is_url(url: &[u8]) -> bool {
    let Some(colon) = url.iter().position(|&byte| byte == b':') else { return false };
    let (scheme, rest) = (&url[..colon], &url[colon + 1..]);
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let needs_host = [&b"http"[..], b"https", b"ws", b"wss", b"ftp"]
        .iter()
        .any(|special| scheme.eq_ignore_ascii_case(special));
    let host = rest.iter().find(|&&byte| byte != b'/' && byte != b'\\');
    is_scheme && (!needs_host || host.is_some())
}
