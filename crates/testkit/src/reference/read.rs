//! Reads inputs for the reference: documents with events and top-level keys, all as raw text.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::format::Format;

/// Returns whether an output may be read back differently. Readers may treat a first line as a
/// document if the line is broken or resembles no event. They may treat an event with a key
/// `traceEvents` as a document, and an event that resembles the line of keys as that line.
pub fn is_ambiguous(trace: &[u8]) -> bool {
    let is_keys = |line: &[u8]| line.starts_with(b"{\"tracemill\":{");
    let mut lines = trace.split(|&b| b == b'\n');
    let first = lines.next().unwrap_or_default();
    if lines.any(|line| is_keys(line) || has_events_key(line)) {
        return true;
    }
    if !first.starts_with(b"{") || !first.ends_with(b"}") || is_keys(first) {
        return false;
    }
    let Ok(Value::Object(first)) = serde_json::from_slice(first) else { return true };
    let has = |key| first.contains_key(key);
    let timed = has("ts") && (has("pid") || has("tid") || has("name"));
    !first.is_empty() && !has("traceEvents") && !has("ph") && !timed
}

/// Returns whether a line is an event with a key `traceEvents`, or is broken and might have one.
fn has_events_key(line: &[u8]) -> bool {
    const NAME: &[u8] = b"\"traceEvents\"";
    let event = line.strip_suffix(b",").unwrap_or(line);
    event.starts_with(b"{")
        && event.windows(NAME.len()).any(|part| part == NAME)
        && serde_json::from_slice::<serde_json::Map<String, Value>>(event)
            .map_or(true, |event| event.contains_key("traceEvents"))
}

/// The keys and values of a JSON object in order, including duplicates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields<'a>(pub(crate) Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    /// Returns the members of `text` if it is an object.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        if !text.starts_with('{') {
            return None;
        }
        let mut deserializer = serde_json::Deserializer::from_str(text);
        deserializer.deserialize_map(FieldsVisitor).ok()
    }

    /// Returns the raw value of the last member with this unescaped name.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(key, _)| is_string(key, name)).map(|&(_, value)| value)
    }
}

struct FieldsVisitor;

impl<'a> Visitor<'a> for FieldsVisitor {
    type Value = Fields<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Fields<'a>, A::Error> {
        let mut fields = Vec::new();
        while let Some((key, value)) = map.next_entry::<&'a RawValue, &'a RawValue>()? {
            fields.push((key.get(), value.get()));
        }
        Ok(Fields(fields))
    }
}

/// Returns the raw elements of `text` if it is an array.
pub(crate) fn elements(text: &str) -> Option<Vec<&str>> {
    if !text.starts_with('[') {
        return None;
    }
    let values: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(values.into_iter().map(RawValue::get).collect())
}

/// Returns the content of a JSON string as WTF-8 (a lone surrogate becomes three bytes). Returns
/// `None` if `text` is not a string.
pub(crate) fn unescape(text: &str) -> Option<Vec<u8>> {
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }
        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }
    if !text.starts_with('"') {
        return None;
    }
    serde_json::Deserializer::from_str(text).deserialize_bytes(Bytes).ok()
}

pub(crate) fn is_string(text: &str, content: &str) -> bool {
    unescape(text).is_some_and(|bytes| bytes == content.as_bytes())
}

/// One trace inside an input: an array, an object, or a run of NDJSON lines.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) format: Format,
    pub(crate) events: Vec<&'a str>,
    /// Top-level members other than `traceEvents`.
    pub(crate) keys: Fields<'a>,
}

pub(crate) fn sources(input: &[u8]) -> Result<Vec<Source<'_>>, String> {
    let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
    let mut sources: Vec<Source<'_>> = Vec::new();
    let mut in_lines = false;
    for document in serde_json::Deserializer::from_slice(input).into_iter::<&RawValue>() {
        let text = document.map_err(|e| format!("not well-formed: {e}"))?.get();
        if text.starts_with('[') {
            let keys = Fields::default();
            sources.push(Source { format: Format::Array, events: events_of(text)?, keys });
            in_lines = false;
            continue;
        }
        let fields = Fields::parse(text).ok_or("a document is neither an object nor an array")?;
        if fields.get("traceEvents").is_some() {
            sources.push(object_source(fields)?);
            in_lines = false;
        } else if let Some(keys) = header_keys(&fields) {
            sources.push(Source { format: Format::Ndjson, events: Vec::new(), keys });
            in_lines = true;
        } else {
            if !in_lines {
                let keys = Fields::default();
                sources.push(Source { format: Format::Ndjson, events: Vec::new(), keys });
                in_lines = true;
            }
            sources.last_mut().expect("pushed above").events.push(text);
        }
    }
    Ok(sources)
}

fn object_source(fields: Fields<'_>) -> Result<Source<'_>, String> {
    let is_events = |key: &str| is_string(key, "traceEvents");
    let mut arrays = fields.0.iter().filter(|(key, _)| is_events(key)).map(|&(_, value)| value);
    let events = events_of(arrays.next().ok_or("no traceEvents")?)?;
    if arrays.next().is_some() {
        return Err("two traceEvents keys in one object".into());
    }
    let keys = fields.0.into_iter().filter(|(key, _)| !is_events(key)).collect();
    Ok(Source { format: Format::Object, events, keys: Fields(keys) })
}

fn header_keys<'a>(fields: &Fields<'a>) -> Option<Fields<'a>> {
    match fields.0[..] {
        [(key, value)] if is_string(key, "tracemill") => Fields::parse(value),
        _ => None,
    }
}

fn events_of(array: &str) -> Result<Vec<&str>, String> {
    let events = elements(array).ok_or("traceEvents is no array")?;
    match events.iter().find(|event| !event.starts_with('{')) {
        Some(event) => Err(format!("an event is no object: {event:.40}")),
        None => Ok(events),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_duplicates_and_bytes() {
        let fields =
            Fields::parse("{ \"b\" : 1.50 ,\"a\":[ 1 ], \"\\u0062\":\"\\ud800\"}").unwrap();
        assert_eq!(
            fields.0,
            [("\"b\"", "1.50"), ("\"a\"", "[ 1 ]"), ("\"\\u0062\"", "\"\\ud800\"")]
        );
        assert_eq!(fields.get("b"), Some("\"\\ud800\""));
        assert_eq!(fields.get("c"), None);
    }

    #[test]
    fn unescapes_lone_surrogates() {
        assert_eq!(unescape("\"\\ud800\""), Some(vec![0xed, 0xa0, 0x80]));
        assert_eq!(unescape("\"\\ud83d\\ude00\""), Some("😀".as_bytes().to_vec()));
        assert_eq!(unescape("12"), None);
    }

    #[test]
    fn splits_concatenated_documents() {
        let input = b"\xef\xbb\xbf[{}]{\"ph\":\"X\"}\n{}\n{\"a\":1,\"traceEvents\":[]}\
                      {\"tracemill\":{\"b\":2}}\n{}\n{\"tracemill\":{}}\n";
        let sources = sources(input).unwrap();
        let shapes: Vec<_> =
            sources.iter().map(|s| (s.format, s.events.len(), s.keys.0.len())).collect();
        use Format::{Array, Ndjson, Object};
        assert_eq!(
            shapes,
            [(Array, 1, 0), (Ndjson, 2, 0), (Object, 0, 1), (Ndjson, 1, 1), (Ndjson, 0, 0)]
        );
    }
}
