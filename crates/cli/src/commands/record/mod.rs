//! `tracemill record`: runs a Node program, records CPU profiles and events of all its threads, and
//! merges them.
//!
//! ```text
//!   NODE_OPTIONS ─> program ─┬─ process ─> trace-PID-N.json, one profile per thread ─┐
//!                            └─ child … ─────────────────────────────────────────────┴─> merge
//! ```
//!
//! Node 20 does not accept `--cpu-prof` in NODE_OPTIONS, which child processes inherit. So Node
//! preloads `preload.cjs`, which records profiles through the inspector.

use super::merge;
use crate::args::{Cli, MergeArgs, RecordArgs, Verb};
use crate::files::whole_file::OutputPlace;
use crate::messages::signal;
use crate::messages::{Messages, plain};
use crate::outcome::exit::{Exit, Failure};
use clap::Parser;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{fs, io};
use tempfile::TempDir;
use tracemill_trace::run::words::{plural, shell_word};

/// The script that Node loads before the program. The word `INTERVAL` is replaced by the time
/// between samples in microseconds, and `FOLDER` by the folder of the profiles.
const PRELOAD: &str = include_str!("preload.cjs");

/// Runs the program, then merges its recordings.
pub(super) fn run(args: &RecordArgs, messages: &Messages) -> Result<Exit, Failure> {
    let out = OutputPlace::of(&args.output);
    if out.is_stdout() {
        return Err(Failure::usage("the program has standard output: name a file with -o"));
    }
    out.check("--output", &[], args.force)?;
    let folder = RecordFolder::new(args)?;
    let status = watch(args, &folder, messages)?;
    let recorded = folder.recorded().map_err(failure(&folder.files))?;
    if recorded.files == 0 {
        let program = plain(&args.program[0].to_string_lossy());
        let why = match status.signal() {
            Some(signal) => format!("was ended by signal {signal} before Node wrote what it had"),
            None => "ran no Node, one older than 14, or one that does not get NODE_OPTIONS".into(),
        };
        messages
            .warning(&format!("nothing was recorded, and no trace is written: {program} {why}"));
        return Ok(passed_on(status).unwrap_or(Exit::Lossy));
    }
    let Some(merge) = merge_args(args, &folder.files) else {
        return Err(Failure::usage(
            "the folder of what was recorded has no name that can be given",
        ));
    };
    let merged = merge::run(&merge, &messages.terse())?;
    let output = plain(&args.output.to_string_lossy());
    let profiles = plural(recorded.profiles, "CPU profile");
    let processes = plural(recorded.processes, "process");
    let next = shell_word(&args.output.to_string_lossy());
    messages
        .say(&format!("wrote {output}: {profiles} of {processes}. Next: tracemill report {next}"));
    Ok(passed_on(status).unwrap_or(merged))
}

/// Returns the arguments of the merge of the files in `folder`.
fn merge_args(args: &RecordArgs, folder: &Path) -> Option<MergeArgs> {
    let words = ["tracemill", "merge", "--for", "devtools", "--force", "--output"];
    let paths = [args.output.as_os_str(), folder.as_os_str()];
    let words = words.map(OsString::from).into_iter().chain(paths.map(OsString::from));
    match Cli::try_parse_from(words).ok()?.verb {
        Verb::Merge(merge) => {
            let common = args.common.clone();
            Some(MergeArgs { common, ..merge.0 })
        }
        _ => None,
    }
}

/// Returns the exit status with which the program ended, in the form that shells use. Returns
/// `None` for status 0.
fn passed_on(status: ExitStatus) -> Option<Exit> {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal))?;
    u8::try_from(number).ok().filter(|&number| number != 0).map(Exit::Program)
}

/// Runs the program and waits for its end. A single argument with blanks that is no file is a command
/// for the shell.
fn watch(
    args: &RecordArgs,
    folder: &RecordFolder,
    messages: &Messages,
) -> Result<ExitStatus, Failure> {
    let shell = ["sh", "-c"].map(OsString::from);
    let words = match &*args.program {
        [line] if is_line(line) => [&shell[..], &args.program].concat(),
        _ => args.program.clone(),
    };
    let start = |source| Failure::Start { program: plain(&words[0].to_string_lossy()), source };
    let mut options = std::env::var_os("NODE_OPTIONS").unwrap_or_default();
    if !options.is_empty() {
        options.push(" ");
    }
    options.push(folder.options(&args.categories));
    messages.note(&shell_line(&options, &words));
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .env("NODE_OPTIONS", options)
        .spawn()
        .map_err(start)?;
    let _passing = signal::pass_to(child.id());
    child.wait().map_err(start)
}

