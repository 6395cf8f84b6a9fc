//! Adds an event around the CPU profiles of each thread, in traces where DevTools draws nothing
//! else.
//!
//! DevTools takes the bounds of a trace, and the end of the last call, from events other than those
//! of CPU profiles. The added event begins 1 µs before the profile, so that all calls are inside
//! it.

use super::changes::{Change, Changes};
use super::pages::InputPages;
use super::scan::{Literal, PageTable};
use std::collections::BTreeMap;
use tracemill_trace::json::push_micros;

/// Nanoseconds by which the event precedes its profile.
const BEFORE: i64 = 1000;

/// Returns an event for each thread with a profile, if the drawn events of the trace have no extent
/// in time.
pub(super) fn around(pages: &InputPages<'_>, changes: &mut Changes) -> Vec<Vec<u8>> {
    let drawn = || pages.tables.iter().filter_map(|(_, tables): &(u64, PageTable)| tables.drawn);
    if drawn().map(|span| span.0).min() < drawn().map(|span| span.1).max() {
        return Vec::new();
    }
    let mut threads: BTreeMap<(Literal, Literal), (i64, i64)> = BTreeMap::new();
    for (base, tables) in pages.tables {
        for (pid, tid, (start, end)) in tables.profiles.threads() {
            let thread = (pages.renamed(*base, pid), tid.clone());
            let extent = threads.entry(thread).or_insert((start, end));
            *extent = (extent.0.min(start), extent.1.max(end));
        }
    }
    changes.add(Change::Around, threads.len() as u64);
    threads.iter().map(|((pid, tid), span)| event(pid, tid, span.0, span.1)).collect()
}

fn event(pid: &[u8], tid: &[u8], start: i64, end: i64) -> Vec<u8> {
    let start = start.saturating_sub(BEFORE);
    let mut out = b"{\"args\":{},\"cat\":\"disabled-by-default-v8.cpu_profiler\",\"dur\":".to_vec();
    push_micros(end.saturating_sub(start), &mut out);
    out.extend_from_slice(b",\"name\":\"CPU profile\",\"ph\":\"X\"");
    for (key, id) in [("pid", pid), ("tid", tid)] {
        if !id.is_empty() {
            out.extend_from_slice(format!(",\"{key}\":").as_bytes());
            out.extend_from_slice(id);
        }
    }
    out.extend_from_slice(b",\"ts\":");
    push_micros(start, &mut out);
    out.push(b'}');
    out
}
