//! Checks commands inside sentences against the defined flags.

use clap::Command;

/// Returns the words after each `tracemill` that starts a command.
pub(super) fn commands(line: &str) -> Vec<Vec<&str>> {
    let line = line.split(" #").next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    let ends = |word: &str| matches!(word, "|" | "&&" | ";" | "--");
    let begins = |at: usize| {
        let before = at.checked_sub(1).map(|at| words[at]);
        words[at] == "tracemill"
            && before.is_none_or(|word| ends(word) || matches!(word, "$" | "npx"))
    };
    let starts = (0..words.len()).filter(|&at| begins(at));
    let all = starts.map(|at| words[at + 1..].iter().copied().take_while(|word| !ends(word)));
    all.map(Iterator::collect).collect()
}

/// Returns a verb or flag of the command that does not exist.
pub(super) fn unknown(words: &[&str]) -> Option<String> {
    let program = tracemill::flags();
    let mut verb = &program;
    let mut words = words.iter().copied().peekable();
    while let Some(&word) = words.peek() {
        let Some(subcommand) = verb.find_subcommand(word) else { break };
        verb = subcommand;
        words.next();
    }
    let is_verb = |word: &str| word.chars().all(|c| c.is_ascii_lowercase());
    if verb.has_subcommands()
        && let Some(word) = words.peek().filter(|word| is_verb(word))
    {
        return Some(format!("verb {word}"));
    }
    words.find(|word| !has_flag(verb, word)).map(str::to_owned)
}

/// Returns whether a word is an existing flag of the verb, or no flag.
fn has_flag(verb: &Command, word: &str) -> bool {
    let Some(long) = word.strip_prefix("--") else { return true };
    let long = long.split(|c: char| !c.is_ascii_lowercase() && c != '-').next().unwrap_or_default();
    let of_all = ["help", "version"].contains(&long);
    let is_named = |flag: &clap::Arg| {
        flag.get_long() == Some(long)
            || flag.get_all_aliases().is_some_and(|all| all.contains(&long))
    };
    long.is_empty() || of_all || verb.get_arguments().any(is_named)
}

#[test]
fn commands_are_found_and_checked() {
    let line = "cat a | tracemill merge - --for devtools && npx tracemill top a.json --top=3  # tracemill x";
    let found = commands(line);
    assert_eq!(found, [vec!["merge", "-", "--for", "devtools"], vec!["top", "a.json", "--top=3"]]);
    assert!(found.iter().all(|words| unknown(words).is_none()));
    assert_eq!(commands("what tracemill does"), Vec::<Vec<&str>>::new());
    assert_eq!(unknown(&["profile", "list", "--no-such"]), Some("--no-such".to_owned()));
    assert_eq!(unknown(&["profile", "lost"]), Some("verb lost".to_owned()));
    assert_eq!(unknown(&["sort", "--for", "devtools"]), None);
    assert_eq!(commands("tracemill record -- node app.mjs --x"), [["record"]]);
}
