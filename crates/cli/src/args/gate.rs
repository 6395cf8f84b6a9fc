//! Limits that a comparison may not break: `self>5%&self>2ms`, `total:^run$>10%`, `busy>3%`.

use tracemill_analysis::{Comparison, Difference, Pair};
use tracemill_pipeline::Pattern;

/// Terms that must all be so of one row.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    text: String,
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
struct Term {
    metric: Metric,
    pattern: Option<Pattern>,
    value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    Own,
    Total,
    Count,
    Busy,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    /// Of the base.
    Percent(f64),
    /// Milliseconds, or events.
    Plain(f64),
}

impl std::str::FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let terms: Vec<Term> = text.split('&').map(term).collect::<Result<_, _>>()?;
        let whole = terms.iter().filter(|term| term.metric == Metric::Busy).count();
        if whole > 0 && whole < terms.len() {
            return Err("busy is of the whole run: it has a --fail-on of its own".to_owned());
        }
        Ok(Gate { text: text.to_owned(), terms })
    }
}

fn term(text: &str) -> Result<Term, String> {
    let expected = || {
        format!(
            "expected METRIC[:PATTERN]>VALUE with self, total, count or busy, such as self>5% or total:^run$>2ms: {text}"
        )
    };
    let (head, value) = text.rsplit_once('>').ok_or_else(expected)?;
    let (metric, pattern) = match head.split_once(':') {
        Some((metric, pattern)) => (metric, Some(pattern.parse::<Pattern>()?)),
        None => (head, None),
    };
    let metric = match metric.trim() {
        "self" => Metric::Own,
        "total" => Metric::Total,
        "count" => Metric::Count,
        "busy" if pattern.is_none() => Metric::Busy,
        _ => return Err(expected()),
    };
    let value = value.trim();
    let number = |text: &str| text.parse::<f64>().ok().filter(|own| own.is_finite() && *own >= 0.0);
    let value = match (value.strip_suffix('%'), metric) {
        (Some(percent), _) => Value::Percent(number(percent).ok_or_else(expected)?),
        (None, Metric::Count) => Value::Plain(number(value).ok_or_else(expected)?),
        (None, _) => {
            let has_unit = value.ends_with('s');
            let nanos = tracemill_pipeline::parse_time(value).ok().filter(|_| has_unit);
            Value::Plain(nanos.ok_or_else(expected)? as f64 / 1e6)
        }
    };
    Ok(Term { metric, pattern, value })
}

impl Term {
    fn is_broken(&self, name: &str, pair: Pair) -> bool {
        let is_meant = self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(name));
        is_meant
            && match self.value {
                Value::Percent(percent) => pair.percent() > percent,
                Value::Plain(value) => pair.change() > value,
            }
    }
}

impl Gate {
    /// What breaks it, said in a line; `any` counts what may be chance too.
    pub(crate) fn broken(&self, comparison: &Comparison, any: bool) -> Option<String> {
        if self.terms.iter().all(|term| term.metric == Metric::Busy) {
            let sure = any || comparison.busy_judged.is_some_and(|judged| judged.p <= 0.05);
            let broken = self.terms.iter().all(|term| term.is_broken("", comparison.busy));
            return (sure && broken)
                .then(|| told(&self.text, "the whole run", comparison.busy, " ms busy"));
        }
        let breaks = |row: &&Difference| {
            (any || row.significant)
                && self.terms.iter().all(|term| term.is_broken(&row.name, pair(row, term.metric)))
        };
        let row = comparison.rows.iter().find(breaks)?;
        let metric = self.terms[0].metric;
        let unit = if metric == Metric::Count { " events" } else { " ms" };
        Some(told(&self.text, &row.name, pair(row, metric), unit))
    }
}

fn pair(row: &Difference, metric: Metric) -> Pair {
    match metric {
        Metric::Total => row.total,
        Metric::Count => row.count,
        Metric::Own | Metric::Busy => row.own,
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
        let of = |text: &str| text.parse::<Gate>().map(|gate| gate.terms);
        let terms = of("self>5%&self>2ms").expect("sound");
        assert_eq!((terms[0].metric, terms[0].value), (Metric::Own, Value::Percent(5.0)));
        assert_eq!(terms[1].value, Value::Plain(2.0));
        let terms = of("total:^run$>1.5s").expect("sound");
        assert!(terms[0].is_broken("run", Pair { base: 1000.0, new: 2600.0 }));
        assert!(!terms[0].is_broken("runs", Pair { base: 1000.0, new: 2600.0 }));
        assert!(!terms[0].is_broken("run", Pair { base: 1000.0, new: 2400.0 }));
        assert_eq!(of("count>10").expect("sound")[0].value, Value::Plain(10.0));
        for wrong in
            ["self", "self>", "self>5", "speed>5%", "busy:x>5%", "busy>1%&self>1%", "self:[>1%"]
        {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_new_is_more_than_any_percent() {
        let term = &"self>1000%".parse::<Gate>().expect("sound").terms[0];
        assert!(term.is_broken("x", Pair { base: 0.0, new: 0.1 }));
        assert!(!term.is_broken("x", Pair::default()));
    }
}
