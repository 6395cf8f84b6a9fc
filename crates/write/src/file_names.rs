//! Builds file names from templates with placeholders and from text of a trace.

use std::path::{Path, PathBuf};

/// Replaces placeholders by their values in one pass, so a value may contain a placeholder's name.
pub fn fill(template: &str, values: &[(&str, String)]) -> String {
    let (mut name, mut rest) = (String::new(), template);
    while let Some(open) = rest.find('{') {
        name.push_str(&rest[..open]);
        rest = &rest[open..];
        match values.iter().find(|(key, _)| rest.starts_with(key)) {
            Some((key, value)) => {
                name.push_str(value);
                rest = &rest[key.len()..];
            }
            None => {
                name.push('{');
                rest = &rest[1..];
            }
        }
    }
    name + rest
}

/// Returns `text` as a safe part of a file name: no separators, no leading dot, at most 60
/// characters.
pub fn safe(text: &str) -> String {
    const LONGEST: usize = 60;
    let plain = |c: char| if c.is_alphanumeric() || "-_+".contains(c) { c } else { '_' };
    let safe: String = text.chars().take(LONGEST).map(plain).collect();
    if safe.is_empty() { "none".to_owned() } else { safe }
}

/// Returns the first placeholder in a template that is not among `known`.
pub fn unknown_placeholder<'t>(template: &'t str, known: &[&str]) -> Option<&'t str> {
    template.split('{').skip(1).find_map(|part| {
        let name = part.split('}').next().unwrap_or_default();
        (!known.contains(&name)).then_some(name)
    })
}

/// Returns the name of an input without folder and known extensions: `a.b` for `x/a.b.json.gz`.
pub fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let without = |name: &str, endings: &[&str]| {
        let found = endings.iter().find_map(|ending| name.strip_suffix(ending));
        found.filter(|rest| !rest.is_empty()).unwrap_or(name).to_owned()
    };
    let unpacked = without(&name, &[".gz", ".zst"]);
    let stem = without(&unpacked, &[".json", ".ndjson", ".jsonl", ".cpuprofile", ".log", ".trace"]);
    if stem.is_empty() { "trace".to_owned() } else { stem }
}

/// Returns the path without links and `..`. Paths of the same file become equal, even before the
/// file exists.
///
/// Cost: a file system look-up per folder, repeated for each missing component.
pub fn resolved_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let Some(folder) = path.parent().map(resolved_path) else { return path };
    match path.file_name() {
        Some(name) => folder.join(name),
        // the path ends in `..`
        None => folder.parent().unwrap_or(&folder).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_contain_only_safe_parts() {
        let values = [("{pid}", safe("../{tid} x")), ("{tid}", "7".to_owned())];
        assert_eq!(fill("{pid}-{tid}.{x}", &values), "____tid__x-7.{x}");
        assert_eq!(safe(""), "none");
        assert_eq!(safe(".hidden/é"), "_hidden_é");
    }

    #[test]
    fn stem_drops_folder_and_known_extensions() {
        for (name, expected) in [
            ("x/a.b.json.gz", "a.b"),
            ("trace.json", "trace"),
            ("trace.zst", "trace"),
            (".json", ".json"),
            ("none", "none"),
            ("", "trace"),
        ] {
            assert_eq!(stem(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn paths_are_resolved_whether_or_not_they_exist() {
        let folder = tempfile::tempdir().expect("it is ours");
        let real = folder.path().canonicalize().expect("it is ours");
        std::fs::create_dir(folder.path().join("sub")).expect("it is ours");
        std::os::unix::fs::symlink("sub", folder.path().join("link")).expect("it is ours");
        for (path, resolves) in [
            ("new.json", "new.json"),
            ("none/../new.json", "new.json"),
            ("link/new.json", "sub/new.json"),
            ("link/../new.json", "new.json"),
            ("./sub/.//x", "sub/x"),
        ] {
            assert_eq!(resolved_path(&folder.path().join(path)), real.join(resolves), "{path}");
        }
    }
}
