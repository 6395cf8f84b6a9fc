//! Indexes agree with a scan, do not depend on the knobs, and are not used if they are invalid.

use crate::corpus::files_below;
use crate::run::{Folder, Knobs, PLAIN, config, knobs};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tracemill_index::format::{Index, Writer, event_sum, id};
use tracemill_index::{IndexConfig, IndexReport, index, info, info_with};
use tracemill_inspect::info::{InfoConfig, InfoReport};
use tracemill_join::config::{Config, IndexUse};
use tracemill_testkit::damage::any_damage;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::reference::{self, Granule};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::{Error, ErrorKind, Source};

const USUAL: InfoConfig = InfoConfig { top: 10, full: false, self_times: true };

/// Returns knobs without pipes, because only files have indexes.
pub(crate) fn of_files(number: usize) -> Knobs {
    Knobs { read_size: None, ..knobs(number) }
}

fn make(path: &Path, wanted: &IndexConfig, knobs: Knobs) -> Result<IndexReport, Error> {
    let reports = index(&[Source::Path(path.to_owned())], wanted, &config(knobs))?;
    Ok(reports.into_iter().next().expect("one a file"))
}

pub(crate) fn index_bytes(path: &Path, knobs: Knobs) -> Vec<u8> {
    let wanted = IndexConfig { replace: true, ..IndexConfig::default() };
    let report = make(path, &wanted, knobs).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let bytes = std::fs::read(&report.path).expect("it was written");
    assert_eq!(report.bytes, bytes.len() as u64);
    bytes
}

/// Counts how often verbs used an index.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    used: u32,
    all: u32,
    /// Bytes that were read by an index, and total bytes of those traces.
    read: u64,
    of: u64,
    /// Reasons why an index was not used, with counts.
    pub(crate) unused: BTreeMap<&'static str, u32>,
}

impl Uses {
    pub(crate) fn count(&mut self, run: Result<u64, &'static str>, bytes: usize) {
        self.all += 1;
        match run {
            Ok(read) => {
                self.used += 1;
                self.read += read;
                self.of += bytes as u64;
            }
            Err(why) => *self.unused.entry(why).or_insert(0) += 1,
        }
    }

    /// Asserts that more than one in `used` runs used the index, that they read less than one
    /// `read`th of their traces, and that no index was refused.
    #[track_caller]
    pub(crate) fn assert_pays(&self, used: u32, read: u64) {
        assert!(self.used * used > self.all && self.read * read < self.of, "{self:?}");
        assert_eq!(self.unused.get("it was refused"), None, "{self:?}");
    }
}

fn beside(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.tmi", path.display()))
}

fn ask(path: &Path, wanted: &InfoConfig, index: IndexUse) -> Result<InfoReport, Error> {
    info(&[Source::Path(path.to_owned())], wanted, &Config { index, ..config(PLAIN) })
}

/// Asserts that an index gives the same report as a scan. Returns whether it was used.
#[track_caller]
fn same_answer(path: &Path, wanted: &InfoConfig, what: &str) -> bool {
    let scanned = ask(path, wanted, IndexUse::Never).unwrap_or_else(|e| panic!("{what}: {e}"));
    let mut answered = ask(path, wanted, IndexUse::Auto).unwrap_or_else(|e| panic!("{what}: {e}"));
    let was_used = answered.index.take().is_some();
    assert_eq!(format!("{answered:?}"), format!("{scanned:?}"), "{what}");
    was_used
}

fn granules_of(bytes: &[u8]) -> Vec<(Granule, u64)> {
    let index = Index::open(bytes).expect("it was just made");
    let section = index.section(id::GRANULES).expect("always there");
    let mut all = Vec::new();
    for entry in &section.pages {
        let page = index.page(entry).expect("sound");
        let columns: Vec<Vec<u64>> = (0..6).map(|at| page.numbers(at).expect("numbers")).collect();
        (0..page.rows()).for_each(|row| {
            let number = |column: usize| columns[column][row];
            let [place, len, events, least, width, sum] = std::array::from_fn(number);
            let least = least as i64;
            let times = (least < i64::MAX).then(|| (least, least.wrapping_add_unsigned(width)));
            let (place, end) = (place as usize, (place + len) as usize);
            all.push((Granule { place, end, events: events as usize, times }, sum));
        });
    }
    all
}

