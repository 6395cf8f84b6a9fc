//! Sections of a report. A section has a sentence with figures, and a table. Text, Markdown and
//! JSON are written from the same cells.

use super::super::text::{decimals, place_of};
use super::super::unit::TimeUnit;
use crate::messages::plain;
use crate::report::id;
use crate::text::table::ColumnAlignment;
use serde_json::{Value, json};
use tracemill_analysis::{Location, id_text};
use tracemill_causes::{Cause, Site};
use tracemill_trace::run::words::grouped;

/// Value of a table cell or of a figure in the sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Ms(f64),
    Percent(f64),
    Count(u64),
    /// A number that is neither a time, a percentage nor a count.
    Number(f64),
    Text(String),
    /// A value in JSON, and its form in text.
    Json(Value, String),
    None,
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    /// Returns a text cell. If the text is missing or empty, returns an empty cell.
    pub(super) fn optional(text: Option<&str>) -> Self {
        text.filter(|text| !text.is_empty()).map_or(Cell::None, Cell::text)
    }

    /// Returns the cell of a pid or tid, which is given as written in the trace.
    pub(super) fn id(written: &[u8]) -> Self {
        Cell::Json(id(&String::from_utf8_lossy(written)), id_text(written))
    }

    fn cause(cause: &Cause) -> Self {
        let Site { function, url, line, column } = cause.site.clone().unwrap_or_default();
        let [line, column] = [line, column]
            .map(|place| place.filter(|place| *place >= 0.0).map(|place| place as i64));
        let Cause { name, key, .. } = cause;
        let value = json!({
            "name": name, "key": key, "function": function, "url": url, "line": line, "column": column,
        });
        let location = Location { url: url.unwrap_or_default(), line, column };
        let function = cause.site.as_ref().map(|_| match function {
            Some(name) if !name.is_empty() => name,
            _ => "(anonymous)".to_owned(),
        });
        let words = |words: [Option<String>; 2]| {
            let words = words.into_iter().flatten().filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(" ")
        };
        // of a URL the file, as in the place of a function
        let name = name.as_ref().map(|name| match name.contains("://") {
            true => place_of(&Location { url: name.clone(), line: None, column: None }),
            false => name.clone(),
        });
        let event = words([name, key.clone()]);
        let call = words([function, Some(place_of(&location))]);
        let between = if event.is_empty() || call.is_empty() { "" } else { " in " };
        Cell::Json(value, format!("{event}{between}{call}"))
    }

    pub(super) fn of(number: Option<i64>) -> Self {
        number.map_or(Cell::None, |number| Cell::Json(json!(number), number.to_string()))
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Cell::Ms(number) | Cell::Percent(number) | Cell::Number(number) => json!(number),
            Cell::Count(count) => json!(count),
            Cell::Text(text) => json!(text),
            Cell::Json(value, _) => value.clone(),
            Cell::None => Value::Null,
        }
    }

    pub(super) fn shown(&self, unit: TimeUnit) -> String {
        match self {
            Cell::Ms(number) => unit.shown(*number, 2),
            Cell::Percent(number) => decimals(*number, 1),
            Cell::Count(count) => grouped(*count),
            Cell::Number(number) => number.to_string(),
            Cell::Text(text) | Cell::Json(_, text) => plain(text),
            Cell::None => "–".to_owned(),
        }
    }
}

/// Name and layout of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnHead {
    /// Key of the column in JSON.
    pub(super) key: &'static str,
    /// Header of the column in text. Empty if only JSON has the column.
    pub(super) head: &'static str,
    pub(super) set: ColumnAlignment,
    /// Whether the column may be left out on a narrow terminal. If there are several such columns,
    /// the last one is left out first.
    pub(super) is_spare: bool,
    /// Whether the column, the last of those in text, becomes a line below each row where the table
    /// is too wide.
    pub(super) is_below: bool,
}

type ToCell<'c, T> = Box<dyn Fn(&T) -> Cell + 'c>;

/// Columns of a table that has one row for each `T`.
pub(super) struct Columns<'c, T>(Vec<(ColumnHead, ToCell<'c, T>)>);

