//! A section of the report: figures of the whole, and a table. Text, Markdown and JSON are made of the same cells.

use super::super::text::decimals;
use super::super::unit::TimeUnit;
use crate::messages::plain;
use crate::report::id;
use crate::table::ColumnAlignment;
use serde_json::{Value, json};
use tracemill_analysis::id_text;
use tracemill_trace::run::words::grouped;

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

    /// A text, unless it is missing or empty.
    pub(super) fn optional(text: Option<&str>) -> Self {
        text.filter(|text| !text.is_empty()).map_or(Cell::None, Cell::text)
    }

    /// A pid or tid as written.
    pub(super) fn id(written: &[u8]) -> Self {
        Cell::Json(id(&String::from_utf8_lossy(written)), id_text(written))
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

/// The names and the setting of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnHead {
    /// In JSON.
    pub(super) key: &'static str,
    /// In text; empty if it is in JSON only.
    pub(super) head: &'static str,
    pub(super) set: ColumnAlignment,
    /// Left out on a terminal that has no room for it; of several the last first.
    pub(super) is_spare: bool,
}

type ToCell<'c, T> = Box<dyn Fn(&T) -> Cell + 'c>;

/// The columns of a table with a row for each `T`, in their order.
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
        self.0.push((ColumnHead { key, head, set, is_spare: false }, Box::new(cell)));
        self
    }

    /// The last one is left out before others become too narrow to be read.
    pub(super) fn spare(mut self) -> Self {
        self.0.iter_mut().last().into_iter().for_each(|own| own.0.is_spare = true);
        self
    }

    /// Adds a column of figures.
    pub(super) fn figure(
        self,
        key: &'static str,
        head: &'static str,
        cell: impl Fn(&T) -> Cell + 'c,
    ) -> Self {
        self.add(key, head, ColumnAlignment::Right, cell)
    }

    /// Adds a column of texts, or of anything else that stands to the left.
    pub(super) fn words(
        self,
        key: &'static str,
        head: &'static str,
        cell: impl Fn(&T) -> Cell + 'c,
    ) -> Self {
        self.add(key, head, ColumnAlignment::Left, cell)
    }

    /// Adds a column of milliseconds.
    pub(super) fn ms(
        self,
        key: &'static str,
        head: &'static str,
        of: impl Fn(&T) -> f64 + 'c,
    ) -> Self {
        self.figure(key, head, move |own| Cell::Ms(of(own)))
    }

    /// Adds a column of percentages.
    pub(super) fn percent(
        self,
        key: &'static str,
        head: &'static str,
        of: impl Fn(&T) -> f64 + 'c,
    ) -> Self {
        self.figure(key, head, move |own| Cell::Percent(of(own)))
    }

    /// Adds a column of counts.
    pub(super) fn count(
        self,
        key: &'static str,
        head: &'static str,
        of: impl Fn(&T) -> u64 + 'c,
    ) -> Self {
        self.figure(key, head, move |own| Cell::Count(of(own)))
    }
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
    pub(super) columns: Vec<ColumnHead>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// How many more there are, which have no row.
    pub(super) left_out: u64,
    /// The command that shows more, for each row.
    pub(super) next: Vec<String>,
}

impl Section {
    /// Returns a section with a table: a row for each of `rows`, and the command that shows more of it.
    pub(super) fn new<T>(
        id: &'static str,
        columns: Columns<'_, T>,
        rows: impl IntoIterator<Item = T>,
        next: impl Fn(&T) -> String,
    ) -> Self {
        let row = |own: T| {
            let cells = columns.0.iter().map(|(_, cell)| cell(&own)).collect();
            (cells, next(&own))
        };
        let (rows, next) = rows.into_iter().map(row).unzip();
        let columns = columns.0.iter().map(|(head, _)| *head).collect();
        let (head, figures) = (String::new(), Vec::new());
        Section { id, head, figures, why: None, columns, rows, left_out: 0, next }
    }

    /// The same table, of so many of which the first have rows.
    pub(super) fn of(self, all: u64) -> Self {
        Section { left_out: all.saturating_sub(self.rows.len() as u64), ..self }
    }

    /// The same with a sentence and the figures in it.
    pub(super) fn with(self, head: impl Into<String>, figures: Vec<(&'static str, Cell)>) -> Self {
        Section { head: head.into(), figures, ..self }
    }
}
