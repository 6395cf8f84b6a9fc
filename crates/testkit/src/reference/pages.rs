//! DevTools' visibility rules for traces with pages, computed naively: processes with a page, and
//! threads by name.

use super::profile::Value;
use super::read::{Fields, elements, is_string, unescape};

/// Returns the processes that an event of process `pid` marks as having a page.
pub(super) fn shown_by(event: &Fields<'_>, pid: &Value) -> Vec<Value> {
    let has_page = |frame: &Fields<'_>| frame.get("url").is_some_and(|url| url.len() > 2);
    let args = event.get("args").and_then(Fields::parse).unwrap_or_default();
    let data = args.get("data").filter(|data| data.starts_with('{')).and_then(Fields::parse);
    let Some(data) = data else { return Vec::new() };
    if event.get("name").is_some_and(|name| is_string(name, "CommitLoad")) {
        return has_page(&data).then(|| pid.clone()).into_iter().collect();
    }
    let frames = data.get("frames").and_then(elements).unwrap_or_default();
    let frames = frames.into_iter().filter_map(Fields::parse).chain([data.clone()]);
    let pids = frames.filter(has_page).filter_map(|frame| frame.get("processId"));
    pids.map(|pid| Value::of(Some(pid))).collect()
}

pub(super) fn thread_name(event: &Fields<'_>) -> Option<Vec<u8>> {
    let is_name = event.get("name").and_then(unescape)? == b"thread_name";
    let args = event.get("args").and_then(Fields::parse)?;
    is_name.then(|| args.get("name").and_then(unescape)).flatten()
}

/// Returns whether DevTools hides threads with this name in traces with pages.
pub(super) fn is_hidden(name: &[u8]) -> bool {
    [&b"Chrome_ChildIOThread"[..], b"Compositor", b"GpuMemoryThread", b"PerfettoTrace"]
        .contains(&name)
}
