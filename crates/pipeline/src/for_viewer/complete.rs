//! Joins a B event and its E event into an X event: the bytes of the B, and the additions of the E.
//!
//! | key of the E | result |
//! |---|---|
//! | `ts` | `dur`, exact to the last digit |
//! | `args` | merged with those of the B; those of the E win, as in the trace format |
//! | `tts` | `tdur`, if the B has `tts` too |
//! | `sf`, `stack` | `esf`, `estack` |
//! | `ph`, `pid`, `tid`, `dur` | dropped, because the pair defines them |
//! | other keys, such as `name` and `cat` | kept, if the B does not have the key |

use tracemill_tokenizer::{Event, Field, fields_of, members, string_is, unescape};
use tracemill_trace::json::patch::Patches;
use tracemill_trace::json::push_micros;
use tracemill_trace::time::attos::Attos;
use tracemill_write::keys::edit::without;

/// Returns the X event, and the number of dropped keys of the E. Without an E the duration is 0.
pub(super) fn complete(begin: &[u8], end: Option<&[u8]>) -> (Vec<u8>, u64) {
    let spans = fields_of(begin);
    let event = spans.of(begin);
    let mut patches = Patches::default();
    patches.replace(begin, event.field(Field::Ph).unwrap_or_default(), b"\"X\"");
    let dur = end.map_or_else(|| b"0".to_vec(), |end| duration(&event, end));
    match event.field(Field::Dur) {
        Some(old) => patches.replace(begin, old, &dur),
        None => {
            let ts = event.field(Field::Ts).unwrap_or_default();
            patches.insert_behind(begin, ts, &[b",\"dur\":", &*dur].concat());
        }
    }
    let (more, lost) = end.map_or((Vec::new(), 0), |end| add(&event, end, &mut patches));
    patches.insert_at(begin.len() - 1, &more);
    (patches.apply(begin), lost)
}

/// Returns the time from begin to end in microseconds, as text.
fn duration(begin: &Event<'_>, end: &[u8]) -> Vec<u8> {
    let spans = fields_of(end);
    let end = spans.of(end);
    let mut dur = Vec::new();
    match between(begin.field(Field::Ts), end.field(Field::Ts)) {
        Some(exact) => exact.push(&mut dur),
        // out of range
        None => {
            let [from, to] = [begin.ts(), end.ts()].map(|ts| ts.map_or(0, |ts| ts.floor));
            push_micros(to.saturating_sub(from), &mut dur);
        }
    }
    dur
}

fn between(from: Option<&[u8]>, to: Option<&[u8]>) -> Option<Attos> {
    Some(Attos::of(to?)? - Attos::of(from?)?)
}

/// Adds the keys of an E event. Returns the members to append, and the number of dropped keys.
fn add(begin: &Event<'_>, end: &[u8], patches: &mut Patches) -> (Vec<u8>, u64) {
    let fields: Vec<(Vec<u8>, &[u8])> =
        members(begin.bytes).map(|(key, value)| (plain(key), value)).collect();
    let known = |key: &[u8]| fields.iter().rfind(|(name, _)| name == key).map(|&(_, value)| value);
    let (mut more, mut lost, mut added) = (Vec::new(), 0, Vec::new());
    let mut append = |key: &[u8], value: &[u8]| {
        more.extend_from_slice(b",");
        more.extend_from_slice(key);
        more.extend_from_slice(b":");
        more.extend_from_slice(value);
    };
    // among duplicate keys, the last wins
    let all: Vec<_> = members(end).collect();
    let is_free =
        |name: &[u8]| known(name).is_none() && !all.iter().any(|(key, _)| string_is(key, name));
    for (at, &(written, value)) in all.iter().enumerate() {
        let key = plain(written);
        if all[at + 1..].iter().any(|(later, _)| string_is(later, &key)) {
            continue;
        }
        match &*key {
            b"ph" | b"ts" | b"pid" | b"tid" => {}
            b"dur" => lost += 1,
            b"args" => match known(b"args") {
                None | Some(b"null") => added = value.to_vec(),
                Some(args) => {
                    let (joined, gone) = join(args, value);
                    lost += gone;
                    if let Some(joined) = joined {
                        patches.replace(begin.bytes, args, &joined);
                    }
                }
            },
            b"tts" => {
                let spent =
                    between(known(b"tts"), Some(value)).filter(|&spent| spent >= Attos::ZERO);
                if let Some(spent) = spent.filter(|_| is_free(b"tdur")) {
                    let mut text = Vec::new();
                    spent.push(&mut text);
                    append(b"\"tdur\"", &text);
                }
            }
            b"sf" if is_free(b"esf") => append(b"\"esf\"", value),
            b"stack" if is_free(b"estack") => append(b"\"estack\"", value),
            key => match known(key) {
                None => append(written, value),
                Some(begin_value) => lost += u64::from(begin_value != value),
            },
        }
    }
    if !added.is_empty() {
        match known(b"args") {
            Some(null) => patches.replace(begin.bytes, null, &added),
            None => append(b"\"args\"", &added),
        }
    }
    (more, lost)
}

