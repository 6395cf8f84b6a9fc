//! The section of whom pages work for.

use super::section::{Cell, Column, Section, figure, words};
use super::sections::ReportInputs;
use serde_json::json;
use tracemill_analysis::{Party, Window};
use tracemill_pipeline::{grouped, plural};

const PARTIES: &[Column] = &[
    figure("start_ms", "at ms"),
    figure("self_ms", "main thread ms"),
    figure("self_pct", "%"),
    figure("transfer_bytes", "bytes"),
    words("party", "party"),
    words("name", "name"),
    words("known", ""),
    words("page", "page"),
];

impl ReportInputs<'_> {
    /// Whom pages work for, by navigation; nothing if none works for anybody.
    pub(super) fn parties(&self) -> Option<Section> {
        let visits = self.report.visits.as_ref()?.as_ref().ok()?;
        let all = || self.report.parties.iter().flatten();
        all().next()?;
        let mut section = Section::new("third-parties", PARTIES);
        let third = || all().filter(|own| !own.is_first);
        let (ms, bytes) = third().fold((0.0, 0.0), |sum, own| (sum.0 + own.own, sum.1 + own.bytes));
        section.head = format!(
            "of others than the page: {ms:.2} ms of the main thread, {}{}",
            plural(bytes as u64, "byte"),
            if self.trace.entities.is_empty() {
                "; by root domain, --entities FILE knows companies"
            } else {
                ""
            }
        );
        section.figures = vec![
            ("third_parties", Cell::Count(third().count() as u64)),
            ("third_ms", Cell::Ms(ms)),
            ("third_bytes", Cell::Number(bytes)),
        ];
        for (visit, parties) in visits.iter().zip(&self.report.parties) {
            let window = Window { from: visit.bounds.0 / 1000.0, to: visit.bounds.1 / 1000.0 };
            let sum: f64 = parties.iter().map(|own| own.own).sum();
            let mut order: Vec<&Party> = parties.iter().collect();
            order.sort_by(|a, b| b.own.total_cmp(&a.own));
            for own in order.into_iter().take(self.rows) {
                let cells = vec![
                    Cell::Ms((visit.bounds.0 - self.trace.bounds.0) / 1000.0),
                    Cell::Ms(own.own),
                    Cell::Percent(if sum > 0.0 { own.own / sum * 100.0 } else { 0.0 }),
                    Cell::Json(json!(own.bytes), grouped(own.bytes as u64)),
                    Cell::text(if own.is_first { "1st" } else { "3rd" }),
                    Cell::text(&own.name),
                    Cell::Json(serde_json::json!(own.is_known), String::new()),
                    if visit.url.is_empty() { Cell::None } else { Cell::text(&visit.url) },
                ];
                let words = ["tree", "--main", "--bottom-up", "--group-by", "third-party"];
                section.push(cells, self.next.of_window(&words, window));
            }
        }
        Some(section)
    }
}
