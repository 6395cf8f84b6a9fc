//! What the user should know of the inputs of a run.

use std::fmt;

/// What the user should know of an input. Its text is a sentence without its full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputWarning {
    /// A file of a folder is no trace.
    LeftOut {
        /// Why, with its name.
        why: String,
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
        said: String,
    },
}

impl fmt::Display for InputWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputWarning::LeftOut { why } => write!(f, "left out: {why}"),
            InputWarning::ProfilesBehind { input, profiles, offset } => write!(
                f,
                "{input}: {profiles} CPU profile{} behind something else, first at byte {offset}, left out: this stream \
                 was not kept; from a file all is read",
                if *profiles > 1 { "s" } else { "" }
            ),
            InputWarning::Profile { input, number: Some(number), said } => {
                write!(f, "{input} (number {number}): {said}")
            }
            InputWarning::Profile { input, number: None, said } => write!(f, "{input}: {said}"),
        }
    }
}
