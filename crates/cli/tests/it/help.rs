//! Tests the help texts. `UPDATE_GOLDEN=1 cargo test` rewrites the golden files.

use crate::support::Folder;
use std::collections::BTreeMap;
use std::path::Path;

/// All verbs with flags.
pub(crate) const VERBS: [&str; 23] = [
    "merge",
    "info",
    "index",
    "view",
    "report",
    "show",
    "top",
    "tree",
    "flame",
    "diff",
    "query",
    "calls",
    "profile list",
    "profile extract",
    "check",
    "convert",
    "filter",
    "split",
    "slice",
    "redact",
    "record",
    "completions",
    "man",
];

/// Returns the help as printed on a terminal of `columns`.
#[track_caller]
fn help(words: &str, columns: &str) -> String {
    let folder = Folder::new();
    let output = folder.command(words).env("COLUMNS", columns).output().expect("it runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{words}");
    String::from_utf8(output.stdout).expect("help is UTF-8")
}

#[track_caller]
fn check(words: &str, columns: &str, golden: &str) {
    let help = help(words, columns);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden").join(golden);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &help).expect("the golden file is written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(help, expected, "if this is right: UPDATE_GOLDEN=1");
}

#[test]
fn help_is_golden() {
    check("-h", "80", "short.txt");
    check("--help", "100", "long.txt");
    check("profile -h", "80", "profile-short.txt");
    check("profile --help", "100", "profile-long.txt");
    for verb in VERBS {
        let name = verb.replace(' ', "-");
        check(&format!("{verb} -h"), "80", &format!("{name}-short.txt"));
        check(&format!("{verb} --help"), "100", &format!("{name}-long.txt"));
    }
}

#[test]
fn short_help_fits_one_screen() {
    assert!(help("-h", "80").lines().count() <= 40);
    for verb in VERBS {
        let help = help(&format!("{verb} -h"), "80");
        assert!(help.lines().count() <= 40, "{verb}: {} lines", help.lines().count());
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{verb}:\n{help}");
        let commands = help.lines().filter(|line| line.starts_with("    tracemill ")).count();
        assert!(commands >= 3, "{verb} shows {commands} examples");
        assert!(help.ends_with(&format!("\nAll options: tracemill {verb} --help\n")), "{verb}");
    }
}

/// Flags whose meaning depends on the verb.
const OF_VERBS: [&str; 18] = [
    "async",
    "by",
    "dir",
    "event",
    "fail-on",
    "for",
    "force",
    "format",
    "full",
    "key",
    "manifest",
    "min-delta",
    "normalize",
    "output",
    "per",
    "pid",
    "tables",
    "top",
];

#[test]
fn shared_flags_have_the_same_help() {
    let mut texts: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    let root = tracemill::flags();
    for verb in VERBS {
        let command =
            verb.split(' ').try_fold(&root, |command, word| command.find_subcommand(word));
        for flag in command.expect(verb).get_arguments() {
            let Some(long) = flag.get_long() else { continue };
            let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
            let help = help.split(" [default").next().unwrap_or_default().to_owned();
            texts
                .entry(long.to_owned())
                .or_default()
                .entry(help)
                .or_default()
                .push(verb.to_owned());
        }
    }
    let differ =
        texts.iter().filter(|(flag, texts)| texts.len() > 1 && !OF_VERBS.contains(&flag.as_str()));
    let differ: Vec<_> = differ.collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn hidden_flags_are_hidden() {
    for words in [
        "merge --help",
        "info --help",
        "profile list --help",
        "profile extract --help",
        "convert --help",
        "filter --help",
        "slice --help",
    ] {
        let help = Folder::new().run(words).ends(0).stdout;
        assert!(!help.contains("--tier") && !help.contains("--read-size"), "{words}");
    }
}

#[test]
fn the_version_is_one_line() {
    let run = Folder::new().run("--version").ends(0);
    assert_eq!(run.stdout, concat!("tracemill ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn missing_verbs_show_the_help_as_an_error() {
    let run = Folder::new().run("").ends(2);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("Usage: tracemill <VERB>"), "{}", run.stderr);
}

#[test]
fn typos_get_a_suggestion() {
    for (words, suggestion) in [
        ("merg a", "a similar subcommand exists: 'merge'"),
        ("merge --outptu a", "a similar argument exists: '--output'"),
        ("merge --format objct", "a similar value exists: 'object'"),
    ] {
        let run = Folder::new().run(words).ends(2);
        assert!(run.stderr.starts_with("tracemill: error: "), "{}", run.stderr);
        assert!(run.stderr.contains(suggestion), "{}", run.stderr);
        assert!(run.stderr.lines().all(|line| line.starts_with("tracemill: ")), "{}", run.stderr);
    }
}

/// Verbs and flags of other tools, whose spelling gives no suggestion, get a hint.
#[test]
fn words_of_other_tools_get_a_hint() {
    for (words, hint) in [
        ("slice a.json --start 5s", "did you mean --from?"),
        ("cut a.json --end=5s", "did you mean --to?"),
        ("filter a.json --exclude x", "did you mean --invert?"),
        ("split a.json --size 5M", "did you mean --by?"),
        ("open a.json", "--for devtools -o OUT.json.gz"),
        ("trim a.json", "tracemill slice does that"),
        ("head a.json", "tracemill slice does that, with --head 5s"),
        ("summary a.json", "tracemill info does that"),
        ("compare a.json b.json", "tracemill diff does that"),
        ("why a.json", "tracemill show does that"),
        ("top a.json --limit 5", "did you mean --top?"),
        ("merge a.json --devtools", "did you mean --for?"),
        ("merge --input a.json", "inputs need no flag"),
        (
            "calls --async a.json",
            "async operations have a table, and no other form: tracemill top --async",
        ),
        ("merge a.json --sort", "tracemill merge sorts by itself"),
    ] {
        let run = Folder::new().run(words).ends(2);
        let is_said = run.stderr.starts_with("tracemill: error: ") && run.stderr.contains(hint);
        assert!(is_said, "{}", run.stderr);
    }
    let folder = Folder::new().with("a.json", crate::support::trace([2, 1]));
    assert_eq!(folder.run("sort a.json").ends(0).times(), [1, 2]);
    assert_eq!(folder.run("stats a.json").ends(0).stdout, folder.run("info a.json").stdout);
    assert_eq!(folder.run("cut a.json --head 1").ends(0).times(), [1]);
}
