//! `tracemill top --async`: durations of async operations.

use super::data::quoted;
use super::text::{aligned_as, in_markdown_as, push_more_rows};
use super::unit::TimeUnit;
use crate::args::{CsvForm, ResultForm, TopArgs};
use crate::commands::joining::Joined;
use crate::commands::reporting::Reporting;
use crate::commands::running::Flags;
use crate::messages::wrap::columns_of;
use crate::messages::{Messages, plain};
use crate::outcome::exit::{Exit, Failure};
use crate::report::base;
use crate::text::table::ColumnAlignment::{self, Left, Right};
use serde_json::{Value, json};
use tracemill_inspect::async_times::{AsyncTimes, async_times};
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::words::{grouped, plural};

pub(super) fn async_table(args: &TopArgs, messages: &Messages) -> Result<Exit, Failure> {
    let flags = Flags { verb: "top", input: &args.input, common: &args.common };
    let mut reporting = Reporting::new(flags, &args.output, messages)?;
    reporting.running.announce();
    let joined = Joined::of(&mut reporting.running, None)?;
    let mut found = reporting.running.watch(async_times)?;
    joined.complete_inputs(&mut found.inputs, &mut found.warnings);

    let form = args.form.form();
    let (rows, more) = found.rows.split_at(args.most_rows().min(found.rows.len()));
    let place = &reporting.output;
    match form {
        ResultForm::Json(_) => place.write_json(&in_json(rows))?,
        ResultForm::Csv(form) => place.write(in_csv(rows, form).as_bytes())?,
        ResultForm::Text { markdown } => {
            let columns = columns_of(place);
            place.write(in_text(rows, more.len(), markdown, columns).as_bytes())?;
        }
    }
    reporting.tell(&found.inputs, &found.warnings);
    messages.losses(&found.inputs);
    if found.lone_ends > 0 {
        messages.warning(&format!("{} without a begin: left out", plural(found.lone_ends, "end")));
    }
    if found.rows.is_empty() {
        messages.warning("the trace has no async operation (b, S)");
    }
    let lost = found.inputs.iter().map(InputReport::lost).sum();
    reporting.end(&found.inputs, lost, |run| base("top", &found.inputs, lost, run, []))?;
    Ok(Exit::finished(lost).unless_empty(found.rows.is_empty()))
}

fn ms(ns: impl Into<i128>) -> f64 {
    ns.into() as f64 / 1e6
}

/// Returns the total, median, 99th percentile and maximum of durations in milliseconds. Returns
/// `None` if no operation ended.
fn times(row: &AsyncTimes) -> Option<[f64; 4]> {
    let AsyncTimes { total_ns, p50_ns, p99_ns, max_ns, .. } = *row;
    (row.count > 0).then(|| [ms(total_ns), ms(p50_ns), ms(p99_ns), ms(max_ns)])
}

fn in_text(rows: &[AsyncTimes], more: usize, markdown: bool, columns: Option<usize>) -> String {
    const SET: [ColumnAlignment; 8] = [Right, Right, Right, Right, Right, Right, Left, Left];
    let unit = TimeUnit::of(rows.iter().filter_map(times).map(|[total, ..]| total));
    let heads =
        ["total ms", "count", "p50 ms", "p99 ms", "max ms", "open", "operation", "category"];
    let mut lines = vec![heads.map(|head| unit.head(head)).to_vec()];
    lines.extend(rows.iter().map(|row| {
        let [total, p50, p99, max] =
            times(row).unwrap_or([f64::NAN; 4]).map(|ms| unit.shown(ms, 2));
        let (count, open) = (grouped(row.count), grouped(row.open));
        vec![total, count, p50, p99, max, open, plain(&row.name), plain(&row.category)]
    }));
    let mut text = match markdown {
        true => in_markdown_as(&lines, &SET),
        false => aligned_as(&lines, &SET, &[7], columns),
    };
    push_more_rows(&mut text, more as u64, columns);
    text
}

fn in_csv(rows: &[AsyncTimes], form: CsvForm) -> String {
    let mut text = "total_ms,count,p50_ms,p99_ms,max_ms,open,name,category\n".to_owned();
    for row in rows {
        let times =
            times(row).map_or([const { String::new() }; 4], |times| times.map(|ms| ms.to_string()));
        let ([total, p50, p99, max], (name, category)) =
            (times, (quoted(&row.name, form), quoted(&row.category, form)));
        let AsyncTimes { count, open, .. } = row;
        text.push_str(&format!("{total},{count},{p50},{p99},{max},{open},{name},{category}\n"));
    }
    text
}

/// Builds JSON of schema `tracemill.async/1`. Adding keys does not change the version.
fn in_json(rows: &[AsyncTimes]) -> Value {
    let row = |row: &AsyncTimes| {
        let [total, p50, p99, max] =
            times(row).map_or([const { None }; 4], |times| times.map(Some));
        json!({
            "name": row.name, "category": row.category, "count": row.count, "open": row.open,
            "total_ms": total, "p50_ms": p50, "p99_ms": p99, "max_ms": max,
        })
    };
    json!({"schema": "tracemill.async/1", "unit": "ms", "rows": rows.iter().map(row).collect::<Vec<Value>>()})
}
