//! Writes comparisons as text, Markdown, CSV and JSON.

use super::super::data::quoted;
use super::super::text::{aligned, in_markdown};
use super::super::unit::TimeUnit;
use crate::args::{CsvForm, DiffArgs, FormArgs};
use crate::files::whole_file::OutputPlace;
use crate::messages::markdown::cell;
use crate::messages::plain;
use crate::messages::wrap::{columns_of, push_line};
use crate::outcome::exit::Failure;
use serde_json::{Value, json};
use std::fmt::Write;
use tracemill_report::Comparison;
use tracemill_report::Difference;
use tracemill_report::Pair;
use tracemill_trace::run::words::plural;

/// Default number of rows in text.
const ROWS: usize = 30;

pub(super) fn write(
    args: &DiffArgs,
    place: &OutputPlace,
    comparison: &Comparison,
) -> Result<(), Failure> {
    let FormArgs { json, csv, markdown } = args.form;
    let most = args.rows.map(|rows| rows as usize);
    let shown = |usual: usize| {
        let most = most.unwrap_or(usual).min(comparison.rows.len());
        &comparison.rows[..most]
    };
    if json {
        return place.write_json(&in_json(comparison, shown(usize::MAX)));
    }
    let text = match csv {
        Some(form) => in_csv(shown(usize::MAX), form),
        None => page(comparison, shown(ROWS), markdown, columns_of(place)),
    };
    place.write(text.as_bytes())
}

fn page(
    comparison: &Comparison,
    rows: &[Difference],
    markdown: bool,
    columns: Option<usize>,
) -> String {
    let mut text = String::new();
    match markdown {
        true => text.push_str(&format!("### {}\n\n", cell(&head(comparison)))),
        false => push_line(&mut text, &head(comparison), 2, columns),
    }
    let unit = TimeUnit::of(rows.iter().flat_map(|row| [row.own.base, row.own.new]));
    let heads = [
        "self A ms",
        "self B ms",
        "Δ ms",
        "Δ %",
        "95 %",
        "count",
        "verdict",
        "activity",
        "location",
    ];
    let mut lines = vec![heads.map(|head| unit.head(head)).to_vec()];
    lines.extend(rows.iter().map(|row| line(row, unit)));
    // the interval may be left out, because the verdict summarizes it
    const SPARE: [usize; 2] = [5, 4];
    text.push_str(&match markdown {
        true => in_markdown(&lines),
        false => aligned(&lines, &SPARE, columns),
    });
    let more = comparison.rows.len() - rows.len();
    if more > 0 {
        let significant =
            comparison.rows[rows.len()..].iter().filter(|row| row.own.is_significant()).count();
        let _ = writeln!(
            text,
            "… and {}, {significant} of them more than chance; -n shows more",
            plural(more as u64, "row")
        );
    }
    text
}

fn head(comparison: &Comparison) -> String {
    let Pair { base, new, .. } = comparison.busy;
    let how = match comparison.runs {
        (1, 1) => "1 run per side: rows judged by their samples or events, and how many there are"
            .to_owned(),
        (a, b) if a.min(b) < 4 => {
            format!(
                "{a} and {b} runs: too few to tell chance from change; four per side are enough"
            )
        }
        (a, b) => format!("{a} and {b} runs: medians, judged by their ranks"),
    };
    let percent = comparison.busy.percent();
    let percent = if percent.is_finite() { format!(" ({percent:+.1} %)") } else { String::new() };
    let unit = TimeUnit::of([base, new].into_iter());
    let (base, new) = (unit.shown(base, 2), unit.shown(new, 2));
    format!("busy {base} -> {new} {}{percent}; {how}", unit.name)
}

fn line(row: &Difference, unit: TimeUnit) -> Vec<String> {
    let signed = |ms: f64| match unit.shown(ms, 2) {
        text if ms >= 0.0 => format!("+{text}"),
        text => text,
    };
    let percent = row.own.percent();
    let percent = if percent.is_finite() { format!("{percent:+.1}") } else { "–".to_owned() };
    let interval = row.own.judged.map_or("–".to_owned(), |judged| {
        let (from, to) = judged.interval;
        format!("{} … {}", signed(from), signed(to))
    });
    let Pair { base, new, .. } = row.count;
    let count = if base == new { base.to_string() } else { format!("{base} → {new}") };
    let file = row.url.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&row.url);
    let place = match row.line {
        Some(line) if !row.url.is_empty() => format!("{file}:{}", line + 1),
        _ => file.to_owned(),
    };
    vec![
        unit.shown(row.own.base, 2),
        unit.shown(row.own.new, 2),
        signed(row.own.change()),
        percent,
        interval,
        count,
        row.verdict.name().to_owned(),
        plain(&row.name),
        plain(&place),
    ]
}

fn in_csv(rows: &[Difference], form: CsvForm) -> String {
    let mut text = String::from(
        "verdict,significant,q,self_base_ms,self_new_ms,total_base_ms,total_new_ms,count_base,count_new,from_ms,to_ms,name,url,line\n",
    );
    for row in rows {
        let number = |number: Option<f64>| number.map_or(String::new(), |value| value.to_string());
        let interval = row.own.judged.map(|judged| judged.interval);
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            row.verdict.name(),
            row.own.is_significant(),
            number(row.own.q),
            row.own.base,
            row.own.new,
            row.total.base,
            row.total.new,
            row.count.base,
            row.count.new,
            number(interval.map(|bounds| bounds.0)),
            number(interval.map(|bounds| bounds.1)),
            quoted(&row.name, form),
            quoted(&row.url, form),
            row.line.map_or(String::new(), |line| line.to_string()),
        );
    }
    text
}

/// Builds JSON of schema `tracemill.diff/1`. Adding keys does not change the version. Lines count
/// from 0.
fn in_json(comparison: &Comparison, rows: &[Difference]) -> Value {
    let pair = |pair: Pair| json!([pair.base, pair.new]);
    let row = |row: &Difference| {
        json!({
            "name": row.name,
            "url": (!row.url.is_empty()).then_some(&row.url),
            "line": row.line,
            "self_ms": pair(row.own),
            "total_ms": pair(row.total),
            "count": pair(row.count),
            "interval_ms": row.own.judged.map(|judged| [judged.interval.0, judged.interval.1]),
            "p": row.own.judged.map(|judged| judged.p),
            "q": row.own.q,
            "total_q": row.total.q,
            "count_q": row.count.q,
            "verdict": row.verdict.name(),
            "significant": row.own.is_significant(),
        })
    };
    json!({
        "schema": "tracemill.diff/1",
        "runs": [comparison.runs.0, comparison.runs.1],
        "busy_ms": pair(comparison.busy),
        "busy_p": comparison.busy.judged.map(|judged| judged.p),
        "rows": rows.iter().map(row).collect::<Vec<Value>>(),
    })
}
