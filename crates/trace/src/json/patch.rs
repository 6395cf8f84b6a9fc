//! Changes some values of an event and keeps all other bytes.
//!
//! ```
//! use tracemill_trace::json::patch::Patches;
//!
//! let event = br#"{"ph":"X", "pid":7}"#;
//! let mut patches = Patches::default();
//! patches.number(event, &event[17..18], b"8"); // the slice of the event identifies the value
//! patches.insert_at(event.len() - 1, br#","tid":1"#);
//! assert_eq!(patches.apply(event), br#"{"ph":"X", "pid":8,"tid":1}"#);
//! ```
//!
//! Values are identified by their slice of the event, so callers count no offsets. Slices outside
//! the event are ignored.
//!
//! Cost: sorts the patches, and copies the unchanged bytes in long pieces.

use std::ops::Range;
use tracemill_tokenizer::{Event, Field};

/// Returns the range of `value` in `whole`, or `None` if `value` is not a slice of `whole`.
fn range_in(whole: &[u8], value: &[u8]) -> Option<Range<usize>> {
    let start = (value.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (start <= whole.len()).then(|| start..start + value.len())
}

/// A replaced range, and the range of the new text in `texts`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Patch {
    old: Range<usize>,
    new: Range<usize>,
}

/// Patches to one event or value: replaced ranges and insertions.
///
/// Reuse it for the next event with [`Patches::clear`], to avoid allocations.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    list: Vec<Patch>,
    texts: Vec<u8>,
}

impl Patches {
    /// Removes all patches.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
        self.texts.clear();
    }

    /// Returns whether there are no patches.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Replaces `value` of `whole` by the text that `write` appends, if `write` returns `true`. The
    /// value must not have a patch yet.
    #[inline]
    pub fn write(&mut self, whole: &[u8], value: &[u8], write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let start = self.texts.len();
        if write(&mut self.texts)
            && let Some(old) = range_in(whole, value)
        {
            self.list.push(Patch { old, new: start..self.texts.len() });
        }
    }

    /// Replaces `value` of `whole` by `text`, overriding an earlier patch of the value.
    pub fn replace(&mut self, whole: &[u8], value: &[u8], text: &[u8]) {
        let Some(old) = range_in(whole, value) else { return };
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        let new = start..self.texts.len();
        match self.list.iter_mut().find(|patch| patch.old == old) {
            Some(patch) => patch.new = new,
            None => self.list.push(Patch { old, new }),
        }
    }

    /// Replaces `value` of `whole` by `number`; a string stays a string.
    pub fn number(&mut self, whole: &[u8], value: &[u8], number: &[u8]) {
        match value.first() {
            Some(b'"') => self.replace(whole, value, &[b"\"", number, b"\""].concat()),
            _ => self.replace(whole, value, number),
        }
    }

    /// Replaces a field by `number`, if the event has the field; a string stays a string.
    pub fn field(&mut self, event: &Event<'_>, field: Field, number: &[u8]) {
        if let Some(value) = event.field(field) {
            self.number(event.bytes, value, number);
        }
    }

    /// Inserts `text` after `value` of `whole`.
    pub fn insert_behind(&mut self, whole: &[u8], value: &[u8], text: &[u8]) {
        if let Some(range) = range_in(whole, value) {
            self.insert_at(range.end, text);
        }
    }

    /// Inserts `text` before the byte at `at`, after earlier insertions there.
    pub fn insert_at(&mut self, at: usize, text: &[u8]) {
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        self.list.push(Patch { old: at..at, new: start..self.texts.len() });
    }

    /// Returns the text that replaces `value` of `whole`, or `value` if it has no patch.
    pub fn current<'x>(&'x self, whole: &[u8], value: &'x [u8]) -> &'x [u8] {
        let patch =
            range_in(whole, value).and_then(|old| self.list.iter().find(|patch| patch.old == old));
        patch.map_or(value, |patch| &self.texts[patch.new.clone()])
    }

    /// Sorts the patches, and separates words that would touch. Call this before reading the
    /// patches.
    #[inline]
    pub fn put_in_order(&mut self, whole: &[u8]) {
        if self.list.len() > 1 {
            self.list.sort_by_key(|patch| (patch.old.start, patch.old.end));
            // ranges overlap only if the input changed during the run, which then fails
            self.list.dedup_by(|patch, before| patch.old.start < before.old.end);
        }
        for patch in &mut self.list {
            // only damaged text has a word directly after a bracket, which a patch may replace
            if !whole.get(patch.old.end).is_some_and(is_word) {
                continue;
            }
            let text = &self.texts[patch.new.clone()];
            let before = if text.is_empty() { &whole[..patch.old.start] } else { text };
            if before.last().is_some_and(is_word) {
                let start = self.texts.len();
                self.texts.extend_from_within(patch.new.clone());
                self.texts.push(b' ');
                patch.new = start..self.texts.len();
            }
        }
    }

    /// Returns the replaced ranges with their new texts, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (Range<usize>, &[u8])> {
        self.list.iter().map(|patch| (patch.old.clone(), &self.texts[patch.new.clone()]))
    }

    /// Returns the number of bytes that the patches add. Requires [`Patches::put_in_order`].
    #[inline]
    pub fn longer(&self) -> i64 {
        self.list.iter().map(|patch| patch.new.len() as i64 - patch.old.len() as i64).sum()
    }

    /// Appends the patched `whole`. Requires [`Patches::put_in_order`].
    pub fn append_to(&self, whole: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        for (old, new) in self.iter() {
            out.extend_from_slice(&whole[at..old.start]);
            out.extend_from_slice(new);
            at = old.end;
        }
        out.extend_from_slice(&whole[at..]);
    }

    /// Returns the patched `whole`.
    pub fn apply(mut self, whole: &[u8]) -> Vec<u8> {
        self.put_in_order(whole);
        let mut out = Vec::with_capacity(whole.len() + 32);
        self.append_to(whole, &mut out);
        out
    }
}

