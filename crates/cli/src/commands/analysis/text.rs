//! Writes tables as text and Markdown.

use super::answer::{Answer, notes, self_of};
use super::branches::Following;
use super::data::{cpu_ms, percent_of};
use super::unit::{TimeUnit, time_text};
use crate::messages::markdown::{cell, command};
use crate::messages::plain;
use crate::messages::wrap::push_line;
use crate::text::table::{self, ColumnAlignment, TableLayout, Widths};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use tracemill_analysis::{Location, Matcher, Part, Shape, Trace, TreeRow, Window};
use tracemill_trace::run::words::{grouped, plural};

/// Format, colours and width of the output.
#[derive(Clone, Copy)]
pub(super) struct PageStyle {
    pub(super) markdown: bool,
    pub(super) colours: bool,
    pub(super) columns: Option<usize>,
}

/// Terminal code for bold text, for titles of tables.
const BOLD: &str = "\u{1b}[1m";
/// Terminal code for faint text, for column headers.
const FAINT: &str = "\u{1b}[2m";
/// Terminal code that ends bold and faint text.
const PLAIN: &str = "\u{1b}[0m";

/// Writes all tables, each with its title above.
pub(super) fn write_page(
    answer: &Answer<'_>,
    paper: PageStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let above = above(answer.trace, paper.columns.filter(|_| !paper.markdown));
    out.write_all(above.as_bytes())?;
    for (at, part) in answer.parts.iter().enumerate() {
        if at > 0 {
            out.write_all(b"\n")?;
        }
        let head = head(answer.trace, &answer.query.windows, part);
        if paper.markdown {
            write!(out, "### {}\n\n", cell(&head))?;
        } else {
            let mut above = String::new();
            push_line(&mut above, &plain(&head), 2, paper.columns);
            match paper.colours {
                true => writeln!(out, "{BOLD}{}{PLAIN}", above.trim_end())?,
                false => out.write_all(above.as_bytes())?,
            }
        }
        write_table(answer, part, paper, out)?;
    }
    Ok(())
}

/// Formats the notes that come before the tables, and an empty line. Returns an empty text if there
/// are no notes.
pub(super) fn above(trace: &Trace, columns: Option<usize>) -> String {
    let (mut text, notes) = (String::new(), notes(trace));
    notes.iter().for_each(|note| push_line(&mut text, note, 2, columns));
    if !notes.is_empty() {
        text.push('\n');
    }
    text
}

/// Formats the title of a table: threads, window, busy time, calls.
fn head(trace: &Trace, windows: &[Window], part: &Part) -> String {
    let of = match part.threads[..] {
        [_] => trace.title(part),
        _ => {
            let pids: BTreeSet<&[u8]> =
                part.threads.iter().map(|&at| &*trace.threads[at].pid).collect();
            let threads = plural(part.threads.len() as u64, "thread");
            let processes = plural(pids.len() as u64, "process");
            format!("{threads} of {processes}")
        }
    };
    // without drawn events the window is infinite
    let finite = |ms: f64| if ms.is_finite() { ms } else { 0.0 };
    let (busy, total) = (finite(part.busy()), finite(part.table.total));
    let share = percent_of(busy, total);
    let calls = match part.samples {
        0 => String::new(),
        samples => format!(
            ", {} from {} (self: {})",
            plural(part.calls, "call"),
            plural(samples, "sample"),
            self_of(trace.weights)
        ),
    };
    let listed = match part.listed {
        0 => String::new(),
        listed => {
            let count = grouped(listed);
            format!(", {count} of them on the ignore list of DevTools, which does not draw these")
        }
    };
    let from = |ms: f64| ms - trace.start_ms();
    let window = match *windows {
        [window] if window == part.table.window && part.table.total.is_finite() => {
            format!(" from {} to {}", time_text(from(window.from)), time_text(from(window.to)))
        }
        _ => format!(" of {}", time_text(total)),
    };
    let left_out = left_out(part);
    let idle = match part.table.idle {
        idle if idle > 0.0 => format!(", {} idle not counted", time_text(idle)),
        _ => String::new(),
    };
    let times = match trace.origin() {
        Some(_) => ", exact times",
        None if trace.refusals.is_empty() => ", times as in DevTools",
        None => ", times as in DevTools, which cannot open this trace",
    };
    let busy = time_text(busy);
    format!("{of}: {busy} busy{window} ({share:.1} %){idle}{times}{calls}{listed}{left_out}")
}

