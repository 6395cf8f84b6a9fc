//! Tests of scans: what observers receive and the index keeps, for all ways to cut inputs.

mod cuts;
mod inputs;

use tracemill_tokenizer::{Damage, Event, Form, Member, Note};
use tracemill_trace::event::envelope::ChunkStats;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{
    EventRef, InputStart, Keep, Look, Needs, Nothing, Observer, Scan, Scanned, SealedChunk, Starter,
};
use tracemill_trace::read::TracesOnly;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::{Limits, Shares};

/// Everything that an observer receives, in merge order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    events: Vec<(u64, Vec<u8>)>,
    times: Vec<Option<i64>>,
    documents: u64,
    keys: Vec<Vec<u8>>,
    damage: u64,
    notes: Vec<Note>,
    sealed: u64,
}

impl Look for Seen {
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.events.push((at.offset, event.bytes.to_vec()));
        self.times.push(at.time());
        true
    }

    fn document(&mut self, _: Form) {
        self.documents += 1;
    }

    fn member(&mut self, member: &Member<'_>) {
        self.keys.push(member.key.to_vec());
    }

    fn damage(&mut self, _: &Damage<'_>) {
        self.damage += 1;
    }

    fn note(&mut self, note: Note, _: u64) {
        self.notes.push(note);
    }

    fn seal(&mut self, _: &mut ChunkStats) {
        self.sealed += 1;
    }
}

#[derive(Debug, Default)]
struct Recorder {
    seen: Seen,
    /// Name, number, and whether the events are synthetic.
    starts: Vec<(String, usize, bool)>,
    /// Input index and base of each chunk.
    chunks: Vec<(usize, u64)>,
    kept: u64,
    needs: Needs,
}

impl Observer for Recorder {
    type Chunk = Seen;

    fn needs(&self) -> Needs {
        self.needs
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        self.starts.push((input.name.to_owned(), input.number, input.synthetic));
    }

    fn starter(&self) -> Starter<Seen> {
        Box::new(|_| Seen::default())
    }

    fn merge(&mut self, found: Seen, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        assert_eq!(found.sealed, 1, "a chunk is sealed once, before it is merged");
        assert_eq!(chunk.stats.events, found.events.len() as u64);
        let all = &mut self.seen;
        all.events.extend(found.events);
        all.times.extend(found.times);
        all.documents += found.documents;
        all.keys.extend(found.keys);
        all.damage += found.damage;
        all.notes.extend(found.notes);
        self.kept += chunk.kept_events;
        self.chunks.push((chunk.input, chunk.base));
        Ok(())
    }
}

/// Selects events whose length is divisible by a number.
#[derive(Clone)]
struct EveryNth(u64);

impl Look for EveryNth {
    fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
        (event.bytes.len() as u64).is_multiple_of(self.0)
    }
}

impl Observer for EveryNth {
    type Chunk = EveryNth;

    fn starter(&self) -> Starter<EveryNth> {
        let look = self.clone();
        Box::new(move |_| look.clone())
    }

    fn merge(&mut self, _: EveryNth, _: &SealedChunk<'_>) -> Result<(), Error> {
        Ok(())
    }
}

fn limits() -> Limits {
    Limits::new(1, 64 << 20, std::env::temp_dir())
}

/// Creates limits with chunks of 64 bytes, which spill after a few events.
fn tiny(threads: usize) -> Limits {
    let shares = Shares { payload: 300, index: 200, chunk: 64, segment: 100 };
    Limits { shares: Some(shares), ..Limits::new(threads, 64 << 20, std::env::temp_dir()) }
}

fn scan<K: Keep, O: Observer>(text: &str, keep: K, observer: O) -> Scanned<K, O> {
    let sources = [Source::bytes("a.json", text.to_owned())];
    let (limits, mut expand) = (limits(), TracesOnly);
    let scan = Scan::new(&sources, &limits, &mut expand).keep(keep).observe(observer);
    scan.run().expect("the text is a trace")
}

const TEXT: &str = concat!(
    r#"{"traceEvents":[{"ph":"M","name":"a"},{"ph":"X","ts":2.5,"dur":1},{"ph":"i","ts":1},"#,
    r#"{"ph":"i"}],"displayTimeUnit":"ms"}"#,
);

