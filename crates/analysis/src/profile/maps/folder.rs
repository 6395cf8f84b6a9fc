//! Finds source maps in folders and files named by the user, and nowhere else.
//!
//! Names from traces and scripts are only compared with names of existing files. Links that lead
//! out of a folder are not followed.

use super::fault::{MapFault, UnusedMap};
use super::places::{data_of, file_of, join, path_of, within};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum number of bytes of a `sourceMappingURL` of an external map.
const LONGEST_URL: usize = 4096;

/// A folder or file that the user named for source maps.
pub(super) struct Folder {
    /// Path as given by the user.
    named: PathBuf,
    /// Path of the folder without symbolic links. For a file, the path of the folder that contains
    /// it.
    root: PathBuf,
    /// Paths, relative to the root, of files that may be scripts or maps.
    files: BTreeSet<String>,
    /// Whether the user named a file. It may belong to a script in any other folder.
    is_file: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) folder: usize,
    /// Relative path of the map, or of the script that contains it.
    pub(super) path: String,
    pub(super) is_inline: bool,
}

impl Folder {
    /// Opens a path named by the user, and lists its files whose names are in `wanted`.
    ///
    /// # Errors
    /// Returns an I/O error of the path itself. Errors of paths below are added to `unused`.
    pub(super) fn new(
        path: &Path,
        wanted: &BTreeSet<String>,
        unused: &mut Vec<UnusedMap>,
    ) -> io::Result<Self> {
        let real_path = fs::canonicalize(path)?;
        if real_path.is_dir() {
            let (named, files) = (path.to_owned(), BTreeSet::new());
            let mut folder = Folder { named, root: real_path, files, is_file: false };
            folder.list(wanted, unused);
            return Ok(folder);
        }
        let root = real_path.parent().unwrap_or(&real_path).to_owned();
        let name = real_path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let (named, files) = (path.to_owned(), name.into_iter().collect());
        Ok(Folder { named, root, files, is_file: true })
    }

