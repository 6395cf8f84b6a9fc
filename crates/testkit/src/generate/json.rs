//! A tree of raw JSON tokens, and its serialization in every layout.

use super::Layout;
use crate::Rng;

/// A JSON value; leaves and keys are raw tokens.
#[derive(Clone, Debug)]
pub(super) enum Json {
    /// A scalar, or any finished text.
    Raw(String),
    Array(Vec<Json>),
    /// The events of a trace: an array that [`Layout::Lines`] writes one per line.
    Events(Vec<Json>),
    /// Key tokens with their quotes, and values.
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(super) fn raw(text: impl Into<String>) -> Self {
        Self::Raw(text.into())
    }

    pub(super) fn object(members: impl IntoIterator<Item = (&'static str, Json)>) -> Self {
        Self::Object(members.into_iter().map(|(k, v)| (format!("\"{k}\""), v)).collect())
    }

    /// Appends the text of the value in `layout`; only [`Layout::Ragged`] uses `rng`.
    pub(super) fn write(&self, out: &mut String, rng: &mut Rng, layout: Layout) {
        JsonWriter { out, rng, layout }.value(self, 0);
    }
}

struct JsonWriter<'a> {
    out: &'a mut String,
    rng: &'a mut Rng,
    layout: Layout,
}

impl JsonWriter<'_> {
    fn value(&mut self, value: &Json, depth: usize) {
        match value {
            Json::Raw(text) => self.out.push_str(text),
            Json::Array(items) => {
                self.list('[', ']', items, depth, false, |w, item| w.value(item, depth + 1));
            }
            Json::Events(items) => {
                self.list('[', ']', items, depth, true, |w, item| w.value(item, depth + 1));
            }
            Json::Object(members) => {
                self.list('{', '}', members, depth, false, |w, (key, value)| {
                    w.out.push_str(key);
                    w.blank();
                    w.out.push(':');
                    if w.layout.indent().is_some() {
                        w.out.push(' ');
                    }
                    w.blank();
                    w.value(value, depth + 1);
                });
            }
        }
    }

    fn list<T>(
        &mut self,
        open: char,
        close: char,
        items: &[T],
        depth: usize,
        events: bool,
        mut item: impl FnMut(&mut Self, &T),
    ) {
        self.out.push(open);
        for (i, each) in items.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            self.line_break(depth + 1, events);
            self.blank();
            item(self, each);
            self.blank();
        }
        if items.is_empty() {
            self.blank();
        } else {
            self.line_break(depth, events);
        }
        self.out.push(close);
    }

    fn line_break(&mut self, depth: usize, events: bool) {
        if let Some((ending, indent)) = self.layout.indent() {
            self.out.push_str(ending);
            // indenting deep nesting fully would take quadratic space
            (0..depth.min(40)).for_each(|_| self.out.push_str(indent));
        } else if events && self.layout == Layout::Lines {
            self.out.push('\n');
        }
    }

    fn blank(&mut self) {
        let blanks: &[&str] = match self.layout {
            Layout::Ragged => &[" ", "  ", "\t", "\n", "\r\n", " \n\t ", "\r"],
            Layout::RaggedLine => &[" ", "  ", "\t", " \t "],
            _ => return,
        };
        if self.rng.chance(20) {
            self.out.push_str(self.rng.pick(blanks));
        } else if self.rng.chance(1) {
            (0..self.rng.below(150)).for_each(|_| self.out.push(' '));
        }
    }
}
