//! What the harnesses that run the built command in folders of their own share.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

/// The built command.
pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tracemill"))
}

/// Length and hash of what a file holds.
pub(crate) type Digest = (usize, u64);

/// Files by name.
pub(crate) type Files = BTreeMap<String, Digest>;

/// The files in a folder, hidden ones too; none if it is not there.
pub(crate) fn files(folder: &Path) -> Files {
    let Ok(entries) = fs::read_dir(folder) else { return Files::new() };
    let entries = entries.map(|entry| entry.expect("an entry").path());
    entries.map(|path| (name_of(&path), digest(&fs::read(&path).expect("a file")))).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().expect("files have names").to_string_lossy().into_owned()
}

pub(crate) fn digest(bytes: &[u8]) -> Digest {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    (bytes.len(), hasher.finish())
}
