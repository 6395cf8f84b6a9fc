//! Writes calls that are computed from samples as X events, which any viewer draws.

use std::borrow::Cow;
use tracemill_analysis::entries::Entry;
use tracemill_analysis::value::clock::TickRange;
use tracemill_analysis::value::space::Space;
use tracemill_analysis::{CallRow, TableRules, Trace, View};
use tracemill_pipeline::is_plain_name;
use tracemill_tokenizer::{Nanos, unescaped_text, validate_value};
use tracemill_trace::json::{push_integer, push_string};
use tracemill_trace::output::draft::Draft;
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::threads::try_each;
use tracemill_trace::spill::SpillVec;
use tracemill_trace::store::entry::{Entry as EventEntry, rank};
use tracemill_trace::store::place::Place;
use tracemill_trace::{Error, Source};
use tracemill_viewers::essential::CALLS;

/// Numbers of calls in a result of [`write_calls`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenCalls {
    /// Number of calls that are written as events.
    pub calls: u64,
    /// Number of calls left out because their start or end is not a number.
    pub untimed: u64,
}

/// Size of a write buffer in bytes.
const BLOCK: usize = 1 << 20;
/// Maximum number of temporary files. Each file becomes an input of the run that reads the calls.
const DRAFTS: usize = 64;

/// Writes the calls of the threads with the given numbers as a trace: an array of X events of
/// category [`CALLS`], one per line.
///
/// An event has the pid and tid of the input, and times in microseconds with three decimals. Its
/// `args` have url, line, column (from 0), node and sample, as far as they are known.
///
/// Start and end are rounded, instead of the duration, so nested calls stay nested. Calls outside
/// `window`, a range in microseconds on the trace's clock, are left out.
///
/// Cost: computes the flame chart of one thread at a time ([`Trace::track`]).
///
/// # Errors
/// Returns an I/O error if a temporary file fails, or the error of `write`.
pub fn write_calls(
    trace: &Trace,
    threads: &[usize],
    rules: TableRules,
    window: Option<(f64, f64)>,
    mut write: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<WrittenCalls, Error> {
    write_recorded(trace, threads, rules, window, &mut write, |_, _, _| Ok(()))
}

/// Writes the events of [`write_calls`]. `record` gets each call, with its offset and length in the
/// written text.
fn write_recorded(
    trace: &Trace,
    threads: &[usize],
    rules: TableRules,
    window: Option<(f64, f64)>,
    write: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    mut record: impl FnMut(&WrittenCall<'_>, u64, usize) -> Result<(), Error>,
) -> Result<WrittenCalls, Error> {
    let (mut written, mut before) = (WrittenCalls::default(), 0);
    let clock = trace.clock();
    let window =
        window.map(|(from, to)| TickRange { from: clock.of_micros(from), to: clock.of_micros(to) });
    let mut text = Vec::with_capacity(BLOCK + 4096);
    for thread in threads.iter().map(|&at| &trace.threads[at]) {
        if thread.model().is_none() {
            continue;
        }
        let track = trace.track(thread)?;
        let view = View::new(&track, rules);
        let nanos = |tick| clock.written_nanos(tick);
        let mut nodes = NodeTexts::new(&thread.pid, &thread.tid);
        for entry in view.drawn_calls() {
            if window.is_some_and(|window| !entry.touches(window)) {
                continue;
            }
            let Some((start, end)) = nanos(entry.ts).zip(nanos(entry.end())) else {
                written.untimed += 1;
                continue;
            };
            let Some(node) = nodes.of(&entry, &view) else { continue };
            text.extend_from_slice(if written.calls == 0 { b"[\n" } else { b",\n" });
            let call = WrittenCall { node, sample: entry.sample(), start, end };
            let begin = text.len();
            call.push(&mut text);
            record(&call, before + begin as u64, text.len() - begin)?;
            written.calls += 1;
            if text.len() > BLOCK {
                trace.limits().cancel.check()?;
                write(&text)?;
                before += text.len() as u64;
                text.clear();
            }
        }
    }
    text.extend_from_slice(if written.calls == 0 { b"[]\n" } else { b"\n]\n" });
    write(&text)?;
    Ok(written)
}

/// Writes the calls of threads to at most 64 temporary files in parallel, and returns the files as
/// inputs for other runs. Error messages of these runs call the inputs `name`.
///
/// # Errors
/// Returns an I/O error if a temporary file fails.
pub fn draft_calls(
    trace: &Trace,
    threads: &[usize],
    rules: TableRules,
    window: Option<(f64, f64)>,
    name: &str,
) -> Result<(WrittenCalls, Vec<Source>), Error> {
    let threads = threads.iter().copied().filter(|&at| trace.threads[at].model().is_some());
    let threads: Vec<usize> = threads.collect();
    // The groups depend only on the trace, so events at the same time are always in the same order.
    let groups: Vec<&[usize]> = threads.chunks(threads.len().div_ceil(DRAFTS).max(1)).collect();
    let space =
        Space::new(trace.limits().lease("calls that are written", Share::of_index(1, 4)), 1);
    let space = space.divided(groups.len());
    let drafts = try_each(trace.limits().threads, groups.len(), |at| {
        let draft = Draft::new(&trace.limits().tmp_dir)?;
        let mut entries = CallEntries { entries: space.spool(1), are_complete: true };
        let mut write = |text: &[u8]| draft.write(text);
        let record = |call: &WrittenCall<'_>, offset, len| entries.record(call, offset, len);
        let written = write_recorded(trace, groups[at], rules, window, &mut write, record)?;
        Ok::<_, Error>((written, source_of(trace, &draft, groups[at], entries, name)?))
    })?;
    let mut all = WrittenCalls::default();
    let mut sources = Vec::with_capacity(drafts.len());
    for (WrittenCalls { calls, untimed }, source) in drafts {
        all.calls += calls;
        all.untimed += untimed;
        sources.extend((calls > 0).then_some(source));
    }
    Ok((all, sources))
}

/// Returns the calls of threads as an input. If an id of a thread is not JSON, the reader validates
/// the events.
fn source_of(
    trace: &Trace,
    draft: &Draft,
    threads: &[usize],
    entries: CallEntries,
    name: &str,
) -> Result<Source, Error> {
    let mut ids = threads.iter().flat_map(|&at| [&trace.threads[at].pid, &trace.threads[at].tid]);
    match ids.all(|id| id.is_empty() || validate_value(id).is_ok()) {
        true if entries.are_complete => draft.source_with_entries(name, entries.entries.finish()?),
        true => draft.json_source(name),
        false => draft.source(name),
    }
}

/// Index entries of the written calls, with which a merge need not scan the text.
struct CallEntries {
    entries: SpillVec<EventEntry>,
    /// Whether the entries describe all calls. If not, the text must be scanned.
    are_complete: bool,
}

impl CallEntries {
    /// Limit in nanoseconds. A reader may not recover times beyond this limit exactly.
    const FAR: i64 = i64::MAX / 4;

    fn record(&mut self, call: &WrittenCall<'_>, offset: u64, len: usize) -> Result<(), Error> {
        let near = -Self::FAR..Self::FAR;
        let is_read = near.contains(&call.start) && near.contains(&call.end);
        self.are_complete &= is_read && call.node.is_plain && !Place::is_long(len);
        if !self.are_complete {
            return Ok(());
        }
        let exact = |floor| Nanos { floor, exact: true };
        let rank = rank(exact(call.start), Some(exact(call.end - call.start)));
        self.entries.push(EventEntry { time: call.start, place: Place::new(offset, len, rank) })
    }
}

/// The text of events for calls of a node: the parts before and after their times.
#[derive(Clone, Default)]
struct NodeText {
    node: Option<u32>,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Whether calls of the node become events that an index entry can describe.
    is_plain: bool,
}

/// A direct-mapped cache of the texts of nodes.
struct NodeTexts {
    /// JSON text of pid and tid.
    ids: Vec<u8>,
    all: Vec<NodeText>,
}

/// Number of cached nodes, some hundred bytes each.
const NODES: usize = 4096;

impl NodeTexts {
    fn new(pid: &[u8], tid: &[u8]) -> Self {
        let mut ids = Vec::new();
        for (key, id) in [(&b",\"pid\":"[..], pid), (b",\"tid\":", tid)] {
            if !id.is_empty() {
                ids.extend_from_slice(key);
                ids.extend_from_slice(id);
            }
        }
        NodeTexts { ids, all: vec![NodeText::default(); NODES] }
    }

    /// Returns the text for the node of a call. Returns `None` if the thread has no profile.
    fn of(&mut self, entry: &Entry, view: &View<'_>) -> Option<&NodeText> {
        let NodeTexts { ids, all } = self;
        let text = &mut all[entry.kind as usize % NODES];
        if text.node != Some(entry.kind) {
            text.write(&view.call_row(entry)?, ids);
            text.node = Some(entry.kind);
        }
        Some(text)
    }
}

impl NodeText {
    fn write(&mut self, call: &CallRow<'_>, ids: &[u8]) {
        let NodeText { head, tail, is_plain, .. } = self;
        let name = if call.name.is_empty() { "(anonymous)".into() } else { plain(call.name) };
        *is_plain = is_plain_name(&name);
        head.clear();
        head.extend_from_slice(b"{\"name\":");
        push_string(&name, head);
        head.extend_from_slice(b",\"cat\":");
        push_string(CALLS, head);
        head.extend_from_slice(b",\"ph\":\"X\"");
        head.extend_from_slice(ids);
        head.extend_from_slice(b",\"ts\":");
        tail.clear();
        tail.extend_from_slice(b",\"args\":{\"node\":");
        push_integer(call.node, tail);
        if !call.url.is_empty() {
            tail.extend_from_slice(b",\"url\":");
            push_string(&plain(call.url), tail);
        }
        for (key, number) in [(&b",\"line\":"[..], call.line), (b",\"column\":", call.column)] {
            if let Some(number) = number {
                tail.extend_from_slice(key);
                push_integer(number, tail);
            }
        }
    }
}

/// Unescapes a text, and replaces invalid UTF-8.
fn plain(text: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(text).map_or_else(|_| unescaped_text(text).into(), Cow::Borrowed)
}

/// A call in the form in which it is written, with times in nanoseconds.
struct WrittenCall<'n> {
    node: &'n NodeText,
    sample: Option<u32>,
    start: i64,
    end: i64,
}

impl WrittenCall<'_> {
    fn push(&self, out: &mut Vec<u8>) {
        let WrittenCall { node, sample, start, end } = *self;
        out.extend_from_slice(&node.head);
        push_decimals(start, out);
        out.extend_from_slice(b",\"dur\":");
        push_decimals(end - start, out);
        out.extend_from_slice(&node.tail);
        if let Some(sample) = sample {
            out.extend_from_slice(b",\"sample\":");
            push_integer(sample, out);
        }
        out.extend_from_slice(b"}}");
    }
}

