//! Finds the fields of a single event again after the scan: without state ([`fields_of`]), or at
//! the speed of the block scan ([`FieldFinder`]).

use crate::event::Event;
use crate::grammar::value::{value_at, value_end};
use crate::scan::CLOSING_BIT;
use crate::simd::{BLOCK, Carry, Kernel, Positions, Tier, WINDOW};
use crate::text::field::{Field, Key, key_before};
use crate::text::{skip_space, string_end};

/// Returns the positions of the envelope fields in the bytes of one event, from `{` to `}`. The
/// last of duplicate keys counts.
///
/// Finds the same fields as the scan, even in events that are not JSON (`{"ts":1,,"pid":2}`). Cost:
/// one pass over the event, byte by byte outside nested values.
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

/// Positions of the fields of one event.
#[derive(Clone, Copy, Debug)]
pub struct FieldSpans {
    /// One bit per field: whether the event has its key.
    pub(crate) seen: u16,
    /// Per field, the offset just after its colon.
    pub(crate) values: [u64; Field::COUNT],
}

impl FieldSpans {
    pub(crate) fn none() -> Self {
        FieldSpans { seen: 0, values: [0; Field::COUNT] }
    }

    /// Records that the colon of `field` is just before `at`.
    #[inline(always)]
    pub(crate) fn note(&mut self, field: Field, at: usize) {
        self.seen |= field.bit();
        self.values[field as usize] = at as u64;
    }

    /// Returns the event that has these fields and these bytes.
    pub fn of<'w>(&'w self, bytes: &'w [u8]) -> Event<'w> {
        Event::new(bytes, 0, self.seen, &self.values)
    }

    /// Returns the raw value of a field, as [`Event::field`], given the bytes of the event.
    pub fn field<'b>(&self, bytes: &'b [u8], field: Field) -> Option<&'b [u8]> {
        if self.seen & field.bit() == 0 {
            return None;
        }
        let at = skip_space(bytes, self.values[field as usize] as usize);
        Some(value_at(bytes, at))
    }
}

/// Finds the envelope fields of many events, with the block scan.
///
/// Memory: 33 KiB. [`fields_of`] needs no memory, but is slower, except for the shortest events.
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
    positions: Positions,
}

impl FieldFinder {
    /// Creates a finder with the instructions of `tier`.
    pub fn new(tier: Tier) -> Self {
        FieldFinder { kernel: Kernel::of(tier), positions: Positions::new() }
    }

    /// Returns the positions of all envelope fields in `event`, the bytes from `{` to `}`. The last
    /// of duplicate keys counts.
    pub fn find(&mut self, event: &[u8]) -> FieldSpans {
        let mut spans = FieldSpans::none();
        let (mut carry, mut depth) = (Carry::OUTSIDE, 0usize);
        for (number, piece) in event.chunks(WINDOW).enumerate() {
            let base = number * WINDOW;
            if self.kernel.flatten(piece, &mut carry, &mut self.positions).is_some() {
                // the scan accepts no event with such bytes, so the file has changed since
                return fields_of(event);
            }
            for &position in self.positions.as_slice() {
                let at = base + usize::from(position);
                let byte = event[at];
                if byte != b':' {
                    // arithmetic, because a branch would be mispredicted, as in the walk
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

    /// Covers long values, which put the keys into several windows.
    #[test]
    fn finder_agrees_with_fields_of() {
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
                let (quick, slow) = (finder.find(event), fields_of(event));
                for field in Field::ALL {
                    let (quick, slow) = (quick.field(event, field), slow.field(event, field));
                    assert_eq!(quick, slow, "{tier} {field:?}");
                }
            }
        }
    }
}
