//! Resolves DevTools annotations to events identified by `uid` ([`crate::generate::annotated`]),
//! for comparison before and after a command.

use super::read::{self, Fields, elements, unescape};

/// The annotations of one document: hidden entries, expandable entries, labels, ranges, links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    /// Each annotation with its keys resolved, or the reason why DevTools cannot read it.
    pub lists: [Vec<Result<String, Unread>>; 5],
    /// `min` and `max` of the first breadcrumb.
    pub window: Option<(f64, f64)>,
}

/// The reason why an annotation cannot be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Unread {
    Malformed,
    Frame,
}

/// Returns the annotations of each document that has annotations.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn annotations(input: &[u8]) -> Result<Vec<Annotations>, String> {
    let mut all = Vec::new();
    for source in read::sources(input)? {
        let metadata = source.keys.get("metadata").and_then(Fields::parse);
        let modifications = metadata.and_then(|metadata| metadata.get("modifications"));
        if let Some(modifications) = modifications.and_then(Fields::parse) {
            all.push(of_document(&modifications, &source.events));
        }
    }
    Ok(all)
}

fn of_document(modifications: &Fields<'_>, events: &[&str]) -> Annotations {
    let group = |name| modifications.get(name).and_then(Fields::parse).unwrap_or_default();
    let (entries, annotations) = (group("entriesModifications"), group("annotations"));
    let list = |group: &Fields<'_>, name: &str, names: &[&str]| {
        let all = group.get(name).and_then(elements).unwrap_or_default();
        all.into_iter().map(|element| resolve(element, names, events)).collect()
    };
    let window = group("initialBreadcrumb").get("window").and_then(Fields::parse);
    let side = |name| window.as_ref()?.get(name)?.parse().ok();
    Annotations {
        lists: [
            list(&entries, "hiddenEntries", &[]),
            list(&entries, "expandableEntries", &[]),
            list(&annotations, "entryLabels", &["entry"]),
            list(&annotations, "labelledTimeRanges", &["bounds"]),
            list(&annotations, "linksBetweenEntries", &["entryFrom", "entryTo"]),
        ],
        window: side("min").zip(side("max")),
    }
}

fn resolve(element: &str, names: &[&str], events: &[&str]) -> Result<String, Unread> {
    if names.is_empty() {
        return named(element, events);
    }
    let fields = Fields::parse(element).ok_or(Unread::Malformed)?;
    let mut text = String::new();
    for name in names {
        let value = fields.get(name).ok_or(Unread::Malformed)?;
        text += &match *name {
            "bounds" => {
                let bounds = Fields::parse(value).ok_or(Unread::Malformed)?;
                let side = |name| bounds.get(name)?.parse::<f64>().ok();
                let sides = side("min").zip(side("max")).ok_or(Unread::Malformed)?;
                format!("{sides:?} ")
            }
            _ => format!("{} ", named(value, events)?),
        };
    }
    Ok(text + fields.get("label").unwrap_or_default())
}

fn named(key: &str, events: &[&str]) -> Result<String, Unread> {
    let text = unescape(key).and_then(|text| String::from_utf8(text).ok());
    let text = text.ok_or(Unread::Malformed)?;
    let parts: Vec<&str> = text.split('-').collect();
    let event = |index: &str| {
        let index: usize = index.parse().ok()?;
        Fields::parse(events.get(index)?)
    };
    match parts[..] {
        ["l", _] => Err(Unread::Frame),
        ["r", index] => {
            let event = event(index).ok_or(Unread::Malformed)?;
            Ok(format!("r:{}", event.get("uid").unwrap_or("none")))
        }
        ["s", index] => {
            let event = event(index).filter(has_entry).ok_or(Unread::Malformed)?;
            Ok(format!("s:{}", event.get("uid").unwrap_or("none")))
        }
        _ => Err(Unread::Malformed),
    }
}

/// Returns whether DevTools shows such an event as an entry.
fn has_entry(event: &Fields<'_>) -> bool {
    let is = |field, texts: &[&str]| {
        let value = event.get(field).and_then(unescape);
        value.is_some_and(|value| texts.iter().any(|text| value == text.as_bytes()))
    };
    const NAMES: [&str; 5] =
        ["ResourceSendRequest", "LayoutShift", "SoftNavigationStart", "Screenshot", "TimeStamp"];
    is("ph", &["b"])
        || is("name", &NAMES)
        || event.get("cat").is_some_and(|cat| cat.contains("blink.user_timing"))
}
