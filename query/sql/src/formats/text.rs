//! Text formats: aligned columns, CSV, JSON, NDJSON, Markdown.

use crate::errors::format_error;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use std::io::Write;
use std::mem;
use tracemill::engine::{QueryError, plain};
use tracemill_trace::json::push_string;

/// Number of rows that decide the widths of columns.
const WIDTH_ROWS: usize = 1000;
/// Maximum number of characters of a cell of a table; longer cells are cut.
const CELL_MAX: usize = 100;

/// A text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// Aligned columns.
    Table,
    /// Comma-separated values, RFC 4180.
    Csv,
    /// An array of objects.
    Json,
    /// One object per line.
    Ndjson,
    /// A Markdown table.
    Markdown,
}

/// Rows that are written as text.
pub struct TextRows {
    rows: Rows,
    columns: Vec<TextColumn>,
    /// Rows of a table whose widths are not decided yet.
    first: Vec<Vec<String>>,
    is_begun: bool,
    text: Vec<u8>,
}

struct TextColumn {
    name: String,
    /// Whether values are JSON numbers or literals.
    is_json: bool,
    width: usize,
}

impl TextRows {
    pub(super) fn new(rows: Rows, schema: &SchemaRef) -> Self {
        let column = |field: &std::sync::Arc<datafusion::arrow::datatypes::Field>| {
            let is_json = match field.data_type() {
                DataType::Boolean | DataType::Null => true,
                other => other.is_numeric(),
            };
            TextColumn { name: field.name().clone(), is_json, width: 0 }
        };
        let columns = schema.fields().iter().map(column).collect();
        TextRows { rows, columns, first: Vec::new(), is_begun: false, text: Vec::new() }
    }

    pub(super) fn write(
        &mut self,
        batch: &RecordBatch,
        output: &mut dyn Write,
    ) -> Result<(), QueryError> {
        let options = FormatOptions::default();
        let columns = batch.columns().iter();
        let formatters = columns.map(|column| ArrayFormatter::try_new(column, &options));
        let formatters = formatters.collect::<Result<Vec<_>, _>>().map_err(format_error)?;
        for row in 0..batch.num_rows() {
            let mut cells = Vec::with_capacity(formatters.len());
            for (column, formatter) in batch.columns().iter().zip(&formatters) {
                let is_null = column.is_null(row);
                let value = (!is_null).then(|| formatter.value(row).try_to_string());
                cells.push(value.transpose().map_err(format_error)?);
            }
            self.push(cells);
        }
        self.flush(output)
    }

    pub(super) fn finish(mut self, output: &mut dyn Write) -> Result<(), QueryError> {
        if self.rows == Rows::Table {
            self.decide_widths();
        }
        self.begin();
        if self.rows == Rows::Json {
            self.text.extend_from_slice(b"\n]\n");
        }
        self.flush(output)
    }

    fn flush(&mut self, output: &mut dyn Write) -> Result<(), QueryError> {
        output.write_all(&self.text).map_err(QueryError::Write)?;
        self.text.clear();
        Ok(())
    }

    /// Adds a row; `None` is NULL.
    fn push(&mut self, cells: Vec<Option<String>>) {
        match self.rows {
            Rows::Table => {
                let cells = cells.into_iter().map(|cell| visible(&cell.unwrap_or_default()));
                let cells: Vec<String> = cells.collect();
                if self.is_begun {
                    return self.push_aligned(&cells);
                }
                self.first.push(cells);
                if self.first.len() == WIDTH_ROWS {
                    self.decide_widths();
                }
            }
            Rows::Csv => {
                self.begin();
                self.push_csv(cells.iter().map(|cell| cell.as_deref().unwrap_or_default()));
            }
            Rows::Markdown => {
                self.begin();
                let cells = cells.into_iter().map(|cell| visible(&cell.unwrap_or_default()));
                self.push_markdown(cells);
            }
            Rows::Json | Rows::Ndjson => {
                let is_first = !self.is_begun;
                self.begin();
                if self.rows == Rows::Json {
                    self.text.extend_from_slice(if is_first { b"\n" } else { b",\n" });
                }
                self.push_object(&cells);
            }
        }
    }

