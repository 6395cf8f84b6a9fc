//! Generates the metadata of a recording: names of processes and threads, frames, navigations,
//! workers.

use super::parts::{EventKind, Producer, RecordingLayout, Thread, event};
use crate::Rng;
use serde_json::{Value, json};

const TIMELINE: &str = "disabled-by-default-devtools.timeline";

const THREADS: [&str; 8] = [
    "DedicatedWorker thread",
    "ThreadPoolForegroundWorker",
    "CompositorTileWorker1",
    "Compositor",
    "Chrome_ChildIOThread",
    "ServiceWorker thread",
    "ThreadPoolServiceThread",
    "CrRendererMain",
];

/// Pid of the page.
pub(super) const PAGE: u64 = 7;
/// Pid of a process that shows another frame of the page.
pub(super) const OTHER: u64 = 8;
/// Pid of the browser process.
pub(super) const BROWSER: u64 = 3;

/// Main thread of the page.
const MAIN: Thread = Thread { pid: PAGE, tid: 1 };
/// Main thread of the browser process.
const BROWSER_MAIN: Thread = Thread { pid: BROWSER, tid: 1 };

/// Creates the threads of a recording and their introductory events.
pub(super) fn heads(rng: &mut Rng, producer: Producer, start: u64) -> RecordingLayout {
    let mut layout = RecordingLayout { threads: vec![MAIN], events: Vec::new(), start };
    match producer {
        Producer::Browser => browser(rng, &mut layout),
        Producer::Node => {
            layout.name(PAGE, 1, "process_name", "node");
            layout.name(PAGE, 1, "thread_name", "JavaScriptMainThread");
            (2..2 + rng.below(3)).for_each(|tid| layout.thread(PAGE, tid, "WorkerThread"));
            let args = json!({"data": {"sessionId": "1"}});
            layout.mark(MAIN, "TracingStartedInPage", TIMELINE, args);
        }
        Producer::Generic => {
            for tid in 2..2 + rng.below(3) {
                layout.threads.push(Thread { pid: PAGE + tid % 2, tid });
                if rng.chance(60) {
                    layout.name(PAGE + tid % 2, tid, "thread_name", "named");
                }
            }
            if rng.chance(50) {
                layout.name(PAGE, 1, "process_name", "program");
            }
        }
    }
    layout
}

/// Creates a page with frames in one or two processes, its workers, and the browser process.
fn browser(rng: &mut Rng, layout: &mut RecordingLayout) {
    layout.name(BROWSER, 1, "process_name", "Browser");
    layout.thread(BROWSER, 1, "CrBrowserMain");
    layout.name(PAGE, 1, "process_name", "Renderer");
    layout.name(PAGE, 1, "thread_name", "CrRendererMain");
    for tid in 2..2 + rng.below(4) {
        layout.thread(PAGE, tid, rng.pick(&THREADS));
    }
    let has_other = rng.chance(50);
    if has_other {
        layout.thread(OTHER, 1, "CrRendererMain");
    }
    let main = json!({"frame": "F", "url": rng.pick(&["https://www.shop.co.uk/", "about:blank", "chrome://new-tab/"]),
        "name": "", "processId": PAGE, "isInPrimaryMainFrame": true, "isOutermostMainFrame": true});
    let mut frames = vec![main];
    if rng.chance(60) {
        frames.push(json!({"frame": "G", "url": "https://ads.example.com/frame.html", "name": "ad", "parent": "F",
            "processId": PAGE, "isInPrimaryMainFrame": true, "isOutermostMainFrame": false}));
    }
    if has_other && rng.chance(60) {
        frames.push(json!({"frame": "H", "url": rng.pick(&["about:blank", "https://video.example.org/"]), "name": "video",
            "parent": "F", "processId": OTHER}));
    }
    if rng.chance(20) {
        // as in recordings of Chrome before 117
        for frame in &mut frames {
            let frame = frame.as_object_mut().expect("a frame is an object");
            frame.remove("isInPrimaryMainFrame");
        }
    }
    let args = json!({"data": {"frameTreeNodeId": 1, "persistentIds": true, "frames": frames}});
    layout.mark(BROWSER_MAIN, "TracingStartedInBrowser", TIMELINE, args);
    layout.mark(MAIN, "TracingStartedInPage", TIMELINE, json!({"data": {"sessionId": "1"}}));
    let committed = |pid: u64| json!({"data": {"frame": "H", "url": "https://video.example.org/2", "name": "", "processId": pid, "parent": "F"}});
    if has_other && rng.chance(60) {
        layout.mark(BROWSER_MAIN, "FrameCommittedInBrowser", TIMELINE, committed(OTHER));
    }
    for Thread { pid, tid } in layout.threads.clone() {
        if rng.chance(30) {
            let data = json!({"sessionId": "1", "workerThreadId": tid, "workerId": format!("W{tid}"), "frame": "F",
                "url": "https://www.shop.co.uk/worker.js"});
            let data = json!({"data": data});
            layout.mark(Thread { pid, tid: 1 }, "TracingSessionIdForWorker", TIMELINE, data);
        }
    }
    if rng.chance(60) {
        navigation(rng, layout);
    }
}

