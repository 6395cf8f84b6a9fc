//! Small outputs that are written at the end of a run, completely or not at all, such as those of
//! `--report` and `info -o`.

use crate::outcome::exit::Failure;
use crate::process::caller::CallerOutput;
use serde::Serialize;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tracemill_trace::output::check_not_input;
use tracemill_trace::{ErrorKind, Source};

/// Destination of a small output.
#[derive(Clone, Debug)]
pub(crate) enum OutputPlace {
    Stdout,
    File(PathBuf),
    /// The program that called this library. It receives JSON only; other text is dropped.
    Caller(CallerOutput),
}

impl OutputPlace {
    /// Returns the destination for a path. The path `-` means standard output.
    pub(crate) fn of(path: &Path) -> OutputPlace {
        if path == Path::new("-") {
            OutputPlace::Stdout
        } else {
            OutputPlace::File(path.to_owned())
        }
    }

    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, OutputPlace::Stdout)
    }

    /// Returns an error if the file is an input or may not be replaced. Must be called before
    /// inputs are read.
    pub(crate) fn check(&self, flag: &str, sources: &[Source], force: bool) -> Result<(), Failure> {
        let OutputPlace::File(path) = self else { return Ok(()) };
        let Ok(existing) = fs::metadata(path) else { return Ok(()) };
        if !existing.is_file() {
            return Ok(());
        }
        let name = path.display();
        if let Err(error) = check_not_input(path, sources) {
            let problem = match error.kind() {
                ErrorKind::OutputInFolder { folder, .. } => {
                    format!("{name} lies in the input folder {folder}; write it to another folder")
                }
                _ => format!("{name} is one of the inputs; choose another name"),
            };
            return Err(Failure::usage(format!("{flag} {problem}")));
        }
        if !force {
            return Err(Failure::usage(format!(
                "{flag} {name} exists already; replace it with -f or choose another name"
            )));
        }
        Ok(())
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        self.write_by(|out| out.write_all(bytes))
    }

    /// Writes the output that `write` produces, through a buffer.
    pub(crate) fn write_lines(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        self.write_by(|out| {
            let mut out = BufWriter::new(out);
            write(&mut out)?;
            out.flush()
        })
    }

    pub(crate) fn write_json(&self, value: &impl Serialize) -> Result<(), Failure> {
        if let OutputPlace::Caller(handed) = self {
            let bytes = serde_json::to_vec(value).map_err(io::Error::from);
            let path = || "the report".to_owned();
            handed.json(bytes.map_err(|source| Failure::Write { path: path(), source })?);
            return Ok(());
        }
        self.write_by(|out| {
            let mut out = BufWriter::new(out);
            serde_json::to_writer_pretty(&mut out, value)?;
            out.write_all(b"\n")?;
            out.flush()
        })
    }

    fn write_by(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self {
            OutputPlace::Stdout => {
                let mut stdout = tracemill_trace::os::stdout();
                let written = write(&mut stdout).and_then(|()| stdout.flush());
                written
                    .map_err(|source| Failure::Write { path: "standard output".to_owned(), source })
            }
            OutputPlace::File(path) => Ok(tracemill_trace::output::write_file(path, write)?),
            OutputPlace::Caller(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_created_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let place = OutputPlace::of(&path);
        for bytes in [b"first".as_slice(), b"second, longer", b"3rd"] {
            place.write(bytes).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        assert_eq!(names(folder.path()), ["report.json"]);
    }

    #[test]
    fn links_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        OutputPlace::of(&link).write(b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn inputs_and_existing_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, "").unwrap();
        fs::hard_link(&a, &b).unwrap();
        let refusal = |sources: &[Source], force| {
            OutputPlace::of(&b).check("the report", sources, force).err().map(|e| e.to_string())
        };
        let input = refusal(&[Source::Path(a)], true).unwrap();
        assert!(input.contains("is one of the inputs"), "{input}");
        assert!(refusal(&[], false).unwrap().contains("exists"));
        assert_eq!(refusal(&[Source::Stdin], true), None);
        assert!(OutputPlace::of(&folder.path().join("new")).check("x", &[], false).is_ok());
    }

    #[test]
    fn missing_folders_are_named_in_the_error() {
        let failure = OutputPlace::of(Path::new("/nowhere/at/all")).write(b"").unwrap_err();
        assert!(failure.to_string().starts_with("cannot write /nowhere/at/all: "));
    }
}