/// Returns the sections in which two indexes differ.
fn differing(one: &[u8], other: &[u8]) -> Vec<u16> {
    let [one, other] = [one, other].map(|bytes| Index::open(bytes).expect("an index"));
    let pages = |index: &Index<'_>, id: u16| {
        let section = index.section(id);
        let pages = section.map_or(&[][..], |section| &section.pages);
        Vec::from_iter(pages.iter().map(|page| (page.raw, page.packed, page.first, page.last)))
    };
    let ids = id::ALL.iter().map(|(id, _)| *id);
    ids.filter(|id| pages(&one, *id) != pages(&other, *id)).collect()
}

#[test]
fn blocks_match_the_reference_with_all_knobs() {
    let mut many = 0;
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed);
        let shape = match seed % 4 {
            0 => TraceShape { events: 1500, ..TraceShape::arbitrary(&mut rng) },
            1 => TraceShape::plain(800),
            _ => TraceShape::arbitrary(&mut rng),
        };
        let text = trace(seed, &shape);
        let (expected, _) = reference::granules(&text).expect("well-formed");
        let folder = Folder::new();
        let path = folder.file("a.json", &text);
        let first = index_bytes(&path, PLAIN);
        let found = granules_of(&first);
        let granules: Vec<Granule> = found.iter().map(|(granule, _)| granule.clone()).collect();
        assert_eq!(granules, expected, "{seed}");
        let events = reference::events(&text).expect("well-formed");
        for (granule, sum) in found {
            let inside =
                events.iter().filter(|e| (granule.place..granule.end).contains(&e.span.start));
            let sums = inside.map(|event| event_sum(event.span.start as u64, &event.bytes));
            assert_eq!(sums.fold(0_u32, u32::wrapping_add), sum as u32, "{seed}");
        }
        for corner in 0..4 {
            let knobs = of_files(seed as usize * 4 + corner);
            let other = index_bytes(&path, knobs);
            assert!(other == first, "{seed} {knobs:?}: {:?}", differing(&first, &other));
        }
        many += usize::from(expected.len() > 20);
    }
    assert!(many > 2, "{many}");
}

#[test]
fn info_is_the_same_with_an_index() {
    let mut answers = 0;
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed);
        let whole = trace(seed, &TraceShape::arbitrary(&mut rng));
        let spans: Vec<_> =
            reference::events(&whole).expect("well-formed").into_iter().map(|e| e.span).collect();
        let damaged = match spans.is_empty() || rng.chance(50) {
            true => whole,
            false => any_damage(&mut rng, &whole, &spans).bytes,
        };
        let folder = Folder::new();
        let path = folder.file("a.json", &damaged);
        let Ok(_) = ask(&path, &USUAL, IndexUse::Never) else { continue };
        index_bytes(&path, of_files(seed as usize));
        for (top, self_times) in
            [(10, true), (1, false), (100, true), (101, true), (100_000, false)]
        {
            let wanted = InfoConfig { top, full: false, self_times };
            answers +=
                usize::from(same_answer(&path, &wanted, &format!("seed {seed}, {wanted:?}")));
        }
        let full = InfoConfig { full: true, ..USUAL };
        assert!(!same_answer(&path, &full, "args are not in it"));
    }
    assert!(answers > 120, "{answers}");
}

