//! Columns of text: repeated text, which is decoded once per batch, and other text.

use arrow_array::builder::{StringViewBuilder, make_view};
use arrow_array::{ArrayRef, StringViewArray};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};
use std::sync::Arc;
use tracemill_tokenizer::to_text;
use tracemill_trace::event::names::Names;

/// Number of null.
const NULL: u32 = u32::MAX;

/// Returns whether a value is missing or `null`.
pub(crate) fn is_null(value: &[u8]) -> bool {
    value.is_empty() || value == b"null"
}

/// A column of text that repeats, such as names of events.
pub(crate) struct RepeatedText {
    texts: Names,
    /// Number of the text in each row.
    rows: Vec<u32>,
    /// The previous value as written, and its number.
    last: (Vec<u8>, u32),
}

impl RepeatedText {
    pub(crate) fn new() -> Self {
        RepeatedText { texts: Names::default(), rows: Vec::new(), last: (Vec::new(), NULL) }
    }

    /// Adds the content of a JSON string, or any other value as written. `null` is null.
    #[inline]
    pub(crate) fn push(&mut self, value: &[u8]) {
        if self.last.0 != value {
            let number = if is_null(value) { NULL } else { self.texts.written(value) };
            self.last.0.clear();
            self.last.0.extend_from_slice(value);
            self.last.1 = number;
        }
        self.rows.push(self.last.1);
    }

    /// Adds text that is not JSON.
    #[inline]
    pub(crate) fn push_text(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    /// Adds text that is not JSON and may be invalid UTF-8.
    #[inline]
    pub(crate) fn push_bytes(&mut self, text: &[u8]) {
        let number = self.texts.number(text);
        self.rows.push(number);
    }

    /// Returns the column, and starts the next one.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        let RepeatedText { texts, rows, .. } = std::mem::replace(self, RepeatedText::new());
        Arc::new(views(&texts, &rows))
    }
}

/// Returns a column that stores each text once.
fn views(texts: &Names, rows: &[u32]) -> StringViewArray {
    let mut bytes = Vec::new();
    let ranges = Vec::from_iter((0..texts.len() as u32).map(|number| {
        let start = bytes.len();
        bytes.extend_from_slice(texts.text(number).as_bytes());
        start..bytes.len()
    }));
    // a batch has at most a few MiB of text, so offsets fit
    let view =
        |range: std::ops::Range<usize>| make_view(&bytes[range.clone()], 0, range.start as u32);
    let known: Vec<u128> = ranges.into_iter().map(view).collect();
    let views = rows.iter().map(|&row| known.get(row as usize).copied().unwrap_or(0));
    let views: ScalarBuffer<u128> = views.collect();
    let nulls = rows.contains(&NULL).then(|| rows.iter().map(|&row| row != NULL).collect());
    let nulls: Option<NullBuffer> = nulls;
    StringViewArray::try_new(views, vec![Buffer::from_vec(bytes)], nulls)
        .unwrap_or_else(|_| unreachable!("each view is a range of valid text"))
}

/// Adds text to a column; invalid UTF-8 is replaced by U+FFFD. `None` is null.
pub(crate) fn push_utf8(text: Option<&[u8]>, column: &mut StringViewBuilder) {
    match text.map(|bytes| (bytes, std::str::from_utf8(bytes))) {
        Some((_, Ok(text))) => column.append_value(text),
        Some((bytes, Err(_))) => column.append_value(to_text(bytes)),
        None => column.append_null(),
    }
}