    /// Writes what comes before the first row.
    fn begin(&mut self) {
        if mem::replace(&mut self.is_begun, true) {
            return;
        }
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        match self.rows {
            Rows::Table => self.push_aligned(&names),
            Rows::Csv => self.push_csv(names.iter().map(String::as_str)),
            Rows::Json => self.text.push(b'['),
            Rows::Ndjson => {}
            Rows::Markdown => {
                let rules: Vec<&str> = self.columns.iter().map(TextColumn::rule).collect();
                self.push_markdown(names.into_iter());
                self.push_markdown(rules.into_iter().map(str::to_owned));
            }
        }
    }

    /// Decides the widths of a table by its first rows, and writes them.
    fn decide_widths(&mut self) {
        if self.is_begun {
            return;
        }
        let rows = mem::take(&mut self.first);
        for (number, column) in self.columns.iter_mut().enumerate() {
            let cells = rows.iter().map(|row| width(&row[number]));
            column.width = cells.max().unwrap_or(0).max(width(&column.name));
        }
        self.begin();
        rows.iter().for_each(|row| self.push_aligned(row));
    }

    fn push_aligned(&mut self, cells: &[String]) {
        let mut line = String::new();
        for (cell, column) in cells.iter().zip(&self.columns) {
            let fill = " ".repeat(column.width.saturating_sub(width(cell)));
            let separator = if line.is_empty() { "" } else { "  " };
            match column.is_json {
                true => line.push_str(&format!("{separator}{fill}{cell}")),
                false => line.push_str(&format!("{separator}{cell}{fill}")),
            }
        }
        self.text.extend_from_slice(line.trim_end().as_bytes());
        self.text.push(b'\n');
    }

    fn push_csv<'c>(&mut self, cells: impl Iterator<Item = &'c str>) {
        for (number, cell) in cells.enumerate() {
            if number > 0 {
                self.text.push(b',');
            }
            match cell.contains([',', '"', '\n', '\r']) {
                true => {
                    let quoted = format!("\"{}\"", cell.replace('"', "\"\""));
                    self.text.extend_from_slice(quoted.as_bytes());
                }
                false => self.text.extend_from_slice(cell.as_bytes()),
            }
        }
        self.text.push(b'\n');
    }

    fn push_markdown(&mut self, cells: impl Iterator<Item = String>) {
        self.text.push(b'|');
        for cell in cells {
            self.text.extend_from_slice(format!(" {} |", cell.replace('|', "\\|")).as_bytes());
        }
        self.text.push(b'\n');
    }

    fn push_object(&mut self, cells: &[Option<String>]) {
        self.text.push(b'{');
        for (number, (cell, column)) in cells.iter().zip(&self.columns).enumerate() {
            if number > 0 {
                self.text.push(b',');
            }
            push_string(&column.name, &mut self.text);
            self.text.push(b':');
            match cell {
                None => self.text.extend_from_slice(b"null"),
                // JSON has no NaN and no infinity
                Some(number) if column.is_json && number.ends_with(['N', 'f']) => {
                    push_string(number, &mut self.text);
                }
                Some(number) if column.is_json => self.text.extend_from_slice(number.as_bytes()),
                Some(text) => push_string(text, &mut self.text),
            }
        }
        self.text.push(b'}');
        if self.rows == Rows::Ndjson {
            self.text.push(b'\n');
        }
    }
}

impl TextColumn {
    /// Returns the second line of a Markdown table, which aligns the column.
    fn rule(&self) -> &'static str {
        if self.is_json { "--:" } else { "---" }
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Returns the text of a cell of a table: without control and direction characters, cut if it is
/// long.
fn visible(text: &str) -> String {
    match text.char_indices().nth(CELL_MAX) {
        Some((end, _)) => plain(&text[..end]) + "…",
        None => plain(text),
    }
}
