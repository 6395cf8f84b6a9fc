//! Expected events of `merge --for devtools` for well-formed inputs, computed naively: all in
//! memory, one pass per rule.
//!
//! Browser traces (`TracingStartedInBrowser`) and text that is not strict JSON are not covered,
//! because generated inputs have none.

use std::collections::{BTreeMap, HashMap};

use super::profile::Value;
use super::read::{Fields, is_string, sources, unescape};
use super::slice::number::{Time, micros};
use super::{order, repeated, time};

/// An event of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewerEvent {
    /// Text of the event; a merged pair has its members in no particular order.
    pub text: String,
    /// Whether the event was merged from a pair.
    pub merged: bool,
}

/// Returns the members of an event by name, and the members of `args` as `args.`name. The last of
/// equal names wins.
#[must_use]
pub fn members(event: &str) -> Option<BTreeMap<Vec<u8>, String>> {
    let mut all = BTreeMap::new();
    for (key, (_, value)) in by_name(&Fields::parse(event)?) {
        match Fields::parse(value).filter(|_| key == b"args") {
            Some(args) => {
                all.insert(key, String::new());
                for (name, (_, value)) in by_name(&args) {
                    all.insert([b"args.", &*name].concat(), value.to_owned());
                }
            }
            None => drop(all.insert(key, value.to_owned())),
        }
    }
    Some(all)
}

/// Returns the expected events for DevTools, in order.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn for_devtools(inputs: &[&[u8]]) -> Result<Vec<ViewerEvent>, String> {
    let mut all = Vec::new();
    for input in inputs {
        all.extend(sources(input)?);
    }
    repeated::leave_out(&mut all);
    let (mut halves, mut events) = (Vec::new(), Vec::new());
    for text in all.iter().flat_map(|source| &source.events) {
        let fields = Fields::parse(text).ok_or("an event is no object")?;
        let is = |ph| fields.get("ph").is_some_and(|field| is_string(field, ph));
        if fields.0.is_empty() {
        } else if (is("B") || is("E")) && fields.get("ts").and_then(time).is_some() {
            halves.push(*text);
        } else {
            events.push(ViewerEvent { text: (*text).to_owned(), merged: false });
        }
    }
    events.extend(pair(&halves).into_iter().map(|text| ViewerEvent { text, merged: true }));
    let texts: Vec<&str> = events.iter().map(|event| event.text.as_str()).collect();
    let order = order::output_order(&texts).events;
    Ok(order.into_iter().map(|at| finished(&events[at])).collect())
}

/// Returns the last members of an object by name, with keys as written.
fn by_name<'a>(fields: &Fields<'a>) -> BTreeMap<Vec<u8>, (&'a str, &'a str)> {
    let name = |key| unescape(key).expect("keys are strings");
    fields.0.iter().map(|&(key, value)| (name(key), (key, value))).collect()
}

/// Merges begin and end events to complete events. Returns the merged events in the order of their
/// begin events, then a complete event for each begin event without an end.
fn pair(halves: &[&str]) -> Vec<String> {
    let sorted = order::output_order(halves).events;
    let fields: Vec<Fields<'_>> =
        halves.iter().map(|half| Fields::parse(half).expect("parsed before")).collect();
    let thread = |at: usize| ["pid", "tid"].map(|key| Value::of(fields[at].get(key)));
    let mut open: HashMap<[Value; 2], Vec<usize>> = HashMap::new();
    let mut merged = BTreeMap::new();
    let number = |half: usize| sorted.iter().position(|&at| at == half);
    for &at in &sorted {
        let stack = open.entry(thread(at)).or_default();
        if is_string(fields[at].get("ph").expect("parsed before"), "B") {
            stack.push(at);
            continue;
        }
        let fits = |key: &str, begin: usize| {
            let value = fields[at].get(key);
            value.is_none() || Value::of(value) == Value::of(fields[begin].get(key))
        };
        let begin = stack.iter().rposition(|&begin| fits("name", begin) && fits("cat", begin));
        if let Some(begin) = begin {
            let begin = stack.remove(begin);
            merged.insert(number(begin), complete(&fields[begin], Some(&fields[at])));
        }
    }
    let mut merged = Vec::from_iter(merged.into_values());
    let is_open = |at: &&usize| open.get(&thread(**at)).is_some_and(|stack| stack.contains(at));
    merged.extend(sorted.iter().filter(is_open).map(|&at| complete(&fields[at], None)));
    merged
}

