//! Messages about the clocks of inputs.

use tracemill_join::report::{ClockMethod, InputClock};
use tracemill_trace::run::words::plural;

/// Maximum number of inputs that a sentence names.
const NAMED: usize = 3;
/// Maximum number of inputs that `-v` describes.
const DESCRIBED: usize = 50;

/// Returns a sentence that names the inputs whose times were moved. Returns `None` if there are
/// none.
pub(super) fn moved(clocks: &[InputClock]) -> Option<String> {
    let moved = |clock: &&InputClock| clock.offset_ns != 0 || clock.scale.is_some();
    let moved: Vec<&InputClock> = clocks.iter().filter(moved).collect();
    let mut all: Vec<String> = moved.iter().take(NAMED).map(|clock| one(clock)).collect();
    if moved.len() > NAMED {
        all.push(format!("and {}", plural((moved.len() - NAMED) as u64, "more input")));
    }
    let found = moved.iter().any(|clock| !matches!(clock.method, None | Some(ClockMethod::Given)));
    let remedy = if found { " (--align none leaves times as they are)" } else { "" };
    (!all.is_empty()).then(|| format!("moved onto one time line: {}{remedy}", all.join("; ")))
}

fn one(clock: &InputClock) -> String {
    let scale = clock.scale.iter().map(|scale| format!(" × {scale}"));
    let method = clock.method.iter().map(|method| match method {
        ClockMethod::Given => String::new(),
        method => format!(" ({method})"),
    });
    let rest: String = scale.collect::<String>() + &format!(" {}", signed(clock.offset_ns));
    format!("{}{rest}{}", clock.name, method.collect::<String>())
}

/// Returns messages for `-v` about the alignment of each clock.
pub(super) fn details(clocks: &[InputClock]) -> Vec<String> {
    let known: Vec<&InputClock> = clocks.iter().filter(|clock| clock.method.is_some()).collect();
    let mut texts: Vec<String> = known.iter().take(DESCRIBED).map(|clock| detail(clock)).collect();
    if known.len() > DESCRIBED {
        let more = plural((known.len() - DESCRIBED) as u64, "more input");
        texts.push(format!("clocks of {more} are in --report"));
    }
    texts
}

fn detail(clock: &InputClock) -> String {
    let mut text = format!("clock of {}", one(clock));
    if clock.matches > 0 {
        text += &format!(", {}", plural(clock.matches, "event"));
    }
    if let Some(residual) = clock.residual_ns {
        text += &format!(", the worst is off by {}", length(residual));
    }
    if let Some(uncertainty) = clock.uncertainty_ns {
        text += &format!(", certain to ±{}", length(uncertainty));
    }
    if let Some(drift) = clock.drift_ppb {
        let factor = 1_000_000_000 + i128::from(drift);
        let (whole, rest) = (factor / 1_000_000_000, factor % 1_000_000_000);
        if clock.scale.is_none() && factor > 0 {
            let name = &clock.name;
            text += &format!("; the clock drifts: --scale {name}={whole}.{rest:09} may fit better");
        }
    }
    text
}

/// Formats a duration without loss, with its sign.
pub(super) fn signed(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "+" };
    format!("{sign}{}", length(ns).trim_start_matches('-'))
}

/// Formats a duration without loss, in the largest possible unit, as flags accept it.
fn length(ns: i64) -> String {
    let magnitude = ns.unsigned_abs();
    let units = [("s", 9), ("ms", 6), ("µs", 3), ("ns", 0)];
    let fits = |(_, digits): &(&str, u32)| magnitude >= 10u64.pow(*digits);
    let (unit, digits) = units.into_iter().find(fits).unwrap_or(("ns", 0));
    let scale = 10u64.pow(digits);
    let rest = format!("{:0width$}", magnitude % scale, width = digits as usize);
    let rest = if digits == 0 { "" } else { rest.trim_end_matches('0') };
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if ns < 0 { "-" } else { "" };
    format!("{sign}{}{point}{rest}{unit}", magnitude / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(name: &str, method: Option<ClockMethod>, offset_ns: i64) -> InputClock {
        InputClock { name: name.into(), method, offset_ns, ..InputClock::default() }
    }

    #[test]
    fn durations_are_exact_and_parse_back() {
        for (ns, text) in [
            (0, "+0ns"),
            (7, "+7ns"),
            (-1_500, "-1.5µs"),
            (20_000_000, "+20ms"),
            (1_212_075_548_353_304, "+1212075.548353304s"),
            (-1_000_000_001, "-1.000000001s"),
        ] {
            assert_eq!(signed(ns), text);
            assert_eq!(tracemill_trace::time::parse_time(text.trim_start_matches('+')), Ok(ns));
        }
    }

    #[test]
    fn moved_inputs_are_one_line() {
        assert_eq!(moved(&[clock("a", Some(ClockMethod::Start), 0)]), None);
        let scaled =
            InputClock { scale: Some("1.5".into()), ..clock("e", Some(ClockMethod::Given), 1) };
        let clocks = [
            clock("a", Some(ClockMethod::BaseTime), 0),
            clock("b", Some(ClockMethod::BaseTime), 1_500_000),
            clock("c", Some(ClockMethod::Marker("m".into())), -7),
            scaled,
            clock("f", Some(ClockMethod::Given), 9),
        ];
        let expected = "moved onto one time line: b +1.5ms (base-time); c -7ns (marker:m); e × 1.5 +1ns; and 1 more \
                        input (--align none leaves times as they are)";
        assert_eq!(moved(&clocks).unwrap(), expected);
    }

    #[test]
    fn details_include_the_quality_of_the_fit() {
        let fitted = InputClock {
            matches: 12,
            residual_ns: Some(1_500),
            uncertainty_ns: Some(1_000),
            drift_ppb: Some(-20),
            ..clock("b", Some(ClockMethod::Marker("m".into())), 5)
        };
        let texts = details(&[fitted, clock("c", None, 0)]);
        let expected = "clock of b +5ns (marker:m), 12 events, the worst is off by 1.5µs, certain to ±1µs; the clock \
                        drifts: --scale b=0.999999980 may fit better";
        assert_eq!(texts, [expected]);
    }
}
