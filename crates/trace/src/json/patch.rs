//! Events with some values changed: all other bytes stay as they are.
//!
//! ```
//! use tracemill_trace::json::patch::Patches;
//!
//! let event = br#"{"ph":"X", "pid":7}"#;
//! let mut patches = Patches::default();
//! patches.number(event, &event[17..18], b"8"); // a value is named by the part of the event that it is
//! patches.insert_at(event.len() - 1, br#","tid":1"#);
//! assert_eq!(patches.apply(event), br#"{"ph":"X", "pid":8,"tid":1}"#);
//! ```
//!
//! Values are named by the slices that they are, as fields and members are handed out: so nobody counts offsets, and what is no part of the event
//! is left alone.
//!
//! Cost: what changes is sorted by its place; the rest is copied in long pieces.

use std::ops::Range;
use tracemill_tokenizer::{Event, Field};

/// Where `value`, which is a part of `whole`, stands in it; `None` if it is no part of it.
fn range_in(whole: &[u8], value: &[u8]) -> Option<Range<usize>> {
    let start = (value.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (start <= whole.len()).then(|| start..start + value.len())
}

/// A value that is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Patch {
    /// Where it stands.
    old: Range<usize>,
    /// Where the new one stands among the texts.
    new: Range<usize>,
}

/// Changes to one event, or to another value: parts of it that are replaced, and text that is put between them.
///
/// To be used again for the next event ([`Patches::clear`]), so that nothing is allocated.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    list: Vec<Patch>,
    texts: Vec<u8>,
}

impl Patches {
    /// Forgets all.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
        self.texts.clear();
    }

    /// Whether nothing changes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Puts what `write` appends where `value` of `whole` is, if it says that it did; a value that was replaced already must
    /// not come again.
    #[inline]
    pub fn write(&mut self, whole: &[u8], value: &[u8], write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let start = self.texts.len();
        if write(&mut self.texts)
            && let Some(old) = range_in(whole, value)
        {
            self.list.push(Patch { old, new: start..self.texts.len() });
        }
    }

    /// Puts `text` where `value` of `whole` is, instead of what was put there before.
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

    /// Puts `number` where `value` of `whole` is: a number stays a number, a string a string.
    pub fn number(&mut self, whole: &[u8], value: &[u8], number: &[u8]) {
        match value.first() {
            Some(b'"') => self.replace(whole, value, &[b"\"", number, b"\""].concat()),
            _ => self.replace(whole, value, number),
        }
    }

    /// As [`Patches::number`], of a field that may be missing.
    pub fn field(&mut self, event: &Event<'_>, field: Field, number: &[u8]) {
        if let Some(value) = event.field(field) {
            self.number(event.bytes, value, number);
        }
    }

    /// Puts `text` behind `value` of `whole`.
    pub fn insert_behind(&mut self, whole: &[u8], value: &[u8], text: &[u8]) {
        if let Some(range) = range_in(whole, value) {
            self.insert_at(range.end, text);
        }
    }

    /// Puts `text` before the byte at a place, behind what was put there before.
    pub fn insert_at(&mut self, at: usize, text: &[u8]) {
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        self.list.push(Patch { old: at..at, new: start..self.texts.len() });
    }

    /// A value of `whole` as it will be: what was put in its place, else itself. For who patches what another has patched before.
    pub fn current<'x>(&'x self, whole: &[u8], value: &'x [u8]) -> &'x [u8] {
        let patch =
            range_in(whole, value).and_then(|old| self.list.iter().find(|patch| patch.old == old));
        patch.map_or(value, |patch| &self.texts[patch.new.clone()])
    }

    /// Puts the patches in order, and each apart from what follows it: to be called before they are read.
    #[inline]
    pub fn put_in_order(&mut self, whole: &[u8]) {
        if self.list.len() > 1 {
            self.list.sort_by_key(|patch| (patch.old.start, patch.old.end));
            // values overlap only where the input changed between one look and the next, and then the run fails in the end
            self.list.dedup_by(|patch, before| patch.old.start < before.old.end);
        }
        for patch in &mut self.list {
            let text = &self.texts[patch.new.clone()];
            let before = if text.is_empty() { &whole[..patch.old.start] } else { text };
            if touches(before, &whole[patch.old.end..]) {
                let start = self.texts.len();
                self.texts.extend_from_within(patch.new.clone());
                self.texts.push(b' ');
                patch.new = start..self.texts.len();
            }
        }
    }

    /// What is replaced, and by what, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (Range<usize>, &[u8])> {
        self.list.iter().map(|patch| (patch.old.clone(), &self.texts[patch.new.clone()]))
    }

    /// How many bytes longer the whole becomes; negative if it becomes shorter. Only behind [`Patches::put_in_order`].
    #[inline]
    pub fn longer(&self) -> i64 {
        self.list.iter().map(|patch| patch.new.len() as i64 - patch.old.len() as i64).sum()
    }

    /// Appends `whole` as it is with the patches. Only behind [`Patches::put_in_order`].
    pub fn append_to(&self, whole: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        for (old, new) in self.iter() {
            out.extend_from_slice(&whole[at..old.start]);
            out.extend_from_slice(new);
            at = old.end;
        }
        out.extend_from_slice(&whole[at..]);
    }

    /// `whole` as it is with the patches.
    pub fn apply(mut self, whole: &[u8]) -> Vec<u8> {
        self.put_in_order(whole);
        let mut out = Vec::with_capacity(whole.len() + 32);
        self.append_to(whole, &mut out);
        out
    }
}

/// Whether a word or string in `text` would touch another one that follows: only damage puts one right behind a bracket, and
/// it may not touch what the bracket is replaced by.
#[inline]
fn touches(text: &[u8], rest: &[u8]) -> bool {
    let is_word = |byte: &u8| {
        !matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n')
    };
    rest.first().is_some_and(is_word) && text.last().is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    /// As of an event whose bytes became zeros while it was looked at: nobody panics.
    #[test]
    fn values_that_overlap_are_replaced_once() {
        let bytes = b"0123456789";
        let mut patches = Patches::default();
        patches.replace(bytes, &bytes[4..], b"new");
        patches.replace(bytes, &bytes[2..8], b"first");
        patches.put_in_order(bytes);
        assert_eq!(patches.longer(), 0);
        // apart from the word that follows
        assert_eq!(patches.apply(bytes), b"01first 89");
    }

    #[test]
    fn only_the_value_changes() {
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
    fn what_lacks_a_comma_stays_apart() {
        let bytes = br#"{"ts":1,"cat":[1]"tid":{"a":1}"b"}"#;
        let members: Vec<_> = tracemill_tokenizer::members(bytes).collect();
        let mut patches = Patches::default();
        patches.replace(bytes, members[1].1, b"\"[1]\"");
        patches.insert_behind(bytes, &bytes[23..30], b",\"c\":2");
        let expected = br#"{"ts":1,"cat":"[1]" "tid":{"a":1},"c":2 "b"}"#;
        assert_eq!(patches.apply(bytes), expected);
    }
}
