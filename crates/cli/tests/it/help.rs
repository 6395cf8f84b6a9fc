//! Help is what is printed, word by word: `UPDATE_GOLDEN=1 cargo test` writes it anew.

use crate::support::Folder;
use std::path::Path;

#[track_caller]
fn check(words: &str, golden: &str) {
    let run = Folder::new().run(words).ends(0).quietly();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden").join(golden);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &run.stdout).expect("the golden file is written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(run.stdout, expected, "if this is right: UPDATE_GOLDEN=1");
}

#[test]
fn help_is_golden() {
    check("-h", "short.txt");
    check("--help", "long.txt");
    check("merge -h", "merge-short.txt");
    check("merge --help", "merge-long.txt");
    check("info -h", "info-short.txt");
    check("info --help", "info-long.txt");
    check("index -h", "index-short.txt");
    check("index --help", "index-long.txt");
    check("view -h", "view-short.txt");
    check("view --help", "view-long.txt");
    for verb in ["report", "top", "tree", "flame", "diff", "calls"] {
        check(&format!("{verb} -h"), &format!("{verb}-short.txt"));
        check(&format!("{verb} --help"), &format!("{verb}-long.txt"));
    }
    check("profile -h", "profile-short.txt");
    check("profile --help", "profile-long.txt");
    check("profile list -h", "profile-list-short.txt");
    check("profile list --help", "profile-list-long.txt");
    check("profile extract -h", "profile-extract-short.txt");
    check("profile extract --help", "profile-extract-long.txt");
    check("check -h", "check-short.txt");
    check("check --help", "check-long.txt");
    check("convert -h", "convert-short.txt");
    check("convert --help", "convert-long.txt");
    check("filter -h", "filter-short.txt");
    check("filter --help", "filter-long.txt");
    check("split -h", "split-short.txt");
    check("split --help", "split-long.txt");
    check("slice -h", "slice-short.txt");
    check("slice --help", "slice-long.txt");
    check("record -h", "record-short.txt");
    check("record --help", "record-long.txt");
    check("redact -h", "redact-short.txt");
    check("redact --help", "redact-long.txt");
    check("completions --help", "completions-long.txt");
    check("man --help", "man-long.txt");
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
fn without_a_verb_help_is_shown_as_an_error() {
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

/// Spelling does not tell what `--start` means; words of other tools are answered with ours.
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
        ("top a.json --limit 5", "did you mean --top?"),
        ("merge a.json --devtools", "did you mean --for?"),
        ("merge --input a.json", "inputs need no flag"),
        (
            "tree --async a.json",
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
