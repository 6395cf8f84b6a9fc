//! Checks that library messages name no verb or flag; suggestions are `Remedy` values, worded by
//! the command.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the string literals of a source file, without its tests, which come last.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        if let Some(line) = rest.strip_prefix("//") {
            rest = line.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(text) = rest.strip_prefix("r#\"") {
            let (text, behind) = text.split_once("\"#").expect("a raw string ends");
            found.push(text.to_owned());
            rest = behind;
        } else if let Some(text) = rest.strip_prefix('"') {
            let mut escaped = false;
            let end = text.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let (text, behind) = text.split_at(end.expect("a string ends"));
            found.push(text.to_owned());
            rest = &behind[1..];
        } else if let Some(text) = rest.strip_prefix("'\\") {
            // the first character is escaped
            let end = text.char_indices().skip(1).find(|(_, c)| *c == '\'').expect("it ends").0;
            rest = &text[end + 1..];
        } else if c == '\'' && rest.chars().nth(2) == Some('\'') {
            rest = rest.splitn(3, '\'').nth(2).unwrap_or_default();
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
    found
}

/// Returns whether a text names a flag, or a verb after the command's name.
fn names_command(text: &str) -> bool {
    let verbs = ["merge", "split", "slice", "filter", "check", "info", "profile", "convert"];
    let mut words = text.split(|c: char| c.is_whitespace() || "(),;:".contains(c));
    let is_flag = |word: &str| {
        let long = word.strip_prefix("--").is_some_and(|rest| rest.len() > 1);
        let short = matches!(word.as_bytes(), [b'-', letter] if letter.is_ascii_alphabetic());
        (long || short) && !word.ends_with('-')
    };
    // flags of other programs are allowed
    let is_theirs =
        ["bzip2 -", "xz -", "ulimit -", "tail -"].iter().any(|flag| text.contains(flag));
    // reports name criteria, and events for viewers, like flags
    let is_name = text == "--for devtools" || !text.contains(' ');
    !is_theirs && !is_name && words.any(is_flag)
        || verbs.iter().any(|verb| text.contains(&format!("tracemill {verb}")))
}

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, all),
            false if path.extension().is_some_and(|end| end == "rs") => all.push(path),
            false => {}
        }
    }
}

#[test]
fn libraries_name_no_flags() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut count = 0;
    for name in [
        "tokenizer",
        "trace",
        "cpuprofile",
        "viewers",
        "join",
        "write",
        "inspect",
        "pipeline",
        "index",
        "analysis",
        "report",
        "export",
        "view",
    ] {
        let mut all = Vec::new();
        sources(&crates.join(name).join("src"), &mut all);
        for path in all {
            let texts = literals(&fs::read_to_string(&path).expect("a source"));
            count += texts.len();
            let named: Vec<_> = texts.iter().filter(|text| names_command(text)).collect();
            assert!(named.is_empty(), "{}: {named:?}", path.display());
        }
    }
    assert!(count > 1000, "only {count} texts were found");
}

#[test]
fn string_literals_are_found() {
    let source = "fn f<'a>() { g('\"', '\\'', \"a \\\" --b\"); } // \"no\"\nlet x = r#\"c\"d\"#;";
    assert_eq!(literals(source), ["a \\\" --b", "c\"d"]);
    assert!(names_command("choose --this"));
    assert!(names_command("--this is first"));
    assert!(!names_command("--cat"), "what was asked for is called so");
    assert!(names_command("what it was (--this FILE says otherwise)"));
    assert!(names_command("too much; -m gives more"));
    assert!(names_command("tracemill merge sorts"));
    assert!(!names_command("a -- b"));
}
