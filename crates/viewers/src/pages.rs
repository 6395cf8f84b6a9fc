//! Pages of a browser's trace.

use tracemill_trace::json::member;

/// Whether a frame has a page of its own; to DevTools `about:blank` is one.
pub fn has_page(object: &[u8]) -> bool {
    member(object, b"url").is_some_and(|url| url.len() > 2)
}
