//! Serves the files of a viewer from a folder of the user. The viewer is speedscope, as npm unpacks
//! it.

use crate::ask::reply::{Content, Reply};
use std::io;
use std::path::{Path, PathBuf};

/// Possible paths of speedscope's page, relative to the given folder.
const PLACES: [&str; 5] = [
    "",
    "dist/release",
    "package/dist/release",
    "speedscope/dist/release",
    "node_modules/speedscope/dist/release",
];
/// Maximum size of a served file in bytes.
const MOST: u64 = 64 << 20;
/// Content security policy for speedscope, which creates styles and reads blobs. It may not load
/// anything from other hosts.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
    font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The files of a viewer.
#[derive(Clone, Debug)]
pub struct Viewers(PathBuf);

impl Viewers {
    /// Finds the viewer in a folder.
    ///
    /// # Errors
    /// Returns `NotFound` if the folder contains no viewer.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let is_viewer = |path: &PathBuf| {
            let page = std::fs::read_to_string(path.join("index.html"));
            page.is_ok_and(|page| page.contains("speedscope"))
        };
        let found = PLACES.iter().map(|place| folder.join(place)).find(is_viewer);
        found
            .ok_or_else(|| io::ErrorKind::NotFound.into())
            .and_then(|viewer| viewer.canonicalize())
            .map(Viewers)
    }

    /// Returns a file of the folder. Rejects symbolic links to files outside the folder.
    pub(crate) fn file(&self, name: &str) -> Result<Reply, Reply> {
        let nothing = || Reply::error(404, "there is nothing here", "Open it from the page.");
        let name = if name.is_empty() { "index.html" } else { name };
        let is_plain = |part: &str| {
            let letters =
                part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
            letters && !part.is_empty() && !part.starts_with('.')
        };
        let path = self.0.join(name);
        if !name.split('/').all(is_plain) {
            return Err(nothing());
        }
        let path = path.canonicalize().ok().filter(|path| path.starts_with(&self.0));
        let path = path.ok_or_else(nothing)?;
        let known = path.metadata().ok().filter(|known| known.is_file() && known.len() <= MOST);
        known.ok_or_else(nothing)?;
        let bytes = std::fs::read(&path).map_err(|_| nothing())?;
        let kind = match path.extension().and_then(|ending| ending.to_str()).unwrap_or_default() {
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "wasm" => "application/wasm",
            "woff2" => "font/woff2",
            "png" => "image/png",
            "ico" => "image/x-icon",
            "json" => "application/json",
            _ => "text/plain; charset=utf-8",
        };
        let headers = vec![("content-security-policy", POLICY.to_owned())];
        Ok(Reply { status: 200, kind, content: Content::Whole(bytes), headers })
    }
}
