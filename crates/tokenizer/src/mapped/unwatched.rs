//! Maps without SIGBUS handling, for targets without that signal and for portable builds.

use super::content::Content;

/// A placeholder for the registration of a map: no signal is handled.
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

/// Returns false, because lost pages of temporary files are not detected.
pub fn temporary_lost() -> bool {
    false
}

/// Does nothing, because this target has no signal for lost pages.
pub fn survive_lost_pages() {}