/// Returns whether a word is a whole command.
fn is_line(word: &OsStr) -> bool {
    word.as_encoded_bytes().iter().any(u8::is_ascii_whitespace) && !Path::new(word).exists()
}

/// Returns the command with its `NODE_OPTIONS`, as a shell takes it.
fn shell_line(options: &OsStr, words: &[OsString]) -> String {
    let quoted = |word: &OsStr| shell_word(&word.to_string_lossy());
    let words = words.iter().map(|word| quoted(word));
    let line: Vec<String> =
        std::iter::once(format!("NODE_OPTIONS={}", quoted(options))).chain(words).collect();
    line.join(" ")
}

/// The folder to which Node writes. It is temporary unless `--keep` names one.
struct RecordFolder {
    /// Removes a temporary folder when dropped.
    _temporary: Option<TempDir>,
    files: PathBuf,
}

/// Numbers of files that Node wrote.
#[derive(Default)]
struct Recorded {
    files: u64,
    profiles: u64,
    processes: u64,
}

impl RecordFolder {
    fn new(args: &RecordArgs) -> Result<Self, Failure> {
        let (temporary, files) = match &args.keep {
            Some(folder) => (None, folder.clone()),
            None => {
                let folder = temporary_folder(args)?;
                let path = folder.path().to_owned();
                (Some(folder), path)
            }
        };
        fs::create_dir_all(&files).map_err(failure(&files))?;
        let files = files.canonicalize().map_err(failure(&files))?;
        if fs::read_dir(&files).map_err(failure(&files))?.next().is_some() {
            let path = files.display();
            return Err(Failure::usage(format!(
                "--keep {path}: is not empty; what lies there would be taken for recorded"
            )));
        }
        let folder = RecordFolder { _temporary: temporary, files };
        let quoted = serde_json::Value::from(folder.files.to_string_lossy()).to_string();
        let text = PRELOAD.replace("INTERVAL", &args.interval.to_string());
        let text = text.replace("FOLDER", &quoted);
        fs::write(folder.preload(), text).map_err(failure(&folder.preload()))?;
        Ok(folder)
    }

    /// Returns the path of the script. `merge` leaves out such names.
    fn preload(&self) -> PathBuf {
        self.files.join(".preload.cjs")
    }

    fn options(&self, categories: &str) -> OsString {
        let mut all = OsString::from("--require ");
        all.push(quoted(self.preload().as_os_str()));
        if !categories.is_empty() {
            all.push(" --trace-event-categories ");
            all.push(quoted(OsStr::new(categories)));
            all.push(" --trace-event-file-pattern ");
            all.push(quoted(self.files.join("trace-${pid}-${rotation}.json").as_os_str()));
        }
        all
    }

    fn recorded(&self) -> io::Result<Recorded> {
        let mut found = Recorded::default();
        let mut pids = std::collections::HashSet::new();
        for entry in fs::read_dir(&self.files)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let is_profile = name.ends_with(".cpuprofile");
            if name.starts_with('.') {
                continue;
            }
            found.files += 1;
            found.profiles += u64::from(is_profile);
            let pid = if is_profile { name.split('.').nth(3) } else { name.split('-').nth(1) };
            pids.insert(pid.map(str::to_owned));
        }
        found.processes = pids.len() as u64;
        Ok(found)
    }
}

/// Creates a folder in that of `--tmp-dir`, which is removed also when a signal ends the run.
fn temporary_folder(args: &RecordArgs) -> Result<TempDir, Failure> {
    let parent = args.common.limits.tmp_dir.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::Builder::new().prefix("tracemill-record.").tempdir_in(&parent);
    let folder = folder.map_err(failure(&parent))?;
    signal::remove_at_end(folder.path());
    Ok(folder)
}

/// Returns a function that converts an I/O error about a path to a failure.
fn failure(path: &Path) -> impl FnOnce(io::Error) -> Failure {
    let path = path.display().to_string();
    move |source| Failure::Write { path, source }
}

/// Quotes a word for NODE_OPTIONS. Quotes and backslashes get a backslash before them.
fn quoted(word: &OsStr) -> OsString {
    let text = word.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_node_reads_them() {
        assert_eq!(quoted(OsStr::new(r#"/a b/"c"\d"#)), r#""/a b/\"c\"\\d""#);
    }

    #[test]
    fn exit_status_is_that_of_the_program() {
        let of = |raw| passed_on(ExitStatus::from_raw(raw)).map(Exit::code);
        assert_eq!([of(0), of(3 << 8), of(9)], [None, Some(3), Some(137)]);
    }
}
