//! Several inputs, synthetic events, and inputs read while output is written.

use super::{Recorder, TEXT, limits, scan};
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracemill_tokenizer::{Event, fields_of};
use tracemill_trace::event::envelope::Document;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{
    EventIndex, EventRef, InputOrder, Look, Needs, Nothing, Observer, PerInput, Scan, Scanned,
    SealedChunk, Sorted, Starter,
};
use tracemill_trace::output::draft::Draft;
use tracemill_trace::read::{Current, Expand, Expanded, InputBytes, TracesOnly};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::SpillVec;
use tracemill_trace::store::Payload;
use tracemill_trace::store::entry::{Entry, rank};
use tracemill_trace::store::place::Place;
use tracemill_trace::time::shift::Shift;

/// Derives two events from each document with `nodes`.
struct NodesToEvents;

const SYNTHETIC: &str = r#"[{"ph":"P","ts":1},{"ph":"P","ts":2}]"#;

impl Expand for NodesToEvents {
    fn begin(&mut self, _: &mut dyn Iterator<Item = &Path>) {}

    fn may_take(&self, first: &[u8]) -> bool {
        first.starts_with(b"{\"nodes")
    }

    fn takes(&self, document: &Document) -> bool {
        document.keys.iter().any(|key| &*key.key == b"\"nodes\"")
    }

    fn expand(&mut self, _: &Path, _: &Arc<Payload>, _: &Document) -> Expanded {
        let events = Box::new(Cursor::new(SYNTHETIC));
        Expanded { events, heap: 0, flaws: Arc::default(), place: None }
    }

    fn last(&mut self, _: Option<i64>) -> Option<(&'static str, Vec<u8>)> {
        Some(("last", b"[{\"ts\":9}]".to_vec()))
    }
}

#[derive(Default)]
struct Counts {
    counts: PerInput<u64>,
    ended: Vec<u64>,
}

#[derive(Default)]
struct Count(u64);

impl Look for Count {
    fn event(&mut self, _: &Event<'_>, _: &EventRef) -> bool {
        self.0 += 1;
        true
    }
}

impl Observer for Counts {
    type Chunk = Count;

    fn starter(&self) -> Starter<Count> {
        Box::new(|_| Count::default())
    }

    fn merge(&mut self, found: Count, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let Counts { counts, ended } = self;
        *counts.at(chunk.base, |last| ended.push(*last)) += found.0;
        Ok(())
    }
}

