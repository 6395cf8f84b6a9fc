//! Results of observers and index do not depend on chunk borders or spills.

use super::{EveryNth, Recorder, limits, tiny};
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_tokenizer::Event;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{
    Elsewhere, InputOrder, Keep, Look, Observer, Scan, Scanned, SealedChunk, Sorted, Starter,
    TimesOnly,
};
use tracemill_trace::order::{EntryRuns, Lists};
use tracemill_trace::read::TracesOnly;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::store::place::Place;

fn text_of(seed: u64) -> Vec<u8> {
    let shape = TraceShape { events: 60, big: false, ..TraceShape::arbitrary(&mut Rng::new(seed)) };
    trace(seed, &shape)
}

fn file_of(folder: &tempfile::TempDir, text: &[u8]) -> Source {
    let path = folder.path().join("a.json");
    std::fs::write(&path, text).expect("the folder takes files");
    Source::Path(path)
}

fn pipe_of(text: &[u8]) -> Source {
    Source::bytes("a.json", text.to_vec())
}

fn run<K: Keep, O: Observer>(
    source: &Source,
    limits: &Limits,
    keep: K,
    observer: O,
) -> Scanned<K, O> {
    let (sources, mut expand) = (std::slice::from_ref(source), TracesOnly);
    let scan = Scan::new(sources, limits, &mut expand).keep(keep).observe(observer);
    scan.run().expect("the text is a trace")
}

#[test]
fn observers_see_events_in_input_order_for_any_cuts() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in seeds(0, 30) {
        let text = text_of(seed);
        let events = reference::events(&text).expect("well-formed");
        let expected: Vec<(u64, &[u8])> = events
            .iter()
            .map(|event| (event.span.start as u64, &text[event.span.clone()]))
            .collect();
        let file = file_of(&folder, &text);
        for threads in [1, 2, 7] {
            let read_size = [1, 63, 64, 65, 4096][seed as usize % 5];
            let limits = Limits { read_size, ..tiny(threads) };
            for source in [file.clone(), pipe_of(&text)] {
                let recorder = run(&source, &limits, Elsewhere, Recorder::default()).observed;
                let seen = recorder.seen.events.iter().map(|(at, bytes)| (*at, &bytes[..]));
                assert!(seen.eq(expected.iter().copied()), "seed {seed}, {threads} threads");
            }
        }
    }
}

/// Returns the bytes of all timed and listed events, in any order.
fn texts(sorted: Sorted, store: &tracemill_trace::store::Store<'_>) -> Vec<Vec<u8>> {
    let (runs, lists): (EntryRuns, Lists) = sorted.into_entries().finish(store).expect("disk");
    let lists = lists.iter().map(|place| store.event(place).to_vec());
    lists.chain(runs.iter().map(|entry| store.event(entry.place).to_vec())).collect()
}

#[test]
fn kept_events_do_not_depend_on_cuts_or_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in seeds(0, 30) {
        let text = text_of(seed);
        let select = EveryNth(1 + seed % 3);
        let (file, pipe) = (file_of(&folder, &text), pipe_of(&text));
        let mut answers = Vec::new();
        for (source, limits) in [(&file, limits()), (&file, tiny(2)), (&pipe, tiny(7))] {
            let share = limits.shares().index;
            let lease = || Lease::alone(share, &limits.tmp_dir);
            let keep = (Sorted::new(lease()), InputOrder::new(lease(), 256));
            let Scanned { inputs, index, .. } = run(source, &limits, keep, select.clone());
            let store = inputs.store().with_long(&index.long_events);
            let (sorted, in_order) = index.kept;
            let places = in_order.into_places().finish().expect("disk");
            let in_order: Vec<Vec<u8>> =
                places.iter().map(|place| store.event(place).to_vec()).collect();
            assert_eq!(in_order.len() as u64, index.events);
            assert_eq!(in_order.iter().map(|bytes| bytes.len() as u64).sum::<u64>(), index.bytes);
            let (mut by_time, mut by_place) = (texts(sorted, &store), in_order.clone());
            by_time.sort();
            by_place.sort();
            assert!(by_time == by_place, "seed {seed}: both orders have the same events");
            answers.push(in_order);
        }
        let events = reference::events(&text).expect("well-formed");
        let expected = events.iter().map(|event| text[event.span.clone()].to_vec());
        let expected = expected.filter(|bytes| (bytes.len() as u64).is_multiple_of(1 + seed % 3));
        let expected = Vec::from_iter(expected);
        assert!(answers.iter().all(|answer| *answer == expected), "seed {seed}");
    }
}