/// Writes nanoseconds as microseconds with three decimals.
fn push_decimals(nanos: i64, out: &mut Vec<u8>) {
    if nanos < 0 {
        out.push(b'-');
    }
    let size = nanos.unsigned_abs();
    push_integer(size / 1000, out);
    let digit = |ten: u64| b'0' + (size / ten % 10) as u8;
    out.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_analysis::value::clock::Clock;

    #[test]
    fn times_have_three_decimals() {
        let text = |nanos| {
            let mut out = Vec::new();
            push_decimals(nanos, &mut out);
            String::from_utf8(out).expect("digits")
        };
        assert_eq!([text(0), text(1_500), text(-70)], ["0.000", "1.500", "-0.070"]);
        let nanos = |micros| Clock::default().written_nanos(micros);
        assert_eq!((nanos(1.0004), nanos(f64::NAN), nanos(1e300)), (Some(1000), None, None));
    }

    #[test]
    fn written_calls_have_all_known_args() {
        let call = CallRow {
            ts: 1.0,
            dur: 2.0,
            name: b"",
            url: b"a\"b",
            line: Some(3),
            column: None,
            node: 7,
            sample: None,
        };
        let (mut node, mut out) = (NodeText::default(), Vec::new());
        node.write(&call, &NodeTexts::new(b"1", b"\"t\"").ids);
        WrittenCall { node: &node, sample: call.sample, start: 1000, end: 3000 }.push(&mut out);
        let expected = r#"{"name":"(anonymous)","cat":"v8.calls","ph":"X","pid":1,"tid":"t","ts":1.000,"dur":2.000,"args":{"node":7,"url":"a\"b","line":3}}"#;
        assert_eq!(String::from_utf8(out).expect("JSON"), expected);
    }
}
