//! Discovery of the image of the largest contentful paint (DevTools: `LCPDiscovery`).

use crate::web::insights::found::{Found, Offender, State};
use crate::web::insights::page::Page;
use serde::Serialize;
use tracemill_analysis::value::typed::{Object, object};

/// How Chrome finds the image of the largest contentful paint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LcpDiscovery {
    /// The request for the image.
    #[serde(flatten)]
    pub request: Offender,
    /// Whether the request has a high `fetchpriority`.
    pub high_priority: bool,
    /// Whether the document itself asks for the image.
    pub in_document: bool,
    /// Whether the image is loaded at once, without `loading=lazy`.
    pub eager: bool,
    /// Milliseconds from the first byte of the document to the request.
    pub delay_ms: Option<f64>,
}

object! {
    struct Sent { is_link_preload, fetch_priority_hint, initiator: Object<Initiator> }

    struct Initiator { r#type, url }
}

pub(crate) fn insight(page: &Page<'_>) -> Found<Option<LcpDiscovery>> {
    if page.visit.navigation.is_empty() {
        return Found::without(None);
    }
    let largest = match &page.visit.lcp {
        Ok(largest) => largest,
        Err(why) => return Found::without(Some(why)),
    };
    let document = match page.document() {
        Ok(document) => document,
        Err(why) => return Found::without(why),
    };
    let Some(request) = largest.request_id.as_ref().and_then(|id| page.request(id)) else {
        return Found::without(None);
    };
    let sent: Sent = page.trace.marks()[request.places.sent].data().unwrap_or_default();
    let is_preload = sent.is_link_preload.is_true();
    let initiator = sent.initiator.0.unwrap_or_default();
    let is_parsed = initiator.r#type.text() == Some(b"parser");
    let is_of_document = initiator.url.printable().as_ref() == Some(&document.url);
    let found = LcpDiscovery {
        request: Offender::of(request),
        high_priority: sent.fetch_priority_hint.text() == Some(b"high"),
        in_document: is_preload || is_parsed && is_of_document,
        eager: !largest.is_lazy || is_preload,
        delay_ms: document.answered.map(|answered| (request.start - answered) / 1000.0),
    };
    let is_fault = !found.high_priority || !found.in_document || !found.eager;
    Found::new(State::fail_if(is_fault), Some(found))
}
