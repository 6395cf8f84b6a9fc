//! The sections of pages: what their users wait for, and requests.

use super::section::{Cell, Column, Section, figure, words};
use super::sections::ReportInputs;
use serde_json::{Value, json};
use tracemill_analysis::{Interaction, LargestPaint, Request, Told, Visit, Window};
use tracemill_pipeline::plural;

const WEB: &[Column] = &[
    figure("start_ms", "at ms"),
    figure("fcp_ms", "FCP ms"),
    figure("lcp_ms", "LCP ms"),
    words("lcp", "to first byte · load delay · load · render").spare(),
    figure("inp_ms", "INP ms"),
    words("inp", "delay · handling · presentation").spare(),
    figure("cls", "CLS"),
    words("shifts", ""),
    words("url", "page"),
    words("key", ""),
    words("soft", ""),
];

const NETWORK: &[Column] = &[
    figure("start_ms", "at ms"),
    figure("dur_ms", "ms"),
    figure("send_ms", "sent after").spare(),
    figure("first_byte_ms", "first byte after"),
    figure("finish_ms", "loaded after"),
    figure("transfer_bytes", "bytes"),
    words("priority", "priority").spare(),
    words("render_blocking", "blocking").spare(),
    words("resource", "type").spare(),
    words("url", "url"),
    figure("status", ""),
    words("protocol", ""),
    words("mime", ""),
    words("cache", ""),
    words("initiator", ""),
    figure("waiting_ms", ""),
    figure("server_ms", ""),
    figure("body_bytes", ""),
    words("initial_priority", ""),
    words("frame", ""),
    words("key", ""),
];

fn ms(us: f64) -> Cell {
    Cell::Ms(us / 1000.0)
}

fn some(us: Option<f64>) -> Cell {
    us.map_or(Cell::None, ms)
}

fn told<T>(told: &Told<T>, cell: impl Fn(&T) -> Cell) -> Cell {
    told.as_ref().map_or(Cell::None, cell)
}

fn optional(text: &Option<String>) -> Cell {
    text.as_ref().map_or(Cell::None, Cell::text)
}

/// Milliseconds of parts, one after the other.
fn parts(all: &[Option<f64>]) -> String {
    let shown =
        all.iter().map(|us| us.map_or("–".to_owned(), |us| format!("{:.0}", us / 1000.0)));
    shown.collect::<Vec<_>>().join(" · ")
}

fn largest(own: &LargestPaint) -> Cell {
    let (value, shown) = match &own.parts {
        Ok(parts_of) => {
            let (delay, load) = parts_of.load.unzip();
            let ms = |us: Option<f64>| us.map(|us| us / 1000.0);
            let value = json!({
                "ttfb_ms": parts_of.first_byte / 1000.0,
                "load_delay_ms": ms(delay),
                "load_ms": ms(load),
                "render_delay_ms": parts_of.render / 1000.0,
            });
            (value, parts(&[Some(parts_of.first_byte), delay, load, Some(parts_of.render)]))
        }
        Err(_) => (Value::Null, "–".to_owned()),
    };
    let why = own.parts.as_ref().err();
    let value = json!({"key": own.key, "request": own.request, "parts": value, "why": why});
    Cell::Json(value, shown)
}

fn interaction(own: &Interaction) -> Value {
    json!({
        "type": own.kind,
        "id": own.id,
        "key": own.key,
        "start_us": own.ts,
        "dur_ms": own.dur / 1000.0,
        "delay_ms": own.delay() / 1000.0,
        "handling_ms": own.handling() / 1000.0,
        "presentation_ms": own.presentation() / 1000.0,
    })
}

fn interactions((longest, p98): &(Interaction, Interaction)) -> Cell {
    let shown = [longest.delay(), longest.handling(), longest.presentation()].map(Some);
    let value = json!({"longest": interaction(longest), "p98": interaction(p98)});
    Cell::Json(value, format!("{} ({})", parts(&shown), longest.kind))
}

