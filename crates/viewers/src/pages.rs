//! Frames of a browser trace that show a page.

use tracemill_trace::json::member;

/// Returns whether a frame has a non-empty URL. DevTools counts `about:blank` as a page.
pub fn has_page(object: &[u8]) -> bool {
    member(object, b"url").is_some_and(|url| url.len() > 2)
}
