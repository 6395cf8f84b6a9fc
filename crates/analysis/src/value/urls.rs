//! Parses URLs as DevTools does (`ParsedURL`).

use regex::bytes::Regex;
use std::sync::LazyLock;

/// The parts of a URL that groups and the ignore list need.
pub(crate) struct Url<'u> {
    /// Scheme in lower case.
    pub(crate) scheme: Vec<u8>,
    pub(crate) host: &'u [u8],
    pub(crate) path: &'u [u8],
}

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let expression = concat!(
        r"^([A-Za-z][A-Za-z0-9+.-]*)://",
        r"(?:[A-Za-z0-9\-._~%!$&'()*+,;=:]*@)?",
        r"((?:\[::\d?\])|(?:[^\s/:]*))",
        r"(?::[\d]+)?(/[^#?]*)?(?:\?[^#]*)?(?:#.*)?$"
    );
    Regex::new(expression).ok()
});

impl<'u> Url<'u> {
    pub(crate) fn parse(url: &'u [u8]) -> Option<Self> {
        let (is_blob, rest) = match url.strip_prefix(b"blob:") {
            Some(rest) => (true, rest),
            None => (false, url),
        };
        let found = URL.as_ref()?.captures(rest)?;
        let part = |number| found.get(number).map(|part| part.as_bytes());
        let scheme = part(1).unwrap_or_default().to_ascii_lowercase();
        Some(Url {
            scheme: if is_blob { b"blob".to_vec() } else { scheme },
            host: part(2).unwrap_or_default(),
            path: part(3).unwrap_or(b"/"),
        })
    }

    /// Returns the last two labels of the host. Returns the whole host if it is an IP address, or
    /// with `whole`.
    pub(crate) fn domain(&self, whole: bool) -> &'u [u8] {
        let host = self.host;
        let is_address = !host.is_empty() && host.iter().all(|b| b.is_ascii_digit() || *b == b'.');
        if whole || is_address {
            return host;
        }
        let mut dots = host.iter().enumerate().rev().filter(|(_, byte)| **byte == b'.');
        match (dots.next(), dots.next()) {
            (Some(_), Some((second, _))) => &host[second + 1..],
            _ => host,
        }
    }
}

/// Returns the package of a URL or path: the last one in `node_modules`, or `node:`. Returns `[no
/// package]` for other files, and an empty text for an empty URL.
pub(crate) fn package(url: &[u8]) -> &[u8] {
    const FOLDER: &[u8] = b"/node_modules/";
    if url.is_empty() {
        return url;
    }
    if url.starts_with(b"node:") {
        return &url[..5];
    }
    let Some(folder) = memchr::memmem::rfind(url, FOLDER) else { return b"[no package]" };
    let path = without_query(&url[folder + FOLDER.len()..]);
    let parts = if path.starts_with(b"@") { 2 } else { 1 };
    let mut ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let end = ends.nth(parts - 1).map_or(path.len(), |(at, _)| at);
    &path[..end]
}

pub(crate) fn without_query(url: &[u8]) -> &[u8] {
    let end = url.iter().position(|byte| matches!(byte, b'?' | b'#'));
    &url[..end.unwrap_or(url.len())]
}

/// Returns whether a URL is on DevTools' default ignore list.
pub(crate) fn is_ignored(url: &[u8]) -> bool {
    let listed =
        memchr::memmem::find(url, b"/node_modules/").is_some() || url.starts_with(b"node:");
    if !listed || url == b"about:blank" {
        return false;
    }
    match Url::parse(url) {
        Some(url) => url.path.len() > 1 || !url.host.is_empty(),
        None => !url.starts_with(b"data:"),
    }
}

/// Removes query and fragment from a URL, and replaces content hashes by `*`, so that URLs of
/// different builds are equal. A hash consists of at least eight hex digits, at least one of them
/// from 0 to 9, between dots, dashes or slashes.
pub fn without_hashes(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    let is_hash = |part: &str| {
        part.len() >= 8
            && part.bytes().all(|byte| byte.is_ascii_hexdigit())
            && part.bytes().any(|byte| byte.is_ascii_digit())
    };
    let mut text = String::with_capacity(plain.len());
    for part in plain.split_inclusive(['.', '-', '/']) {
        let body = part.trim_end_matches(['.', '-', '/']);
        text.push_str(if is_hash(body) { "*" } else { body });
        text.push_str(&part[body.len()..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_hosts_and_domains_of_urls() {
        let domain = |url: &'static str, whole| {
            Url::parse(url.as_bytes())
                .map(|url| String::from_utf8_lossy(url.domain(whole)).into_owned())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(domain("https://a.b.example.org:80/x?y#z", false), some("example.org"));
        assert_eq!(domain("https://a.b.example.org/", true), some("a.b.example.org"));
        assert_eq!(domain("http://127.0.0.1:8000", false), some("127.0.0.1"));
        assert_eq!(domain("node:internal/modules", false), None);
        assert_eq!(domain("file:///home/x.js", false), some(""));
    }

    #[test]
    fn innermost_package_wins() {
        let of = |url: &'static str| String::from_utf8_lossy(package(url.as_bytes())).into_owned();
        assert_eq!(of("file:///x/node_modules/a/node_modules/b/lib/c.js?v=1"), "b");
        assert_eq!(of("/x/node_modules/@scope/name/index.js"), "@scope/name");
        assert_eq!([of("node:fs"), of("file:///a.js"), of("")], ["node:", "[no package]", ""]);
        assert_eq!(without_query(b"https://a/b.js?c#d"), b"https://a/b.js");
    }

    #[test]
    fn ignore_list_matches_devtools() {
        assert!(is_ignored(b"node:internal/fs"));
        assert!(is_ignored(b"file:///a/node_modules/b.js"));
        assert!(!is_ignored(b"https://app.test/app.js"));
    }

    #[test]
    fn content_hashes_are_replaced() {
        let of = |url| without_hashes(url);
        assert_eq!(of("https://a.test/main.3f2a9c1b.js?v=1#x"), "https://a.test/main.*.js");
        assert_eq!(of("app-0123abcd-vendor.js"), "app-*-vendor.js");
        assert_eq!(of("file:///deadbeef/12345/facade.js"), "file:///deadbeef/12345/facade.js");
    }
}
