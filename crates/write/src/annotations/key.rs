//! Keys by which annotations refer to events, in DevTools' syntax.

use tracemill_join::report::warning::AnnotationDrop;
use tracemill_tokenizer::unescape;

/// A key that DevTools can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKey {
    /// `r-INDEX`: an event, by its index.
    Raw(u64),
    /// `s-INDEX`: the entry that DevTools synthesizes from the event with this index.
    Synthetic(u64),
    /// `p-PID-TID-SAMPLE-NODE`: a call in a CPU profile.
    Call(CallKey),
}

/// The first call of a thread, in order of time, that has this sample and node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CallKey {
    pub(super) pid: u64,
    pub(super) tid: u64,
    pub(super) sample: u64,
    pub(super) node: u64,
}

impl EventKey {
    /// Parses a key from a JSON value.
    ///
    /// DevTools writes `p-…--1-…` for calls without a sample, but cannot read such keys itself.
    pub(super) fn of(value: &[u8]) -> Result<Self, AnnotationDrop> {
        let parts = parts(value).ok_or(AnnotationDrop::Malformed)?;
        match (parts.0, &parts.1[..]) {
            (b'r', &[index]) => Ok(EventKey::Raw(index)),
            (b's', &[index]) => Ok(EventKey::Synthetic(index)),
            (b'p', &[pid, tid, sample, node]) => {
                Ok(EventKey::Call(CallKey { pid, tid, sample, node }))
            }
            // `l-INDEX`: a frame on the Frames track
            (b'l', [_]) => Err(AnnotationDrop::Frame),
            _ => Err(AnnotationDrop::Malformed),
        }
    }

    /// Returns the index of the event that the key refers to, or `None` for a call.
    pub(super) fn index(self) -> Option<u64> {
        match self {
            EventKey::Raw(index) | EventKey::Synthetic(index) => Some(index),
            EventKey::Call(_) => None,
        }
    }

    /// Returns the key as a JSON string.
    pub(super) fn text(self) -> Vec<u8> {
        let text = match self {
            EventKey::Raw(index) => format!("\"r-{index}\""),
            EventKey::Synthetic(index) => format!("\"s-{index}\""),
            EventKey::Call(CallKey { pid, tid, sample, node }) => {
                format!("\"p-{pid}-{tid}-{sample}-{node}\"")
            }
        };
        text.into_bytes()
    }
}

/// Splits a key into its letter and its numbers.
fn parts(value: &[u8]) -> Option<(u8, Vec<u64>)> {
    let [b'"', content @ .., b'"'] = value else { return None };
    let mut text = Vec::new();
    unescape(content, &mut text);
    let text = std::str::from_utf8(&text).ok()?;
    let (&[letter], rest) = text.split_once('-').map(|(kind, rest)| (kind.as_bytes(), rest))?
    else {
        return None;
    };
    Some((letter, rest.split('-').map(number).collect::<Option<_>>()?))
}

/// Parses a number that consists of digits only, as DevTools writes them.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_only_keys_that_devtools_reads() {
        let call = CallKey { pid: 1, tid: 2, sample: 3, node: 4 };
        for (text, key) in [
            (r#""r-0""#, EventKey::Raw(0)),
            (r#""s-12""#, EventKey::Synthetic(12)),
            (r#""\u0072-7""#, EventKey::Raw(7)),
            (r#""p-1-2-3-4""#, EventKey::Call(call)),
        ] {
            assert_eq!(EventKey::of(text.as_bytes()), Ok(key), "{text}");
        }
        assert_eq!(EventKey::Call(call).text(), br#""p-1-2-3-4""#);
        assert_eq!(EventKey::of(br#""l-3""#), Err(AnnotationDrop::Frame));
        for text in [
            r#""p-1-2--1-4""#,
            r#""p-a-2-3-4""#,
            r#""r-""#,
            r#""r--1""#,
            r#""r-1-2""#,
            r#""r-99999999999999999999""#,
            r#""x-1""#,
            r#""rr-1""#,
            r#""""#,
            "5",
            "null",
        ] {
            assert_eq!(EventKey::of(text.as_bytes()), Err(AnnotationDrop::Malformed), "{text}");
        }
    }
}
