//! Finds the owners of URLs: the company that the npm package `third-party-web` lists for the
//! domain, else the root domain (DevTools: `getEntityForUrl`).

use crate::value::Value;
use crate::value::typed::{List, Object, object, parse};
use regex::bytes::Regex;
use std::sync::LazyLock;
use tracemill_tokenizer::validate;
use tracemill_trace::spill::hash::HashMap;

/// Companies by domain; the default is empty. Memory: about 100 bytes per domain.
#[derive(Clone, Debug, Default)]
pub struct Entities {
    names: Vec<String>,
    by_domain: HashMap<Vec<u8>, usize>,
    /// Domains that include their subdomains (`*.a.example.com`).
    by_subdomain: HashMap<Vec<u8>, usize>,
    /// Root domains that include their subdomains (`*.example.com`).
    by_root: HashMap<Vec<u8>, usize>,
}

/// The owner of a request or a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Name of the company, the root domain, or the extension.
    pub name: Vec<u8>,
    /// Whether the owner is a listed company or an extension.
    pub is_known: bool,
    /// Origin of the extension, if a Chrome extension is the owner.
    pub(crate) extension: Option<Vec<u8>>,
}

/// Maximum length of a URL whose domain is parsed.
const LONGEST: usize = 10_000;

static IN_URL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"://(\S*?)(?-u::\d+)?(/|$)").ok());
static CHARACTERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i-u)(?:[a-z0-9.-]+\.[a-z0-9]+|localhost)").ok());
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$").ok());
static ROOT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)[^.]+\.([^.]+|(?-u:gov|com|co|ne)\.(?-u:\w{2}))$").ok());

/// Returns the root domain and the domain of a URL (`parseDomains` of the package).
fn domains(url: &[u8]) -> Option<(&[u8], &[u8])> {
    if url.starts_with(b"data:") || url.len() > LONGEST && units(url) > LONGEST {
        return None;
    }
    let in_url = || Some(IN_URL.as_ref()?.captures(url)?.get(1)?.as_bytes());
    let domain = match CHARACTERS.as_ref()?.find(url) {
        Some(found) => found.as_bytes(),
        None => in_url()?,
    };
    if domain.is_empty() {
        return None;
    }
    if ADDRESS.as_ref()?.is_match(domain) {
        return Some((domain, domain));
    }
    let root = ROOT.as_ref()?.find(domain).map_or(domain, |found| found.as_bytes());
    Some((root, domain))
}

/// Returns the length of a text in UTF-16 units.
fn units(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).encode_utf16().count()
}

object! {
    struct Entry { name, domains: List<Value> }
}

