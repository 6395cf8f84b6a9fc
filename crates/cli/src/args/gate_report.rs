//! Limits of `report` on values of a trace.

use super::gate::{Figure, GateValue, Sign, Term, Terms};

/// A limit of `report`. It is broken if all its conditions hold for the same row, or for the
/// report.
#[derive(Clone, Debug)]
pub(crate) struct ReportGate(Terms);

impl std::str::FromStr for ReportGate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Terms::parse(text, false).map(ReportGate)
    }
}

/// A row of functions or events. Its times are in milliseconds.
pub(crate) struct ReportRow {
    pub(crate) name: String,
    pub(crate) trace_name: String,
    pub(crate) self_ms: f64,
    pub(crate) total: f64,
    pub(crate) count: u64,
}

impl ReportRow {
    fn value(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Total => self.total,
            Figure::Count => self.count as f64,
            _ => self.self_ms,
        }
    }
}

fn exceeds(term: &Term, value: f64) -> bool {
    match (term.value, term.sign) {
        (GateValue::Plain(most), Sign::Above) => value > most,
        (GateValue::Plain(least), Sign::Below) => value < least,
        (GateValue::Percent(_), _) => false,
    }
}

impl ReportGate {
    /// Returns a message if the limit is broken.
    ///
    /// A row or figures of the report can break the limit. So do a missing row, a figure that
    /// cannot be computed, and a window without rows (`is_empty`).
    pub(crate) fn broken(
        &self,
        rows: impl Iterator<Item = ReportRow>,
        is_empty: bool,
        figure: impl Fn(Figure) -> Result<f64, String>,
    ) -> Option<String> {
        if is_empty {
            return Some(self.0.of_nothing());
        }
        let message = |term: &Term, name: Option<&str>, value: f64| {
            exceeds(term, value).then(|| term.message(name, &term.values(&[value])))
        };
        match self.0.all.first()?.metric.is_of_rows() {
            true => self.0.of_rows(
                rows,
                |row| [&row.name, &row.trace_name],
                |term, row| message(term, Some(&row.name), row.value(term.metric)),
            ),
            false => self.0.of_whole(|term| Ok(message(term, None, figure(term.metric)?))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(gate: &str) -> Option<String> {
        let rows = [
            ("run", "", 5.0, 90.0, 7),
            ("alloc", "", 60.0, 60.0, 2),
            ("Function call", "FunctionCall", 1.0, 2.0, 3),
        ];
        let rows = rows.map(|(name, trace_name, self_ms, total, count)| ReportRow {
            name: name.to_owned(),
            trace_name: trace_name.to_owned(),
            self_ms,
            total,
            count,
        });
        let figure = |figure| match figure {
            Figure::Blocking => Ok(120.0),
            Figure::Tasks => Ok(3.0),
            Figure::GpuOverlap => Ok(40.5),
            _ => Err("there is none".to_owned()),
        };
        gate.parse::<ReportGate>().expect("sound").broken(rows.into_iter(), false, figure)
    }

    #[test]
    fn limits_apply_to_one_row_or_the_report() {
        for (gate, expected) in [
            ("self>50ms", Some("self of alloc 60.00 ms, limit 50 ms")),
            ("self:^run$>50ms", None),
            (
                "total>50ms&count>5",
                Some("total of run 90.00 ms, limit 50 ms; count of run 7, limit 5"),
            ),
            ("count>5", Some("count of run 7, limit 5")),
            ("blocking>0.1s&tasks>2", Some("blocking 120.00 ms, limit 100 ms; tasks 3, limit 2")),
            ("blocking>0.1s&tasks>3", None),
            ("gpu.overlap<50", Some("gpu.overlap 40.50, lower limit 50")),
            ("gpu.overlap<40", None),
            ("blocks>0", Some("blocks: unknown: there is none")),
        ] {
            assert_eq!(broken(gate).as_deref(), expected, "{gate}");
        }
    }

    #[test]
    fn limits_on_missing_rows_are_broken() {
        for name in ["^FunctionCall$", "^Function call$"] {
            assert_eq!(broken(&format!("self:{name}>1s")), None, "{name}");
        }
        for (gate, expected) in [
            (
                "self:nosuch>1s",
                "self:nosuch>1s: no row has this name (the trace has run, alloc, Function call, FunctionCall)",
            ),
            ("self:^functioncal$>1s", "did you mean FunctionCall?"),
            ("count:^aloc$<1", "did you mean alloc?"),
        ] {
            let text = broken(gate).expect("it is missing");
            assert!(text.contains(expected), "{gate}: {text}");
        }
        let gate: ReportGate = "busy>1ms".parse().expect("sound");
        let text = gate.broken([].into_iter(), true, |_| Ok(0.0));
        assert_eq!(text.as_deref(), Some("busy>1ms: no thread has an event in the window"));
    }

    #[test]
    fn meaningless_limits_are_refused() {
        for wrong in
            ["self>5%", "tasks>50ms", "blocking>5", "tasks:x>1", "self>1ms&tasks>1", "lcp", "lcp>2"]
        {
            assert!(wrong.parse::<ReportGate>().is_err(), "{wrong}");
        }
    }
}
