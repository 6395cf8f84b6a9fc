//! Limits that may not be broken, as `diff` and `report` have them: `self>5%&self>2ms`, `total:^run$>10%`, `lcp>2.5s`.

use std::fmt;
use tracemill_pipeline::Pattern;

/// What the values of a metric are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Times: a limit has a unit.
    Time,
    /// Numbers.
    Count,
}

/// What can be limited.
pub(crate) trait Metric: Copy + fmt::Debug + 'static {
    /// Of each its name, itself, its unit, and whether a pattern may choose rows.
    const ALL: &'static [(&'static str, Self, Unit, bool)];
    /// Whether a limit may be a share of a base.
    const HAS_BASE: bool;
    /// An example, for what is wrong.
    const EXAMPLE: &'static str;
}

/// On which side of a limit it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// `>`: what is more breaks it; of a change, what grows by more.
    Above,
    /// `<`: what is less; of a change, what falls by more.
    Below,
}

/// A limit, or the part of one that stands between `&`.
#[derive(Clone, Debug)]
pub(crate) struct Term<M> {
    pub(crate) metric: M,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) sign: Sign,
    pub(crate) value: Value,
}

/// What may not be exceeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// Of the base.
    Percent(f64),
    /// Milliseconds, or events.
    Plain(f64),
}

/// Terms that must all be so of one row.
#[derive(Clone, Debug)]
pub(crate) struct Terms<M> {
    pub(crate) text: String,
    pub(crate) all: Vec<Term<M>>,
}

impl<M: Metric> std::str::FromStr for Terms<M> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = text.split('&').map(term).collect::<Result<_, _>>()?;
        Ok(Terms { text: text.to_owned(), all })
    }
}

fn term<M: Metric>(text: &str) -> Result<Term<M>, String> {
    let expected = || {
        let names: Vec<&str> = M::ALL.iter().map(|own| own.0).collect();
        let (last, others) = names.split_last().expect("metrics");
        format!(
            "expected METRIC[:PATTERN]>VALUE, or < for what must not fall, with {} or {last}, such as {}: {text}",
            others.join(", "),
            M::EXAMPLE
        )
    };
    let (head, value) = text.rsplit_once(['>', '<']).ok_or_else(expected)?;
    let sign = if text[head.len()..].starts_with('<') { Sign::Below } else { Sign::Above };
    let (name, pattern) = match head.split_once(':') {
        Some((name, pattern)) => (name, Some(pattern.parse::<Pattern>()?)),
        None => (head, None),
    };
    let known = M::ALL.iter().find(|own| own.0 == name.trim() && (own.3 || pattern.is_none()));
    let &(_, metric, unit, _) = known.ok_or_else(expected)?;
    let value = value.trim();
    let number = |text: &str| text.parse::<f64>().ok().filter(|own| own.is_finite() && *own >= 0.0);
    if value.ends_with('%') && !M::HAS_BASE {
        let example = M::EXAMPLE;
        return Err(format!(
            "a share is of a base, which only diff has; expected a value such as {example}: {text}"
        ));
    }
    let value = match (value.strip_suffix('%'), unit) {
        (Some(percent), _) => Value::Percent(number(percent).ok_or_else(expected)?),
        (None, Unit::Count) => Value::Plain(number(value).ok_or_else(expected)?),
        (None, Unit::Time) => {
            let nanos = tracemill_pipeline::parse_time(value).ok().filter(|_| value.ends_with('s'));
            let nanos = nanos.ok_or_else(|| match number(value) {
                Some(_) => format!("expected a time with its unit, such as {value}ms: {text}"),
                None => expected(),
            });
            Value::Plain(nanos? as f64 / 1e6)
        }
    };
    Ok(Term { metric, pattern, sign, value })
}

impl<M> Term<M> {
    /// Whether a row of a name is meant.
    pub(crate) fn means(&self, name: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(name))
    }
}
