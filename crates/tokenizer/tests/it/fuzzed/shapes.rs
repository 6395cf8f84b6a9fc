//! Checks events that differ by one byte from the events before them.

use crate::scanned::{proved, tiers, whole};
use tracemill_tokenizer::Tier;

/// Takes an event from `input`, after two bytes: one chooses a place in the event, and one replaces
/// the byte at that place.
pub(crate) fn shapes(input: &[u8]) {
    let Some((&[place, byte], event)) = input.split_first_chunk() else { return };
    if !event.is_empty() {
        check_change(event, usize::from(place) * event.len() / 256, byte);
    }
}

/// Scans an array of equal events, some with another byte at `at`. Checks that every tier with
/// shapes finds the same as the scalar tier without shapes.
pub(crate) fn check_change(event: &[u8], at: usize, byte: u8) {
    let mut changed = event.to_vec();
    changed[at] = byte;
    // the last events are longer than the part of a window that is never marked
    let events = [event, event, &changed, event, &changed, &changed, event, event, event, event];
    let text = [b"[", &events.join(&b",\n"[..])[..], b"]"].concat();
    let expected = whole(&text, Tier::Scalar);
    for tier in tiers() {
        for piece in [text.len(), 2 * event.len() + 150] {
            let (log, _) = proved(&text, tier, std::iter::repeat(piece));
            assert_eq!(log, expected, "{tier} in pieces of {piece}: {}", text.escape_ascii());
        }
    }
}
