//! Times as users write them.

use std::str::FromStr;
use tracemill_trace::time::parse_time;
use tracemill_trace::time::windows::{Moment, TimeWindow};

/// A time, and whether it was written without a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenMoment {
    pub(crate) moment: Moment,
    pub(crate) bare: bool,
}

impl FromStr for GivenMoment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bare = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        Ok(GivenMoment { moment: text.parse()?, bare })
    }
}

pub(crate) fn positive(text: &str) -> Result<i64, String> {
    match parse_time(text)? {
        time if time > 0 => Ok(time),
        _ => Err(format!("expected a time above 0: {text}")),
    }
}

pub(crate) fn window(text: &str) -> Result<TimeWindow, String> {
    let wrong = || {
        format!("expected two times with .. or - between them, such as 1s..1.5s or 1s-1.5s: {text}")
    };
    let (from, to) = text.split_once("..").or_else(|| text.split_once('-')).ok_or_else(wrong)?;
    if from.is_empty() && to.is_empty() {
        return Err(wrong());
    }
    let side = |time: &str| if time.is_empty() { Ok(None) } else { time.parse().map(Some) };
    Ok(TimeWindow { from: side(from)?, to: side(to)? })
}
