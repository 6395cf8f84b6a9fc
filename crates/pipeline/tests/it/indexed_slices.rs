//! A slice by an index equals a slice by a scan in bytes, report and messages.

use crate::index::{Uses, index_bytes, of_files};
use crate::run::{Folder, Knobs, PLAIN, config, output_to, read};
use crate::spans::Trace;
use std::path::Path;
use std::sync::atomic::Ordering;
use tracemill_index::slice;
use tracemill_join::config::{CheckFor, Config, IndexUse, ViewerRules};
use tracemill_pipeline::SliceReport;
use tracemill_testkit::damage::any_damage;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::limits::Progress;
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};
use tracemill_trace::{Error, Source};

type Sliced = Result<(Vec<u8>, SliceReport), Error>;

fn sliced(path: &Path, windows: &[TimeWindow], edges: Edges, config: &Config) -> Sliced {
    let folder = Folder::new();
    let target = folder.path("out");
    let sources = [Source::Path(path.to_owned())];
    let report = slice(&sources, windows, edges, &output_to(&target, None), config)?;
    Ok((read(&target), report))
}

/// Asserts that a slice is the same with and without an index. Returns the bytes read by the index,
/// or why it was not used.
#[track_caller]
pub(crate) fn same(
    what: &str,
    path: &Path,
    windows: &[TimeWindow],
    edges: Edges,
    knobs: Knobs,
    viewer: Option<CheckFor>,
) -> Result<u64, &'static str> {
    let viewer = ViewerRules { viewer, ..ViewerRules::default() };
    let plain = config(Knobs { budget: None, chunk: 1 << 20, ..knobs });
    let scanned = sliced(path, windows, edges, &Config { viewer, ..plain });
    let with = Config { index: IndexUse::Auto, viewer, ..config(knobs) };
    let answered = sliced(path, windows, edges, &with);
    let (expected, found) = match (scanned, answered) {
        (Ok(expected), Ok(found)) => (expected, found),
        (Err(expected), Err(found)) => {
            assert_eq!(expected.to_string(), found.to_string(), "{what}");
            return Err("a failure");
        }
        (expected, found) => panic!("{what}: {:?} {:?}", expected.err(), found.err()),
    };
    let (bytes, mut report) = found;
    let used = report.index.take().map(|(_, read)| read);
    let why = report.index_unused.take().unwrap_or("it was refused");
    if used.is_some() && viewer.viewer.is_none() {
        let Progress { bytes_expected, bytes_scanned, .. } = &*with.limits.progress;
        let [expected, scanned] =
            [bytes_expected, bytes_scanned].map(|n| n.load(Ordering::Relaxed));
        assert_eq!(scanned, expected, "{what}: the progress of what is read");
    }
    // costs may differ
    report.written.spilled_runs = expected.1.written.spilled_runs;
    report.written.run.spooled_bytes = expected.1.written.run.spooled_bytes;
    assert_eq!(format!("{report:?}"), format!("{:?}", expected.1), "{what}, used: {used:?}");
    let differs = bytes.iter().zip(&expected.0).position(|(a, b)| a != b);
    let around = |bytes: &[u8]| {
        let at = differs.unwrap_or(bytes.len().min(expected.0.len()));
        bytes[at.saturating_sub(150)..bytes.len().min(at + 150)].escape_ascii().to_string()
    };
    assert!(
        bytes == expected.0,
        "{what}, used: {used:?}\n{}\n{}",
        around(&bytes),
        around(&expected.0)
    );
    used.ok_or(why)
}

/// Generates up to three windows, mostly short, inside and outside the range of a trace.
pub(crate) fn windows(rng: &mut Rng, (first, last): (i64, i64)) -> Vec<TimeWindow> {
    let range = last.saturating_sub(first);
    let most = (range / [200, 50, 10][rng.index(3)]).max(2);
    let count = [1, 1, 1, 2, 3][rng.index(5)];
    let near = first.saturating_add(rng.below(range.max(1) as u64) as i64);
    let one = |rng: &mut Rng| {
        let from = near.saturating_add(rng.below(3 * (most as u64)) as i64);
        let to = from.saturating_add(1 + rng.below(most as u64) as i64);
        match rng.below(8) {
            0 => TimeWindow { from: Some(Moment::At(to.saturating_sub(most))), to: None },
            1 => TimeWindow { from: None, to: Some(Moment::FromStart(most)) },
            2 => TimeWindow { from: Some(Moment::BeforeEnd(most)), to: None },
            3 => TimeWindow {
                from: Some(Moment::FromStart(from.saturating_sub(first))),
                to: Some(Moment::FromStart(to.saturating_sub(first))),
            },
            _ => TimeWindow { from: Some(Moment::At(from)), to: Some(Moment::At(to)) },
        }
    };
    (0..count).map(|_| one(rng)).collect()
}

pub(crate) const EDGES: [Edges; 3] = [Edges::Clip, Edges::Keep, Edges::Drop];

