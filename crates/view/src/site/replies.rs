//! Reads windows from requests, and makes the replies of single routes.

use crate::ask::UrlQuery;
use crate::ask::reply::{Content, Reply};
use crate::indexed::shown::Shown;
use crate::model::Model;
use crate::tile::around::EventAt;
use crate::tile::search::{AfterEvent, SearchStart};
use crate::tile::{EXACT, stats, tile};
use crate::tracks::Grid;
use crate::tracks::record::place_of_number;
use serde_json::json;
use std::sync::Arc;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Cancel;
use tracemill_trace::time::windows::TimeSpan;

/// Maximum number of pixel columns of a window.
pub(super) const PX_MOST: u32 = 8192;
/// Maximum number of bytes of an event's text in a reply.
const EVENT_MOST: usize = 1 << 20;
/// Maximum number of names per reply.
const NAMES_MOST: usize = 2000;
/// Maximum number of processes in the overview. If there are more processes, the last row combines
/// all processes that have no row.
const OVERVIEW: usize = 8;

/// Returns the reply to a request that was cancelled because its client has disconnected.
pub(super) fn gone() -> Reply {
    Reply::error(503, "the request was given up", "Ask again.")
}

pub(super) fn drawn(shown: &Shown, query: &UrlQuery<'_>, cancel: &Cancel) -> Result<Reply, Reply> {
    let model = shown.whole();
    let window = window(model, query)?;
    let px = query.number::<u32>("px")?.clamp(1, PX_MOST);
    let lanes = query.numbers("lanes", model.lanes.len())?;
    let grid = Grid { from: window.from, to: window.to, px, exact: false };
    let most = query.get("exact").and_then(|most| most.parse().ok()).unwrap_or(EXACT);
    // a client that accepts no exact events gets the approximate model
    let shown_model = match most {
        0 => Arc::clone(model),
        _ => shown.window(window, cancel).map_err(|error| Reply::failed(&error))?,
    };
    let goes_on = || cancel.check().is_ok();
    tile(&shown_model, &lanes, grid, most.min(EXACT), &goes_on).map(Reply::bytes).ok_or_else(gone)
}

/// Returns the reply to a request for an event that does not exist.
pub(super) fn nothing() -> Reply {
    Reply::error(404, "no event begins there", "Ask for those of tiles.")
}

/// Reads the position of an event from the parameters of a request.
pub(super) fn event_at(model: &Model, query: &UrlQuery<'_>) -> Result<EventAt, Reply> {
    let (lane, row) = (query.number::<usize>("lane")?, query.number::<u16>("row")?);
    let start = query.number::<i64>("start")?.saturating_add(model.bounds.start);
    Ok(EventAt { lane, row, start })
}

pub(super) fn lanes_of(model: &Model, query: &UrlQuery<'_>) -> Result<Vec<usize>, Reply> {
    query.numbers("lanes", model.lanes.len())
}

/// Reads the start of a search from the parameters of a request: a time, and the event that begins
/// there, if it was found before.
pub(super) fn search_start(model: &Model, query: &UrlQuery<'_>) -> Result<SearchStart, Reply> {
    let at = query.number::<i64>("at")?.saturating_add(model.bounds.start);
    let forwards = query.get("dir").as_deref() != Some("back");
    let optional = |name: &str| query.get(name).and_then(|number| number.parse().ok());
    let after = optional("after").map(|place| {
        // several calls may begin together; only lane and row distinguish them
        let (lane, row) = if forwards { (usize::MAX, u16::MAX) } else { (0, 0) };
        AfterEvent {
            place: place_of_number(place),
            lane: optional("lane").map_or(lane, |number| number as usize),
            row: optional("row").map_or(row, |number| number as u16),
        }
    });
    Ok(SearchStart { at, forwards, after })
}

/// Reads a window from the parameters of a request, and converts it from nanoseconds since the
/// trace start to times of the trace. A window has at least 1 ns.
pub(super) fn window(model: &Model, query: &UrlQuery<'_>) -> Result<TimeSpan, Reply> {
    let (from, to) = (query.number::<i64>("from")?, query.number::<i64>("to")?);
    let at = |time: i64| model.bounds.start.saturating_add(time).min(i64::MAX - 1);
    let is_one = from < to && to.checked_sub(from).is_some() && at(from) < at(to);
    match is_one {
        true => Ok(TimeSpan::new(at(from), at(to))),
        false => Err(Reply::error(
            400,
            "the window ends before it begins",
            "from is to be less than to.",
        )),
    }
}

pub(super) fn event(shown: &Shown, query: &UrlQuery<'_>, cancel: &Cancel) -> Result<Reply, Reply> {
    let place = query.number::<u64>("place")?;
    let most = query.get("most").and_then(|most| most.parse().ok()).unwrap_or(EVENT_MOST);
    let failed = |error: Error| Reply::failed(&error);
    shown.check_unchanged().map_err(failed)?;
    let found = shown.event(place, most.min(EVENT_MOST), cancel).map_err(failed)?;
    let (bytes, len) = found.ok_or_else(|| {
        Reply::error(404, "no event begins there", "Places are those that tiles name.")
    })?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let headers = vec![("x-event-bytes", len.to_string())];
    let content = Content::Whole(text.into_bytes());
    Ok(Reply { status: 200, kind: "text/plain; charset=utf-8", content, headers })
}

/// Returns names: those with the given numbers, or those that contain a text.
pub(super) fn names(model: &Model, query: &UrlQuery<'_>) -> Result<Reply, Reply> {
    if query.get("ids").is_some() {
        let ids = query.numbers("ids", model.names.len())?;
        let ids = ids.iter().take(NAMES_MOST);
        let names: Vec<_> = ids.map(|&id| stats::name_json(model, id as u32)).collect();
        return Ok(Reply::json(&json!({ "count": names.len(), "names": names })));
    }
    let text = query.get("q").unwrap_or_default();
    let most = query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(50);
    Ok(Reply::json(&stats::names(model, &text, most.min(NAMES_MOST))))
}

pub(super) fn groups(model: &Model) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for process in &model.processes {
        match groups.get_mut(OVERVIEW - 1) {
            Some(last) => last.extend(&process.lanes),
            None => groups.push(process.lanes.clone()),
        }
    }
    groups
}
