//! Finds the next event after damage.
//!
//! An event begins at a `{` that follows a comma, a bracket or a line break, begins a sound object,
//! and has a `ph` of one letter among its own keys. Nodes of CPU profiles are in arrays too, but
//! have no `ph`. After damage it is unknown which bytes are in strings, so the search tries every
//! such `{`.
//!
//! If no event follows, a second search finds a `]` that is followed only by the end of the
//! document. So the keys after the events survive a damaged last event.
//!
//! Cost: linear in the bytes skipped, even if many long tries fail. A search may spend [`FREE`]
//! bytes plus 4 per byte skipped; later tries read at most [`SHORT`] bytes. The second search reads
//! each member once, and spends at most [`FREE`] bytes plus 8 per byte left.
//!
//! ```text
//!   …{"ph":"X","name":"a"b"},{"ph":"X","args":{"nodes":[{"id":1},…]}},…
//!                        ^ noticed
//!    try ─────────────────── ^ an event: after a comma, sound, `ph` of one letter ─> continue here
//!    skipped: bytes other than `{`; no event: {"id":1}, which has no phase
//! ```

use super::findings::{Fault, Form, Window};
use super::members::is_events_key;
use crate::grammar::value::value_end;
use crate::simd::class;
use crate::text::field::{Field, Key, key_before};
use crate::text::{is_space, skip_space, string_end, trim_end};
use memchr::{memchr, memchr_iter};
use std::collections::HashSet;

/// Bytes that every search may spend on failed tries.
const FREE: usize = 1 << 20;
/// Maximum bytes of a try after the search has spent its budget; most events are shorter.
const SHORT: usize = 4096;

/// A search for the next event, which can continue in the next window.
pub(super) struct Search {
    pub(super) fault: Fault,
    /// Offset of the first lost byte.
    pub(super) lost_from: u64,
    /// Offset of the first byte not yet tried.
    next: u64,
    spent: usize,
    /// Offset that the window must reach before the next try.
    wait_for: u64,
    /// Whether the damage is between events, so that the next event may follow any byte.
    stray: bool,
}

/// The result of a search.
pub(super) enum SearchEnd {
    NeedInput,
    /// The next event begins at this offset.
    Event(u64),
    /// No event follows; the `]` that ends the events is at this offset.
    EventsEnd(u64),
    Nothing,
}

/// The result of reading an object.
#[derive(Debug, PartialEq, Eq)]
enum Probe {
    Event,
    /// A sound object without a phase, with the offset of its end.
    Object(usize),
    /// Not a sound object, with the offset of the fault.
    Unsound(usize),
    /// The bytes end inside the object.
    Open,
}

impl Search {
    /// Creates a search. `event`: whether a damaged event begins at `lost_from`; the search then
    /// skips its `{`.
    pub(super) fn new(fault: Fault, lost_from: u64, event: bool) -> Self {
        let next = lost_from + u64::from(event);
        Search { fault, lost_from, next, spent: 0, wait_for: 0, stray: !event }
    }

    /// Continues the search in `window`.
    ///
    /// Tries no object twice, except an object that the window cuts. Tries that object again when
    /// the window has twice as many of its bytes.
    pub(super) fn advance(&mut self, window: Window<'_>, form: Option<Form>) -> SearchEnd {
        if !window.last && window.end() < self.wait_for {
            return SearchEnd::NeedInput;
        }
        let bytes = window.bytes;
        let start = window.index(self.lost_from);
        let mut at = window.index(self.next);
        while let Some(step) = memchr(b'{', &bytes[at..]) {
            at += step;
            self.next = window.base + at as u64;
            match may_begin_event(bytes, at, self.stray) {
                Some(true) => {}
                None if !window.last => return SearchEnd::NeedInput,
                _ => {
                    at += 1;
                    continue;
                }
            }
            let end = bytes.len().min(at + allowed(at - start, self.spent));
            match probe(&bytes[..end], at) {
                Probe::Event => return SearchEnd::Event(self.next),
                Probe::Object(end) => {
                    self.spent += end - at;
                    at = end;
                }
                Probe::Open if end == bytes.len() && !window.last => {
                    // wait for twice as many bytes, which keeps all tries together linear
                    self.wait_for = window.end() + (end - at) as u64;
                    return SearchEnd::NeedInput;
                }
                Probe::Open => {
                    self.spent += end - at;
                    at += 1;
                }
                Probe::Unsound(noticed) => {
                    self.spent += noticed - at;
                    at += 1;
                }
            }
        }
        self.next = window.end();
        if !window.last {
            return SearchEnd::NeedInput;
        }
        let end = form.and_then(|form| events_end(&bytes[start..], form));
        end.map_or(SearchEnd::Nothing, |end| SearchEnd::EventsEnd(self.lost_from + end as u64))
    }
}