/// Returns the end of a title: how many calls are left out by the ignore list, and how many events
/// by the stored view.
fn left_out(part: &Part) -> String {
    let all = [
        (part.ignored, "call", "on the ignore list"),
        (part.hidden, "event", "hidden when the trace was stored"),
    ];
    let counted = all.iter().filter(|(count, ..)| *count > 0);
    let texts: Vec<String> =
        counted.map(|(count, noun, why)| format!("{} {why}", plural(*count, noun))).collect();
    if texts.is_empty() { String::new() } else { format!("; without {}", texts.join(" and ")) }
}

/// Formats the location of a row's function. Lines and columns count from 1.
pub(super) fn location(row: &TreeRow) -> String {
    place_of(&row.location)
}

/// Formats a location as file, line and column. Lines and columns count from 1.
pub(super) fn place_of(place: &Location) -> String {
    if place.url.is_empty() {
        return String::new();
    }
    let file = place.url.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&place.url);
    match (place.line, place.column) {
        (Some(line), Some(column)) => format!("{file}:{}:{}", line + 1, column + 1),
        (Some(line), None) => format!("{file}:{}", line + 1),
        _ => file.to_owned(),
    }
}

fn label(row: &TreeRow) -> String {
    plain(row.name())
}

/// Formats a number with `digits` decimals. A number that is not finite becomes a dash.
pub(super) fn decimals(number: f64, digits: usize) -> String {
    if number.is_finite() { format!("{number:.digits$}") } else { "–".to_owned() }
}

#[derive(Clone, Copy)]
struct Units {
    durations: TimeUnit,
    starts: TimeUnit,
    /// Whether the table has a column of CPU times.
    has_cpu: bool,
}

impl Units {
    /// Returns the index of the column of CPU times among the columns of numbers.
    fn cpu_column(self, shape: Shape) -> Option<usize> {
        let column = match shape {
            Shape::Log | Shape::CallTree => 3,
            Shape::BottomUp { .. } => 4,
        };
        Some(column).filter(|_| self.has_cpu)
    }
}

/// Formats the numeric columns of a row.
fn figures(shape: Shape, row: &TreeRow, busy: f64, units: Units) -> Vec<String> {
    let percent = |ms: f64| match row.is_idle() {
        true => "–".to_owned(),
        false => decimals(percent_of(ms, busy), 1),
    };
    let ms = |ms: f64| units.durations.shown(ms, 2);
    let mut figures = match shape {
        Shape::Log => {
            let [self_time, total] = [row.own, row.total].map(|ms| units.durations.shown(ms, 3));
            vec![units.starts.shown(row.start, 3), self_time, total]
        }
        Shape::CallTree => {
            vec![ms(row.total), percent(row.total), ms(row.own), grouped(row.count)]
        }
        Shape::BottomUp { .. } => {
            vec![
                ms(row.own),
                percent(row.own),
                ms(row.total),
                percent(row.total),
                grouped(row.count),
            ]
        }
    };
    if let Some(column) = units.cpu_column(shape) {
        let digits = if shape == Shape::Log { 3 } else { 2 };
        let cpu = cpu_ms(row).unwrap_or(f64::NAN);
        figures.insert(column, units.durations.shown(cpu, digits));
    }
    figures
}

fn heads(shape: Shape, units: Units) -> Vec<String> {
    let heads: &[&str] = match shape {
        Shape::Log => &["self ms", "total ms"],
        Shape::CallTree => &["total ms", "%", "self ms", "count"],
        Shape::BottomUp { .. } => &["self ms", "%", "total ms", "%", "count"],
    };
    let start = (shape == Shape::Log).then(|| units.starts.head("start ms"));
    let heads = heads.iter().map(|head| units.durations.head(head));
    let mut heads: Vec<String> = start.into_iter().chain(heads).collect();
    if let Some(column) = units.cpu_column(shape) {
        heads.insert(column, units.durations.head("cpu ms"));
    }
    heads
}

