//! Sections of lines and tables, rendered as text or Markdown.

use crate::messages::markdown::code;
use crate::messages::plain;
use crate::messages::wrap::push_line;
use crate::text::table::{self, ColumnAlignment, TableLayout};
use clap::builder::styling::Style;

const LABEL: usize = 11;

/// A page of `info`, which consists of sections.
#[derive(Default)]
pub(super) struct InfoPage(Vec<InfoSection>);

enum InfoSection {
    Lines(&'static str, Vec<String>),
    Table(&'static str, FigureTable),
}

/// A table of names and numbers.
pub(super) struct FigureTable {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// A line below the table about rows that are left out.
    pub(super) more: Option<String>,
}

impl InfoPage {
    pub(super) fn line(&mut self, label: &'static str, line: String) {
        self.lines(label, vec![line]);
    }

    pub(super) fn lines(&mut self, label: &'static str, lines: Vec<String>) {
        if !lines.is_empty() {
            self.0.push(InfoSection::Lines(label, lines));
        }
    }

    /// Adds a table, unless it is empty.
    pub(super) fn table(&mut self, label: &'static str, table: FigureTable) {
        if !table.rows.is_empty() {
            self.0.push(InfoSection::Table(label, table));
        }
    }

    /// Formats the page as text, with labels on the left, which are bold with `color`. If `columns`
    /// is given, wraps lines and shortens names in tables.
    pub(super) fn text(&self, color: bool, columns: Option<usize>) -> String {
        let style = if color { Style::new().bold() } else { Style::new() };
        let mut text = String::new();
        let mut last = "";
        for section in &self.0 {
            let (mut label, lines, columns) = match section {
                InfoSection::Lines(label, lines) => {
                    (*label, lines.iter().map(|line| plain(line)).collect(), columns)
                }
                InfoSection::Table(label, table) => (*label, aligned(table, columns), None),
            };
            if label == last {
                label = "";
            } else {
                last = label;
            }
            for line in lines {
                let line = format!("{style}{label:<LABEL$}{style:#}{line}");
                push_line(&mut text, &line, LABEL, columns);
                label = "";
            }
        }
        text
    }

    /// Formats the page as GitHub Markdown.
    pub(super) fn markdown(&self) -> String {
        let mut text = String::new();
        let mut in_lines = false;
        for section in &self.0 {
            match section {
                InfoSection::Lines(label, lines) => {
                    if !in_lines {
                        text.push_str("| | |\n|---|---|\n");
                    }
                    in_lines = true;
                    let lines: Vec<String> = lines.iter().map(|line| code(line)).collect();
                    text.push_str(&format!("| {label} | {} |\n", lines.join("<br>")));
                }
                InfoSection::Table(label, table) => {
                    if in_lines {
                        text.push('\n');
                    }
                    in_lines = false;
                    push_table(label, table, &mut text);
                }
            }
        }
        text
    }
}

/// Formats a table with names aligned to the left and numbers to the right.
fn aligned(table: &FigureTable, columns: Option<usize>) -> Vec<String> {
    let rows: Vec<Vec<String>> = std::iter::once(&table.head)
        .chain(&table.rows)
        .map(|row| row.iter().map(|cell| plain(cell)).collect())
        .collect();
    let mut set = vec![ColumnAlignment::Right; table.head.len()];
    set[0] = ColumnAlignment::Left;
    let columns = columns.map(|columns| columns.saturating_sub(LABEL));
    let mut lines = table::lines(&rows, &TableLayout { set: &set, spare: &[], columns });
    lines.extend(table.more.clone());
    lines
}

fn push_table(label: &str, table: &FigureTable, text: &mut String) {
    let mut head = table.head.iter();
    let first = head.next().map_or("", String::as_str);
    let title = if first.is_empty() { label.to_owned() } else { format!("{label} {first}") };
    let columns: Vec<&str> = head.map(String::as_str).collect();
    text.push_str(&format!("| {title} | {} |\n", columns.join(" | ")));
    text.push_str(&format!("|---|{}\n", "--:|".repeat(columns.len())));
    for row in &table.rows {
        let Some((name, figures)) = row.split_first() else { continue };
        let indent = name.len() - name.trim_start_matches(' ').len();
        let name = format!("{}{}", "&emsp;".repeat(indent / 2), code(&name[indent..]));
        text.push_str(&format!("| {name} | {} |\n", figures.join(" | ")));
    }
    if let Some(more) = &table.more {
        text.push_str(&format!("\n{more}\n"));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> InfoPage {
        let mut page = InfoPage::default();
        page.line("input", name.to_owned());
        page.lines("none", Vec::new());
        let row = |name: &str, figure: &str| vec![name.to_owned(), figure.to_owned()];
        let rows = vec![row(name, "1"), row("  b", "22,222")];
        let more = Some("… and 5".to_owned());
        page.table("names", FigureTable { head: row("by bytes", "events"), rows, more });
        page.line("damage", "none".to_owned());
        page
    }

    #[test]
    fn text_columns_are_aligned() {
        let expected = "\
input      a\\nb
names      by bytes  events
           a\\nb           1
             b       22,222
           … and 5
damage     none
";
        assert_eq!(page("a\nb").text(false, None), expected);
    }

    #[test]
    fn labels_are_bold_on_request() {
        let text = page("a").text(true, None);
        assert!(text.starts_with("\u{1b}[1minput      \u{1b}[0ma\n"), "{text:?}");
    }

    #[test]
    fn markdown_has_tables() {
        let expected = "\
| | |
|---|---|
| input | `a` |

| names by bytes | events |
|---|--:|
| `a` | 1 |
| &emsp;`b` | 22,222 |

… and 5

| | |
|---|---|
| damage | `none` |
";
        assert_eq!(page("a").markdown(), expected);
    }
}
