//! "Did you mean": the name that a misspelled one is most like, for values that clap does not know.

use std::collections::HashSet;

/// From here on two names are alike, as clap has it for verbs and flags.
const ALIKE: f64 = 0.7;

/// What to add to a message about `word`, which is none of `names`; empty if it is like none.
pub(crate) fn suggestion<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let plain = plain(word);
    // of names that differ in case only the first wins
    let mut best: Option<(f64, &str)> = None;
    for name in names {
        let score = likeness(&plain, &name.to_lowercase());
        if score > ALIKE && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, name));
        }
    }
    best.map_or(String::new(), |(_, name)| format!(": did you mean {name}?"))
}

/// Names that a sentence lists.
const LISTED: usize = 8;

/// What to add to a message about words that are none of `names`: for each word the name that it is most like, and what names there are.
pub(crate) fn instead<'n>(words: &[&str], names: impl Iterator<Item = &'n str>) -> String {
    let mut seen = HashSet::new();
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && seen.insert(*name)).collect();
    let meant: String = words.iter().map(|word| suggestion(word, names.iter().copied())).collect();
    let mut list = names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        list.push_str(&format!(" … and {} more", names.len() - LISTED));
    }
    match names.is_empty() {
        true => format!("{meant} (the trace has none)"),
        false => format!("{meant} (the trace has {list})"),
    }
}

/// A word in lower case, without the anchors of a regular expression.
fn plain(word: &str) -> String {
    word.trim_start_matches('^').trim_end_matches('$').to_lowercase()
}

/// From 0 to 1; a name that contains the word is more like it than one that only looks like it.
fn likeness(word: &str, name: &str) -> f64 {
    let like = strsim::jaro(word, name);
    if word.len() > 2 && name.contains(word) { like.max(0.9) + 0.1 } else { like }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_alike_is_named_or_none() {
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
