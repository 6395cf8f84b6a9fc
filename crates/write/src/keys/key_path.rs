//! One key of what stands beside the events, such as `metadata.command_line`.
//!
//! Where it stands before the events of a file it is found at once: nothing behind it is read. Else the inputs are scanned.

use tracemill_cpuprofile::ProfileReader;
use tracemill_join::config::Config;
use tracemill_tokenizer::{Cursor, members, to_text, unescape};
use tracemill_trace::input::source::Source;
use tracemill_trace::input::{Input, OpenedInput, expand, open};
use tracemill_trace::json::elements;
use tracemill_trace::observe::trace::Trace;
use tracemill_trace::read::InputWarning;
use tracemill_trace::run::error::Error;

/// What was found of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundKey {
    /// Its values, each as it is written: one for each input, or each document of an input, that has it.
    pub values: Vec<Vec<u8>>,
    /// If there are none: keys that there are, in the innermost object on the way to it.
    pub there: Vec<String>,
    /// What is said of the inputs.
    pub warnings: Vec<InputWarning>,
}

/// Finds the key `path`: names of keys with dots between them, the first one of those beside the events (or of a CPU profile);
/// numbers count elements of lists from 0. A name may have dots itself. Of equal keys in one object the first counts.
///
/// Cost: of an input that is a plain file and has the key before its events, a look at what stands there; of all others a scan.
///
/// # Errors
/// As `info`.
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

/// Looks in one input: in front of its events first, if it is a plain file.
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

/// The value of a key that stands before the events.
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
            // it may have been cut off
            return None;
        }
        if let Some(value) = below(&key, value, path) {
            return Some(value);
        }
    }
    None
}

/// What `path` names, if `key` is how it begins.
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

/// A key without its quotes.
fn plain(key: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    unescape(key.get(1..key.len() - 1).unwrap_or_default(), &mut plain);
    plain
}

/// Reads an input to its end.
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
                // as far down as the path leads
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
    fn keys_before_the_events_are_found_without_these() {
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
        // what may be cut off, stand behind the events, or belong to lines is left to the scan
        assert_eq!(front(r#"{"a":12"#, "a"), None);
        assert_eq!(front(r#"{"traceEvents":[],"a":1}"#, "a"), None);
        assert_eq!(front(r#"{"tracemill":{"tracemill":1}}"#, "tracemill"), None);
        assert_eq!(front("[]", "a"), None);
    }
}