/// Returns whether a byte may be part of a word.
fn is_word(byte: &u8) -> bool {
    !matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    /// Covers events whose bytes became zeros while they were read.
    #[test]
    fn overlapping_values_are_replaced_once() {
        let bytes = b"0123456789";
        let mut patches = Patches::default();
        patches.replace(bytes, &bytes[4..], b"new");
        patches.replace(bytes, &bytes[2..8], b"first");
        patches.put_in_order(bytes);
        assert_eq!(patches.longer(), 0);
        // separated from the following word
        assert_eq!(patches.apply(bytes), b"01first 89");
    }

    #[test]
    fn patches_change_only_their_values() {
        let bytes = br#"{ "ts" : "1.50" ,"dur":7, "ts":"2","args":{"ts":1}}"#;
        let spans = fields_of(bytes);
        let event = spans.of(bytes);
        let mut patches = Patches::default();
        patches.field(&event, Field::Dur, b"3.25");
        patches.field(&event, Field::Ts, b"10");
        patches.field(&event, Field::Pid, b"10");
        let expected = br#"{ "ts" : "1.50" ,"dur":3.25, "ts":"10","args":{"ts":1}}"#;
        assert_eq!(patches.apply(bytes), expected);
    }

    #[test]
    fn patched_values_without_a_comma_stay_separate() {
        let bytes = br#"{"ts":1,"cat":[1]"tid":{"a":1}"b"}"#;
        let members: Vec<_> = tracemill_tokenizer::members(bytes).collect();
        let mut patches = Patches::default();
        patches.replace(bytes, members[1].1, b"\"[1]\"");
        patches.insert_behind(bytes, &bytes[23..30], b",\"c\":2");
        let expected = br#"{"ts":1,"cat":"[1]" "tid":{"a":1},"c":2 "b"}"#;
        assert_eq!(patches.apply(bytes), expected);
    }
}
