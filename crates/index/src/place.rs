//! Locations of indexes: next to the trace, or in a cache folder if that folder is read-only.

use super::fresh::{Fit, fit, input_of, map};
use crate::format::{Index, Input};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tracemill_join::config::Config;
use tracemill_trace::input::source::Source;
use tracemill_trace::os;
use tracemill_trace::run::error::Error;

/// Returns the path of a file's index, `X.tmi` next to `X`.
///
/// ```
/// use std::path::Path;
/// let index = tracemill_index::index_path(Path::new("logs/trace.json"));
/// assert_eq!(index, Path::new("logs/trace.json.tmi"));
/// ```
pub fn index_path(input: &Path) -> PathBuf {
    let mut name = input.as_os_str().to_owned();
    name.push(".tmi");
    name.into()
}

/// Returns whether a file has an index next to it, up to date or not. Returns false for pipes.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let trace = folder.path().join("trace.json");
/// assert!(!tracemill_index::has_index(&tracemill_trace::Source::Path(trace)));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn has_index(source: &Source) -> bool {
    source.file().is_some_and(|path| index_path(path).is_file())
}

/// Returns the path of an index in the cache folder. The fingerprint of the input is the file name.
fn place_in(folder: &Path, of: &Input) -> PathBuf {
    folder.join(format!("{:032x}.tmi", of.fingerprint.0))
}

/// Returns the path from which a file's index is read.
pub(super) fn place_of(trace: &Path, config: &Config) -> PathBuf {
    let folder = config.index_cache.as_deref().filter(|folder| folder.is_dir());
    let elsewhere = folder.and_then(|folder| Some(place_in(folder, &input_of(trace).ok()?)));
    // the cache folder is used only if an index cannot be written next to the trace
    elsewhere.filter(|place| place.is_file()).unwrap_or_else(|| index_path(trace))
}

/// Returns the path for a new index, and whether the path is in the cache folder.
///
/// # Errors
/// Returns an error if the cache folder cannot be created.
pub(super) fn place_for(
    trace: &Path,
    now: &Input,
    config: &Config,
) -> Result<(PathBuf, bool), Error> {
    let beside = index_path(trace);
    let Some(folder) = &config.index_cache else { return Ok((beside, false)) };
    if is_that_of(&beside, now) || can_be_written(&beside) {
        return Ok((beside, false));
    }
    os::private_folder(folder).map_err(|e| Error::write(folder.display(), e))?;
    Ok((place_in(folder, now), true))
}

fn is_that_of(index: &Path, now: &Input) -> bool {
    let bytes = map(index).ok().flatten();
    let opened = bytes.as_ref().and_then(|bytes| Index::open(bytes).ok());
    opened.is_some_and(|index| fit(index.input(), now) == Fit::Same)
}

/// Returns whether a file can probably be created at this path.
fn can_be_written(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let temporary = tempfile::tempfile_in(folder.unwrap_or(Path::new(".")));
    let refusals = [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem];
    !temporary.is_err_and(|error| refusals.contains(&error.kind()))
}