/// Writes a table. The rows may exceed the memory, so they are read twice: first to measure the
/// columns, then to write.
fn write_table(
    answer: &Answer<'_>,
    part: &Part,
    paper: PageStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let PageStyle { markdown, colours, columns } = paper;
    let shape = answer.query.shape;
    let last = if shape == Shape::Log { "key" } else { "location" };
    let (mut longest, mut last_start, mut has_cpu) = (0.0f64, 0.0f64, false);
    let following = Following::of(answer.shown.of(part).map(|row| {
        (longest, last_start) = (longest.max(row.total), last_start.max(row.start));
        has_cpu |= row.cpu.is_some();
        row.depth
    }));
    let units = Units {
        durations: TimeUnit::of(std::iter::once(longest)),
        starts: TimeUnit::of_starts(std::iter::once(last_start)),
        has_cpu,
    };
    let mut head = heads(shape, units);
    head.extend(["activity".to_owned(), last.to_owned()]);
    let set = usual(head.len());
    let rows = || {
        let mut branches = following.branches();
        let cells = move |row: Cow<'_, TreeRow>| {
            let mut line = figures(shape, &row, part.busy(), units);
            line.extend(texts(&row, &branches.next(row.depth), shape));
            line
        };
        answer.shown.of(part).map(cells)
    };
    if markdown {
        out.write_all(markdown_head(&head, &set).as_bytes())?;
        for row in rows() {
            out.write_all(markdown_row(&row, &set).as_bytes())?;
        }
    } else {
        let spare: Vec<usize> = units.cpu_column(shape).into_iter().collect();
        let layout = TableLayout { set: &set, spare: &spare, columns };
        let mut widths = Widths::of(&layout);
        widths.add(&head);
        rows().for_each(|row| widths.add(&row));
        let fitted = widths.fitted(&layout);
        let line = fitted.line(&head);
        match colours {
            true => writeln!(out, "{FAINT}{line}{PLAIN}")?,
            false => writeln!(out, "{line}")?,
        }
        for row in rows() {
            writeln!(out, "{}", fitted.line(&row))?;
        }
        if let Some(line) = fitted.hidden(&head) {
            writeln!(out, "{line}")?;
        }
    }
    let below = below(answer, part, columns.filter(|_| !markdown));
    out.write_all(below.as_bytes())
}

/// Returns the text columns of a row: its name, and its key or location.
fn texts(row: &TreeRow, branch: &str, shape: Shape) -> [String; 2] {
    let last = match shape {
        Shape::Log => row.key.clone().unwrap_or_default(),
        _ => plain(&location(row)),
    };
    [format!("{branch}{}", label(row)), last]
}

/// Formats the lines below a table that say how many rows are not shown.
fn below(answer: &Answer<'_>, part: &Part, columns: Option<usize>) -> String {
    let mut text = String::new();
    let (small, ms) = part.table.small;
    if small > 0 {
        let share = percent_of(ms, part.busy());
        let rows = plural(small, "row");
        let line =
            format!("… {rows} that take too little ({share:.1} % together); --min 0 shows all");
        push_line(&mut text, &line, 2, columns);
    }
    push_more_rows(&mut text, answer.shown.more(part), columns);
    text
}

/// Appends a line about the rows that a table leaves out, if there are any.
pub(super) fn push_more_rows(text: &mut String, count: u64, columns: Option<usize>) {
    if count > 0 {
        let line = format!("… and {}; -n shows more", plural(count, "row"));
        push_line(text, &line, 2, columns);
    }
}

/// Formats a table. Aligns the last two columns to the left, and all other columns, which are
/// numbers, to the right. The columns in `spare` may be left out.
pub(super) fn aligned(lines: &[Vec<String>], spare: &[usize], columns: Option<usize>) -> String {
    aligned_as(lines, &usual(lines[0].len()), spare, columns)
}

/// Returns the default alignment: numbers to the right, and two text columns at the end to the
/// left.
fn usual(columns: usize) -> Vec<ColumnAlignment> {
    let mut set = vec![ColumnAlignment::Right; columns];
    set.iter_mut().rev().take(2).for_each(|column| *column = ColumnAlignment::Left);
    set
}

