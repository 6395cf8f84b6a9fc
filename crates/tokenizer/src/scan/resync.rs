//! After damage: where does the next event begin?
//!
//! An event boundary is a `{` that a comma, a bracket or a line break precedes, that begins a sound object, and whose own
//! keys include a `ph` of one letter. The last condition tells events from the objects in their `args`: the nodes of a CPU
//! profile stand in arrays just like events. Since string state is lost, places inside of strings are tried as well; the
//! first that holds wins.
//!
//! If no event follows, the end of the events is looked for instead: a `]` from which the rest of the input reads as
//! the end of the document, so that the keys after the events survive a damaged last event.
//!
//! Cost: linear in the bytes skipped. Trying an object costs its length, and adversarial input can make many long tries
//! fail, so a search may spend [`FREE`] bytes and four for each byte it has moved on; beyond that a try is cut to
//! [`SHORT`] bytes. Real damage never gets there.

use super::members::is_events_key;
use super::{Fault, Form, Window};
use crate::event::{Field, Key, key_before};
use crate::simd::byte;
use crate::text::{is_space, skip_space, string_end, trim_end, value_end};

const FREE: usize = 1 << 20;
const SHORT: usize = 4096;
/// How many places may be tried for the end of the events.
const END_TRIES: usize = 4096;

/// A search for the next event, resumable at the end of a window.
pub(super) struct Search {
    pub(super) fault: Fault,
    /// Offset of the first lost byte.
    pub(super) lost_from: u64,
    /// Offset of the first place not yet tried.
    next: u64,
    spent: usize,
    /// Do not try again before the window reaches this offset.
    wait_for: u64,
    /// Nothing of an event is lost: whatever precedes the next one is stray text.
    stray: bool,
}

/// What a search came to.
pub(super) enum Found {
    NeedInput,
    /// The next event begins here.
    Event(u64),
    /// No event follows, but here the events end.
    EventsEnd(u64),
    Nothing,
}

/// What stands at a `{`.
#[derive(Debug, PartialEq, Eq)]
enum Probe {
    Event,
    /// A sound object without a phase that ends before this place.
    Object(usize),
    /// No sound object; noticed here.
    Unsound(usize),
    /// The bytes end before the object does.
    Open,
}

impl Search {
    /// `event`: what begins at `lost_from` is the damaged event itself, and so never the answer.
    pub(super) fn new(fault: Fault, lost_from: u64, event: bool) -> Self {
        let next = lost_from + u64::from(event);
        Search { fault, lost_from, next, spent: 0, wait_for: 0, stray: !event }
    }