impl ReportInputs<'_> {
    /// What users wait for.
    pub(super) fn web(&self) -> Option<Section> {
        let mut section = Section::new("web", WEB);
        let visits = match self.report.visits.as_ref()? {
            Ok(visits) => visits,
            Err(why) => {
                section.why = Some((*why).to_owned());
                return Some(section);
            }
        };
        let navigations = visits.iter().filter(|own| own.key.is_some()).count();
        let soft = visits.iter().filter(|own| own.is_soft).count();
        let of_these = if soft > 0 { format!(", {soft} of them soft") } else { String::new() };
        let all = plural(navigations as u64, "navigation");
        section.head = format!("{all} of the main frame{of_these}");
        section.figures = vec![
            ("navigations", Cell::Count(navigations as u64)),
            ("soft_navigations", Cell::Count(soft as u64)),
        ];
        if navigations == 0 {
            section.why = Some("navigationStart is missing".to_owned());
        }
        visits.iter().take(self.rows).for_each(|own| self.push_visit(&mut section, own));
        Some(section)
    }

    fn push_visit(&self, section: &mut Section, own: &Visit) {
        let shifts = own.shifts.as_ref().map_or(Cell::None, |shifts| {
            let value = json!({
                "start_us": shifts.ts,
                "dur_ms": shifts.dur / 1000.0,
                "count": shifts.count,
                "worst": shifts.worst,
            });
            Cell::Json(value, String::new())
        });
        let url = match own.url.as_str() {
            "" => Cell::None,
            url if own.is_soft => Cell::Json(json!(url), format!("{url} (soft)")),
            url => Cell::text(url),
        };
        let cells = vec![
            ms(own.bounds.0 - self.trace.bounds.0),
            told(&own.fcp, |us| ms(*us)),
            told(&own.lcp, |own| ms(own.time)),
            told(&own.lcp, largest),
            told(&own.inp, |own| ms(own.0.dur)),
            told(&own.inp, interactions),
            Cell::Json(json!(own.cls()), format!("{:.3}", own.cls())),
            shifts,
            url,
            optional(&own.key),
            Cell::Json(json!(own.is_soft), String::new()),
        ];
        // what keeps a page from painting or answering
        let window = Window { from: own.bounds.0 / 1000.0, to: own.bounds.1 / 1000.0 };
        let next = self.next.of_window(&["report"], window);
        section.push(cells, next);
    }

    /// The slowest requests.
    pub(super) fn network(&self) -> Option<Section> {
        let all = &self.report.requests;
        if all.is_empty() {
            return None;
        }
        let mut section = Section::new("network", NETWORK);
        let bytes: f64 = all.iter().filter_map(|own| own.transfer).sum();
        let blocking = all.iter().filter(|own| own.render_blocking == "blocking").count() as u64;
        section.head = format!(
            "{}, {} over the network, {} render-blocking; the slowest",
            plural(all.len() as u64, "request"),
            plural(bytes as u64, "byte"),
            tracemill_pipeline::grouped(blocking)
        );
        section.figures = vec![
            ("requests", Cell::Count(all.len() as u64)),
            ("transfer_bytes", Cell::Number(bytes)),
            ("blocking", Cell::Count(blocking)),
        ];
        let mut order: Vec<&Request> = all.iter().collect();
        order.sort_by(|a, b| b.duration().total_cmp(&a.duration()));
        order.into_iter().take(self.rows).for_each(|own| self.push_request(&mut section, own));
        Some(section)
    }

    fn push_request(&self, section: &mut Section, own: &Request) {
        let after = |us: f64| ms(us - own.start);
        let bytes = |bytes: Option<f64>| bytes.map_or(Cell::None, |own| Cell::Count(own as u64));
        let cells = vec![
            ms(own.start - self.trace.bounds.0),
            ms(own.duration()),
            after(own.send),
            own.first_byte.map_or(Cell::None, after),
            after(own.finish),
            bytes(own.transfer),
            optional(&own.priority),
            Cell::text(&own.render_blocking),
            Cell::text(&own.resource),
            Cell::text(&own.url),
            Cell::Number(own.status),
            Cell::text(&own.protocol),
            Cell::text(&own.mime),
            own.cache.map_or(Cell::None, Cell::text),
            optional(&own.initiator),
            some(own.waiting),
            some(own.server),
            bytes(own.body),
            optional(&own.initial_priority),
            optional(&own.frame),
            Cell::text(&own.key),
        ];
        let window = Window { from: own.start / 1000.0, to: own.end / 1000.0 };
        section.push(cells, self.next.of_time(&["filter", "--name", "^Resource"], window));
    }
}
