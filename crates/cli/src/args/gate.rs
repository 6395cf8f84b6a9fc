//! Limits that the flag `--fail-on` of `diff` and `report` sets: `self>5%&self>2ms`,
//! `total:^run$>10%`, `lcp>2.5s`.

use crate::text::similar::instead;
use tracemill_join::config::pattern::Pattern;

/// The unit of a figure, that is, of a number to which limits refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Time, which a limit states with a unit.
    Time,
    /// A number without a unit.
    Count,
}

/// A number to which a limit can refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    // figures of a row
    Own,
    Total,
    Count,
    // figures of the whole report
    Busy,
    Gc,
    Tasks,
    Blocking,
    LongestTask,
    Blocks,
    LongestBlock,
    Fcp,
    Lcp,
    Inp,
    Cls,
    Requests,
    // figures of devices
    GpuIdle,
    GpuOverlap,
}

/// The names and units of figures.
const FIGURES: [(&str, Figure, Unit); 17] = [
    ("self", Figure::Own, Unit::Time),
    ("total", Figure::Total, Unit::Time),
    ("count", Figure::Count, Unit::Count),
    ("busy", Figure::Busy, Unit::Time),
    ("gc", Figure::Gc, Unit::Time),
    ("tasks", Figure::Tasks, Unit::Count),
    ("blocking", Figure::Blocking, Unit::Time),
    ("longest-task", Figure::LongestTask, Unit::Time),
    ("blocks", Figure::Blocks, Unit::Count),
    ("longest-block", Figure::LongestBlock, Unit::Time),
    ("fcp", Figure::Fcp, Unit::Time),
    ("lcp", Figure::Lcp, Unit::Time),
    ("inp", Figure::Inp, Unit::Time),
    ("cls", Figure::Cls, Unit::Count),
    ("requests", Figure::Requests, Unit::Count),
    ("gpu.idle", Figure::GpuIdle, Unit::Time),
    ("gpu.overlap", Figure::GpuOverlap, Unit::Count),
];

impl Figure {
    pub(super) fn is_of_rows(self) -> bool {
        matches!(self, Figure::Own | Figure::Total | Figure::Count)
    }

    /// Returns the name of the figure in limits, and its unit.
    pub(super) fn named(self) -> (&'static str, Unit) {
        let found = FIGURES.iter().find(|row| row.1 == self);
        found.map_or(("", Unit::Count), |row| (row.0, row.2))
    }
}

/// Whether a limit is a maximum or a minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// `>`: the limit is broken if the value is greater, or grows by more.
    Above,
    /// `<`: the limit is broken if the value is less, or shrinks by more.
    Below,
}

/// A condition of a limit. In the text of a limit, `&` separates conditions.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) metric: Figure,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) sign: Sign,
    pub(crate) value: GateValue,
}

/// The number in a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GateValue {
    /// A change in percent of the base.
    Percent(f64),
    /// A value without percent: milliseconds, or a number.
    Plain(f64),
}

/// A limit. It is broken if all its conditions hold for the same row.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) text: String,
    pub(crate) all: Vec<Term>,
}

impl Terms {
    /// Parses a limit. With `has_base`, the limit may have percentages of a base, as in `diff`.
    ///
    /// # Errors
    /// Returns a description of the expected syntax.
    pub(super) fn parse(text: &str, has_base: bool) -> Result<Self, String> {
        let all: Vec<Term> =
            text.split('&').map(|text| term(text, has_base)).collect::<Result<_, _>>()?;
        let rows = all.iter().filter(|term| term.metric.is_of_rows()).count();
        if rows > 0 && rows < all.len() {
            let whole = if has_base { "run" } else { "report" };
            return Err(format!(
                "self, total and count are of rows, all else is of the whole {whole}: each has a --fail-on of its own"
            ));
        }
        Ok(Terms { text: text.to_owned(), all })
    }
}