#[test]
fn synthetic_events_share_the_number_of_their_input() {
    let sources = [
        Source::bytes("a.json", TEXT),
        Source::bytes("b.cpuprofile", r#"{"nodes":[]}"#),
        Source::bytes("c.json", "[{}]"),
    ];
    let (limits, mut expand) = (limits(), NodesToEvents);
    let needs = Needs { synthetic_bytes: true, input_bytes: true, ..Needs::NONE };
    let observers = (Recorder { needs, ..Recorder::default() }, Counts::default());
    let scan = Scan::new(&sources, &limits, &mut expand);
    let Scanned { inputs, observed: (recorder, counts), .. } =
        scan.observe(observers).run().expect("sound");
    let starts: Vec<(&str, usize, bool)> = recorder
        .starts
        .iter()
        .map(|(name, number, synthetic)| (&**name, *number, *synthetic))
        .collect();
    let expected = [
        ("a.json", 0, false),
        ("b.cpuprofile", 1, false),
        ("b.cpuprofile", 1, true),
        ("c.json", 2, false),
        ("last", 3, false),
    ];
    assert_eq!(starts, expected);
    let reports: Vec<(&str, u64)> =
        inputs.reports.iter().map(|report| (&*report.name, report.events)).collect();
    assert_eq!(reports, [("a.json", 4), ("b.cpuprofile", 2), ("c.json", 1), ("last", 1)]);
    // each chunk names its report, and the bytes of its events can be read
    for (number, base) in &recorder.chunks {
        let held = inputs.payloads.iter().find(|held| held.base == *base);
        assert!(held.is_none_or(|held| held.input == *number), "{number} at {base}");
    }
    let store = inputs.store();
    for (offset, bytes) in &recorder.seen.events {
        assert_eq!(store.slice(*offset, bytes.len() as u64), bytes);
    }
    // the profile document itself has no events
    let per_input: Vec<u64> = counts.counts.into_iter().map(|(_, count)| count).collect();
    assert_eq!(per_input, [4, 0, 2, 1, 1]);
    assert_eq!(counts.ended, [4, 0, 2, 1]);
}

#[test]
fn left_out_input_takes_no_number() {
    let folder = tempfile::tempdir().expect("a folder");
    // the second text may be a trace until all of it is read
    for (name, text) in
        [("1.json", TEXT), ("2.json", r#"{"of":"ph"}"#), ("3.json", r#"[{"ph":"i"}]"#)]
    {
        std::fs::write(folder.path().join(name), text).expect("the folder takes files");
    }
    let sources = [Source::Path(folder.path().to_owned())];
    let (limits, mut expand) = (limits(), TracesOnly);
    let scan = Scan::new(&sources, &limits, &mut expand).observe(Recorder::default());
    let Scanned { inputs, observed, .. } = scan.run().expect("two are traces");
    assert_eq!((inputs.reports.len(), inputs.warnings.len()), (2, 1));
    let last = observed.starts.last().expect("the third file");
    assert!(last.0.ends_with("3.json"), "{}", last.0);
    assert_eq!(last.1, 1, "the number is that of the report");
    assert_eq!(observed.chunks.last().map(|chunk| chunk.0), Some(1));
}

#[test]
fn scan_continues_with_more_sources_and_fewer_observers() {
    let (limits, sources) = (limits(), [Source::bytes("a.json", TEXT)]);
    let keep = InputOrder::new(limits.lease("places", Share::of(1, 64)), 0);
    let mut expand = NodesToEvents;
    let scan = Scan::new(&sources, &limits, &mut expand).keep(keep);
    let first = scan.observe((Recorder::default(), Counts::default())).run_first().expect("sound");
    let Scanned { inputs, index, observed: (recorder, counts) } = first;
    assert_eq!(recorder.seen.events.len(), 4);
    let more = [Source::bytes("b.json", "[{\"ts\":5},{}]")];
    let scanned = Scanned { inputs, index, observed: counts };
    let Scanned { inputs, index, observed } =
        scanned.read_more(&more, &limits, &mut NodesToEvents).expect("sound");
    let names: Vec<&str> = inputs.reports.iter().map(|report| &*report.name).collect();
    assert_eq!(names, ["a.json", "b.json", "last"]);
    let per_input: Vec<u64> = observed.counts.into_iter().map(|(_, count)| count).collect();
    assert_eq!((per_input, index.events), (vec![4, 2, 1], 7));
    let store = inputs.store().with_long(&index.long_events);
    let places = index.kept.into_places().finish().expect("disk");
    let last = places.iter().last().map(|place| store.event(place).to_vec());
    assert_eq!(last.as_deref(), Some(&b"{\"ts\":9}"[..]));
}

#[test]
fn synthetic_events_of_a_verb_are_indexed_at_their_base() {
    let Scanned { inputs, index, .. } = scan(TEXT, Nothing, Recorder::default());
    let draft = Draft::new(&std::env::temp_dir()).expect("a file");
    draft.write(SYNTHETIC.as_bytes()).expect("it takes bytes");
    let mapped = draft.map().expect("it maps").expect("it has bytes");
    let payload = Payload::Mapped(Arc::new(mapped));
    let base = inputs.store().with_long(&index.long_events).end();
    let current = Current { before: &inputs.payloads, base, bytes: InputBytes::Payload(&payload) };
    let limits = limits();
    let keep = InputOrder::new(limits.lease("places", Share::of(1, 64)), 0);
    let added = EventIndex::of_synthetic(keep, &payload, current, &limits).expect("sound");
    let places = added.kept.into_places().finish().expect("disk");
    let offsets: Vec<u64> = places.iter().map(|place| place.offset()).collect();
    assert_eq!(offsets, [base + 1, base + 19]);
    assert_eq!((added.events, inputs.reports[0].events), (2, 4));
}

/// Returns the first part of a text, and the second part only after a merge.
struct Waiting {
    parts: Vec<String>,
    merged: Receiver<()>,
}

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.parts.len() == 1 && self.merged.recv_timeout(Duration::from_secs(60)).is_err() {
            return Err(io::Error::other("nothing was merged while the input waited"));
        }
        if self.parts.is_empty() {
            return Ok(0);
        }
        let mut part = self.parts.remove(0);
        let rest = part.split_off(part.len().min(buffer.len()));
        buffer[..part.len()].copy_from_slice(part.as_bytes());
        if !rest.is_empty() {
            self.parts.insert(0, rest);
        }
        Ok(part.len())
    }
}

/// Requests chunks at once, and reports each chunk.
struct Hurried(Mutex<Sender<()>>, u64);

impl Observer for Hurried {
    type Chunk = Count;

    fn needs(&self) -> Needs {
        Needs { streams_output: true, ..Needs::NONE }
    }

    fn starter(&self) -> Starter<Count> {
        Box::new(|_| Count::default())
    }

    fn merge(&mut self, found: Count, _: &SealedChunk<'_>) -> Result<(), Error> {
        self.1 += found.0;
        // fails after the end of the input, when no reader waits
        let sender = self.0.lock().expect("no thread panics");
        if found.0 > 0 {
            _ = sender.send(());
        }
        Ok(())
    }
}

#[test]
fn streamed_output_merges_chunks_of_a_waiting_pipe_at_once() {
    let (sender, merged) = channel();
    // more than the first bytes that are inspected
    let first = format!("[{}", "{\"ts\":1},".repeat(2000));
    let input = Waiting { parts: vec![first, "{\"ts\":3}]".to_owned()], merged };
    let sources = [Source::reader("pipe", input)];
    let (limits, mut expand) = (limits(), TracesOnly);
    let scan = Scan::new(&sources, &limits, &mut expand);
    let scan = scan.observe(Hurried(Mutex::new(sender), 0));
    assert_eq!(scan.run().expect("the input does not fail").observed.1, 2001);
}

/// Ignores plain events, and counts the events that it sees.
#[derive(Default)]
struct Ignoring(u64);

impl Observer for Ignoring {
    type Chunk = Count;

    fn starter(&self) -> Starter<Count> {
        Box::new(|_| Count::default())
    }

    fn ignores_plain_events(&self) -> bool {
        true
    }

    fn merge(&mut self, found: Count, _: &SealedChunk<'_>) -> Result<(), Error> {
        self.0 += found.0;
        Ok(())
    }
}

/// Creates a draft of three plain events, and returns their texts by time.
fn plain_events() -> (Source, [&'static str; 3]) {
    let limits = limits();
    let draft = Draft::new(&limits.tmp_dir).expect("a file");
    let texts = [
        r#"{"ph":"X","ts":3,"dur":1}"#,
        r#"{"ph":"X","ts":1,"dur":1}"#,
        r#"{"ph":"X","ts":1,"dur":5}"#,
    ];
    draft.write(format!("[{}]", texts.join(",")).as_bytes()).expect("it takes bytes");
    let mut entries = SpillVec::new(Lease::alone(16, &limits.tmp_dir));
    let mut offset = 1;
    for text in texts {
        let fields = fields_of(text.as_bytes());
        let event = fields.of(text.as_bytes());
        let (ts, dur) = (event.ts().expect("it has one"), event.dur());
        let place = Place::new(offset, text.len(), rank(ts, dur));
        entries.push(Entry { time: ts.floor, place }).expect("disk");
        offset += text.len() as u64 + 1;
    }
    let source = draft.source_with_entries("calls", entries.finish().expect("disk"));
    (source.expect("it maps"), [texts[2], texts[1], texts[0]])
}

#[test]
fn entries_of_plain_events_are_indexed_without_a_scan() {
    let (source, by_time) = plain_events();
    let limits = limits();
    // an observer of plain events, or a factor of times, requires a scan
    let half =
        || Some(Arc::new(Shift::new(0, Some(&"0.5".parse().expect("a factor"))).expect("not 1")));
    for (looks, scales) in [(false, false), (true, false), (false, true)] {
        let sources = [Source::bytes("a.json", "[{}]"), source.clone()];
        let mut keep = Sorted::new(limits.lease("entries", Share::of(1, 64)));
        if scales {
            keep = keep.scaled(Box::new(move |_| half()));
        }
        let observers = (Ignoring::default(), looks.then(Recorder::default));
        let mut expand = TracesOnly;
        let scan = Scan::new(&sources, &limits, &mut expand).keep(keep).observe(observers);
        let Scanned { inputs, index, observed: (ignoring, _) } = scan.run().expect("sound");
        assert_eq!(ignoring.0, if looks || scales { 4 } else { 1 });
        let report = &inputs.reports[1];
        let last = if scales { 1_500 } else { 3_000 };
        assert_eq!(
            (report.events, index.events, report.span.map(|span| span.1)),
            (3, 4, Some(last))
        );
        assert_eq!((index.documents.len(), index.documents[1].events), (2, 3));
        let store = inputs.store().with_long(&index.long_events);
        let (runs, _) = index.kept.into_entries().finish(&store).expect("disk");
        let texts: Vec<&[u8]> = runs.iter().map(|entry| store.event(entry.place)).collect();
        assert_eq!(texts, by_time.map(str::as_bytes));
    }
}
