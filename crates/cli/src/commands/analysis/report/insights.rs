//! The section with DevTools' insights.

use super::super::unit::time_text;
use super::section::{Cell, Columns, Section};
use super::sections::ReportInputs;
use serde_json::json;
use tracemill_analysis::Window;
use tracemill_report::{
    CharacterSet, Details, DocumentLatency, DomSize, ImageDelivery, Insight, LcpDiscovery,
    Offender, SelectorCosts, State, Viewport, Visit,
};
use tracemill_trace::run::words::{grouped, plural};

/// An insight about a visit.
struct Row<'r> {
    visit: &'r Visit,
    insight: &'r Insight,
}

/// The sentence about an insight, and its largest offender.
#[derive(Default)]
struct Finding {
    text: String,
    offender: Option<String>,
    /// DevTools' key of an event to show.
    key: Option<String>,
}

impl Finding {
    /// Creates the finding of several requests, with the largest first.
    fn of_requests(text: String, first: Option<&Offender>) -> Self {
        let offender = first.map(|first| first.url.clone());
        Finding { text, offender, key: first.map(|first| first.key.clone()) }
    }
}

fn bytes(bytes: f64) -> String {
    plural(bytes as u64, "byte")
}

fn of_latency(found: &DocumentLatency) -> Finding {
    let mut parts = Vec::new();
    if found.is_slow() {
        parts.push(format!("the server answers after {}", time_text(found.server_response_ms)));
    }
    if found.redirect_ms != 0.0 {
        let all = plural(found.redirects as u64, "redirect");
        parts.push(format!("{all} in {}", time_text(found.redirect_ms)));
    }
    if found.uncompressed_bytes.is_nan() {
        parts.push("no compression".to_owned());
    } else if found.uncompressed_bytes != 0.0 {
        parts.push(format!("compression saves {}", bytes(found.uncompressed_bytes)));
    }
    Finding { text: parts.join(", "), offender: None, key: Some(found.key.clone()) }
}

fn of_charset(found: &CharacterSet) -> Finding {
    let text = match found.in_document.as_deref() {
        Some("found-after-first-1024-bytes") => "declared after the first 1024 bytes",
        Some("not-found") => "not declared",
        _ => "not declared in the header",
    };
    Finding { text: text.to_owned(), offender: None, key: Some(found.key.clone()) }
}

fn of_viewport(found: &Viewport) -> Finding {
    let count = found.interactions.len() as u64;
    let late = match found.inp_savings_ms {
        Some(ms) if count > 0 => {
            format!(", {} up to {} late", plural(count, "interaction"), time_text(ms))
        }
        _ => String::new(),
    };
    let key = found.interactions.first().or(found.key.as_ref()).cloned();
    Finding { text: format!("not optimized for mobile{late}"), offender: None, key }
}

fn of_images(found: &ImageDelivery) -> Finding {
    let all = plural(found.images.len() as u64, "image");
    let text = format!("{all} could save {}", bytes(found.wasted_bytes));
    Finding::of_requests(text, found.images.first().map(|image| &image.request))
}

fn of_dom(found: &DomSize) -> Finding {
    let Some(longest) = found.updates.first() else { return Finding::default() };
    let all = plural(found.updates.len() as u64, "large update");
    let size = grouped(longest.size as u64);
    Finding {
        text: format!("{all}, up to {}", time_text(longest.dur_ms)),
        offender: Some(format!("{} of {size} objects", longest.name)),
        key: Some(longest.key.clone()),
    }
}

fn of_selectors(found: &SelectorCosts) -> Finding {
    let Some(slowest) = &found.slowest else { return Finding::default() };
    let (all, most) = (time_text(found.elapsed_ms), time_text(slowest.elapsed_ms));
    let attempts = plural(found.attempts as u64, "attempt");
    let text = format!("{all} for {attempts}, the slowest {most}");
    Finding { text, offender: slowest.selector.clone(), key: None }
}

