//! What a trace says of itself: names of threads, frames of pages, which process is whose (`MetaHandler`).

use crate::value::{elements, is_true, member, micros, string, template};
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::metadata::NODE_MAIN;
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// Events that names, frames and bounds are made of.
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

/// One of them, as far as it matters.
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

    /// Bytes of heap.
    pub(crate) fn heap(&self) -> u64 {
        /// Of the value itself, and of what is made of it.
        const OWN: usize = 2 * size_of::<(usize, Notable)>() + 100;
        (OWN + self.pid.len() + self.tid.len() + 2 * self.args.len()) as u64
    }

    /// Whether it is one that Chrome writes for DevTools only.
    pub(crate) fn is_web(&self) -> bool {
        use Role::*;
        matches!(self.role, StartedInBrowser | StartedInPage | SessionForWorker | CpuProfile)
    }
}

/// URLs of requests that DevTools follows.
const PROTOCOLS: [&[u8]; 5] = [b"blob:", b"file:", b"filesystem:", b"http:", b"https:"];

/// A process that shows frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) url: Option<Vec<u8>>,
    pub(crate) is_on_main_frame: bool,
}

/// pid and tid, as written.
pub(crate) type ThreadId = (Box<[u8]>, Box<[u8]>);

/// Where ids stand.
type Numbers = HashMap<Box<[u8]>, usize>;

/// A process that shows a frame, and the frame's URL.
type Shown = (Box<[u8]>, Vec<u8>);

/// What all of these events say.
#[derive(Default)]
pub(crate) struct Meta {
    /// By (pid, tid), in the order of the first of each.
    pub(crate) thread_names: Vec<(ThreadId, Vec<u8>)>,
    /// Main threads of Node, whatever other names they have.
    pub(crate) node_mains: HashSet<ThreadId>,
    /// Where each of them stands, by pid and then by tid.
    thread_numbers: HashMap<Box<[u8]>, Numbers>,
    pub(crate) process_names: HashMap<Box<[u8]>, Vec<u8>>,
    /// Processes that show frames, in order.
    pub(crate) pages: Vec<(Box<[u8]>, Page)>,
    /// Where each of them stands.
    page_numbers: Numbers,
    pub(crate) main_frame: Option<Vec<u8>>,
    /// Its URL when the recording began.
    pub(crate) main_frame_url: Option<Vec<u8>>,
    /// The time of the last `TracingStartedInBrowser`.
    pub(crate) started: Option<f64>,
    /// URLs of requests by their ids.
    pub(crate) requests: HashMap<Vec<u8>, Vec<u8>>,
    /// Threads of workers that have a session of DevTools.
    pub(crate) workers: HashSet<ThreadId>,
    /// Of each frame the processes and their URLs, in order.
    frames: Vec<(Vec<u8>, Vec<Shown>)>,
    /// Where each of them stands.
    frame_numbers: HashMap<Vec<u8>, usize>,
    /// Names and URLs of the frames there were at the start, by the last word on each.
    pub(crate) frame_titles: HashMap<Vec<u8>, (Vec<u8>, Vec<u8>)>,
}

impl Meta {
    /// Takes an event; `place` is that of its input.
    pub(crate) fn note(&mut self, event: &Notable, place: &InputPlace) {
        let pid = place.pid(&event.pid);
        let args = &*event.args;
        let data = member(args, b"data");
        match event.role {
            Role::ThreadName => self.name_thread(pid, event),
            Role::ProcessName => {
                if let Some(name) = member(args, b"name") {
                    self.process_names.insert(pid.into(), template(Some(name)).into_owned());
                }
            }
            Role::StartedInBrowser => {
                self.started = event.ts.map(|ts| place.moved(ts));
                let frames = data.and_then(|data| member(data, b"frames"));
                for frame in elements(frames.unwrap_or_default()) {
                    self.frame(frame, place.pid(pid_of(frame)).into());
                    self.judge_main(frame);
                    let text = |key: &[u8]| member(frame, key).and_then(string);
                    let title =
                        (text(b"name").unwrap_or_default(), text(b"url").unwrap_or_default());
                    self.frame_titles.insert(text(b"frame").unwrap_or_default(), title);
                }
            }
            Role::FrameCommitted => {
                if let Some(frame) = data {
                    self.frame(frame, place.pid(pid_of(frame)).into());
                }
            }
            Role::CommitLoad => {
                if let Some(frame) = data {
                    self.frame(frame, pid.into());
                    let text = |key: &[u8]| member(frame, key).and_then(string).unwrap_or_default();
                    if let Some((name, url)) = self.frame_titles.get_mut(&text(b"frame")) {
                        *name = text(b"name");
                        *url = Some(text(b"url")).filter(|u| !u.is_empty()).unwrap_or(url.clone());
                    }
                }
            }
            Role::SendRequest => {
                let text = |key: &[u8]| data.and_then(|data| member(data, key));
                if let (Some(id), Some(url)) = (text(b"requestId"), text(b"url").and_then(string)) {
                    // the last one counts, also if it is one that DevTools does not follow
                    let id = template(Some(id)).into_owned();
                    match PROTOCOLS.iter().any(|own| url.starts_with(own)) {
                        true => self.requests.insert(id, url),
                        false => self.requests.remove(&id),
                    };
                }
            }
            Role::SessionForWorker => {
                if let Some(tid) = data.and_then(|data| member(data, b"workerThreadId")) {
                    self.workers.insert((pid.into(), tid.into()));
                }
            }
            Role::StartedInPage | Role::CpuProfile => {}
        }
    }

