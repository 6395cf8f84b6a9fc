//! The ids of a thread in the form that criteria compare.

use tracemill_trace::json::content;

/// The ids of a thread without quotes: `10` selects `"10"` too, as in
/// [`tracemill_join::config::id_set::IdSet`].
pub(super) struct ThreadIds {
    pub(super) pid: Box<[u8]>,
    pub(super) tid: Box<[u8]>,
}

/// Returns an id without quotes and escapes.
pub(super) fn plain_id(id: &[u8]) -> Box<[u8]> {
    content(id, &mut Vec::new()).into()
}