impl<'c, T> Columns<'c, T> {
    pub(super) fn new() -> Self {
        Columns(Vec::new())
    }

    fn add(
        mut self,
        key: &'static str,
        head: &'static str,
        set: ColumnAlignment,
        cell: impl Fn(&T) -> Cell + 'c,
    ) -> Self {
        self.0.push((
            ColumnHead { key, head, set, is_spare: false, is_below: false },
            Box::new(cell),
        ));
        self
    }

    /// Marks the column added last as one that may be left out on a narrow terminal.
    pub(super) fn spare(mut self) -> Self {
        self.0.iter_mut().last().into_iter().for_each(|column| column.0.is_spare = true);
        self
    }

    /// Adds a column of causes, which becomes lines where the table is too wide. No column of the
    /// text may follow.
    pub(super) fn cause(
        mut self,
        key: &'static str,
        head: &'static str,
        of: impl Fn(&T) -> Option<&Cause> + 'c,
    ) -> Self {
        self = self.words(key, head, move |row| of(row).map_or(Cell::None, Cell::cause));
        self.0.iter_mut().last().into_iter().for_each(|column| column.0.is_below = true);
        self
    }

    /// Adds a right-aligned column of numbers.
    pub(super) fn figure(
        self,
        key: &'static str,
        head: &'static str,
        cell: impl Fn(&T) -> Cell + 'c,
    ) -> Self {
        self.add(key, head, ColumnAlignment::Right, cell)
    }

    /// Adds a left-aligned column of texts.
    pub(super) fn words(
        self,
        key: &'static str,
        head: &'static str,
        cell: impl Fn(&T) -> Cell + 'c,
    ) -> Self {
        self.add(key, head, ColumnAlignment::Left, cell)
    }

    pub(super) fn ms(
        self,
        key: &'static str,
        head: &'static str,
        of: impl Fn(&T) -> f64 + 'c,
    ) -> Self {
        self.figure(key, head, move |row| Cell::Ms(of(row)))
    }

    pub(super) fn percent(
        self,
        key: &'static str,
        head: &'static str,
        of: impl Fn(&T) -> f64 + 'c,
    ) -> Self {
        self.figure(key, head, move |row| Cell::Percent(of(row)))
    }

    pub(super) fn count(
        self,
        key: &'static str,
        head: &'static str,
        of: impl Fn(&T) -> u64 + 'c,
    ) -> Self {
        self.figure(key, head, move |row| Cell::Count(of(row)))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) id: &'static str,
    /// Sentence above the table, which mentions the figures.
    pub(super) head: String,
    pub(super) figures: Vec<(&'static str, Cell)>,
    /// Reason why a figure in the sentence is missing.
    pub(super) why: Option<String>,
    pub(super) columns: Vec<ColumnHead>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Number of rows that the table does not show.
    pub(super) left_out: u64,
    /// For each row, a command that shows more about it.
    pub(super) next: Vec<String>,
}

impl Section {
    /// Creates a section with a table. Each item of `rows` becomes a row, for which `next` returns
    /// the command.
    pub(super) fn new<T>(
        id: &'static str,
        columns: Columns<'_, T>,
        rows: impl IntoIterator<Item = T>,
        next: impl Fn(&T) -> String,
    ) -> Self {
        let row = |item: T| {
            let cells = columns.0.iter().map(|(_, cell)| cell(&item)).collect();
            (cells, next(&item))
        };
        let (rows, next) = rows.into_iter().map(row).unzip();
        let columns = columns.0.iter().map(|(head, _)| *head).collect();
        let (head, figures) = (String::new(), Vec::new());
        Section { id, head, figures, why: None, columns, rows, left_out: 0, next }
    }

    /// Sets the number of all rows, including rows that are not shown.
    pub(super) fn of(self, all: u64) -> Self {
        Section { left_out: all.saturating_sub(self.rows.len() as u64), ..self }
    }

    /// Sets the sentence above the table, and the figures in it.
    pub(super) fn with(self, head: impl Into<String>, figures: Vec<(&'static str, Cell)>) -> Self {
        Section { head: head.into(), figures, ..self }
    }
}
