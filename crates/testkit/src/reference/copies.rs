//! Events that a split repeated and listed, taken out again.

use std::collections::BTreeMap;

use super::read::{Fields, Source, elements, is_string, unescape};

/// What `split` repeated and listed under `tracemill`, `{"copies":[event,…]}`, is taken out of the events of several
/// sources, and so are the lists; those that stay as copies come back in order of their first listing.
pub(super) fn take_out(sources: &mut [Source<'_>]) -> (usize, Vec<String>) {
    if sources.len() < 2 {
        return (0, Vec::new());
    }
    let mut order: Vec<&str> = Vec::new();
    let mut lists: Vec<BTreeMap<&str, usize>> = Vec::new();
    for source in sources.iter_mut() {
        let mut own = BTreeMap::new();
        source.keys.0.retain(|&(key, value)| {
            let Some(list) = listed(key, value) else { return true };
            for event in list {
                *own.entry(event).or_insert(0) += 1;
                if !order.contains(&event) {
                    order.push(event);
                }
            }
            false
        });
        lists.push(own);
    }
    let (mut taken, mut left) = (0, Vec::new());
    for event in order {
        let counts = lists.iter().filter_map(|own| own.get(event).copied());
        let (all, most) = (counts.clone().sum::<usize>(), counts.max().unwrap_or(0));
        let standing: usize =
            sources.iter().map(|s| s.events.iter().filter(|e| **e == event).count()).sum();
        let originals = standing.saturating_sub(all);
        let (mut seen, stay) = (0, originals.max(most));
        for source in sources.iter_mut() {
            source.events.retain(|other| {
                seen += usize::from(*other == event);
                *other != event || seen <= stay
            });
        }
        taken += standing.saturating_sub(stay);
        left.extend((originals..most).map(|_| event.to_owned()));
    }
    (taken, left)
}

fn listed<'a>(key: &str, value: &'a str) -> Option<Vec<&'a str>> {
    let name = String::from_utf8(unescape(key)?).ok()?;
    if name != "tracemill" && !name.starts_with("tracemill.") {
        return None;
    }
    match Fields::parse(value)?.0[..] {
        [(key, list)] if is_string(key, "copies") => elements(list),
        _ => None,
    }
}
