//! Renames pids and ids of an input, as a reference. All other bytes are unchanged.
//!
//! The renames have the form of a merge report, so that the report is tested too. Pids are pairs,
//! and ids have a rule per lexical form (`numbers + 100, hexadecimal + 0x100, texts with #2 behind
//! them`).

use std::ops::Range;

use super::read::{Fields, elements, is_string, sources};

/// New pids and ids of one input.
#[derive(Clone, Debug, Default)]
pub struct Renames {
    /// Pairs of old pid and new pid, as written.
    pub pids: Vec<(String, String)>,
    /// Pairs of a name and the rule for its ids. Names: `id`, the names of `--args-key`,
    /// `stackFrames`.
    pub ids: Vec<(String, String)>,
}

/// Returns `input` with new pids and ids.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn rename(input: &[u8], renames: &Renames) -> Result<Vec<u8>, String> {
    let mut patches = Patches { input, all: Vec::new() };
    for source in sources(input)? {
        for event in &source.events {
            rename_event(event, renames, &mut patches);
        }
        for &(key, value) in &source.keys.0 {
            if is_string(key, "stackFrames") {
                rename_frames(value, renames.rule("stackFrames"), &mut patches);
            } else if is_string(key, "samples") {
                rename_samples(value, renames, &mut patches);
            }
        }
    }
    Ok(patches.apply())
}

struct Patches<'i> {
    input: &'i [u8],
    all: Vec<(Range<usize>, String)>,
}

impl Patches<'_> {
    fn put(&mut self, value: &str, new: Option<String>) {
        let start = value.as_ptr().addr() - self.input.as_ptr().addr();
        self.all.extend(new.map(|new| (start..start + value.len(), new)));
    }

    fn apply(mut self) -> Vec<u8> {
        self.all.sort_by_key(|(range, _)| range.start);
        let mut out = self.input.to_vec();
        for (range, new) in self.all.into_iter().rev() {
            out.splice(range, new.into_bytes());
        }
        out
    }
}

impl Renames {
    fn rule(&self, name: &str) -> &str {
        self.ids.iter().find(|(id, _)| id == name).map_or("", |(_, rule)| rule)
    }

    fn pid(&self, value: &str) -> Option<String> {
        use super::profile::Value;
        let same = |(old, _): &&(String, String)| Value::of(Some(old)) == Value::of(Some(value));
        self.pids.iter().find(same).map(|(_, new)| new.clone())
    }
}

fn rename_event(event: &str, renames: &Renames, patches: &mut Patches<'_>) {
    let fields = Fields::parse(event).unwrap_or_default();
    let rule = renames.rule("id");
    if let Some(pid) = fields.get("pid") {
        patches.put(pid, renames.pid(pid));
    }
    if let Some(id) = fields.get("bind_id") {
        patches.put(id, new_id(id, rule));
    }
    let joined = ["b", "n", "e", "S", "T", "p", "F", "s", "t", "f", "v", "V"];
    let ph = fields.get("ph").unwrap_or_default();
    if joined.iter().any(|joined| is_string(ph, joined)) {
        let ids = fields.get("id2").and_then(Fields::parse).unwrap_or_default();
        let ids = ids.0.into_iter().map(|(_, id)| id).chain(fields.get("id"));
        ids.for_each(|id| patches.put(id, new_id(id, rule)));
    }
    let args = fields.get("args").and_then(Fields::parse).unwrap_or_default();
    for (name, rule) in &renames.ids {
        if let Some(value) = args.get(name) {
            patches.put(value, new_id(value, rule));
        }
    }
    rename_references(&fields, renames, patches);
    let has_frames =
        ["TracingStartedInBrowser", "FrameCommittedInBrowser", "ProcessReadyInBrowser"];
    let name = fields.get("name").unwrap_or_default();
    if has_frames.iter().any(|kind| is_string(name, kind)) {
        let data = args.get("data").and_then(Fields::parse).unwrap_or_default();
        let frames = data.get("frames").and_then(elements).unwrap_or_default();
        let pids = frames.iter().filter_map(|frame| Fields::parse(frame)?.get("processId"));
        for pid in pids.chain(data.get("processId")) {
            patches.put(pid, renames.pid(pid));
        }
    }
}

fn rename_references(fields: &Fields<'_>, renames: &Renames, patches: &mut Patches<'_>) {
    for name in ["sf", "esf"] {
        if let Some(frame) = fields.get(name) {
            patches.put(frame, new_id(frame, renames.rule("stackFrames")));
        }
    }
}

fn rename_frames(frames: &str, rule: &str, patches: &mut Patches<'_>) {
    for (id, frame) in Fields::parse(frames).unwrap_or_default().0 {
        patches.put(id, new_id(id, rule));
        if let Some(parent) = Fields::parse(frame).and_then(|frame| frame.get("parent")) {
            patches.put(parent, new_id(parent, rule));
        }
    }
}

fn rename_samples(samples: &str, renames: &Renames, patches: &mut Patches<'_>) {
    for sample in elements(samples).unwrap_or_default() {
        let fields = Fields::parse(sample).unwrap_or_default();
        if let Some(pid) = fields.get("pid") {
            patches.put(pid, renames.pid(pid));
        }
        rename_references(&fields, renames, patches);
    }
}

/// Returns the new id by a rule in words, if the rule covers the lexical form of the id.
fn new_id(value: &str, rule: &str) -> Option<String> {
    let part = |name: &str| rule.split(", ").find_map(|part| part.strip_prefix(name));
    if let Some(content) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        let hex = content.strip_prefix("0x").or(content.strip_prefix("0X"));
        let digits = hex.unwrap_or(content);
        if let Some(new) = number(digits, hex.is_some(), part) {
            let prefix = &content[..content.len() - digits.len()];
            return new.map(|new| format!("\"{prefix}{new}\""));
        }
        let tag = part("texts with ")?.strip_suffix(" behind them")?;
        return (!content.is_empty()).then(|| format!("\"{content}{tag}\""));
    }
    let (sign, digits) = match value.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", value),
    };
    number(digits, false, part)?.map(|new| format!("{sign}{new}"))
}

/// Returns the new digits. Returns `None` if the text is not a number, and `Some(None)` if numbers
/// do not change.
fn number<'r>(
    digits: &str,
    hex: bool,
    rule: impl Fn(&str) -> Option<&'r str>,
) -> Option<Option<String>> {
    let radix = if hex { 16 } else { 10 };
    let (lower, upper) = (digits.to_lowercase(), digits.to_uppercase());
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_alphanumeric());
    if !plain || digits != lower && digits != upper {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    let parse = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).expect("a rule has numbers"),
        None => text.parse().expect("a rule has numbers"),
    };
    let Some(change) = rule(if hex { "hexadecimal " } else { "numbers " }) else {
        return Some(None);
    };
    let new = match change.split_at(4) {
        ("xor ", bits) => value ^ parse(bits),
        _ => value + parse(change.strip_prefix("+ ").expect("a sum")),
    };
    let width = digits.len() - digits.trim_start_matches('0').len();
    let zeros = if value == 0 { width - 1 } else { width };
    let text = match (hex, digits == lower) {
        (false, _) => new.to_string(),
        (true, true) => format!("{new:x}"),
        (true, false) => format!("{new:X}"),
    };
    Some(Some("0".repeat(zeros) + &text))
}
