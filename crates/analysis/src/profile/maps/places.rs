//! Paths and URLs of scripts, maps and sources.

use percent_encoding::percent_decode;

/// Returns the scheme of a URL without its colon. A single letter is a Windows drive.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    is_scheme.then_some(scheme)
}

/// Returns the scheme and host of a URL.
fn root(url: &str) -> &str {
    let Some(scheme) = scheme(url) else { return "" };
    let rest = &url[scheme.len() + 1..];
    let end = match rest.strip_prefix("//") {
        Some(host) => 2 + host.find(['/', '?', '#']).unwrap_or(host.len()),
        None => 0,
    };
    &url[..scheme.len() + 1 + end]
}

/// Returns the path of a URL or path, with slashes, without query and fragment, and unescaped.
pub(super) fn path_of(url: &str) -> String {
    let root = root(url);
    let path = &url[root.len()..];
    if root.is_empty() {
        return path.replace('\\', "/");
    }
    let end = path.find(['?', '#']).unwrap_or(path.len());
    percent_decode(&path.as_bytes()[..end]).decode_utf8_lossy().into_owned()
}

/// Returns the file name of a URL or path.
pub(super) fn file_of(url: &str) -> String {
    let path = path_of(url);
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Resolves `relative` against `base`, a URL or path.
pub(super) fn join(base: &str, relative: &str) -> String {
    if scheme(relative).is_some() {
        let root = root(relative);
        return format!("{root}{}", without_dots(&relative[root.len()..]));
    }
    let root = root(base);
    if let Some(host) = relative.strip_prefix("//") {
        let scheme = scheme(base).map_or(String::new(), |scheme| format!("{scheme}:"));
        return format!("{scheme}//{host}");
    }
    if relative.starts_with(['/', '\\']) || relative.get(1..3).is_some_and(|drive| drive == ":\\") {
        return format!("{root}{}", without_dots(relative));
    }
    let end = match root.is_empty() {
        true => base.len(),
        false => base.find(['?', '#']).unwrap_or(base.len()),
    };
    let folder = base[root.len()..end].rfind(['/', '\\']).map_or(0, |at| at + 1);
    let slash = if folder == 0 && root.contains("//") { "/" } else { "" };
    let path = format!("{slash}{}{relative}", &base[root.len()..root.len() + folder]);
    format!("{root}{}", without_dots(&path))
}

/// Removes `.` and `..` where they do not lead above the start.
fn without_dots(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(usize::from(is_absolute)) {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_absolute => {}
            _ => parts.push(part),
        }
    }
    format!("{}{}", if is_absolute { "/" } else { "" }, parts.join("/"))
}

/// Resolves a URL relative to `folder` below a root. Returns `None` if the result is outside of the
/// root, or if the URL has a scheme or a root.
pub(super) fn within(folder: &str, url: &str) -> Option<String> {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let path = percent_decode(&url.as_bytes()[..end]).decode_utf8().ok()?.into_owned();
    let is_rooted = path.starts_with('/') || path.contains(['\\', '\0']);
    if is_rooted || path.is_empty() || scheme(url).is_some() || path.contains(':') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the content of a `data:` URL.
pub(super) fn data_of(url: &str) -> Option<Vec<u8>> {
    use base64::Engine;
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let data: Vec<u8> = percent_decode(data.as_bytes()).collect();
    if head.ends_with(";base64") {
        return base64::engine::general_purpose::STANDARD.decode(data).ok();
    }
    Some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_resolve_relative_to_their_maps() {
        for (base, relative, expected) in [
            ("https://a.test/js/app.js?v=1", "../src/a.ts", "https://a.test/src/a.ts"),
            ("https://a.test/app.js", "../../a.ts", "https://a.test/a.ts"),
            ("https://a.test", "a.ts", "https://a.test/a.ts"),
            ("https://a.test/x/app.js", "/a.ts", "https://a.test/a.ts"),
            ("https://a.test/x/app.js", "//b.test/a.ts", "https://b.test/a.ts"),
            ("file:///srv/app.js", "webpack:///./src/a.js", "webpack:///src/a.js"),
            ("/srv/dist/app.js", "../src/a?.ts", "/srv/src/a?.ts"),
            ("app.js", "../a.ts", "../a.ts"),
            ("node:fs", "a.ts", "node:a.ts"),
        ] {
            assert_eq!(join(base, relative), expected, "{base} {relative}");
        }
    }

    #[test]
    fn paths_never_leave_their_folder() {
        assert_eq!(within("js", "../maps/a%20b.map?x").as_deref(), Some("maps/a b.map"));
        for out in [
            "../../a.map",
            "%2e%2e/../a.map",
            "/etc/passwd",
            "file:///etc/passwd",
            "https://a.test/a.map",
            "c:/a.map",
            "\\\\host\\a.map",
            "%2Fetc/passwd",
            "a%00b.map",
            "",
        ] {
            assert_eq!(within("js", out), None, "{out}");
        }
    }

    #[test]
    fn decodes_data_urls() {
        assert_eq!(
            data_of("data:application/json;charset=utf-8;base64,eyJhIjoxfQ==").as_deref(),
            Some(&b"{\"a\":1}"[..])
        );
        assert_eq!(data_of("data:application/json,%7B%7D").as_deref(), Some(&b"{}"[..]));
        assert_eq!(data_of("data:;base64,!"), None);
    }

    #[test]
    fn file_names_exclude_queries() {
        assert_eq!(file_of("https://a.test/x/app%20a.js?y=/z#b"), "app a.js");
        assert_eq!(file_of("C:\\x\\app.js"), "app.js");
        assert_eq!(path_of("/srv/a?.js"), "/srv/a?.js");
    }
}
