//! Reads single events without a scan.

use crate::event::Event;
use crate::scan::find::{FieldSpans, fields_of};

/// Calls `visit` with an event, given its bytes from `{` to `}` and its offset in the input.
/// Returns the result of `visit`.
///
/// The event is not proved ([`Event::is_proved`]). Cost: that of [`fields_of`].
///
/// ```
/// use tracemill_tokenizer::visit_event;
///
/// let phase = visit_event(br#"{"ph":"X","ts":7}"#, 100, |event| event.phase());
/// assert_eq!(phase, b'X');
/// ```
pub fn visit_event<T>(event: &[u8], offset: u64, visit: impl FnOnce(&Event<'_>) -> T) -> T {
    let FieldSpans { seen, mut values } = fields_of(event);
    values.iter_mut().for_each(|value| *value += offset);
    visit(&Event::new(event, offset, seen, &values))
}
