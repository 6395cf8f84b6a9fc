//! Tests `completions` and `man`, and the licences of dependencies.

use crate::support::{Folder, binary};
use std::collections::BTreeSet;
use std::process::Command;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

#[test]
fn every_shell_has_a_completion_script() {
    let folder = Folder::new();
    for shell in SHELLS {
        let script = folder.run(&format!("completions {shell}")).ends(0).quietly().stdout;
        for word in ["tracemill", "merge", "extract", "provenance", "perfetto"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(!script.contains("read-size") && !script.contains("tier"), "{shell}");
    }
    folder.run("completions").ends(2);
    let run = folder.run("completions bsh").ends(2);
    assert!(run.stderr.contains("a similar value exists: 'bash'"), "{}", run.stderr);
}

/// Returns bash's completions of the last of `words`.
fn completed(words: &str) -> String {
    let script = "source <(\"$0\" completions bash); read -ra COMP_WORDS <<< \"$1\"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); \
                  _tracemill tracemill \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"; echo \"${COMPREPLY[*]}\"";
    let output = Command::new("bash").args(["-c", script]).arg(binary()).arg(words).output();
    let output = output.expect("bash");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn bash_completes_verbs_flags_and_values() {
    assert_eq!(completed("tracemill mer"), "merge");
    assert_eq!(completed("tracemill profile ext"), "extract");
    assert_eq!(completed("tracemill merge --prov"), "--provenance");
    assert_eq!(completed("tracemill merge --for per"), "perfetto");
}

#[test]
fn manual_pages_contain_the_help() {
    let folder = Folder::new();
    let page = folder.run("man").ends(0).quietly().stdout;
    assert!(page.contains(".TH tracemill 1 \"\" \"tracemill "), "{page}");
    for part in [".SH \"EXIT STATUS\"", "tracemill\\-merge(1)", "Merge traces into one"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = folder.run("man profile extract").ends(0).quietly().stdout;
    assert!(page.contains(".TH tracemill-profile-extract 1 \"\" \"tracemill "), "{page}");
    assert!(page.contains(".SH EXAMPLES") && page.contains("\\-\\-template"), "{page}");
    assert!(!page.contains("read\\-size"), "{page}");
    let run = folder.run("man marge").ends(2);
    run.says(&["there is no page of a verb marge: did you mean merge?"]);
    folder.run("man merge -d x").ends(2);
}

#[test]
fn man_writes_a_page_for_each_verb() {
    let folder = Folder::new();
    folder.run("man -d man1").ends(0).quietly();
    let mut names: Vec<String> = std::fs::read_dir(folder.path("man1"))
        .expect("the folder is made")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "tracemill-calls.1",
        "tracemill-check.1",
        "tracemill-completions.1",
        "tracemill-convert.1",
        "tracemill-diff.1",
        "tracemill-filter.1",
        "tracemill-flame.1",
        "tracemill-index.1",
        "tracemill-info.1",
        "tracemill-man.1",
        "tracemill-merge.1",
        "tracemill-profile-extract.1",
        "tracemill-profile-list.1",
        "tracemill-profile.1",
        "tracemill-query.1",
        "tracemill-record.1",
        "tracemill-redact.1",
        "tracemill-report.1",
        "tracemill-show.1",
        "tracemill-slice.1",
        "tracemill-split.1",
        "tracemill-top.1",
        "tracemill-tree.1",
        "tracemill-view.1",
        "tracemill.1",
    ];
    assert_eq!(names, expected);
    assert_eq!(folder.read("man1/tracemill-merge.1"), folder.run("man merge").ends(0).stdout);
    folder.run("man -d man1").ends(2).says(&["exists already", "-f"]);
    folder.run("man -d man1 -f").ends(0).quietly();
}

/// groff judges the pages, where it is installed.
#[test]
fn groff_accepts_the_manual_pages() {
    let folder = Folder::new();
    folder.run("man -d man1").ends(0);
    for entry in std::fs::read_dir(folder.path("man1")).expect("pages") {
        let page = entry.expect("an entry").path();
        let mut groff = Command::new("groff");
        groff.args(["-k", "-man", "-Tutf8", "-ww", "-z"]).arg(&page);
        // without groff this test does nothing
        let Ok(output) = groff.output() else { return };
        let stderr = String::from_utf8_lossy(&output.stderr);
        let wrong: Vec<&str> =
            stderr.lines().filter(|line| !line.contains("cannot break line")).collect();
        assert!(output.status.success() && wrong.is_empty(), "{}: {wrong:?}", page.display());
    }
}

/// Licences that only require their text to be included, like ours.
const LICENCES: [&str; 5] = ["MIT", "Apache-2.0", "BSD-3-Clause", "Zlib", "Unicode-3.0"];

/// Licences of packages that only tests link, and that are not distributed.
const OF_TESTS: [(&str, &str); 1] = [("inferno", "CDDL-1.0")];

/// Returns whether an SPDX expression can be satisfied by [`LICENCES`].
fn is_allowed(licence: &str) -> bool {
    licence.split(" AND ").all(|part| {
        let part = part.trim_matches(['(', ')']);
        part.split(" OR ").flat_map(|name| name.split('/')).any(|name| LICENCES.contains(&name))
    })
}

#[test]
fn licences_of_dependencies_are_allowed() {
    assert!(is_allowed("(LGPL-3.0 OR MIT) AND Zlib") && !is_allowed("MIT AND GPL-3.0"));
    let (given, all) = (packages("normal,build"), packages("all"));
    assert!(given.len() > 50 && given.is_subset(&all), "{} packages", given.len());
    let wrong = |(_, licence): &&(String, String)| !is_allowed(licence);
    let of_tests =
        |(name, licence): &&(String, String)| OF_TESTS.contains(&(name.as_str(), licence.as_str()));
    let wrongly_given: Vec<_> = given.iter().filter(wrong).collect();
    assert!(wrongly_given.is_empty(), "{wrongly_given:?}");
    let unknown: Vec<_> = all.iter().filter(wrong).filter(|package| !of_tests(package)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Returns names and licences of the packages that the workspace depends on over `edges`.
fn packages(edges: &str) -> BTreeSet<(String, String)> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.args(["tree", "--workspace", "--edges", edges, "--prefix", "none", "--no-dedupe"]);
    let output = cargo.args(["--format", "{p}|{l}"]).output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let split = |line: &str| {
        let (package, licence) = line.split_once('|')?;
        Some((package.split(' ').next()?.to_owned(), licence.to_owned()))
    };
    lines.lines().filter_map(split).collect()
}
