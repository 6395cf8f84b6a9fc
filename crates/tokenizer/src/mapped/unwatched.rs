//! Maps without a watch: where no signal tells that a page went away, or none is to be handled.

/// Nothing is known of a map here.
#[derive(Debug)]
pub(super) struct Watched;

impl Watched {
    pub(super) fn new(_start: usize, _len: usize) -> Self {
        Watched
    }

    pub(super) fn is_intact(&self) -> bool {
        true
    }
}

/// Does nothing: this target has no signal for pages that went away.
pub fn survive_lost_pages() {}
