//! Events by which DevTools takes profiles for those of a browser, and shows the main thread first and open.
//!
//! With a `TracingStartedInBrowser` a trace is no longer generic: processes without a page vanish, so each gets a
//! `CommitLoad`. The range begins at `TracingStartedInBrowser`, so it comes first.
//!
//! ```text
//!   M thread_name CrRendererMain      the main thread is found by that name
//!   I TracingStartedInBrowser         at the earliest time: names the process of the main frame
//!   X CommitLoad                      one for each process: gives it a frame, and a URL that says what it is
//! ```
//!
//! Source: DevTools' handler of metadata (`MetaHandler`). Cost: three short events, and one for each further process.

use std::collections::BTreeSet;
use tracemill_trace::json::{push_integer, push_micros};

/// What the input is called that is made for DevTools.
pub const FOR_DEVTOOLS: &str = "--for devtools";

/// A profile that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartedProfile {
    pub pid: u64,
    pub tid: u64,
    /// Whether it is to be the main thread; if none is, the first one takes its place.
    pub is_main: bool,
    /// Nanoseconds.
    pub start: i64,
}

/// A trace of these events; `first` is the earliest time of all inputs, in nanoseconds. `None` without profiles.
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
        // when the page was loaded nobody asks; clocks of profiles may be moved toward each other yet
        push_event(&mut out, &load, profile, earliest);
    }
    out.extend_from_slice(b"]\n");
    Some(out)
}

/// The id of the one frame of a process.
fn frame(pid: u64) -> String {
    format!("FRAME{pid}")
}

/// Something that parses as a URL, as DevTools demands, and is read as what it stands for.
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
