//! What people mean who use the words of other tools: verbs and flags by meaning, where spelling does not tell.

use crate::args::Cli;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Flags of other tools, and ours; the first that the verb has counts.
const FLAGS: [(&[&str], &[&str]); 15] = [
    (&["--start", "--begin", "--since", "--after"], &["--from"]),
    (&["--end", "--stop", "--until", "--before"], &["--to"]),
    (&["--length", "--len", "--for-time"], &["--duration"]),
    (&["--out", "--outfile", "--output-file", "--dest"], &["--output", "--dir"]),
    (&["--overwrite", "--yes"], &["--force"]),
    (&["--jobs", "--parallel", "--cpus", "--num-threads"], &["--threads"]),
    (&["--mem", "--max-memory", "--buffer-size", "--ram"], &["--memory"]),
    (&["--exclude", "--not", "--remove", "--delete"], &["--invert"]),
    (&["--grep", "--match", "--event", "--pattern"], &["--name"]),
    (&["--min-duration", "--longer-than", "--min"], &["--min-dur"]),
    (&["--max-duration", "--shorter-than"], &["--max-dur"]),
    (&["--category", "--categories"], &["--cat"]),
    (&["--phase", "--type"], &["--ph"]),
    (&["--size", "--max-bytes", "--limit"], &["--shrink-to", "--by"]),
    (&["--viewer", "--target", "--to-devtools"], &["--for"]),
];

/// Verbs of other tools, and what to do here.
const VERBS: [(&[&str], &str); 6] = [
    (
        &["open", "view", "show"],
        "to look at a trace, write it for a viewer and load that: tracemill merge TRACE --for devtools -o OUT.json.gz",
    ),
    (&["join", "cat", "concat", "combine"], "tracemill merge does that"),
    (&["trim", "crop", "clip", "window", "range"], "tracemill slice does that"),
    (&["grep", "select", "query"], "tracemill filter does that"),
    (
        &["validate", "lint", "verify", "repair", "fix"],
        "tracemill check says what is wrong, tracemill merge writes what can be saved",
    ),
    (&["export", "transform", "jq"], "tracemill convert does that"),
];

/// The hint for a command line that is wrong, if it has a word of another tool.
pub(crate) fn of(error: &clap::Error) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let verb = std::env::args().nth(1)?;
            let flag = word(ContextKind::InvalidArg)?;
            let meant = flag_meant(&verb, flag.split('=').next()?)?;
            Some(format!("did you mean {meant}? tracemill {verb} --help has all flags"))
        }
        ErrorKind::InvalidSubcommand => verb_meant(&word(ContextKind::InvalidSubcommand)?),
        _ => None,
    }
}

/// The flag of `verb` that means the same.
fn flag_meant(verb: &str, flag: &str) -> Option<&'static str> {
    let command = Cli::command();
    let verb = command.find_subcommand(verb)?;
    let has =
        |name: &str| verb.get_arguments().any(|arg| arg.get_long() == name.strip_prefix("--"));
    let (_, ours) = FLAGS.iter().find(|(theirs, _)| theirs.contains(&flag))?;
    ours.iter().copied().find(|name| has(name))
}

fn verb_meant(verb: &str) -> Option<String> {
    VERBS.iter().find(|(theirs, _)| theirs.contains(&verb)).map(|(_, hint)| (*hint).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_those_that_the_verb_has() {
        assert_eq!(flag_meant("slice", "--start"), Some("--from"));
        assert_eq!(flag_meant("cut", "--end"), Some("--to"));
        assert_eq!(flag_meant("filter", "--size"), Some("--shrink-to"));
        assert_eq!(flag_meant("split", "--size"), Some("--by"));
        assert_eq!(flag_meant("merge", "--start"), None);
        assert_eq!(flag_meant("merge", "--from-here"), None);
    }

    /// Whatever is suggested exists, for some verb at least; whatever is taken for a word of others is none of ours.
    #[test]
    fn the_tables_are_about_this_command() {
        let command = Cli::command();
        let verbs = || command.get_subcommands();
        for (theirs, ours) in FLAGS {
            for flag in ours {
                let has = |verb: &clap::Command| {
                    verb.get_arguments().any(|arg| arg.get_long() == flag.strip_prefix("--"))
                        || verb.get_subcommands().any(|verb| {
                            verb.get_arguments().any(|a| a.get_long() == flag.strip_prefix("--"))
                        })
                };
                assert!(verbs().any(has), "{flag}");
            }
            assert!(!theirs.is_empty());
        }
        for (theirs, _) in VERBS {
            for verb in theirs {
                // a verb that comes later takes its word back
                assert!(command.find_subcommand(verb).is_none(), "{verb}");
            }
        }
    }
}
