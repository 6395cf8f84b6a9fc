//! Limits of `diff`: on what a row has become.

use super::gate::{Metric, Term, Terms, Unit, Value};
use tracemill_analysis::{Comparison, Difference, Pair};

/// Terms that must all be so of one row.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Terms<Changed>);

/// What of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    Own,
    Total,
    Count,
    Busy,
}

impl Metric for Changed {
    const ALL: &'static [(&'static str, Self, Unit, bool)] = &[
        ("self", Changed::Own, Unit::Time, true),
        ("total", Changed::Total, Unit::Time, true),
        ("count", Changed::Count, Unit::Count, true),
        ("busy", Changed::Busy, Unit::Time, false),
    ];
    const HAS_BASE: bool = true;
    const EXAMPLE: &'static str = "self>5% or total:^run$>2ms";
}

impl std::str::FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let terms: Terms<Changed> = text.parse()?;
        let whole = terms.all.iter().filter(|term| term.metric == Changed::Busy).count();
        if whole > 0 && whole < terms.all.len() {
            return Err("busy is of the whole run: it has a --fail-on of its own".to_owned());
        }
        Ok(Gate(terms))
    }
}

fn is_broken(term: &Term<Changed>, name: &str, pair: Pair) -> bool {
    term.means(name)
        && match term.value {
            Value::Percent(percent) => pair.percent() > percent,
            Value::Plain(value) => pair.change() > value,
        }
}

impl Gate {
    /// What breaks it, said in a line; `any` counts what may be chance too.
    pub(crate) fn broken(&self, comparison: &Comparison, any: bool) -> Option<String> {
        let Terms { text, all } = &self.0;
        if all.iter().all(|term| term.metric == Changed::Busy) {
            let sure = any || comparison.busy_judged.is_some_and(|judged| judged.p <= 0.05);
            let broken = all.iter().all(|term| is_broken(term, "", comparison.busy));
            return (sure && broken)
                .then(|| told(text, "the whole run", comparison.busy, " ms busy"));
        }
        let breaks = |row: &&Difference| {
            (any || row.significant)
                && all.iter().all(|term| is_broken(term, &row.name, pair(row, term.metric)))
        };
        let row = comparison.rows.iter().find(breaks)?;
        let metric = all[0].metric;
        let unit = if metric == Changed::Count { " events" } else { " ms" };
        Some(told(text, &row.name, pair(row, metric), unit))
    }
}

fn pair(row: &Difference, metric: Changed) -> Pair {
    match metric {
        Changed::Total => row.total,
        Changed::Count => row.count,
        Changed::Own | Changed::Busy => row.own,
    }
}

fn told(gate: &str, name: &str, pair: Pair, unit: &str) -> String {
    let percent = match pair.percent() {
        percent if percent.is_finite() => format!(" ({percent:+.1} %)"),
        _ => String::new(),
    };
    format!("{gate}: {name} went from {:.2} to {:.2}{unit}{percent}", pair.base, pair.new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let of = |text: &str| text.parse::<Gate>().map(|gate| gate.0.all);
        let terms = of("self>5%&self>2ms").expect("sound");
        assert_eq!((terms[0].metric, terms[0].value), (Changed::Own, Value::Percent(5.0)));
        assert_eq!(terms[1].value, Value::Plain(2.0));
        let terms = of("total:^run$>1.5s").expect("sound");
        assert!(is_broken(&terms[0], "run", Pair { base: 1000.0, new: 2600.0 }));
        assert!(!is_broken(&terms[0], "runs", Pair { base: 1000.0, new: 2600.0 }));
        assert!(!is_broken(&terms[0], "run", Pair { base: 1000.0, new: 2400.0 }));
        assert_eq!(of("count>10").expect("sound")[0].value, Value::Plain(10.0));
        for wrong in
            ["self", "self>", "self>5", "speed>5%", "busy:x>5%", "busy>1%&self>1%", "self:[>1%"]
        {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_new_is_more_than_any_percent() {
        let term = &"self>1000%".parse::<Gate>().expect("sound").0.all[0];
        assert!(is_broken(term, "x", Pair { base: 0.0, new: 0.1 }));
        assert!(!is_broken(term, "x", Pair::default()));
    }
}
