//! Times in names of files, as DevTools and cpu-prof write them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Formats a time in UTC as `20250510T134625`.
pub(crate) fn time_in_name(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{:02}T{hour:02}{minute:02}{second:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_those_of_the_calendar() {
        let of = |seconds| time_in_name(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!([of(0), of(1_746_884_785)], ["19700101T000000", "20250510T134625"]);
        assert_eq!([of(951_782_399), of(951_782_400)], ["20000228T235959", "20000229T000000"]);
        assert_eq!([of(1_709_164_800), of(4_102_444_799)], ["20240229T000000", "20991231T235959"]);
    }
}
