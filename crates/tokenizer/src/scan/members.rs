//! Finds the top-level keys of a document.
//!
//! ```text
//!   {"unit":"ms", "traceEvents": [ … events … ], "metadata":{…} }
//!          ^ colon             ^ colon                     ^ colon
//!                                ^ enter_events: "unit" is reported
//!                                                               ^ flush: "metadata" is reported
//! ```
//!
//! An object at level 0 is known to be an event or a document only at its `traceEvents` or its end.
//! Until then its colons are kept as offsets, and the caller keeps the bytes
//! ([`super::Scanner::retain_from`]).

use super::findings::{Damage, DamageKind, Form, Member, Sink, Window};
use crate::grammar::value::value_end;
use crate::text::field::key_quotes;
use crate::text::{is_space, skip_space, string_end, string_is, trim_end};

/// Unreported top-level keys of the current document object; 8 bytes of heap each.
#[derive(Clone, Default)]
pub(super) struct Members {
    /// Offsets of the colons of the unreported keys.
    colons: Vec<u64>,
    /// Whether the last colon belongs to `traceEvents`.
    events_next: bool,
    /// Whether the document has `traceEvents`.
    pub(super) has_events: bool,
    /// Offset of the first byte not yet reported.
    pub(super) floor: u64,
}

impl Members {
    /// Creates the state for a scan that begins at an event. `has_events`: whether the event is in
    /// a document object.
    pub(super) fn around_events(has_events: bool) -> Self {
        Members { has_events, ..Members::default() }
    }

    /// Forgets all keys; the next keys begin at `offset`.
    pub(super) fn begin(&mut self, offset: u64) {
        self.colons.clear();
        self.events_next = false;
        self.floor = offset;
    }

    /// Records the colon after a key of the document object. The colon is at `bytes[at]`, which is
    /// at `offset` in the input.
    pub(super) fn colon(&mut self, bytes: &[u8], at: usize, offset: u64) {
        self.colons.push(offset);
        self.events_next = is_events_key(bytes, at);
    }

    /// Returns whether there are no unreported keys.
    pub(super) fn is_empty(&self) -> bool {
        self.colons.is_empty()
    }

    /// Returns whether the `[` at `bytes[at]` is the value of `traceEvents`.
    pub(super) fn expects_events(&self, window: Window<'_>, at: usize) -> bool {
        let Some(&colon) = self.colons.last() else { return false };
        self.events_next && skip_space(window.bytes, window.index(colon) + 1) == at
    }

    /// Reports the keys before `traceEvents`.
    pub(super) fn enter_events<S: Sink>(&mut self, window: Window<'_>, sink: &mut S) {
        if !std::mem::replace(&mut self.has_events, true) {
            sink.document(Form::Object);
        }
        self.flush_complete(window, sink);
        self.begin(window.base);
    }

    /// Reports all keys but the last; returns the offset of the last key.
    pub(super) fn flush_complete<S: Sink>(&mut self, window: Window<'_>, sink: &mut S) -> u64 {
        while let Some(last) = self.colons.pop() {
            if let Some(key) = Key::before(window.bytes, window.index(last)) {
                let open = window.base + key.open as u64;
                self.flush(window, open, sink);
                return open;
            }
        }
        self.floor
    }

    /// Reports the keys whose values are complete before the fault at `noticed`. Returns the offset
    /// of the first byte that was not reported.
    pub(super) fn flush_sound<S: Sink>(
        &mut self,
        window: Window<'_>,
        noticed: u64,
        sink: &mut S,
    ) -> u64 {
        if let Some(&colon) = self.colons.last() {
            let bytes = window.bytes;
            let value = skip_space(bytes, window.index(colon) + 1);
            let comma = skip_space(bytes, value_end(bytes, value));
            if comma < window.index(noticed) && bytes.get(comma) == Some(&b',') {
                let comma = window.base + comma as u64;
                self.flush(window, comma, sink);
                return comma + 1;
            }
        }
        self.flush_complete(window, sink)
    }

    /// Reports all keys, and any text before the first key as lost. The last value ends before
    /// `end`.
    pub(super) fn flush<S: Sink>(&mut self, window: Window<'_>, end: u64, sink: &mut S) {
        let bytes = window.bytes;
        let colons = std::mem::take(&mut self.colons);
        let keys = colons.iter().filter_map(|&colon| Key::before(bytes, window.index(colon)));
        let mut keys = keys.peekable();
        let limit = |next: Option<&Key>| next.map_or(window.index(end), |next| next.open);
        report_stray(window, window.index(self.floor), limit(keys.peek()), sink);
        while let Some(key) = keys.next() {
            let value = skip_space(bytes, key.colon + 1);
            let value_end = trim_separators(bytes, value, limit(keys.peek()));
            let value_offset = window.base + value as u64;
            let (name, value) = (&bytes[key.open..=key.close], &bytes[value..value_end]);
            if !string_is(name, b"traceEvents") {
                sink.member(Member { key: name, value, value_offset });
            } else if value != b"null" {
                let kind = DamageKind::NotEvents;
                let (offset, noticed) = (value_offset, value_offset);
                sink.damage(Damage { kind, offset, noticed, lost: value });
            }
        }
        self.floor = end;
    }

