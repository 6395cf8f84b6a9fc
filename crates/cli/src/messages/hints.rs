//! Hints for users of other tools. If clap finds no similar command or flag, the hints translate
//! those of other tools.

use crate::args;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// Flags of other tools, and flags of tracemill that do the same. The first flag that the command
/// has is suggested.
const FLAGS: [(&[&str], &[&str]); 22] = [
    (&["--start", "--begin", "--since", "--after"], &["--from"]),
    (&["--end", "--stop", "--until", "--before"], &["--to"]),
    (&["--length", "--len", "--for-time"], &["--duration"]),
    (&["--time", "--range", "--region", "--interval"], &["--window"]),
    (&["--out", "--outfile", "--output-file", "--dest"], &["--output", "--dir"]),
    (&["--overwrite", "--yes"], &["--force"]),
    (&["--jobs", "--parallel", "--cpus", "--num-threads"], &["--threads"]),
    (&["--mem", "--max-memory", "--buffer-size", "--ram"], &["--memory"]),
    (&["--exclude", "--not", "--remove", "--delete"], &["--invert", "--ignore"]),
    (&["--grep", "--match", "--event", "--pattern", "--filter"], &["--name", "--focus"]),
    (&["--min-duration", "--longer-than", "--min", "--threshold"], &["--min-dur", "--fail-on"]),
    (&["--max-duration", "--shorter-than"], &["--max-dur"]),
    (&["--dur"], &["--duration", "--min-dur"]),
    (&["--category", "--categories"], &["--cat"]),
    (&["--phase", "--type"], &["--ph"]),
    (&["--rows", "--count", "--lines", "--limit"], &["--top"]),
    (&["--max-depth", "--levels"], &["--depth"]),
    (&["--size", "--max-bytes", "--limit", "--chunk"], &["--shrink-to", "--by"]),
    (&["--viewer", "--target", "--to-devtools", "--devtools", "--perfetto"], &["--for"]),
    (&["--gzip", "--gz", "--zstd", "--zip", "--packed"], &["--compress"]),
    (&["--format", "--as"], &["--json"]),
    (&["--user", "--secret", "--mask"], &["--also"]),
];

/// Flags that users may try but tracemill does not need, with the reason.
const NEEDLESS: [(&[&str], &str); 3] = [
    (&["--async"], "async operations have a table, and no other form: tracemill top --async"),
    (&["--input", "--in", "--file", "--infile"], "inputs need no flag: name them behind the verb"),
    (&["--sort", "--sorted"], "tracemill merge sorts by itself"),
];

/// Names of programs, and the viewer for the traces of each program.
const VIEWERS: [(&[&str], &str); 2] = [
    (&["chrome", "chromium", "edge", "node", "v8"], "devtools"),
    (&["ui", "trace_processor", "android", "ui.perfetto.dev"], "perfetto"),
];

/// Advice for users who want to look at a trace.
const LOOK: &str = if cfg!(feature = "view") {
    "tracemill view TRACE shows it in a browser; for another viewer write it and load that: tracemill merge TRACE --for devtools -o OUT.json.gz"
} else {
    "to look at a trace, write it for a viewer and load that: tracemill merge TRACE --for devtools -o OUT.json.gz"
};

/// Commands of other tools, and the advice for each.
const VERBS: [(&[&str], &str); 14] = [
    (&["open", "ui", "serve"], LOOK),
    (&["summary", "summarize", "describe", "ls", "list", "stat"], "tracemill info does that"),
    (&["join", "concat", "combine"], "tracemill merge does that"),
    (
        &["cat", "print", "dump"],
        "tracemill merge makes one trace of many, tracemill convert writes one as it stands",
    ),
    (&["head", "tail"], "tracemill slice does that, with --head 5s or --tail 5s"),
    (&["trim", "crop", "clip", "window", "range"], "tracemill slice does that"),
    (&["grep", "select", "sql"], "tracemill filter keeps some events; tracemill query answers SQL"),
    (
        &["validate", "lint", "verify", "repair", "fix"],
        "tracemill check says what is wrong, tracemill merge writes what can be saved",
    ),
    (&["export", "transform", "jq", "fmt"], "tracemill convert does that"),
    (
        &["shrink", "pack", "gzip", "zip", "compress"],
        "tracemill filter TRACE --shrink-to devtools -o OUT.json.gz keeps what fits; the name of any output says how it is packed",
    ),
    (&["why", "explain", "event", "stack", "initiator"], "tracemill show does that"),
    (&["compare", "cmp"], "tracemill diff does that"),
    (&["anonymize", "anonymise", "scrub", "sanitize", "mask"], "tracemill redact does that"),
    (
        &["extract", "profiles", "cpuprofile"],
        "tracemill profile list and tracemill profile extract do that",
    ),
];

