//! `redact`: replaces addresses, paths and user names in a trace by placeholders.
//!
//! ```text
//!   inputs ─ convert with repair ─> draft: JSON ─ strings, on all threads ─> output
//! ```
//!
//! The draft is valid JSON, so quotes delimit strings, and it can be split at any line break. All
//! strings are redacted: strings in events, `stackFrames`, `metadata` and source maps, and object
//! keys. All other text is copied.
//!
//! A placeholder is a keyed hash of the text, so equal texts have equal placeholders without a
//! table.

mod rules;

pub use rules::{Redaction, Secret};

use crate::convert::convert;
use crate::fitted::plain;
use rules::{ALSO, LONG, Rules, SecretCounts};
use serde::Serialize;
use std::sync::{Mutex, PoisonError};
use tracemill_join::config::Config;
use tracemill_join::report::ConvertReport;
use tracemill_tokenizer::unescape;
use tracemill_trace::Limits;
use tracemill_trace::input::source::Source;
use tracemill_trace::output::draft::Draft;
use tracemill_trace::output::target::{OutputConfig, Style};
use tracemill_trace::output::{self, Batch, Length, Output};
use tracemill_trace::run::error::Error;

/// Minimum number of bytes in a task of a thread.
const STRETCH: usize = 1 << 20;

/// Maximum length of a string with escapes that is decoded; longer strings are replaced as a whole.
const LONG_TEXT: usize = 4 << 20;

/// The result of `redact`.
#[derive(Clone, Debug, Serialize)]
pub struct RedactReport {
    /// The report of the conversion: inputs, output, cost and warnings.
    #[serde(flatten)]
    pub written: ConvertReport,
    /// Number of replacements by kind: the names of [`Secret`], `also`, and `long` for strings
    /// replaced as a whole.
    #[serde(serialize_with = "tracemill_join::report::rows::map")]
    pub replaced: Vec<(&'static str, u64)>,
}

/// Writes `sources` in their order and form, with placeholders for the texts that `redaction`
/// selects. Invalid JSON is repaired.
///
/// Cost: a [`crate::convert()`] to a temporary file, and a pass over it on all threads. Strings
/// with escapes are decoded if they have up to 4 MiB, which takes nine times their length; longer
/// strings are replaced as a whole.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tracemill_pipeline::{Config, OutputConfig, Redaction, Secret, Source, redact};
/// # let folder = tempfile::tempdir()?;
/// # let trace = folder.path().join("trace.json");
/// # std::fs::write(&trace, r#"[{"ph":"i","ts":1,"args":{"file":"/home/anna/secret/plan.js"}}]"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let safe = Arc::new(Mutex::new(Vec::new()));
/// let output = OutputConfig::writer(Arc::clone(&safe));
/// let redaction = Redaction { secrets: vec![Secret::Path], also: Vec::new(), key: b"a key of one's own".to_vec() };
/// let report = redact(&[Source::Path(trace)], &redaction, &output, &config)?;
/// assert!(report.replaced.contains(&("path", 1)));
/// assert!(!String::from_utf8_lossy(&safe.lock().unwrap()).contains("anna"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`crate::convert()`].
pub fn redact(
    sources: &[Source],
    redaction: &Redaction,
    output: &OutputConfig,
    config: &Config,
) -> Result<RedactReport, Error> {
    config.limits.check()?;
    output::check(output, &sources.iter().collect::<Vec<_>>())?;
    let rules = Rules::of(redaction)?;
    let draft = Draft::new(&config.limits.tmp_dir)?;
    let to = OutputConfig { format: output.format, ..draft.output() }.called_like(output);
    let converted = convert(sources, Style::Keep, &to, &plain(config));
    let mut written = converted.map_err(|error| draft.error(error))?;
    let mapped = draft.map()?;
    let text = mapped.as_deref().unwrap_or_default();
    let (counts, bytes) = write(text, &rules, output, &config.limits)?;
    written.run.bytes = bytes;
    let names =
        [Secret::ALL[0].name(), Secret::ALL[1].name(), Secret::ALL[2].name(), "also", "long"];
    debug_assert!(names[ALSO] == "also" && names[LONG] == "long");
    let replaced = names.into_iter().zip(counts).filter(|&(_, count)| count > 0).collect();
    Ok(RedactReport { written, replaced })
}

/// Redacts the text on all threads. Returns the number of replacements, and of bytes written.
fn write(
    text: &[u8],
    rules: &Rules,
    output: &OutputConfig,
    limits: &Limits,
) -> Result<(SecretCounts, u64), Error> {
    let sink = Output::create(output, limits, Length::Unknown)?;
    let next = Mutex::new((0usize, 0usize));
    let work = || {
        let mut worker = Worker {
            rules: rules.clone(),
            counts: [0; 5],
            bytes: 0,
            plain: Vec::new(),
            places: Vec::new(),
        };
        let mut buffer = Vec::new();
        while let Some((number, chunk)) = take(text, &next) {
            let mut batch = sink.batch(number, 0, &mut buffer);
            worker.redact(chunk, &mut batch)?;
            batch.finish()?;
        }
        Ok((worker.counts, worker.bytes))
    };
    let (mut counts, mut bytes) = ([0; 5], 0);
    for (worker_counts, written) in sink.fill(limits, work, || {})? {
        counts.iter_mut().zip(worker_counts).for_each(|(sum, count)| *sum += count);
        bytes += written;
    }
    sink.finish().map(|()| (counts, bytes))
}

/// Returns the next chunk, which ends after a line break, and its number. Returns `None` at the
/// end.
fn take<'t>(text: &'t [u8], next: &Mutex<(usize, usize)>) -> Option<(usize, &'t [u8])> {
    let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
    let (number, start) = *next;
    if start >= text.len() {
        return None;
    }
    let least = text.len().min(start + STRETCH);
    let end = memchr::memchr(b'\n', &text[least..]).map_or(text.len(), |at| least + at + 1);
    *next = (number + 1, end);
    Some((number, &text[start..end]))
}

