//! Formats of a trace: the text around the events, and the white space in them.

use crate::keys::merged_keys::MergedKeys;
use tracemill_tokenizer::{Form, compact, on_one_line};
use tracemill_trace::event::envelope::Document;
use tracemill_trace::output::Batch;
use tracemill_trace::output::target::Format;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::place::Place;
use tracemill_trace::store::{PREFETCH_AHEAD, Store};

const NEXT_KEY: &[u8] = b",\n";

/// Returns the form of the first document, but the object form instead of an array that would lose
/// keys.
pub fn default_format(documents: &[Document]) -> Format {
    let keys = documents.iter().any(|document| !document.keys.is_empty());
    match documents.first().map(|document| document.form) {
        Some(Form::Array) if !keys => Format::Array,
        Some(Form::Ndjson) => Format::Ndjson,
        _ => Format::Object,
    }
}

/// The white space of a value in the output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    /// White space as in the input.
    AsIs,
    /// No line breaks.
    OneLine,
    /// No white space outside strings.
    Compact,
    /// No white space outside strings, and no raw line breaks in strings.
    CompactLine,
}

impl TextStyle {
    /// Returns whether writing a value in this style leaves the value unchanged. Returns false if
    /// that is not known.
    pub(crate) fn is_as_it_stands(self, value: &[u8]) -> bool {
        self == TextStyle::AsIs || self == TextStyle::OneLine && !has_break(value)
    }

    /// Appends `value` in this style. Returns the number of escaped line breaks.
    pub(crate) fn write(self, value: &[u8], out: &mut Vec<u8>) -> usize {
        match self {
            TextStyle::AsIs => out.extend_from_slice(value),
            TextStyle::OneLine => return on_one_line(value, out),
            TextStyle::Compact => compact(value, out),
            TextStyle::CompactLine => {
                let start = out.len();
                compact(value, out);
                if has_break(&out[start..]) {
                    let broken = out.split_off(start);
                    return on_one_line(&broken, out);
                }
            }
        }
        0
    }
}

/// Returns whether the bytes contain a line break. Tests 32 bytes at a time, without branches.
#[inline]
pub fn has_break(bytes: &[u8]) -> bool {
    let is_break = |found: bool, &byte: &u8| found | (byte == b'\n') | (byte == b'\r');
    let (chunks, rest) = bytes.as_chunks::<32>();
    chunks.iter().any(|chunk| chunk.iter().fold(false, is_break))
        || rest.iter().fold(false, is_break)
}

/// The text around the events of a format.
#[derive(Clone, Copy)]
pub struct Layout {
    pub(crate) format: Format,
    /// The style of events.
    pub text: TextStyle,
    /// The style of the values of top-level keys, in the object form.
    pub(crate) keys: TextStyle,
    /// Text before the first event.
    pub(crate) first: &'static [u8],
    /// Text before every other event.
    pub(crate) next: &'static [u8],
    /// Text after the last event, or after the opening if there are no events.
    close: &'static [u8],
}

impl Layout {
    /// Returns the layout of a format with one event per line.
    pub fn of(format: Format) -> Self {
        let (first, next, close): (&[u8], &[u8], &[u8]) = match format {
            Format::Object => (b"\n", b",\n", b"\n]"),
            Format::Array => (b"\n", b",\n", b"\n]\n"),
            Format::Ndjson => (b"", b"\n", b"\n"),
        };
        let text = if format == Format::Ndjson { TextStyle::OneLine } else { TextStyle::AsIs };
        Layout { format, text, keys: TextStyle::AsIs, first, next, close }
    }

    /// Returns a layout that copies events unchanged. The events must already have the style of
    /// this layout.
    pub fn as_they_stand(self) -> Self {
        Layout { text: TextStyle::AsIs, ..self }
    }

    /// Returns the layout of a format without white space in events and keys.
    pub fn compact(format: Format) -> Self {
        let text =
            if format == Format::Ndjson { TextStyle::CompactLine } else { TextStyle::Compact };
        Layout { text, keys: TextStyle::Compact, ..Layout::of(format) }
    }

    /// Returns whether all text is copied unchanged. Then the length of the output is known in
    /// advance.
    pub(crate) fn is_verbatim(self) -> bool {
        self.text == TextStyle::AsIs && self.keys == TextStyle::AsIs
    }

