//! Limits of `diff`: on what a row has become.

use super::gate::{Figure, Sign, Term, Terms, Unit, Value};
use tracemill_analysis::{Comparison, Difference, Judged, Pair};

/// Terms that must all be so of one row.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Terms);

/// What a limit comes to.
pub(crate) enum Outcome {
    /// It is broken, or cannot be told.
    Broken(String),
    /// It would be broken, but there are too few runs to tell chance from change.
    Unsure(String),
}

impl std::str::FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Terms::parse(text, true).map(Gate)
    }
}

fn is_broken(term: &Term, name: &str, pair: Pair) -> bool {
    let (change, limit) = match term.value {
        Value::Percent(percent) => (pair.percent(), percent),
        Value::Plain(value) => (pair.change(), value),
    };
    term.means(name)
        && match term.sign {
            Sign::Above => change > limit,
            Sign::Below => change < -limit,
        }
}

impl Gate {
    /// The figures of reports that it is of.
    pub(crate) fn figures(&self) -> impl Iterator<Item = Figure> + '_ {
        let metrics = self.0.all.iter().map(|term| term.metric);
        metrics.filter(|own| !own.is_of_rows() && *own != Figure::Busy)
    }

    /// What it comes to, said in a line; `any` counts what may be chance too. `figure` tells both sides of a figure, or why it cannot.
    pub(crate) fn outcome(
        &self,
        comparison: &Comparison,
        any: bool,
        figure: impl Fn(Figure) -> Result<(Pair, Option<Judged>), String>,
    ) -> Option<Outcome> {
        let Terms { text, all } = &self.0;
        if !all[0].metric.is_of_rows() {
            let change = |metric| match metric {
                Figure::Busy => Ok((comparison.busy, comparison.busy_judged)),
                own => figure(own),
            };
            return of_runs(&self.0, any, change);
        }
        let breaks = |row: &&Difference| {
            (any || row.significant)
                && all.iter().all(|term| is_broken(term, &row.name, pair(row, term.metric)))
        };
        let row = comparison.rows.iter().find(breaks)?;
        let metric = all[0].metric;
        let unit = if metric == Figure::Count { " events" } else { " ms" };
        let said = told(&row.name, pair(row, metric), unit);
        Some(Outcome::Broken(format!("{text}: {said}")))
    }
}

/// What a limit on whole runs comes to.
fn of_runs(
    Terms { text, all }: &Terms,
    any: bool,
    change: impl Fn(Figure) -> Result<(Pair, Option<Judged>), String>,
) -> Option<Outcome> {
    let (mut said, mut is_sure) = (Vec::new(), true);
    for term in all {
        let (pair, judged) = match change(term.metric) {
            Ok(change) => change,
            Err(why) => {
                said.push(format!("cannot tell: {why}"));
                continue;
            }
        };
        let is_chance = judged.is_some_and(|judged| judged.p > 0.05);
        if !is_broken(term, "", pair) || is_chance && !any {
            return None;
        }
        is_sure &= any || judged.is_some();
        let (name, unit) = term.metric.named();
        let unit = if unit == Unit::Time { " ms" } else { "" };
        said.push(told(&format!("{name} of the whole run"), pair, unit));
    }
    let said = format!("{text}: {}", said.join("; "));
    Some(if is_sure { Outcome::Broken(said) } else { Outcome::Unsure(said) })
}

fn pair(row: &Difference, metric: Figure) -> Pair {
    match metric {
        Figure::Total => row.total,
        Figure::Count => row.count,
        _ => row.own,
    }
}

fn told(name: &str, pair: Pair, unit: &str) -> String {
    let percent = match pair.percent() {
        percent if percent.is_finite() => format!(" ({percent:+.1} %)"),
        _ => String::new(),
    };
    format!("{name} went from {:.2} to {:.2}{unit}{percent}", pair.base, pair.new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let of = |text: &str| text.parse::<Gate>().map(|gate| gate.0.all);
        let terms = of("self>5%&self>2ms").expect("sound");
        assert_eq!((terms[0].metric, terms[0].value), (Figure::Own, Value::Percent(5.0)));
        assert_eq!(terms[1].value, Value::Plain(2.0));
        let terms = of("total:^run$>1.5s").expect("sound");
        assert!(is_broken(&terms[0], "run", Pair { base: 1000.0, new: 2600.0 }));
        assert!(!is_broken(&terms[0], "runs", Pair { base: 1000.0, new: 2600.0 }));
        assert!(!is_broken(&terms[0], "run", Pair { base: 1000.0, new: 2400.0 }));
        let terms = of("gpu.overlap<10%").expect("sound");
        assert!(is_broken(&terms[0], "", Pair { base: 60.0, new: 50.0 }));
        assert!(!is_broken(&terms[0], "", Pair { base: 60.0, new: 55.0 }));
        assert!(!is_broken(&terms[0], "", Pair { base: 60.0, new: 90.0 }));
        assert_eq!(of("count>10").expect("sound")[0].value, Value::Plain(10.0));
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
    fn limits_on_runs_are_sure_or_not_or_cannot_be_told() {
        let comparison = tracemill_analysis::compare_runs(&[], &[], &Default::default());
        let judged = |p| Some(Judged { p, shift: 0.0, interval: (0.0, 0.0) });
        let pair = Pair { base: 1000.0, new: 1200.0 };
        let outcome = |gate: &str, any, judged| {
            let figure = |figure| match figure {
                Figure::Lcp => Ok((pair, judged)),
                _ => Err("there is none".to_owned()),
            };
            match gate.parse::<Gate>().expect("sound").outcome(&comparison, any, figure) {
                Some(Outcome::Broken(text)) => format!("broken {text}"),
                Some(Outcome::Unsure(text)) => format!("unsure {text}"),
                None => String::new(),
            }
        };
        let said = "lcp>10%: lcp of the whole run went from 1000.00 to 1200.00 ms (+20.0 %)";
        assert_eq!(outcome("lcp>10%", false, judged(0.01)), format!("broken {said}"));
        assert_eq!(outcome("lcp>10%", true, None), format!("broken {said}"));
        assert_eq!(outcome("lcp>10%", false, None), format!("unsure {said}"));
        assert_eq!(outcome("lcp>10%", false, judged(0.2)), "");
        assert_eq!(outcome("lcp>0.3s", true, None), "");
        assert_eq!(outcome("inp>1%", false, None), "broken inp>1%: cannot tell: there is none");
    }

    #[test]
    fn what_is_new_is_more_than_any_percent() {
        let term = &"self>1000%".parse::<Gate>().expect("sound").0.all[0];
        assert!(is_broken(term, "x", Pair { base: 0.0, new: 0.1 }));
        assert!(!is_broken(term, "x", Pair::default()));
    }
}
