//! Exact times in whole attoseconds, computed from a [`Decimal`].

use crate::reference::{Decimal, time};

/// Attoseconds per nanosecond.
const NANO: i128 = 1_000_000_000;
/// Largest magnitude for calculations in attoseconds.
const MOST: i128 = 1 << 123;

#[derive(Clone, Debug)]
pub(in super::super) struct Time {
    /// Nanoseconds, rounded down, within ±(2^63 − 9).
    pub(in super::super) floor: i64,
    /// Attoseconds; `None` beyond the range.
    attos: Option<i128>,
    is_exact: bool,
}

impl Time {
    /// Parses a raw value: a number, or a string that contains exactly one number.
    pub(in super::super) fn of(raw: &str) -> Option<Time> {
        let decimal = time(raw)?;
        let (floor, attos) = (decimal.nanos_floor(), decimal.floor(12, MOST + 1));
        let whole = Decimal::parse(format!("{floor}e-3").as_bytes());
        let attos = (attos.abs() <= MOST).then_some(attos);
        Some(Time { floor, attos, is_exact: whole == Some(decimal) })
    }

    pub(in super::super) fn whole(ns: i64) -> Time {
        Time { floor: ns, attos: Some(i128::from(ns) * NANO), is_exact: true }
    }

    /// Returns whether the time is a whole number of nanoseconds.
    pub(in super::super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    pub(in super::super) fn is_calculable(&self) -> bool {
        self.attos.is_some()
    }

    pub(in super::super) fn is_above_zero(&self) -> bool {
        self.floor > 0 || self.floor == 0 && !self.is_exact
    }

    pub(in super::super) fn is_after(&self, edge: i64) -> bool {
        self.attos.map_or(self.floor > edge, |attos| attos > i128::from(edge) * NANO)
    }

    /// Returns the sum of two times within the range.
    pub(in super::super) fn plus(&self, other: &Time) -> Option<Time> {
        let sum = self.attos? + other.attos?;
        let floor = i64::try_from(sum.div_euclid(NANO)).unwrap_or(i64::MAX);
        Some(Time { floor, attos: Some(sum), is_exact: sum % NANO == 0 })
    }

    /// Returns the difference of two times within the range, formatted in microseconds.
    pub(in super::super) fn minus(&self, other: &Time) -> String {
        text(self.attos.expect("calculable") - other.attos.expect("calculable"))
    }
}

pub(in super::super) fn micros(ns: i64) -> String {
    text(i128::from(ns) * NANO)
}

fn text(attos: i128) -> String {
    let digits = format!("{:013}", attos.unsigned_abs());
    let (whole, below) = digits.split_at(digits.len() - 12);
    let sign = if attos < 0 { "-" } else { "" };
    format!("{sign}{whole}.{below}").trim_end_matches('0').trim_end_matches('.').to_owned()
}
