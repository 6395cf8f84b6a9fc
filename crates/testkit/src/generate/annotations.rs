//! Generates traces with DevTools annotations on random events, valid and invalid.

use crate::Rng;

/// Creates a document of these events, each with a unique `uid` counted from `first`. Some events
/// have annotations.
#[must_use]
pub fn annotated(rng: &mut Rng, events: &[String], first: usize) -> Vec<u8> {
    let numbered = events.iter().zip(first..).map(|(event, uid)| {
        let rest = event[1..].trim_start();
        let comma = if rest.starts_with('}') { "" } else { "," };
        format!("{{\"uid\":{uid}{comma}{}", &event[1..])
    });
    let numbered: Vec<String> = numbered.collect();
    let metadata = metadata(rng, events.len());
    let (space, between) = *rng.pick(&[&("", ","), &("\n ", ",\n"), &(" ", " ,\r\n\t")]);
    let list = numbered.join(between);
    let text = match rng.below(4) {
        0 => format!("{{\"metadata\":{metadata},{space}\"traceEvents\":[{list}{space}]}}\n"),
        1 => {
            let lines = numbered.iter().map(|event| event.replace(['\n', '\r'], " ") + "\n");
            let header = metadata.replace('\n', " ");
            format!("{{\"tracemill\":{{\"metadata\":{header}}}}}\n{}", lines.collect::<String>())
        }
        _ => format!("{{\"traceEvents\":[{space}{list}],\"x\":1,\"metadata\":{metadata}}}"),
    };
    text.into_bytes()
}

fn metadata(rng: &mut Rng, events: usize) -> String {
    let source = rng.pick(&["DevTools", "DevTools", "other"]);
    let modifications = modifications(rng, events);
    match rng.below(3) {
        0 => format!("{{\"modifications\":{modifications}}}"),
        1 => format!("{{\"source\":\"{source}\",\"modifications\":{modifications}}}"),
        _ => format!(
            "{{\n  \"source\": \"{source}\",\n  \"modifications\": {modifications},\n  \"y\": [1]\n}}"
        ),
    }
}

fn modifications(rng: &mut Rng, events: usize) -> String {
    let keys = |rng: &mut Rng| list(rng, |rng| key(rng, events));
    let entries = [keys(rng), keys(rng)];
    let labels = list(rng, |rng| match rng.below(20) {
        0 => "{\"label\":\"no entry\"}".to_owned(),
        1 => "7".to_owned(),
        _ => format!("{{\"entry\": {}, \"label\":\"l{}\"}}", key(rng, events), rng.below(100)),
    });
    let ranges = list(rng, |rng| {
        let (min, range) = (rng.below(1000), rng.below(2000));
        match rng.below(12) {
            0 => "{\"bounds\":{\"min\":\"x\",\"max\":1},\"label\":\"odd\"}".to_owned(),
            _ => format!(
                "{{\"bounds\":{{\"min\":{min},\"max\":{},\"range\":{range}}},\"label\":\"r\"}}",
                min + range
            ),
        }
    });
    let links = list(rng, |rng| {
        let (from, to) = (key(rng, events), key(rng, events));
        match rng.below(12) {
            0 => format!("{{\"entryFrom\":{from}}}"),
            1 => format!("{{\"entryTo\":{to},\"entryFrom\":{from}}}"),
            _ => format!("{{\"entryFrom\":{from},\"entryTo\":{to}}}"),
        }
    });
    format!(
        "{{\"entriesModifications\":{{\"hiddenEntries\":{},\"expandableEntries\":{}}},\
         \"initialBreadcrumb\":{{\"window\":{{\"min\":1,\"max\":9,\"range\":8}},\"child\":null}},\
         \"annotations\":{{\"entryLabels\":{labels},\"labelledTimeRanges\":{ranges},\"linksBetweenEntries\":{links}}}}}",
        entries[0], entries[1]
    )
}

fn list(rng: &mut Rng, element: impl Fn(&mut Rng) -> String) -> String {
    let count = rng.index(7);
    let all: Vec<String> = (0..count).map(|_| element(rng)).collect();
    let between = rng.pick(&[",", ", ", ",\n    "]);
    format!("[{}]", all.join(between))
}

fn key(rng: &mut Rng, events: usize) -> String {
    let event = rng.index(events.max(1));
    match rng.below(24) {
        0 => format!("\"l-{event}\""),
        1 => format!("\"p-1-2--1-{event}\""),
        2 => format!("\"r-{}\"", events + rng.index(3)),
        3 => "\"r-x\"".to_owned(),
        4 => event.to_string(),
        5..10 => format!("\"s-{event}\""),
        10 => format!("\"\\u0072-{event}\""),
        _ => format!("\"r-{event}\""),
    }
}
