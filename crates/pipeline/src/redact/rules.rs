//! Finds the texts to redact and their placeholders.

use regex::bytes::Regex;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;
use tracemill_join::config::pattern::Pattern;
use tracemill_trace::run::error::Error;

/// A kind of text to redact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secret {
    /// URLs with `://`, except pages of the browser itself, and `data:` URLs.
    Url,
    /// Absolute paths of Unix and Windows with at least two components, and paths below `~`.
    Path,
    /// Names of home folders (the rest of the path stays), and e-mail addresses.
    User,
}

impl Secret {
    /// All kinds.
    pub const ALL: [Secret; 3] = [Secret::Url, Secret::Path, Secret::User];

    /// Returns the name of the kind, as in the flag.
    pub fn name(self) -> &'static str {
        match self {
            Secret::Url => "url",
            Secret::Path => "path",
            Secret::User => "user",
        }
    }
}

/// The texts to redact.
#[derive(Clone, Debug)]
pub struct Redaction {
    /// Kinds of texts.
    pub secrets: Vec<Secret>,
    /// Additional patterns.
    pub also: Vec<Pattern>,
    /// The key of the placeholders. With the same key, equal texts get equal placeholders in all
    /// runs. Without the key, nobody can check guesses of texts.
    pub key: Vec<u8>,
}

/// Number of replacements for each of [`Secret::ALL`], for `also`, and for long strings.
pub(super) type SecretCounts = [u64; 5];

/// Index in [`SecretCounts`] of replacements by [`Redaction::also`].
pub(super) const ALSO: usize = 3;
/// Index in [`SecretCounts`] of long strings.
pub(super) const LONG: usize = 4;

const URL: &str = r#"(?i-u)\b(?:([a-z][a-z0-9+.-]*)://([^\s/?#"'<>\\^`|]*)([^\s"'<>\\^`|]*)|data:[a-z0-9.+-]+/[^\s"'<>\\]*)"#;
const PATH: &str = r#"(?-u)(?:^|[\s"'(=:,;@\[|>])((?:[A-Za-z]:)?[/\\](?i:home|users|documents and settings)[/\\][^/\\"'<>|:*?]+(?:[/\\][^\s"'<>|:*?]*)?|(?:/[^/\s"':;,|<>()]+){2,}/?|[A-Za-z]:[/\\][^\s"'|<>*?]+|\\\\[^\s\\]+\\[^\s"'|<>*?]*|~[/\\][^\s"':]+)"#;
/// Matches the start of a text that is a single path, possibly with spaces.
const WHOLE_PATH: &str = r#"(?s-u)^(?:/[^/]+/|[A-Za-z]:[/\\]|\\\\[^\\]+\\|~[/\\])"#;
const HOME: &str = r#"(?i-u)[/\\](?:home|users|documents and settings)[/\\]([^/\\"'<>|:*?]+)"#;
const MAIL: &str = r#"(?i-u)\b([a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+)"#;

/// URL schemes of the browser's own pages.
const OWN_SCHEMES: [&[u8]; 4] = [b"chrome", b"chrome-untrusted", b"devtools", b"edge"];

#[derive(Clone)]
pub(super) struct Rules {
    url: Option<Regex>,
    path: Option<(Regex, Regex)>,
    user: Option<(Regex, Regex)>,
    also: Vec<Regex>,
    key: Vec<u8>,
}

/// The replaced ranges of a text: maps the start of a range to its end and its replacement.
type Replacements = BTreeMap<usize, (usize, Vec<u8>)>;

impl Rules {
    pub(super) fn of(redaction: &Redaction) -> Result<Self, Error> {
        let compile = |pattern: &str| {
            Regex::new(pattern).map_err(|error| Error::usage(error.to_string(), None))
        };
        let has = |secret| redaction.secrets.contains(&secret);
        let both = |a: &str, b: &str| Ok::<_, Error>((compile(a)?, compile(b)?));
        Ok(Rules {
            url: has(Secret::Url).then(|| compile(URL)).transpose()?,
            path: has(Secret::Path).then(|| both(PATH, WHOLE_PATH)).transpose()?,
            user: has(Secret::User).then(|| both(HOME, MAIL)).transpose()?,
            also: redaction
                .also
                .iter()
                .map(|also| compile(also.as_str()))
                .collect::<Result<_, _>>()?,
            key: redaction.key.clone(),
        })
    }

    /// Returns whether a text may contain anything to redact. Most texts do not.
    pub(super) fn may_match(&self, text: &[u8]) -> bool {
        !self.also.is_empty() || memchr::memchr3(b'/', b'\\', b'@', text).is_some()
    }

    /// Returns the placeholder of a text, 16 hexadecimal digits.
    pub(super) fn placeholder(&self, text: &[u8]) -> Vec<u8> {
        let key_len = (self.key.len() as u64).to_le_bytes();
        let hash = Sha256::new()
            .chain_update(key_len)
            .chain_update(&self.key)
            .chain_update(text)
            .finalize();
        let digits = hash.iter().take(8).map(|byte| format!("{byte:02x}"));
        digits.collect::<String>().into_bytes()
    }

