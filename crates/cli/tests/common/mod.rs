//! Path of the built command, shared by the test programs.

use std::path::Path;

pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tracemill"))
}
