//! Checks the paths of a run before inputs are read. No output may replace an input or another
//! output, or be in an input folder.
//!
//! [`ROLES`] has the role of each flag that names a file. A test fails if a flag has no role.
//!
//! Other code checks paths that are known only later: names from a manifest or from a list on
//! standard input, and the files that `split` writes.

pub(crate) mod addresses;
pub(crate) mod inputs;
pub(crate) mod manifest;
pub(crate) mod whole_file;

use crate::files::inputs::listed;
use crate::outcome::exit::Failure;
use clap::ArgMatches;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tracemill_index::index_path;
use tracemill_write::file_names::resolved_path;

/// The role of a file that a flag names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileRole {
    /// An input file, or a folder of input files.
    Input,
    /// A file that is read but is not an input.
    Reads,
    /// A file that is written.
    Writes,
    /// A folder into which files are written.
    WritesIn,
    /// A path that is neither read nor written, or that does not name a file of the user.
    Neither,
}

/// Roles by command and flag id. The command is empty unless the role depends on it.
const ROLES: [(&str, &str, FileRole); 23] = [
    ("split", "manifest", FileRole::Writes),
    ("", "inputs", FileRole::Input),
    ("", "sides", FileRole::Input),
    ("", "base", FileRole::Input),
    ("", "new", FileRole::Input),
    ("", "diff", FileRole::Input),
    ("", "files_from", FileRole::Reads),
    ("", "manifest", FileRole::Reads),
    ("", "sql_file", FileRole::Reads),
    ("", "entities", FileRole::Reads),
    ("", "source_maps", FileRole::Reads),
    ("", "index", FileRole::Reads),
    ("", "output", FileRole::Writes),
    ("", "report", FileRole::Writes),
    ("", "write_manifest", FileRole::Writes),
    ("", "dir", FileRole::WritesIn),
    ("", "keep", FileRole::WritesIn),
    ("", "screenshots", FileRole::WritesIn),
    ("", "tmp_dir", FileRole::Neither),
    ("", "devtools", FileRole::Neither),
    ("", "viewers", FileRole::Neither),
    ("", "pid_tid", FileRole::Neither),
    ("", "command", FileRole::Neither),
];

fn role(verb: &str, id: &str) -> Option<FileRole> {
    let of =
        |(of, name, _): &&(&str, &str, FileRole)| *name == id && (of.is_empty() || *of == verb);
    ROLES.iter().find(of).map(|(_, _, role)| *role)
}

/// A path with the name and role of its flag.
#[derive(Clone, Debug)]
struct NamedFile {
    /// Name of the path in messages, such as `the output` or `--report`.
    flag: String,
    path: PathBuf,
    role: FileRole,
}

/// The paths of a command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFiles {
    verb: String,
    tmp_dir: Option<PathBuf>,
    named: Vec<NamedFile>,
}

impl RunFiles {
    /// Collects the paths from the flags of a parsed command line.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let mut files = Vec::new();
        let (mut verb, mut flags) = ("", matches);
        while let Some((name, below)) = flags.subcommand() {
            (verb, flags) = (name, below);
        }
        for id in flags.ids() {
            let Some(role) = role(verb, id.as_str()) else { continue };
            // an id may also be that of a group of flags
            let Ok(Some(values)) = flags.try_get_raw(id.as_str()) else { continue };
            let flag = match id.as_str() {
                "output" => "the output".to_owned(),
                id => format!("--{}", id.replace('_', "-")),
            };
            files.extend(values.map(|path| NamedFile {
                flag: flag.clone(),
                path: path.into(),
                role,
            }));
        }
        let is_set = |id| flags.try_get_one::<bool>(id).ok().flatten() == Some(&true);
        if is_set("dry_run") {
            files.retain(|file: &NamedFile| file.role != FileRole::WritesIn);
        } else if ["split", "extract"].contains(&verb) && !files.iter().any(writes_elsewhere) {
            let flag = "the output".to_owned();
            files.push(NamedFile { flag, path: PathBuf::from("."), role: FileRole::WritesIn });
        }
        let output = files.iter().find(|file| is_set("write_index") && file.flag == "the output");
        let index = output.map(|output| index_path(&output.path));
        files.extend(index.map(|path| NamedFile {
            flag: "the index of --write-index".to_owned(),
            path,
            role: FileRole::Writes,
        }));
        for list in files.clone().iter().filter(|file| file.flag == "--files-from") {
            // a pipe can be read only once
            let is_file = fs::metadata(&list.path).is_ok_and(|known| known.is_file());
            let names = is_file.then(|| fs::read(&list.path).ok()).flatten().unwrap_or_default();
            let input =
                |path| NamedFile { flag: "an input".to_owned(), path, role: FileRole::Input };
            files.extend(listed(&names).into_iter().map(input));
        }
        files.retain(|file| file.path != Path::new("-"));
        let tmp_dir = flags.try_get_one("tmp_dir").ok().flatten().cloned();
        RunFiles { verb: verb.to_owned(), tmp_dir, named: files }
    }

    /// Returns the name of the verb.
    pub(crate) fn verb(&self) -> &str {
        &self.verb
    }

    /// Returns the folder of temporary files.
    pub(crate) fn tmp_dir(&self) -> PathBuf {
        self.tmp_dir.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// Returns the inputs on other machines.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &Path> {
        let inputs = self.named.iter().filter(|file| file.role == FileRole::Input);
        inputs.map(|file| &*file.path).filter(|path| addresses::is_address(path))
    }

    /// Returns a usage error if two outputs are the same file, an output is an input, or an output
    /// is in an input folder.
    ///
    /// Links are followed. Outputs that do not exist yet are compared by their resolved paths. If
    /// there is an output, the metadata of each named file is read once; otherwise no file is
    /// touched.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let outputs: Vec<Output<'_>> = self.named.iter().filter_map(Output::of).collect();
        if outputs.is_empty() {
            return Ok(());
        }
        let reads =
            self.named.iter().filter(|file| matches!(file.role, FileRole::Input | FileRole::Reads));
        let reads: Vec<(&NamedFile, Metadata)> =
            reads.filter_map(|file| Some((file, fs::metadata(&file.path).ok()?))).collect();
        for (at, output) in outputs.iter().enumerate() {
            output.check_others(&outputs[..at])?;
            output.check_reads(&reads)?;
        }
        Ok(())
    }
}

