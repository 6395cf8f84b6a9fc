//! "Did you mean" suggestions for values that clap does not know.

use std::collections::HashSet;

/// Minimum similarity of two names. Clap uses the same value for commands and flags.
const ALIKE: f64 = 0.7;

/// Returns ": did you mean NAME?" with the name most similar to `word`. Returns an empty text if
/// none is similar.
pub fn suggestion<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let plain = plain(word);
    // if names differ only in case, the first one counts
    let mut best: Option<(f64, &str)> = None;
    for name in names {
        let score = likeness(&plain, &name.to_lowercase());
        if score > ALIKE && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, name));
        }
    }
    best.map_or(String::new(), |(_, name)| format!(": did you mean {name}?"))
}

/// Maximum number of names that a message lists.
const LISTED: usize = 8;

/// Returns the end of a message about unknown `words`: similar names, and names that exist.
pub(crate) fn instead<'n>(words: &[&str], names: impl Iterator<Item = &'n str>) -> String {
    let mut seen = HashSet::new();
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && seen.insert(*name)).collect();
    let meant: String = words.iter().map(|word| suggestion(word, names.iter().copied())).collect();
    match names.is_empty() {
        true => format!("{meant} (the trace has none)"),
        false => format!("{meant} (the trace has {})", listed(&names)),
    }
}

/// Lists the first names, and the number of names that are not listed.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let first: Vec<&str> = names.iter().take(LISTED).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(LISTED) {
        0 => first.join(", "),
        more => format!("{} … and {more} more", first.join(", ")),
    }
}

/// Converts a word to lower case, and removes the anchors of a regular expression.
fn plain(word: &str) -> String {
    word.trim_start_matches('^').trim_end_matches('$').to_lowercase()
}

/// Returns the similarity of a word and a name, from 0 to 1.1. A name that contains the word is
/// more similar than others.
fn likeness(word: &str, name: &str) -> f64 {
    let like = strsim::jaro(word, name);
    if word.len() > 2 && name.contains(word) { like.max(0.9) + 0.1 } else { like }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_most_similar_name_or_none() {
        let names = ["auto", "none", "start", "base-time", "clock-sync"];
        assert_eq!(suggestion("base-tiem", names), ": did you mean base-time?");
        assert_eq!(suggestion("clocksync", names), ": did you mean clock-sync?");
        assert_eq!(suggestion("^renderer$", ["Browser", "Renderer"]), ": did you mean Renderer?");
        assert_eq!(suggestion("gc", ["MinorGC", "v8.gc"]), "");
        assert_eq!(
            suggestion("runtask", ["Task", "ThreadControllerImpl::RunTask"]),
            ": did you mean ThreadControllerImpl::RunTask?"
        );
        assert_eq!(suggestion("xyz", names), "");
        assert_eq!(suggestion("x", []), "");
    }
}