fn of_largest(found: &LcpDiscovery) -> Finding {
    let mut parts = Vec::new();
    if !found.high_priority {
        parts.push("without fetchpriority=high");
    }
    if !found.in_document {
        parts.push("not found in the document");
    }
    if !found.eager {
        parts.push("with loading=lazy");
    }
    Finding::of_requests(parts.join(", "), Some(&found.request))
}

fn finding(details: &Details) -> Finding {
    match details {
        Details::DocumentLatency(found) => found.as_ref().map(of_latency).unwrap_or_default(),
        Details::CharacterSet(found) => found.as_ref().map(of_charset).unwrap_or_default(),
        Details::Viewport(found) => of_viewport(found),
        Details::ModernHttp(found) => {
            let all = plural(found.requests.len() as u64, "request");
            Finding::of_requests(format!("{all} over HTTP/1"), found.requests.first())
        }
        Details::Caching(found) => {
            let all = plural(found.requests.len() as u64, "response");
            let text = format!("{all}, {} could be cached", bytes(found.wasted_bytes));
            Finding::of_requests(text, found.requests.first().map(|row| &row.request))
        }
        Details::FontDisplay(found) => {
            let all = plural(found.fonts.len() as u64, "font");
            let ms = found.fonts.first().map_or(0.0, |font| font.wasted_ms);
            let text = format!("{all} may hide text for up to {}", time_text(ms));
            Finding::of_requests(text, found.fonts.first().map(|font| &font.request))
        }
        Details::ImageDelivery(found) => of_images(found),
        Details::DomSize(found) => of_dom(found),
        Details::SelectorCosts(found) => of_selectors(found),
        Details::LcpDiscovery(found) => found.as_ref().map(of_largest).unwrap_or_default(),
    }
}

impl ReportInputs<'_> {
    /// Returns the section with the insights for each navigation: those with a finding, or all.
    pub(super) fn insights(&self) -> Option<Section> {
        let visits = self.report.visits.as_ref()?.as_ref().ok()?;
        let all = || {
            let visits = visits.iter().zip(&self.report.insights);
            visits.flat_map(|(visit, all)| all.iter().map(move |insight| Row { visit, insight }))
        };
        let is_finding = |row: &Row<'_>| row.insight.state != State::Pass;
        let text = |row: &Row<'_>| match is_finding(row) {
            true => Cell::text(finding(&row.insight.details).text),
            false => Cell::None,
        };
        let columns = Columns::<Row<'_>>::new()
            .ms("start_ms", "at ms", |row| self.after_start(row.visit.bounds.0 / 1000.0))
            .words("title", "insight", |row| Cell::text(row.insight.details.title()))
            .words("finding", "finding", text)
            .words("offender", "largest", |row| {
                Cell::optional(finding(&row.insight.details).offender.as_deref())
            })
            .words("id", "", |row| Cell::text(row.insight.details.id()))
            .words("state", "", |row| Cell::Json(json!(row.insight.state), String::new()))
            .words("why", "", |row| Cell::optional(row.insight.why))
            .words("page", "", |row| Cell::optional(Some(&row.visit.url)))
            .words("details", "", |row| Cell::Json(json!(row.insight.details), String::new()));
        let next = |row: &Row<'_>| match finding(&row.insight.details).key {
            Some(key) => self.next.of_inputs(&["show", "--event", &key]),
            None => {
                let (from, to) = row.visit.bounds;
                let window = Window { from: from / 1000.0, to: to / 1000.0 };
                self.next.of_window(&["report"], window)
            }
        };
        let count = all().filter(is_finding).count() as u64;
        if count == 0 && !self.is_json {
            return None;
        }
        let rows = all().filter(|row| self.is_json || is_finding(row));
        let head = match visits.len() as u64 {
            1 => format!("{} of DevTools", plural(count, "insight")),
            visits => {
                format!("{} of DevTools about {}", plural(count, "insight"), plural(visits, "page"))
            }
        };
        let figures = vec![("findings", Cell::Count(count))];
        Some(Section::new("insights", columns, rows, next).with(head, figures))
    }
}
