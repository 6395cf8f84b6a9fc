//! What a part that `split` made says of itself, so that `merge` makes the whole of parts again: one key beside its events.
//!
//! ```text
//!   "tracemill":{"part":{"of":{"events":9,"bytes":712,"first_ns":1000,"last_ns":70000},"parts":3,"numbers":"2",
//!                        "array":true,"metadata":"0-3,7","frames":"0-5"},
//!                "copies":[event,…]}
//! ```
//!
//! | member | says |
//! |---|---|
//! | `of` | what the whole was: parts in which it is equal to the byte are parts of one trace |
//! | `parts` | how many there are |
//! | `numbers` | which one this is, from 1 on; several, where some were put together before the others |
//! | `array` | the whole had the array form, which has no place for this key |
//! | `metadata` | its metadata events, by their numbers among those of the whole, in input order from 0 |
//! | `frames` | its members of `stackFrames`, by their numbers in the whole |
//! | `copies` | events that an earlier part has too, as they are written |
//!
//! What a document cannot say is left out; a part of a trace may have nothing but `copies`.

use tracemill_core::envelope::Document;
use tracemill_core::json::elements;
use tracemill_core::store::Store;
use tracemill_tokenizer::{members, string_is, unescape};

/// Numbers that ascend, as stretches: `"0-3,7"`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers(Vec<(u64, u64)>);

impl Numbers {
    /// Makes ranges of ascending numbers; equal ones count once.
    pub(crate) fn of(numbers: impl IntoIterator<Item = u64>) -> Self {
        let mut all = Numbers::default();
        for number in numbers {
            match all.0.last_mut() {
                Some((_, last)) if number <= *last + 1 => *last = number.max(*last),
                _ => all.0.push((number, number)),
            }
        }
        all
    }

    /// `None` if the text, with its quotes, is no such list.
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?.strip_prefix('"')?.strip_suffix('"')?;
        let mut all = Numbers::default();
        for stretch in text.split(',').filter(|_| !text.is_empty()) {
            let (first, last) = stretch.split_once('-').unwrap_or((stretch, stretch));
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            if last < first || all.0.last().is_some_and(|&(_, before)| first <= before) {
                return None;
            }
            all.0.push((first, last));
        }
        Some(all)
    }

    /// How many. Whoever wrote them may have written anything.
    pub(crate) fn count(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |sum: u64, (first, last)| sum.saturating_add(last - first).saturating_add(1))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().flat_map(|&(first, last)| first..=last)
    }

    /// The numbers of all lists together.
    pub(crate) fn united<'n>(lists: impl Iterator<Item = &'n Numbers>) -> Numbers {
        let mut all: Vec<(u64, u64)> = lists.flat_map(|numbers| &numbers.0).copied().collect();
        all.sort_unstable();
        let mut united: Vec<(u64, u64)> = Vec::new();
        for (first, last) in all {
            match united.last_mut() {
                Some((_, before)) if first <= before.saturating_add(1) => {
                    *before = last.max(*before);
                }
                _ => united.push((first, last)),
            }
        }
        Numbers(united)
    }

    fn push(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        for (number, &(first, last)) in self.0.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            let text = match first == last {
                true => format!("{comma}{first}"),
                false => format!("{comma}{first}-{last}"),
            };
            out.extend_from_slice(text.as_bytes());
        }
        out.push(b'"');
    }
}

/// What a part says of the whole and of its place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartStatement {
    /// A JSON object, as it is written.
    pub(crate) of: Vec<u8>,
    pub(crate) parts: u64,
    pub(crate) numbers: Numbers,
    pub(crate) array: bool,
    pub(crate) metadata: Option<Numbers>,
    pub(crate) frames: Option<Numbers>,
}

impl PartStatement {
    /// Bytes of one at most, but for its lists of metadata and frames, with the name of its key.
    pub(crate) const MOST: u64 = 256;

    fn parse(value: &[u8]) -> Option<Self> {
        let (mut of, mut parts, mut numbers, mut array) = (None, None, None, false);
        let (mut metadata, mut frames) = (None, None);
        for (key, value) in members(value) {
            let is = |name: &str| string_is(key, name.as_bytes());
            if is("of") {
                of = Some(value.to_vec()).filter(|of| of.starts_with(b"{"));
            } else if is("parts") {
                parts = std::str::from_utf8(value).ok()?.parse().ok();
            } else if is("numbers") {
                numbers = Numbers::parse(value);
            } else if is("array") {
                array = value == b"true";
            } else if is("metadata") {
                metadata = Numbers::parse(value);
            } else if is("frames") {
                frames = Numbers::parse(value);
            }
        }
        let (of, parts, numbers) = (of?, parts?, numbers?);
        Some(PartStatement { of, parts, numbers, array, metadata, frames })
    }

    /// `"part":{…}`
    pub(crate) fn push(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"part\":{\"of\":");
        out.extend_from_slice(&self.of);
        out.extend_from_slice(format!(",\"parts\":{},\"numbers\":", self.parts).as_bytes());
        self.numbers.push(out);
        if self.array {
            out.extend_from_slice(b",\"array\":true");
        }
        for (name, numbers) in [("metadata", &self.metadata), ("frames", &self.frames)] {
            if let Some(numbers) = numbers {
                out.extend_from_slice(format!(",\"{name}\":").as_bytes());
                numbers.push(out);
            }
        }
        out.push(b'}');
    }
}