    /// Takes the name of a thread; one of two is the later.
    fn name_thread(&mut self, pid: &[u8], Notable { tid, args, .. }: &Notable) {
        let name = member(args, b"name").filter(|name| *name != b"null");
        let name = template(name.or(Some(tid))).into_owned();
        if name == b"CrGpuMain" {
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

    /// `updateRendererProcessByFrame`
    fn frame(&mut self, frame: &[u8], pid: Box<[u8]>) {
        let text = |key: &[u8]| member(frame, key).and_then(string).unwrap_or_default();
        let (id, url) = (text(b"frame"), text(b"url"));
        let at = *self.frame_numbers.entry(id.clone()).or_insert_with(|| {
            self.frames.push((id, Vec::new()));
            self.frames.len() - 1
        });
        self.frames[at].1.push((pid, url));
    }

    fn judge_main(&mut self, frame: &[u8]) {
        if is_main(frame) {
            self.main_frame = member(frame, b"frame").and_then(string);
            self.main_frame_url = member(frame, b"url").and_then(string);
        }
    }

    /// `assignOrigin`, `assignIsMainFrame`
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

    /// Whether the page is one that was made so that DevTools shows CPU profiles: no URL of a page begins like its own.
    pub(crate) fn is_page_made(&self) -> bool {
        self.main_frame_url.as_deref().is_some_and(|url| url.starts_with(b"process:"))
    }

    /// Whether a process shows a frame.
    pub(crate) fn shows(&self, frame: &[u8], pid: &[u8]) -> bool {
        let at = self.frame_numbers.get(frame);
        at.is_some_and(|&at| self.frames[at].1.iter().any(|(own, _)| **own == *pid))
    }

    /// The page of a process.
    pub(crate) fn page(&self, pid: &[u8]) -> Option<&Page> {
        self.page_numbers.get(pid).map(|&at| &self.pages[at].1)
    }

    pub(crate) fn thread_name(&self, pid: &[u8], tid: &[u8]) -> Option<&[u8]> {
        let at = *self.thread_numbers.get(pid)?.get(tid)?;
        Some(&self.thread_names[at].1)
    }
}

/// `MetaHandler`: flags of a frame say whether it is the main one, or that it has no parent.
fn is_main(frame: &[u8]) -> bool {
    let flag = |key: &[u8]| member(frame, key);
    let (primary, outermost) = (flag(b"isInPrimaryMainFrame"), flag(b"isOutermostMainFrame"));
    match (primary, outermost) {
        (Some(_), Some(_)) => is_true(primary) && is_true(outermost),
        (None, Some(_)) => is_true(outermost),
        _ => !is_true(flag(b"parent")) && is_true(flag(b"url")),
    }
}

/// The id of the main frame among those that `TracingStartedInBrowser` tells of in `data`: the last that is one.
pub(crate) fn main_frame_in(data: &[u8]) -> Option<Vec<u8>> {
    let main = elements(member(data, b"frames")?).filter(|frame| is_main(frame)).last()?;
    member(main, b"frame").and_then(string)
}

fn pid_of(frame: &[u8]) -> &[u8] {
    member(frame, b"processId").unwrap_or_default()
}

/// Whether `new URL` takes it: a scheme, and a host where the scheme needs one.
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