/// Formats a table whose columns are aligned by `set`.
pub(super) fn aligned_as(
    lines: &[Vec<String>],
    set: &[ColumnAlignment],
    spare: &[usize],
    columns: Option<usize>,
) -> String {
    let lines = table::lines(lines, &TableLayout { set, spare, columns });
    lines.into_iter().map(|line| line + "\n").collect()
}

pub(super) fn in_markdown(lines: &[Vec<String>]) -> String {
    in_markdown_as(lines, &usual(lines[0].len()))
}

/// Formats a Markdown table whose columns are aligned by `set`.
pub(super) fn in_markdown_as(lines: &[Vec<String>], set: &[ColumnAlignment]) -> String {
    let mut text = markdown_head(&lines[0], set);
    lines[1..].iter().for_each(|line| text.push_str(&markdown_row(line, set)));
    text
}

fn markdown_row(line: &[String], set: &[ColumnAlignment]) -> String {
    let cell = |(text, set): (&String, &ColumnAlignment)| match set {
        ColumnAlignment::Whole => command(text),
        ColumnAlignment::Left | ColumnAlignment::Right => cell(text),
    };
    format!("| {} |\n", line.iter().zip(set).map(cell).collect::<Vec<_>>().join(" | "))
}

fn markdown_head(head: &[String], set: &[ColumnAlignment]) -> String {
    let rule = |column_alignment: &ColumnAlignment| {
        if *column_alignment == ColumnAlignment::Right { "--:|" } else { "---|" }
    };
    format!("| {} |\n|{}\n", head.join(" | "), set.iter().map(rule).collect::<String>())
}

/// Formats the callers and callees of a function.
pub(super) fn peek(trace: &Trace, parts: &[Part], name: &str, columns: Option<usize>) -> String {
    let mut text = String::new();
    for part in parts {
        let Some(peek) = part.table.peek(name) else { continue };
        push_line(&mut text, &plain(&head(trace, &[], part)), 2, columns);
        let share = |ms: f64| percent_of(ms, peek.total);
        let unit = TimeUnit::of(std::iter::once(peek.total));
        let mut lines =
            vec![["total ms", "%", "self ms", "activity", ""].map(|head| unit.head(head)).to_vec()];
        let line = |row: &TreeRow, ms: f64, what: &str| {
            let place = format!("{:32} {what}", plain(&location(row)));
            vec![
                unit.shown(ms, 2),
                format!("{:.1}", share(ms)),
                String::new(),
                format!("  {}", label(row)),
                place,
            ]
        };
        lines.extend(peek.callers.iter().map(|(row, ms)| line(row, *ms, "calls it")));
        let row = [
            unit.shown(peek.total, 2),
            "100.0".into(),
            unit.shown(peek.own, 2),
            plain(name),
            String::new(),
        ];
        lines.push(row.to_vec());
        lines.extend(peek.callees.iter().map(|(row, ms)| line(row, *ms, "is called")));
        text.push_str(&aligned(&lines, &[], columns));
    }
    text
}

/// Formats the path with the most time.
pub(super) fn heaviest(
    trace: &Trace,
    parts: &[Part],
    through: Option<&Matcher>,
    columns: Option<usize>,
) -> String {
    let mut text = String::new();
    for part in parts {
        let path = part.table.heaviest(through);
        if path.rows.is_empty() {
            continue;
        }
        push_line(&mut text, &plain(&head(trace, &[], part)), 2, columns);
        let unit = TimeUnit::of(path.rows.iter().map(|row| row.total));
        let heads = ["total ms", "%", "self ms", "activity", "location"];
        let mut lines = vec![heads.map(|head| unit.head(head)).to_vec()];
        lines.extend(path.rows.iter().map(|row| {
            let share = percent_of(row.total, part.busy());
            let place = plain(&location(row));
            vec![
                unit.shown(row.total, 2),
                format!("{share:.1}"),
                unit.shown(row.own, 2),
                label(row),
                place,
            ]
        }));
        text.push_str(&aligned(&lines, &[], columns));
        if path.left_out > 0 {
            let more = format!("… and {} deeper", plural(path.left_out, "row"));
            push_line(&mut text, &more, 2, columns);
        }
    }
    text
}
