//! What the user should know of the inputs of a run.

use crate::run::remedy::Remedy;
use crate::run::words::plural;
use std::fmt;

/// What the user should know of an input. Its text is a sentence without its full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputWarning {
    /// Files of folders and lists are no traces.
    LeftOut {
        /// How many.
        files: u64,
        /// The name of the first, and what it is instead.
        first: String,
    },
    /// CPU profiles behind something else in a stream, which was not kept for them.
    ProfilesBehind {
        /// The stream.
        input: String,
        /// How many.
        profiles: usize,
        /// Where the first begins.
        offset: u64,
    },
    /// Something about a CPU profile that was made into events.
    Profile {
        /// The input.
        input: String,
        /// Its number among those of the input, from 1, if there are several.
        number: Option<usize>,
        /// What there is to say.
        said: ProfilePlace,
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
                "{input}: {} after other content, the first at byte {offset}, left out: a stream can have a CPU profile only at \
                 its start; give the input as a file to read all",
                plural(*profiles as u64, "CPU profile")
            ),
            InputWarning::Profile { input, number: Some(number), said } => {
                write!(f, "{input} (number {number}): {said}")
            }
            InputWarning::Profile { input, number: None, said } => write!(f, "{input}: {said}"),
        }
    }
}

impl InputWarning {
    /// Counts a file that is left out: `why` names it. There is one such warning for all of them.
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

    /// What can be done about it, if anything can.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            InputWarning::Profile { said: ProfilePlace::Assigned { .. }, .. } => {
                Some(Remedy::NameThread)
            }
            _ => None,
        }
    }
}

/// Why a CPU profile has a process and thread that its name does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfilePlace {
    /// Its name says none.
    Assigned {
        /// The process that it got.
        pid: u64,
        /// The thread that it got.
        tid: u64,
    },
    /// Its thread has a CPU profile already.
    Moved {
        /// Its process.
        pid: u64,
        /// The thread that it got.
        tid: u64,
    },
}

impl fmt::Display for ProfilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProfilePlace::Assigned { pid, tid } => write!(
                f,
                "the file name of this CPU profile names no process and thread; it gets pid {pid}, tid {tid}"
            ),
            ProfilePlace::Moved { pid, tid } => write!(
                f,
                "another CPU profile of the same thread; it is moved to pid {pid}, tid {tid}, because DevTools draws only \
                 one per thread"
            ),
        }
    }
}
