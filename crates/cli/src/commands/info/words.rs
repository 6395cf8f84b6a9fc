//! Formats times, names and counts as text.

use crate::messages::plain;

/// Maximum number of characters of a name in lists.
const NAME: usize = 60;

/// Formats nanoseconds as microseconds without loss.
pub(in super::super) fn micros(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    let text = format!("{sign}{}.{:03}", ns / 1000, ns % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a duration with at most two units and at least three digits.
pub(in super::super) fn duration_text(ns: i128) -> String {
    let ns = u64::try_from(ns).unwrap_or(u64::MAX);
    let seconds = ns / 1_000_000_000;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.2} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", ns as f64 / 1e6),
        // from here on, seconds would be rounded to 60.00 s
        1_000_000_000..59_995_000_000 => format!("{:.2} s", ns as f64 / 1e9),
        _ if seconds < 60 => "1 min 0 s".to_owned(),
        _ if seconds < 3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ if seconds < 86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// Formats a name followed by its id.
pub(super) fn title(id: &str, name: Option<&str>) -> String {
    let id = if id.is_empty() { "(none)" } else { id };
    match name {
        Some(name) if !name.is_empty() => format!("{name} ({id})"),
        _ => id.to_owned(),
    }
}

/// Shortens a name to one line for lists.
pub(in super::super) fn short(name: Option<&str>) -> String {
    match name {
        None => "(none)".to_owned(),
        Some("") => "\"\"".to_owned(),
        Some(name) => match name.char_indices().nth(NAME) {
            Some((end, _)) => format!("{}…", plain(&name[..end])),
            None => plain(name),
        },
    }
}

/// Draws a bar for each count. The largest count has the highest bar. A zero is a dot, because
/// Markdown drops blanks.
pub(super) fn sparkline(counts: &[u64]) -> String {
    const BARS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&count: &u64| BARS[(u128::from(count) * 8).div_ceil(u128::from(most)) as usize];
    counts.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_exact() {
        let cases = [
            (0, "0"),
            (1, "0.001"),
            (-1, "-0.001"),
            (1500, "1.5"),
            (100_000, "100"),
            (-100_010, "-100.01"),
            (1_700_000_000_000_000_123, "1700000000000000.123"),
            (i64::MIN, "-9223372036854775.808"),
        ];
        for (ns, text) in cases {
            assert_eq!(micros(ns), text);
        }
    }

    #[test]
    fn durations_use_readable_units() {
        let cases = [
            (0, "0 ns"),
            (1_500, "1.50 µs"),
            (2_340_000, "2.34 ms"),
            (1_000_000_000, "1.00 s"),
            (59_999_000_000, "1 min 0 s"),
            (61_000_000_000, "1 min 1 s"),
            (3_661_000_000_000, "1 h 1 min"),
            (90_000_000_000_000, "1 d 1 h"),
            (i128::from(u64::MAX) * 2, "213503 d 23 h"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration_text(ns), text);
        }
    }

    #[test]
    fn names_are_cut_between_characters() {
        assert_eq!(short(None), "(none)");
        assert_eq!(short(Some("")), "\"\"");
        assert_eq!(short(Some("a\nb")), "a\\nb");
        assert_eq!(short(Some(&"é".repeat(61))), "é".repeat(60) + "…");
        assert_eq!(short(Some(&"é".repeat(60))), "é".repeat(60));
    }

    #[test]
    fn bars_grow_with_counts() {
        assert_eq!(sparkline(&[0, 1, 50, 99, 100, u64::MAX / 8]), "·▁▁▁▁█");
        assert_eq!(sparkline(&[8, 0, 4, 1]), "█·▄▁");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[u64::MAX]), "█");
    }
}
