//! Declaration of the character encoding (DevTools: `CharacterSet`).

use crate::web::insights::found::{Found, State};
use crate::web::insights::page::{Header, Page};
use serde::Serialize;
use tracemill_analysis::value::typed::object;

/// Where a page declares its character encoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CharacterSet {
    /// DevTools' key of the request for the page.
    pub key: String,
    /// Whether the header `Content-Type` declares the encoding.
    pub in_header: bool,
    /// Chrome's result for `<meta charset>`, such as `found-in-first-1024-bytes`; `None` if the
    /// trace does not have the result.
    pub in_document: Option<String>,
}

object! {
    struct Check { disposition }
}

/// Returns whether a content type has a charset: `charset=`, followed by two characters of a name.
fn has_charset(content_type: &str) -> bool {
    let text = content_type.to_ascii_lowercase();
    let is_of_name = |c: &char| c.is_ascii_alphanumeric() || "-_:.()".contains(*c);
    text.match_indices("charset").any(|(at, word)| {
        let rest = text[at + word.len()..].trim_start();
        let name = rest.strip_prefix('=').map(str::trim_start).unwrap_or_default();
        name.chars().take(2).filter(is_of_name).count() == 2
    })
}

/// Returns whether the first header `Content-Type` declares an encoding.
fn is_in(headers: &[Header]) -> bool {
    let first = headers.iter().find(|header| header.is_named("content-type"));
    first.is_some_and(|header| has_charset(&header.value))
}

pub(crate) fn insight(page: &Page<'_>) -> Found<Option<CharacterSet>> {
    let request = match page.document() {
        Ok(request) => request,
        Err(why) => return Found::without(why),
    };
    let check = page.charset.and_then(|check| check.data::<Check>());
    let found = CharacterSet {
        key: request.key.clone(),
        in_header: page.headers(request).is_some_and(|headers| is_in(&headers)),
        in_document: check.and_then(|check| check.disposition.printable()),
    };
    let is_early = found.in_document.as_deref() == Some("found-in-first-1024-bytes");
    let is_fault = !found.in_header && !is_early;
    Found::new(State::fail_if(is_fault), Some(found))
}