struct Worker {
    rules: Rules,
    counts: SecretCounts,
    bytes: u64,
    /// A decoded string, and the offset of each byte in the escaped string.
    plain: Vec<u8>,
    places: Vec<usize>,
}

impl Worker {
    fn redact(&mut self, chunk: &[u8], batch: &mut Batch<'_>) -> Result<(), Error> {
        let mut rest = chunk;
        while let Some(quote) = memchr::memchr(b'"', rest) {
            let (before, text) = rest.split_at(quote + 1);
            let end = end_of(text);
            self.push(before, batch)?;
            self.string(&text[..end], batch)?;
            rest = &text[end..];
            // the closing quote
            let close = rest.len().min(1);
            self.push(&rest[..close], batch)?;
            rest = &rest[close..];
        }
        self.push(rest, batch)
    }

    fn push(&mut self, bytes: &[u8], batch: &mut Batch<'_>) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        batch.push(bytes)
    }

    /// Writes the content of a string, redacted.
    fn string(&mut self, text: &[u8], batch: &mut Batch<'_>) -> Result<(), Error> {
        if !self.rules.may_match(text) {
            return self.push(text, batch);
        }
        if memchr::memchr(b'\\', text).is_none() {
            let replacements = self.rules.replacements(text, &mut self.counts);
            let mut at = 0;
            for (start, (end, by)) in replacements {
                self.push(&text[at..start], batch)?;
                self.push(&by, batch)?;
                at = end;
            }
            return self.push(&text[at..], batch);
        }
        if text.len() > LONG_TEXT {
            self.counts[LONG] += 1;
            let by = [b"redacted-", &*self.rules.placeholder(text)].concat();
            return self.push(&by, batch);
        }
        self.decode(text);
        let plain = std::mem::take(&mut self.plain);
        let mut at = 0;
        for (start, (end, by)) in self.rules.replacements(&plain, &mut self.counts) {
            let [start, end] = [start, end].map(|place| self.places[place]);
            self.push(&text[at..start], batch)?;
            self.push(&by, batch)?;
            at = end;
        }
        self.plain = plain;
        self.push(&text[at..], batch)
    }

    fn decode(&mut self, text: &[u8]) {
        self.plain.clear();
        self.places.clear();
        let mut at = 0;
        while at < text.len() {
            let len = unit(&text[at..]);
            match text[at] {
                b'\\' => unescape(&text[at..at + len], &mut self.plain),
                byte => self.plain.push(byte),
            }
            self.places.resize(self.plain.len(), at);
            at += len;
        }
        self.places.push(text.len());
    }
}

/// Returns the end of the string whose content starts at `text`.
fn end_of(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &text[at..]) {
        at += found;
        if text[at] == b'"' {
            return at;
        }
        at = text.len().min(at + 2);
    }
    text.len()
}

/// Returns the length of the escape at the start of `text`, including both halves of a surrogate
/// pair; 1 without an escape.
fn unit(text: &[u8]) -> usize {
    let is_half = |at: usize, second: &[u8]| {
        text.get(at..at + 3)
            .is_some_and(|escape| escape[..2] == *b"\\u" && escape[2].eq_ignore_ascii_case(&b'd'))
            && text.get(at + 3).is_some_and(|digit| second.contains(&digit.to_ascii_lowercase()))
    };
    let len = match text {
        [b'\\', b'u', ..] if is_half(0, b"89ab") && is_half(6, b"cdef") => 12,
        [b'\\', b'u', ..] => 6,
        [b'\\', ..] => 2,
        _ => 1,
    };
    len.min(text.len())
}
