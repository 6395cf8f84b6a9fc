//! Short help: `-h` of a command fits on a screen, with three examples and the most used flags.
//!
//! `--help` lists these flags first, and all others below their headings.

use clap::Command;

/// For each command, the flags that `-h` lists, in this order.
const USUAL: [(&str, &[&str]); 22] = [
    (
        "merge",
        &["output", "force", "viewer", "pid", "label", "align", "offset", "dry_run", "strict"],
    ),
    ("info", &["top", "full", "get", "json", "markdown", "output", "strict", "quiet"]),
    ("index", &["output", "force", "verify", "print", "threads", "memory", "tmp_dir", "quiet"]),
    ("view", &["no_open", "port", "idle", "devtools", "event", "index", "memory"]),
    ("report", &["rows", "main", "from", "duration", "fail_on", "source_maps", "json", "markdown"]),
    ("show", &["at", "main", "thread", "causes", "full", "json", "source_maps", "output"]),
    ("top", &["rows", "main", "from", "duration", "group_by", "per", "source_maps", "json", "csv"]),
    ("tree", &["bottom_up", "log", "heaviest", "main", "from", "duration", "depth", "per"]),
    ("flame", &["output", "main", "from", "duration", "order", "peek", "diff", "per", "force"]),
    ("diff", &["base", "new", "fail_on", "any", "rows", "main", "source_maps", "json", "markdown"]),
    (
        "query",
        &[
            "sql_file", "params", "tables", "explain", "format", "output", "force", "memory",
            "as_is",
        ],
    ),
    ("calls", &["output", "force", "main", "pid", "tid", "from", "duration", "rows", "memory"]),
    ("list", &["pid", "tid", "id", "index", "json", "output", "quiet"]),
    ("extract", &["dir", "template", "output", "force", "pid", "tid", "id", "quiet"]),
    ("check", &["viewers", "strict", "json", "output", "report", "quiet", "memory", "threads"]),
    ("convert", &["output", "force", "format", "style", "rebase", "viewer", "repair", "compress"]),
    (
        "filter",
        &[
            "output",
            "process",
            "thread",
            "name",
            "cat",
            "args",
            "min_dur",
            "from",
            "to",
            "shrink_to",
            "viewer",
        ],
    ),
    ("split", &["by", "max_size", "dir", "template", "force", "dry_run", "manifest", "viewer"]),
    (
        "slice",
        &["output", "from", "to", "duration", "window", "around", "event", "margin", "viewer"],
    ),
    ("redact", &["output", "force", "what", "also", "key", "compress", "quiet", "report"]),
    ("record", &["output", "force", "interval", "keep", "quiet", "verbose"]),
    ("man", &["dir", "force"]),
];

/// Maximum number of examples that `-h` shows.
const EXAMPLES: usize = 3;

/// Width of a narrow terminal in columns. Wider examples are only in `--help`.
const COLUMNS: usize = 80;

/// Template of the help, with the examples of `-h` below the usage.
const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}{before-help}{all-args}{after-help}";

/// Adds the short help to a command whose flags are complete.
pub(super) fn add_short_help(verb: Command) -> Command {
    let name = verb.get_name().to_owned();
    let usual = USUAL.iter().find(|row| row.0 == name).map_or(&[][..], |row| row.1);
    let words = match &*name {
        "list" | "extract" => format!("profile {name}"),
        _ => name,
    };
    let examples = verb.get_after_long_help().map(|text| first_examples(&text.to_string()));
    verb.mut_args(|arg| match usual.iter().position(|id| arg.get_id() == id) {
        Some(at) => arg.help_heading(None).display_order(at),
        None if arg.is_positional() => arg,
        None => arg.hide_short_help(true),
    })
    .help_template(TEMPLATE)
    .before_help(format!("\n\n{}", examples.unwrap_or_default()))
    .before_long_help("")
    .after_help(format!("All options: tracemill {words} --help"))
}

/// Returns the first examples of a command's help that fit on a narrow terminal. Empty lines
/// separate examples.
fn first_examples(text: &str) -> String {
    let (heading, examples) = text.split_once('\n').unwrap_or_default();
    let fits = |example: &&str| example.lines().all(|line| line.chars().count() <= COLUMNS);
    let examples = examples.split("\n\n").filter(fits).take(EXAMPLES);
    std::iter::once(heading).chain(examples).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_short_help_exist() {
        let root = crate::args::command();
        for (verb, flags) in USUAL {
            let in_profile = ["list", "extract"].contains(&verb);
            let parent = if in_profile { root.find_subcommand("profile") } else { Some(&root) };
            let command = parent.and_then(|parent| parent.find_subcommand(verb)).expect(verb);
            for flag in flags {
                let found = command.get_arguments().any(|arg| arg.get_id() == flag);
                assert!(found, "{verb} has no flag {flag}");
            }
        }
    }
}