/// The value of such a key.
#[derive(Debug, Default)]
pub(crate) struct PartValue<'p> {
    pub(crate) part: Option<PartStatement>,
    /// An array of events.
    pub(crate) copies: Option<&'p [u8]>,
}

impl<'p> PartValue<'p> {
    /// What a key of a document says; `None` if it is none that `split` wrote.
    pub(crate) fn by(key: &[u8], value: &'p [u8]) -> Option<Self> {
        let mut name = Vec::new();
        unescape(key.get(1..key.len() - 1)?, &mut name);
        if name != b"tracemill" && !name.starts_with(b"tracemill.") || !value.starts_with(b"{") {
            return None;
        }
        let (mut said, mut is_any) = (PartValue::default(), false);
        for (key, value) in members(value) {
            if string_is(key, b"part") {
                said.part = Some(PartStatement::parse(value)?);
            } else if string_is(key, b"copies") {
                said.copies = Some(list(value)?);
            } else {
                return None;
            }
            is_any = true;
        }
        is_any.then_some(said)
    }
}

/// A list of events.
fn list(value: &[u8]) -> Option<&[u8]> {
    let is_list = value.starts_with(b"[");
    (is_list && elements(value).all(|event| event.starts_with(b"{"))).then_some(value)
}

/// Where a key stands that says of a document that `split` made it of a larger one, and what that was, if it says so.
pub(crate) type Sign = (u64, Option<Vec<u8>>);

/// The signs of all documents, by their places.
pub(crate) fn signs_of_parts(documents: &[Document], store: &Store<'_>) -> Vec<Sign> {
    let keys = documents.iter().flat_map(|document| &document.keys);
    let signs = keys.filter_map(|key| {
        let said = PartValue::by(&key.key, store.slice(key.offset, key.len))?;
        Some((key.offset, said.part.map(|part| part.of)))
    });
    let mut signs: Vec<Sign> = signs.collect();
    signs.sort_unstable();
    signs
}

/// The members of an object, each with the white space around it: what stands between its commas.
pub(crate) fn frames_of(value: &[u8]) -> Vec<&[u8]> {
    let mut from = 1;
    let members = members(value).map(|(_, frame)| {
        let end = frame.as_ptr() as usize - value.as_ptr() as usize + frame.len();
        let space = value[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let member = &value[from..end + space];
        from = (end + space + 1).min(value.len());
        member
    });
    members.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for (numbers, text) in [
            (&[][..], r#""""#),
            (&[0], r#""0""#),
            (&[0, 1, 2, 7, 9, 10], r#""0-2,7,9-10""#),
            (&[3, 3, 4], r#""3-4""#),
        ] {
            let all = Numbers::of(numbers.iter().copied());
            let mut written = Vec::new();
            all.push(&mut written);
            assert_eq!(written, text.as_bytes());
            assert_eq!(Numbers::parse(&written), Some(all));
        }
        for wrong in [r#""3-1""#, r#""1,1""#, r#""a""#, "1", r#""1,""#, r#""-""#] {
            assert_eq!(Numbers::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn lists_are_united() {
        let lists = [[5, 6], [0, 1], [2, 9]].map(Numbers::of);
        assert_eq!(Numbers::united(lists.iter()), Numbers::of([0, 1, 2, 5, 6, 9]));
    }

    #[test]
    fn keys_of_parts_are_known_and_others_not() {
        let part = r#""part":{"of":{"events":2},"parts":2,"numbers":"1","array":true,"metadata":"0-3","frames":"0"}"#;
        let value = format!(r#"{{{part},"copies":[{{}}]}}"#);
        let said = PartValue::by(b"\"tracemill\"", value.as_bytes()).expect("of a part");
        let mut again = Vec::new();
        said.part.expect("it says so").push(&mut again);
        assert_eq!((again, said.copies), (part.as_bytes().to_vec(), Some(&b"[{}]"[..])));
        for (key, value) in [
            ("\"tracemill\"", r#"{"copies":[],"x":1}"#),
            ("\"tracemill\"", r#"{"inputs":[]}"#),
            ("\"tracemill\"", "{}"),
            ("\"tracemill\"", "[]"),
            ("\"other\"", r#"{"copies":[]}"#),
            ("\"tracemill.2\"", r#"{"part":{"parts":2}}"#),
        ] {
            assert!(PartValue::by(key.as_bytes(), value.as_bytes()).is_none(), "{key}: {value}");
        }
        assert!(PartValue::by(b"\"tracemill.2\"", br#"{"copies":[]}"#).is_some());
    }

    #[test]
    fn frames_keep_the_white_space_around_them() {
        let value = b"{ \"1\" : {\"name\": \"a\"} ,\n  \"2\":{}\n}";
        let frames = frames_of(value);
        assert_eq!(frames, [&b" \"1\" : {\"name\": \"a\"} "[..], b"\n  \"2\":{}\n"]);
        assert_eq!([b"{", &*frames.join(&b","[..]), b"}"].concat(), value);
        assert!(frames_of(b"{}").is_empty());
    }
}
