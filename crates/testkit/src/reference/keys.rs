//! Merges the top-level keys of several sources.
//!
//! Annotations (`metadata.modifications`) become an empty object in the metadata of the first
//! source; their contents are checked with [`super::annotations()`].

use std::collections::HashMap;

use super::read::{Fields, Source, elements, is_string, unescape};

/// Returns the output's keys and values other than `traceEvents`, as written.
pub(super) fn unite(sources: &[Source<'_>]) -> Vec<(String, String)> {
    let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    let Some((first, later)) = sources.split_first() else {
        return Vec::new();
    };
    let mut keys: Vec<(String, String)> = first.keys.0.iter().map(owned).collect();
    if sources.iter().any(|source| modifications(source).is_some()) {
        put_modifications(first, &mut keys);
    }
    let mut extras = Vec::new();
    for (index, source) in later.iter().enumerate() {
        let mut apart = Vec::new();
        let annotated = modifications(source);
        for (number, &(key, value)) in source.keys.0.iter().enumerate() {
            if let Some((_, fields)) = annotated.filter(|annotated| annotated.0 == number) {
                let rest = without(value, fields);
                let known = modifications(first)
                    .map(|(at, modification)| without(first.keys.0[at].1, modification));
                let known = known.or(first.keys.get("metadata").map(str::to_owned));
                if !is_empty(&rest) && known.as_ref() != Some(&rest) {
                    apart.push(format!("{key}:{rest}"));
                }
                continue;
            }
            let same = |&(k, v): &(&str, &str)| v == value && unescape(k) == unescape(key);
            if !first.keys.0.iter().any(same) && !take_over(&mut keys, key, value) {
                apart.push(format!("{key}:{value}"));
            }
        }
        if !apart.is_empty() {
            let number = index + 1;
            extras.push(format!("{{\"index\":{number},\"keys\":{{{}}}}}", apart.join(",")));
        }
    }
    if !extras.is_empty() {
        let value = format!("{{\"inputs\":[{}]}}", extras.join(","));
        keys.push((free_name(&keys), value));
    }
    keys
}

/// Returns the number of the key that contains the annotations, and the value of the annotations.
fn modifications<'a>(source: &Source<'a>) -> Option<(usize, &'a str)> {
    let number = source.keys.0.iter().rposition(|(key, _)| is_string(key, "metadata"))?;
    let fields = Fields::parse(source.keys.0[number].1)?.get("modifications")?;
    fields.starts_with('{').then_some((number, fields))
}

/// Replaces the annotations of the first source by an empty object, or adds an empty object.
fn put_modifications(first: &Source<'_>, keys: &mut Vec<(String, String)>) {
    if let Some((number, fields)) = modifications(first) {
        let metadata = first.keys.0[number].1;
        let start = fields.as_ptr().addr() - metadata.as_ptr().addr();
        keys[number].1 = format!("{}{{}}{}", &metadata[..start], &metadata[start + fields.len()..]);
        return;
    }
    let member = "\"modifications\":{}".to_owned();
    match keys.iter_mut().rev().find(|(key, _)| is_string(key, "metadata")) {
        Some((_, metadata)) if metadata.starts_with('{') => *metadata = append(metadata, &[member]),
        _ => keys.push(("\"metadata\"".to_owned(), format!("{{{member}}}"))),
    }
}

/// Removes the only member with this value from an object.
fn without(object: &str, value: &str) -> String {
    let fields = Fields::parse(object).unwrap_or_default();
    let at = |part: &str| part.as_ptr().addr() - object.as_ptr().addr();
    let place = fields.0.iter().position(|(_, field)| at(field) == at(value)).expect("it has it");
    let end = at(value) + value.len();
    let cut = match (place.checked_sub(1), fields.0.get(place + 1)) {
        (Some(before), _) => at(fields.0[before].1) + fields.0[before].1.len()..end,
        (None, Some((next, _))) => at(fields.0[0].0)..at(next),
        (None, None) => at(fields.0[0].0)..end,
    };
    [&object[..cut.start], &object[cut.end..]].concat()
}

fn is_empty(object: &str) -> bool {
    Fields::parse(object).is_some_and(|fields| fields.0.is_empty())
}

/// Merges `stackFrames` and `samples`; returns false if that is impossible.
fn take_over(keys: &mut Vec<(String, String)>, key: &str, value: &str) -> bool {
    let unite: fn(&str, &str) -> Option<String> = if is_string(key, "stackFrames") {
        with_members
    } else if is_string(key, "samples") {
        with_elements
    } else {
        return false;
    };
    match keys.iter_mut().rev().find(|(k, _)| unescape(k) == unescape(key)) {
        Some((_, target)) => match unite(target, value) {
            Some(united) => {
                *target = united;
                true
            }
            None => false,
        },
        None => {
            // merging with itself checks whether the value has the right type
            let fits = unite(value, value).is_some();
            if fits {
                keys.push((key.to_owned(), value.to_owned()));
            }
            fits
        }
    }
}

/// Adds missing members to `target`. Returns `None` if a name has two values.
fn with_members(target: &str, added: &str) -> Option<String> {
    let (members, added) = (Fields::parse(target)?, Fields::parse(added)?);
    let mut known: HashMap<_, &str> = HashMap::new();
    known.extend(members.0.iter().map(|&(key, value)| (unescape(key), value)));
    let mut new = Vec::new();
    for &(key, value) in &added.0 {
        match known.get(&unescape(key)) {
            Some(&there) if there == value => {}
            Some(_) => return None,
            None => {
                known.insert(unescape(key), value);
                new.push(format!("{key}:{value}"));
            }
        }
    }
    Some(append(target, &new))
}

fn with_elements(target: &str, added: &str) -> Option<String> {
    elements(target)?;
    let has_any = !elements(added)?.is_empty();
    let inside = added[1..added.len() - 1].trim_matches([' ', '\t', '\n', '\r']);
    Some(append(target, &has_any.then(|| inside.to_owned()).into_iter().collect::<Vec<_>>()))
}

/// Inserts `new` before the closing bracket of `container`. Returns `container` unchanged if `new`
/// is empty.
fn append(container: &str, new: &[String]) -> String {
    if new.is_empty() {
        return container.to_owned();
    }
    let (inside, closing) = container.split_at(container.len() - 1);
    let inside = inside.trim_end_matches([' ', '\t', '\n', '\r']);
    let comma = if inside.len() == 1 { "" } else { "," };
    format!("{inside}{comma}{}{closing}", new.join(","))
}

/// Returns a name that is not among `keys`: `"tracemill"`, or the first free name with a numeric
/// suffix.
pub(super) fn free_name(keys: &[(String, String)]) -> String {
    let names = std::iter::once("tracemill".to_owned());
    let mut names = names.chain((2..).map(|n: u64| format!("tracemill.{n}")));
    let is_free = |name: &String| !keys.iter().any(|(key, _)| is_string(key, name));
    let name = names.find(is_free).expect("names do not end");
    format!("\"{name}\"")
}
