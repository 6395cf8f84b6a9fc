//! Checks whether the server may answer a request, and parses the request.

pub(crate) mod devtools;
pub(crate) mod reply;
pub(crate) mod so_far;
pub(crate) mod viewers;

use crate::ask::devtools::ORIGIN;
use crate::ask::reply::Reply;
use std::net::IpAddr;

/// The relevant parts of a request.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// HTTP method, such as `GET`.
    pub method: &'a str,
    /// Path and query, with percent-encoding.
    pub target: &'a str,
    /// The header `Host`.
    pub host: Option<&'a str>,
    /// The header `Origin`.
    pub origin: Option<&'a str>,
    /// Whether the request has the header `x-tracemill`, which pages of other origins cannot send.
    pub is_own: bool,
}

impl<'a> Ask<'a> {
    fn parts(&self) -> (&'a str, &'a str) {
        self.target.split_once('?').unwrap_or((self.target, ""))
    }

    /// Splits the path into the token and the route that follows.
    fn token_and_route(&self) -> Option<(&'a str, &'a str)> {
        self.parts().0.strip_prefix('/')?.split_once('/')
    }

    /// Returns the route, whether or not the token is right. Returns an empty text if there is no
    /// route.
    pub(crate) fn route(&self) -> &'a str {
        self.token_and_route().map_or("", |(_, route)| route)
    }
}

/// The token that every path must begin with, and the host names that requests may name.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    pub(crate) token: String,
    pub(crate) port: u16,
    pub(crate) host: IpAddr,
    /// Whether the page may open slices in the DevTools of a browser that this server starts.
    pub(crate) has_devtools: bool,
}

impl Door {
    /// Returns the route and the query. Rejects requests with an unknown host name, without the
    /// token, or with a method that modifies.
    pub(crate) fn open<'a>(&self, ask: &Ask<'a>) -> Result<(&'a str, &'a str), Reply> {
        let hint = "Open the address that the command printed.";
        if !ask.host.is_some_and(|host| self.is_known(host)) {
            // another site's name that resolves to this server: DNS rebinding
            return Err(Reply::error(421, "this server has another name", hint));
        }
        let (_, query) = ask.parts();
        let inside = ask
            .token_and_route()
            .filter(|(token, _)| is_same(token.as_bytes(), self.token.as_bytes()));
        // reject pages of other origins even if they know the address
        let is_same_origin = ask.origin.map(|origin| {
            origin.strip_prefix("http://").is_some_and(|host| Some(host) == ask.host)
        });
        let is_slice = inside.is_some_and(|(_, rest)| rest.starts_with("slice"));
        let is_devtools = self.has_devtools && is_slice && ask.origin == Some(ORIGIN);
        if is_same_origin == Some(false) && !is_devtools {
            return Err(Reply::error(403, "another page is asking", hint));
        }
        let (_, rest) = inside.ok_or_else(|| Reply::error(404, "there is nothing here", hint))?;
        match (ask.method, rest) {
            ("POST", "open") if is_same_origin.is_some() && ask.is_own => Ok((rest, query)),
            ("POST", "open") => Err(Reply::error(403, "another page is asking", hint)),
            ("GET", route) if route != "open" => Ok((rest, query)),
            (_, route) => {
                let allowed = if route == "open" { "POST" } else { "GET" };
                let error = format!("only {allowed} is answered");
                let refused = Reply::error(405, error, "The documentation lists the routes.");
                Err(Reply { headers: vec![("allow", allowed.to_owned())], ..refused })
            }
        }
    }

    /// Returns whether a request may name this host: a loopback name, or any IP address if other
    /// machines can reach the server.
    fn is_known(&self, host: &str) -> bool {
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
        let number = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
        let is_loopback = ["127.0.0.1", "localhost", "[::1]"].contains(&name);
        let is_number = !self.host.is_loopback() && number.parse::<IpAddr>().is_ok();
        (is_loopback || is_number) && port == self.port.to_string()
    }
}

/// Compares bytes in constant time, whatever their difference.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let differ = a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differ) == 0
}

pub(crate) struct UrlQuery<'a>(pub(crate) &'a str);

impl UrlQuery<'_> {
    /// Returns the decoded value of the first parameter with a name.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let pairs = self.0.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| decoded(value))
    }

    /// Returns the value of a parameter as a number. Fails if the parameter is missing.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, Reply> {
        let value = self.get(name).and_then(|value| value.parse().ok());
        value.ok_or_else(|| {
            Reply::error(
                400,
                format!("{name} is to be a number"),
                "See the documentation of the routes.",
            )
        })
    }

    /// Parses numbers such as `1,4-9`, which must be below `end`. A missing parameter means all
    /// numbers below `end`.
    pub(crate) fn numbers(&self, name: &str, end: usize) -> Result<Vec<usize>, Reply> {
        let Some(text) = self.get(name) else { return Ok((0..end).collect()) };
        let wrong = || {
            Reply::error(
                400,
                format!("{name} is to be a list such as 1,4-9, each below {end}"),
                "See the documentation of the routes.",
            )
        };
        let mut all = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let ends = first.parse::<usize>().ok().zip(last.parse::<usize>().ok());
            let (first, last) =
                ends.filter(|(first, last)| first <= last && *last < end).ok_or_else(wrong)?;
            if all.len() + (last - first) > end {
                return Err(wrong());
            }
            all.extend(first..=last);
        }
        Ok(all)
    }
}

/// Decodes the value of a parameter. Invalid UTF-8 becomes U+FFFD.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        let digits = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = &behind[2..];
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_end_before_the_query() {
        let route =
            |target| Ask { method: "GET", target, host: None, origin: None, is_own: false }.route();
        assert_eq!(route("/token/slice.json?from=/api/progress"), "slice.json");
        assert_eq!(route("/token/api/progress"), "api/progress");
        assert_eq!(route("/api/progress"), "progress");
        assert_eq!(route("?/token/api/progress"), "");
    }

    #[test]
    fn queries_are_decoded() {
        let query = UrlQuery("q=a%20b+c%2Fé%zz&n=5&lanes=1,3-5");
        assert_eq!(query.get("q").as_deref(), Some("a b c/é%zz"));
        assert_eq!(query.number::<u32>("n").ok(), Some(5));
        assert_eq!(query.numbers("lanes", 9).ok(), Some(vec![1, 3, 4, 5]));
        assert!(query.numbers("lanes", 5).is_err());
        assert_eq!(query.numbers("others", 2).ok(), Some(vec![0, 1]));
        let many = UrlQuery("lanes=0-8,0-8,0-8");
        assert!(many.numbers("lanes", 9).is_err());
    }
}
