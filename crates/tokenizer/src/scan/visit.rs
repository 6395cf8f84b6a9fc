//! Single events, as if a scan had found them.

use crate::event::Event;
use crate::scan::find::{FieldSpans, fields_of};

/// Shows an event that is these bytes, from `{` to `}`, which stand at `offset` in their input, as a scan does: for who knows where an event is and
/// has code for those that a scan finds. It is not proved ([`Event::is_proved`]). Cost: as [`fields_of`].
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
