//! Call trees of a selection, with the numbers of `top`.

use crate::causes::FoundCauses;
use crate::model::Model;
use serde_json::{Value, json};
use tracemill_analysis::query::picks::Picks;
use tracemill_analysis::{
    GroupBy, Location, Per, Query, RowLimit, RowThreshold, Shape, TableRules, TreeRow, Window,
};
use tracemill_index::drawing::LaneKind;
use tracemill_trace::Error;
use tracemill_trace::time::windows::TimeSpan;

/// Limits of a tree in an answer: what is smaller is not seen in a picture of it.
const LIMIT: RowLimit = RowLimit { depth: 200, least: RowThreshold::Percent(0.1), rows: 3000 };
/// Number of levels of callers in a bottom-up tree.
const CALLERS: usize = 8;

impl FoundCauses {
    /// Returns the tree of some lanes (tracks) in a window, as JSON: from callers to callees, or
    /// bottom-up. Times are milliseconds.
    ///
    /// Cost: a walk over the entries of the threads.
    pub(crate) fn tree(
        &self,
        model: &Model,
        lanes: &[usize],
        span: TimeSpan,
        is_bottom_up: bool,
    ) -> Result<Value, Error> {
        let origin = self.trace.origin().unwrap_or(0);
        let ms = |nanos: i64| (i128::from(nanos) - i128::from(origin)) as f64 / 1e6;
        let shape = match is_bottom_up {
            true => Shape::BottomUp { levels: CALLERS },
            false => Shape::CallTree,
        };
        let query = Query {
            shape,
            by: GroupBy::None,
            rules: TableRules::default(),
            per: Per::All,
            windows: vec![Window { from: ms(span.from), to: ms(span.to) }],
            picks: Picks::default(),
            key: None,
        };
        let threads = self.threads_of(model, lanes);
        let parts = self.trace.parts_within(&threads, &query, LIMIT)?;
        let rows: Vec<Value> = parts
            .iter()
            .flat_map(|part| part.table.rows.iter().map(|row| row_json(&row)).collect::<Vec<_>>())
            .collect();
        let more: u64 = parts.iter().map(|part| part.table.small.0 + part.table.more).sum();
        let busy: f64 = parts.iter().map(tracemill_analysis::Part::busy).sum();
        Ok(json!({ "state": "ready", "rows": rows, "more": more, "busy": busy,
            "threads": threads.len() }))
    }

    fn threads_of(&self, model: &Model, lanes: &[usize]) -> Vec<usize> {
        let threads = lanes.iter().map(|&lane| &model.lanes[lane]);
        let threads =
            threads.filter(|lane| matches!(lane.kind, LaneKind::Thread | LaneKind::Calls));
        let mut ids: Vec<(&[u8], &[u8])> = threads.map(|lane| (&*lane.pid, lane.track())).collect();
        ids.sort_unstable();
        let is_chosen = |at: &usize| {
            let thread = &self.trace.threads[*at];
            ids.binary_search(&(&*thread.pid, &*thread.tid)).is_ok()
        };
        (0..self.trace.threads.len()).filter(is_chosen).collect()
    }
}

fn row_json(row: &TreeRow) -> Value {
    let Location { url, line, column } = &row.location;
    let numbers = [line, column].into_iter().map_while(|number| *number);
    let place = numbers.fold(url.clone(), |place, number| format!("{place}:{}", number + 1));
    json!({
        "depth": row.depth, "name": row.name(), "self": row.own, "total": row.total,
        "count": row.count, "category": row.category, "place": place,
    })
}
