//! What a split made of one trace, put together again: events that it repeated, and what parts say of the whole.

use std::collections::{BTreeMap, BTreeSet};

use super::Format;
use super::read::{Fields, Source, elements, is_string, unescape};

/// What parts are together.
#[derive(Default)]
pub(super) struct Rejoined {
    /// Events taken out because they were copies.
    pub(super) copies: usize,
    /// The value of the key that the output still has.
    pub(super) still_said: Option<String>,
    /// The value of `stackFrames`.
    pub(super) frames: Option<String>,
}

/// What a part says.
#[derive(Clone, Default)]
struct Statement<'a> {
    /// `of`, `parts`, `array`
    whole: (&'a str, usize, bool),
    numbers: Vec<usize>,
    metadata: Option<Vec<usize>>,
    frames: Option<Vec<usize>>,
}

/// What `split` repeated and listed under `tracemill`, `{"part":{…},"copies":[event,…]}`, is taken out of the events of
/// several sources, and so are these keys; those that stay as copies come back in order of their first listing. Metadata and
/// stack frames of parts of one trace come in its order.
pub(super) fn take_out(sources: &mut [Source<'_>]) -> Rejoined {
    if sources.len() < 2 {
        return Rejoined::default();
    }
    let mut order: Vec<&str> = Vec::new();
    let mut lists: Vec<BTreeMap<&str, usize>> = Vec::new();
    let mut statements = Vec::new();
    for source in sources.iter_mut() {
        let mut own = BTreeMap::new();
        let mut statement = None;
        source.keys.0.retain(|&(key, value)| {
            let Some((part, list)) = said(key, value) else { return true };
            statement = part.or(statement.take());
            for event in list {
                *own.entry(event).or_insert(0) += 1;
                if !order.contains(&event) {
                    order.push(event);
                }
            }
            false
        });
        lists.push(own);
        statements.push(statement);
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
    let mut rejoined = Rejoined { copies: taken, ..Rejoined::default() };
    let statements: Option<Vec<Statement<'_>>> = statements.into_iter().collect();
    let part = statements.and_then(|all| rejoin(&all, sources, &mut rejoined));
    let mut said: Vec<String> = part.into_iter().collect();
    if !left.is_empty() {
        said.push(format!("\"copies\":[{}]", left.join(",")));
    }
    rejoined.still_said = (!said.is_empty()).then(|| format!("{{{}}}", said.join(",")));
    rejoined
}

/// Puts metadata, frames and form of parts of one trace as that had them; what they still are a part of.
fn rejoin(
    statements: &[Statement<'_>],
    sources: &mut [Source<'_>],
    rejoined: &mut Rejoined,
) -> Option<String> {
    let (of, parts, array) = statements[0].whole;
    let numbers = || statements.iter().flat_map(|own| own.numbers.iter().copied());
    let united: BTreeSet<usize> = numbers().collect();
    if statements.iter().any(|own| own.whole != (of, parts, array))
        || numbers().count() != united.len()
    {
        return None;
    }
    let metadata = rejoin_metadata(statements, sources);
    let frames = rejoin_frames(statements, sources);
    rejoined.frames = frames.as_ref().map(|frames| frames.0.clone());
    if united.len() == parts {
        if array {
            sources[0].format = Format::Array;
        }
        return None;
    }
    let united: Vec<usize> = united.into_iter().collect();
    Some(statement(
        (of, parts, array),
        &united,
        metadata.as_deref(),
        frames.map(|f| f.1).as_deref(),
    ))
}

/// Which metadata events all parts have.
fn rejoin_metadata(statements: &[Statement<'_>], sources: &mut [Source<'_>]) -> Option<Vec<usize>> {
    let is_metadata = |event: &&str| {
        Fields::parse(event).is_some_and(|f| f.get("ph").is_some_and(|ph| is_string(ph, "M")))
    };
    let mut all: BTreeMap<usize, &str> = BTreeMap::new();
    let (mut more, mut is_right) = (Vec::new(), true);
    let mut united = BTreeSet::new();
    for (own, source) in statements.iter().zip(&*sources) {
        let numbers = own.metadata.as_ref()?;
        united.extend(numbers.iter().copied());
        let events: Vec<&str> = source.events.iter().copied().filter(is_metadata).collect();
        is_right &= events.len() >= numbers.len();
        for (number, event) in events.iter().enumerate() {
            match numbers.get(number) {
                Some(&number) => {
                    all.entry(number).or_insert(event);
                }
                None => more.push(*event),
            }
        }
    }
    if is_right {
        sources.iter_mut().for_each(|source| source.events.retain(|event| !is_metadata(event)));
        sources[0].events.splice(0..0, all.into_values().chain(more));
    }
    Some(united.into_iter().collect())
}

/// The value of `stackFrames` and which frames it has.
fn rejoin_frames(
    statements: &[Statement<'_>],
    sources: &mut [Source<'_>],
) -> Option<(String, Vec<usize>)> {
    let is_frames = |key: &str| is_string(key, "stackFrames");
    let mut all: BTreeMap<usize, &str> = BTreeMap::new();
    for (own, source) in statements.iter().zip(&*sources) {
        let values: Vec<&str> =
            source.keys.0.iter().filter(|(key, _)| is_frames(key)).map(|&(_, v)| v).collect();
        let ([value], Some(numbers)) = (&values[..], &own.frames) else { return None };
        let frames = frames_of(value);
        if frames.len() != numbers.len() {
            return None;
        }
        for (&number, frame) in numbers.iter().zip(frames) {
            all.entry(number).or_insert(frame);
        }
    }
    for source in &mut sources[1..] {
        source.keys.0.retain(|(key, _)| !is_frames(key));
    }
    let frames: Vec<&str> = all.values().copied().collect();
    Some((format!("{{{}}}", frames.join(",")), all.into_keys().collect()))
}

/// The members of an object with the white space around them.
pub(super) fn frames_of(value: &str) -> Vec<&str> {
    let at = |part: &str| part.as_ptr() as usize - value.as_ptr() as usize;
    let mut from = 1;
    let mut all = Vec::new();
    for (_, frame) in Fields::parse(value).unwrap_or_default().0 {
        let end = at(frame) + frame.len();
        let end = end + value[end..].find([',', '}']).unwrap_or(0);
        all.push(&value[from..end]);
        from = end + 1;
    }
    all
}

/// `"part":{…}`
pub(super) fn statement(
    (of, parts, array): (&str, usize, bool),
    numbers: &[usize],
    metadata: Option<&[usize]>,
    frames: Option<&[usize]>,
) -> String {
    let array = if array { ",\"array\":true" } else { "" };
    let list = |name: &str, numbers: Option<&[usize]>| {
        numbers.map_or_else(String::new, |n| format!(",\"{name}\":\"{}\"", stretches(n)))
    };
    format!(
        "\"part\":{{\"of\":{of},\"parts\":{parts},\"numbers\":\"{}\"{array}{}{}}}",
        stretches(numbers),
        list("metadata", metadata),
        list("frames", frames)
    )
}

/// `0-3,7`
fn stretches(numbers: &[usize]) -> String {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match all.last_mut() {
            Some(last) if last.1 + 1 == number => last.1 = number,
            _ => all.push((number, number)),
        }
    }
    let text = |&(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    all.iter().map(text).collect::<Vec<_>>().join(",")
}

fn numbers(text: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for stretch in text.trim_matches('"').split(',').filter(|stretch| !stretch.is_empty()) {
        let (first, last) = stretch.split_once('-').unwrap_or((stretch, stretch));
        all.extend(first.parse().ok()?..=last.parse::<usize>().ok()?);
    }
    Some(all)
}

/// What a key of `split` says of its part, and the events it lists.
fn said<'a>(key: &str, value: &'a str) -> Option<(Option<Statement<'a>>, Vec<&'a str>)> {
    let name = String::from_utf8(unescape(key)?).ok()?;
    if name != "tracemill" && !name.starts_with("tracemill.") {
        return None;
    }
    let (mut part, mut list) = (None, None);
    for (key, value) in Fields::parse(value)?.0 {
        if is_string(key, "part") {
            let own = Fields::parse(value)?;
            part = Some(Statement {
                whole: (
                    own.get("of")?,
                    own.get("parts")?.parse().ok()?,
                    own.get("array").is_some(),
                ),
                numbers: numbers(own.get("numbers")?)?,
                metadata: own.get("metadata").and_then(numbers),
                frames: own.get("frames").and_then(numbers),
            });
        } else if is_string(key, "copies") {
            list = Some(elements(value)?);
        } else {
            return None;
        }
    }
    (part.is_some() || list.is_some()).then(|| (part, list.unwrap_or_default()))
}
