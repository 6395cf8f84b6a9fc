//! Inputs on other machines: `s3://bucket/trace.json`.
//!
//! All addresses of a command line are opened before the command runs.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tracemill_trace::Source;

/// Schemes of addresses that can be opened.
const SCHEMES: [&str; 5] = ["s3", "gs", "az", "https", "http"];

/// The sources of all addresses of the command line.
static OPENED: Mutex<Vec<(String, Source)>> = Mutex::new(Vec::new());

/// Returns whether the name of an input is an address that can be opened.
pub(crate) fn is_address(name: &Path) -> bool {
    let scheme = name.to_str().and_then(|name| name.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| SCHEMES.contains(&scheme)) && !name.exists()
}

/// Returns the source of an address.
pub(crate) fn opened(name: &Path) -> Option<Source> {
    let all = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let name = name.to_str()?;
    all.iter().find(|(address, _)| address == name).map(|(_, source)| source.clone())
}

/// Adds the source of an address.
pub(crate) fn add(address: &str, source: Source) {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner).push((address.to_owned(), source));
}
