//! Maps without a watch: where no signal tells that a page went away, or none is to be handled.

use super::content::Content;

/// Nothing is known of a map here.
#[derive(Debug)]
pub(super) struct Watched;

impl Watched {
    pub(super) fn new(_bytes: &[u8], _content: Content) -> Self {
        Watched
    }

    pub(super) fn is_intact(&self) -> bool {
        true
    }
}

/// Returns false: no page of a temporary file is known to be lost.
pub fn temporary_lost() -> bool {
    false
}

/// Does nothing: this target has no signal for pages that went away.
pub fn survive_lost_pages() {}