/// Returns the message of a usage error, including a hint if one applies.
pub(crate) fn message(error: &clap::Error, words: &[OsString]) -> String {
    // the rendered text begins with "error: "
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    match of(error, words) {
        Some(hint) => format!("{}\n{hint}", text.lines().next().unwrap_or_default()),
        // a word that looks like a flag is rarely meant as a value
        None => {
            let lines = text.lines().filter(|line| !line.contains("to pass '-"));
            let lines = lines.filter(|line| !line.contains("tip: ") || is_meant(error, line));
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Returns the hint for a command line, if the unknown word is that of another tool.
fn of(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let verb = words.get(1)?.to_string_lossy();
            let flag = word(ContextKind::InvalidArg)?;
            let flag = flag.split('=').next()?;
            if let Some(meant) = flag_meant(&verb, flag) {
                return Some(format!(
                    "did you mean {meant}? tracemill {verb} --help has all flags"
                ));
            }
            let needless = NEEDLESS.iter().find(|(theirs, _)| theirs.contains(&flag));
            needless.map(|(_, why)| (*why).to_owned())
        }
        ErrorKind::InvalidSubcommand => {
            let verb = word(ContextKind::InvalidSubcommand)?;
            verb_meant(&verb).or_else(|| file_meant(&verb))
        }
        ErrorKind::InvalidValue => {
            let (flag, value) = (word(ContextKind::InvalidArg)?, word(ContextKind::InvalidValue)?);
            let value = value.to_lowercase();
            let meant = VIEWERS.iter().find(|(theirs, _)| theirs.contains(&&*value));
            let meant = meant.filter(|_| flag.starts_with("--for "));
            meant.map(|(_, ours)| format!("did you mean {ours}? --for is for devtools or perfetto"))
        }
        _ => None,
    }
}

/// Returns whether `word` is a prefix of `name` or a misspelling. Longer words may differ in more
/// letters.
fn is_near(word: &str, name: &str) -> bool {
    let [word, name] = [word, name].map(|text| text.trim_start_matches('-'));
    let allowed = 1 + word.chars().count() / 4;
    strsim::osa_distance(word, name) <= allowed || word.len() > 2 && name.starts_with(word)
}

/// Returns whether a tip of clap is a likely correction of the word in the error.
fn is_meant(error: &clap::Error, tip: &str) -> bool {
    let kinds =
        [ContextKind::InvalidArg, ContextKind::InvalidSubcommand, ContextKind::InvalidValue];
    let mut wrong = kinds.into_iter().rev().filter_map(|kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    });
    // names in a tip are between quotes
    let mut names = tip.split('\'').skip(1).step_by(2);
    wrong.next().is_none_or(|word| names.any(|name| is_near(word, name)))
}

/// Returns advice for a file name that is in the position of a command.
fn file_meant(word: &str) -> Option<String> {
    if let Some(text) = crate::files::inputs::address_text(word) {
        return Some(text);
    }
    let is_name = word.contains(['/', '.']);
    is_name.then(|| format!("no verb and no file is called so; tracemill VERB {word} reads a file, tracemill --help lists the verbs"))
}

/// Returns the flag of a command that corresponds to a flag of another tool.
fn flag_meant(verb: &str, flag: &str) -> Option<&'static str> {
    let command = args::command();
    let verb = command.find_subcommand(verb)?;
    let has =
        |name: &str| verb.get_arguments().any(|arg| arg.get_long() == name.strip_prefix("--"));
    let meant = FLAGS.iter().filter(|(theirs, _)| theirs.contains(&flag));
    meant.flat_map(|(_, ours)| ours.iter().copied()).find(|name| has(name))
}

fn verb_meant(verb: &str) -> Option<String> {
    VERBS.iter().find(|(theirs, _)| theirs.contains(&verb)).map(|(_, hint)| (*hint).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_flags_of_the_verb() {
        assert_eq!(flag_meant("slice", "--start"), Some("--from"));
        assert_eq!(flag_meant("cut", "--end"), Some("--to"));
        assert_eq!(flag_meant("filter", "--size"), Some("--shrink-to"));
        assert_eq!(flag_meant("split", "--size"), Some("--by"));
        assert_eq!(flag_meant("top", "--limit"), Some("--top"));
        assert_eq!(flag_meant("filter", "--limit"), Some("--shrink-to"));
        assert_eq!(flag_meant("info", "--format"), Some("--json"));
        assert_eq!(flag_meant("filter", "--dur"), Some("--min-dur"));
        assert_eq!(flag_meant("slice", "--dur"), Some("--duration"));
        assert_eq!(flag_meant("merge", "--start"), None);
        assert_eq!(flag_meant("merge", "--from-here"), None);
    }

    #[test]
    fn keeps_only_tips_with_similar_spelling() {
        for (word, name) in [
            ("--nmae", "--name"),
            ("--outptu", "--output"),
            ("--durat", "--duration"),
            ("merg", "merge"),
        ] {
            assert!(is_near(word, name), "{word}");
        }
        for (word, name) in [("--dur", "--drop"), ("--xyz", "--sync"), ("t.json", "top")] {
            assert!(!is_near(word, name), "{word}");
        }
    }

    /// Each suggested flag and command must exist, and no word of other tools may be a command of
    /// tracemill.
    #[test]
    fn hint_tables_match_the_verbs_and_flags() {
        let command = args::command();
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
        for (_, hint) in VERBS.iter().chain(&NEEDLESS) {
            for (_, rest) in hint.split("tracemill ").skip(1).map(|rest| ((), rest)) {
                let verb = rest.split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
                assert!(command.find_subcommand(verb).is_some(), "{hint}");
            }
        }
        for (theirs, _) in VERBS {
            for verb in theirs {
                // a word that became a command must be removed from the table
                assert!(command.find_subcommand(verb).is_none(), "{verb}");
            }
        }
    }
}
