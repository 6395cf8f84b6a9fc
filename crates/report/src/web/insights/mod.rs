//! DevTools' insights: advice for each visit of a page (DevTools: `models/trace/insights`).
//!
//! ```text
//!   page events ─┐
//!   requests ────┼─ by visit ─> Page ─> an insight per module ─> Insight { state, why, details }
//!   interactions ┘
//! ```
//!
//! All values are those of the engine, but:
//!
//! * Estimated savings of FCP and LCP are missing. The engine simulates page loads for them.
//! * The network dependency tree is missing. It is a part of the graph of requests and main-thread
//!   tasks which the engine simulates.
//! * `legacy JavaScript` and `duplicated JavaScript` are missing. They need the text and the source
//!   maps of scripts, which traces have only if DevTools recorded them in its enhanced mode.
//! * Responses without `max-age`, but with `expires`, have no finding about caching: DevTools
//!   compares that date with the time at which the trace is viewed.

pub(crate) mod cache;
pub(crate) mod charset;
pub(crate) mod dom_size;
pub(crate) mod fonts;
pub(crate) mod found;
pub(crate) mod http;
pub(crate) mod images;
pub(crate) mod largest;
pub(crate) mod latency;
mod page;
pub(crate) mod selectors;
pub(crate) mod viewport;

use crate::web::Visit;
use crate::web::insights::cache::Caching;
use crate::web::insights::charset::CharacterSet;
use crate::web::insights::dom_size::DomSize;
use crate::web::insights::fonts::{FontDisplay, font_names};
use crate::web::insights::found::{Found, State};
use crate::web::insights::http::ModernHttp;
use crate::web::insights::images::{ImageDelivery, Ratios};
use crate::web::insights::largest::LcpDiscovery;
use crate::web::insights::latency::DocumentLatency;
use crate::web::insights::page::{Page, pages};
use crate::web::insights::selectors::SelectorCosts;
use crate::web::insights::viewport::Viewport;
use crate::web::interactions::Interactions;
use crate::web::network::Request;
use serde::Serialize;
use tracemill_analysis::Trace;

/// An insight about a visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Insight {
    /// The judgement.
    pub state: State,
    /// Reason why there are no details.
    pub why: Option<&'static str>,
    /// Figures and offenders.
    pub details: Details,
}

/// Figures and offenders of an insight. `None` if the visit lacks the
/// subject of the insight.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Details {
    /// The request for the page.
    DocumentLatency(Option<DocumentLatency>),
    /// Declaration of the character encoding.
    CharacterSet(Option<CharacterSet>),
    /// Declaration of the viewport.
    Viewport(Viewport),
    /// Requests with HTTP/1.
    ModernHttp(ModernHttp),
    /// Requests that a cache keeps for a short time.
    Caching(Caching),
    /// Fonts that hide text.
    FontDisplay(FontDisplay),
    /// Images that are larger than needed.
    ImageDelivery(ImageDelivery),
    /// Size of the document, and the layouts that it makes slow.
    DomSize(DomSize),
    /// Times of CSS selectors.
    SelectorCosts(SelectorCosts),
    /// Discovery of the image of the largest contentful paint.
    LcpDiscovery(Option<LcpDiscovery>),
}

impl Details {
    /// Returns the insight's name in JSON.
    pub fn id(&self) -> &'static str {
        self.names().0
    }

    /// Returns the title that DevTools shows.
    pub fn title(&self) -> &'static str {
        self.names().1
    }

    fn names(&self) -> (&'static str, &'static str) {
        match self {
            Details::DocumentLatency(_) => ("document-latency", "Document request latency"),
            Details::CharacterSet(_) => ("character-set", "Declare a character encoding"),
            Details::Viewport(_) => ("viewport", "Optimize viewport for mobile"),
            Details::ModernHttp(_) => ("modern-http", "Modern HTTP"),
            Details::Caching(_) => ("cache", "Use efficient cache lifetimes"),
            Details::FontDisplay(_) => ("font-display", "Font display"),
            Details::ImageDelivery(_) => ("image-delivery", "Improve image delivery"),
            Details::DomSize(_) => ("dom-size", "Optimize DOM size"),
            Details::SelectorCosts(_) => ("css-selectors", "CSS selector costs"),
            Details::LcpDiscovery(_) => ("lcp-discovery", "LCP request discovery"),
        }
    }
}

impl Insight {
    fn of<T>(found: Found<T>, details: fn(T) -> Details) -> Self {
        Insight { state: found.state, why: found.why, details: details(found.details) }
    }
}

/// Returns the insights for each visit. Cost: visits each page event once for each visit in which it
/// is.
pub(crate) fn insights(
    trace: &Trace,
    visits: &[Visit],
    requests: &[Request],
    interactions: &Interactions,
) -> Vec<Vec<Insight>> {
    let (names, ratios) = (font_names(trace), Ratios::of(trace));
    let of = |page: Page<'_>| {
        vec![
            Insight::of(latency::insight(&page), Details::DocumentLatency),
            Insight::of(charset::insight(&page), Details::CharacterSet),
            Insight::of(viewport::insight(&page, &interactions.all), Details::Viewport),
            Insight::of(http::insight(&page), Details::ModernHttp),
            Insight::of(cache::insight(&page), Details::Caching),
            Insight::of(fonts::insight(&page, &names), Details::FontDisplay),
            Insight::of(images::insight(&page, ratios), Details::ImageDelivery),
            Insight::of(dom_size::insight(&page), Details::DomSize),
            Insight::of(selectors::insight(&page), Details::SelectorCosts),
            Insight::of(largest::insight(&page), Details::LcpDiscovery),
        ]
    };
    let by_id = requests.iter().map(|request| (&*request.id, request)).collect();
    pages(trace, visits, requests, &by_id).into_iter().map(of).collect()
}
