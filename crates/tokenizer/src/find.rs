//! The fields of single events at the speed of the block scan: for events that are visited again, out of order.

use crate::event::{FieldSpans, Key, fields_of, key_before};
use crate::scan::CLOSING_BIT;
use crate::simd::{BLOCK, Carry, Flatten, Marks, Tier, WINDOW};

/// Finds the envelope fields of one event after the other, as the scan that found the events saw them.
///
/// Of colons only those at the event's own level are looked at, which is most of what it takes: in masks the others cost
/// nothing. Cost: that of the scan, and some 20 ns an event; 4 KiB of memory. [`fields_of`] needs neither, and is slower on
/// all but the shortest events.
pub struct FieldFinder {
    flatten: Flatten,
    marks: Marks,
}

impl FieldFinder {
    /// A finder that uses an instruction set.
    pub fn new(tier: Tier) -> Self {
        FieldFinder { flatten: Flatten::of(tier), marks: Marks::new() }
    }

    /// Where the fields of `event`, from `{` to `}`, stand; of duplicate keys the last.
    pub fn find(&mut self, event: &[u8]) -> FieldSpans {
        let mut spans = FieldSpans::none();
        let (mut carry, mut depth) = (Carry::OUTSIDE, 0usize);
        for (number, piece) in event.chunks(WINDOW).enumerate() {
            if !self.flatten.mark(piece, &mut carry, &mut self.marks) {
                // the scan takes no event with such bytes: it was changed since
                return fields_of(event);
            }
            let bases = (number * WINDOW..).step_by(BLOCK);
            for ((mut brackets, mut colons), base) in self.marks.blocks().zip(bases) {
                loop {
                    let bracket = brackets & brackets.wrapping_neg();
                    if depth == 1 {
                        // those before the bracket; all if there is none
                        note_keys(event, base, colons & bracket.wrapping_sub(1), &mut spans);
                    }
                    if bracket == 0 {
                        break;
                    }
                    let byte = event[base + bracket.trailing_zeros() as usize];
                    // arithmetic, for the reason that the walk of the scan has
                    depth = depth.wrapping_add(1).wrapping_sub(usize::from(byte & CLOSING_BIT) / 2);
                    brackets ^= bracket;
                    colons &= bracket.wrapping_neg();
                }
            }
        }
        spans
    }
}

/// Notes the fields whose colons are the bits of a block.
#[inline(always)]
fn note_keys(event: &[u8], base: usize, mut colons: u64, spans: &mut FieldSpans) {
    while colons != 0 {
        let at = base + colons.trailing_zeros() as usize;
        if let Key::Field(field) = key_before(event, at) {
            spans.note(field, at + 1);
        }
        colons &= colons - 1;
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