    /// Returns whether the object is only `{"tracemill":{…}}`, the first line of NDJSON, which
    /// holds the top-level keys.
    pub(super) fn is_header(&self, window: Window<'_>, end: u64) -> bool {
        let [colon] = self.colons[..] else { return false };
        let (bytes, colon, end) = (window.bytes, window.index(colon), window.index(end));
        let Some(key) = Key::before(bytes, colon) else { return false };
        let value = skip_space(bytes, colon + 1);
        string_is(&bytes[key.open..=key.close], b"tracemill")
            && skip_space(bytes, window.index(self.floor)) == key.open
            && bytes[value] == b'{'
            && value_end(bytes, value) == trim_end(bytes, end)
    }

    /// Reports the keys inside the `tracemill` object as keys of the document.
    pub(super) fn flush_header<S: Sink>(&mut self, window: Window<'_>, end: u64, sink: &mut S) {
        let bytes = &window.bytes[..window.index(end)];
        let object = skip_space(bytes, window.index(self.colons[0]) + 1);
        let place = |at: usize| window.base + at as u64;
        self.begin(place(object + 1));
        self.colons.extend(own_colons(bytes, object).map(place));
        self.flush(window, place(trim_end(bytes, bytes.len()) - 1), sink);
        self.floor = end;
    }

    /// Returns whether only the closing brace is missing: the last value is complete.
    pub(super) fn ends_whole(&self, window: Window<'_>) -> bool {
        let bytes = window.bytes;
        let end = trim_end(bytes, bytes.len());
        let from = self.colons.last().map_or(self.floor, |colon| colon + 1);
        let rest = &bytes[window.index(from)..end];
        if self.colons.is_empty() {
            return rest.iter().all(|&b| is_space(b) || b == b',');
        }
        let value = skip_space(rest, 0);
        let stop = value_end(rest, value);
        // a number may continue; a word, a string or a closed bracket cannot
        let text = &rest[value..stop];
        let closed = matches!(text, b"true" | b"false" | b"null" | [_, .., b'"' | b'}' | b']']);
        closed && rest[stop..].iter().all(|&b| is_space(b) || b == b',')
    }
}

/// Returns whether the key whose colon is at `bytes[colon]` is `traceEvents`.
#[inline]
pub(super) fn is_events_key(bytes: &[u8], colon: usize) -> bool {
    // check the last letters first: the whole key does not fit into a word
    let odd = |&b: &u8| is_space(b) || b == b'\\';
    let tail = &bytes[colon.saturating_sub(14)..colon];
    (tail.ends_with(b"nts\"") || tail.iter().any(odd)) && is_key(bytes, colon, b"traceEvents")
}

/// Returns whether the key whose colon is at `bytes[colon]` is `name` when unescaped.
fn is_key(bytes: &[u8], colon: usize, name: &[u8]) -> bool {
    Key::before(bytes, colon).is_some_and(|key| string_is(&bytes[key.open..=key.close], name))
}

/// Positions of a key's quotes and colon.
struct Key {
    open: usize,
    close: usize,
    colon: usize,
}

impl Key {
    /// Returns the key before a colon. Returns `None` if no string precedes the colon, or if that
    /// string is the value of another key.
    fn before(bytes: &[u8], colon: usize) -> Option<Self> {
        let (open, close) = key_quotes(bytes, colon)?;
        let before = trim_end(bytes, open).checked_sub(1);
        before.is_none_or(|before| bytes[before] != b':').then_some(Key { open, close, colon })
    }
}

/// Reports the text in `bytes[from..to]` as lost, except separators at its ends.
fn report_stray<S: Sink>(window: Window<'_>, from: usize, to: usize, sink: &mut S) {
    let is_stray = |b: &u8| !is_space(*b) && *b != b',';
    let gap = window.bytes.get(from..to).unwrap_or_default();
    let (first, last) = (gap.iter().position(is_stray), gap.iter().rposition(is_stray));
    if let (Some(first), Some(last)) = (first, last) {
        let offset = window.base + (from + first) as u64;
        let lost = &gap[first..=last];
        sink.damage(Damage { kind: DamageKind::Garbage, offset, noticed: offset, lost });
    }
}

/// Returns the offsets of the colons after the keys of the object at `bytes[object]`. Skips nested
/// values.
fn own_colons(bytes: &[u8], object: usize) -> impl Iterator<Item = usize> {
    let mut at = object + 1;
    std::iter::from_fn(move || {
        loop {
            match bytes.get(at)? {
                b'"' => at = string_end(bytes, at)?,
                b'{' | b'[' => at = value_end(bytes, at),
                b'}' | b']' => return None,
                b':' => {
                    at += 1;
                    return Some(at - 1);
                }
                _ => at += 1,
            }
        }
    })
}

/// Returns the end of the value at `from`: `limit` without the comma and white space before it.
fn trim_separators(bytes: &[u8], from: usize, limit: usize) -> usize {
    let end = trim_end(bytes, limit).max(from);
    let end = if end > from && bytes[end - 1] == b',' { end - 1 } else { end };
    trim_end(bytes, end).max(from)
}
