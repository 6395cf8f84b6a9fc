//! Changes the times of an input to another clock, as a reference. All other bytes are unchanged.
//!
//! Numbers are rows of signed digits, lowest first. Addition and multiplication ignore carries and
//! signs, which are fixed at the end.

use std::ops::Range;

use super::decimal::Decimal;
use super::read::{Fields, elements, is_string, sources, unescape};

/// A change of an input's clock: times are multiplied by `scale`, then `offset_ns` is added.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Offset in nanoseconds.
    pub offset_ns: i64,
    /// Factor as a decimal.
    pub scale: Option<String>,
}

/// Returns `input` with its times on another clock.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn shift(input: &[u8], clock: &Clock) -> Result<Vec<u8>, String> {
    let mut patches: Vec<(Range<usize>, String)> = Vec::new();
    let mut put = |value: &str, digits: Option<usize>| {
        let start = value.as_ptr().addr() - input.as_ptr().addr();
        let new = clock.value(value, digits);
        patches.extend(new.map(|new| (start..start + value.len(), new)));
    };
    for source in sources(input)? {
        source.events.iter().for_each(|event| each_time(event, &mut put));
        let samples = source.keys.0.iter().filter(|(key, _)| is_string(key, "samples"));
        for sample in samples.flat_map(|(_, list)| elements(list).unwrap_or_default()) {
            let ts = Fields::parse(sample).unwrap_or_default().get("ts");
            ts.into_iter().for_each(|ts| put(ts, Some(3)));
        }
    }
    patches.sort_by_key(|(range, _)| range.start);
    let mut out = input.to_vec();
    for (range, new) in patches.into_iter().rev() {
        out.splice(range, new.into_bytes());
    }
    Ok(out)
}

/// Calls `put` for each time, with the number of decimals that a nanosecond has in the unit of the
/// time. For durations, passes `None`.
fn each_time<'e>(event: &'e str, put: &mut impl FnMut(&'e str, Option<usize>)) {
    let fields = Fields::parse(event).unwrap_or_default();
    let named = |name: &str| fields.get("name").is_some_and(|field| is_string(field, name));
    if let Some(ts) = fields.get("ts") {
        let is_metadata = fields.get("ph").is_some_and(|ph| is_string(ph, "M"));
        if !is_metadata || number_of(ts).as_deref().and_then(value_of) != Some(Decimal::zero()) {
            put(ts, Some(3));
        }
    }
    if let Some(dur) = fields.get("dur") {
        put(dur, None);
    }
    let args = fields.get("args").and_then(Fields::parse).unwrap_or_default();
    let data = args.get("data").and_then(Fields::parse).unwrap_or_default();
    let whole = data.get("cpuProfile").and_then(Fields::parse).unwrap_or_default();
    let profile = [
        "Profile",
        "ProfileChunk",
        "CpuProfile",
        "CpuProfiler::StartProfiling",
        "CpuProfiler::StopProfiling",
    ];
    let is_profile = profile.iter().any(|name| named(name));
    let others = ["ResourceReceiveResponse", "ResourceFinish", "TimeStamp", "clock_sync"];
    let is_other = others.iter().any(|name| named(name));
    let seconds = |value: Option<&'e str>, put: &mut dyn FnMut(&'e str, Option<usize>)| {
        if let Some(value) = value
            && number_of(value).as_deref().and_then(value_of) != Some(Decimal::zero())
        {
            put(value, Some(9));
        }
    };
    if is_profile {
        for object in [&data, &whole] {
            let times = ["startTime", "endTime"].into_iter().filter_map(|name| object.get(name));
            times.for_each(|time| put(time, Some(3)));
            let deltas = object.get("timeDeltas").and_then(elements).unwrap_or_default();
            deltas.into_iter().for_each(|delta| put(delta, None));
        }
    } else if named("ResourceReceiveResponse") {
        let timing = data.get("timing").and_then(Fields::parse).unwrap_or_default();
        seconds(timing.get("requestTime"), put);
    } else if named("ResourceFinish") {
        seconds(data.get("finishTime"), put);
    } else if named("TimeStamp") {
        let times = ["start", "end"].into_iter().filter_map(|name| data.get(name));
        times.filter(|time| !time.starts_with('"')).for_each(|time| put(time, Some(3)));
    } else if named("clock_sync") {
        args.get("issue_ts").into_iter().for_each(|time| put(time, Some(3)));
    }
    let cats = fields.get("cat").unwrap_or_default().trim_matches('"');
    let is_timing = cats.split(',').any(|cat| cat == "blink.user_timing");
    if is_timing && !is_profile && !is_other {
        let times = [args.get("callTime"), data.get("callTime")];
        times.into_iter().flatten().for_each(|time| put(time, Some(3)));
    }
}

