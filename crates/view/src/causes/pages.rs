//! The tracks that DevTools draws above the threads of a page, and the markers of its visits, with
//! the values of `report`.

use crate::causes::FoundCauses;
use crate::model::Model;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tracemill_analysis::events::tracks::TrackKind;
use tracemill_report::{Track, TrackRow, page_visits, track_rows};
use tracemill_trace::Error;

/// Maximum number of rows of a track in an answer: the first ones.
const MOST: usize = 20_000;

impl FoundCauses {
    /// Returns the tracks of pages and the markers of their visits, as JSON. Times are nanoseconds
    /// since the trace start.
    ///
    /// Cost: three passes over the events of tracks.
    pub(crate) fn pages(&self, model: &Model) -> Result<Value, Error> {
        let since = |micros: f64| {
            let nanos = self.trace.clock().written_nanos(self.trace.clock().of_micros(micros));
            nanos.map(|nanos| model.since_start(nanos))
        };
        let mut tracks: BTreeMap<String, (Vec<TrackRow>, u64)> = BTreeMap::new();
        track_rows(&self.trace, &mut |track, row| {
            let name = match track {
                Track::Extension { name, .. } => self.trace.names().text(name),
                track => track.key().to_owned(),
            };
            let (rows, more) = tracks.entry(name).or_default();
            if rows.len() < MOST {
                rows.push(row)
            } else {
                *more += 1
            }
            Ok(())
        })?;
        let tracks = tracks.into_iter().map(|(name, (mut rows, more))| {
            rows.sort_by(|a, b| a.ts.total_cmp(&b.ts).then(b.dur.total_cmp(&a.dur)));
            let rows = rows.iter().map(|row| {
                json!({ "name": row.name, "kind": row.kind, "start": since(row.ts),
                    "dur": row.dur * 1000.0, "parts": row.parts, "score": row.score })
            });
            json!({ "name": name, "rows": rows.collect::<Vec<_>>(), "more": more })
        });
        let tracks: Vec<Value> = tracks.collect();
        let mut markers = Vec::new();
        for visit in page_visits(&self.trace).unwrap_or_default() {
            let start = visit.bounds.0;
            let mut mark = |name: &str, ts: f64| {
                markers.push(json!({ "name": name, "at": since(ts), "url": visit.url }));
            };
            if visit.key.is_some() {
                mark("Nav", start);
            }
            visit.fcp.iter().for_each(|after| mark("FCP", start + after));
            visit.lcp.iter().for_each(|paint| mark("LCP", start + paint.time));
        }
        let shots = self.trace.track_events();
        let shots = shots.filter(|event| event.kind == TrackKind::Screenshot).take(MOST);
        let shots = shots.map(|shot| json!({ "at": since(shot.ts), "place": shot.values[0] }));
        let shots: Vec<Value> = shots.collect();
        Ok(json!({ "state": "ready", "tracks": tracks, "markers": markers, "shots": shots }))
    }
}