/// Returns whether the output of `split` or `profile extract` goes to this path instead of the
/// current folder.
fn writes_elsewhere(file: &NamedFile) -> bool {
    file.role == FileRole::WritesIn || file.flag == "the output"
}

/// A file or folder that is written.
struct Output<'f> {
    file: &'f NamedFile,
    path: PathBuf,
    /// Id of the file or folder, if it exists.
    now: Option<Id>,
    /// Ids of all folders above the path. If files are written into the path, its id is included.
    folders: Vec<Id>,
}

type Id = (u64, u64);

fn id(of: &Metadata) -> Id {
    (of.dev(), of.ino())
}

impl<'f> Output<'f> {
    /// Reads the ids of an output. Returns `None` for inputs, and for devices, where no data is
    /// lost.
    fn of(file: &'f NamedFile) -> Option<Self> {
        let writes_in = match file.role {
            FileRole::Writes => false,
            FileRole::WritesIn => true,
            FileRole::Input | FileRole::Reads | FileRole::Neither => return None,
        };
        let now = fs::metadata(&file.path).ok();
        if now.as_ref().is_some_and(|now| !now.is_file() && !now.is_dir()) {
            return None;
        }
        let path = resolved_path(&file.path);
        let folders = path.ancestors().skip(usize::from(!writes_in));
        let folders = folders.filter_map(|folder| Some(id(&fs::metadata(folder).ok()?))).collect();
        Some(Output { file, path, now: now.as_ref().map(id), folders })
    }

    /// Returns a usage error if one of the other outputs is the same file.
    fn check_others(&self, others: &[Output<'_>]) -> Result<(), Failure> {
        let is_same = |other: &&Output<'_>| {
            self.path == other.path || self.now.is_some() && self.now == other.now
        };
        match others.iter().find(is_same).filter(|_| self.file.role == FileRole::Writes) {
            None => Ok(()),
            Some(other) => Err(Failure::usage(format!(
                "{} and {} are the same file, {}: choose another name",
                other.file.flag,
                self.file.flag,
                self.file.path.display()
            ))),
        }
    }

    /// Returns a usage error if the output is an input, or is in an input folder.
    fn check_reads(&self, reads: &[(&NamedFile, Metadata)]) -> Result<(), Failure> {
        let (flag, name) = (&self.file.flag, self.file.path.display());
        // an index may be in the folder of its trace, because it is never read as an input
        let is_index = self.file.path.extension().is_some_and(|end| end == "tmi");
        for (read, of) in reads {
            let is_folder = read.role == FileRole::Input && of.is_dir();
            if is_folder && !is_index && self.folders.contains(&id(of)) {
                let folder = read.path.display();
                return Err(Failure::usage(format!(
                    "{flag} {name} lies in the input folder {folder} and would be read with the others: write it to another folder, or name the inputs one by one",
                )));
            }
            if self.file.role == FileRole::Writes && self.now == Some(id(of)) {
                return Err(Failure::usage(format!(
                    "{flag} {name} is one of the inputs; choose another name"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;
    use clap::{Command, ValueHint};

    fn verbs(command: &Command) -> Vec<&Command> {
        command.get_subcommands().flat_map(|verb| [verb].into_iter().chain(verbs(verb))).collect()
    }

    #[test]
    fn every_flag_that_names_a_file_has_a_role() {
        let command = args::command();
        for verb in verbs(&command) {
            for flag in verb.get_arguments() {
                let (name, id) = (verb.get_name(), flag.get_id().as_str());
                let is_file = flag.get_value_hint() != ValueHint::Unknown;
                assert!(!is_file || role(name, id).is_some(), "{name} --{id} has no role");
            }
        }
    }
}
