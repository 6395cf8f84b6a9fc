//! A section of the report: figures of the whole, and a table. Text, Markdown and JSON are made of the same cells.

use crate::messages::plain;
use crate::table::ColumnAlignment;
use serde_json::{Value, json};
use tracemill_pipeline::grouped;

/// What stands in a table, or is a figure.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// Milliseconds.
    Ms(f64),
    /// Percent.
    Percent(f64),
    /// How many.
    Count(u64),
    /// Any number.
    Number(f64),
    Text(String),
    /// JSON of its own, and its text.
    Json(Value, String),
    /// There is none.
    None,
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
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

    pub(super) fn shown(&self) -> String {
        match self {
            Cell::Ms(number) => format!("{number:.2}"),
            Cell::Percent(number) => format!("{number:.1}"),
            Cell::Count(count) => grouped(*count),
            Cell::Number(number) => number.to_string(),
            Cell::Text(text) | Cell::Json(_, text) => plain(text),
            Cell::None => "–".to_owned(),
        }
    }
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// In JSON.
    pub(super) key: &'static str,
    /// In text; empty if it is in JSON only.
    pub(super) head: &'static str,
    pub(super) set: ColumnAlignment,
    /// Left out on a terminal that has no room for it; of several the last first.
    pub(super) is_spare: bool,
}

impl Column {
    /// The same, to be left out before others become too narrow to be read.
    pub(super) const fn spare(self) -> Self {
        Column { is_spare: true, ..self }
    }
}

/// A column of figures.
pub(super) const fn figure(key: &'static str, head: &'static str) -> Column {
    Column { key, head, set: ColumnAlignment::Right, is_spare: false }
}

/// A column of texts.
pub(super) const fn words(key: &'static str, head: &'static str) -> Column {
    Column { key, head, set: ColumnAlignment::Left, is_spare: false }
}

/// A section.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) id: &'static str,
    /// A sentence with the figures.
    pub(super) head: String,
    pub(super) figures: Vec<(&'static str, Cell)>,
    /// Why something cannot be told.
    pub(super) why: Option<String>,
    pub(super) columns: &'static [Column],
    pub(super) rows: Vec<Vec<Cell>>,
    /// The command that shows more, for each row.
    pub(super) next: Vec<String>,
}

impl Section {
    pub(super) fn new(id: &'static str, columns: &'static [Column]) -> Self {
        let (head, figures, why) = (String::new(), Vec::new(), None);
        Section { id, head, figures, why, columns, rows: Vec::new(), next: Vec::new() }
    }

    pub(super) fn push(&mut self, row: Vec<Cell>, next: String) {
        self.rows.push(row);
        self.next.push(next);
    }
}
