//! Finds one top-level key, such as `metadata.command_line`.
//!
//! A key before the events is found without reading the events. Otherwise the input is scanned.

use tracemill_cpuprofile::ProfileReader;
use tracemill_join::config::Config;
use tracemill_tokenizer::{Cursor, members, to_text, unescape};
use tracemill_trace::input::source::Source;
use tracemill_trace::input::{Input, OpenedInput, expand, open};
use tracemill_trace::json::elements;
use tracemill_trace::observe::trace::Trace;
use tracemill_trace::read::InputWarning;
use tracemill_trace::run::error::Error;

/// The values found under a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundKey {
    /// The values as written: one for each input or document that has the key.
    pub values: Vec<Vec<u8>>,
    /// If there are no values: the keys of the innermost existing object on the path.
    pub there: Vec<String>,
    /// Warnings about the inputs.
    pub warnings: Vec<InputWarning>,
}

/// Finds the key `path`: names joined by dots, starting with a top-level key (or a key of a CPU
/// profile).
///
/// Numbers are indices of array elements, from 0. Names may contain dots. Among equal keys in one
/// object, the first wins.
///
/// Cost: reads the start of a plain file if the key is before the events, and scans all other
/// inputs.
///
/// # Errors
/// Returns the same errors as `info`.
pub fn find_key(sources: &[Source], path: &str, config: &Config) -> Result<FoundKey, Error> {
    config.limits.check()?;
    let mut found = FoundKey::default();
    for input in expand(sources)? {
        match find(&input, path, config, &mut found) {
            Err(error) if input.is_found() && error.is_no_trace() => {
                InputWarning::leave_out(&mut found.warnings, error.to_string());
            }
            done => done?,
        }
    }
    if !found.values.is_empty() {
        found.there.clear();
    }
    Ok(found)
}

/// Finds the key in one input.
fn find(input: &Input, path: &str, config: &Config, found: &mut FoundKey) -> Result<(), Error> {
    if input.source.file().is_some()
        && let OpenedInput::Mapped { mapped, skip, original: Some(original), .. } =
            open(input, &config.limits)?
        && let Some(value) = in_front(&mapped[skip..], path)
    {
        let value = value.to_vec();
        original.check(Some(&mapped))?;
        found.values.push(value);
        return Ok(());
    }
    scan(&input.source, path, config, found)
}

/// Returns the value of a key before the events. Returns `None` if no such key is before the
/// events.
fn in_front<'b>(text: &'b [u8], path: &str) -> Option<&'b [u8]> {
    let mut cursor = Cursor::new(text);
    if !cursor.enter(b'{') {
        return None;
    }
    while let Some(key) = cursor.next_key() {
        if &*key == b"traceEvents" || &*key == b"tracemill" {
            return None;
        }
        let value = cursor.value();
        if cursor.offset() >= text.len() {
            // the value may be cut off
            return None;
        }
        if let Some(value) = below(&key, value, path) {
            return Some(value);
        }
    }
    None
}

/// Returns the value at `path`, or `None` if `path` does not start with `key`.
fn below<'v>(key: &[u8], value: &'v [u8], path: &str) -> Option<&'v [u8]> {
    let rest = path.as_bytes().strip_prefix(key)?;
    match rest.first() {
        None => Some(value),
        Some(b'.') => descend(value, &path[key.len() + 1..]),
        Some(_) => None,
    }
}

fn descend<'v>(value: &'v [u8], path: &str) -> Option<&'v [u8]> {
    match value.first()? {
        b'{' => members(value).find_map(|(key, value)| below(&plain(key), value, path)),
        b'[' => {
            let (number, rest) =
                path.split_once('.').map_or((path, None), |(n, rest)| (n, Some(rest)));
            let element = elements(value).nth(number.parse().ok()?)?;
            rest.map_or(Some(element), |rest| descend(element, rest))
        }
        _ => None,
    }
}

fn plain(key: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    unescape(key.get(1..key.len() - 1).unwrap_or_default(), &mut plain);
    plain
}

/// Finds the key by reading the whole input.
fn scan(source: &Source, path: &str, config: &Config, found: &mut FoundKey) -> Result<(), Error> {
    let mut profiles = ProfileReader::new(&config.profiles, false, false);
    let sources = std::slice::from_ref(source);
    let trace = Trace::observe(sources, &config.limits, &mut profiles, ())?;
    let store = trace.store();
    for document in trace.documents() {
        let keys =
            || document.keys.iter().map(|key| (plain(&key.key), store.slice(key.offset, key.len)));
        match keys().find_map(|(key, value)| below(&key, value, path)) {
            Some(value) => found.values.push(value.to_vec()),
            None => {
                let (mut there, mut parent) = (keys().collect::<Vec<_>>(), String::new());
                // follow the path as far as it exists
                for name in path.split('.') {
                    let inner = there.iter().find(|(key, _)| key == name.as_bytes());
                    let Some(&(_, object)) =
                        inner.filter(|(_, value)| value.first() == Some(&b'{'))
                    else {
                        break;
                    };
                    parent.push_str(name);
                    parent.push('.');
                    there = members(object).map(|(key, value)| (plain(key), value)).collect();
                }
                let names = there.into_iter().map(|(key, _)| format!("{parent}{}", to_text(&key)));
                found.there.extend(names);
            }
        }
    }
    found.there.sort_unstable();
    found.there.dedup();
    trace.check_unchanged()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(text: &str, path: &str) -> Option<String> {
        in_front(text.as_bytes(), path)
            .map(|value| String::from_utf8(value.to_vec()).expect("text"))
    }

    #[test]
    fn finds_keys_before_the_events() {
        let text = r#"{"a.b":{"c":1.50},"metadata":{"x":"y","l":[1,{"z":null}],"a.b":{"c.d":2}},"traceEvents":["#;
        for (path, value) in [
            ("a.b", Some(r#"{"c":1.50}"#)),
            ("a.b.c", Some("1.50")),
            ("metadata.x", Some(r#""y""#)),
            ("metadata.l.1.z", Some("null")),
            ("metadata.l.0", Some("1")),
            ("metadata.l.2", None),
            ("metadata.l.x", None),
            ("metadata.a.b.c.d", Some("2")),
            ("metadata.x.y", None),
            ("meta", None),
            ("traceEvents", None),
        ] {
            assert_eq!(front(text, path).as_deref(), value, "{path}");
        }
        // keys that are cut off, after the events or in NDJSON need a scan
        assert_eq!(front(r#"{"a":12"#, "a"), None);
        assert_eq!(front(r#"{"traceEvents":[],"a":1}"#, "a"), None);
        assert_eq!(front(r#"{"tracemill":{"tracemill":1}}"#, "tracemill"), None);
        assert_eq!(front("[]", "a"), None);
    }
}
