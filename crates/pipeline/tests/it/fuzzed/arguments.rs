//! Parses arbitrary text as the values of flags.

use tracemill_join::config::Align;
use tracemill_join::config::id_set::IdSet;
use tracemill_join::config::pattern::{Glob, Pattern};
use tracemill_pipeline::{SplitBy, check_split_template, check_template};
use tracemill_testkit::reference::Decimal;
use tracemill_trace::time::factor::Factor;
use tracemill_trace::time::windows::Moment;
use tracemill_trace::time::{TimePoint, parse_time};

pub(crate) fn arguments(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    check_time(text);
    let parsed = [
        text.parse::<Align>().is_ok(),
        text.parse::<Factor>().is_ok(),
        text.parse::<Glob>().is_ok(),
        text.parse::<Moment>().is_ok(),
        text.parse::<TimePoint>().is_ok(),
        check_template(text).is_ok(),
        check_split_template(text, SplitBy::Tid).is_ok(),
    ];
    assert_eq!(parsed[3], parsed[4], "one grammar for all points in time");
    if text.len() < 200 {
        // compiling a regular expression bounds its cost
        drop(text.parse::<Pattern>());
    }
    if let Ok(ids) = text.parse::<IdSet>() {
        let split = text.split(',').next().unwrap_or_default();
        if split.parse::<u32>().is_ok_and(|id| id.to_string() == split) {
            assert!(
                ids.contains(split.as_bytes()) && ids.contains(format!("\"{split}\"").as_bytes())
            );
        }
    }
}

/// Asserts that a time is parsed exactly, and that its output parses to the same time.
fn check_time(text: &str) {
    let Ok(ns) = parse_time(text) else { return };
    assert_eq!(parse_time(&format!("{ns}ns")), Ok(ns));
    let micros = text.strip_suffix("us").unwrap_or(text);
    if let Some(decimal) = Decimal::parse(micros.as_bytes())
        && ns.abs() < i64::MAX - 8
    {
        assert_eq!(decimal.nanos_floor(), ns);
    }
}
