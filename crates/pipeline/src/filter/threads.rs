//! A thread as criteria look at it.

use tracemill_trace::json::content;

/// The ids of a thread, without quotes: who asks for `10` means `"10"` too, as in [`tracemill_join::config::id_set::IdSet`].
pub(super) struct ThreadIds {
    pub(super) pid: Box<[u8]>,
    pub(super) tid: Box<[u8]>,
}

/// An id without quotes, its escapes resolved.
pub(super) fn plain_id(id: &[u8]) -> Box<[u8]> {
    content(id, &mut Vec::new()).into()
}