fn number_of(value: &str) -> Option<String> {
    let text = match value.starts_with('"') {
        true => String::from_utf8(unescape(value)?).ok()?,
        false => value.to_owned(),
    };
    value_of(&text).map(|_| text)
}

fn value_of(text: &str) -> Option<Decimal> {
    Decimal::parse(text.as_bytes())
}

/// Signed digits, lowest first, in units of 10^-`decimals`.
struct Digits {
    row: Vec<i64>,
    decimals: usize,
}

impl Digits {
    /// Parses a number. Returns `None` for a number far beyond all times; the caller leaves such a
    /// number unchanged.
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let sign = if mantissa.starts_with('-') { -1 } else { 1 };
        let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = whole.chars().chain(decimals.chars()).filter_map(|c| c.to_digit(10));
        let mut row: Vec<i64> = digits.map(|digit| sign * i64::from(digit)).collect();
        row.reverse();
        let is_zero = row.iter().all(|&digit| digit == 0);
        let exponent: i64 = if is_zero { 0 } else { exponent.parse().ok()? };
        let decimals = decimals.len() as i64 - exponent;
        if decimals < -4096 {
            return None;
        }
        if decimals > 8192 {
            return Some(Digits { row: vec![sign], decimals: 8192 });
        }
        if decimals < 0 {
            row.splice(0..0, vec![0; decimals.unsigned_abs() as usize]);
        }
        Some(Digits { row, decimals: decimals.max(0) as usize })
    }

    fn floored(mut self, decimals: usize) -> Self {
        self.carry();
        let cut = self.decimals.saturating_sub(decimals);
        self.row.resize(self.row.len().max(cut + 1), 0);
        let is_below = self.row.drain(..cut).any(|digit| digit < 0);
        self.row[0] -= i64::from(is_below);
        Digits { row: self.row, decimals: self.decimals - cut }
    }

    /// Returns whether the number, in units of 10^-`decimals`, is below `most`.
    fn fits(&self, decimals: usize, most: i128) -> bool {
        let value =
            self.row.iter().rev().try_fold(0_i128, |sum, &digit| {
                sum.checked_mul(10)?.checked_add(i128::from(digit))
            });
        let zeros = 10_i128.checked_pow((decimals - self.decimals) as u32);
        let value = value.zip(zeros).and_then(|(value, zeros)| value.checked_mul(zeros));
        value.is_some_and(|value| value.abs() < most)
    }

    /// Removes trailing zeros, down to `least` decimals.
    fn trimmed(mut self, least: usize) -> Self {
        self.carry();
        while self.decimals > least && self.row.first().is_none_or(|&digit| digit == 0) {
            if !self.row.is_empty() {
                self.row.remove(0);
            }
            self.decimals -= 1;
        }
        self
    }

    fn carry(&mut self) {
        let mut at = 0;
        while at < self.row.len() {
            let carry = self.row[at] / 10;
            self.row[at] %= 10;
            if carry != 0 {
                if at + 1 == self.row.len() {
                    self.row.push(0);
                }
                self.row[at + 1] += carry;
            }
            at += 1;
        }
    }

    fn times(&self, other: &Digits) -> Digits {
        let mut row = vec![0; self.row.len() + other.row.len()];
        for (i, a) in self.row.iter().enumerate() {
            for (j, b) in other.row.iter().enumerate() {
                row[i + j] += a * b;
            }
        }
        Digits { row, decimals: self.decimals + other.decimals }
    }

    fn plus(&self, other: &Digits) -> Digits {
        let decimals = self.decimals.max(other.decimals);
        let padded = |n: &Digits| [vec![0; decimals - n.decimals], n.row.clone()].concat();
        let (a, b) = (padded(self), padded(other));
        let digit = |row: &[i64], at: usize| row.get(at).copied().unwrap_or(0);
        let row = (0..a.len().max(b.len())).map(|at| digit(&a, at) + digit(&b, at)).collect();
        Digits { row, decimals }
    }

    fn text(mut self) -> String {
        self.carry();
        let is_negative = self.row.iter().rev().find(|&&digit| digit != 0).is_some_and(|&d| d < 0);
        if is_negative {
            self.row.iter_mut().for_each(|digit| *digit = -*digit);
        }
        // adjacent digits may have different signs
        self.row.push(0);
        for at in 0..self.row.len() - 1 {
            if self.row[at] < 0 {
                self.row[at] += 10;
                self.row[at + 1] -= 1;
            }
        }
        self.row.resize(self.row.len().max(self.decimals + 1), 0);
        let mut text: String = self.row.iter().rev().map(ToString::to_string).collect();
        if self.decimals > 0 {
            text.insert(text.len() - self.decimals, '.');
        }
        let zeros = text.len() - text.trim_start_matches('0').len();
        let needed = usize::from(text[zeros..].is_empty() || text[zeros..].starts_with('.'));
        let sign = if is_negative { "-" } else { "" };
        format!("{sign}{}", &text[zeros - needed..])
    }
}

