//! An input, or what was made of one, as a party to the decisions on names.

use super::processes::Processes;
use super::rename::Renames;
use crate::config::StatedInput;
use std::path::Path;
use std::sync::Arc;
use tracemill_cpuprofile::StreamKey;
use tracemill_trace::spill::hash::HashMap;

/// An input, or what was made of one: bytes with identities of their own.
#[derive(Debug, Default)]
pub(crate) struct InputUnit {
    /// The place at which it stands.
    pub(crate) base: u64,
    /// The number of its input.
    pub(crate) input: usize,
    /// Made of a `.cpuprofile`, or for one: it has its identity already.
    pub(crate) made: bool,
    /// Its path without its rotation number ([`rotated_path`]).
    pub(crate) rotated_path: Option<Vec<u8>>,
    /// What the whole was, if `split` made it of something larger ([`crate::identity::parts`]).
    pub(crate) part_of: Option<Vec<u8>>,
    pub(crate) processes: Processes,
    /// CPU profile streams, and when each began, where it says so.
    pub(crate) streams: HashMap<StreamKey, Option<i64>>,
    /// What a manifest says.
    pub(crate) stated: Option<StatedInput>,
}

/// Returns a path without its rotation number, the last part between dots that is a number: `node_trace.log` of
/// `node_trace.2.log`, `app.log` of `app.log.1`. The logs of one rotation have it in common. `None` for standard input.
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

/// What becomes of one unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitOutcome {
    /// The number of its recording.
    pub(crate) recording: usize,
    /// Names that change; `None` if none does.
    pub(crate) renames: Option<Arc<Renames>>,
}

/// What becomes of all.
#[derive(Debug, Default)]
pub(crate) struct UnitDecision {
    /// Per unit, in order.
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
