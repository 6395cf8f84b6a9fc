//! The answer for an event: its stack, its initiators and the events that it started.

use crate::causes::FoundCauses;
use crate::causes::matching::CallTable;
use crate::indexed::shown::Shown;
use crate::model::Model;
use crate::tile::around::{EventAt, event};
use crate::tracks::flows::InLane;
use crate::tracks::record::Span;
use serde_json::{Value, json};
use tracemill_causes::{EventId, Level, Site};
use tracemill_index::drawing::LaneKind;
use tracemill_report::Reasons;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Cancel;

/// Maximum number of started events in an answer, as in DevTools.
const STARTED: usize = 20;
/// Maximum number of calls of a level of a stack in an answer.
const FRAMES: usize = 100;

impl FoundCauses {
    pub(crate) fn answer(
        &self,
        shown: &Shown,
        at: EventAt,
        cancel: &Cancel,
    ) -> Result<Option<Value>, Error> {
        let Some((model, picked)) = shown.event_at(at, cancel)? else { return Ok(None) };
        let Reasons { causes, started, stack } = self.reasons_of(&model, picked)?;
        let more = started.len().saturating_sub(STARTED);
        let listed: Vec<EventId> =
            causes.iter().chain(started.iter().take(STARTED)).copied().collect();
        let calls = self.calls_among(&listed)?;
        let entry = |event: &EventId| self.entry(*event, &calls, shown, cancel);
        let events: Vec<Value> = listed.iter().map(entry).collect::<Result<_, _>>()?;
        let (causes, started) = events.split_at(causes.len());
        let stack: Vec<Value> = stack.iter().map(level_json).collect();
        let mut answer = json!({
            "state": "ready", "stack": stack, "causes": causes, "started": started, "more": more,
        });
        for (site, call) in calls_around(&model, picked, &answer["stack"][0]["frames"]) {
            answer["stack"][0]["frames"][site]["event"] = event(&model, call);
        }
        Ok(Some(answer))
    }

    /// Returns the reasons of a drawn event. Those of a begin event and of its pair are joined.
    fn reasons_of(&self, model: &Model, picked: InLane) -> Result<Reasons, Error> {
        let mut all = Reasons::default();
        for id in self.ids_of(model, picked)? {
            let Reasons { causes, started, stack } =
                self.reasons.find(id, &self.trace, &self.causes);
            if all.causes.is_empty() {
                all.causes = causes;
            }
            all.started.extend(started);
            let is_empty = |stack: &[Level]| {
                stack.len() < 2 && stack.iter().all(|level| level.sites.is_empty())
            };
            if is_empty(&all.stack) && !is_empty(&stack) {
                all.stack = stack;
            }
        }
        Ok(all)
    }

    /// Returns an event of a list. Its lane is `null` if the event is not drawn.
    fn entry(
        &self,
        id: EventId,
        calls: &CallTable,
        shown: &Shown,
        cancel: &Cancel,
    ) -> Result<Value, Error> {
        let mut entry = match self.drawn(id, calls, shown, cancel)? {
            Some((model, found)) => event(&model, found),
            None => json!({ "lane": null, "text": id.name(&self.trace) }),
        };
        entry["key"] = json!(id.key(&self.trace).text());
        Ok(entry)
    }
}

fn level_json(level: &Level) -> Value {
    let frame = |site: &Site| json!({ "function": site.function, "place": site.place() });
    let frames: Vec<Value> = level.sites.iter().take(FRAMES).map(frame).collect();
    let more = level.sites.len() - frames.len();
    json!({ "task": level.task, "frames": frames, "more": more })
}

/// Finds the drawn calls that `frames`, innermost first, name: those around the start of an event,
/// on the same thread.
fn calls_around(model: &Model, picked: InLane, frames: &Value) -> Vec<(usize, InLane)> {
    let InLane(number, span) = picked;
    let Some(lane) = model.lanes.get(number as usize) else { return Vec::new() };
    let is_calls = |other: &crate::tracks::lane::Lane| {
        let ids = (&*other.pid, other.track());
        other.kind == LaneKind::Calls && ids == (&*lane.pid, lane.track())
    };
    let Some(at) = model.lanes.iter().position(is_calls) else { return Vec::new() };
    let calls = &model.lanes[at];
    let is_self = at == number as usize;
    let rows = calls.tracks.iter().rev().map(|track| track.row);
    let rows = rows.filter(|row| !is_self || *row <= span.row);
    let holds = |call: &Span| call.start <= span.start && span.start < call.end();
    let mut around = rows.filter_map(|row| model.at(calls, row, span.start)).filter(holds);
    let mut found = Vec::new();
    for (site, frame) in frames.as_array().into_iter().flatten().enumerate() {
        let name = frame["function"].as_str().filter(|name| !name.is_empty());
        let name = name.unwrap_or("(anonymous)");
        // functions of the engine are calls, but no frames
        match around.find(|call| model.names.text(call.name) == name) {
            Some(call) => found.push((site, InLane(at as u32, call))),
            None => break,
        }
    }
    found
}
