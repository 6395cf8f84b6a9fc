//! The files that a run reads and those that it writes: no output replaces another one, or what is read, or lies where the next run would read it.
//!
//! [`ROLES`] says what each flag that names a file is; a test fails for one that is missing. What only the run finds out is checked
//! where it is known: names in a list on standard input or in a manifest, parts of a split.

use crate::exit::Failure;
use crate::inputs::listed;
use clap::ArgMatches;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tracemill_pipeline::{index_path, resolved_path};

/// What a run does with the file that a flag names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Reads it, or the files in it.
    Input,
    /// Reads it.
    Reads,
    /// Writes it.
    Writes,
    /// Writes files in it.
    WritesIn,
    /// Neither, or it is not a file of the user's.
    Neither,
}

/// Flags by verb, where one name has several meanings, and id.
const ROLES: [(&str, &str, Role); 21] = [
    ("split", "manifest", Role::Writes),
    ("", "inputs", Role::Input),
    ("", "sides", Role::Input),
    ("", "base", Role::Input),
    ("", "new", Role::Input),
    ("", "diff", Role::Input),
    ("", "files_from", Role::Reads),
    ("", "manifest", Role::Reads),
    ("", "entities", Role::Reads),
    ("", "source_maps", Role::Reads),
    ("", "index", Role::Reads),
    ("", "output", Role::Writes),
    ("", "report", Role::Writes),
    ("", "write_manifest", Role::Writes),
    ("", "dir", Role::WritesIn),
    ("", "keep", Role::WritesIn),
    ("", "tmp_dir", Role::Neither),
    ("", "devtools", Role::Neither),
    ("", "viewers", Role::Neither),
    ("", "pid_tid", Role::Neither),
    ("", "command", Role::Neither),
];

fn role(verb: &str, id: &str) -> Option<Role> {
    let of = |(of, name, _): &&(&str, &str, Role)| *name == id && (of.is_empty() || *of == verb);
    ROLES.iter().find(of).map(|(_, _, role)| *role)
}

/// A file that a flag names.
#[derive(Clone, Debug)]
struct Named {
    /// As messages call it: `the output`, `--report`.
    flag: String,
    path: PathBuf,
    role: Role,
}

/// The files of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFiles(Vec<Named>);

impl RunFiles {
    /// Those that the words of a command line name, by its flags.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let mut files = Vec::new();
        let (mut verb, mut flags) = ("", matches);
        while let Some((name, below)) = flags.subcommand() {
            (verb, flags) = (name, below);
        }
        for id in flags.ids() {
            let Some(role) = role(verb, id.as_str()) else { continue };
            // groups of flags are ids too
            let Ok(Some(values)) = flags.try_get_raw(id.as_str()) else { continue };
            let flag = match id.as_str() {
                "output" => "the output".to_owned(),
                id => format!("--{}", id.replace('_', "-")),
            };
            files.extend(values.map(|path| Named { flag: flag.clone(), path: path.into(), role }));
        }
        let is_set = |id| flags.try_get_one::<bool>(id).ok().flatten() == Some(&true);
        if is_set("dry_run") {
            files.retain(|file: &Named| file.role != Role::WritesIn);
        } else if ["split", "extract"].contains(&verb) && !files.iter().any(writes_elsewhere) {
            let flag = "the output".to_owned();
            files.push(Named { flag, path: PathBuf::from("."), role: Role::WritesIn });
        }
        let output = files.iter().find(|file| is_set("write_index") && file.flag == "the output");
        let index = output.map(|output| index_path(&output.path));
        files.extend(index.map(|path| Named {
            flag: "the index of --write-index".to_owned(),
            path,
            role: Role::Writes,
        }));
        for list in files.clone().iter().filter(|file| file.flag == "--files-from") {
            // one that comes by a pipe can be read once only
            let is_file = fs::metadata(&list.path).is_ok_and(|known| known.is_file());
            let names = is_file.then(|| fs::read(&list.path).ok()).flatten().unwrap_or_default();
            let input = |path| Named { flag: "an input".to_owned(), path, role: Role::Input };
            files.extend(listed(&names).into_iter().map(input));
        }
        files.retain(|file| file.path != Path::new("-"));
        RunFiles(files)
    }

    /// Refuses outputs that would replace each other or what is read, and those in a folder whose files are inputs. Paths are compared
    /// after their folders are resolved, also of files that do not exist yet.
    ///
    /// Cost: a look at each file that is named, and at each of the folders among the inputs.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let known: Vec<(&Named, Known)> =
            self.0.iter().map(|file| (file, Known::of(&file.path))).collect();
        let is_output = |(file, of): &&(&Named, Known)| {
            matches!(file.role, Role::Writes | Role::WritesIn) && !of.is_device()
        };
        for (at, (output, place)) in known.iter().enumerate().filter(|(_, one)| is_output(one)) {
            let name = output.path.display();
            for (other, of) in known[..at].iter().filter(is_output) {
                if output.role == Role::Writes && of.is_same(place) {
                    let (a, b) = (&other.flag, &output.flag);
                    return Err(Failure::usage(format!(
                        "{a} and {b} are the same file, {name}: choose another name"
                    )));
                }
            }
            for (other, of) in known.iter().filter(|(other, _)| other.role == Role::Input) {
                if of.is_folder() && of.is_same(&place.folder_of(output)) && !is_index(output) {
                    let folder = other.path.display();
                    return Err(Failure::usage(format!(
                        "{} {name} lies in the input folder {folder} and would be read with the others: write it to another folder, or name the inputs one by one",
                        output.flag
                    )));
                }
            }
            let is_read = |other: &&(&Named, Known)| {
                matches!(other.0.role, Role::Input | Role::Reads) && other.1.is_same(place)
            };
            if output.role == Role::Writes && known.iter().any(|other| is_read(&other)) {
                return Err(Failure::usage(format!(
                    "{} {name} is one of the inputs; choose another name",
                    output.flag
                )));
            }
        }
        Ok(())
    }
}

/// Whether `split` and `profile extract` write to this and not to the current folder.
fn writes_elsewhere(file: &Named) -> bool {
    file.role == Role::WritesIn || file.flag == "the output"
}

/// Whether it is an index, which lies beside what it is of and is no input.
fn is_index(file: &Named) -> bool {
    file.path.extension().is_some_and(|end| end == "tmi")
}

/// What is known of a path.
#[derive(Debug)]
struct Known {
    /// With all folders and links resolved, as far as they exist.
    path: PathBuf,
    metadata: Option<Metadata>,
}

impl Known {
    fn of(path: &Path) -> Self {
        let metadata = fs::metadata(path).ok();
        Known { path: resolved_path(path), metadata }
    }

    /// Where the files of an output lie.
    fn folder_of(&self, output: &Named) -> Known {
        match output.role {
            Role::WritesIn => Known::of(&self.path),
            _ => Known::of(self.path.parent().unwrap_or(&self.path)),
        }
    }

    fn is_folder(&self) -> bool {
        self.metadata.as_ref().is_some_and(Metadata::is_dir)
    }

    /// Whether it is neither a file nor a folder: what is written there replaces nothing.
    fn is_device(&self) -> bool {
        self.metadata.as_ref().is_some_and(|known| !known.is_file() && !known.is_dir())
    }

    /// Whether both are one file or folder, by whatever names.
    fn is_same(&self, other: &Known) -> bool {
        let id = |known: &Known| known.metadata.as_ref().map(|of| (of.dev(), of.ino()));
        self.path == other.path || id(self).is_some() && id(self) == id(other)
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