/// Returns the number of bytes that a try may read, given the bytes skipped and spent so far.
fn allowed(moved: usize, spent: usize) -> usize {
    (FREE + 4 * moved).saturating_sub(spent).max(SHORT)
}

/// Guesses the position of the first event that begins in `from..to`.
///
/// Only crafted bytes make the guess wrong; [`super::Scanner::fork`] describes how to check it.
/// Cost: one pass up to the end of that event.
///
/// ```
/// use tracemill_tokenizer::speculate;
///
/// let trace = br#"[{"ph":"B","args":{"nodes":[{"id":1}]}},{"ph":"E"}]"#;
/// assert_eq!(speculate(trace, 5, trace.len()), Some(40)); // not the node: it has no phase
/// assert_eq!(speculate(trace, 5, 40), None);
/// ```
pub fn speculate(bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    speculate_counted(bytes, from, to).0
}

/// Returns the guess, and the number of bytes spent on failed tries.
fn speculate_counted(bytes: &[u8], from: usize, to: usize) -> (Option<usize>, usize) {
    let (mut at, mut spent) = (from, 0);
    while at < to {
        let Some(step) = memchr(b'{', &bytes[at..to]) else { break };
        at += step;
        if may_begin_event(bytes, at, false) != Some(true) {
            at += 1;
            continue;
        }
        let end = bytes.len().min(at + allowed(at - from, spent).min(FREE));
        match probe(&bytes[..end], at) {
            Probe::Event => return (Some(at), spent),
            Probe::Object(end) => {
                spent += end - at;
                at = end;
            }
            Probe::Unsound(noticed) => {
                spent += noticed - at;
                at += 1;
            }
            Probe::Open => {
                spent += end - at;
                at += 1;
            }
        }
    }
    (None, spent)
}

/// Returns whether an event may begin at the `{` at `at`, judging by the bytes around it. Returns
/// `None` if the bytes end too early. If `stray`, any byte may precede the `{`.
fn may_begin_event(bytes: &[u8], at: usize, stray: bool) -> Option<bool> {
    if *bytes.get(skip_space(bytes, at + 1))? != b'"' {
        return Some(false);
    }
    Some(match trim_end(bytes, at).checked_sub(1) {
        None => true,
        Some(_) if stray => true,
        Some(before) if matches!(bytes[before], b',' | b'[' | b'}' | b']') => true,
        Some(before) => bytes[before + 1..at].contains(&b'\n'),
    })
}

/// Reads the object at `at` byte by byte, by the rules of the block scan and the walk.
fn probe(bytes: &[u8], at: usize) -> Probe {
    let mut objects = Vec::new();
    let mut phase = false;
    let mut i = at;
    while i < bytes.len() {
        let current = bytes[i];
        match current {
            b'"' => {
                let Some(end) = string_end(bytes, i) else { return Probe::Open };
                let follows = bytes.get(end).is_none_or(|&b| class::is_delimiter(b));
                if !class::is_delimiter(bytes[i - 1]) || !follows {
                    return Probe::Unsound(i);
                }
                i = end;
                continue;
            }
            b'{' | b'[' => {
                let before = bytes[trim_end(bytes, i).saturating_sub(1)];
                let fits = match objects.last() {
                    None => true,
                    Some(true) => before == b':',
                    Some(false) => before == b',' || before == b'[',
                };
                if !fits {
                    return Probe::Unsound(i);
                }
                objects.push(current == b'{');
            }
            b'}' | b']' => {
                if objects.pop() != Some(current == b'}') {
                    return Probe::Unsound(i);
                }
                if objects.is_empty() {
                    return if phase { Probe::Event } else { Probe::Object(i + 1) };
                }
            }
            b':' if objects.len() == 1 && key_before(bytes, i) == Key::Field(Field::Ph) => {
                phase = is_phase(bytes, i + 1);
            }
            // another document: its events must be found, not skipped
            b':' if objects.len() == 1 && is_events_key(bytes, i) => return Probe::Unsound(i),
            _ if !class::is_known(current) => return Probe::Unsound(i),
            _ => {}
        }
        i += 1;
    }
    Probe::Open
}

/// Returns whether the value after the colon is a string of one letter.
fn is_phase(bytes: &[u8], after_colon: usize) -> bool {
    let value = skip_space(bytes, after_colon);
    matches!(bytes.get(value..value + 3), Some([b'"', letter, b'"']) if *letter != b'"')
}

/// Returns the offset of the first `]` in `lost` that is followed only by the end of a document of
/// this form.
fn events_end(lost: &[u8], form: Form) -> Option<usize> {
    let mut tries = EndTries { lost, read: HashSet::new(), spent: 0 };
    memchr_iter(b']', lost).find(|&at| match form {
        Form::Object => tries.end_object(at + 1),
        _ => lost[at + 1..].iter().all(|&b| is_space(b)),
    })
}

