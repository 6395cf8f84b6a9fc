//! The fields of single events that are visited again, out of order: with no more than their bytes, or at the speed of the
//! block scan.

use crate::event::Event;
use crate::grammar::value::{field_end, value_end};
use crate::scan::CLOSING_BIT;
use crate::simd::grammar::Prove;
use crate::simd::{BLOCK, Carry, Kernel, Positions, Tier, WINDOW};
use crate::text::field::{Field, Key, key_before};
use crate::text::{skip_space, string_end};

/// Finds the last occurrence of envelope fields in one event; for events that are visited again, out of order.
///
/// Finds what the scan found, also in events that brackets hold together and nothing else (`{"ts":1,,"pid":2}`). Cost: about
/// 1 ns for each byte at the event's own level and for each nested value's byte.
///
/// ```
/// use tracemill_tokenizer::{Field, fields_of};
///
/// let event = br#"{"ph":"X","ts":1.5,"args":{"ts":9},"ts":2}"#;
/// let spans = fields_of(event);
/// assert_eq!(spans.field(event, Field::Ts), Some(&b"2"[..]), "the last one counts, and none in args");
/// assert_eq!(spans.of(event).phase(), b'X');
/// ```
pub fn fields_of(event: &[u8]) -> FieldSpans {
    let mut spans = FieldSpans::none();
    let mut at = 1;
    while let Some(&byte) = event.get(at) {
        at = match byte {
            b'"' => string_end(event, at).unwrap_or(event.len()),
            b'{' | b'[' => value_end(event, at),
            b':' => {
                if let Key::Field(field) = key_before(event, at) {
                    spans.note(field, at + 1);
                }
                at + 1
            }
            _ => at + 1,
        };
    }
    spans
}

/// Where the fields of one event stand, detached from the scan that found them.
#[derive(Clone, Copy, Debug)]
pub struct FieldSpans {
    /// A bit a field: whether it has a value.
    pub(crate) seen: u16,
    /// Where the value of each begins, or white space before it.
    pub(crate) values: [u64; Field::COUNT],
}

impl FieldSpans {
    pub(crate) fn none() -> Self {
        FieldSpans { seen: 0, values: [0; Field::COUNT] }
    }

    /// The value of a field, or white space before it, begins at `at`.
    #[inline(always)]
    pub(crate) fn note(&mut self, field: Field, at: usize) {
        self.seen |= field.bit();
        self.values[field as usize] = at as u64;
    }

    /// The event they were found in.
    pub fn of<'w>(&'w self, bytes: &'w [u8]) -> Event<'w> {
        Event::new(bytes, 0, self.seen, &self.values)
    }

    /// [`Event::field`] of the event they were found in.
    pub fn field<'b>(&self, bytes: &'b [u8], field: Field) -> Option<&'b [u8]> {
        if self.seen & field.bit() == 0 {
            return None;
        }
        let at = skip_space(bytes, self.values[field as usize] as usize);
        Some(&bytes[at..field_end(bytes, at)])
    }
}

/// Finds the envelope fields of one event after the other, as the scan that found the events saw them.
///
/// Cost: that of the scan, and some 30 ns an event; 33 KiB of memory. [`fields_of`] needs neither, and is slower on all but
/// the shortest events. Tried and a third slower: masks of colons and brackets in place of positions, so that no colon
/// inside a value is looked at.
///
/// ```
/// use tracemill_tokenizer::{Field, FieldFinder, Tier};
///
/// let mut finder = FieldFinder::new(Tier::best());
/// for (event, tid) in [(&br#"{"tid":7,"ph":"B"}"#[..], &b"7"[..]), (br#"{"ph":"E","tid":"main"}"#, b"\"main\"")] {
///     assert_eq!(finder.find(event).field(event, Field::Tid), Some(tid));
/// }
/// ```
pub struct FieldFinder {
    kernel: Kernel,
    prove: Prove,
    positions: Positions,
    /// Of the event at hand.
    spans: FieldSpans,
}

