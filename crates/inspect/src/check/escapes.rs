//! Detects strings that Perfetto rejects. Perfetto decodes escapes only in strings that contain
//! `\"`, and fails at an escaped surrogate, even in a valid pair.

use memchr::memchr_iter;
use memchr::memmem::Finder;
use std::sync::LazyLock;
use tracemill_tokenizer::escaped_code_point;

static UNIT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\u"));

/// Returns whether an event has a string that Perfetto rejects, as a name or a value. Cost: a
/// substring search, and a pass over the quotes and backslashes of events with `\u`.
pub(super) fn has_escaped_pair(event: &[u8]) -> bool {
    UNIT.find(event).is_some() && strings(event).any(is_refused)
}

fn strings(event: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = event;
    std::iter::from_fn(move || {
        let content = &rest[memchr::memchr(b'"', rest)? + 1..];
        let mut next = 0;
        let end = memchr::memchr2_iter(b'"', b'\\', content).find(|&at| {
            let is_new = at >= next;
            if is_new && content[at] == b'\\' {
                next = at + 2;
            }
            is_new && content[at] == b'"'
        })?;
        rest = &content[end + 1..];
        Some(&content[..end])
    })
}

fn is_refused(content: &[u8]) -> bool {
    let (mut has_quote, mut has_half, mut next) = (false, false, 0);
    for at in memchr_iter(b'\\', content) {
        if at < next {
            continue;
        }
        next = at + 2;
        has_quote |= content.get(at + 1) == Some(&b'"');
        has_half |= escaped_code_point(&content[at..])
            .is_some_and(|(code, _)| code > 0xFFFF || (0xD800..0xE000).contains(&code));
    }
    has_quote && has_half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_escaped_surrogates_in_strings_with_quotes() {
        for (event, is_so) in [
            (r#"{"name":"a \"b\" \ud83d\ude00"}"#, true),
            (r#"{"name":"\uDE00 \""}"#, true),
            (r#"{"args":{"\"\ud83d":1}}"#, true),
            (r#"{"name":"\ud83d\ude00","args":{"a":"\""}}"#, false),
            (r#"{"name":"\"\u00e9"}"#, false),
            (r#"{"name":"\"\\ud83d"}"#, false),
            (r#"{"name":"\\","cat":"\ud83d"}"#, false),
            (r#"{"name":"\\\"\ud83d"}"#, true),
            (r#"{"name":"plain"}"#, false),
        ] {
            assert_eq!(has_escaped_pair(event.as_bytes()), is_so, "{event}");
        }
    }
}
