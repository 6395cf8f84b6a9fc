//! Adds events that make DevTools treat profiles as a browser trace, with the main thread first and
//! open.
//!
//! With a `TracingStartedInBrowser` event, DevTools hides processes without a page, so each process
//! gets a `CommitLoad`. The displayed range begins at `TracingStartedInBrowser`, so that event is
//! the earliest.
//!
//! ```text
//!   M thread_name CrRendererMain      by this name DevTools finds the main thread
//!   I TracingStartedInBrowser         at the earliest time: names the process of the main frame
//!   X CommitLoad                      one per process: gives it a frame and a URL
//! ```
//!
//! Source: DevTools' `MetaHandler`. Cost: three short events, and one for each further process.

use std::collections::BTreeSet;
use tracemill_trace::json::{push_integer, push_micros};

/// Name of the synthetic input with the events for DevTools.
pub const FOR_DEVTOOLS: &str = "--for devtools";

/// Identity and start of a profile that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartedProfile {
    pub pid: u64,
    pub tid: u64,
    /// Whether DevTools shows the thread as main thread; by default the thread of the first
    /// profile.
    pub is_main: bool,
    /// Start in nanoseconds.
    pub start: i64,
}

/// Returns a trace of the events. Returns `None` without profiles.
///
/// `first` is the earliest time of all inputs, in nanoseconds.
pub(crate) fn browser_events(profiles: &[StartedProfile], first: Option<i64>) -> Option<Vec<u8>> {
    let main = profiles.iter().find(|p| p.is_main).or(profiles.first())?;
    let earliest = profiles.iter().map(|profile| profile.start).chain(first).min()?;
    let mut out = b"[".to_vec();
    let main_name =
        r#"{"args":{"name":"CrRendererMain"},"cat":"__metadata","name":"thread_name","ph":"M""#;
    push_event(&mut out, main_name, main, 0);
    out.extend_from_slice(b",\n");
    let started = format!(
        r#"{{"args":{{"data":{{"frameTreeNodeId":1,"frames":[{{"frame":"{0}","isInPrimaryMainFrame":true,"isOutermostMainFrame":true,"name":"","processId":{1},"url":"{2}"}}],"persistentIds":true}}}},"cat":"devtools.timeline","name":"TracingStartedInBrowser","ph":"I","s":"t""#,
        frame(main.pid),
        main.pid,
        url(main.pid),
    );
    push_event(&mut out, &started, main, earliest);
    let mut pids = BTreeSet::new();
    for profile in profiles.iter().filter(|profile| pids.insert(profile.pid)) {
        let load = format!(
            r#"{{"args":{{"data":{{"frame":"{0}","isMainFrame":{1},"isOutermostMainFrame":{1},"name":"","page":"{0}","url":"{2}"}}}},"cat":"devtools.timeline","dur":0,"name":"CommitLoad","ph":"X""#,
            frame(profile.pid),
            profile.pid == main.pid,
            url(profile.pid),
        );
        out.extend_from_slice(b",\n");
        // no reader uses the load time, and the clocks of profiles may still be aligned
        push_event(&mut out, &load, profile, earliest);
    }
    out.extend_from_slice(b"]\n");
    Some(out)
}

fn frame(pid: u64) -> String {
    format!("FRAME{pid}")
}

/// Returns text that parses as a URL, as DevTools requires, and names the process.
fn url(pid: u64) -> String {
    format!("process:{pid}")
}

fn push_event(out: &mut Vec<u8>, head: &str, profile: &StartedProfile, ts: i64) {
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(b",\"pid\":");
    push_integer(profile.pid, out);
    out.extend_from_slice(b",\"tid\":");
    push_integer(profile.tid, out);
    out.extend_from_slice(b",\"ts\":");
    push_micros(ts, out);
    out.push(b'}');
}
