//! Changes values in `args`: lost members, other types, odd texts.

use super::pick::one_of;
use crate::Rng;
use serde_json::{Value, json};

/// Placeholder for the first half of a surrogate pair.
pub(super) const HIGH: &str = "\u{f8f0}";
/// Placeholder for the second half of a surrogate pair.
pub(super) const LOW: &str = "\u{f8f1}";

/// Unusual texts for names and URLs.
const TEXTS: &[&str] = &[
    "",
    " ",
    "\"quoted\" \\ / \u{8}\u{c}\n\r\t",
    "\u{0}nul\u{1f}\u{7f}",
    "é 漢字 😀",
    HIGH,
    LOW,
    "\u{2028}\u{2029}\u{feff}",
    "0",
    "12",
    "null",
    "undefined",
    "__proto__",
    "constructor",
    "native V8Runtime",
    "native array.js",
    "extensions::binding",
    "about:blank",
    "data:text/javascript,1",
    "blob:https://a.b/1",
    "https://user:pass@EXAMPLE.com:443/a/../b.js?q=1#h",
    "http://[::1]:80/x.js",
    "http://10.0.0.1/x.js",
    "https://",
    "https:///x",
    "//a.b/c.js",
    "node:internal/modules",
    "/app/node_modules/x/y.js",
    "file:///C:/a b.js",
    "chrome-extension://abcdefghijklmnop/content.js",
    "HTTPS://Www.Example.CO.UK/",
    "webpack:///./src/a.js",
    "wasm://wasm/1234",
];

pub(super) fn text(rng: &mut Rng) -> Value {
    json!(TEXTS[rng.index(TEXTS.len())])
}

fn odd(rng: &mut Rng) -> Value {
    let list = [json!(1), json!("a"), Value::Null];
    match rng.below(12) {
        0 | 1 => Value::Null,
        2 => json!(0),
        3 => json!(-1.5),
        4 => json!(rng.bits() >> 12),
        5 => json!(true),
        6 => json!(false),
        7 => Value::Array(list[rng.index(3)..].to_vec()),
        8 => json!({}),
        9 => json!([]),
        _ => text(rng),
    }
}

/// Collects the JSON pointers of all members below a value.
fn paths(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut each = |key: String, value: &Value| {
        let path = format!("{at}/{key}");
        if found.len() < 400 {
            paths(value, &path, found);
            found.push(path);
        }
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, member)| {
            each(key.replace('~', "~0").replace('/', "~1"), member);
        }),
        Value::Array(list) => {
            list.iter().take(10).enumerate().for_each(|(n, item)| each(n.to_string(), item));
        }
        _ => {}
    }
}

fn remove(value: &mut Value, path: &str) {
    let Some((parent, key)) = path.rsplit_once('/') else { return };
    let key = key.replace("~1", "/").replace("~0", "~");
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.remove(&key)),
        Some(Value::Array(list)) => {
            if let Some(at) = key.parse().ok().filter(|&at: &usize| at < list.len()) {
                list.remove(at);
            }
        }
        _ => {}
    }
}

/// Drops a member of an event's args, or changes its type.
pub(super) fn change_args(rng: &mut Rng, events: &mut [Value]) {
    let has_args = |event: &Value| event["args"].as_object().is_some_and(|args| !args.is_empty());
    // profile chunks are changed elsewhere
    let is_apt = |event: &Value| has_args(event) && event["name"] != "ProfileChunk";
    let Some(mut at) = one_of(rng, events, is_apt) else { return };
    if rng.chance(50) {
        // rare names are as likely as frequent names
        let mut names: Vec<&str> = events
            .iter()
            .filter(|event| is_apt(event))
            .filter_map(|event| event["name"].as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        let name = names.get(rng.index(names.len())).copied().unwrap_or_default().to_owned();
        at = one_of(rng, events, |event| is_apt(event) && event["name"] == *name).unwrap_or(at);
    }
    let mut found = Vec::new();
    paths(&events[at]["args"], "", &mut found);
    if found.is_empty() {
        return;
    }
    let path = found[rng.index(found.len())].clone();
    let name = events[at]["name"].clone();
    let value = if rng.chance(40) { None } else { Some(odd(rng)) };
    // DevTools turns a list or an object into a label that is not text
    let is_whole =
        |candidate: &Value| candidate.is_array() || candidate.is_object() || *candidate == true;
    let value = value.filter(|candidate| !(path.ends_with("/type") && is_whole(candidate)));
    // DevTools calls string methods on a truthy URL that is not a string
    let is_other = |candidate: &Value| {
        is_whole(candidate) || candidate.as_f64().is_some_and(|number| number != 0.0)
    };
    let value = value.filter(|candidate| !(path.ends_with("/url") && is_other(candidate)));
    // one event, or all of its name
    let is_all = rng.chance(25);
    let is_one = |(number, event): &(usize, &mut Value)| {
        *number == at || is_all && event["name"] == name && has_args(event)
    };
    for (_, event) in events.iter_mut().enumerate().filter(is_one) {
        let args = &mut event["args"];
        match (&value, args.pointer_mut(&path)) {
            (Some(value), Some(member)) => *member = value.clone(),
            (Some(_), None) => {}
            (None, _) => remove(args, &path),
        }
    }
}

pub(super) fn change_text(rng: &mut Rng, events: &mut [Value]) {
    let at = rng.index(events.len());
    let mut found = Vec::new();
    paths(&events[at], "", &mut found);
    const NO_TEXTS: [&str; 4] = ["/ph", "/ts", "/pid", "/tid"];
    let is_text = |path: &&String| {
        let value = events[at].pointer(path);
        value.is_some_and(Value::is_string) && !NO_TEXTS.contains(&path.as_str())
    };
    let found: Vec<String> = found.iter().filter(is_text).cloned().collect();
    if found.is_empty() {
        return;
    }
    let path = &found[rng.index(found.len())];
    // DevTools finds inherited object properties in its table of names
    let of_objects = ["__proto__", "constructor"];
    let value = text(rng);
    if path == "/name" && of_objects.iter().any(|name| value == *name) {
        return;
    }
    if let Some(member) = events[at].pointer_mut(path) {
        *member = value;
    }
}
