//! Exact times as digits: 25 before the nanosecond's point, 1000 behind it.

use std::cmp::Ordering;

use crate::reference::read::unescape;

const WHOLE: usize = 25;
const BELOW: usize = 1000;
/// The largest nanosecond that is told from those above it.
const MOST: i64 = i64::MAX - 8;

/// A time.
#[derive(Clone, Debug)]
pub(in super::super) struct Time {
    /// Nanoseconds, rounded down, within ±[`MOST`].
    pub(in super::super) floor: i64,
    /// Sign and digits; `None` if these are too few for it.
    value: Option<Signed>,
    /// Whether the digits below a nanosecond are not all zero, or the number is out of range.
    has_rest: bool,
    beyond: bool,
}

#[derive(Clone, Debug)]
struct Signed {
    negative: bool,
    digits: Vec<u8>,
}

fn magnitude(a: &[u8], b: &[u8]) -> Ordering {
    a.cmp(b)
}

fn add(a: &[u8], b: &[u8]) -> Vec<u8> {
    let (mut out, mut carry) = (vec![0; a.len()], 0);
    for at in (0..a.len()).rev() {
        let sum = a[at] + b[at] + carry;
        (out[at], carry) = (sum % 10, sum / 10);
    }
    out
}

/// `a` − `b`, which is no larger.
fn subtract(a: &[u8], b: &[u8]) -> Vec<u8> {
    let (mut out, mut borrow) = (vec![0; a.len()], 0);
    for at in (0..a.len()).rev() {
        let taken = b[at] + borrow;
        borrow = u8::from(a[at] < taken);
        out[at] = a[at] + 10 * borrow - taken;
    }
    out
}

impl Signed {
    fn plus(&self, other: &Signed) -> Signed {
        if self.negative == other.negative {
            return Signed { negative: self.negative, digits: add(&self.digits, &other.digits) };
        }
        match magnitude(&self.digits, &other.digits) {
            Ordering::Less => {
                Signed { negative: other.negative, digits: subtract(&other.digits, &self.digits) }
            }
            _ => Signed { negative: self.negative, digits: subtract(&self.digits, &other.digits) },
        }
    }

    fn floor(&self) -> i128 {
        let whole: String = self.digits[..WHOLE].iter().map(|d| char::from(d + b'0')).collect();
        let whole: i128 = whole.parse().expect("digits");
        match self.negative {
            true => -whole - i128::from(self.has_rest()),
            false => whole,
        }
    }

    fn has_rest(&self) -> bool {
        self.digits[WHOLE..].iter().any(|&digit| digit != 0)
    }

    /// As microseconds.
    fn text(&self) -> String {
        let text: String = self.digits.iter().map(|d| char::from(d + b'0')).collect();
        let (whole, below) = text.split_at(WHOLE - 3);
        let (whole, below) = (whole.trim_start_matches('0'), below.trim_end_matches('0'));
        let whole = if whole.is_empty() { "0" } else { whole };
        let sign = if self.negative { "-" } else { "" };
        if below.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{below}") }
    }
}

impl Time {
    /// Of a raw value: a number, or a string that holds exactly one.
    pub(in super::super) fn of(raw: &str) -> Option<Time> {
        super::super::time(raw)?;
        let text = match unescape(raw) {
            Some(content) => String::from_utf8(content).ok()?,
            None => raw.to_owned(),
        };
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, &*text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{decimals}");
        let is_zero = all.bytes().all(|digit| digit == b'0');
        let significant = all.trim_start_matches('0').trim_end_matches('0').len() as i128;
        let exponent: i128 = exponent.parse().unwrap_or(if exponent.starts_with('-') {
            -(1 << 90)
        } else {
            1 << 90
        });
        // digits before the point of a nanosecond
        let point = whole.len() as i128 + exponent + 3;
        let leading = all.len() as i128 - all.trim_start_matches('0').len() as i128;
        let (first, end) = (point - leading, point - leading - significant);
        if is_zero {
            return Some(Time::whole(0));
        }
        if first > 19 {
            return Some(Time::beyond(negative));
        }
        if -end > BELOW as i128 {
            // the digits before the point are few: they decide, the others say only that they are there
            let ahead =
                if first > 0 { &all[leading as usize..(leading + first) as usize] } else { "0" };
            let whole: i128 = ahead.parse().ok()?;
            let floor = if negative { -whole - 1 } else { whole };
            let floor = floor.clamp(-i128::from(MOST), i128::from(MOST)) as i64;
            return Some(Time { floor, value: None, has_rest: true, beyond: false });
        }
        let mut digits = vec![0; WHOLE + BELOW];
        for (at, digit) in all.trim_matches('0').bytes().enumerate() {
            digits[(WHOLE as i128 - first) as usize + at] = digit - b'0';
        }
        let value = Signed { negative, digits };
        match i64::try_from(value.floor()) {
            Ok(floor) if floor.abs() <= MOST => {
                let has_rest = value.has_rest();
                Some(Time { floor, value: Some(value), has_rest, beyond: false })
            }
            _ => Some(Time::beyond(negative)),
        }
    }

    fn beyond(negative: bool) -> Time {
        let floor = if negative { -MOST } else { MOST };
        Time { floor, value: None, has_rest: true, beyond: !negative }
    }

    pub(in super::super) fn whole(ns: i64) -> Time {
        let text = format!("{:0>WHOLE$}", ns.unsigned_abs());
        let mut digits: Vec<u8> = text.bytes().map(|digit| digit - b'0').collect();
        digits.resize(WHOLE + BELOW, 0);
        let value = Some(Signed { negative: ns < 0, digits });
        Time { floor: ns, value, has_rest: false, beyond: false }
    }

    pub(in super::super) fn is_exact(&self) -> bool {
        !self.has_rest
    }

    pub(in super::super) fn is_calculable(&self) -> bool {
        self.value.is_some()
    }

    pub(in super::super) fn is_beyond(&self) -> bool {
        self.beyond
    }

    pub(in super::super) fn is_above_zero(&self) -> bool {
        self.floor > 0 || self.floor == 0 && self.has_rest
    }

    pub(in super::super) fn is_after(&self, edge: i64) -> bool {
        self.floor > edge || self.floor == edge && self.has_rest
    }

    /// The sum; `None` beyond all times.
    pub(in super::super) fn plus(&self, other: &Time) -> Option<Time> {
        let sum = self.value.as_ref()?.plus(other.value.as_ref()?);
        let floor = i64::try_from(sum.floor()).ok()?;
        let has_rest = sum.has_rest();
        Some(Time { floor, value: Some(sum), has_rest, beyond: false })
    }

    /// The difference, as the text of microseconds.
    pub(in super::super) fn minus(&self, other: &Time) -> String {
        let (a, b) =
            (self.value.as_ref().expect("calculable"), other.value.as_ref().expect("calculable"));
        a.plus(&Signed { negative: !b.negative, digits: b.digits.clone() }).text()
    }
}

/// Nanoseconds as the text of microseconds.
pub(in super::super) fn micros(ns: i64) -> String {
    let value = Time::whole(ns).value.expect("it has digits");
    value.text()
}
