//! Parses and formats numbers of bytes. K, M, G and T are powers of 1024.

/// Letters of units. Each is 1024 times the unit before.
const UNITS: [char; 4] = ['K', 'M', 'G', 'T'];

/// Parses `64M`, `1.5G`, `512KiB` or `100000`: a decimal number, an optional unit in either case,
/// and an optional `B` or `iB`.
///
/// The arithmetic is exact, and fractions of a byte are truncated.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let wrong = || format!("expected a size such as 512M or 1.5G, got {text}");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return Err(wrong());
    }
    let scale = scale(unit).ok_or_else(wrong)?;
    let too_large = || format!("more bytes than there can be: {text}");
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
    // 18 digits are finer than a byte in any unit, and the product fits into 128 bits
    let fraction = &fraction[..fraction.len().min(18)];
    let (part, parts) = match fraction {
        "" => (0, 1),
        _ => (fraction.parse::<u128>().map_err(|_| wrong())?, 10_u128.pow(fraction.len() as u32)),
    };
    let bytes = u128::from(whole) * scale + part * scale / parts;
    u64::try_from(bytes).map_err(|_| too_large())
}

/// Returns the number of bytes of a unit such as `""`, `B`, `k`, `MB` or `GiB`.
fn scale(unit: &str) -> Option<u128> {
    let mut letters = unit.chars();
    let Some(first) = letters.next() else { return Some(1) };
    let rest = letters.as_str();
    let first = first.to_ascii_uppercase();
    if first == 'B' && rest.is_empty() {
        return Some(1);
    }
    let power = UNITS.iter().position(|&unit| unit == first)?;
    let fits = rest.is_empty() || rest.eq_ignore_ascii_case("b") || rest.eq_ignore_ascii_case("ib");
    fits.then(|| 1 << (10 * (power + 1)))
}

/// Formats bytes with one decimal: `1.5 GiB`.
pub(crate) fn human(bytes: u64) -> String {
    let mut tenths = u128::from(bytes) * 10;
    let mut unit = None;
    for next in UNITS {
        // values from 1023.95 on would be rounded to 1024.0
        if tenths < 10_235 {
            break;
        }
        tenths = (tenths + 512) / 1024;
        unit = Some(next);
    }
    match unit {
        None => format!("{bytes} B"),
        Some(unit) => format!("{}.{} {unit}iB", tenths / 10, tenths % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed() {
        let cases = [
            ("0", 0),
            ("100", 100),
            ("100B", 100),
            ("1k", 1024),
            ("1K", 1024),
            ("1KB", 1024),
            ("1KiB", 1024),
            ("64M", 64 << 20),
            ("64mib", 64 << 20),
            ("1.5G", 3 << 29),
            (".5K", 512),
            ("2.K", 2048),
            ("1T", 1 << 40),
            ("0.0009765625K", 1),
            ("1.9", 1),
            ("0.3333333333333333333333333333333333G", 357_913_941),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn invalid_sizes_are_refused() {
        for text in ["", ".", "M", "1X", "1.2.3M", "-1M", "1 M", "1MM", "1iB", "1Mi", "+5", "1e3"] {
            assert!(parse(text).is_err(), "{text}");
        }
        for text in ["18446744073709551616", "17179869184G", "99999999T"] {
            assert!(parse(text).is_err_and(|e| e.starts_with("more bytes")), "{text}");
        }
    }

    #[test]
    fn sizes_are_formatted() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (3 << 29, "1.5 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(human(bytes), text);
        }
    }
}
