//! Checks that every byte is valid JSON and UTF-8, and finds each invalid event.
//!
//! ```text
//!   {"a": 1, "traceEvents": [ {…} , {…} , {…} ], "b": 2 }
//!   └───── gap ────────────┘ ev  ┆  ev  ┆ ev  └─ gap ───┘     the scan checks values of keys
//! ```
//!
//! The scan worker checks each event in cache, and the value of each top-level key. All other bytes
//! are *gaps*. The scan verifies that a gap between events of one array is a comma and white space,
//! or reports the gap. The few other gaps, around the documents, are kept by offset. At the end
//! these gaps are joined, with `{}` for each event and `0` for each value, and checked as one text.
//! That text is valid if and only if the input is.

use super::rules::Kind;
use super::tallies::Tallies;
use std::ops::Range;
use tracemill_tokenizer::{Defect, Event, Validator};
use tracemill_trace::run::around::Around;
use tracemill_trace::run::losses::excerpt;
use tracemill_trace::store::Store;

/// A syntax error with the bytes around it.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) kind: Kind,
    pub(super) offset: u64,
    pub(super) expected: &'static str,
    /// The expected token, and a few surrounding bytes.
    pub(super) excerpt: String,
    pub(super) around: Option<Around>,
}

/// A piece of the text around events.
enum TextPiece {
    /// A range of the inputs.
    Input(Range<u64>),
    /// A placeholder for an event or a value.
    Made(&'static [u8]),
}

impl TextPiece {
    fn len(&self) -> u64 {
        match self {
            TextPiece::Input(range) => range.end - range.start,
            TextPiece::Made(bytes) => bytes.len() as u64,
        }
    }

    fn append_to(&self, text: &mut Vec<u8>, store: &Store<'_>) {
        match self {
            TextPiece::Input(range) => text.extend_from_slice(&store.copy(range.clone())),
            TextPiece::Made(bytes) => text.extend_from_slice(bytes),
        }
    }
}

#[derive(Default)]
pub(super) struct TextCheck {
    validator: Validator,
    /// Offset of the first event, and whether text other than separators precedes it.
    first: Option<(u64, bool)>,
    end: u64,
    /// Whether text other than separators follows the last event.
    fresh: bool,
    gaps: Vec<(u64, u64)>,
    /// Offset and length of each value of a top-level key.
    values: Vec<(u64, u64)>,
    pub(super) spots: Vec<Spot>,
}

impl TextCheck {
    pub(super) fn of_input(base: u64) -> Self {
        TextCheck { end: base, fresh: true, ..TextCheck::default() }
    }

    #[inline]
    pub(super) fn event(&mut self, event: &Event<'_>, offset: u64, tallies: &mut Tallies) {
        if self.first.is_none() {
            self.first = Some((offset, self.fresh));
        } else if self.fresh {
            self.gaps.push((self.end, offset - self.end));
        }
        self.fresh = false;
        self.end = offset + event.bytes.len() as u64;
        if !event.is_proved()
            && let Err(defect) = self.validator.check(event.bytes)
        {
            self.note(defect, event.bytes, offset, tallies);
        }
    }

    /// Records that text other than events follows.
    pub(super) fn interrupt(&mut self) {
        self.fresh = true;
    }

    pub(super) fn append(&mut self, later: TextCheck) {
        self.values.extend(later.values);
        for spot in later.spots {
            self.keep(spot);
        }
        let Some((first, fresh)) = later.first else {
            self.fresh |= later.fresh;
            return;
        };
        if self.fresh || fresh {
            self.gaps.push((self.end, first - self.end));
        }
        self.gaps.extend(later.gaps);
        (self.end, self.fresh) = (later.end, later.fresh);
    }

    /// Returns the first syntax error around the events of an input.
    pub(super) fn around_events(&mut self, input: Range<u64>, store: &Store<'_>) -> Option<Spot> {
        let end = input.end;
        self.gaps.push((self.end, end.saturating_sub(self.end)));
        self.values.sort_unstable();
        let mut text = Vec::new();
        self.each_piece(|piece| {
            piece.append_to(&mut text, store);
            true
        });
        let skip = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let mut defect = self.validator.check(&text[skip..]).err()?;
        defect.offset += skip as u64;
        // a second pass avoids storing all positions; there may be as many pieces as bytes
        let (mut at, mut found) = (0, None);
        self.each_piece(|piece| {
            if let TextPiece::Input(range) = &piece
                && at <= defect.offset
            {
                found = Some((at, range.start));
            }
            at += piece.len();
            at <= defect.offset
        });
        let (at, offset) = found?;
        let kind = kind_of(defect, &text);
        let offset = offset + defect.offset - at;
        let (expected, excerpt) = (defect.expected, excerpt_of(&text, defect));
        Some(Spot { kind, offset, expected, excerpt, around: store.around(offset, input) })
    }

    /// Passes the gaps, with placeholders for events and values, to `show` until it returns false.
    /// Values must be sorted.
    fn each_piece(&self, mut show: impl FnMut(TextPiece) -> bool) {
        let mut values = self.values.iter().peekable();
        for (number, &(start, len)) in self.gaps.iter().enumerate() {
            if number > 0 && !show(TextPiece::Made(b"{}")) {
                return;
            }
            let (mut at, end) = (start, start + len);
            while at < end {
                while values.next_if(|value| value.0 < at).is_some() {}
                let value = values.next_if(|value| value.0 < end);
                let stop = value.map_or(end, |value| value.0);
                if !show(TextPiece::Input(at..stop)) {
                    return;
                }
                at = stop;
                if let Some((_, len)) = value {
                    if !show(TextPiece::Made(b"0")) {
                        return;
                    }
                    at += len;
                }
            }
        }
    }

    pub(super) fn value(&mut self, bytes: &[u8], offset: u64, tallies: &mut Tallies) {
        self.fresh = true;
        self.values.push((offset, bytes.len() as u64));
        if let Err(defect) = self.validator.check_value(bytes) {
            self.note(defect, bytes, offset, tallies);
        }
    }

    #[cold]
    fn note(&mut self, defect: Defect, bytes: &[u8], offset: u64, tallies: &mut Tallies) {
        let kind = kind_of(defect, bytes);
        tallies.add(kind, offset + defect.offset);
        let (expected, excerpt) = (defect.expected, excerpt_of(bytes, defect));
        let around = Some(Around::of(bytes, defect.offset as usize));
        self.keep(Spot { kind, offset: offset + defect.offset, expected, excerpt, around });
    }

    fn keep(&mut self, spot: Spot) {
        let alike = self.spots.iter().filter(|known| known.kind == spot.kind).count();
        if alike < tracemill_trace::spill::tally::PLACES {
            self.spots.push(spot);
        }
    }
}

fn kind_of(defect: Defect, bytes: &[u8]) -> Kind {
    let found = bytes.get(defect.offset as usize);
    match found {
        _ if defect.expected == "UTF-8" => Kind::Utf8,
        Some(b'N' | b'I') => Kind::Nan,
        _ => Kind::Grammar,
    }
}

fn excerpt_of(bytes: &[u8], defect: Defect) -> String {
    let at = defect.offset as usize;
    let piece = &bytes[at.saturating_sub(20)..(at + 20).min(bytes.len())];
    format!("expected {}: {}", defect.expected, excerpt(piece))
}
