//! Limits of `diff` on the changes of rows and figures.

use super::gate::{Figure, GateValue, Sign, Term, Terms};
use tracemill_report::Certainty;
use tracemill_report::Comparison;
use tracemill_report::Pair;

/// A limit of `diff`. It is broken if all its conditions hold for the same row.
#[derive(Clone, Debug)]
pub(crate) struct DiffGate(Terms);

impl std::str::FromStr for DiffGate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Terms::parse(text, true).map(DiffGate)
    }
}

fn exceeds(term: &Term, pair: Pair) -> bool {
    let (change, limit) = match term.value {
        GateValue::Percent(percent) => (pair.percent(), percent),
        GateValue::Plain(value) => (pair.change(), value),
    };
    match term.sign {
        Sign::Above => change > limit,
        Sign::Below => change < -limit,
    }
}

impl DiffGate {
    /// Returns the figures of reports to which the limit refers.
    pub(crate) fn figures(&self) -> impl Iterator<Item = Figure> + '_ {
        let metrics = self.0.all.iter().map(|term| term.metric);
        metrics.filter(|metric| !metric.is_of_rows() && *metric != Figure::Busy)
    }

    /// Returns a message if the limit is broken.
    ///
    /// A change breaks the limit if it is significant or cannot be tested; with `any`, every change
    /// can. A missing row breaks the limit too, and so does a side without rows. `figure` returns
    /// the values of a figure on both sides, or the reason why it is missing.
    pub(crate) fn broken(
        &self,
        comparison: &Comparison,
        any: bool,
        figure: impl Fn(Figure) -> Result<Pair, String>,
    ) -> Option<String> {
        if comparison.has_empty_side() {
            return Some(self.0.of_nothing());
        }
        let message = |term: &Term, name: Option<&str>, pair: Pair| {
            let is_broken = exceeds(term, pair) && (any || pair.certainty != Certainty::Chance);
            is_broken.then(|| term.message(name, &values(term, pair)) + doubt(pair, any))
        };
        match self.0.all[0].metric.is_of_rows() {
            true => self.0.of_rows(
                comparison.rows.iter(),
                |row| [&row.name, &row.trace_name],
                |term, row| {
                    let pair = match term.metric {
                        Figure::Total => row.total,
                        Figure::Count => row.count,
                        _ => row.own,
                    };
                    message(term, Some(&row.name), pair)
                },
            ),
            false => self.0.of_whole(|term| match term.metric {
                Figure::Busy => Ok(message(term, None, comparison.busy)),
                metric => Ok(message(term, None, figure(metric)?)),
            }),
        }
    }
}

/// Returns the end of a message about a change that cannot be tested. Returns an empty text for
/// other changes.
fn doubt(pair: Pair, any: bool) -> &'static str {
    match pair.certainty {
        Certainty::Unknown if !any => {
            "; no test tells it from chance, which takes four runs per side"
        }
        _ => "",
    }
}

fn values(term: &Term, pair: Pair) -> String {
    let percent = match pair.percent() {
        percent if percent.is_finite() => format!(" ({percent:+.1} %)"),
        _ => String::new(),
    };
    format!("{}{percent}", term.values(&[pair.base, pair.new]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_analysis::TreeRow;
    use tracemill_report::CompareRules;
    use tracemill_report::Run;
    use tracemill_report::compare_runs;

    #[test]
    fn limits_are_parsed() {
        let of = |text: &str| text.parse::<DiffGate>().map(|gate| gate.0.all);
        let terms = of("self>5%&self>2ms").expect("sound");
        assert_eq!((terms[0].metric, terms[0].value), (Figure::Own, GateValue::Percent(5.0)));
        assert_eq!(terms[1].value, GateValue::Plain(2.0));
        let terms = of("total:^run$>1.5s").expect("sound");
        let pair = |base, new| Pair { base, new, ..Pair::default() };
        assert!(exceeds(&terms[0], pair(1000.0, 2600.0)));
        assert!(!exceeds(&terms[0], pair(1000.0, 2400.0)));
        let terms = of("gpu.overlap<10%").expect("sound");
        assert!(exceeds(&terms[0], pair(60.0, 50.0)));
        assert!(!exceeds(&terms[0], pair(60.0, 55.0)));
        assert!(!exceeds(&terms[0], pair(60.0, 90.0)));
        assert_eq!(of("count>10").expect("sound")[0].value, GateValue::Plain(10.0));
        for wrong in [
            "self",
            "self>",
            "self>5",
            "speed>5%",
            "busy:x>5%",
            "busy>1%&self>1%",
            "self:[>1%",
            "lcp>5",
            "cls>5ms",
            "lcp>1%&self>1%",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_on_runs_depend_on_the_certainty() {
        let row = TreeRow { own: 1.0, total: 1.0, count: 1, ..TreeRow::default() };
        let run = || [Run::new(1.0, [&row], true)];
        let comparison = compare_runs(&run(), &run(), &CompareRules::default());
        let broken = |gate: &str, any, certainty| {
            let figure = |figure| match figure {
                Figure::Lcp => Ok(Pair { base: 1000.0, new: 1200.0, certainty, ..Pair::default() }),
                _ => Err("there is none".to_owned()),
            };
            let gate: DiffGate = gate.parse().expect("sound");
            gate.broken(&comparison, any, figure).unwrap_or_default()
        };
        let expected = "lcp 1000.00 -> 1200.00 ms (+20.0 %), limit 10 %";
        assert_eq!(broken("lcp>10%", false, Certainty::Change), expected);
        assert_eq!(broken("lcp>10%", true, Certainty::Unknown), expected);
        let unsure = broken("lcp>10%", false, Certainty::Unknown);
        assert_eq!(
            unsure,
            format!("{expected}; no test tells it from chance, which takes four runs per side")
        );
        assert_eq!(broken("lcp>10%", false, Certainty::Chance), "");
        assert_eq!(broken("lcp>0.3s", true, Certainty::Unknown), "");
        assert_eq!(broken("inp>1%", false, Certainty::Unknown), "inp: unknown: there is none");
        let none = compare_runs(&run(), &[Run::default()], &CompareRules::default());
        let gate: DiffGate = "busy>1%".parse().expect("sound");
        let text = gate.broken(&none, true, |_| Err(String::new()));
        assert_eq!(text.as_deref(), Some("busy>1%: no thread has an event in the window"));
    }

    #[test]
    fn new_rows_exceed_any_percentage() {
        let term = &"self>1000%".parse::<DiffGate>().expect("sound").0.all[0];
        assert!(exceeds(term, Pair { base: 0.0, new: 0.1, ..Pair::default() }));
        assert!(!exceeds(term, Pair::default()));
    }
}
