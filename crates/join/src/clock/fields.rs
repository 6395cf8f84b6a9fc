//! Finds the times in an event. See the table in [`super`].

use memchr::memmem::Finder;
use std::sync::LazyLock;
use tracemill_tokenizer::{Event, Field, canonical, members, number_text, string_is};
use tracemill_trace::json::{elements, member};
use tracemill_trace::time::shift::{Shift, TimeKind};

type FindTimes = fn(&mut ArgsVisitor<'_, '_>);

const NAMED: [(&[u8], FindTimes); 9] = [
    (b"Profile", profile),
    (b"ProfileChunk", profile),
    (b"CpuProfile", profile),
    (b"CpuProfiler::StartProfiling", profile),
    (b"CpuProfiler::StopProfiling", profile),
    (b"ResourceReceiveResponse", response),
    (b"ResourceFinish", finish),
    (b"TimeStamp", time_stamp),
    (b"clock_sync", clock_sync),
];

/// Passes each time of an event that `shift` changes to `found`. Durations are included only if
/// `shift` scales.
pub(crate) fn each_moved<'e>(
    shift: &Shift,
    event: &Event<'e>,
    found: impl FnMut(&'e [u8], TimeKind),
) {
    each_time(event, shift.scales(), found);
}

/// Passes each time of an event to `found`. Durations are included only with `lengths`.
fn each_time<'e>(event: &Event<'e>, lengths: bool, mut found: impl FnMut(&'e [u8], TimeKind)) {
    if let Some(ts) = event.field(Field::Ts)
        && !(event.is_metadata() && is_zero(ts))
    {
        found(ts, TimeKind::Micros);
    }
    if let Some(dur) = event.field(Field::Dur).filter(|_| lengths) {
        found(dur, TimeKind::Length);
    }
    let find = match named(event) {
        Some(find) => find,
        None if is_user_timing(event) => user_timing,
        None => return,
    };
    if let Some(args) = event.field(Field::Args) {
        find(&mut ArgsVisitor { args, lengths, found: &mut found });
    }
}

/// Returns the function that finds times in the args of an event with this name. The first letter
/// excludes most names without a comparison.
#[inline]
fn named(event: &Event<'_>) -> Option<FindTimes> {
    match event.field_and_rest(Field::Name) {
        Some([b'"', b'P' | b'C' | b'R' | b'T' | b'c' | b'\\', ..]) => {
            let is_it = |(name, _): &&(&[u8], FindTimes)| event.is_string(Field::Name, name);
            NAMED.iter().find(is_it).map(|&(_, find)| find)
        }
        _ => None,
    }
}

#[inline]
fn is_user_timing(event: &Event<'_>) -> bool {
    let Some([b'"', cats @ .., b'"']) = event.field(Field::Cat) else { return false };
    cats.split(|&byte| byte == b',').any(|cat| cat == b"blink.user_timing")
}

struct ArgsVisitor<'e, 'f> {
    args: &'e [u8],
    lengths: bool,
    found: &'f mut dyn FnMut(&'e [u8], TimeKind),
}

impl<'e> ArgsVisitor<'e, '_> {
    fn value(&self, path: &[&[u8]]) -> Option<&'e [u8]> {
        path.iter().try_fold(self.args, |object, name| member(object, name))
    }

    fn time(&mut self, path: &[&[u8]], kind: TimeKind) {
        if let Some(value) = self.value(path) {
            (self.found)(value, kind);
        }
    }
}

/// Finds the times of a profile event. A byte search detects chunks without times, as most are.
fn profile(args: &mut ArgsVisitor<'_, '_>) {
    static TIME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("Time\""));
    let is_plain = || memchr::memchr(b'\\', args.args).is_none();
    if !args.lengths && TIME.find(args.args).is_none() && is_plain() {
        return;
    }
    let Some(data) = args.value(&[b"data"]) else { return };
    let names = [&b"startTime"[..], b"endTime", b"timeDeltas", b"cpuProfile"];
    let [start, end, deltas, whole] = last_of(data, names);
    let [inner_start, inner_end, inner_deltas, _] = last_of(whole.unwrap_or_default(), names);
    for time in [start, end, inner_start, inner_end].into_iter().flatten() {
        (args.found)(time, TimeKind::Micros);
    }
    for list in [deltas, inner_deltas].into_iter().flatten().filter(|_| args.lengths) {
        elements(list).for_each(|length| (args.found)(length, TimeKind::Length));
    }
}

