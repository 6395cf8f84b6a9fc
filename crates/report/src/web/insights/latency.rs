//! Time until the server answers the request for the page (DevTools: `DocumentLatency`).

use crate::web::insights::found::{Found, State, rounded};
use crate::web::insights::page::{Header, Page};
use crate::web::network::Request;
use serde::Serialize;

/// Milliseconds beyond which the server answers too slowly.
const SLOW: f64 = 600.0;
/// Savings of compression in bytes that do not count.
const FEW_BYTES: f64 = 1400.0;

/// The request for the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DocumentLatency {
    /// DevTools' key of the request.
    pub key: String,
    /// Milliseconds from the end of sending to the first byte of the response, rounded.
    pub server_response_ms: f64,
    /// Milliseconds of redirects, rounded.
    pub redirect_ms: f64,
    /// Number of redirects.
    pub redirects: usize,
    /// Estimated bytes that compression would save: 0 if the response is compressed, NaN if its size
    /// is unknown.
    pub uncompressed_bytes: f64,
}

impl DocumentLatency {
    /// Returns whether the server answers too slowly.
    pub fn is_slow(&self) -> bool {
        self.server_response_ms > SLOW
    }
}

/// Returns whether a response was compressed.
fn is_compressed(headers: &[Header]) -> bool {
    const NAMES: [&str; 3] =
        ["content-encoding", "x-content-encoding-over-network", "x-original-content-encoding"];
    headers.iter().any(|header| {
        NAMES.iter().any(|name| header.is_named(name))
            && matches!(&*header.value, "gzip" | "br" | "deflate" | "zstd")
    })
}

/// Returns the part of a body that compression usually saves.
fn saved_part(mime: &str) -> f64 {
    match mime {
        "text/css" => 0.8,
        "text/html" | "text/javascript" => 0.67,
        "text/plain"
        | "text/xml"
        | "text/x-component"
        | "application/javascript"
        | "application/json"
        | "application/manifest+json"
        | "application/vnd.api+json"
        | "application/xml"
        | "application/xhtml+xml"
        | "application/rss+xml"
        | "application/atom+xml"
        | "application/vnd.ms-fontobject"
        | "application/x-font-ttf"
        | "application/x-font-opentype"
        | "application/x-font-truetype"
        | "image/svg+xml"
        | "image/x-icon"
        | "image/vnd.microsoft.icon"
        | "font/ttf"
        | "font/eot"
        | "font/otf"
        | "font/opentype" => 0.5,
        _ => 0.0,
    }
}

/// Returns the bytes that compression would save.
fn savings(page: &Page<'_>, request: &Request) -> f64 {
    if page.headers(request).is_some_and(|headers| is_compressed(&headers)) {
        return 0.0;
    }
    let part = saved_part(&request.mime);
    if part == 0.0 {
        return 0.0;
    }
    let saved = rounded(request.body.unwrap_or(f64::NAN) * part);
    if saved < FEW_BYTES { 0.0 } else { saved }
}

pub(crate) fn insight(page: &Page<'_>) -> Found<Option<DocumentLatency>> {
    let request = match page.document() {
        Ok(request) => request,
        Err(why) => return Found::without(why),
    };
    let Some(server) = request.server else {
        let why = "the request for the page has no times of its answer";
        return Found::without(Some(why));
    };
    let found = DocumentLatency {
        key: request.key.clone(),
        server_response_ms: rounded(server / 1000.0),
        redirect_ms: rounded(request.redirected / 1000.0),
        redirects: request.redirects.len(),
        uncompressed_bytes: savings(page, request),
    };
    let is_fault = found.is_slow() || found.redirect_ms != 0.0 || found.uncompressed_bytes != 0.0;
    Found::new(State::fail_if(is_fault), Some(found))
}