/// Returns the text of a key, without quotes and escapes.
fn plain(key: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    unescape(key.get(1..key.len() - 1).unwrap_or_default(), &mut plain);
    plain
}

/// Returns the merged args if they differ from those of the B, and the number of dropped values.
fn join(begin: &[u8], end: &[u8]) -> (Option<Vec<u8>>, u64) {
    match (begin.first(), end.first()) {
        (Some(b'{'), Some(b'{')) => {}
        (_, Some(b'n')) => return (None, 0),
        _ if begin == end => return (None, 0),
        (Some(b'{'), _) | (_, None) => return (None, 1),
        // if the B's args are not an object, those of the E win
        _ => return (Some(end.to_vec()), 0),
    }
    if members(end).next().is_none() {
        return (None, 0);
    }
    let mut kept = begin.to_vec();
    for (key, _) in members(end) {
        let rest = without(&kept, &plain(key)).map(|pieces| pieces.concat());
        kept = rest.unwrap_or(kept);
    }
    if members(&kept).next().is_none() {
        return (Some(end.to_vec()), 0);
    }
    let open = kept[..kept.len() - 1].trim_ascii_end();
    (Some([open, b",", end[1..].trim_ascii_start()].concat()), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(begin: &str, end: Option<&str>, expected: &str, lost: u64) {
        let (event, gone) = complete(begin.as_bytes(), end.map(str::as_bytes));
        assert_eq!(String::from_utf8(event).unwrap(), expected);
        assert_eq!(gone, lost, "{expected}");
    }

    #[test]
    fn end_event_adds_duration_and_args() {
        let begin = r#"{"ph":"B","ts":1.5,"name":"a","cat":"c","pid":1,"tid":2}"#;
        check(
            begin,
            Some(r#"{"ph":"E","ts":10.0000000001,"pid":1,"tid":2}"#),
            r#"{"ph":"X","ts":1.5,"dur":8.5000000001,"name":"a","cat":"c","pid":1,"tid":2}"#,
            0,
        );
        check(
            begin,
            Some(r#"{"ph":"E","ts":"3","args":{"x":1},"tts":5,"sf":7,"cat":"d","bp":"e"}"#),
            r#"{"ph":"X","ts":1.5,"dur":1.5,"name":"a","cat":"c","pid":1,"tid":2,"esf":7,"bp":"e","args":{"x":1}}"#,
            1,
        );
        check(
            begin,
            None,
            r#"{"ph":"X","ts":1.5,"dur":0,"name":"a","cat":"c","pid":1,"tid":2}"#,
            0,
        );
        check(
            r#"{"args":{ "a":1, "b":2 },"dur":9,"tts":1,"ts":1,"ph":"B"}"#,
            Some(r#"{"args":{"b":3},"tts":2.5,"ts":1,"ph":"E"}"#),
            r#"{"args":{ "a":1,"b":3},"dur":0,"tts":1,"ts":1,"ph":"X","tdur":1.5}"#,
            0,
        );
    }

    #[test]
    fn joins_args_that_are_not_objects() {
        for (begin, end, joined, lost) in [
            ("{}", "{}", None, 0),
            ("{}", r#"{"a":1}"#, Some(r#"{"a":1}"#), 0),
            (r#"{"a":1}"#, "null", None, 0),
            (r#"{"a":1}"#, "5", None, 1),
            ("5", "5", None, 0),
            ("5", r#"{"a":1}"#, Some(r#"{"a":1}"#), 0),
            (r#"{"a":1}"#, r#"{"\u0061":2}"#, Some(r#"{"\u0061":2}"#), 0),
        ] {
            let (got, gone) = join(begin.as_bytes(), end.as_bytes());
            let got = got.map(|got| String::from_utf8(got).unwrap());
            assert_eq!((got.as_deref(), gone), (joined, lost), "{begin} {end}");
        }
    }
}