fn term(text: &str, has_base: bool) -> Result<Term, String> {
    let example = match has_base {
        true => "self>5%, total:^run$>2ms or lcp>10%",
        false => "lcp>2.5s or self:^run$>50ms",
    };
    let expected = || {
        let names = FIGURES.map(|row| row.0);
        let (last, others) = names.split_last().expect("figures");
        format!(
            "expected METRIC[:PATTERN]>VALUE, or < for what must not fall, with {} or {last}, such as {}: {text}",
            others.join(", "),
            example
        )
    };
    let (head, value) = text.rsplit_once(['>', '<']).ok_or_else(expected)?;
    let sign = if text[head.len()..].starts_with('<') { Sign::Below } else { Sign::Above };
    let (name, pattern) = match head.split_once(':') {
        Some((name, pattern)) => (name, Some(pattern.parse::<Pattern>()?)),
        None => (head, None),
    };
    let is_known = |row: &&(&str, Figure, Unit)| {
        row.0 == name.trim() && (row.1.is_of_rows() || pattern.is_none())
    };
    let &(_, metric, unit) = FIGURES.iter().find(is_known).ok_or_else(expected)?;
    let value = value.trim();
    let number =
        |text: &str| text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount >= 0.0);
    if value.ends_with('%') && !has_base {
        return Err(format!(
            "a share is of a base, which only diff has; expected a value such as {example}: {text}"
        ));
    }
    let value = match (value.strip_suffix('%'), unit) {
        (Some(percent), _) => GateValue::Percent(number(percent).ok_or_else(expected)?),
        (None, Unit::Count) => GateValue::Plain(number(value).ok_or_else(expected)?),
        (None, Unit::Time) => {
            let nanos =
                tracemill_trace::time::parse_time(value).ok().filter(|_| value.ends_with('s'));
            let nanos = nanos.ok_or_else(|| match number(value) {
                Some(_) => format!("expected a time with its unit, such as {value}ms: {text}"),
                None => expected(),
            });
            GateValue::Plain(nanos? as f64 / 1e6)
        }
    };
    Ok(Term { metric, pattern, sign, value })
}

/// Maximum number of row names in which names similar to a missing one are searched.
const NAMES: usize = 1000;

impl Terms {
    /// Returns the message about the first row for which all conditions hold. If no row has the
    /// name in the conditions, returns a message about that. `names` returns the names of a row.
    pub(super) fn of_rows<R>(
        &self,
        rows: impl Iterator<Item = R>,
        names: impl Fn(&R) -> [&str; 2],
        broken: impl Fn(&Term, &R) -> Option<String>,
    ) -> Option<String> {
        let (mut others, mut is_named) = (Vec::new(), false);
        for row in rows {
            if self.all.iter().all(|term| term.means(names(&row))) {
                is_named = true;
                let texts = self.all.iter().map(|term| broken(term, &row));
                if let Some(texts) = texts.collect::<Option<Vec<String>>>() {
                    return Some(texts.join("; "));
                }
            } else if others.len() < NAMES {
                others.extend(names(&row).map(str::to_owned));
            }
        }
        let patterns = self.all.iter().filter_map(|term| term.pattern.as_ref());
        let patterns: Vec<&str> = patterns.map(Pattern::as_str).collect();
        let there = instead(&patterns, others.iter().map(String::as_str));
        (!is_named).then(|| format!("{}: no row has this name{there}", self.text))
    }

    /// Returns a message if all conditions on the whole report hold. A condition that cannot be
    /// computed counts as one that holds.
    pub(super) fn of_whole(
        &self,
        broken: impl Fn(&Term) -> Result<Option<String>, String>,
    ) -> Option<String> {
        let message = |term: &Term| match broken(term) {
            Ok(text) => text,
            Err(why) => Some(format!("{}: unknown: {why}", term.metric.named().0)),
        };
        let texts = self.all.iter().map(message).collect::<Option<Vec<String>>>();
        texts.map(|texts| texts.join("; "))
    }

    /// Returns the message that the window has no events to which the limit applies.
    pub(super) fn of_nothing(&self) -> String {
        format!("{}: no thread has an event in the window", self.text)
    }
}

impl Term {
    /// Returns whether the condition matches a row with these names.
    fn means(&self, names: [&str; 2]) -> bool {
        let is_it = |name: &str| {
            self.pattern.as_ref().is_none_or(|pattern| !name.is_empty() && pattern.is_match(name))
        };
        names.into_iter().any(is_it)
    }

    /// Formats the value of a row or of the whole report, followed by the limit.
    pub(super) fn message(&self, row: Option<&str>, value: &str) -> String {
        let (name, unit) = self.metric.named();
        let of = row.map_or_else(String::new, |row| format!(" of {row}"));
        let sign = if self.sign == Sign::Above { "limit" } else { "lower limit" };
        let limit = match (self.value, unit) {
            (GateValue::Percent(percent), _) => format!("{percent} %"),
            (GateValue::Plain(ms), Unit::Time) => format!("{ms} ms"),
            (GateValue::Plain(number), Unit::Count) => number.to_string(),
        };
        format!("{name}{of} {value}, {sign} {limit}")
    }

    /// Formats values with the unit of the condition's figure.
    pub(super) fn values(&self, values: &[f64]) -> String {
        let is_whole =
            self.metric.named().1 == Unit::Count && values.iter().all(|value| value.fract() == 0.0);
        let text = |value: &f64| if is_whole { value.to_string() } else { format!("{value:.2}") };
        let unit = if self.metric.named().1 == Unit::Time { " ms" } else { "" };
        values.iter().map(text).collect::<Vec<_>>().join(" -> ") + unit
    }
}
