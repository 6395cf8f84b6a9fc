//! The fields of single events at the speed of the block scan: for events that are visited again, out of order.

use crate::event::{FieldSpans, Key, fields_of, key_before};
use crate::scan::CLOSING_BIT;
use crate::simd::{BLOCK, Carry, Flatten, Positions, Tier, WINDOW};

/// Finds the envelope fields of one event after the other, as the scan that found the events saw them.
///
/// Cost: that of the scan, and some 30 ns an event; 33 KiB of memory. [`fields_of`] needs neither, and is slower on all but
/// the shortest events. Tried and a third slower: masks of colons and brackets in place of positions, so that no colon
/// inside a value is looked at.
pub struct FieldFinder {
    flatten: Flatten,
    positions: Positions,
}

impl FieldFinder {
    /// A finder that uses an instruction set.
    pub fn new(tier: Tier) -> Self {
        FieldFinder { flatten: Flatten::of(tier), positions: Positions::new() }
    }

    /// Where the fields of `event`, from `{` to `}`, stand; of duplicate keys the last.
    pub fn find(&mut self, event: &[u8]) -> FieldSpans {
        let mut spans = FieldSpans::none();
        let (mut carry, mut depth) = (Carry::OUTSIDE, 0usize);
        for (number, piece) in event.chunks(WINDOW).enumerate() {
            let base = number * WINDOW;
            if self.flatten.run(piece, &mut carry, &mut self.positions).is_some() {
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
    use crate::event::Field;

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
                let (quick, slow) = (finder.find(event), fields_of(event));
                for field in Field::ALL {
                    let (quick, slow) = (quick.field(event, field), slow.field(event, field));
                    assert_eq!(quick, slow, "{tier} {field:?}");
                }
            }
        }
    }
}