fn complete(begin: &Fields<'_>, end: Option<&Fields<'_>>) -> String {
    let mut all: BTreeMap<Vec<u8>, (String, String)> = BTreeMap::new();
    let put = |all: &mut BTreeMap<_, _>, key: &[u8], written: &str, value: &str| {
        all.insert(key.to_vec(), (written.to_owned(), value.to_owned()));
    };
    for (key, (written, value)) in by_name(begin) {
        put(&mut all, &key, written, value);
    }
    put(&mut all, b"ph", "\"ph\"", "\"X\"");
    let between = |key: &str| {
        let [from, to] = [begin.get(key)?, end?.get(key)?].map(Time::of);
        let (from, to) = (from?, to?);
        (from.is_calculable() && to.is_calculable()).then(|| to.minus(&from))
    };
    let nanos =
        |fields: &Fields<'_>| fields.get("ts").and_then(time).map_or(0, |t| t.nanos_floor());
    let dur = between("ts").unwrap_or_else(|| {
        end.map_or("0".to_owned(), |end| micros(nanos(end).saturating_sub(nanos(begin))))
    });
    put(&mut all, b"dur", "\"dur\"", &dur);
    let is_free = |key| begin.get(key).is_none() && end.is_none_or(|end| end.get(key).is_none());
    for (key, (written, value)) in end.map(by_name).unwrap_or_default() {
        match &*key {
            b"ph" | b"ts" | b"pid" | b"tid" => {}
            b"args" => {
                let begin_args = all.get(&key).map_or("null", |(_, args)| args.as_str());
                let joined = join(begin_args, value);
                put(&mut all, b"args", "\"args\"", &joined);
            }
            b"tts" => {
                let spent = between("tts").filter(|spent| !spent.starts_with('-'));
                if let Some(spent) = spent.filter(|_| !all.contains_key(&b"tdur"[..])) {
                    put(&mut all, b"tdur", "\"tdur\"", &spent);
                }
            }
            b"sf" if is_free("esf") => put(&mut all, b"esf", "\"esf\"", value),
            b"stack" if is_free("estack") => {
                put(&mut all, b"estack", "\"estack\"", value);
            }
            _ if all.contains_key(&key) => {}
            _ => put(&mut all, &key, written, value),
        }
    }
    let members: Vec<String> =
        all.into_values().map(|(key, value)| format!("{key}:{value}")).collect();
    format!("{{{}}}", members.join(","))
}

/// Merges the args of a pair; the end event wins for equal names.
fn join(begin: &str, end: &str) -> String {
    match (Fields::parse(begin), Fields::parse(end)) {
        (Some(fields), Some(more)) => {
            let mut all = by_name(&fields);
            all.extend(by_name(&more));
            let members: Vec<String> =
                all.into_values().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", members.join(","))
        }
        (Some(_), None) => begin.to_owned(),
        (None, _) if end == "null" => begin.to_owned(),
        (None, _) => end.to_owned(),
    }
}

/// Returns the repair of an event that lacks the `args.data` that DevTools reads: the text to
/// replace (`None` if `args` is missing) and its replacement. Generated inputs have only one kind
/// of such events, `Paint`.
fn lacking_data<'a>(fields: &Fields<'a>) -> Option<(Option<&'a str>, String)> {
    if fields.get("name") != Some("\"Paint\"") {
        return None;
    }
    let whole = "{\"data\":{}}".to_owned();
    let Some(args) = fields.get("args") else { return Some((None, whole)) };
    let Some(members) = Fields::parse(args).filter(|_| args.starts_with('{')) else {
        return Some((Some(args), whole));
    };
    match members.get("data") {
        // only null has no members at all
        Some(data) if data != "null" => None,
        Some(other) => Some((Some(other), "{}".to_owned())),
        None => {
            let comma = if members.0.is_empty() { "" } else { "," };
            Some((Some(&args[..1]), format!("{{\"data\":{{}}{comma}")))
        }
    }
}