/// Adds a navigation of the main frame with the events that Chrome writes for it.
fn navigation(rng: &mut Rng, layout: &mut RecordingLayout) {
    let id = "N1";
    let url = rng.pick(&["https://www.shop.co.uk/", "https://www.shop.co.uk/next", "about:blank"]);
    let data = json!({"documentLoaderURL": url, "isLoadingMainFrame": true, "isOutermostMainFrame": true, "navigationId": id});
    layout.at_phase(
        "R",
        MAIN,
        EventKind { name: "navigationStart", cat: "blink.user_timing" },
        json!({"frame": "F", "data": data}),
    );
    let data = json!({"frame": "F", "url": url, "name": "", "isMainFrame": true, "nodeId": 3});
    layout.mark(MAIN, "CommitLoad", "devtools.timeline", json!({"data": data}));
    let framed = |more: Value| json!({"frame": "F", "data": more});
    let timing = "loading,rail,devtools.timeline";
    for (name, data) in [
        ("firstPaint", json!({"navigationId": id})),
        ("firstContentfulPaint", json!({"navigationId": id})),
        (
            "largestContentfulPaint::Candidate",
            json!({"navigationId": id, "candidateIndex": 1, "nodeId": 3, "type": "text"}),
        ),
    ] {
        let phase = rng.pick(&["R", "I"]);
        layout.at_phase(phase, MAIN, EventKind { name, cat: timing }, framed(data));
    }
    let kind = |name| EventKind { name, cat: "blink.user_timing" };
    layout.at_phase("R", MAIN, kind("domLoading"), json!({"frame": "F"}));
    layout.at_phase("I", MAIN, kind("requestStart"), json!({"frame": "F"}));
}

impl RecordingLayout {
    fn name(&mut self, pid: u64, tid: u64, name: &str, value: &str) {
        self.events.push(json!({"ph": "M", "name": name, "cat": "__metadata", "pid": pid, "tid": tid, "ts": 0, "args": {"name": value}}));
    }

    fn thread(&mut self, pid: u64, tid: u64, name: &str) {
        self.name(pid, tid, "thread_name", name);
        self.threads.push(Thread { pid, tid });
    }

    fn mark(&mut self, thread: Thread, name: &str, cat: &str, args: Value) {
        self.at_phase("I", thread, EventKind { name, cat }, args);
    }

    fn at_phase(&mut self, phase: &str, thread: Thread, kind: EventKind<'_>, args: Value) {
        let mut entry = event(phase, thread, kind, json!(self.start), args);
        if phase == "I" {
            entry["s"] = json!("t");
        }
        self.events.push(entry);
    }
}
