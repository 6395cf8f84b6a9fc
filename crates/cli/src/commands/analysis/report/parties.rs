//! The section about third parties.

use super::super::unit::time_text;
use super::section::{Cell, Columns, Section};
use super::sections::ReportInputs;
use serde_json::json;
use tracemill_analysis::Window;
use tracemill_report::Party;
use tracemill_report::Visit;
use tracemill_trace::run::words::{grouped, plural};

/// The work of a third party during one navigation.
struct PartyRow<'r> {
    visit: &'r Visit,
    party: &'r Party,
    /// Main-thread time of all parties during the navigation, in milliseconds.
    sum: f64,
}

impl ReportInputs<'_> {
    /// Returns the section with the work of each party, by navigation. Returns `None` if there is
    /// none.
    pub(super) fn parties(&self) -> Option<Section> {
        let visits = self.report.visits.as_ref()?.as_ref().ok()?;
        let all = || self.report.parties.iter().flatten();
        all().next()?;
        let rows = visits.iter().zip(&self.report.parties).flat_map(|(visit, parties)| {
            let sum: f64 = parties.iter().map(|party| party.own).sum();
            let mut order: Vec<&Party> = parties.iter().collect();
            order.sort_by(|a, b| b.own.total_cmp(&a.own));
            order.into_iter().take(self.rows).map(move |party| PartyRow { visit, party, sum })
        });
        let share =
            |row: &PartyRow<'_>| if row.sum > 0.0 { row.party.own / row.sum * 100.0 } else { 0.0 };
        let bytes = |row: &PartyRow<'_>| {
            Cell::Json(json!(row.party.bytes), grouped(row.party.bytes as u64))
        };
        let known = |row: &PartyRow<'_>| Cell::Json(json!(row.party.is_known), String::new());
        let columns = Columns::<PartyRow<'_>>::new()
            .ms("start_ms", "at ms", |row| self.after_start(row.visit.bounds.0 / 1000.0))
            .ms("self_ms", "main thread ms", |row| row.party.own)
            .percent("self_pct", "%", share)
            .figure("transfer_bytes", "bytes", bytes)
            .words("party", "party", |row| {
                Cell::text(if row.party.is_first { "1st" } else { "3rd" })
            })
            .words("name", "name", |row| Cell::text(&row.party.name))
            .words("known", "", known)
            .words("page", "page", |word| Cell::optional(Some(&word.visit.url)));
        let next = |row: &PartyRow<'_>| {
            let (from, to) = row.visit.bounds;
            let window = Window { from: from / 1000.0, to: to / 1000.0 };
            let words = ["tree", "--main", "--bottom-up", "--group-by", "third-party"];
            self.next.of_window(&words, window)
        };
        let third = || all().filter(|party| !party.is_first);
        let (ms, bytes) =
            third().fold((0.0, 0.0), |sum, party| (sum.0 + party.own, sum.1 + party.bytes));
        let by = match self.trace.entities.is_empty() {
            true => "; by root domain, --entities FILE knows companies",
            false => "",
        };
        let of = plural(bytes as u64, "byte");
        let parties = all().count() as u64;
        Some(Section::new("third-parties", columns, rows, next).of(parties).with(
            format!("of others than the page: {} of the main thread, {of}{by}", time_text(ms)),
            vec![
                ("third_parties", Cell::Count(third().count() as u64)),
                ("third_ms", Cell::Ms(ms)),
                ("third_bytes", Cell::Number(bytes)),
            ],
        ))
    }
}
