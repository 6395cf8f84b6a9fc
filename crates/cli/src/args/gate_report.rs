//! Limits of `report`: on what a trace is, whatever it was before.

use super::gate::{Figure, Sign, Term, Terms, Value};

/// Terms that must all be so, of one row or of the report.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Terms);

impl std::str::FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Terms::parse(text, false).map(Gate)
    }
}

/// A row: its name, self and total time in milliseconds, and how often.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) own: f64,
    pub(crate) total: f64,
    pub(crate) count: u64,
}

impl Row {
    fn value(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Total => self.total,
            Figure::Count => self.count as f64,
            _ => self.own,
        }
    }
}

impl Gate {
    /// What breaks it, said in a line: a row, or figures of the report. A figure is why it cannot be told if it cannot.
    pub(crate) fn broken(
        &self,
        mut rows: impl Iterator<Item = Row>,
        figure: impl Fn(Figure) -> Result<f64, String>,
    ) -> Option<String> {
        let Terms { text, all } = &self.0;
        let exceeds = |term: &Term, value: f64| match (term.value, term.sign) {
            (Value::Plain(most), Sign::Above) => value > most,
            (Value::Plain(least), Sign::Below) => value < least,
            (Value::Percent(_), _) => false,
        };
        let first = all.first()?.metric;
        if first.is_of_rows() {
            let breaks = |row: &Row| {
                all.iter()
                    .all(|term| term.means(&row.name) && exceeds(term, row.value(term.metric)))
            };
            let row = rows.find(breaks)?;
            let value = row.value(first);
            return Some(match first {
                Figure::Count => format!("{text}: {} has {value} events", row.name),
                _ => format!("{text}: {} takes {value:.2} ms", row.name),
            });
        }
        let mut told = Vec::new();
        for term in all {
            match figure(term.metric) {
                Ok(value) if exceeds(term, value) => told.push(format!("{value:.2}")),
                Ok(_) => return None,
                Err(why) => told.push(format!("cannot tell: {why}")),
            }
        }
        Some(format!("{text}: {}", told.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(gate: &str) -> Option<String> {
        let rows = [("run", 5.0, 90.0, 7), ("alloc", 60.0, 60.0, 2)];
        let rows =
            rows.map(|(name, own, total, count)| Row { name: name.to_owned(), own, total, count });
        let figure = |figure| match figure {
            Figure::Blocking => Ok(120.0),
            Figure::Tasks => Ok(3.0),
            Figure::GpuOverlap => Ok(40.0),
            _ => Err("there is none".to_owned()),
        };
        gate.parse::<Gate>().expect("sound").broken(rows.into_iter(), figure)
    }

    #[test]
    fn limits_are_of_one_row_or_of_the_report() {
        assert_eq!(broken("self>50ms").as_deref(), Some("self>50ms: alloc takes 60.00 ms"));
        assert_eq!(broken("self:^run$>50ms"), None);
        assert_eq!(
            broken("total>50ms&count>5").as_deref(),
            Some("total>50ms&count>5: run takes 90.00 ms")
        );
        assert_eq!(broken("count>5").as_deref(), Some("count>5: run has 7 events"));
        assert_eq!(
            broken("blocking>0.1s&tasks>2").as_deref(),
            Some("blocking>0.1s&tasks>2: 120.00, 3.00")
        );
        assert_eq!(broken("blocking>0.1s&tasks>3"), None);
        assert_eq!(broken("gpu.overlap<50").as_deref(), Some("gpu.overlap<50: 40.00"));
        assert_eq!(broken("gpu.overlap<40"), None);
        assert!(broken("blocks>0").is_some_and(|said| said.contains("cannot tell: there is none")));
    }

    #[test]
    fn limits_that_mean_nothing_are_refused() {
        for wrong in
            ["self>5%", "tasks>50ms", "blocking>5", "tasks:x>1", "self>1ms&tasks>1", "lcp", "lcp>2"]
        {
            assert!(wrong.parse::<Gate>().is_err(), "{wrong}");
        }
    }
}