    pub(super) fn advance(&mut self, window: Window<'_>, form: Option<Form>) -> Found {
        if !window.last && window.end() < self.wait_for {
            return Found::NeedInput;
        }
        let bytes = window.bytes;
        let start = window.index(self.lost_from);
        let mut at = window.index(self.next);
        while let Some(step) = bytes[at..].iter().position(|&b| b == b'{') {
            at += step;
            self.next = window.base + at as u64;
            match may_begin_event(bytes, at, self.stray) {
                Some(true) => {}
                None if !window.last => return Found::NeedInput,
                _ => {
                    at += 1;
                    continue;
                }
            }
            let allowed = (FREE + 4 * (at - start)).saturating_sub(self.spent).max(SHORT);
            let end = bytes.len().min(at + allowed);
            match probe(&bytes[..end], at) {
                Probe::Event => return Found::Event(self.next),
                Probe::Object(end) => {
                    self.spent += end - at;
                    at = end;
                }
                Probe::Open if end == bytes.len() && !window.last => {
                    // twice as much next time: the tries together stay linear
                    self.wait_for = window.end() + (end - at) as u64;
                    return Found::NeedInput;
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
            return Found::NeedInput;
        }
        let end = form.and_then(|form| events_end(&bytes[start..], form));
        end.map_or(Found::Nothing, |end| Found::EventsEnd(self.lost_from + end as u64))
    }
}

/// Guesses where the first event at or after `from` begins, if that is before `to`.
///
/// The guess is right unless the bytes are made to fool it; see [`super::Scanner::fork`] for how it is proven. Cost: the
/// distance to the event and its length.
pub fn speculate(bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += bytes[at..to].iter().position(|&b| b == b'{')?;
        let end = bytes.len().min(at + FREE);
        match (may_begin_event(bytes, at, false) == Some(true)).then(|| probe(&bytes[..end], at)) {
            Some(Probe::Event) => return Some(at),
            Some(Probe::Object(end)) if end < to => at = end,
            Some(Probe::Object(_)) => return None,
            _ => at += 1,
        }
        if at >= to {
            return None;
        }
    }
}

/// Whether what surrounds the `{` at `at` looks like an event boundary; `None` if the bytes end too early to tell. Behind
/// stray text anything may precede it.
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

/// Reads the object at `at` by the rules of the block scan and the walk, a byte at a time.
fn probe(bytes: &[u8], at: usize) -> Probe {
    let mut objects = Vec::new();
    let mut phase = false;
    let mut i = at;
    while i < bytes.len() {
        let current = bytes[i];
        match current {
            b'"' => {
                let Some(end) = string_end(bytes, i) else { return Probe::Open };
                let follows = bytes.get(end).is_none_or(|&b| byte::is_delimiter(b));
                if !byte::is_delimiter(bytes[i - 1]) || !follows {
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
            // another document, whose events are to be found, not skipped
            b':' if objects.len() == 1 && is_events_key(bytes, i) => return Probe::Unsound(i),
            _ if !byte::is_known(current) => return Probe::Unsound(i),
            _ => {}
        }
        i += 1;
    }
    Probe::Open
}

/// Whether the value after a colon is a string of one letter.
fn is_phase(bytes: &[u8], after_colon: usize) -> bool {
    let value = skip_space(bytes, after_colon);
    matches!(bytes.get(value..value + 3), Some([b'"', letter, b'"']) if *letter != b'"')
}

/// The first `]` in `lost` from which the rest is the end of a document of this form.
fn events_end(lost: &[u8], form: Form) -> Option<usize> {
    let ends = lost.iter().enumerate().filter(|&(_, &b)| b == b']').map(|(at, _)| at);
    ends.take(END_TRIES).find(|&at| match form {
        Form::Object => ends_object(lost, at + 1),
        _ => lost[at + 1..].iter().all(|&b| is_space(b)),
    })
}

/// Whether `bytes[at..]` is `,"key":value` any number of times, then `}` and the end.
fn ends_object(bytes: &[u8], at: usize) -> bool {
    let mut at = skip_space(bytes, at);
    while bytes.get(at) == Some(&b',') {
        let key = skip_space(bytes, at + 1);
        if bytes.get(key) != Some(&b'"') {
            return false;
        }
        let Some(colon) = string_end(bytes, key).map(|end| skip_space(bytes, end)) else {
            return false;
        };
        let value = skip_space(bytes, colon + 1);
        let end = value_end(bytes, value);
        if bytes.get(colon) != Some(&b':') || end == value {
            return false;
        }
        at = skip_space(bytes, end);
    }
    bytes.get(at) == Some(&b'}') && skip_space(bytes, at + 1) == bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_start(text: &str) -> Probe {
        probe(text.as_bytes(), 0)
    }

    #[test]
    fn objects_are_told_apart() {
        assert_eq!(at_start(r#"{"a":1,"ph":"X","args":{"b":[{}]}}"#), Probe::Event);
        assert_eq!(at_start(r#"{"id":1,"callFrame":{"ph":"X"}},"#), Probe::Object(31));
        assert_eq!(at_start(r#"{"ph":"XX"}"#), Probe::Object(11));
        assert_eq!(at_start(r#"{"ph":"X""#), Probe::Open);
        assert_eq!(at_start(r#"{"ph":"X"]"#), Probe::Unsound(9));
        assert_eq!(at_start(r#"{"ph":"X",{"a":1}}"#), Probe::Unsound(10));
        assert!(matches!(at_start(r#"{"name":"a"b","ph":"X"}"#), Probe::Unsound(_)));
    }

    #[test]
    fn speculation_finds_events_and_no_nodes() {
        let text = r#"{"nodes":[{"id":1},{"id":2}]},{"ph":"X","ts":1},{"ph":"E"}]"#;
        assert_eq!(speculate(text.as_bytes(), 1, text.len()), Some(30));
        assert_eq!(speculate(text.as_bytes(), 31, text.len()), Some(48));
        assert_eq!(speculate(text.as_bytes(), 1, 30), None);
        assert_eq!(speculate(text.as_bytes(), 49, text.len()), None);
    }

    #[test]
    fn the_end_of_events_is_told_from_nested_ends() {
        let text = r#"{"a":[{}],"b":"x],"metadata":{"c":[1]}}"#;
        assert_eq!(events_end(text.as_bytes(), Form::Object), Some(16));
        assert_eq!(events_end(b"{\"a\":[1],\"b]\n", Form::Array), Some(11));
        assert_eq!(events_end(b"{\"a\":[1]", Form::Object), None);
    }
}
