//! Labels of rows: the texts of DevTools' flame chart and tree views.

use crate::entries::Entry;
use crate::events::details::PLAIN;
use crate::events::kinds::flag;
use crate::events::styles::{style, title_of};
use crate::names::groups::{GroupBy, Ids};
use crate::profile::functions::{Frame, NATIVE, native_group};
use crate::trace::Trace;
use std::collections::HashSet;
use tracemill_tokenizer::unescaped_text;

/// Displayed names of DevTools' categories.
const CATEGORIES: [(&str, &str); 11] = [
    ("drawing", "Drawing"),
    ("rasterizing", "Rasterizing"),
    ("layout", "Layout"),
    ("loading", "Loading"),
    ("experience", "Experience"),
    ("messaging", "Messaging"),
    ("scripting", "Scripting"),
    ("rendering", "Rendering"),
    ("painting", "Painting"),
    ("gpu", "GPU"),
    ("async", "Async"),
];

/// Returns the names of DevTools' categories of events.
///
/// ```
/// assert!(tracemill_analysis::categories().any(|name| name == "scripting"));
/// ```
pub fn categories() -> impl Iterator<Item = &'static str> {
    CATEGORIES.iter().map(|(name, _)| *name).chain(["other", "idle"])
}

impl Trace {
    /// Returns the distinct names by which options select rows: event names in the trace, their
    /// titles in DevTools, function names, and URLs of functions.
    pub fn row_names(&self) -> Vec<String> {
        self.names_of(|_| true)
    }

    /// Returns the names that tables have rows of: of all events, or of those that DevTools shows.
    pub fn shown_names(&self, all_events: bool) -> Vec<String> {
        let shows_all = all_events || self.is_generic;
        self.names_of(|flags| {
            flags & flag::RUN_TASK == 0 && (shows_all || flags & flag::SHOWN != 0)
        })
    }

    /// Returns the distinct names of functions, and of kinds of events by their flags.
    fn names_of(&self, is_wanted: impl Fn(u16) -> bool) -> Vec<String> {
        let text = |number: u32| unescaped_text(self.names.bytes_of(number));
        let kinds = self.kinds.all.iter().zip(&self.flags);
        let events = kinds.filter(|(_, flags)| is_wanted(**flags)).map(|(kind, _)| text(kind.name));
        let events = events.flat_map(|name| [title_of(&name).map(str::to_owned), Some(name)]);
        let models = self.threads.iter().filter_map(|thread| thread.model.as_deref());
        let frames = models.flat_map(|model| model.frames());
        let functions =
            frames.flat_map(|frame| [Some(text(frame.function)), Some(text(frame.url))]);
        let mut seen = HashSet::new();
        let all = events.chain(functions).flatten();
        all.filter(|name| !name.is_empty() && seen.insert(name.clone())).collect()
    }
}

