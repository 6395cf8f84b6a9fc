//! Converts errors of stores to those of inputs.

use std::error::Error as _;
use std::io::{self, ErrorKind};
use tracemill_trace::{Error, ErrorKind as Kind};

/// Returns the error for an address.
pub(crate) fn input_error(address: &str, error: object_store::Error) -> Error {
    match error {
        object_store::Error::Precondition { .. } => {
            Kind::Changed { input: address.to_owned(), how: REPLACED.to_owned() }.into()
        }
        error => Error::read(address, io_error(error)),
    }
}

const REPLACED: &str = "was replaced while it was read";

/// Returns the error of a request, without the address.
pub(crate) fn io_error(error: object_store::Error) -> io::Error {
    use object_store::Error::{NotFound, PermissionDenied, Precondition, Unauthenticated};
    let (kind, text) = match error {
        Precondition { .. } => (ErrorKind::Other, format!("it {REPLACED}")),
        NotFound { .. } => (ErrorKind::NotFound, "there is no such object".to_owned()),
        PermissionDenied { .. } | Unauthenticated { .. } => {
            let text = "the store refuses access: check the credentials in the environment";
            (ErrorKind::PermissionDenied, text.to_owned())
        }
        other => (ErrorKind::Other, innermost(&other)),
    };
    io::Error::new(kind, text)
}

/// Returns the text of the error from which others follow.
fn innermost(error: &object_store::Error) -> String {
    let mut source = error.source();
    let mut text = error.to_string();
    while let Some(inner) = source {
        text = inner.to_string();
        source = inner.source();
    }
    text
}