impl Clock {
    fn value(&self, value: &str, digits: Option<usize>) -> Option<String> {
        if digits.is_none() && self.scale.is_none() || self.offset_ns == 0 && self.scale.is_none() {
            return None;
        }
        let new = self.number(&number_of(value)?, digits)?;
        Some(if value.starts_with('"') { format!("\"{new}\"") } else { new })
    }

    fn number(&self, text: &str, digits: Option<usize>) -> Option<String> {
        // decimals down to 10^-18 s
        let most = if digits == Some(9) { 18 } else { 12 };
        let mut number = Digits::parse(text)?.floored(most);
        if !number.fits(most, 10_i128.pow(38)) {
            return None;
        }
        let least = number.decimals;
        if let Some(scale) = &self.scale {
            number = number.times(&Digits::parse(scale)?).floored(most).trimmed(least);
            number.fits(most, i128::MAX).then_some(())?;
        }
        let stays = self.scale.is_none() && !text.contains(['e', 'E', '-']);
        if let Some(decimals) = digits {
            let mut offset = Digits::parse(&self.offset_ns.to_string())?;
            offset.decimals = decimals;
            number = number.plus(&offset.trimmed(0)).trimmed(least);
        }
        let moved = number.text();
        let below = text.split_once('.').and_then(|(_, decimals)| decimals.get(most..));
        let below = below.filter(|_| stays && !moved.starts_with('-')).unwrap_or_default();
        Some(moved + below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_move_exactly() {
        for (text, offset_ns, scale, new) in [
            ("5.10", 900, None, "6.00"),
            ("5", -6000, None, "-1"),
            ("0.0000001", -1000, None, "-0.9999999"),
            ("1e3", 1, None, "1000.001"),
            ("100", 0, Some("1.00002"), "100.002"),
            ("-5", 5000, Some("1"), "0"),
            ("999999999999999999999.999", 1, None, "1000000000000000000000.000"),
            ("0.30000000000000004", 1000, None, "1.30000000000000004"),
            ("-1e-99", 0, Some("2"), "-0.000000000002"),
        ] {
            let clock = Clock { offset_ns, scale: scale.map(str::to_owned) };
            assert_eq!(clock.number(text, Some(3)).as_deref(), Some(new));
        }
    }
}
