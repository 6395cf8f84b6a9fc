//! Groups layout shifts into clusters (DevTools: `LayoutShiftsHandler`).

use tracemill_analysis::Trace;
use tracemill_analysis::events::pages::{Mark, Marked};
use tracemill_analysis::value::clock::by_time;
use tracemill_analysis::value::typed::object;

/// Maximum duration of a cluster in microseconds.
const MOST: f64 = 5_000_000.0;
/// Pause in microseconds that ends a cluster.
const PAUSE: f64 = 1_000_000.0;

/// A cluster of layout shifts. Times are microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct ShiftCluster {
    /// Time of the first shift on the trace's clock.
    pub ts: f64,
    /// Duration, including the pause after the last shift.
    pub dur: f64,
    /// Sum of the shifts' scores.
    pub score: f64,
    /// Number of shifts.
    pub count: u64,
    /// DevTools' key of the worst shift.
    pub worst: Option<String>,
    worst_score: f64,
}

object! {
    struct Shift { #[serde(rename = "had_recent_input")] had_recent_input, #[serde(rename = "weighted_score_delta")] weighted_score_delta }
}

/// Groups layout shifts into clusters, in order of time. A new cluster begins at each of the times
/// in `navigations`, and after a pause or a maximum duration as in DevTools. `each` takes the shifts
/// and their scores.
pub(crate) fn shift_clusters(
    trace: &Trace,
    mut navigations: Vec<f64>,
    mut each: impl FnMut(&Marked, f64),
) -> Vec<ShiftCluster> {
    navigations.sort_by(|a, b| by_time(*a, *b));
    let shifts = trace.marks().iter().filter(|mark| mark.mark == Mark::Shift);
    let shifts = shifts.map(|mark| (mark, mark.data::<Shift>().unwrap_or_default()));
    let mut shifts: Vec<(&Marked, Shift)> =
        shifts.filter(|(_, shift)| !shift.had_recent_input.is_true()).collect();
    shifts.sort_by(|(a, _), (b, _)| by_time(a.ts, b.ts));
    let mut clusters: Vec<ShiftCluster> = Vec::new();
    let Some((first, _)) = shifts.first() else { return clusters };
    let (mut began, mut last, mut page) = (first.ts, first.ts, None);
    for (mark, shift) in shifts {
        let ts = mark.ts;
        let current = navigations.partition_point(|time| *time < ts).checked_sub(1);
        let navigated = page != current && current.is_some();
        if ts - began > MOST || ts - last > PAUSE || navigated || clusters.is_empty() {
            let (dur, worst, worst_score) = (PAUSE, None, 0.0);
            clusters.push(ShiftCluster { ts, dur, score: 0.0, count: 0, worst, worst_score });
            began = ts;
        }
        let Some(score) = shift.weighted_score_delta.number() else { continue };
        let Some(cluster) = clusters.last_mut() else { continue };
        if cluster.count == 0 {
            cluster.ts = ts;
        }
        each(mark, score);
        cluster.score += score;
        cluster.count += 1;
        cluster.dur = ts - cluster.ts + PAUSE;
        if score > cluster.worst_score {
            cluster.worst_score = score;
            cluster.worst = Some(format!("s-{}", mark.number));
        }
        (last, page) = (ts, current);
    }
    clusters.retain(|cluster| cluster.count > 0);
    clusters
}
