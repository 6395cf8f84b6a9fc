//! Whether every byte is JSON and UTF-8, with every event that is not.
//!
//! ```text
//!   {"a": 1, "traceEvents": [ {…} , {…} , {…} ], "b": 2 }
//!   └───── gap ────────────┘ ev  ┆  ev  ┆ ev  └─ gap ───┘     values of keys: checked where the scan finds them
//! ```
//!
//! Each event is checked by itself on the worker that scans it, in cache; so is the value of each key beside the events.
//! What is left are the *gaps*. Those between events of one array the scan has looked at: a comma and white space, or
//! it says so. The others, a few around the documents, are kept by place. Those are put together at the end with `{}` for events and `0` for values, and checked as one text: that is JSON
//! if and only if the input is.

use super::rules::Kind;
use super::tallies::Tallies;
use std::ops::Range;
use tracemill_tokenizer::{Defect, Event, Validator};
use tracemill_trace::run::around::Around;
use tracemill_trace::run::losses::excerpt;
use tracemill_trace::store::Store;

/// The first defects of one kind, with the bytes around them.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) kind: Kind,
    pub(super) offset: u64,
    pub(super) expected: &'static str,
    /// What was expected, and a few of the bytes around.
    pub(super) excerpt: String,
    pub(super) around: Option<Around>,
}

/// A piece of the text around events.
enum TextPiece {
    /// Bytes of the inputs, by their places.
    Input(Range<u64>),
    /// What stands for an event or a value.
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

/// The text of a stretch of an input.
#[derive(Default)]
pub(super) struct TextCheck {
    validator: Validator,
    /// The first event, and whether something beside events stands before it.
    first: Option<(u64, bool)>,
    /// Where the last event ends.
    end: u64,
    /// Whether something beside events was found since.
    fresh: bool,
    /// Stretches around and between events: offset and length.
    gaps: Vec<(u64, u64)>,
    /// Values of keys beside the events, likewise.
    values: Vec<(u64, u64)>,
    pub(super) spots: Vec<Spot>,
}

impl TextCheck {
    /// The text of an input that stands at `base`, before any of it was read.
    pub(super) fn of_input(base: u64) -> Self {
        TextCheck { end: base, fresh: true, ..TextCheck::default() }
    }

    /// An event at `offset`.
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

    /// Something other than events.
    pub(super) fn interrupt(&mut self) {
        self.fresh = true;
    }

    /// Takes over what a later part of the input has.
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

    /// The first defect around the events of an input, given by its places: its offset, and what was expected.
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
        // gone through once more instead of keeping where each piece stands: there may be as many as bytes
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

    /// Shows what stands around events and values, and what stands for those, as long as `show` says so; values are sorted.
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

    /// A value of a key beside the events.
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