impl Ids<'_> {
    /// Returns the text that DevTools' panel shows for a group. `first` is the first entry of the
    /// group.
    pub(crate) fn group_label(&self, id: &str, first: &Entry) -> Option<String> {
        if !self.as_devtools && self.is_idle(first) {
            return Some(id.to_owned());
        }
        let or_unattributed = || Some(if id.is_empty() { "[unattributed]" } else { id }.to_owned());
        match self.by {
            GroupBy::Activity => self.label(first),
            GroupBy::Category => {
                let known = CATEGORIES.iter().find(|(name, _)| *name == id);
                Some(match (known, id) {
                    (Some((_, title)), _) => (*title).to_owned(),
                    (None, "idle") => "Idle".to_owned(),
                    (None, "other") => "System".to_owned(),
                    _ => "[unattributed]".to_owned(),
                })
            }
            GroupBy::Frame => {
                let frame = self.trace.meta.frame_titles.get(id.as_bytes());
                let Some((name, url)) = frame.filter(|_| !id.is_empty()) else {
                    return Some("Page".to_owned());
                };
                if url.starts_with(b"about:") {
                    return Some(format!("\"{}\"", trim_middle(&unescaped_text(name), 80)));
                }
                let units: Vec<u16> = unescaped_text(url).encode_utf16().take(80).collect();
                Some(String::from_utf16_lossy(&units))
            }
            GroupBy::Domain | GroupBy::Subdomain | GroupBy::ThirdParty => {
                if id.starts_with("extensions::") {
                    Some("[Chrome extensions overhead]".to_owned())
                } else if id.starts_with("native ") {
                    Some("[V8 runtime]".to_owned())
                } else if id.starts_with("chrome-extension") {
                    let owner = self.owner(first).map(|owner| owner.name);
                    Some(owner.map_or(id.to_owned(), |name| unescaped_text(&name)))
                } else {
                    or_unattributed()
                }
            }
            _ => or_unattributed(),
        }
    }

    /// Returns the text of the tree views' column "Activity" (DevTools: `eventTitle`).
    pub fn label(&self, entry: &Entry) -> Option<String> {
        if let Some(frame) = self.frame(entry) {
            return Some(self.frame_label(frame));
        }
        if self.as_devtools && self.trace.flags[entry.kind as usize] & flag::NO_CATEGORY != 0 {
            return None;
        }
        let title = self.style(entry).0;
        if self.cat(entry).split(|&byte| byte == b',').any(|part| part == b"blink.console") {
            return Some(title);
        }
        if self.name(entry) == b"WebSocketCreate" {
            return Some(title);
        }
        match self.added(entry) {
            Added::Text(text) => Some(format!("{title}{text}")),
            Added::Missing if self.as_devtools => None,
            Added::Missing | Added::Nothing => Some(title),
        }
    }

    /// Returns the text of a call in the tree views' column "Activity".
    pub(crate) fn frame_label(&self, frame: Frame) -> String {
        let name = self.trace.names.bytes_of(frame.function);
        match (frame.url, native_group(name)) {
            (NATIVE, "null") => unescaped_text(name),
            (NATIVE, group) => group.to_owned(),
            _ if name.is_empty() => "(anonymous)".to_owned(),
            _ => unescaped_text(name),
        }
    }

    /// Returns the suffix that an event's label adds to its title.
    fn added(&self, entry: &Entry) -> Added {
        let text = match self.trace.details.all[entry.details as usize].title {
            0 => String::new(),
            title => self.trace.names.text(title),
        };
        let is_of_type = || self.name(entry) == b"EventDispatch" && entry.is_complete();
        let is_animation = || {
            self.name(entry) == b"Animation"
                && memchr::memmem::find(self.cat(entry), b"devtools.timeline").is_some()
        };
        match &*text {
            "" if is_of_type() || is_animation() => Added::Missing,
            "" | PLAIN => Added::Nothing,
            _ => Added::Text(text),
        }
    }

    /// Returns the text of an entry in the flame chart (DevTools: `Name.forEntry`).
    pub(crate) fn flame_label(&self, entry: &Entry) -> Option<String> {
        if let Some(frame) = self.frame(entry) {
            let name = self.trace.names.text(frame.function);
            return Some(if name.is_empty() { "(anonymous)".to_owned() } else { name });
        }
        let name = self.name(entry);
        match (name, self.added(entry)) {
            (b"EventDispatch", Added::Text(kind)) => return Some(format!("Event{kind}")),
            (b"EventDispatch", Added::Missing) if self.as_devtools => return None,
            (b"WebSocketCreate", Added::Text(url)) => return Some(format!("{OPENED}{url}")),
            (b"WebSocketCreate", _) => return Some(OPENED.to_owned()),
            (b"WebSocketDestroy", _) => return Some("WebSocket closed".to_owned()),
            _ => {}
        }
        let title = style(name).map(|style| style.title.to_owned());
        Some(title.unwrap_or_else(|| unescaped_text(name)))
    }
}

enum Added {
    Nothing,
    Text(String),
    /// `args` lacks the data, which makes DevTools fail.
    Missing,
}

/// Label of an event that opens a connection.
const OPENED: &str = "WebSocket opened";

/// Shortens a text to at most `most` characters (DevTools: `StringUtilities.trimMiddle`).
fn trim_middle(text: &str, most: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= most {
        return text.to_owned();
    }
    let (left, right) = (most / 2, most - most / 2 - 1);
    let head: String = all[..left].iter().collect();
    let tail: String = all[all.len() - right..].iter().collect();
    format!("{head}…{tail}")
}