    /// Returns the replacements in a text, in order.
    pub(super) fn replacements(&self, text: &[u8], counts: &mut SecretCounts) -> Replacements {
        let mut all = Replacements::new();
        for also in &self.also {
            for found in also.find_iter(text).filter(|found| !found.is_empty()) {
                let by = [b"redacted-", &*self.placeholder(found.as_bytes())].concat();
                add(&mut all, found.range(), by, &mut counts[ALSO]);
            }
        }
        if let Some(url) = &self.url {
            for found in url.captures_iter(text) {
                let part =
                    |number: usize| found.get(number).map_or(&b""[..], |part| part.as_bytes());
                let whole = found.get(0).map_or(0..0, |whole| whole.range());
                if let Some(by) = self.url_for(&text[whole.clone()], [part(1), part(2), part(3)]) {
                    add(&mut all, whole, by, &mut counts[Secret::Url as usize]);
                }
            }
        }
        if let Some((inside, whole)) = &self.path {
            // command lines are not paths
            let is_whole =
                whole.is_match(text) && !text.windows(2).any(|two| two == b" -" || two == b"\n ");
            let paths: Vec<Range<usize>> = match is_whole && all.is_empty() {
                true => Vec::from([Range { start: 0, end: text.len() }]),
                false => inside
                    .captures_iter(text)
                    .filter_map(|found| Some(found.get(1)?.range()))
                    .collect(),
            };
            for path in paths {
                let by = [b"/redacted/", &*self.placeholder(&text[path.clone()])].concat();
                add(&mut all, path, by, &mut counts[Secret::Path as usize]);
            }
        }
        if let Some((home, mail)) = &self.user {
            for (rule, behind) in [(home, &b""[..]), (mail, b"@redacted.invalid")] {
                for name in rule.captures_iter(text).filter_map(|found| found.get(1)) {
                    let by = [b"user-", &*self.placeholder(name.as_bytes()), behind].concat();
                    add(&mut all, name.range(), by, &mut counts[Secret::User as usize]);
                }
            }
        }
        all
    }

    /// Returns the placeholder of a URL, with separate hashes of host and path. Returns `None` for
    /// pages of the browser itself.
    fn url_for(&self, whole: &[u8], [scheme, host, rest]: [&[u8]; 3]) -> Option<Vec<u8>> {
        if scheme.is_empty() {
            return Some([b"data:,", &*self.placeholder(whole)].concat());
        }
        if OWN_SCHEMES.iter().any(|name| scheme.eq_ignore_ascii_case(name)) {
            return None;
        }
        let mut by = [scheme, b"://"].concat();
        if !host.is_empty() {
            by.extend(self.placeholder(host));
            by.extend_from_slice(b".invalid");
        }
        if rest.len() > 1 {
            by.push(b'/');
            by.extend(self.placeholder(rest));
        } else {
            by.extend_from_slice(rest);
        }
        Some(by)
    }
}

/// Adds a replacement, unless it overlaps an earlier replacement.
fn add(all: &mut Replacements, range: Range<usize>, by: Vec<u8>, count: &mut u64) {
    let before = all.range(..range.end).next_back();
    if before.is_none_or(|(_, (end, _))| *end <= range.start) {
        all.insert(range.start, (range.end, by));
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(secrets: &[Secret]) -> Rules {
        Rules::of(&Redaction { secrets: secrets.to_vec(), also: Vec::new(), key: b"k".to_vec() })
            .expect("they compile")
    }

    fn redacted(secrets: &[Secret], text: &str) -> String {
        let (mut out, mut at) = (String::new(), 0);
        for (start, (end, by)) in rules(secrets).replacements(text.as_bytes(), &mut [0; 5]) {
            out.push_str(&text[at..start]);
            out.push_str(std::str::from_utf8(&by).expect("ASCII"));
            at = end;
        }
        out + &text[at..]
    }

    #[test]
    fn redacts_secrets_and_keeps_other_texts() {
        for gone in [
            "https://shop.example/cart?user=anna",
            "see https://shop.example/x, please",
            "wss://user:pw@shop.example:81",
            "data:text/html;base64,QWxh",
            "file:///home/anna/x.js",
            "/home/anna/x.js",
            "/Users/anna example/My Documents/a b.js",
            "at f (/home/anna/x.js:1:2)",
            "C:\\Users\\anna\\x.js",
            "C:/projects/anna/x.js",
            "\\\\server\\anna\\x",
            "--user-data-dir=/tmp/anna/x",
            "~/anna/x",
            "anna@shop.example",
        ] {
            let text = redacted(&Secret::ALL, gone);
            for word in ["anna", "shop", "QWxh", "Documents"] {
                assert!(!text.contains(word), "{gone}: {text}");
            }
        }
        for stays in [
            "text/javascript",
            "chrome://newtab/",
            "devtools://x/y",
            "node:internal/fs",
            "v8,devtools.timeline",
            "a / b",
            "12/31/2026",
            "ThreadPool::Run",
            "/",
        ] {
            assert_eq!(redacted(&Secret::ALL, stays), stays);
        }
    }

    #[test]
    fn equal_texts_have_equal_placeholders() {
        let all = |text| redacted(&Secret::ALL, text);
        let [a, b, other] = ["https://a.b/c", "https://a.b/d", "https://x.b/c"].map(all);
        assert_eq!(a, all("https://a.b/c"));
        // host and path have separate hashes
        assert_eq!(a.split('/').nth(2), b.split('/').nth(2));
        assert_ne!(a.split('/').nth(3), b.split('/').nth(3));
        assert_eq!(a.split('/').nth(3), other.split('/').nth(3));
        assert_ne!(a.split('/').nth(2), other.split('/').nth(2));
        let user = redacted(&[Secret::User], "/home/anna/src/x.js");
        assert!(user.starts_with("/home/user-") && user.ends_with("/src/x.js"), "{user}");
        let other_key =
            Redaction { secrets: Secret::ALL.to_vec(), also: Vec::new(), key: b"l".to_vec() };
        let other_key = Rules::of(&other_key).expect("they compile");
        assert_ne!(other_key.placeholder(b"a"), rules(&[]).placeholder(b"a"));
    }
}
