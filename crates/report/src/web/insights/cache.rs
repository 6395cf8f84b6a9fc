//! Responses that caches keep for a short time (DevTools: `Cache`).

use crate::web::insights::found::{Found, Offender, State};
use crate::web::insights::http::is_static;
use crate::web::insights::page::{Header, Page};
use crate::web::network::Request;
use serde::Serialize;

/// Chance of a cache hit above which a time to live is long enough.
const LIKELY: f64 = 0.925;
/// Seconds of a time to live that is always long enough.
const LONG: f64 = 30.0 * 86_400.0;
/// Ages of resources in hours: 10 % of all are at most as old as the second, and so on.
const DECILES: [f64; 12] =
    [0.0, 0.2, 1.0, 3.0, 8.0, 12.0, 24.0, 48.0, 72.0, 168.0, 8760.0, f64::INFINITY];

/// Responses that caches keep for a short time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Caching {
    /// Bytes of all requests that longer times to live would probably save.
    pub wasted_bytes: f64,
    /// The requests, the largest response first.
    pub requests: Vec<ShortLived>,
}

/// A response that caches keep for a short time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShortLived {
    /// The request.
    #[serde(flatten)]
    pub request: Offender,
    /// Seconds for which caches keep the response.
    pub ttl_s: f64,
    /// Bytes that a longer time to live would probably save.
    pub wasted_bytes: f64,
}

/// The directives of `Cache-Control` that DevTools uses.
#[derive(Default)]
struct Directives {
    max_age: Option<f64>,
    /// Whether caches must not reuse the response without a question to the server.
    is_uncached: bool,
}

impl Directives {
    fn parse(header: &str) -> Self {
        let mut all = Directives::default();
        for directive in header.split(',') {
            let mut parts = directive.split('=').map(str::trim);
            match parts.next().unwrap_or_default() {
                "max-age" => all.max_age = parts.next().and_then(integer).or(all.max_age),
                "no-cache" | "no-store" | "must-revalidate" | "private" => all.is_uncached = true,
                _ => {}
            }
        }
        all
    }
}

/// Parses the integer at the start of a text, like `parseInt`.
fn integer(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let end = text.len() - digits.len() + length;
    text[..end].parse().ok().filter(|_| length > 0)
}

/// Returns the values of all headers with a name, joined.
fn combined(headers: &[Header], name: &str) -> String {
    let named = headers.iter().filter(|header| header.is_named(name));
    named.fold(String::new(), |all, header| match &*all {
        "" => header.value.clone(),
        _ => format!("{all}, {}", header.value),
    })
}

fn is_cacheable(request: &Request) -> bool {
    const LOCAL: [&str; 6] = ["blob", "data", "intent", "file", "filesystem", "chrome-extension"];
    !LOCAL.contains(&&*request.protocol)
        && [200.0, 203.0, 206.0].contains(&request.status)
        && is_static(&request.resource)
}

/// Returns the chance that a response with this time to live is still in a cache.
fn hit_chance(ttl: f64) -> f64 {
    let hours = ttl / 3600.0;
    let upper = DECILES.iter().position(|&decile| decile >= hours).unwrap_or(0);
    if upper == DECILES.len() - 1 {
        return 1.0;
    }
    let Some(lower) = upper.checked_sub(1) else { return 0.0 };
    let (from, to) = (lower as f64 / 10.0, upper as f64 / 10.0);
    let slope = (to - from) / (DECILES[upper] - DECILES[lower]);
    from + (hours - DECILES[lower]) * slope
}

/// Returns the seconds for which caches keep a response; `None` if that is not a fault.
fn short_ttl(headers: &[Header]) -> Option<f64> {
    let control = combined(headers, "cache-control");
    if control.is_empty() && combined(headers, "pragma").contains("no-cache") {
        return None;
    }
    let directives = Directives::parse(&control);
    let expires =
        || headers.iter().any(|header| header.name == "expires" && !header.value.is_empty());
    if directives.is_uncached || directives.max_age.is_none() && expires() {
        return None;
    }
    let ttl = match directives.max_age {
        Some(age) if age <= 0.0 => return None,
        age => age.unwrap_or(0.0),
    };
    (ttl < LONG && hit_chance(ttl) <= LIKELY).then_some(ttl)
}

pub(crate) fn insight(page: &Page<'_>) -> Found<Caching> {
    let mut found = Vec::new();
    let mut wasted_bytes = 0.0;
    for request in page.requests.iter().filter(|request| is_cacheable(request)) {
        let Some(ttl_s) = page.headers(request).and_then(|headers| short_ttl(&headers)) else {
            continue;
        };
        let wasted = (1.0 - hit_chance(ttl_s)) * request.transfer.unwrap_or(0.0);
        wasted_bytes += wasted;
        let row = ShortLived { request: Offender::of(request), ttl_s, wasted_bytes: wasted };
        found.push((request.body.unwrap_or(0.0), row));
    }
    found.sort_by(|(a, left), (b, right)| {
        b.total_cmp(a).then_with(|| left.ttl_s.total_cmp(&right.ttl_s))
    });
    let requests: Vec<ShortLived> = found.into_iter().map(|(_, row)| row).collect();
    let state = State::fail_if(!requests.is_empty());
    Found::new(state, Caching { wasted_bytes, requests })
}
