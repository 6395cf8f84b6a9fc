//! Units of time for tables. A table has one unit, which depends on its longest time.

use crate::commands::info::duration_text;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeUnit {
    pub(super) name: &'static str,
    /// Number of units in a millisecond.
    per_ms: f64,
    /// Number of additional decimals.
    more: usize,
}

impl TimeUnit {
    /// Milliseconds, the unit of DevTools.
    const MS: TimeUnit = TimeUnit { name: "ms", per_ms: 1.0, more: 0 };

    /// Returns the unit for times given in milliseconds. It is ms if the longest is between 1 ms
    /// and 100 s.
    pub(super) fn of(times: impl Iterator<Item = f64>) -> Self {
        let finite = times.map(f64::abs).filter(|ms| ms.is_finite());
        match finite.fold(0.0, f64::max) {
            0.0 | 1.0..100_000.0 => TimeUnit::MS,
            longest if longest > 1.0 => TimeUnit { name: "s", per_ms: 1e-3, more: 0 },
            longest if longest < 1e-3 => TimeUnit { name: "ns", per_ms: 1e6, more: 0 },
            _ => TimeUnit { name: "µs", per_ms: 1e3, more: 0 },
        }
    }

    /// Returns the unit for start times. Seconds get three additional decimals.
    pub(super) fn of_starts(times: impl Iterator<Item = f64>) -> Self {
        let unit = TimeUnit::of(times);
        TimeUnit { more: if unit.name == "s" { 3 } else { 0 }, ..unit }
    }

    /// Replaces `ms` at the end of a column header by this unit.
    pub(super) fn head(self, of_ms: &str) -> String {
        match of_ms.strip_suffix("ms") {
            Some(head) if head.is_empty() || head.ends_with(' ') => format!("{head}{}", self.name),
            _ => of_ms.to_owned(),
        }
    }

    /// Formats a time in this unit, with at least `decimals` decimals and three significant digits.
    /// A time that is not finite becomes a dash.
    pub(super) fn shown(self, ms: f64, decimals: usize) -> String {
        /// Maximum number of decimals.
        const MOST: usize = 9;
        let number = ms * self.per_ms;
        if !number.is_finite() {
            return "–".to_owned();
        }
        let small = number != 0.0 && number.abs() < 1.0;
        let needed = if small { 2 - number.abs().log10().floor() as isize } else { 0 };
        let decimals = (decimals + self.more).max(needed as usize).min(MOST);
        format!("{number:.decimals$}")
    }
}

/// Formats a time with a suitable unit, for sentences.
pub(super) fn time_text(ms: f64) -> String {
    let text = duration_text((ms.abs() * 1e6).round() as i128);
    if ms < 0.0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_chooses_the_unit() {
        for (times, unit, shown) in [
            (&[132.0, 0.5, 0.0][..], "ms", &["132.00", "0.500", "0.00"][..]),
            (&[0.36, 0.0021], "µs", &["360.00", "2.10"]),
            (&[0.0005, 0.0], "ns", &["500.00", "0.00"]),
            (&[785_091_001.42, 12.5], "s", &["785091.00", "0.0125"]),
            (&[99_999.0, 0.001_234], "ms", &["99999.00", "0.00123"]),
            (&[f64::NAN, f64::INFINITY, -2.0], "ms", &["–", "–", "-2.00"]),
            (&[], "ms", &[]),
        ] {
            let time_unit = TimeUnit::of(times.iter().copied());
            assert_eq!(time_unit.head("self ms"), format!("self {unit}"));
            let all: Vec<String> = times.iter().map(|&ms| time_unit.shown(ms, 2)).collect();
            assert_eq!(all, shown);
        }
        assert_eq!(
            TimeUnit::of_starts([785_091_001.42].into_iter()).shown(785_091_001.42, 2),
            "785091.00142"
        );
        assert_eq!(TimeUnit::of([0.5].into_iter()).head("items"), "items");
    }
}
