//! What the benches share: inputs that are made once a process, in a temp folder that is removed at its end, and the
//! answers that every bench asserts before it is timed.
//!
//! ```text
//!   cargo bench -p tracemill-benches [--bench scan] [-- FILTER]     times them; see also scripts/bench
//!   cargo test -p tracemill-benches --benches                       runs each once, on small inputs
//!   TRACEMILL_BENCH_MIB=256 cargo bench …                           on inputs of another size
//! ```
//!
//! Answers come from the generator and from a search of the text ([`Answer::of_text`]), never from the code under test.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};
use tempfile::TempDir;
use tracemill_index::info;
use tracemill_inspect::info::{InfoConfig, InfoReport};
use tracemill_join::config::Config;
use tracemill_join::report::MergeReport;
use tracemill_pipeline::merge;
use tracemill_testkit::{Rng, generate};
use tracemill_tokenizer::{
    Damage, Event, Form, Member, Note, Scanner, Sink, Status, Stop, Tier, Window,
};
use tracemill_trace::Source;
use tracemill_trace::output::target::{Compression, OutputConfig, Target};

/// Size of an input where `TRACEMILL_BENCH_MIB` says nothing.
const MIB: u64 = 32;
/// The same where nothing is timed.
const MIB_IN_TESTS: u64 = 1;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Runs the benches of a binary (`divan::main`) with a temp folder for their inputs around them.
///
/// # Panics
/// If no temp folder can be made.
pub fn with_folder(main: fn()) {
    let folder = TempDir::with_prefix("tracemill-benches-").expect("the temp folder takes folders");
    FOLDER.set(folder.path().to_owned()).expect("called once");
    main();
}

/// A path in the folder of [`with_folder`].
///
/// # Panics
/// Outside of it.
pub fn path(name: &str) -> PathBuf {
    FOLDER.get().expect("benches run inside of with_folder").join(name)
}

/// Bytes of an input.
///
/// # Panics
/// If `TRACEMILL_BENCH_MIB` is no number.
pub fn size() -> u64 {
    // `cargo bench` says so to the binary; without it divan runs every bench once
    let usual = if std::env::args().any(|flag| flag == "--bench") { MIB } else { MIB_IN_TESTS };
    let mib = std::env::var("TRACEMILL_BENCH_MIB")
        .map_or(usual, |mib| mib.parse().expect("TRACEMILL_BENCH_MIB is a number"));
    mib << 20
}

/// A trace in memory and on disk.
pub struct Trace {
    /// Its file.
    pub path: PathBuf,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// What is in it.
    pub answer: Answer,
}

impl Trace {
    /// Writes a trace to the folder.
    ///
    /// # Panics
    /// If the folder does not take it.
    pub fn new(name: &str, bytes: Vec<u8>, answer: Answer) -> Self {
        let path = path(name);
        std::fs::write(&path, &bytes).expect("the folder takes files");
        Trace { path, bytes, answer }
    }

    /// As an input of a job.
    pub fn source(&self) -> Source {
        Source::Path(self.path.clone())
    }

    fn chrome(seed: u64) -> Self {
        let mut bytes = Vec::new();
        let events =
            generate::chrome_like(seed, size(), &mut bytes).expect("memory takes all bytes");
        let answer = Answer::of_text(&bytes);
        assert_eq!(answer.events, events, "the text shows every event");
        Self::new(&format!("{seed}.json"), bytes, answer)
    }
}

/// Two Chrome-like traces of [`size`] bytes: unsorted, one event a line, object form.
pub fn pair() -> &'static [Trace; 2] {
    static PAIR: LazyLock<[Trace; 2]> = LazyLock::new(|| [Trace::chrome(1), Trace::chrome(2)]);
    &PAIR
}

/// The first of [`pair`].
pub fn chrome() -> &'static Trace {
    &pair()[0]
}

/// [`chrome`], its events in order.
///
/// # Panics
/// If they are not: that would make the bench a lie.
pub fn sorted() -> &'static Trace {
    static SORTED: LazyLock<Trace> = LazyLock::new(|| {
        let target = path("merged.json");
        merge(&[chrome().source()], &to_file(&target), &config(1)).expect("the trace is sound");
        let bytes = std::fs::read(&target).expect("it was written just now");
        std::fs::remove_file(&target).expect("it is ours");
        let trace = Trace::new("sorted.json", bytes, chrome().answer);
        assert_eq!(Answer::of_text(&trace.bytes), trace.answer);
        trace
    });
    &SORTED
}

/// [`chrome`], its events in random order.
pub fn shuffled() -> &'static Trace {
    static SHUFFLED: LazyLock<Trace> = LazyLock::new(|| {
        let mut events: Vec<&[u8]> = events_of(chrome()).collect();
        Rng::new(3).shuffle(&mut events);
        let bytes = [b"{\"traceEvents\":[", events.join(&b",\n"[..]).as_slice(), b"]}\n"].concat();
        Trace::new("shuffled.json", bytes, chrome().answer)
    });
    &SHUFFLED
}

