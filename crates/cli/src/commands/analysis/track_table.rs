//! `tracemill top --track`: the rows of a track of DevTools, by name.

use super::Job;
use super::data::quoted;
use super::text::{aligned_as, in_markdown_as, push_more_rows};
use super::unit::TimeUnit;
use crate::args::{CsvForm, ResultForm, TopArgs, TraceTimes};
use crate::commands::running::Flags;
use crate::commands::unmatched;
use crate::messages::wrap::columns_of;
use crate::messages::{Messages, plain};
use crate::outcome::exit::{Exit, Failure};
use crate::text::table::ColumnAlignment::{self, Left, Right};
use serde_json::{Value, json};
use tracemill_analysis::{GroupBy, ReadRules, Trace, Wanted};
use tracemill_report::{TrackTotal, track_totals};
use tracemill_trace::run::words::grouped;

pub(in crate::commands) fn track_table(
    args: &TopArgs,
    track: &str,
    messages: &Messages,
) -> Result<Exit, Failure> {
    let TopArgs { input, part, times, output, common, .. } = args;
    args.refuse_export()?;
    let flags = Flags { verb: "top", input, common };
    let rules = part.read_rules(GroupBy::None);
    let wanted = Wanted { report: true, ..rules.wanted };
    let rules = ReadRules { wanted, times: times.times(part)?, ..rules };
    let job = Job::read(flags, output, rules, Some(part), messages)?;
    let window = part.window(TraceTimes::of(&job.trace))?;
    let found = track_totals(&job.trace, track, window)?;
    if let Err(names) = &found {
        messages.warning(&unmatched::of_track(track, names));
    }
    let is_known = found.is_ok();
    let found = found.unwrap_or_default();
    let (rows, more) = found.split_at(args.most_rows().min(found.len()));
    let (place, start) = (job.place(), Starts(&job.trace));
    match args.form.form() {
        ResultForm::Json(_) => place.write_json(&in_json(rows, track, start))?,
        ResultForm::Csv(form) => place.write(in_csv(rows, start, form).as_bytes())?,
        ResultForm::Text { markdown } => {
            let columns = columns_of(place);
            let text = in_text(rows, start, markdown, columns);
            let mut text = if rows.is_empty() { String::new() } else { text };
            push_more_rows(&mut text, more.len() as u64, columns);
            place.write(text.as_bytes())?;
        }
    }
    // a warning about the track suffices
    let exit = job.finish(found.is_empty() && is_known)?;
    Ok(exit.unless_empty(!is_known))
}

/// Computes the starts of rows in milliseconds after the start of a trace.
#[derive(Clone, Copy)]
struct Starts<'t>(&'t Trace);

impl Starts<'_> {
    fn of(self, row: &TrackTotal) -> f64 {
        row.longest.ts / 1000.0 - self.0.start_ms()
    }
}

/// Returns the total and the longest duration in milliseconds.
fn times(row: &TrackTotal) -> [f64; 2] {
    [row.total, row.longest.dur].map(|us| us / 1000.0)
}

fn in_text(
    rows: &[TrackTotal],
    starts: Starts<'_>,
    markdown: bool,
    columns: Option<usize>,
) -> String {
    const SET: [ColumnAlignment; 5] = [Right, Right, Right, Right, Left];
    let unit = TimeUnit::of(rows.iter().map(|row| times(row)[0]));
    let of_starts = TimeUnit::of_starts(rows.iter().map(|row| starts.of(row)));
    let [total, count, max] = ["total ms", "count", "max ms"].map(|head| unit.head(head));
    let mut lines = vec![vec![total, count, max, of_starts.head("at ms"), "name".to_owned()]];
    lines.extend(rows.iter().map(|row| {
        let [total, max] = times(row).map(|ms| unit.shown(ms, 2));
        let start = of_starts.shown(starts.of(row), 2);
        vec![total, grouped(row.count), max, start, plain(&row.name)]
    }));
    match markdown {
        true => in_markdown_as(&lines, &SET),
        false => aligned_as(&lines, &SET, &[3], columns),
    }
}

fn in_csv(rows: &[TrackTotal], starts: Starts<'_>, form: CsvForm) -> String {
    let mut text = "total_ms,count,max_ms,start_ms,key,name\n".to_owned();
    for row in rows {
        let ([total, max], start) = (times(row), starts.of(row));
        let (key, name) = (row.longest.key.as_deref().unwrap_or_default(), quoted(&row.name, form));
        text.push_str(&format!("{total},{},{max},{start},{key},{name}\n", row.count));
    }
    text
}

/// Builds JSON of schema `tracemill.track/1`. Adding keys does not change the version.
fn in_json(rows: &[TrackTotal], track: &str, starts: Starts<'_>) -> Value {
    let row = |row: &TrackTotal| {
        let [total, max] = times(row);
        json!({
            "name": row.name, "count": row.count, "total_ms": total, "max_ms": max,
            "start_ms": starts.of(row), "key": row.longest.key,
        })
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    json!({"schema": "tracemill.track/1", "unit": "ms", "track": track, "rows": rows})
}
