//! Builds the sections about pages: delays that users notice, and network requests.

use super::section::{Cell, Columns, Section};
use super::sections::ReportInputs;
use serde_json::{Value, json};
use tracemill_analysis::Window;
use tracemill_report::Interaction;
use tracemill_report::LargestPaint;
use tracemill_report::Metric;
use tracemill_report::Request;
use tracemill_report::Visit;
use tracemill_trace::run::words::{grouped, plural};

fn ms(us: f64) -> Cell {
    Cell::Ms(us / 1000.0)
}

fn metric_cell<T>(metric: &Metric<T>, cell: impl Fn(&T) -> Cell) -> Cell {
    metric.as_ref().map_or(Cell::None, cell)
}

/// Formats durations in milliseconds, with dots between them.
fn parts(all: &[Option<f64>]) -> String {
    let shown =
        all.iter().map(|us| us.map_or("–".to_owned(), |us| format!("{:.0}", us / 1000.0)));
    shown.collect::<Vec<_>>().join(" · ")
}

fn largest(largest_paint: &LargestPaint) -> Cell {
    let (value, shown) = match &largest_paint.parts {
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
    let why = largest_paint.parts.as_ref().err();
    let value = json!({"key": largest_paint.key, "request": largest_paint.request, "parts": value, "why": why});
    Cell::Json(value, shown)
}

fn interaction(interaction: &Interaction) -> Value {
    json!({
        "type": interaction.kind,
        "id": interaction.id,
        "key": interaction.key,
        "start_us": interaction.ts,
        "dur_ms": interaction.dur / 1000.0,
        "delay_ms": interaction.delay() / 1000.0,
        "handling_ms": interaction.handling() / 1000.0,
        "presentation_ms": interaction.presentation() / 1000.0,
    })
}

fn interactions(longest: &Interaction, p98: &Interaction) -> Cell {
    let shown = [longest.delay(), longest.handling(), longest.presentation()].map(Some);
    let value = json!({"longest": interaction(longest), "p98": interaction(p98)});
    Cell::Json(value, format!("{} ({})", parts(&shown), longest.kind))
}

fn shifts(visit: &&Visit) -> Cell {
    visit.shifts.as_ref().map_or(Cell::None, |shifts| {
        let value = json!({
            "start_us": shifts.ts,
            "dur_ms": shifts.dur / 1000.0,
            "count": shifts.count,
            "worst": shifts.worst,
        });
        Cell::Json(value, String::new())
    })
}

fn url(visit: &&Visit) -> Cell {
    match visit.url.as_str() {
        url if visit.is_soft && !url.is_empty() => Cell::Json(json!(url), format!("{url} (soft)")),
        url => Cell::optional(Some(url)),
    }
}

impl ReportInputs<'_> {
    /// Returns the section with the web metrics of each navigation.
    pub(super) fn web(&self) -> Option<Section> {
        let (visits, why) = match self.report.visits.as_ref()? {
            Ok(visits) => (&**visits, None),
            Err(why) => (&[][..], Some(*why)),
        };
        let columns = Columns::<&Visit>::new()
            .ms("start_ms", "at ms", |visit| self.after_start(visit.bounds.0 / 1000.0))
            .figure("fcp_ms", "FCP ms", |visit| metric_cell(&visit.fcp, |us| ms(*us)))
            .figure("lcp_ms", "LCP ms", |visit| metric_cell(&visit.lcp, |paint| ms(paint.time)))
            .words("lcp", "to first byte · load delay · load · render", |visit| {
                metric_cell(&visit.lcp, largest)
            })
            .spare()
            .figure("inp_ms", "INP ms", |visit| {
                metric_cell(&visit.inp, |slowest| ms(slowest.0.dur))
            })
            .words("inp", "delay · handling · presentation", |visit| {
                metric_cell(&visit.inp, |(longest, p98)| interactions(longest, p98))
            })
            .spare()
            .figure("cls", "CLS", |visit| {
                Cell::Json(json!(visit.cls()), format!("{:.3}", visit.cls()))
            })
            .words("shifts", "", shifts)
            .words("url", "page", url)
            .words("key", "", |visit| visit.key.as_ref().map_or(Cell::None, Cell::text))
            .words("soft", "", |word| Cell::Json(json!(word.is_soft), String::new()));
        let next = |visit: &&Visit| {
            let window = Window { from: visit.bounds.0 / 1000.0, to: visit.bounds.1 / 1000.0 };
            self.next.of_window(&["report"], window)
        };
        let mut section = Section::new("web", columns, visits.iter().take(self.rows), next);
        section = section.of(visits.len() as u64);
        section.why = why.map(str::to_owned);
        if why.is_some() {
            return Some(section);
        }
        let navigations = visits.iter().filter(|visit| visit.key.is_some()).count();
        let soft = visits.iter().filter(|visit| visit.is_soft).count();
        if navigations == 0 {
            section.why = Some("navigationStart is missing".to_owned());
        }
        let of_these = if soft > 0 { format!(", {soft} of them soft") } else { String::new() };
        let all = plural(navigations as u64, "navigation");
        let figures = vec![
            ("navigations", Cell::Count(navigations as u64)),
            ("soft_navigations", Cell::Count(soft as u64)),
        ];
        Some(section.with(format!("{all} of the main frame{of_these}"), figures))
    }

    pub(super) fn network(&self) -> Option<Section> {
        let all = &self.report.requests;
        if all.is_empty() {
            return None;
        }
        let bytes = |bytes: Option<f64>| bytes.map_or(Cell::None, |byte| Cell::Count(byte as u64));
        let some = |us: Option<f64>| us.map_or(Cell::None, ms);
        let text = |text: &Option<String>| text.as_ref().map_or(Cell::None, Cell::text);
        let after = |us: f64, request: &Request| ms(us - request.start);
        let columns = Columns::<&Request>::new()
            .ms("start_ms", "at ms", |request| self.after_start(request.start / 1000.0))
            .figure("dur_ms", "ms", |request| ms(request.duration()))
            .figure("send_ms", "sent after", |request| after(request.send, request))
            .spare()
            .figure("first_byte_ms", "first byte after", |request| {
                request.first_byte.map_or(Cell::None, |us| after(us, request))
            })
            .figure("finish_ms", "loaded after", |request| after(request.finish, request))
            .figure("transfer_bytes", "bytes", |request| bytes(request.transfer))
            .words("priority", "priority", |request| text(&request.priority))
            .spare()
            .words("render_blocking", "blocking", |request| Cell::text(&request.render_blocking))
            .spare()
            .words("resource", "type", |request| Cell::text(&request.resource))
            .spare()
            .words("url", "url", |request| Cell::text(&request.url))
            .cause("started_by", "started by", |request| request.started_by.as_ref())
            .figure("status", "", |request| Cell::Number(request.status))
            .words("protocol", "", |request| Cell::text(&request.protocol))
            .words("mime", "", |request| Cell::text(&request.mime))
            .words("cache", "", |request| request.cache.map_or(Cell::None, Cell::text))
            .words("initiator", "", |request| text(&request.initiator))
            .figure("waiting_ms", "", |request| some(request.waiting))
            .figure("server_ms", "", |request| some(request.server))
            .figure("body_bytes", "", |request| bytes(request.body))
            .words("initial_priority", "", |request| text(&request.initial_priority))
            .words("frame", "", |request| text(&request.frame))
            .words("key", "", |word| Cell::text(&word.key));
        let mut rows: Vec<&Request> = all.iter().collect();
        rows.sort_by(|a, b| b.duration().total_cmp(&a.duration()));
        rows.truncate(self.rows);
        let next = |request: &&Request| self.next.of_inputs(&["show", "--event", &request.key]);
        let transfer: f64 = all.iter().filter_map(|request| request.transfer).sum();
        let blocking =
            all.iter().filter(|request| request.render_blocking == "blocking").count() as u64;
        let head = format!(
            "{}, {} over the network, {} render-blocking; the slowest",
            plural(all.len() as u64, "request"),
            plural(transfer as u64, "byte"),
            grouped(blocking)
        );
        let figures = vec![
            ("requests", Cell::Count(all.len() as u64)),
            ("transfer_bytes", Cell::Number(transfer)),
            ("blocking", Cell::Count(blocking)),
        ];
        Some(Section::new("network", columns, rows, next).of(all.len() as u64).with(head, figures))
    }
}
