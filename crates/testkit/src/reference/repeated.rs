//! Marks the events that `split` repeats, and removes them as `merge` does.

use std::collections::{HashMap, HashSet};

use super::read::{Fields, Source, is_string, unescape};
use super::time;

/// The last member of an event that an output file of `split` repeats.
pub(super) const MARK: &str = ",\"tracemill.repeated\":true";

pub(super) fn marked(event: &str) -> String {
    match original(event) {
        Some(_) => event.to_owned(),
        None => format!("{}{MARK}}}", &event[..event.len() - 1]),
    }
}

/// Returns the original of a marked event, without its closing brace.
fn original(event: &str) -> Option<&str> {
    event.strip_suffix('}')?.strip_suffix(MARK)
}

/// Returns the description of the split trace in one of its parts.
fn whole_of<'a>(source: &Source<'a>) -> Option<&'a str> {
    source.keys.0.iter().find_map(|&(key, value)| {
        let name = String::from_utf8(unescape(key)?).ok()?;
        let fields = Fields::parse(value)?;
        let of = fields.get("part_of").filter(|of| of.starts_with('{'))?;
        let is_named = name == "tracemill" || name.starts_with("tracemill.");
        (is_named && fields.0.len() == 1).then_some(of)
    })
}

/// Removes a marked event with a time if another source has the event unmarked, or an earlier
/// source has the same marked event. Removes a metadata event if an earlier part of the same split
/// trace has it. Returns the number of removed marked events.
pub(super) fn leave_out(sources: &mut [Source<'_>]) -> usize {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut plain: HashMap<&str, HashSet<usize>> = HashMap::new();
    for (number, source) in sources.iter().enumerate() {
        for event in &source.events {
            if let Some(event) = original(event) {
                first.entry(event).or_insert(number);
                plain.entry(event).or_default();
            }
        }
    }
    for (number, source) in sources.iter().enumerate() {
        for event in &source.events {
            if let Some(numbers) = plain.get_mut(&event[..event.len() - 1]) {
                numbers.insert(number);
            }
        }
    }
    let mut gone = 0;
    let mut metadata: HashMap<(&str, &str), usize> = HashMap::new();
    for (number, source) in sources.iter_mut().enumerate() {
        let whole = whole_of(source);
        source.events.retain(|event| {
            let fields = Fields::parse(event).unwrap_or_default();
            if fields.get("ph").is_some_and(|ph| is_string(ph, "M")) {
                let first = whole.map(|whole| *metadata.entry((whole, event)).or_insert(number));
                return first.is_none_or(|first| first == number);
            }
            let Some(event) = original(event) else { return true };
            let is_timed = fields.get("ts").and_then(time).is_some();
            let has_other = plain[event].iter().any(|&other| other != number);
            let stays = !is_timed || first[event] == number && !has_other;
            gone += usize::from(!stays);
            stays
        });
    }
    gone
}