/// The bytes of every event of a trace of [`pair`], by its line breaks.
pub fn events_of(trace: &Trace) -> impl Iterator<Item = &[u8]> {
    let text = trace.bytes.strip_prefix(b"{\"traceEvents\":[").expect("the generator's opening");
    text.split(|&byte| byte == b'\n')
        .take(trace.answer.events as usize)
        .map(|line| line.strip_suffix(b"],").or(line.strip_suffix(b",")).unwrap_or(line))
}

/// A JSON text over many lines, indented by two.
pub fn pretty(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + 2 * depth, b' ');
    };
    for &byte in text {
        if in_string {
            in_string = byte != b'"' || escaped;
            escaped = byte == b'\\' && !escaped;
            out.push(byte);
            continue;
        }
        match byte {
            b'{' | b'[' => {
                depth += 1;
                out.push(byte);
                line(&mut out, depth);
            }
            b'}' | b']' => {
                depth -= 1;
                line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => {
                in_string = byte == b'"';
                out.push(byte);
            }
        }
    }
    out
}

/// What is in a trace: how many events, and the sum of their `ts` in whole microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Events.
    pub events: u64,
    /// Sum of all time stamps.
    pub ts: u64,
}

impl Answer {
    /// By a search for `"ts":`, of which the generator writes one an event.
    pub fn of_text(text: &[u8]) -> Self {
        let mut answer = Answer::default();
        let key = b"\"ts\":";
        for (at, _) in text.windows(key.len()).enumerate().filter(|(_, window)| window == key) {
            let digits = text[at + key.len()..].iter().take_while(|byte| byte.is_ascii_digit());
            answer.events += 1;
            answer.ts += digits.fold(0, |n, digit| n * 10 + u64::from(digit - b'0'));
        }
        answer
    }

    /// The answer for both traces together.
    pub fn plus(self, other: Answer) -> Self {
        Answer { events: self.events + other.events, ts: self.ts + other.ts }
    }
}

/// A sink that counts events, and nothing but them.
#[derive(Default)]
pub struct Count(pub u64);

/// A sink that counts events and adds up their `ts`; anything but an event, document or key is a panic.
#[derive(Default)]
pub struct Sum(pub Answer);

impl Sink for Count {
    fn event(&mut self, _event: &Event<'_>) {
        self.0 += 1;
    }
    fn document(&mut self, _form: Form) {}
    fn member(&mut self, _member: Member<'_>) {}
    fn damage(&mut self, damage: Damage<'_>) {
        panic!("the trace is sound: {damage:?}");
    }
    fn note(&mut self, _note: Note, _offset: u64) {}
}

impl Sink for Sum {
    fn event(&mut self, event: &Event<'_>) {
        self.0.events += 1;
        self.0.ts += event.ts().map_or(0, |ts| ts.floor as u64 / 1000);
    }
    fn document(&mut self, _form: Form) {}
    fn member(&mut self, _member: Member<'_>) {}
    fn damage(&mut self, damage: Damage<'_>) {
        panic!("the trace is sound: {damage:?}");
    }
    fn note(&mut self, _note: Note, _offset: u64) {}
}

/// Scans a whole trace into `sink`.
pub fn scan<S: Sink>(tier: Tier, bytes: &[u8], mut sink: S) -> S {
    let status = Scanner::new(tier).feed(Window::whole(bytes), Stop::NEVER, &mut sink);
    assert_eq!(status, Status::End);
    sink
}

/// Tiers that this processor can run.
pub fn tiers() -> impl Iterator<Item = Tier> {
    Tier::ALL.into_iter().filter(|tier| tier.is_available())
}

/// The knobs of a run with ample memory.
pub fn config(threads: usize) -> Config {
    Config::new(threads, 1 << 30, path(""))
}

/// Output to a file, which is replaced if it exists.
pub fn to_file(path: &Path) -> OutputConfig {
    let target = Target::File { path: path.to_owned(), replace: true };
    OutputConfig { target, format: None, compression: Compression::None }
}

/// Output to nowhere.
pub fn to_null() -> OutputConfig {
    to_file(Path::new("/dev/null"))
}

/// Merges sound traces.
///
/// # Panics
/// If that fails or anything is lost.
pub fn merged(sources: &[Source], output: &OutputConfig, config: &Config) -> MergeReport {
    let report = merge(sources, output, config).expect("the inputs are sound");
    assert_eq!(report.run.lost(), 0);
    report
}

/// Merges sound traces into a file, looks at it from all sides, removes it, and returns its length.
///
/// # Panics
/// If it is not sorted or not what `answer` says.
pub fn assert_merges(sources: &[Source], answer: Answer, config: &Config) -> u64 {
    let target = path("checked.json");
    let report = merged(sources, &to_file(&target), config);
    assert_eq!(report.run.events, answer.events);
    let bytes = std::fs::read(&target).expect("it was written just now");
    assert_eq!(report.run.bytes, bytes.len() as u64);
    assert_eq!(Answer::of_text(&bytes), answer);
    let source = Source::Path(target.clone());
    assert!(informed(&[source], config).sorted);
    std::fs::remove_file(&target).expect("it is ours");
    report.run.bytes
}

/// Counts what is in sound traces.
///
/// # Panics
/// If that fails.
pub fn informed(sources: &[Source], config: &Config) -> InfoReport {
    info(sources, &InfoConfig { top: 10, full: false, self_times: false }, config)
        .expect("the inputs are sound")
}