#[test]
fn indexes_of_all_kinds_of_traces_stay_within_their_size() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut files = Vec::new();
    files_below(&testdata, &mut files);
    let (mut indexed, mut refused) = (0, 0);
    for file in files {
        let what = file.display().to_string();
        let Ok(scanned) = ask(&file, &USUAL, IndexUse::Never) else { continue };
        if scanned.inputs.is_empty() {
            continue;
        }
        let folder = Folder::new();
        let name = file.file_name().expect("files have names");
        let path = folder.file(&name.to_string_lossy(), std::fs::read(&file).expect("readable"));
        match make(&path, &IndexConfig::default(), PLAIN) {
            Err(error) => {
                assert_eq!(error.class(), ErrorClass::Usage, "{what}: {error}");
                refused += 1;
            }
            Ok(report) => {
                assert!(report.bytes <= (scanned.inputs[0].bytes / 128).max(64 << 10), "{what}");
                let is_packed = scanned.inputs[0].encoding.is_some();
                let may_be = |name: &String| match name.as_str() {
                    "SPANS" | "STREAMS" => is_packed,
                    // the first sections to be dropped if space is short
                    "BINS" | "GRANULE_NAMES" => !is_packed,
                    _ => false,
                };
                assert!(report.left_out.iter().all(may_be), "{what}: {:?}", report.left_out);
                same_answer(&path, &USUAL, &what);
                indexed += 1;
            }
        }
    }
    assert!(indexed > 10 && refused > 0, "{indexed} {refused}");
}

fn indexed(folder: &Folder) -> PathBuf {
    let path = folder.file("a.json", trace(3, &TraceShape::plain(300)));
    index_bytes(&path, PLAIN);
    path
}

#[test]
fn invalid_indexes_are_ignored_with_one_warning() {
    let folder = Folder::new();
    let path = indexed(&folder);
    let good = std::fs::read(beside(&path)).expect("it was made");
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 4;
        bytes
    };
    let other = folder.file("other.json", trace(4, &TraceShape::plain(300)));
    let newer = [&good[..8], &[9, 0], &good[10..]].concat();
    let older = as_of(&good, 1);
    for (what, bytes) in [
        ("cut", good[..good.len() - 1].to_vec()),
        ("cut to its head", good[..64].to_vec()),
        ("of no bytes", Vec::new()),
        ("flipped in the head", flipped(20)),
        ("flipped in META", flipped(70)),
        ("flipped in the directory", flipped(good.len() - 20)),
        ("of another version", newer),
        ("of an older version", older),
        ("of another trace", index_bytes(&other, PLAIN)),
        ("no index", b"[]".to_vec()),
    ] {
        std::fs::write(beside(&path), &bytes).expect("the folder takes it");
        let scanned = ask(&path, &USUAL, IndexUse::Never).expect("sound");
        let mut report = ask(&path, &USUAL, IndexUse::Auto).expect("sound");
        assert_eq!(report.index, None, "{what}");
        let warning = report.warnings.pop().expect("it is said").to_string();
        assert!(warning.contains("was not used") && warning.contains("a.json.tmi"), "{warning}");
        assert_eq!(format!("{report:?}"), format!("{scanned:?}"), "{what}");
        let named = ask(&path, &USUAL, IndexUse::File(beside(&path))).expect_err(what);
        assert_eq!(named.class(), ErrorClass::Input, "{what}: {named}");
        // the advice of the warning works
        let wanted = IndexConfig { replace: bytes.len() < 64, ..IndexConfig::default() };
        make(&path, &wanted, PLAIN).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(same_answer(&path, &USUAL, what), "{what}");
    }
}