impl FieldFinder {
    /// A finder that uses an instruction set.
    pub fn new(tier: Tier) -> Self {
        let (kernel, prove) = (Kernel::of(tier), Prove::of(tier));
        FieldFinder { kernel, prove, positions: Positions::new(), spans: FieldSpans::none() }
    }

    /// Whether an event may have an `id`, `id2` or `bind_id`: false only of one that has none. Cost: some 10 ns where the instruction set has a
    /// quick way, else none, and it may have them.
    ///
    /// ```
    /// use tracemill_tokenizer::{FieldFinder, Tier};
    ///
    /// let finder = FieldFinder::new(Tier::best());
    /// assert!(finder.may_have_ids(br#"{"ph":"b","id":"0x1","name":"fetch","cat":"net","pid":1,"tid":2,"ts":3}"#));
    /// ```
    #[inline]
    pub fn may_have_ids(&self, event: &[u8]) -> bool {
        self.kernel.may_have_ids(event)
    }

    /// As [`FieldFinder::find`], of `ph`, `pid`, `id`, `id2` and `bind_id`. All fields are found in events that have an escape, white space
    /// outside strings or, at any depth, a key that ends in `unless`: that is what follows in the text, quote included, and its
    /// last letter is `d`. So are they where the instruction set has no quicker way.
    pub fn find_ids(&mut self, event: &[u8], unless: &[u8]) -> &FieldSpans {
        debug_assert!(
            unless.ends_with(b"d\""),
            "only keys that end as those of ids do are looked at"
        );
        // not a value that is handed on: to copy what was written piece by piece a moment ago, the processor waits for all of it
        self.spans.seen = 0;
        let FieldSpans { seen, values } = &mut self.spans;
        if !self.prove.ids(event, unless, seen, values) {
            self.spans = self.find(event);
        }
        &self.spans
    }

    /// Where the fields of `event`, from `{` to `}`, stand; of duplicate keys the last.
    pub fn find(&mut self, event: &[u8]) -> FieldSpans {
        let mut spans = FieldSpans::none();
        let (mut carry, mut depth) = (Carry::OUTSIDE, 0usize);
        for (number, piece) in event.chunks(WINDOW).enumerate() {
            let base = number * WINDOW;
            if self.kernel.flatten(piece, &mut carry, &mut self.positions).is_some() {
                // the scan takes no event with such bytes: it was changed since
                return fields_of(event);
            }
            for &position in self.positions.as_slice() {
                let at = base + usize::from(position);
                let byte = event[at];
                if byte != b':' {
                    // arithmetic, for the reason that the walk of the scan has
                    depth = depth.wrapping_add(1).wrapping_sub(usize::from(byte & CLOSING_BIT) / 2);
                } else if depth == 1
                    && let Key::Field(field) = key_before(event, at)
                {
                    spans.note(field, at + 1);
                }
            }
        }
        spans
    }
}

const _: () = assert!(WINDOW.is_multiple_of(BLOCK), "the scan goes on at whole blocks");

#[cfg(test)]
mod tests {
    use super::*;

