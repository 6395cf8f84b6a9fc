//! Converts the input names of the command line and of `--files-from` to sources.

use super::addresses::opened;
use crate::outcome::exit::Failure;
use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use tracemill_trace::Source;

/// Returns all inputs of a run: the names, followed by those in the list. If there are none,
/// returns standard input.
pub(crate) fn sources(names: &[PathBuf], list: Option<&Path>) -> Result<Vec<Source>, Failure> {
    let mut sources: Vec<Source> =
        names.iter().map(|name| source(name.clone(), Source::Path)).collect();
    if let Some(list) = list {
        if list == Path::new("-") && sources.contains(&Source::Stdin) {
            return Err(Failure::usage(
                "standard input is both an input and the list of --files-from: give one of them as a file",
            ));
        }
        let names = listed(&read_list(list)?).into_iter();
        sources.extend(names.map(|name| source(name, Source::Listed)));
        if sources.is_empty() {
            let name = list.display();
            return Err(Failure::usage(format!(
                "no input: the list of --files-from is empty: {name}"
            )));
        }
        if list == Path::new("-") && sources.contains(&Source::Stdin) {
            return Err(Failure::usage(
                "the list of --files-from comes from standard input, and names standard input as an input: give one of them as a file",
            ));
        }
    }
    let names = names.iter().filter(|name| !name.exists() && opened(name).is_none());
    for name in names {
        address_text(&name.to_string_lossy()).map_or(Ok(()), |text| Err(Failure::usage(text)))?;
    }
    if sources.is_empty() {
        if std::io::stdin().is_terminal() {
            return Err(Failure::usage(
                "no input: standard input is a terminal; name a file, or pipe a trace in",
            ));
        }
        sources.push(Source::Stdin);
    }
    if sources.iter().filter(|&source| *source == Source::Stdin).count() > 1 {
        return Err(Failure::usage("standard input (-) is given twice, but can be read only once"));
    }
    Ok(sources)
}

/// Returns a message if the name of an input is a URL. Returns `None` otherwise.
pub(crate) fn address_text(name: &str) -> Option<String> {
    let (scheme, _) = name.split_once("://")?;
    let get = match scheme {
        "http" | "https" | "ftp" => "curl -LO",
        "s3" => "aws s3 cp",
        "gs" => "gcloud storage cp",
        "az" => "az storage copy -s",
        _ => return None,
    };
    Some(format!(
        "{name} is an address, and files are read: download it first, e.g. {get} '{name}'"
    ))
}

/// Creates a source. The name `-` means standard input; a file with that name is `./-`.
fn source(name: PathBuf, file: fn(PathBuf) -> Source) -> Source {
    match opened(&name) {
        Some(source) => source,
        None if name == Path::new("-") => Source::Stdin,
        None => file(name),
    }
}

fn read_list(list: &Path) -> Result<Vec<u8>, Failure> {
    let (name, read) = if list == Path::new("-") {
        let mut bytes = Vec::new();
        let read = tracemill_trace::os::stdin().read_to_end(&mut bytes).map(|_| bytes);
        ("standard input".to_owned(), read)
    } else {
        (list.display().to_string(), std::fs::read(list))
    };
    read.map_err(|source| Failure::List { path: name, source })
}

/// Splits a list into names. If the list contains a NUL, NULs separate the names (`find -print0`).
/// Otherwise, each line is a name. Skips empty names.
pub(crate) fn listed(bytes: &[u8]) -> Vec<PathBuf> {
    let nul = bytes.contains(&0);
    let names = bytes.split(|&byte| byte == if nul { 0 } else { b'\n' });
    // in lists without NULs, lines may end as on Windows; a list with NULs can have names that end
    // in \r
    let names = names.map(|name| if nul { name } else { name.strip_suffix(b"\r").unwrap_or(name) });
    let names = names.filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(bytes: &[u8]) -> Vec<String> {
        listed(bytes).iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn lists_are_split_at_newlines_or_nuls() {
        assert_eq!(names(b""), [""; 0]);
        assert_eq!(names(b"\n\n"), [""; 0]);
        assert_eq!(names(b"a.json\nb c.json"), ["a.json", "b c.json"]);
        assert_eq!(names(b"a.json\r\n\r\nb.json\r\n"), ["a.json", "b.json"]);
        assert_eq!(names(b"a\nb\0c\r\0"), ["a\nb", "c\r"]);
        assert_eq!(names(b"one\0"), ["one"]);
    }

    #[test]
    fn names_may_be_invalid_utf8() {
        let paths = listed(b"\xff.json\n");
        assert_eq!(paths[0].as_os_str().as_encoded_bytes(), b"\xff.json");
    }

    #[test]
    fn names_of_the_list_follow_the_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        std::fs::write(&list, "b\n-\n").unwrap();
        let sources = sources(&["a".into()], Some(&list)).unwrap();
        assert_eq!(sources, [Source::Path("a".into()), Source::Listed("b".into()), Source::Stdin]);
    }

    fn refusal(names: &[&str], list: Option<&Path>) -> String {
        let names: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        sources(&names, list).unwrap_err().to_string()
    }

    #[test]
    fn standard_input_cannot_be_input_and_list() {
        assert!(refusal(&["-", "-"], None).contains("given twice"));
        assert!(refusal(&["-"], Some(Path::new("-"))).contains("both an input and the list"));
        let names = [PathBuf::from("./-"), PathBuf::from("-")];
        assert_eq!(sources(&names, None).unwrap().len(), 2);
    }

    #[test]
    fn missing_or_empty_lists_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        assert!(refusal(&[], Some(&list)).starts_with("cannot read the list of files"));
        std::fs::write(&list, "\n").unwrap();
        assert!(refusal(&[], Some(&list)).starts_with("no input: the list"));
    }
}
