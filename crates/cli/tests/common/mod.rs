//! The built command, for the harnesses that are test programs of their own.

use std::path::Path;

/// The built command.
pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tracemill"))
}