impl Entities {
    /// Parses `entities.json`: an array of objects with a `name` and `domains`, where `*.` means
    /// all subdomains.
    ///
    /// ```
    /// use tracemill_analysis::Entities;
    ///
    /// let list = br#"[{"name": "Example CDN", "domains": ["*.cdn.example", "static.example.org"]}]"#;
    /// let entities = Entities::parse(list)?;
    /// assert_eq!(entities.name_of("https://a.cdn.example/x.js").as_deref(), Some("Example CDN"));
    /// assert_eq!(entities.name_of("https://www.example.org/").as_deref(), Some("example.org"));
    /// assert_eq!(entities.name_of("node:fs"), None);
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// Returns a message with the position of the first defect.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let expected = "expected an array of objects with name and domains, as entities.json of the npm package third-party-web";
        let list = json.trim_ascii();
        if let Err(wrong) = validate(list) {
            return Err(format!("no JSON at byte {}: {expected}", wrong.offset));
        }
        let List(entries): List<Object<Entry>> = parse(list);
        let entries = entries.ok_or_else(|| format!("no array: {expected}"))?;
        let mut entities = Entities::default();
        for (number, entry) in entries.into_iter().enumerate() {
            let Entry { name, domains: List(domains) } = entry.0.unwrap_or_default();
            let (Some(name), Some(domains)) = (name.printable(), domains) else {
                return Err(format!("entry {number} has no name or no domains: {expected}"));
            };
            let at = entities.names.len();
            entities.names.push(name);
            for domain in domains {
                let Value::Text(domain) = domain else {
                    return Err(format!("a domain of entry {number} is no text: {expected}"));
                };
                entities.add(domain, at)?;
            }
        }
        Ok(entities)
    }

    fn add(&mut self, domain: Vec<u8>, at: usize) -> Result<(), String> {
        if let Some(below) = domain.strip_prefix(b"*.") {
            let is_root = domains(&domain).is_some_and(|(root, _)| root == below);
            let list = if is_root { &mut self.by_root } else { &mut self.by_subdomain };
            list.insert(below.to_vec(), at);
        }
        if let Some(other) = self.by_domain.insert(domain, at) {
            let names = (&self.names[other], &self.names[at]);
            return Err(format!("a domain stands twice, for {} and {}", names.0, names.1));
        }
        Ok(())
    }

    /// Returns whether no company is known.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the company that owns a URL, else the root domain of the URL. Returns `None` for
    /// URLs without an owner, such as `node:fs`.
    pub fn name_of(&self, url: &str) -> Option<String> {
        let owner = self.owner(url.as_bytes())?;
        Some(String::from_utf8_lossy(&owner.name).into_owned())
    }

    fn known(&self, url: &[u8]) -> Option<usize> {
        let (root, domain) = domains(url)?;
        if let Some(&at) = self.by_domain.get(domain) {
            return Some(at);
        }
        let mut part = domain;
        while part.len() > root.len() {
            if let Some(&at) = self.by_subdomain.get(part) {
                return Some(at);
            }
            let dot = part.iter().position(|&byte| byte == b'.');
            part = dot.map_or(&[][..], |dot| &part[dot + 1..]);
        }
        self.by_root.get(root).copied()
    }

    /// Returns the owner of a URL (DevTools: `getEntityForUrl`).
    pub fn owner(&self, url: &[u8]) -> Option<Owner> {
        if let Some(at) = self.known(url) {
            let name = self.names[at].clone().into_bytes();
            return Some(Owner { name, is_known: true, extension: None });
        }
        if url.starts_with(b"chrome-extension:") {
            let rest = url.strip_prefix(b"chrome-extension://")?;
            let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
            let host = &rest[..end.unwrap_or(rest.len())];
            let origin = [b"chrome-extension://", host].concat();
            return Some(Owner { name: host.to_vec(), is_known: true, extension: Some(origin) });
        }
        if !url.starts_with(b"http") {
            return None;
        }
        let (root, _) = domains(url)?;
        Some(Owner { name: root.to_vec(), is_known: false, extension: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = br#"[
        {"name": "Ads", "domains": ["ads.example.com", "*.ads.test", "*.deep.shop.co.uk"]},
        {"name": "Shop", "domains": ["*.shop.co.uk"], "company": "Shop Ltd"}
    ]"#;

    #[test]
    fn urls_have_owners_like_in_third_party_web() {
        let entities = Entities::parse(LIST).expect("a list");
        // Expected owners are those of getEntity and getRootDomain in third-party-web 0.30.0.
        for (url, name, is_known) in [
            ("https://ads.example.com/x.js", "Ads", true),
            ("https://www.example.com/x.js", "example.com", false),
            ("https://ads.test/", "Ads", true),
            ("https://a.b.ads.test:8080/x?y#z", "Ads", true),
            ("https://shop.co.uk/", "Shop", true),
            ("https://a.shop.co.uk/", "Shop", true),
            ("https://x.deep.shop.co.uk/", "Ads", true),
            ("https://other.co.uk/", "other.co.uk", false),
            ("http://localhost:3000/a", "localhost", false),
            ("http://127.0.0.1:8000/a.js", "127.0.0.1", false),
            ("https://intranet/a.min.js", "min.js", false),
            ("https://intranet/", "intranet", false),
        ] {
            let owner = entities.owner(url.as_bytes()).expect(url);
            assert_eq!((&*owner.name, owner.is_known), (name.as_bytes(), is_known), "{url}");
        }
        let of = |url: &str| entities.owner(url.as_bytes());
        assert_eq!(
            [of("node:fs"), of("file:///a/b.js"), of("data:text/plain,a.b"), of("")],
            [None, None, None, None]
        );
        assert_eq!(of(&format!("https://a.test/{}", "x".repeat(LONGEST))), None);
        let extension = of("chrome-extension://abc/x.js").expect("an extension");
        assert_eq!(extension.extension.as_deref(), Some(&b"chrome-extension://abc"[..]));
        assert_eq!(extension.name, b"abc");
    }

    #[test]
    fn invalid_company_lists_are_reported() {
        for (list, message) in [
            ("[{]", "byte"),
            ("{}", "no array"),
            (r#"[{"name":"a"}]"#, "entry 0"),
            (r#"[{"name":"a","domains":[1]}]"#, "no text"),
            (r#"[{"name":"a","domains":["x.y"]},{"name":"b","domains":["x.y"]}]"#, "a and b"),
        ] {
            let error = Entities::parse(list.as_bytes()).expect_err(list);
            assert!(error.contains(message), "{list}: {error}");
        }
    }
}
