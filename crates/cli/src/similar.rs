//! "Did you mean": the name that a misspelled one is most like, for values that clap does not know.

/// From here on two names are alike, as clap has it for verbs and flags.
const ALIKE: f64 = 0.7;

/// What to add to a message about `word`, which is none of `names`; empty if it is like none.
pub(crate) fn suggestion<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let scored = names.into_iter().map(|name| (strsim::jaro(word, name), name));
    let best = scored.filter(|(score, _)| *score > ALIKE).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or(String::new(), |(_, name)| format!(": did you mean {name}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_alike_is_named_or_none() {
        let names = ["auto", "none", "start", "base-time", "clock-sync"];
        assert_eq!(suggestion("base-tiem", names), ": did you mean base-time?");
        assert_eq!(suggestion("clocksync", names), ": did you mean clock-sync?");
        assert_eq!(suggestion("xyz", names), "");
        assert_eq!(suggestion("x", []), "");
    }
}