/// Returns the last member with each of these names, in one pass.
fn last_of<'o, const N: usize>(object: &'o [u8], names: [&[u8]; N]) -> [Option<&'o [u8]>; N] {
    let mut last = [None; N];
    let is_object = object.first() == Some(&b'{');
    for (key, value) in members(object).take_while(|_| is_object) {
        for (name, last) in names.iter().zip(&mut last) {
            if string_is(key, name) {
                *last = Some(value);
            }
        }
    }
    last
}

/// Reports a time in seconds, unless the time is 0. Chrome writes 0 for a missing request.
fn seconds(args: &mut ArgsVisitor<'_, '_>, path: &[&[u8]]) {
    if args.value(path).is_some_and(|value| !is_zero(value)) {
        args.time(path, TimeKind::Seconds);
    }
}

fn response(args: &mut ArgsVisitor<'_, '_>) {
    seconds(args, &[b"data", b"timing", b"requestTime"]);
}

fn finish(args: &mut ArgsVisitor<'_, '_>) {
    seconds(args, &[b"data", b"finishTime"]);
}

/// Reports `start` and `end` if they are numbers; strings name other time stamps.
fn time_stamp(args: &mut ArgsVisitor<'_, '_>) {
    for name in [&b"start"[..], b"end"] {
        let path: [&[u8]; 2] = [b"data", name];
        if args.value(&path).is_some_and(|value| !value.starts_with(b"\"")) {
            args.time(&path, TimeKind::Micros);
        }
    }
}

fn user_timing(args: &mut ArgsVisitor<'_, '_>) {
    args.time(&[b"callTime"], TimeKind::Micros);
    args.time(&[b"data", b"callTime"], TimeKind::Micros);
}

fn clock_sync(args: &mut ArgsVisitor<'_, '_>) {
    args.time(&[b"issue_ts"], TimeKind::Micros);
}

/// Returns whether a value is the number 0 in any notation.
fn is_zero(value: &[u8]) -> bool {
    let (mut scratch, mut form) = (Vec::new(), Vec::new());
    number_text(value, &mut scratch).is_some_and(|text| canonical(text, &mut form)) && form == b"0"
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    fn times(event: &str, lengths: bool) -> Vec<(String, TimeKind)> {
        let (mut all, bytes) = (Vec::new(), event.as_bytes());
        each_time(&fields_of(bytes).of(bytes), lengths, |value, kind| {
            all.push((String::from_utf8_lossy(value).into_owned(), kind));
        });
        all
    }

    #[test]
    fn times_by_event() {
        use TimeKind::{Length, Micros, Seconds};
        for (event, expected) in [
            (
                r#"{"ph":"X","ts":1,"dur":2,"args":{"startTime":3}}"#,
                vec![("1", Micros), ("2", Length)],
            ),
            (r#"{"ph":"M","ts":0}"#, vec![]),
            (r#"{"ph":"M","ts":"0.0"}"#, vec![]),
            (r#"{"ph":"X","ts":0}"#, vec![("0", Micros)]),
            (r#"{"ph":"M","ts":7}"#, vec![("7", Micros)]),
            (
                r#"{"name":"ProfileChunk","args":{"data":{"endTime":5,"timeDeltas":[1,"2"],"cpuProfile":{"startTime":6,"samples":[7]}}}}"#,
                vec![("5", Micros), ("6", Micros), ("1", Length), ("\"2\"", Length)],
            ),
            (
                r#"{"name":"ResourceReceiveResponse","args":{"data":{"timing":{"requestTime":5.5,"sendEnd":1}}}}"#,
                vec![("5.5", Seconds)],
            ),
            (r#"{"name":"ResourceFinish","args":{"data":{"finishTime":0}}}"#, vec![]),
            (r#"{"name":"TimeStamp","args":{"data":{"start":"a","end":8}}}"#, vec![("8", Micros)]),
            (
                r#"{"cat":"blink.user_timing","name":"x","args":{"callTime":9}}"#,
                vec![("9", Micros)],
            ),
            (r#"{"cat":"other","name":"x","args":{"callTime":9}}"#, vec![]),
            (r#"{"name":"clock_sync","ph":"c","args":{"issue_ts":1}}"#, vec![("1", Micros)]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(v, k)| (v.to_owned(), k)).collect();
            assert_eq!(times(event, true), expected, "{event}");
        }
        assert_eq!(times(r#"{"ts":1,"dur":2}"#, false).len(), 1);
    }
}
