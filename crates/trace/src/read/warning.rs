//! Warnings about the inputs of a run.

use crate::run::remedy::Remedy;
use crate::run::words::plural;
use std::fmt;

/// A warning about an input. Its text is a sentence without the full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputWarning {
    /// Files of folders and lists that are left out because they are not traces.
    LeftOut {
        /// Number of files.
        files: u64,
        /// Name and actual content of the first file.
        first: String,
    },
    /// CPU profiles after other content in a stream, whose bytes were not kept.
    ProfilesBehind {
        /// Name of the stream.
        input: String,
        /// Number of profiles.
        profiles: usize,
        /// Offset of the first profile.
        offset: u64,
    },
    /// A note about a CPU profile that was converted to events.
    Profile {
        /// Name of the input.
        input: String,
        /// Number of the profile in the input, from 1, if there are several.
        number: Option<usize>,
        /// The pid and tid that the profile got, and the reason.
        place: ProfilePlace,
    },
}

impl fmt::Display for InputWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputWarning::LeftOut { files: 1, first } => write!(f, "left out: {first}"),
            InputWarning::LeftOut { files, first } => {
                write!(f, "left out {files} files that are not traces; the first: {first}")
            }
            InputWarning::ProfilesBehind { input, profiles, offset } => write!(
                f,
                "{input}: left out {} after other content, the first at byte {offset}, because a stream can have a CPU profile \
                 only at its start; give the input as a file to read all profiles",
                plural(*profiles as u64, "CPU profile")
            ),
            InputWarning::Profile { input, number: Some(number), place } => {
                write!(f, "{input} (number {number}): {place}")
            }
            InputWarning::Profile { input, number: None, place } => write!(f, "{input}: {place}"),
        }
    }
}

impl InputWarning {
    /// Counts a file that is left out, in a single warning for all of them. `why` names the file.
    pub fn leave_out(warnings: &mut Vec<InputWarning>, why: String) {
        let known = warnings.iter_mut().find_map(|warning| match warning {
            InputWarning::LeftOut { files, .. } => Some(files),
            _ => None,
        });
        match known {
            Some(files) => *files += 1,
            None => warnings.push(InputWarning::LeftOut { files: 1, first: why }),
        }
    }

    /// Returns a suggested remedy, if there is one.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            InputWarning::Profile { place: ProfilePlace::Assigned { .. }, .. } => {
                Some(Remedy::NameThread)
            }
            _ => None,
        }
    }
}

/// The reason why a CPU profile got a pid and tid other than those in its file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfilePlace {
    /// The file name has no pid and tid.
    Assigned {
        /// Assigned pid.
        pid: u64,
        /// Assigned tid.
        tid: u64,
    },
    /// Another CPU profile belongs to the same thread.
    Moved {
        /// Pid of the profile.
        pid: u64,
        /// Assigned tid.
        tid: u64,
    },
}

impl fmt::Display for ProfilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProfilePlace::Assigned { pid, tid } => write!(
                f,
                "the file name of this CPU profile names no process and thread; the profile gets pid {pid}, tid {tid}"
            ),
            ProfilePlace::Moved { pid, tid } => write!(
                f,
                "another CPU profile of the same thread; the profile is moved to pid {pid}, tid {tid}, because DevTools draws \
                 only one per thread"
            ),
        }
    }
}
