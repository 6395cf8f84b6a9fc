//! Serializes report values: pairs as maps, named values by name, ids as numbers or text.

use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};
use tracemill_tokenizer::Tier;

/// Serializes an id: an integer that JSON can carry exactly as a number, a missing id as null,
/// anything else as text.
///
/// ```
/// use tracemill_join::report::rows::WrittenId;
///
/// let row = |id| serde_json::to_string(&WrittenId(id)).unwrap();
/// assert_eq!((row("12"), row("\"Spans\"")), ("12".into(), "\"Spans\"".into()));
/// assert_eq!((row("1.50"), row("")), ("\"1.50\"".into(), "null".into()));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WrittenId<'i>(pub &'i str);

impl Serialize for WrittenId<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_empty() {
            return serializer.serialize_none();
        }
        match serde_json::from_str(self.0) {
            Ok(serde_json::Value::Number(number)) if number.is_i64() || number.is_u64() => {
                number.serialize(serializer)
            }
            Ok(serde_json::Value::String(text)) => serializer.serialize_str(&text),
            _ => serializer.serialize_str(self.0),
        }
    }
}

/// Serializes an id; see [`WrittenId`].
pub fn id<S: Serializer>(id: &str, serializer: S) -> Result<S::Ok, S::Error> {
    WrittenId(id).serialize(serializer)
}

/// Serializes pairs as a map.
pub fn map<K: AsRef<str>, V: Serialize, S: Serializer>(
    pairs: &[(K, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key.as_ref(), value)))
}

/// Serializes a path as text; invalid UTF-8 becomes U+FFFD.
pub fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Serializes an optional path like [`path`].
pub fn some_path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// Serializes an optional path with a number; see [`path`].
pub fn numbered_path<S: Serializer>(
    pair: &Option<(PathBuf, u64)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    pair.as_ref().map(|(path, number)| (path.to_string_lossy(), number)).serialize(serializer)
}

pub(crate) fn tier<S: Serializer>(tier: &Tier, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(tier.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn ids_are_exact_or_text() {
        let id = |id| serde_json::to_value(WrittenId(id)).expect("a value");
        assert_eq!(id(""), Value::Null);
        assert_eq!(id("12"), json!(12));
        assert_eq!(id("-1"), json!(-1));
        assert_eq!(id("18446744073709551615"), json!(u64::MAX));
        assert_eq!(id("18446744073709551616"), json!("18446744073709551616"));
        assert_eq!(id("1.50"), json!("1.50"));
        assert_eq!(id("\"Spans\""), json!("Spans"));
        assert_eq!(id("{\"a\":1}"), json!("{\"a\":1}"));
    }

    #[cfg(unix)]
    #[test]
    fn paths_of_any_bytes_are_text() {
        use std::os::unix::ffi::OsStrExt;
        #[derive(Serialize)]
        struct Row {
            #[serde(serialize_with = "path")]
            one: PathBuf,
            #[serde(serialize_with = "some_path")]
            some: Option<PathBuf>,
            #[serde(serialize_with = "numbered_path")]
            numbered: Option<(PathBuf, u64)>,
        }
        let odd = PathBuf::from(std::ffi::OsStr::from_bytes(b"a\xFF"));
        let row = Row { one: odd.clone(), some: Some(odd.clone()), numbered: Some((odd, 7)) };
        let text = "a\u{FFFD}";
        let expected = json!({"one": text, "some": text, "numbered": [text, 7]});
        assert_eq!(serde_json::to_value(row).expect("a value"), expected);
    }
}
