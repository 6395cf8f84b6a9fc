//! DevTools' engine, and traces that it is asked about.

use crate::common::files::{TIMES_IN_QUOTES, files, shared};
use std::path::{Path, PathBuf};
use tracemill_testkit::devtools;

/// Maximum size in bytes of a file for the engine, which is slow on large files.
const LARGEST: u64 = 3 << 20;

pub(crate) fn engine() -> Option<&'static Path> {
    devtools::engine(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

fn is_trace(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let is_named = [".json", ".json.gz", ".cpuprofile", ".cpuprofile.gz", ".log"];
    let is_quoted = |ending: &&str| name.ends_with(*ending);
    is_named.iter().any(|ending| name.ends_with(ending))
        && !name.contains("/golden/")
        && !TIMES_IN_QUOTES.iter().any(is_quoted)
        && path.metadata().is_ok_and(|metadata| metadata.len() < LARGEST)
}

/// Returns the traces of the project, and the requested others.
pub(crate) fn traces() -> Vec<PathBuf> {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut all =
        ["node", "node-cpu-prof", "chromium"].map(|name| files(&testdata.join(name))).concat();
    let wanted = std::env::var("TRACEMILL_LIVE").unwrap_or_default();
    let corpus = shared().join("corpus");
    let (folder, step) = match &*wanted {
        "" => (corpus, 12),
        "all" => (corpus, 1),
        folder => (PathBuf::from(folder), 1),
    };
    all.extend(files(&folder).into_iter().filter(|path| is_trace(path)).step_by(step));
    all.retain(|path| is_trace(path));
    all
}