    /// Lists the files that are wanted. Cost: visits each entry below the folder.
    fn list(&mut self, wanted: &BTreeSet<String>, unused: &mut Vec<UnusedMap>) {
        let mut open = vec![(self.root.clone(), String::new())];
        while let Some((folder, below)) = open.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(why) => {
                    unused.push(MapFault::Unreadable.of(format!("{}: {why}", folder.display())));
                    continue;
                }
            };
            for entry in entries.flatten() {
                let (name, kind) = (entry.file_name(), entry.file_type());
                let (Some(name), Ok(kind)) = (name.to_str(), kind) else { continue };
                if kind.is_dir() {
                    open.push((entry.path(), format!("{below}{name}/")));
                } else if wanted.contains(name) {
                    // Links are checked before reading.
                    self.files.insert(format!("{below}{name}"));
                }
            }
        }
    }

    /// Returns the displayed form of a path below the folder.
    pub(super) fn shown(&self, path: &str) -> String {
        match self.is_file {
            true => self.named.display().to_string(),
            false => self.named.join(path).display().to_string(),
        }
    }

    /// Returns the name of the only file, if the user named a file.
    pub(super) fn named(&self) -> Option<&String> {
        self.files.first().filter(|_| self.is_file)
    }

    /// Returns the relative paths, longest first, of files that may be the script with a path.
    fn candidates<'u>(&self, path: &'u str) -> Vec<&'u str> {
        if self.is_file {
            return vec![path.rsplit('/').next().unwrap_or_default()];
        }
        let root = self.root.to_string_lossy().replace('\\', "/");
        // A path below the folder itself has only one meaning.
        if let Some(relative) = path.strip_prefix(&root).and_then(|rest| rest.strip_prefix('/')) {
            return vec![relative];
        }
        let starts = path.match_indices('/').map(|(at, _)| at + 1).chain([0]);
        let mut all: Vec<&str> =
            starts.map(|at| &path[at..]).filter(|start| !start.is_empty()).collect();
        all.sort_by_key(|candidate| std::cmp::Reverse(candidate.len()));
        // Files in `node_modules` match only if the folder is inside `node_modules` too.
        let in_packages = root.contains("/node_modules");
        all.retain(|candidate| {
            in_packages || !path[..path.len() - candidate.len()].contains("node_modules/")
        });
        all
    }

    /// Finds the map of the script with a URL. Adds maps that cannot be used to `unused`.
    pub(super) fn place(
        &self,
        folder: usize,
        url: &str,
        most: u64,
        unused: &mut Vec<UnusedMap>,
    ) -> Option<Place> {
        let path = path_of(url);
        for candidate in self.candidates(&path) {
            let map = format!("{candidate}.map");
            let found = |path: String, is_inline| Some(Place { folder, path, is_inline });
            if self.files.contains(candidate) {
                match self.named_by(candidate, most) {
                    Ok(Some(Named::Inline)) => return found(candidate.to_owned(), true),
                    Ok(Some(Named::Path(path))) => return found(path, false),
                    Ok(None) => {}
                    Err(why) => unused.push(why),
                }
            }
            if self.files.contains(&map) {
                return found(map, false);
            }
        }
        None
    }

    /// Returns the map that a script names.
    fn named_by(&self, script: &str, most: u64) -> Result<Option<Named>, UnusedMap> {
        let text = self.read(script, most)?;
        let Some(url) = mapping_url(&text) else { return Ok(None) };
        if url.starts_with(b"data:") {
            return Ok(Some(Named::Inline));
        }
        let url = String::from_utf8_lossy(&url[..url.len().min(LONGEST_URL)]);
        let folder = script.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = within(folder, &url).ok_or_else(|| {
            let shown = self.shown(script);
            MapFault::Elsewhere.of(format!(
                "{shown} says that its map is {url}, which is not in the folder: not opened"
            ))
        })?;
        // If the file does not exist, the map is searched by its name instead.
        Ok(Some(Named::Path(path)).filter(|named| match named {
            Named::Path(path) => self.root.join(path).is_file(),
            Named::Inline => true,
        }))
    }

    /// Returns the text of a map.
    pub(super) fn text(&self, place: &Place, most: u64) -> Result<Vec<u8>, UnusedMap> {
        let text = self.read(&place.path, most)?;
        if !place.is_inline {
            return Ok(text);
        }
        let url = mapping_url(&text).map(String::from_utf8_lossy);
        url.and_then(|url| data_of(&url)).ok_or_else(|| {
            let shown = self.shown(&place.path);
            MapFault::Broken.of(format!("{shown}: the map in it is no base64"))
        })
    }

    /// Returns the URL of a map, to which the paths of its sources are relative.
    pub(super) fn base(place: &Place, script: &str) -> String {
        let name = place.path.rsplit('/').next().unwrap_or_default();
        match place.is_inline || file_of(script) == name.trim_end_matches(".map") {
            true => script.to_owned(),
            false => join(script, name),
        }
    }

    /// Reads a regular file in the folder. Fails if the file has more than `most` bytes.
    pub(super) fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, UnusedMap> {
        let shown = self.shown(path);
        let failed = |why: io::Error| MapFault::Unreadable.of(format!("{shown}: {why}"));
        let real_path = fs::canonicalize(self.root.join(path)).map_err(failed)?;
        if !real_path.starts_with(&self.root) {
            return Err(MapFault::Elsewhere
                .of(format!("{shown} is a link that leads out of the folder: not opened")));
        }
        // Reading a pipe would block.
        if !real_path.is_file() {
            return Err(MapFault::Unreadable.of(format!("{shown} is no file")));
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(&real_path).map_err(failed)?;
        file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > most {
            let most = most >> 20;
            return Err(MapFault::TooLarge.of(format!(
                "{shown}: larger than the {most} MiB that a map may take of the memory"
            )));
        }
        Ok(bytes)
    }
}

/// The map that a script names.
enum Named {
    Inline,
    Path(String),
}

/// Returns the URL in the last `sourceMappingURL` comment of a script.
fn mapping_url(script: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"sourceMappingURL=";
    let at = memmem::rfind(script, KEY)?;
    let is_comment = matches!(script[..at].trim_ascii_end(), [.., b'/' | b'*', b'#' | b'@']);
    let rest = &script[at + KEY.len()..];
    let end = rest
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'\'' | b'"' | b'`'));
    let url = &rest[..end.unwrap_or(rest.len())];
    let url = url.strip_suffix(b"*/").unwrap_or(url);
    (is_comment && !url.is_empty()).then_some(url)
}

/// Decodes the map in a `data:` URL.
pub(super) fn inline(url: &str) -> Option<Cow<'static, [u8]>> {
    data_of(url).map(Cow::Owned)
}