/// Converts an array with an event per line to NDJSON.
fn on_lines(text: &str) -> Vec<u8> {
    let events = text.lines().filter(|line| line.starts_with('{'));
    events.flat_map(|line| [line.trim_end_matches(','), "\n"]).collect::<String>().into_bytes()
}

pub(crate) fn any_trace(seed: u64, rng: &mut Rng) -> Vec<u8> {
    let text = match seed % 4 {
        0 if seed % 8 == 4 => on_lines(&Trace::new(seed, 500, true).text),
        0 | 1 => Trace::new(seed, 500, true).text.into_bytes(),
        2 => {
            let shape = TraceShape { documents: 1, ..TraceShape::arbitrary(rng) };
            let odd = if rng.chance(70) { 0 } else { shape.odd };
            trace(seed, &TraceShape { events: 1500, odd, ..shape })
        }
        _ => trace(seed, &TraceShape::arbitrary(rng)),
    };
    if seed % 8 == 7 {
        let events = reference::events(&text).expect("well-formed");
        let spans: Vec<_> = events.into_iter().map(|event| event.span).collect();
        if !spans.is_empty() {
            return any_damage(rng, &text, &spans).bytes;
        }
    }
    text
}

#[test]
fn slices_by_an_index_equal_scans() {
    let mut uses = Uses::default();
    for seed in seeds(0, 24) {
        let mut rng = Rng::new(seed);
        let text = any_trace(seed, &mut rng);
        let folder = Folder::new();
        let path = folder.file("a.json", &text);
        let everything = TimeWindow { from: None, to: Some(Moment::FromStart(i64::MAX)) };
        let Ok((_, report)) = sliced(&path, &[everything], Edges::Clip, &config(PLAIN)) else {
            continue;
        };
        index_bytes(&path, PLAIN);
        let bounds = report.trace.unwrap_or((0, 1000));
        for number in 0..12 {
            let windows = windows(&mut rng, bounds);
            let edges = EDGES[number % 3];
            let with = of_files(seed as usize * 12 + number);
            let viewer = match number % 8 {
                1 => Some(CheckFor::Devtools),
                6 => Some(CheckFor::Perfetto),
                _ => None,
            };
            let what = format!("seed {seed}, {number}: {windows:?} {edges:?} {viewer:?}");
            uses.count(same(&what, &path, &windows, edges, with, viewer), text.len());
        }
    }
    uses.assert_pays(4, 3);
    assert!(uses.unused.len() >= 4, "{uses:?}");
}

#[test]
fn changes_in_bytes_read_by_an_index_are_detected() {
    let Trace { text: events, .. } = Trace::new(5, 300, false);
    // the fingerprint of files this large covers samples only
    let pad = "x".repeat(17 << 20);
    let good = format!("{{\"pad\":\"{pad}\",\"traceEvents\":{events}}}").into_bytes();
    let folder = Folder::new();
    let path = folder.file("a.json", &good);
    index_bytes(&path, PLAIN);
    let modified = std::fs::metadata(&path).and_then(|file| file.modified()).expect("a time");
    let place = good.len() - events.len() / 2;
    let ts = |text: &[u8], from: usize| {
        let at = from + text[from..].windows(5).position(|w| w == b"\"ts\":").expect("one") + 5;
        let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = String::from_utf8_lossy(&text[at..at + digits]).into_owned();
        (at + digits - 1, text.parse::<i64>().expect("a number") * 1000)
    };
    let mut seen = 0;
    for number in 0..6 {
        let (digit, time) = ts(&good, place + number * 20_000);
        let at = |time| Some(Moment::At(time));
        let windows = [TimeWindow { from: at(time - 20_000), to: at(time + 20_000) }];
        let with = |index| Config { index, ..config(PLAIN) };
        let by_index = |index| sliced(&path, &windows, Edges::Clip, &with(index));
        let (_, report) = by_index(IndexUse::Auto).expect("sound");
        assert!(report.index.is_some(), "{:?}", report.index_unused);
        let mut changed = good.clone();
        changed[digit] = if changed[digit] == b'7' { b'8' } else { b'7' };
        std::fs::write(&path, &changed).expect("the folder takes it");
        let file = std::fs::File::options().write(true).open(&path).expect("ours");
        file.set_modified(modified).expect("ours");
        let (bytes, report) = by_index(IndexUse::Auto).expect("sound");
        let (expected, _) = by_index(IndexUse::Never).expect("sound");
        assert!(bytes == expected && report.index.is_none());
        let [warning] = &report.written.run.warnings[..] else { panic!("{report:?}") };
        seen += usize::from(warning.to_string().contains("something else than the index says"));
        let named = IndexUse::File(path.with_extension("json.tmi"));
        let error = by_index(named).expect_err("it is not that of the trace");
        assert_eq!(error.class(), ErrorClass::Input, "{error}");
        std::fs::write(&path, &good).expect("the folder takes it");
        let file = std::fs::File::options().write(true).open(&path).expect("ours");
        file.set_modified(modified).expect("ours");
    }
    assert!(seen > 3, "{seen}");
}
