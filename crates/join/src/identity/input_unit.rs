//! An input, or a synthetic input derived from one, for which names are decided.

use super::processes::Processes;
use super::rename::Renames;
use crate::config::StatedInput;
use std::path::Path;
use std::sync::Arc;
use tracemill_cpuprofile::StreamKey;
use tracemill_trace::spill::hash::HashMap;

/// An input, or a synthetic input derived from one, with identities of its own.
#[derive(Debug, Default)]
pub(crate) struct InputUnit {
    pub(crate) base: u64,
    pub(crate) input: usize,
    /// Whether the unit is synthetic and already has its pids.
    pub(crate) synthetic: bool,
    pub(crate) rotated_path: Option<Vec<u8>>,
    /// Description of the trace that `split` cut, if the input is a part
    /// ([`crate::identity::parts`]).
    pub(crate) part_of: Option<Vec<u8>>,
    pub(crate) processes: Processes,
    /// CPU profile streams, and the start of each if known.
    pub(crate) streams: HashMap<StreamKey, Option<i64>>,
    /// Decisions given by a manifest.
    pub(crate) stated: Option<StatedInput>,
}

/// Returns a path without its rotation number, the last numeric component between dots:
/// `node_trace.log` for `node_trace.2.log`, `app.log` for `app.log.1`. Returns `None` for standard
/// input.
pub(super) fn rotated_path(path: &Path) -> Option<Vec<u8>> {
    let name = path.file_name()?.as_encoded_bytes();
    let mut parts: Vec<&[u8]> = name.split(|&byte| byte == b'.').collect();
    let is_number = |part: &&[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if let Some(number) = parts.iter().rposition(is_number) {
        parts.remove(number);
    }
    let folder = path.parent()?.as_os_str().as_encoded_bytes();
    Some([folder, &parts.join(&b'.')].join(&b'/'))
}

#[derive(Clone, Debug, Default)]
pub(crate) struct UnitOutcome {
    pub(crate) recording: usize,
    pub(crate) renames: Option<Arc<Renames>>,
}

#[derive(Debug, Default)]
pub(crate) struct UnitDecision {
    pub(crate) outcomes: Vec<UnitOutcome>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_paths_differ_by_one_number_between_dots() {
        let rotated =
            |path: &str| rotated_path(Path::new(path)).map(|p| String::from_utf8(p).unwrap());
        for (path, expected) in [
            ("node_trace.2.log", "/node_trace.log"),
            ("d/node_trace.454.12.log", "d/node_trace.454.log"),
            ("d/app.log.1", "d/app.log"),
            ("d/app.log", "d/app.log"),
            ("pod-1.json", "/pod-1.json"),
            ("1/trace.json", "1/trace.json"),
        ] {
            assert_eq!(rotated(path).as_deref(), Some(expected), "{path}");
        }
        assert_eq!(rotated(""), None);
    }
}
