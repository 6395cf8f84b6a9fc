//! `tracemill top --by`: time of events by what caused them.

use super::data::quoted;
use super::text::{aligned_as, in_markdown_as, push_more_rows};
use super::unit::TimeUnit;
use super::{Job, Picked};
use crate::args::{CsvForm, RequestedTable, ResultForm, TopArgs};
use crate::commands::running::Flags;
use crate::messages::wrap::columns_of;
use crate::messages::{Messages, plain};
use crate::outcome::exit::{Exit, Failure};
use crate::text::table::ColumnAlignment::{self, Left, Right};
use serde_json::{Value, json};
use tracemill_analysis::{Shape, Window};
use tracemill_causes::{CauseKind, CauseQuery, CauseTotal, Causes, Site, totals};
use tracemill_trace::run::words::grouped;

pub(in crate::commands) fn by_cause(
    args: &TopArgs,
    by: CauseKind,
    messages: &Messages,
) -> Result<Exit, Failure> {
    let TopArgs { input, part, picks, times, output, common, .. } = args;
    args.refuse_export()?;
    let flags = Flags { verb: "top", input, common };
    let picked = Picked {
        part,
        picks,
        by: args.group_by,
        times,
        causes: true,
        cpu_times: false,
        colors: false,
    };
    let job = Job::picked(flags, output, picked, messages)?;
    let causes = Causes::find(&job.trace, part.as_panel())?;
    let table =
        RequestedTable { shape: Shape::BottomUp { levels: 1 }, by: args.group_by, per: args.per };
    let (threads, query) = picks.query(part, &job.trace, table)?;
    let (from, to) = job.trace.bounds;
    let whole = Window { from: from / 1000.0, to: to / 1000.0 };
    let is_counted = |name: &str| picks.text().is_none_or(|text| text.is_match(name));
    let query = CauseQuery {
        by,
        threads: &threads,
        window: query.windows.first().copied().unwrap_or(whole),
        is_counted: &is_counted,
    };
    let found = totals(&job.trace, &causes, &query)?;
    let form = args.form.form();
    let (rows, more) = found.split_at(args.most_rows().min(found.len()));
    let place = job.place();
    match form {
        ResultForm::Json(_) => place.write_json(&in_json(rows, by))?,
        ResultForm::Csv(form) => place.write(in_csv(rows, form).as_bytes())?,
        ResultForm::Text { markdown } => {
            let columns = columns_of(place);
            place.write(in_text(rows, more.len(), markdown, columns).as_bytes())?;
        }
    }
    job.finish(found.is_empty())
}

fn place_of(row: &CauseTotal) -> String {
    row.site.as_ref().map(Site::place).unwrap_or_default()
}

fn cause_of(row: &CauseTotal) -> &str {
    match &row.cause {
        None => "(none)",
        Some(name) if name.is_empty() => "(anonymous)",
        Some(name) => name,
    }
}

fn in_text(rows: &[CauseTotal], more: usize, markdown: bool, columns: Option<usize>) -> String {
    const SET: [ColumnAlignment; 5] = [Right, Right, Right, Left, Left];
    let unit = TimeUnit::of(rows.iter().map(|row| row.total));
    let heads = ["total ms", "self ms", "count", "cause", "place"];
    let mut lines = vec![heads.map(|head| unit.head(head)).to_vec()];
    lines.extend(rows.iter().map(|row| {
        let [total, self_time] = [row.total, row.self_time].map(|ms| unit.shown(ms, 2));
        vec![total, self_time, grouped(row.count), plain(cause_of(row)), plain(&place_of(row))]
    }));
    let mut text = match markdown {
        true => in_markdown_as(&lines, &SET),
        false => aligned_as(&lines, &SET, &[4], columns),
    };
    push_more_rows(&mut text, more as u64, columns);
    text
}

fn in_csv(rows: &[CauseTotal], form: CsvForm) -> String {
    let mut text = "total_ms,self_ms,count,cause,place\n".to_owned();
    for row in rows {
        let place = place_of(row);
        let (cause, place) = (quoted(cause_of(row), form), quoted(&place, form));
        text.push_str(&format!("{},{},{},{cause},{place}\n", row.total, row.self_time, row.count));
    }
    text
}

/// Builds JSON of schema `tracemill.causes/1`. Adding keys does not change the version.
fn in_json(rows: &[CauseTotal], by: CauseKind) -> Value {
    let by = if by == CauseKind::Caller { "caller" } else { "initiator" };
    let row = |row: &CauseTotal| {
        let site = row.site.as_ref();
        json!({
            "cause": row.cause, "count": row.count, "total_ms": row.total, "self_ms": row.self_time,
            "url": site.and_then(|site| site.url.clone()),
            "line": site.and_then(|site| site.line),
            "column": site.and_then(|site| site.column),
        })
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    json!({"schema": "tracemill.causes/1", "unit": "ms", "by": by, "rows": rows})
}