    /// Returns the length of all events with separators.
    pub fn events_len(self, events: u64, bytes: u64) -> u64 {
        match events {
            0 => 0,
            _ => bytes + self.first.len() as u64 + (events - 1) * self.next.len() as u64,
        }
    }

    /// Returns the length of a batch of events with separators.
    pub(crate) fn batch_len(self, events: u64, bytes: u64, first: bool) -> u64 {
        let opening = if first { self.first } else { self.next };
        bytes + opening.len() as u64 + (events - 1) * self.next.len() as u64
    }

    /// Returns the text before the first event.
    pub fn opening(self, keys: &MergedKeys<'_>) -> Vec<u8> {
        match self.format {
            Format::Object => b"{\"traceEvents\":[".to_vec(),
            Format::Array => b"[".to_vec(),
            Format::Ndjson if keys.keys.is_empty() => Vec::new(),
            Format::Ndjson => {
                let mut line = b"{\"tracemill\":{".to_vec();
                for (i, key) in keys.keys.iter().enumerate() {
                    line.extend_from_slice(if i > 0 { b"," } else { b"" });
                    line.extend_from_slice(&key.name);
                    line.push(b':');
                    match self.text {
                        TextStyle::CompactLine => {
                            self.text.write(&key.value.concat(), &mut line);
                        }
                        _ => key.value.iter().for_each(|piece| {
                            on_one_line(piece, &mut line);
                        }),
                    }
                }
                line.extend_from_slice(b"}}\n");
                line
            }
        }
    }

    /// Returns the length of the text after the last event, before styles apply.
    pub fn closing_len(self, keys: &MergedKeys<'_>) -> u64 {
        let mut len = self.close.len() as u64;
        if self.format == Format::Object {
            for key in &keys.keys {
                let value: usize = key.value.iter().map(|piece| piece.len()).sum();
                len += (NEXT_KEY.len() + key.name.len() + b":".len() + value) as u64;
            }
            len += b"}\n".len() as u64;
        }
        len
    }

    /// Writes the text after the last event and returns its length.
    pub(crate) fn write_closing(
        self,
        keys: &MergedKeys<'_>,
        events: u64,
        batch: &mut Batch<'_>,
    ) -> Result<u64, Error> {
        if self.format == Format::Ndjson && events == 0 {
            return Ok(0);
        }
        let mut len = self.closing_len(keys);
        batch.push(self.close)?;
        if self.format == Format::Object {
            for key in &keys.keys {
                batch.push(NEXT_KEY)?;
                batch.push(&key.name)?;
                batch.push(b":")?;
                if self.keys == TextStyle::AsIs {
                    key.value.iter().try_for_each(|piece| batch.push(piece))?;
                    continue;
                }
                // as one piece, because a style looks at both sides of a token
                let mut value = Vec::new();
                let as_it_stands = key.value.concat();
                self.keys.write(&as_it_stands, &mut value);
                len = len - as_it_stands.len() as u64 + value.len() as u64;
                batch.push(&value)?;
            }
            batch.push(b"}\n")?;
        }
        Ok(len)
    }

    /// Copies events unchanged, with separators. Copies adjacent events of the input at once.
    pub(crate) fn copy(
        self,
        mut places: impl Iterator<Item = Place> + Clone,
        first: bool,
        store: &Store<'_>,
        batch: &mut Batch<'_>,
    ) -> Result<(), Error> {
        let next = self.next;
        let mut ahead = places.clone().skip(PREFETCH_AHEAD);
        let Some(place) = places.next() else { return Ok(()) };
        batch.push(if first { self.first } else { next })?;
        let (mut start, mut len) = (place.offset(), store.len(place) as usize);
        let mut bytes = store.from(start);
        for place in places {
            ahead.next().into_iter().for_each(|place| store.prefetch(place));
            let (offset, size) = (place.offset(), store.len(place) as usize);
            let end = len + next.len();
            // inputs mostly use the separator of the output
            let separated = bytes.get(len..end).is_some_and(|between| same(between, next));
            // in a piped input, the next event may only begin in this segment and continue in the
            // next
            if separated && offset == start + end as u64 && bytes.len() >= end + size {
                len = end + size;
                continue;
            }
            if separated {
                batch.push(&bytes[..end])?;
            } else {
                batch.push(&bytes[..len])?;
                batch.push(next)?;
            }
            bytes = store.from(offset);
            (start, len) = (offset, size);
        }
        batch.push(&bytes[..len])
    }
}

/// Compares two short slices without a function call.
#[inline(always)]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}
