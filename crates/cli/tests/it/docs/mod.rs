//! Runs every command in the README, the pages of `docs` and the examples of `--help`.
//!
//! ```text
//!   README.md, docs/*.md ─ fenced blocks ─┐
//!                                         ├─> commands, by section ─> bash, in a folder of their own
//!   tracemill VERB --help ── Examples ────┘                           with testdata, stage files, tracemill on PATH
//! ```
//!
//! In `sh` blocks each line is a command. In `console` blocks commands follow `$ `, with their
//! output below (a line `…` matches any lines). Commands must end with 0 unless `# status N`
//! follows. `<!-- not run: why -->` skips the next block, with a message.

mod blocks;
mod named;
mod stage;

use blocks::{Command, help_examples, markdown_commands};
use stage::Stage;
use std::path::{Path, PathBuf};

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Pages outside `docs`.
const OTHERS: [&str; 7] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "testdata/README.md",
    "npm/README.md",
    "crates/python/README.md",
];

/// Returns the README, all pages of `docs`, and [`OTHERS`].
fn all_pages() -> Vec<String> {
    pages().into_iter().chain(OTHERS.map(str::to_owned)).collect()
}

/// Returns the README and all pages of `docs`.
fn pages() -> Vec<String> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let entries = std::fs::read_dir(docs).expect("the folder of pages");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| format!("docs/{}", name.to_string_lossy()))
        .filter(|name| name.ends_with(".md"))
        .collect();
    names.push("README.md".to_owned());
    names.sort();
    names
}

/// Runs the commands of each section in a separate folder; at least `least` commands must run.
#[track_caller]
fn run_all(commands: &[Command], least: usize) {
    let mut wrong = Vec::new();
    let (mut section, mut stage) = (None, None);
    let mut ran = 0;
    for command in commands {
        if let Some(why) = command.not_run.clone().or_else(|| stage::missing(&command.line)) {
            say(&format!("not run ({why}): {}: {}", command.place, command.line));
            continue;
        }
        if section.as_ref() != Some(&command.section) {
            section = Some(command.section.clone());
            stage = Some(Stage::new());
        }
        let stage = stage.as_ref().expect("a section was begun");
        if let Err(problem) = stage.run(command) {
            wrong.push(format!("{}: {}\n{problem}", command.place, command.line));
        }
        ran += 1;
    }
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran >= least, "only {ran} commands were found and run, expected {least} at least");
}

#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tested")]
fn say(text: &str) {
    eprintln!("{text}");
}

#[test]
fn commands_of_the_readme_work() {
    run_all(&markdown_commands("README.md", &page("README.md")), 10);
}

#[test]
fn commands_of_the_guide_work() {
    run_all(&markdown_commands("docs/guide.md", &page("docs/guide.md")), 35);
}

#[test]
fn commands_of_the_cookbook_work() {
    run_all(&markdown_commands("docs/cookbook.md", &page("docs/cookbook.md")), 40);
}

#[test]
fn commands_of_the_other_pages_work() {
    let named = ["README.md", "docs/guide.md", "docs/cookbook.md"];
    let mut all = Vec::new();
    for name in all_pages().into_iter().filter(|name| !named.contains(&name.as_str())) {
        all.extend(markdown_commands(&name, &page(&name)));
    }
    run_all(&all, 5);
}

/// Commands in sentences and tables are not run, but their verbs and flags must exist.
#[test]
fn commands_in_sentences_use_existing_flags() {
    let mut looked = 0;
    for name in all_pages() {
        let text = page(&name);
        let mut is_block = false;
        for (number, line) in text.lines().enumerate() {
            is_block ^= line.starts_with("```");
            // lines of blocks too, because this test cannot run some of them
            let words: Vec<&str> =
                if is_block { vec![line] } else { line.split('`').skip(1).step_by(2).collect() };
            for command in words.into_iter().flat_map(named::commands) {
                looked += 1;
                if let Some(wrong) = named::unknown(&command) {
                    panic!("{name}:{}: there is no {wrong}: {line}", number + 1);
                }
            }
        }
    }
    assert!(looked > 150, "{looked}");
}

#[test]
fn the_front_page_is_one_screen() {
    let text = page("README.md");
    assert!(text.lines().count() <= 80, "{}", text.lines().count());
}

#[test]
fn examples_of_the_help_work() {
    // `view` waits for a browser, `record` runs Node, and an example of `redact` is wrapped
    let left_out = ["view", "redact", "record"];
    let verbs = crate::help::VERBS.into_iter().filter(|verb| !left_out.contains(verb));
    let mut all = Vec::new();
    for verb in verbs {
        let help = crate::support::Folder::new().run(&format!("{verb} --help")).ends(0).stdout;
        let examples = help_examples(verb, &help);
        assert!(examples.len() >= 2, "{verb} has {} examples", examples.len());
        all.extend(examples);
    }
    run_all(&all, 40);
}

/// No command may be in an indented block or a block of another language, where it would not be
/// tested.
#[test]
fn all_commands_are_in_tested_blocks() {
    // these pages show repository scripts, which need a nightly compiler or hours
    let scripts = ["docs/reliability.md", "docs/speed.md"];
    for name in all_pages().iter().filter(|name| !scripts.contains(&name.as_str())) {
        let mut fence: Option<String> = None;
        for (number, line) in page(name).lines().enumerate() {
            match (line.strip_prefix("```"), &fence) {
                (Some(language), None) => fence = Some(language.to_owned()),
                (Some(_), Some(_)) => fence = None,
                (None, Some(language)) if language == "sh" || language == "console" => {}
                (None, _) => {
                    let command = line.trim_start().trim_start_matches("$ ");
                    let is_ours = ["tracemill ", "npx tracemill "]
                        .iter()
                        .any(|start| command.starts_with(start));
                    let hidden = line.starts_with("    ") && is_ours;
                    assert!(!hidden, "{name}:{}: {line}", number + 1);
                }
            }
        }
    }
}

/// Returns the anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept =
        heading.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn anchors_match_the_links() {
    assert_eq!(anchor(" What is not JSON?"), "what-is-not-json");
    assert_eq!(anchor("`-m`: a hard_budget"), "-m-a-hard_budget");
}

#[test]
fn links_point_to_existing_headings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut links, mut places) = (0, 0);
    for name in all_pages() {
        let text = page(&name);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(&name).parent().map_or(PathBuf::new(), Path::to_owned);
            let path =
                if file.is_empty() { root.join(&name) } else { root.join(folder).join(file) };
            assert!(path.exists(), "{name}: {link}");
            links += 1;
            if !heading.is_empty() {
                let text = std::fs::read_to_string(&path).expect("a page");
                let mut headings = text.lines().filter_map(|line| line.strip_prefix('#'));
                let is_there = headings.any(|line| anchor(line.trim_start_matches('#')) == heading);
                assert!(is_there, "{name}: {link}");
                places += 1;
            }
        }
    }
    assert!(links >= 40 && places >= 3, "{links} {places}");
}

#[test]
fn the_summary_names_every_page() {
    let summary = page("docs/SUMMARY.md");
    let named = |name: &str| summary.contains(&format!("]({name})"));
    for name in pages().iter().filter(|name| *name != "docs/SUMMARY.md") {
        let from_docs = name.strip_prefix("docs/").map_or(format!("../{name}"), str::to_owned);
        assert!(named(&from_docs), "docs/SUMMARY.md does not name {name}");
    }
}