/// Tries to read the end of a document from several positions.
struct EndTries<'b> {
    lost: &'b [u8],
    /// Offsets of the commas before members that were read; no such member led to the end of a
    /// document.
    read: HashSet<usize>,
    spent: usize,
}

impl EndTries<'_> {
    /// Returns whether the bytes from `from` on are any number of `,"key":value`, then `}` and the
    /// end.
    fn end_object(&mut self, from: usize) -> bool {
        let bytes = self.lost;
        let mut at = skip_space(bytes, from);
        while bytes.get(at) == Some(&b',') {
            let most = FREE + 8 * bytes.len();
            if self.spent > most || !self.read.insert(at) {
                return false;
            }
            let end = member_end(bytes, at + 1);
            self.spent += end.unwrap_or_else(|noticed| noticed) - at;
            let Ok(end) = end else { return false };
            at = skip_space(bytes, end);
        }
        bytes.get(at) == Some(&b'}') && skip_space(bytes, at + 1) == bytes.len()
    }
}

/// Returns the end of the `"key":value` at `at`, or, as an error, the offset at which reading
/// failed.
fn member_end(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let key = skip_space(bytes, at);
    if bytes.get(key) != Some(&b'"') {
        return Err(key);
    }
    let colon = skip_space(bytes, string_end(bytes, key).ok_or(bytes.len())?);
    if bytes.get(colon) != Some(&b':') {
        return Err(colon);
    }
    let value = skip_space(bytes, colon + 1);
    let end = value_end(bytes, value);
    if end == value { Err(value) } else { Ok(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_start(text: &str) -> Probe {
        probe(text.as_bytes(), 0)
    }

    #[test]
    fn probe_classifies_objects() {
        assert_eq!(at_start(r#"{"a":1,"ph":"X","args":{"b":[{}]}}"#), Probe::Event);
        assert_eq!(at_start(r#"{"id":1,"callFrame":{"ph":"X"}},"#), Probe::Object(31));
        assert_eq!(at_start(r#"{"ph":"XX"}"#), Probe::Object(11));
        assert_eq!(at_start(r#"{"ph":"X""#), Probe::Open);
        assert_eq!(at_start(r#"{"ph":"X"]"#), Probe::Unsound(9));
        assert_eq!(at_start(r#"{"ph":"X",{"a":1}}"#), Probe::Unsound(10));
        assert!(matches!(at_start(r#"{"name":"a"b","ph":"X"}"#), Probe::Unsound(_)));
    }

    #[test]
    fn speculate_finds_events_but_not_profile_nodes() {
        let text = r#"{"nodes":[{"id":1},{"id":2}]},{"ph":"X","ts":1},{"ph":"E"}]"#;
        assert_eq!(speculate(text.as_bytes(), 1, text.len()), Some(30));
        assert_eq!(speculate(text.as_bytes(), 31, text.len()), Some(48));
        assert_eq!(speculate(text.as_bytes(), 1, 30), None);
        assert_eq!(speculate(text.as_bytes(), 49, text.len()), None);
    }

    #[test]
    fn events_end_skips_nested_brackets() {
        let text = r#"{"a":[{}],"b":"x],"metadata":{"c":[1]}}"#;
        assert_eq!(events_end(text.as_bytes(), Form::Object), Some(16));
        assert_eq!(events_end(b"{\"a\":[1],\"b]\n", Form::Array), Some(11));
        assert_eq!(events_end(b"{\"a\":[1]", Form::Object), None);
    }

    /// Returns the number of bytes read by a search for the end of the events.
    fn spent(lost: &str) -> usize {
        let mut tries = EndTries { lost: lost.as_bytes(), read: HashSet::new(), spent: 0 };
        let ends = memchr_iter(b']', lost.as_bytes());
        assert_eq!(ends.filter(|&at| tries.end_object(at + 1)).count(), 0);
        tries.spent
    }

    #[test]
    fn search_for_the_end_of_events_is_linear() {
        for count in [50_000, 100_000, 200_000] {
            let chain = r#"],"k":[1 "#.repeat(count);
            assert!(spent(&chain) <= chain.len(), "each member is read once");
            let open = r#"],"k":[[1 "#.repeat(count);
            assert!(spent(&open) <= FREE + 9 * open.len(), "tries that fail late are few");
        }
        // a long chain that reaches the end is found from its first bracket
        let chain = format!("x{}}}", r#"],"k":[1 "#.repeat(100_000) + "]");
        assert_eq!(events_end(chain.as_bytes(), Form::Object), Some(1));
    }

    #[test]
    fn speculation_is_linear_in_objects_that_never_end() {
        for count in [5_000, 10_000, 20_000] {
            let nested = r#"{"a":["#.repeat(count);
            let (found, spent) = speculate_counted(nested.as_bytes(), 0, nested.len());
            assert_eq!(found, None);
            let most = 2 * FREE + 4 * nested.len() + count * SHORT;
            assert!(spent <= most, "{count}: {spent} of {most}");
        }
    }
}