/// Returns the missing `id` member of a CPU profile event that has only `id2`.
fn profile_id(fields: &Fields<'_>) -> String {
    let named = |name| fields.get("name").is_some_and(|field| is_string(field, name));
    let id2 = fields.get("id2").and_then(Fields::parse).unwrap_or_default();
    let reach = ["global", "local"].into_iter().find(|reach| id2.get(reach).is_some());
    match reach
        .filter(|_| fields.get("id").is_none() && (named("Profile") || named("ProfileChunk")))
    {
        Some(reach) => {
            let id = id2.get(reach).unwrap_or_default().trim_matches('"');
            format!("\"id\":\"{reach}:{id}\",")
        }
        None => String::new(),
    }
}

fn finished(event: &ViewerEvent) -> ViewerEvent {
    let fields = Fields::parse(&event.text).expect("parsed before");
    let is = |ph| fields.get("ph").is_some_and(|field| is_string(field, ph));
    let (mut front, mut patches) = (String::new(), Vec::new());
    let lacking = lacking_data(&fields);
    match &lacking {
        Some((Some(old), new)) => patches.push((Some(*old), new.clone())),
        Some((None, new)) => front.push_str(&format!("\"args\":{new},")),
        None => {}
    }
    for (key, value) in [("name", "\"\""), ("cat", "\"\""), ("args", "{}")] {
        match fields.get(key) {
            _ if key == "args" && lacking.is_some() => {}
            None if key == "cat" && is("M") => {}
            None => front.push_str(&format!("\"{key}\":{value},")),
            Some("null") => patches.push((fields.get(key), value.to_owned())),
            Some(other) if key != "args" && !other.starts_with('"') => {
                let text = other.replace('\\', "\\\\").replace('"', "\\\"");
                patches
                    .push((Some(other), format!("\"{}\"", text.replace(['\n', '\r', '\t'], " "))));
            }
            Some(_) => {}
        }
    }
    if is("i") {
        patches.push((fields.get("ph"), "\"I\"".to_owned()));
    }
    for key in ["ts", "dur"] {
        let inside = fields.get(key).and_then(unescape);
        if let Some(number) = inside.filter(|number| super::Decimal::parse(number).is_some()) {
            patches.push((fields.get(key), String::from_utf8(number).expect("digits")));
        }
    }
    let mut text = event.text.clone();
    let start = event.text.as_ptr().addr();
    let mut patches: Vec<(usize, usize, String)> = patches
        .into_iter()
        .filter_map(|(value, new)| value.map(|v| (v.as_ptr().addr() - start, v.len(), new)))
        .collect();
    patches.sort();
    for (at, len, new) in patches.into_iter().rev() {
        text.replace_range(at..at + len, &new);
    }
    front.push_str(&profile_id(&fields));
    text.insert_str(1, &front);
    ViewerEvent { text, merged: event.merged }
}

/// Decodes the `\u` escapes of a JSON text, as `merge` for Perfetto does, except control
/// characters, `"` and `\`. Lone surrogates become U+FFFD.
#[must_use]
pub fn with_characters(text: &str) -> String {
    let unit = |digits: &str| u16::from_str_radix(digits, 16).ok();
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let escapes =
            (0..).map_while(|number| rest.get(6 * number..)?.strip_prefix("\\u")?.get(..4));
        let units: Vec<u16> = escapes.map_while(unit).collect();
        if units.is_empty() {
            let next = rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
            out.push_str(&rest[..next]);
            rest = &rest[next..];
        }
        for character in char::decode_utf16(units) {
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            let (raw, behind) = rest.split_at(6 * character.len_utf16());
            match character {
                '\0'..' ' | '"' | '\\' => out.push_str(raw),
                other => out.push(other),
            }
            rest = behind;
        }
    }
    out + rest
}
