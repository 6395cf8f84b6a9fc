//! Formats tables as text. Numbers are aligned to the right, and texts to the left. On a terminal,
//! lines that are too wide lose the middle of texts and the least important columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Number of blanks between two columns.
const GAP: usize = 2;
/// Minimum width of texts while there are columns that can be left out instead.
const WORTH: usize = 18;
/// Minimum width of a text that is shortened.
const LEAST: usize = 6;

/// Alignment of a table column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnAlignment {
    /// A number, which is aligned to the right and never shortened.
    Right,
    /// A text, which is aligned to the left and may be shortened.
    Left,
    /// A text that is aligned to the left and never shortened, such as a command.
    Whole,
}

pub(crate) struct TableLayout<'a> {
    pub(crate) set: &'a [ColumnAlignment],
    /// Indices of the columns that may be left out, the least important first.
    pub(crate) spare: &'a [usize],
    pub(crate) columns: Option<usize>,
}

/// Formats `rows` without blanks at the ends of lines. The first row is the header. If columns are
/// left out, the last line names them.
pub(crate) fn lines(rows: &[Vec<String>], layout: &TableLayout<'_>) -> Vec<String> {
    let mut widths = Widths::of(layout);
    rows.iter().for_each(|row| widths.add(row));
    let fitted = widths.fitted(layout);
    let mut lines: Vec<String> = rows.iter().map(|row| fitted.line(row)).collect();
    lines.extend(rows.first().and_then(|head| fitted.hidden(head)));
    lines
}

/// The column widths of a table that is too long for memory. All rows must be added before the
/// first is formatted.
pub(crate) struct Widths(Vec<usize>);

impl Widths {
    pub(crate) fn of(layout: &TableLayout<'_>) -> Self {
        Widths(vec![0; layout.set.len()])
    }

    pub(crate) fn add(&mut self, row: &[String]) {
        for (width, cell) in self.0.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }

    /// Decides which columns are shown, and how wide they are.
    pub(crate) fn fitted<'l>(self, layout: &'l TableLayout<'l>) -> Fitted<'l> {
        let Widths(mut widths) = self;
        let mut shown: Vec<usize> = (0..widths.len()).collect();
        if let Some(columns) = layout.columns {
            for spare in layout.spare {
                if fits(&shown, &widths, layout.set, columns, WORTH) {
                    break;
                }
                shown.retain(|column| column != spare);
            }
            shorten_texts(&shown, &mut widths, layout.set, columns);
        }
        Fitted { widths, shown, layout }
    }
}

/// A table whose column widths are decided.
pub(crate) struct Fitted<'l> {
    widths: Vec<usize>,
    shown: Vec<usize>,
    layout: &'l TableLayout<'l>,
}

impl Fitted<'_> {
    /// Formats a row.
    pub(crate) fn line(&self, row: &[String]) -> String {
        line(row, &self.shown, &self.widths, self.layout)
    }

    /// Returns a line that names the columns that are left out. Returns `None` if there are none.
    pub(crate) fn hidden(&self, head: &[String]) -> Option<String> {
        let hidden = (0..self.widths.len()).filter(|column| !self.shown.contains(column));
        let hidden: Vec<&str> = hidden.map(|column| &*head[column]).collect();
        (!hidden.is_empty()).then(|| format!("… no room for: {}", hidden.join(", ")))
    }
}

/// Returns whether lines fit if texts are shortened to `least` columns.
fn fits(
    shown: &[usize],
    widths: &[usize],
    set: &[ColumnAlignment],
    columns: usize,
    least: usize,
) -> bool {
    let width = |&column: &usize| match set[column] {
        ColumnAlignment::Right | ColumnAlignment::Whole => widths[column],
        ColumnAlignment::Left => widths[column].min(least),
    };
    shown.iter().map(width).sum::<usize>() + GAP * shown.len().saturating_sub(1) <= columns
}

