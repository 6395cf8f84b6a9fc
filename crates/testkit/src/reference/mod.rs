//! The naive reference: the output that `tracemill merge` must write, byte for byte, for
//! well-formed inputs.
//!
//! Everything is in memory and simple: documents are read with `serde_json` as raw text, sorted
//! with one stable sort, and joined again. The reference returns an error for damaged input.

mod annotations;
mod check;
mod cpuprofile;
mod decimal;
mod filter;
mod format;
mod granules;
mod info;
mod keys;
mod moved;
mod order;
mod pages;
mod pairing;
mod profile;
mod read;
mod rename;
mod repeated;
mod slice;
mod split;
mod start;
#[cfg(test)]
mod tests;
mod time;
mod used;
mod viewer;
mod write;

use std::ops::Range;

pub use annotations::{Annotations, Unread, annotations};
pub use check::{KINDS, check};
pub use cpuprofile::{CpuProfile, Node, StreamProfile, cpu_profiles};
pub use decimal::Decimal;
pub use filter::{Criteria, filter};
pub use format::Format;
pub use granules::{Granule, granules};
pub use info::{ByName, Info, Sums, info, trace_start};
pub use moved::{Clock, shift};
pub use read::is_ambiguous;
use read::{Fields, Source};
pub use rename::{Renames, rename};
pub use slice::{Edges, Window, slice};
pub use split::{SplitBy, SplitPart, split};
pub use time::time;
pub use viewer::{ViewerEvent, for_devtools, members, with_characters};

/// Facts about a merge apart from its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes {
    /// The format written.
    pub format: Format,
    /// Number of traces in the inputs; an input may contain no trace or several traces.
    pub sources: usize,
    /// Number of events written.
    pub events: usize,
    /// Number of CPU profile streams without a consistent order, written in time order.
    pub inconsistent_profiles: usize,
    /// Number of profile chunks written after later events, because a chunk must follow its
    /// predecessor.
    pub delayed_chunks: usize,
    /// Number of events left out as repetitions of a split.
    pub copies: usize,
    /// Top-level keys, as JSON strings, that an array cannot hold.
    pub lost_keys: Vec<String>,
}

/// Returns the expected output of merging well-formed `inputs`, in `format` or else in the format
/// of the inputs.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn merge(inputs: &[&[u8]], format: Option<Format>) -> Result<Vec<u8>, String> {
    merge_with_notes(inputs, format).map(|(output, _)| output)
}

/// Returns the result of [`merge`], and the facts that the program should report.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn merge_with_notes(
    inputs: &[&[u8]],
    format: Option<Format>,
) -> Result<(Vec<u8>, Notes), String> {
    let mut sources = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        sources.extend(read::sources(input).map_err(|e| format!("input {index}: {e}"))?);
    }
    let copies = repeated::leave_out(&mut sources);
    let format = format.unwrap_or_else(|| default_format(&sources));
    let events: Vec<&str> = sources.iter().flat_map(|s| s.events.iter().copied()).collect();
    let order = order::output_order(&events);
    let sorted: Vec<&str> = order.events.iter().map(|&i| events[i]).collect();
    let mut keys = keys::unite(&sources);
    let mut lost_keys = Vec::new();
    if format == Format::Array {
        lost_keys = keys.drain(..).map(|(key, _)| key).collect();
    }
    let output = write::trace(format, &sorted, &keys);
    let notes = Notes {
        format,
        sources: sources.len(),
        events: sorted.len(),
        inconsistent_profiles: order.inconsistent_profiles,
        delayed_chunks: order.delayed_chunks,
        copies,
        lost_keys,
    };
    Ok((output, notes))
}

fn default_format(sources: &[Source<'_>]) -> Format {
    match sources.first().map(|s| s.format) {
        None => Format::Object,
        Some(Format::Array) if sources.iter().any(|s| !s.keys.0.is_empty()) => Format::Object,
        Some(format) => format,
    }
}

/// One event with its envelope values as raw JSON text. The last of equal members wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields carry the names of the trace event format")]
pub struct RawEvent {
    /// Text of the event, from `{` to `}`.
    pub bytes: Vec<u8>,
    /// Byte range of the event in the input; offsets count a byte order mark.
    pub span: Range<usize>,
    /// Index of the trace that contains the event, among the traces of the input.
    pub source: usize,
    pub ph: Option<String>,
    pub ts: Option<String>,
    pub dur: Option<String>,
    pub tts: Option<String>,
    pub tdur: Option<String>,
    pub pid: Option<String>,
    pub tid: Option<String>,
    pub name: Option<String>,
    pub cat: Option<String>,
    pub id: Option<String>,
    pub id2: Option<String>,
    pub bind_id: Option<String>,
    pub scope: Option<String>,
    pub s: Option<String>,
    pub bp: Option<String>,
    pub sf: Option<String>,
    pub args: Option<String>,
    /// All members in order, including duplicates: key and value as written.
    pub members: Vec<(String, String)>,
}

impl RawEvent {
    /// Returns the raw value of the last member whose unescaped name is `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut members = self.members.iter().rev();
        members.find(|(key, _)| read::is_string(key, name)).map(|(_, value)| value.as_str())
    }
}

/// Returns all events of a well-formed input, in input order.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn events(input: &[u8]) -> Result<Vec<RawEvent>, String> {
    let mut events = Vec::new();
    for (index, source) in read::sources(input)?.iter().enumerate() {
        for event in &source.events {
            let start = event.as_ptr().addr() - input.as_ptr().addr();
            events.push(raw_event(event, start, index)?);
        }
    }
    Ok(events)
}

fn raw_event(text: &str, start: usize, source: usize) -> Result<RawEvent, String> {
    let fields = Fields::parse(text).ok_or("an event is no object")?;
    let value = |name: &str| fields.get(name).map(str::to_owned);
    Ok(RawEvent {
        bytes: text.as_bytes().to_vec(),
        span: start..start + text.len(),
        source,
        ph: value("ph"),
        ts: value("ts"),
        dur: value("dur"),
        tts: value("tts"),
        tdur: value("tdur"),
        pid: value("pid"),
        tid: value("tid"),
        name: value("name"),
        cat: value("cat"),
        id: value("id"),
        id2: value("id2"),
        bind_id: value("bind_id"),
        scope: value("scope"),
        s: value("s"),
        bp: value("bp"),
        sf: value("sf"),
        args: value("args"),
        members: fields.0.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect(),
    })
}

/// Returns the unescaped content of a quoted JSON string; lone surrogates become three bytes
/// (WTF-8). Returns `None` if `raw` is not a string.
#[must_use]
pub fn string_content(raw: &str) -> Option<Vec<u8>> {
    serde_json::from_str::<&serde_json::value::RawValue>(raw).ok()?;
    read::unescape(raw)
}