#[test]
fn all_indexes_read_the_same_times() {
    for seed in seeds(0, 20) {
        let text = || pipe_of(&text_of(seed));
        let sorted = Sorted::new(limits().lease("entries", Share::of(1, 64)));
        let sorted = run(&text(), &limits(), sorted, Recorder::default());
        let only = run(&text(), &tiny(2), TimesOnly::default(), Recorder::default());
        let some = run(&text(), &tiny(1), Some(TimesOnly::default()), Recorder::default());
        let none = run(&text(), &tiny(1), None::<TimesOnly>, Recorder::default());
        assert_eq!(sorted.observed.seen.times, only.observed.seen.times, "seed {seed}");
        assert_eq!(only.observed.seen.times, some.observed.seen.times, "seed {seed}");
        assert!(none.observed.seen.times.iter().all(Option::is_none), "seed {seed}");
        assert_eq!(sorted.inputs.span(), only.inputs.span(), "seed {seed}");
        assert_eq!((none.inputs.span(), none.index.events), (None, only.index.events));
    }
}

/// Checks the documents and keys of a chunk against all earlier chunks.
#[derive(Default)]
struct DocumentCheck {
    keys: u64,
    documents: u64,
}

impl Look for DocumentCheck {
    fn event(&mut self, _: &Event<'_>, _: &tracemill_trace::observe::EventRef) -> bool {
        true
    }

    fn document(&mut self, _: tracemill_tokenizer::Form) {
        self.documents += 1;
    }

    fn member(&mut self, _: &tracemill_tokenizer::Member<'_>) {
        self.keys += 1;
    }
}

impl Observer for DocumentCheck {
    type Chunk = DocumentCheck;

    fn starter(&self) -> Starter<DocumentCheck> {
        Box::new(|_| DocumentCheck::default())
    }

    fn merge(&mut self, found: DocumentCheck, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let documents = chunk.new_documents();
        let keys = documents.iter().map(|document| document.keys.len()).sum::<usize>();
        let keys = (keys + chunk.more_keys().len()) as u64;
        assert_eq!((documents.len() as u64, keys), (found.documents, found.keys));
        self.documents += found.documents;
        self.keys += found.keys;
        assert_eq!(chunk.documents.len() as u64, self.documents);
        Ok(())
    }
}

#[test]
fn each_chunk_has_the_documents_and_keys_that_begin_in_it() {
    let keys =
        |from: u64| (from..from + 9).map(|key| format!(r#""k{key}":{key}"#)).collect::<Vec<_>>();
    let document = |from: u64| {
        let (before, after) = (keys(from).join(","), keys(from + 9).join(", "));
        format!(r#"{{{before},"traceEvents":[{{"ts":1}},{{"ts":2}}],{after}}}"#)
    };
    let text = [document(0), document(100), document(200)].join("\n");
    for threads in [1, 2] {
        for read_size in [1, 64, 4096] {
            let limits = Limits { read_size, ..tiny(threads) };
            let source = Source::bytes("a.json", text.clone());
            let observed = run(&source, &limits, Elsewhere, DocumentCheck::default()).observed;
            assert_eq!((observed.documents, observed.keys), (3, 54));
        }
    }
}

#[test]
fn long_events_are_recorded_even_if_dropped() {
    let long = format!(r#"{{"ts":1,"args":"{}"}}"#, "x".repeat(20_000));
    let text = format!(r#"[{{"ts":0}},{long},{{"ts":2}}]"#);
    let folder = tempfile::tempdir().expect("a folder");
    let source = file_of(&folder, text.as_bytes());
    let Scanned { inputs, index, .. } = run(&source, &limits(), Elsewhere, EveryNth(1 << 40));
    assert_eq!(index.events, 0);
    let store = inputs.store().with_long(&index.long_events);
    let place = Place::new(10, long.len(), 0);
    assert_eq!(store.event(place), long.as_bytes());
}