/// Narrows the widest text columns until the line fits.
fn shorten_texts(shown: &[usize], widths: &mut [usize], set: &[ColumnAlignment], columns: usize) {
    loop {
        let all = shown.iter().map(|&column| widths[column]).sum::<usize>();
        let over = (all + GAP * shown.len().saturating_sub(1)).saturating_sub(columns);
        let texts = shown.iter().copied().filter(|&column| set[column] == ColumnAlignment::Left);
        let Some(widest) = texts.max_by_key(|&column| widths[column]) else { return };
        if over == 0 || widths[widest] <= LEAST {
            return;
        }
        widths[widest] -= 1;
    }
}

fn line(row: &[String], shown: &[usize], widths: &[usize], layout: &TableLayout<'_>) -> String {
    let cells = shown.iter().map(|&column| {
        let (cell, width) = (&row[column], widths[column]);
        let text = match layout.set[column] {
            ColumnAlignment::Right | ColumnAlignment::Whole => cell.clone(),
            ColumnAlignment::Left => shortened(cell, width),
        };
        let fill = " ".repeat(width.saturating_sub(text.width()));
        match layout.set[column] {
            ColumnAlignment::Right => fill + &text,
            ColumnAlignment::Left | ColumnAlignment::Whole => text + &fill,
        }
    });
    let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
    line.trim_end().to_owned()
}

/// Shortens a text to `columns` by replacing its middle by an ellipsis. Keeps leading blanks and
/// tree lines if there is room for a few letters.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let is_branch = |c: char| matches!(c, ' ' | '│' | '├' | '└' | '─');
    let (mut branch, mut name) = text.split_at(text.find(|c| !is_branch(c)).unwrap_or(0));
    if branch.width() + LEAST > columns {
        (branch, name) = ("", text);
    }
    let room = columns.saturating_sub(branch.width() + 1);
    let behind = room / 2;
    let head = prefix(name.chars(), room - behind);
    let tail: String = prefix(name.chars().rev(), behind).chars().rev().collect();
    format!("{branch}{head}…{tail}")
}

/// Returns the longest prefix of a text that fits into `columns`.
fn prefix(text: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= columns
    };
    text.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: [ColumnAlignment; 4] = [
        ColumnAlignment::Right,
        ColumnAlignment::Left,
        ColumnAlignment::Left,
        ColumnAlignment::Right,
    ];

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        vec![
            row(["ms", "activity", "location", "count"]),
            row(["1.5", "├─ aVeryLongNameOfAFunction", "somewhere/in/a/file.js:12:3", "12,345"]),
            row(["22.5", "日本語日本語日本語日本語", "", "1"]),
        ]
    }

    fn set(columns: Option<usize>) -> Vec<String> {
        lines(&rows(), &TableLayout { set: &SET, spare: &[2], columns })
    }

    #[test]
    fn nothing_is_shortened_without_a_limit() {
        let expected = [
            "  ms  activity                    location                      count",
            " 1.5  ├─ aVeryLongNameOfAFunction  somewhere/in/a/file.js:12:3  12,345",
        ];
        let lines = set(None);
        assert_eq!(lines[1], expected[1]);
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("  ms  activity ")
                && lines[0].ends_with(" location                      count")
        );
    }

    #[test]
    fn lines_fit_the_limit_and_numbers_stay_whole() {
        for columns in 24..90 {
            let lines = set(Some(columns));
            assert!(lines.iter().all(|line| line.width() <= columns), "{columns}: {lines:#?}");
            for figure in ["1.5", "12,345", "22.5"] {
                assert!(lines.iter().any(|line| line.contains(figure)), "{columns}: {lines:#?}");
            }
        }
    }

    #[test]
    fn texts_lose_their_middle_and_keep_tree_lines() {
        assert_eq!(shortened("abcdefghij", 10), "abcdefghij");
        assert_eq!(shortened("abcdefghij", 7), "abc…hij");
        assert_eq!(shortened("│  └─ abcdefghij", 13), "│  └─ abc…hij");
        assert_eq!(shortened("│  └─ abcdefghij", 8), "│  └…hij");
        assert_eq!(shortened("日本語日本語", 8), "日本…語");
    }

    #[test]
    fn columns_left_out_are_named() {
        let lines = set(Some(40));
        assert!(lines.iter().all(|line| !line.contains("file.js")), "{lines:#?}");
        assert_eq!(lines[3], "… no room for: location");
        assert_eq!(set(Some(200)).len(), 3);
    }
}