fn as_of(good: &[u8], version: u16) -> Vec<u8> {
    let mut bytes = good.to_vec();
    bytes[8..10].copy_from_slice(&version.to_le_bytes());
    let sum = event_sum(0, &bytes[..60]);
    bytes[60..64].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Returns an index with META only and valid checksums.
fn forged(good: &[u8], meta: &serde_json::Value) -> Vec<u8> {
    let index = Index::open(good).expect("it was just made");
    let mut writer = Writer::new(Vec::new());
    writer.section(id::META).expect("the first");
    let json = meta.to_string();
    writer.page(1, 0..=0, |page| _ = page.bytes(json.as_bytes())).expect("memory takes it");
    let (body, head) = writer.finish(index.input()).expect("memory takes it");
    [&head[..], &body].concat()
}

fn leaves(value: &serde_json::Value, path: &str, all: &mut Vec<String>) {
    match value {
        serde_json::Value::Array(values) => {
            let numbered = values.iter().enumerate();
            numbered.for_each(|(at, element)| leaves(element, &format!("{path}/{at}"), all));
        }
        serde_json::Value::Object(members) => {
            members.iter().for_each(|(key, member)| leaves(member, &format!("{path}/{key}"), all));
        }
        serde_json::Value::Number(_) => all.push(path.to_owned()),
        _ => {}
    }
}

#[test]
fn impossible_numbers_are_not_reported() {
    let folder = Folder::new();
    let mut text = trace(3, &TraceShape::plain(300));
    text.truncate(text.len() - 40);
    let path = folder.file("a.json", &text);
    let good = index_bytes(&path, PLAIN);
    let index = Index::open(&good).expect("it was just made");
    let section = index.section(id::META).expect("always there");
    let json = index.joined(section, 1 << 20).expect("sound");
    let meta: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let mut numbers = Vec::new();
    leaves(&meta, "", &mut numbers);
    // `info` reports none of these; slices compare them with the events
    let skipped = ["/times", "/windows/bounds", "/tables/bounds"];
    numbers.retain(|number| !skipped.iter().any(|prefix| number.starts_with(prefix)));
    // an unchanged copy is used
    std::fs::write(beside(&path), forged(&good, &meta)).expect("the folder takes it");
    assert!(same_answer(&path, &USUAL, "a copy"));
    // times can be arbitrary, and a trace can have any number of names
    let free = ["_ns", "/distinct"];
    let (mut refused, mut accepted) = (0, 0);
    for number in &numbers {
        let mut meta = meta.clone();
        *meta.pointer_mut(number).expect("it was found there") = (1_u64 << 62).into();
        std::fs::write(beside(&path), forged(&good, &meta)).expect("the folder takes it");
        let report = ask(&path, &USUAL, IndexUse::Auto).expect("the trace can be read");
        if report.index.is_some() {
            assert!(free.iter().any(|end| number.ends_with(end)), "{number}");
            accepted += 1;
        } else {
            let warning = report.warnings.last().expect("it is said").to_string();
            let is_known = ["impossible numbers", "expected u32"];
            assert!(is_known.iter().any(|why| warning.contains(why)), "{number}: {warning}");
            refused += 1;
        }
    }
    assert!(refused > 50 && accepted > 20, "{refused} {accepted}");
}

#[test]
fn changed_traces_are_scanned() {
    let folder = Folder::new();
    let path = indexed(&folder);
    let text = std::fs::read(&path).expect("a trace");
    let now = std::time::SystemTime::now();
    for at in [text.len() / 3, text.len() / 2] {
        let mut changed = text.clone();
        let digit = at + changed[at..].iter().position(u8::is_ascii_digit).expect("a digit");
        changed[digit] = if changed[digit] == b'7' { b'8' } else { b'7' };
        std::fs::write(&path, &changed).expect("the folder takes it");
        let report = ask(&path, &USUAL, IndexUse::Auto).expect("sound");
        assert!(report.index.is_none() && report.warnings[0].to_string().contains("changed"));
    }
    // only the time of the file differs
    std::fs::write(&path, &text).expect("the folder takes it");
    let file = std::fs::File::options().append(true).open(&path).expect("ours");
    file.set_modified(now - std::time::Duration::from_secs(3600)).expect("ours");
    assert!(same_answer(&path, &USUAL, "written anew"));
    std::fs::remove_file(beside(&path)).expect("ours");
    assert!(!same_answer(&path, &USUAL, "no index"));
    assert!(ask(&path, &USUAL, IndexUse::File(beside(&path))).is_err());
}

#[test]
fn fresh_indexes_are_kept_verified_or_replaced() {
    let folder = Folder::new();
    let path = indexed(&folder);
    let usual = IndexConfig::default();
    let verify = IndexConfig { verify: true, ..IndexConfig::default() };
    assert!(make(&path, &usual, PLAIN).expect("fresh").is_fresh);
    for number in 0..6 {
        let report = make(&path, &verify, of_files(number)).expect("fresh");
        assert_eq!((report.is_same, report.is_fresh), (Some(true), false));
    }
    let good = std::fs::read(beside(&path)).expect("it was made");
    let mut flipped = good.clone();
    flipped[100] ^= 1;
    std::fs::write(beside(&path), &flipped).expect("the folder takes it");
    assert_eq!(make(&path, &verify, PLAIN).expect("readable").is_same, Some(false));
    let report = make(&path, &IndexConfig { reach: true, ..usual.clone() }, PLAIN).expect("sound");
    let reach = report.reach.expect("it was asked for");
    assert!(!report.is_fresh && reach.median <= reach.worst && reach.worst > 0);
    let names: Vec<&str> = report.sections.iter().map(|section| section.name).collect();
    let tables = ["META", "GRANULES", "PLACES", "SPANS", "NAMES", "LANES", "BINS", "GRANULE_NAMES"];
    assert_eq!(names, tables);
    assert_eq!(std::fs::read(beside(&path)).expect("it was made"), good);
    // an index of a trace that was truncated
    std::fs::write(&path, &std::fs::read(&path).expect("a trace")[..5000]).expect("ours");
    assert_eq!(make(&path, &verify, PLAIN).expect("readable").is_same, Some(false));
    assert!(!make(&path, &usual, PLAIN).expect("readable").is_fresh);
    assert!(same_answer(&path, &USUAL, "cut, and indexed again"));
}

/// Clears the modification time of an index, and the checksum over it.
fn timeless(mut index: Vec<u8>) -> Vec<u8> {
    index[24..32].fill(0);
    index[60..64].fill(0);
    index
}

#[test]
fn index_of_a_grown_file_equals_a_new_index() {
    for seed in seeds(0, 12) {
        let mut rng = Rng::new(seed ^ 0x906);
        let text = trace(seed, &TraceShape { events: 600, ..TraceShape::arbitrary(&mut rng) });
        let whole = Folder::new();
        let expected = timeless(index_bytes(&whole.file("a.json", &text), PLAIN));
        let folder = Folder::new();
        let mut ends: Vec<usize> =
            (0..3).map(|_| 1 + rng.below(text.len() as u64) as usize).collect();
        ends.sort_unstable();
        for end in ends {
            let path = folder.file("a.json", &text[..end]);
            // incomplete files have no index
            _ = make(&path, &IndexConfig::default(), PLAIN);
        }
        let path = folder.file("a.json", &text);
        make(&path, &IndexConfig::default(), of_files(seed as usize)).expect("it is a trace");
        let grown = timeless(std::fs::read(beside(&path)).expect("it was made"));
        assert!(grown == expected, "seed {seed}: {:?}", differing(&grown, &expected));
        assert!(same_answer(&path, &USUAL, "grown, and indexed again"));
    }
}

#[test]
fn inputs_without_an_index_are_refused() {
    let folder = Folder::new();
    let path = indexed(&folder);
    let refused = |source: Source, wanted: &IndexConfig| {
        index(&[source], wanted, &config(PLAIN)).expect_err("refused")
    };
    let usual = IndexConfig::default();
    for source in [Source::Stdin, Source::bytes("a", "[]"), Source::Path("/dev/null".into())] {
        assert_eq!(refused(source, &usual).class(), ErrorClass::Usage);
    }
    let profile = folder.file("a.cpuprofile", br#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}],"startTime":1,"endTime":2,"samples":[1],"timeDeltas":[1]}"#);
    assert_eq!(refused(Source::Path(profile), &usual).class(), ErrorClass::Usage);
    let onto = IndexConfig { output: Some(path.clone()), replace: true, ..usual.clone() };
    let error = refused(Source::Path(path.clone()), &onto);
    assert!(matches!(error.kind(), ErrorKind::OutputIsInput { .. }), "{error}");
    let notes = folder.file("notes.txt", b"keep me");
    let over = IndexConfig { output: Some(notes.clone()), ..usual.clone() };
    let error = refused(Source::Path(path.clone()), &over);
    assert!(matches!(error.kind(), ErrorKind::OutputExists { .. }), "{error}");
    assert_eq!(std::fs::read(notes).expect("still there"), b"keep me");
    let missing = refused(Source::Path(folder.path("none.json")), &usual);
    assert_eq!(missing.class(), ErrorClass::Input);
    // an index is not a trace
    assert!(ask(&beside(&path), &USUAL, IndexUse::Never).is_err());
}

#[test]
fn indexes_in_a_folder_are_not_inputs() {
    let folder = Folder::new();
    folder.file("a.json", trace(5, &TraceShape::plain(50)));
    folder.file("b.json", trace(6, &TraceShape::plain(50)));
    folder.file("readme.txt", b"no trace");
    let source = Source::Path(folder.path(""));
    let before = info(std::slice::from_ref(&source), &USUAL, &config(PLAIN)).expect("sound");
    let reports = index(std::slice::from_ref(&source), &IndexConfig::default(), &config(PLAIN))
        .expect("sound");
    assert_eq!(reports.iter().filter(|report| report.bytes > 0).count(), 2);
    assert!(
        reports
            .iter()
            .any(|report| report.warnings.iter().any(|w| w.to_string().contains("left out")))
    );
    assert!(folder.names().contains(&"b.json.tmi".to_owned()));
    let after = info(&[source], &USUAL, &config(PLAIN)).expect("sound");
    assert_eq!(format!("{after:?}"), format!("{before:?}"));
}

#[test]
fn info_fails_if_files_change_before_it_returns() {
    let folder = Folder::new();
    let path = folder.file("a.json", trace(7, &TraceShape::plain(50)));
    let of_file = [Source::Path(path.clone())];
    let of_folder = [Source::Path(folder.path(""))];
    let run_info = |sources: &[Source], index: &IndexUse, write: bool| {
        let config = Config { index: index.clone(), ..config(PLAIN) };
        let mut seen = 0;
        let report = info_with(sources, &USUAL, &config, |report| {
            seen = report.events;
            if write {
                let text = std::fs::read(&path).expect("it is there");
                std::fs::write(&path, [&text[..], b"\n"].concat()).expect("it can be written");
            }
        });
        (seen, report)
    };
    for sources in [&of_file, &of_folder] {
        let (seen, report) = run_info(sources, &IndexUse::Never, false);
        assert_eq!(report.expect("nobody wrote to it").events, seen);
        let (_, report) = run_info(sources, &IndexUse::Never, true);
        let changed = report.expect_err("it was written to");
        assert!(matches!(changed.kind(), ErrorKind::Changed { .. }), "{changed}");
    }
    index_bytes(&path, PLAIN);
    let (seen, report) = run_info(&of_file, &IndexUse::Auto, false);
    let report = report.expect("nobody wrote to it");
    assert!(report.index.is_some() && report.events == seen && seen > 0);
    let (_, report) = run_info(&of_file, &IndexUse::Auto, true);
    let changed = report.expect_err("it was written to");
    assert!(matches!(changed.kind(), ErrorKind::Changed { .. }), "{changed}");
}