    /// With every tier, the fields that the slow way finds; keys far apart, so that they stand in several windows.
    #[test]
    fn as_the_slow_way() {
        let long = "x".repeat(WINDOW + 77);
        let events = [
            r#"{"ph":"X","ts":1,"pid":2,"tid":"3","name":"a","cat":"c","id":"0x1"}"#.to_owned(),
            r#"{ "args" : {"pid":1,"a":[{"tid":2}]} , "pid" : 7 , "pid":8, "t\u0069d":[1] }"#
                .into(),
            format!(
                r#"{{"args":{{"{long}":"{long}\""}},"pid":5,"x":["{long}",{{}}],"bind_id":1}}"#
            ),
            r#"{"a":1,}"#.into(),
            "{}".into(),
        ];
        for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
            let mut finder = FieldFinder::new(tier);
            for event in &events {
                let event = event.as_bytes();
                assert_ids(&mut finder, event);
                let (quick, slow) = (finder.find(event), fields_of(event));
                for field in Field::ALL {
                    let (quick, slow) = (quick.field(event, field), slow.field(event, field));
                    assert_eq!(quick, slow, "{tier} {field:?}");
                }
            }
        }
    }

    /// That ids are where the slow way finds them.
    #[track_caller]
    fn assert_ids(finder: &mut FieldFinder, event: &[u8]) {
        let slow = fields_of(event);
        let quick = finder.find_ids(event, b"processId\"");
        for field in [Field::Ph, Field::Pid, Field::Id, Field::Id2, Field::BindId] {
            let (quick, slow) = (quick.field(event, field), slow.field(event, field));
            assert_eq!(quick, slow, "{field:?} {}", event.escape_ascii());
        }
    }

    /// Ids at every place of a block are seen; with no id, no backslash and nothing like it, only the portable way is not sure.
    #[test]
    fn events_that_may_have_ids() {
        for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
            let finder = FieldFinder::new(tier);
            for (before, behind) in (0..150).flat_map(|at| [(at, 0), (at, 149 - at), (at, 150)]) {
                let [before, behind] = [before, behind].map(|count| "x".repeat(count));
                for key in ["id", "id2", "bind_id", "\\u0069d", "i\\u0064", "bin\\u0064_id"] {
                    let event = format!(r#"{{"{before}":1,"{key}":2,"{behind}":3}}"#);
                    assert!(finder.may_have_ids(event.as_bytes()), "{tier} {event}");
                }
                let event = format!(r#"{{"{before}":1,"pid":2,"tid":3,"{behind}":["i","d"]}}"#);
                let is_sure = !finder.may_have_ids(event.as_bytes());
                let has_way = matches!(tier, Tier::Avx2 | Tier::Avx512) && event.len() > 65;
                assert_eq!(is_sure, has_way, "{tier} {event}");
            }
        }
    }

    /// Ids at every place of a block, behind and before all that may be taken for them.
    #[test]
    fn ids_at_every_place() {
        for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
            let mut finder = FieldFinder::new(tier);
            for before in (0..200).step_by(crate::EVERY) {
                let long = "x".repeat(before);
                for event in [
                    format!(
                        r#"{{"{long}":1,"pid":2,"id":"0x1","ph":"b","bind_id":3,"id2":{{"local":"a"}}}}"#
                    ),
                    format!(
                        r#"{{"args":{{"pid":1,"a":[{{"id":2}}],"{long}":"]}}"}},"pid":7,"id":8,"pid":9}}"#
                    ),
                    format!(
                        r#"{{"name":"{long}","pid":7,"args":{{"id":8,"ph":"b","x":{{"bind_id":5}}}}}}"#
                    ),
                    format!(
                        r#"{{"cat":"id,pid:{long}","xid":1,"id":2,"_pid":3,"s":"id","ph":"{long}"}}"#
                    ),
                    format!(r#"{{"{long}":"\"","args":{{"a":"\\\"pid\":"}},"pid":1,"\u0069d":4}}"#),
                    format!(r#"{{"{long}":1,"pid" : 2, "id":3,"ph" :"X"}}"#),
                    format!(r#"{{"{long}":[1,[2,{{"ph":1}}]],"ph":"e","id":[1,{{"id":2}}]}}"#),
                ] {
                    assert_ids(&mut finder, event.as_bytes());
                }
                // all fields, for whoever looks for more in an event with that key
                let event =
                    format!(r#"{{"args":{{"{long}":{{"processId":5}}}},"name":"x","pid":1}}"#);
                let spans = finder.find_ids(event.as_bytes(), b"processId\"");
                assert_eq!(
                    spans.field(event.as_bytes(), Field::Name),
                    Some(&b"\"x\""[..]),
                    "{tier}"
                );
            }
        }
    }
}