#[test]
fn looks_see_every_event_and_the_index_keeps_those_all_accept() {
    let observers =
        (Recorder::default(), EveryNth(7), Some(EveryNth(3)), ((), Recorder::default()));
    let scanned = scan(TEXT, Nothing, observers);
    let (first, _, _, ((), last)) = scanned.observed;
    assert_eq!(first.seen, last.seen);
    assert_eq!(first.seen.events.len(), 4);
    let kept = first.seen.events.iter().filter(|(_, bytes)| bytes.len().is_multiple_of(21));
    let kept: Vec<u64> = kept.map(|(_, bytes)| bytes.len() as u64).collect();
    assert!(!kept.is_empty() && kept.len() < 4, "{kept:?}");
    assert_eq!((scanned.index.events, scanned.index.bytes), (kept.len() as u64, kept.iter().sum()));
    assert_eq!((first.kept, scanned.inputs.reports[0].events), (kept.len() as u64, 4));
}

#[test]
fn absent_observer_changes_nothing() {
    let absent: Option<EveryNth> = None;
    let scanned = scan(TEXT, Nothing, (absent, Recorder::default()));
    let alone = scan(TEXT, Nothing, Recorder::default());
    let empty = scan(TEXT, Nothing, ());
    assert_eq!(scanned.observed.1.seen, alone.observed.seen);
    assert_eq!((scanned.index.events, alone.index.events, empty.index.events), (4, 4, 4));
    assert_eq!(empty.index.documents.len(), 1);
}

#[test]
fn borrowed_observer_keeps_its_findings() {
    let mut recorder = Recorder::default();
    scan(TEXT, Nothing, (&mut recorder, ()));
    assert_eq!((recorder.seen.events.len(), recorder.starts.len()), (4, 1));
}

#[test]
fn needs_of_observers_are_combined() {
    let proof =
        Recorder { needs: Needs { proof: true, reserved: 7, ..Needs::NONE }, ..Default::default() };
    let bytes = Recorder {
        needs: Needs { input_bytes: true, reserved: 9, ..Needs::NONE },
        ..Recorder::default()
    };
    let both = (proof, (Some(bytes), None::<Recorder>, ()));
    let expected = Needs { proof: true, input_bytes: true, reserved: 9, ..Needs::NONE };
    assert_eq!(both.needs(), expected);
    // reserved bytes precede the first input
    let scanned = scan("[{}]", Nothing, both);
    assert_eq!(scanned.observed.0.seen.events[0].0, 10);
}

#[test]
fn looks_see_damage_notes_documents_and_keys() {
    let seen_in = |text| {
        let observers = (Recorder::default(), Recorder::default());
        let Scanned { inputs, observed: (first, second), .. } = scan(text, Nothing, observers);
        assert_eq!(first.seen, second.seen);
        (first.seen, inputs.reports[0].clone())
    };
    let (seen, _) = seen_in(r#"{"a":1,"traceEvents":[{"ts":1}{"ts":2}],"b":{}}[{"ts":3}"#);
    assert_eq!(seen.keys, [b"\"a\"".to_vec(), b"\"b\"".to_vec()]);
    assert_eq!((seen.events.len(), seen.documents, seen.damage), (3, 2, 0));
    assert_eq!(seen.notes, [Note::Separators, Note::Unclosed]);
    let (seen, report) = seen_in(r#"[{"ts":1},{"name":"a"b"}]"#);
    assert_eq!((seen.damage, report.losses.count(), report.events), (1, 1, 1));
}

#[test]
fn observer_error_ends_the_scan() {
    struct Failing;

    impl Observer for Failing {
        type Chunk = ();

        fn starter(&self) -> Starter<()> {
            Box::new(|_| ())
        }

        fn merge(&mut self, (): (), _: &SealedChunk<'_>) -> Result<(), Error> {
            Err(Error::scratch(std::path::Path::new("folder"), std::io::Error::other("no more")))
        }
    }

    let sources = [Source::bytes("a.json", TEXT), Source::bytes("b.json", TEXT)];
    let (limits, mut expand, mut recorder) = (limits(), TracesOnly, Recorder::default());
    let scan = Scan::new(&sources, &limits, &mut expand).observe((&mut recorder, Failing));
    let error = scan.run().err().expect("the observer fails");
    assert!(error.to_string().contains("no more"), "{error}");
    assert_eq!(recorder.starts.len(), 1, "the second input is not read");
}
