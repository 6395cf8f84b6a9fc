//! Requests that use HTTP/1 (DevTools: `ModernHTTP`).

use crate::web::insights::found::{Found, Offender, State};
use crate::web::insights::page::Page;
use crate::web::network::Request;
use serde::Serialize;
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// Number of static files of an origin from which HTTP/2 is advised.
const MANY: usize = 6;
/// Bytes of a response that may be a ping of a known company.
const SMALL: f64 = 100.0;

/// Requests with HTTP/1 to origins with many static files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModernHttp {
    /// The requests, each URL once.
    pub requests: Vec<Offender>,
}

/// Returns whether a resource of this type is a static file.
pub(crate) fn is_static(resource: &str) -> bool {
    matches!(resource, "Font" | "Image" | "Media" | "Script" | "Stylesheet")
}

/// Returns scheme, host and port of a URL, as Chrome writes URLs.
pub(crate) fn origin(url: &str) -> &str {
    let url = url.strip_prefix("blob:").unwrap_or(url);
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    &url[..end]
}

fn is_local(url: &str) -> bool {
    let origin = origin(url);
    let host = origin.split_once("://").map_or("", |(_, host)| host);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split(':').next().unwrap_or_default();
    matches!(host, "localhost" | "127.0.0.1") || host.ends_with(".localhost")
}

/// Returns whether a protocol is HTTP/0 or HTTP/1.
fn is_old(protocol: &str) -> bool {
    let protocol = protocol.to_ascii_lowercase();
    protocol.contains("http/0") || protocol.contains("http/1")
}

/// Returns whether a request counts among the static files of its origin.
fn is_counted(page: &Page<'_>, request: &Request) -> bool {
    let owner = |url: &str| page.trace.entities.owner(url.as_bytes());
    if !is_static(&request.resource) || is_local(&request.url) {
        return false;
    }
    if request.body.is_none_or(|body| body >= SMALL) {
        return true;
    }
    let Some(of_request) = owner(&request.url) else { return true };
    let first = owner(&page.visit.first_party);
    !of_request.is_known || first.is_some_and(|first| first.name == of_request.name)
}

pub(crate) fn insight(page: &Page<'_>) -> Found<ModernHttp> {
    let mut files: HashMap<&str, usize> = HashMap::default();
    for request in page.requests.iter().filter(|request| is_counted(page, request)) {
        *files.entry(origin(&request.url)).or_default() += 1;
    }
    let mut seen: HashSet<&str> = HashSet::default();
    let is_of_many =
        |request: &Request| files.get(origin(&request.url)).is_some_and(|&n| n >= MANY);
    let mut requests = Vec::new();
    for request in &page.requests {
        let is_candidate = request.cache != Some("worker") && is_old(&request.protocol);
        if is_candidate && is_of_many(request) && seen.insert(&request.url) {
            requests.push(Offender::of(request));
        }
    }
    let state = State::fail_if(!requests.is_empty());
    Found::new(state, ModernHttp { requests })
}
