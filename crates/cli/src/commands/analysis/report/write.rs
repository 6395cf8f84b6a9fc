//! Writes reports as text, Markdown and JSON.

use super::super::text::{aligned_as, in_markdown_as};
use super::super::unit::TimeUnit;
use super::section::{Cell, Section};
use super::verdict::Verdict;
use crate::messages::markdown::cell;
use crate::messages::plain;
use crate::messages::wrap::push_line;
use crate::text::table::{ColumnAlignment, shortened};
use serde_json::{Map, Value, json};
use tracemill_trace::run::words::grouped;
use unicode_width::UnicodeWidthStr;

/// The first lines of a report.
pub(super) struct PageHead {
    pub(super) text: String,
    /// The busiest threads.
    pub(super) busiest: Option<String>,
    pub(super) verdict: Option<Verdict>,
    /// The quoted inputs, if commands name them by a shell variable.
    pub(super) inputs: Option<String>,
    pub(super) members: Vec<(&'static str, Value)>,
}

/// Formats the report for a terminal with so many columns. Commands are never cut.
pub(super) fn page(
    head: &PageHead,
    sections: &[Section],
    markdown: bool,
    columns: Option<usize>,
) -> String {
    let mut text = String::new();
    push_head(&mut text, head, markdown, columns);
    let inputs = head.inputs.as_deref();
    for section in sections {
        text.push('\n');
        let unknown = section.why.iter().map(|why| format!("unknown: {why}"));
        let lines: Vec<String> = Some(section.head.clone())
            .filter(|head| !head.is_empty())
            .into_iter()
            .chain(unknown)
            .collect();
        if markdown {
            text.push_str(&format!("## {}\n\n", section.id));
            lines.iter().for_each(|line| text.push_str(&format!("{}\n\n", cell(line))));
        } else {
            let line = format!("## {}  {}", section.id, lines.join("; "));
            push_line(&mut text, line.trim_end(), 3, columns);
        }
        if !section.rows.is_empty() {
            text.push_str(&table(section, inputs, markdown, columns));
        }
        if section.left_out > 0 {
            let more = format!("… and {} more (-n shows more)", grouped(section.left_out));
            text.push_str(&if markdown { format!("\n{more}\n") } else { format!("{more}\n") });
        }
    }
    text
}

/// Appends the first lines: what was read, the inputs, the busiest threads, and the verdict.
fn push_head(text: &mut String, head: &PageHead, markdown: bool, columns: Option<usize>) {
    let head_text = if markdown { cell(&head.text) } else { head.text.clone() };
    push_line(text, &format!("# {head_text}"), 2, columns.filter(|_| !markdown));
    if let Some(inputs) = &head.inputs {
        let line = format!("F=({inputs})");
        match markdown {
            true => text.push_str(&format!("\n```sh\n{line}\n```\n")),
            false => push_line(text, &line, 3, columns),
        }
    }
    let verdict = head.verdict.as_ref();
    let inputs = head.inputs.as_deref();
    let lines = [
        ("busiest", head.busiest.clone()),
        ("verdict", verdict.map(|verdict| format!("{} (## {})", verdict.text, verdict.section))),
        ("why", verdict.map(|verdict| with_array(&verdict.next, inputs))),
    ];
    for (name, line) in lines {
        let Some(line) = line else { continue };
        match (markdown, name) {
            (true, "why") => text.push_str(&format!("\n```sh\n{line}\n```\n")),
            (true, _) => text.push_str(&format!("\n**{name}**: {}\n", cell(&plain(&line)))),
            (false, "why") => push_command(text, &line, columns.unwrap_or(usize::MAX)),
            (false, _) => push_line(text, &format!("{name}  {}", plain(&line)), 9, columns),
        }
    }
}

/// Replaces the inputs at the end of a command by a shell array. Without `inputs`, keeps the
/// command.
fn with_array(command: &str, inputs: Option<&str>) -> String {
    let rest = inputs.and_then(|inputs| command.strip_suffix(inputs));
    rest.map_or_else(|| command.to_owned(), |rest| format!("{rest}\"${{F[@]}}\""))
}

/// Returns the units of the shown columns: the same one for all durations, and one for start times.
fn units(section: &Section, shown: &[usize]) -> Vec<TimeUnit> {
    let is_start = |at: &usize| section.columns[*at].key.starts_with("start");
    let times = |starts: bool| {
        let columns = shown.iter().filter(move |at| is_start(at) == starts);
        columns.flat_map(|&at| section.rows.iter().map(move |row| &row[at])).filter_map(|cell| {
            match cell {
                Cell::Ms(ms) => Some(*ms),
                _ => None,
            }
        })
    };
    let (durations, starts) = (TimeUnit::of(times(false)), TimeUnit::of_starts(times(true)));
    shown.iter().map(|at| if is_start(at) { starts } else { durations }).collect()
}

fn table(
    section: &Section,
    inputs: Option<&str>,
    markdown: bool,
    columns: Option<usize>,
) -> String {
    let shown: Vec<usize> =
        (0..section.columns.len()).filter(|&at| !section.columns[at].head.is_empty()).collect();
    let mut set: Vec<ColumnAlignment> = shown.iter().map(|&at| section.columns[at].set).collect();
    set.push(ColumnAlignment::Whole);
    let units = units(section, &shown);
    let heads = shown.iter().zip(&units).map(|(&at, unit)| unit.head(section.columns[at].head));
    let mut lines: Vec<Vec<String>> = vec![heads.chain(["next".to_owned()]).collect()];
    for (row, next) in section.rows.iter().zip(&section.next) {
        let next = with_array(next, inputs);
        lines.push(
            shown
                .iter()
                .zip(&units)
                .map(|(&at, &unit)| row[at].shown(unit))
                .chain([next])
                .collect(),
        );
    }
    match markdown {
        true => in_markdown_as(&lines, &set),
        false => {
            let whole = aligned_as(&lines, &set, &[], None);
            match columns.filter(|&columns| whole.lines().any(|line| line.width() > columns)) {
                Some(columns) => {
                    let is_spare = |&at: &usize| section.columns[shown[at]].is_spare;
                    let spare: Vec<usize> = (0..shown.len()).rev().filter(is_spare).collect();
                    let has_causes = shown.last().is_some_and(|&at| section.columns[at].is_below);
                    with_commands_below(lines, &set, &spare, has_causes, columns)
                }
                None => whole,
            }
        }
    }
}

/// Formats a table. The cause and the command of each row are on lines below the row, because they
/// are too wide for a column.
fn with_commands_below(
    mut lines: Vec<Vec<String>>,
    set: &[ColumnAlignment],
    spare: &[usize],
    has_causes: bool,
    columns: usize,
) -> String {
    let commands: Vec<String> = lines.iter_mut().filter_map(Vec::pop).collect();
    let causes: Vec<String> =
        lines.iter_mut().filter(|_| has_causes).filter_map(Vec::pop).collect();
    let rows = aligned_as(&lines, &set[..lines[0].len()], spare, Some(columns));
    let mut text = String::new();
    for (at, row) in rows.lines().enumerate() {
        // the last line has no command if it names the columns that were left out
        match commands.get(at) {
            Some(_) if at == 0 => text.push_str(&format!("{row}\n")),
            Some(command) => {
                text.push_str(&format!("{row}\n"));
                if let Some(cause) = causes.get(at).filter(|cause| *cause != "–") {
                    let line = format!("      {} {cause}", causes[0]);
                    text.push_str(&format!("{}\n", shortened(&line, columns)));
                }
                push_command(&mut text, command, columns);
            }
            None => push_line(&mut text, row, 2, Some(columns)),
        }
    }
    text
}

/// Appends a command. If the command is wider than the terminal, breaks it into lines that end with
/// a backslash.
fn push_command(text: &mut String, command: &str, columns: usize) {
    let (mut at, mut quote) = (0, None);
    let mut words: Vec<String> = vec![String::new()];
    for c in command.chars() {
        match (c, quote) {
            (' ', None) => words.push(String::new()),
            (c, _) => words.last_mut().expect("it has one").push(c),
        }
        quote = match (c, quote) {
            ('\'' | '"', None) => Some(c),
            (c, Some(open)) if c == open => None,
            (_, quote) => quote,
        };
    }
    for word in words {
        let is_first = at == 0;
        if !is_first && at + 1 + word.width() + 2 > columns {
            text.push_str(" \\\n        ");
            at = 8;
        } else {
            text.push_str(if is_first { "      " } else { " " });
            at += if is_first { 6 } else { 1 };
        }
        text.push_str(&word);
        at += word.width();
    }
    text.push('\n');
}

/// Builds JSON of schema `tracemill.report/1`. Adding keys does not change the version.
pub(super) fn json(head: &PageHead, sections: &[Section]) -> Value {
    let mut all = Map::new();
    all.insert("schema".to_owned(), json!("tracemill.report/1"));
    all.extend(head.members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    all.insert("sections".to_owned(), sections.iter().map(section_json).collect());
    Value::Object(all)
}

fn section_json(section: &Section) -> Value {
    let figures: Map<String, Value> =
        section.figures.iter().map(|(key, cell)| ((*key).to_owned(), cell.json())).collect();
    let columns = section.columns.iter().map(|column| column.key).chain(["next"]);
    let rows = section.rows.iter().zip(&section.next).map(|(row, next)| {
        row.iter().map(super::section::Cell::json).chain([json!(next)]).collect::<Value>()
    });
    json!({
        "id": section.id,
        "figures": figures,
        "why": section.why,
        "columns": columns.collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
        "left_out": section.left_out,
    })
}
