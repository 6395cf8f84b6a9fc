//! Slices and extractions of CPU profiles by an index read only what they need, and equal those by
//! a scan.

use crate::index::{Uses, index_bytes, of_files};
use crate::indexed_slices::{EDGES, same, windows};
use crate::run::{Folder, Knobs, PLAIN, config};
use crate::spans::Trace;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::Ordering;
use tracemill_index::format::{Index, id};
use tracemill_index::{extract_profiles, list_profiles};
use tracemill_join::config::{Config, IndexUse};
use tracemill_pipeline::{ProfileChoice, ProfileTarget, ProfilesReport};
use tracemill_testkit::damage::any_damage;
use tracemill_testkit::generate::{ProfileShape, TraceShape, profile_trace, trace};
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::limits::Progress;
use tracemill_trace::{Error, Source};

/// A stream: its events without times, and the line before which each is inserted.
struct Stream {
    id: u64,
    nodes: u64,
    events: Vec<(usize, String)>,
}

impl Stream {
    /// Generates a stream from a random line on; if `odd`, one that V8 would not write.
    fn new(rng: &mut Rng, id: u64, lines: usize, odd: bool) -> Self {
        let mut stream = Stream { id, nodes: 0, events: Vec::new() };
        let first = rng.index(lines);
        let end = (first + 1 + lines / [2, 5, 20][rng.index(3)]).min(lines);
        let mut places: Vec<usize> =
            (0..rng.index(40)).map(|_| first + rng.index(end - first)).collect();
        places.sort_unstable();
        if !odd || rng.chance(80) {
            let head = format!("\"name\":\"Profile\",\"args\":{{\"data\":{{\"startTime\":{id}}}}}");
            stream.push(first, &head);
        }
        for place in places {
            let chunk = stream.chunk(rng, odd);
            stream.push(place, &chunk);
        }
        if odd && rng.chance(30) {
            rng.shuffle(&mut stream.events);
        }
        if rng.chance(50) {
            stream.push(end - 1, "\"name\":\"ProfileChunk\",\"args\":{\"data\":{\"endTime\":5}}");
        }
        stream
    }

    fn push(&mut self, line: usize, rest: &str) {
        let id = self.id;
        let text = format!("{{\"pid\":1,\"tid\":{id},\"id\":\"0x{id}\",\"ph\":\"P\",{rest}");
        self.events.push((line, text));
    }

    fn chunk(&mut self, rng: &mut Rng, odd: bool) -> String {
        let mut nodes = String::new();
        for _ in 0..rng.below(if self.nodes == 0 { 3 } else { 2 }) + u64::from(self.nodes == 0) {
            self.nodes += 1;
            let comma = if nodes.is_empty() { "" } else { "," };
            let parent = match self.nodes {
                1 => String::new(),
                node => format!(",\"parent\":{}", 1 + rng.below(node - 1)),
            };
            let frame = "\"callFrame\":{\"functionName\":\"f\",\"scriptId\":0}";
            _ = write!(nodes, "{comma}{{\"id\":{},{frame}{parent}}}", self.nodes);
        }
        let count = rng.below(6) as usize;
        let uneven = usize::from(odd && rng.chance(5));
        let number = |numbers: Vec<u64>| {
            let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
            texts.join(",")
        };
        let samples = number((0..count).map(|_| 1 + rng.below(self.nodes)).collect());
        let most = [1, 40, 400][rng.index(3)];
        let steps = number((0..count + uneven).map(|_| rng.below(most)).collect());
        let nodes = if nodes.is_empty() { nodes } else { format!("\"nodes\":[{nodes}],") };
        let space = if odd && rng.chance(20) { " " } else { "" };
        format!(
            "\"name\":\"ProfileChunk\",\"args\":{{{space}\"data\":{{\"cpuProfile\":{{{nodes}\
             \"samples\":[{samples}]}},\"timeDeltas\":[{steps}]}}}}"
        )
    }
}

/// Inserts streams into a trace. If `odd`, some of their events have another time or none.
pub(crate) fn with_streams(text: &str, rng: &mut Rng, odd: bool) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut inserted: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for id in 1..2 + rng.below(6) {
        let odd = odd && rng.chance(40);
        for (line, event) in Stream::new(rng, id, lines.len() - 2, odd).events {
            let time_of = |line: &&str| {
                let behind = line.split_once("\"ts\":")?.1;
                behind.split([',', '}']).next()?.parse::<u64>().ok()
            };
            let time = lines[1..=line + 1].iter().rev().find_map(time_of).unwrap_or(1);
            let time = match rng.below(60) {
                0 if odd => String::new(),
                1 if odd => format!(",\"ts\":{}.5", time + 7),
                _ => format!(",\"ts\":{time}"),
            };
            inserted.entry(line + 1).or_default().push(format!("{event}{time}}},"));
        }
    }
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate() {
        for event in inserted.get(&number).into_iter().flatten() {
            out = out + event + "\n";
        }
        out = out + line + "\n";
    }
    out
}

pub(crate) fn bounds(text: &str) -> (i64, i64) {
    let times = text.split("\"ts\":").skip(1).filter_map(|behind| {
        let digits = behind.split([',', '}', '.']).next()?;
        digits.parse::<i64>().ok().map(|micros| micros * 1000)
    });
    times.fold((i64::MAX, i64::MIN), |(low, high), time| (low.min(time), high.max(time)))
}

#[test]
fn slices_of_profiles_by_an_index_equal_scans() {
    let mut uses = Uses::default();
    for seed in seeds(0, 16) {
        let mut rng = Rng::new(seed);
        let text = match seed % 4 {
            3 => {
                let shape = ProfileShape { others: 2000, ..ProfileShape::arbitrary(&mut rng) };
                String::from_utf8(profile_trace(seed, &shape)).expect("it is JSON")
            }
            odd => {
                let text = Trace::new(seed, 500, odd == 1).text;
                with_streams(&text, &mut rng, odd > 0)
            }
        };
        let folder = Folder::new();
        let path = folder.file("a.json", text.as_bytes());
        index_bytes(&path, PLAIN);
        for number in 0..12 {
            let windows = windows(&mut rng, bounds(&text));
            let edges = EDGES[number % 3];
            let with = of_files(seed as usize * 12 + number);
            let what = format!("seed {seed}, {number}: {windows:?} {edges:?}");
            uses.count(same(&what, &path, &windows, edges, with, None), text.len());
        }
    }
    uses.assert_pays(3, 1);
    assert_eq!(uses.unused.get("it has no list of the CPU profiles"), None, "{uses:?}");
}

/// The reports of `profile list` and `profile extract`, and the extracted files by name.
type Profiles = (ProfilesReport, Result<(ProfilesReport, BTreeMap<String, Vec<u8>>), Error>);

fn profiles_of(path: &Path, config: &Config) -> Result<Profiles, Error> {
    let folder = Folder::new();
    let dir = folder.path("out");
    let target = ProfileTarget::Folder {
        dir: dir.clone(),
        template: Some("{pid}.{tid}.{id}.{process}.{thread}.{seq}".to_owned()),
        replace: false,
        reserved: None,
    };
    let (sources, all) = ([Source::Path(path.to_owned())], ProfileChoice::default());
    let listed = list_profiles(&sources, &all, config)?;
    let extracted = extract_profiles(&sources, &all, &target, config).map(|mut report| {
        let mut files = BTreeMap::new();
        for file in report.profiles.iter_mut().filter_map(|profile| profile.file.take()) {
            let name = file.file_name().expect("it has one").to_string_lossy().into_owned();
            files.insert(name, std::fs::read(file).expect("it was written"));
        }
        (report, files)
    });
    Ok((listed, extracted))
}

/// Removes the costs from a report. Returns the bytes read by the index, or why it was not used.
fn forget_index(report: &mut ProfilesReport) -> Result<u64, &'static str> {
    report.spills = 0;
    let used = report.index.take().map(|(_, read)| read);
    used.ok_or(report.index_unused.take().unwrap_or("it was refused"))
}

#[track_caller]
pub(crate) fn same_profiles(what: &str, path: &Path, knobs: Knobs) -> Result<u64, &'static str> {
    let plain = config(Knobs { budget: None, chunk: 1 << 20, ..knobs });
    let scanned = profiles_of(path, &plain);
    let with = Config { index: IndexUse::Auto, ..config(knobs) };
    let ((mut expected, all_files), (mut found, files)) = match (scanned, profiles_of(path, &with))
    {
        (Ok(expected), Ok(found)) => (expected, found),
        (Err(expected), Err(found)) => {
            assert_eq!(expected.to_string(), found.to_string(), "{what}");
            return Err("a failure");
        }
        (expected, found) => panic!("{what}: {:?} {:?}", expected.err(), found.err()),
    };
    _ = forget_index(&mut expected);
    let used = forget_index(&mut found);
    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{what}, used: {used:?}");
    match (all_files, files) {
        (Ok((mut expected, all_files)), Ok((mut found, files))) => {
            _ = forget_index(&mut expected);
            assert_eq!(forget_index(&mut found), used, "{what}");
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{what}, used: {used:?}");
            assert!(files == all_files, "{what}, used: {used:?}");
        }
        (Err(expected), Err(found)) => {
            assert_eq!(expected.to_string(), found.to_string(), "{what}");
        }
        (expected, found) => panic!("{what}: {:?} {:?}", expected.err(), found.err()),
    }
    if used.is_ok() {
        let Progress { bytes_expected, bytes_scanned, .. } = &*with.limits.progress;
        let [expected, scanned] =
            [bytes_expected, bytes_scanned].map(|n| n.load(Ordering::Relaxed));
        assert!(scanned >= expected, "{what}: {scanned} of {expected}, of two runs");
    }
    used
}

fn any_trace(seed: u64, rng: &mut Rng) -> Vec<u8> {
    let text = match seed % 5 {
        4 => trace(seed, &TraceShape::arbitrary(rng)),
        3 => {
            let shape = ProfileShape { others: 3000, ..ProfileShape::arbitrary(rng) };
            profile_trace(seed, &shape)
        }
        odd => {
            let text = Trace::new(seed, 500, odd == 1).text;
            with_streams(&text, rng, odd > 0).into_bytes()
        }
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
fn profiles_by_an_index_equal_scans() {
    let mut uses = Uses::default();
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed);
        let text = any_trace(seed, &mut rng);
        let folder = Folder::new();
        let path = folder.file("a.json", &text);
        if profiles_of(&path, &config(PLAIN)).is_err() {
            continue;
        }
        index_bytes(&path, PLAIN);
        let run = same_profiles(&format!("seed {seed}"), &path, of_files(seed as usize));
        uses.count(run, text.len());
    }
    uses.assert_pays(3, 2);
}

#[test]
fn changes_of_chunks_are_detected() {
    let mut rng = Rng::new(7);
    let text = with_streams(&Trace::new(7, 400, false).text, &mut rng, false);
    // the fingerprint of files this large covers samples only
    let pad = "x".repeat(17 << 20);
    let good = format!("{{\"pad\":\"{pad}\",\"traceEvents\":{text},\"tail\":\"{pad}\"}}");
    let folder = Folder::new();
    let path = folder.file("a.json", good.as_bytes());
    index_bytes(&path, PLAIN);
    let modified = std::fs::metadata(&path).and_then(|file| file.modified()).expect("a time");
    let at = good.rfind("\"timeDeltas\":[").expect("there is one");
    let digit = at + good[at..].find(|c: char| c.is_ascii_digit()).expect("there is one");
    let mut changed = good.into_bytes();
    changed[digit] = if changed[digit] == b'7' { b'8' } else { b'7' };
    std::fs::write(&path, &changed).expect("the folder takes it");
    let file = std::fs::File::options().write(true).open(&path).expect("ours");
    file.set_modified(modified).expect("ours");
    let listed = |index| {
        let sources = [Source::Path(path.clone())];
        let config = Config { index, ..config(PLAIN) };
        list_profiles(&sources, &ProfileChoice::default(), &config)
    };
    let found = listed(IndexUse::Auto).expect("sound");
    let expected = listed(IndexUse::Never).expect("sound");
    assert_eq!(format!("{:?}", found.profiles), format!("{:?}", expected.profiles));
    assert!(found.index.is_none());
    let [warning] = &found.warnings[..] else { panic!("{:?}", found.warnings) };
    assert!(warning.to_string().contains("something else than the index says"), "{warning}");
    let named = IndexUse::File(path.with_extension("json.tmi"));
    let error = listed(named).expect_err("it is not that of the trace");
    assert_eq!(error.class(), ErrorClass::Input, "{error}");
}

/// Compares the index sections of streams with numbers computed by hand.
#[test]
fn streams_have_the_times_of_their_events_and_samples() {
    let chunk = |id: u64, ts: u64, steps: &str, samples: &str| {
        format!(
            "{{\"name\":\"ProfileChunk\",\"ph\":\"P\",\"pid\":1,\"tid\":2,\"id\":{id},\"ts\":{ts},\
             \"args\":{{\"data\":{{\"cpuProfile\":{{\"nodes\":[{{\"id\":1}}],\"samples\":[{samples}]}},\
             \"timeDeltas\":[{steps}]}}}}}}"
        )
    };
    let head = |id: u64, ts: u64| {
        let rest = "\"pid\":1,\"tid\":2,\"args\":{\"data\":{\"startTime\":1}}";
        format!("{{\"name\":\"Profile\",\"ph\":\"P\",\"id\":{id},\"ts\":{ts},{rest}}}")
    };
    let events = [
        head(1, 100),
        chunk(1, 120, "5,900", "1,1"),
        head(2, 110),
        chunk(3, 130, "5", "1"),
        chunk(2, 200, "-50,10", "1,1"),
        chunk(1, 150, "7", "1"),
        chunk(2, 190, "1", "1"),
        chunk(4, 130, "5,6", "1"),
        head(4, 100),
        chunk(5, 300, "-250, 8", "1,1"),
        head(5, 100),
    ];
    let text = format!("[{}]", events.join(",\n"));
    let folder = Folder::new();
    let path = folder.file("a.json", text.as_bytes());
    let bytes = index_bytes(&path, PLAIN);
    let index = Index::open(&bytes).expect("it was just made");
    let rows = |id: u16| -> Vec<Vec<u64>> {
        let entry = &index.section(id).expect("it is there").pages[0];
        let page = index.page(entry).expect("sound");
        (0..12).map_while(|column| page.numbers(column).ok()).collect()
    };
    let [known, least, width, ..] = &rows(id::STREAMS)[..] else { panic!("columns") };
    // 2 is out of order, 3 has no `Profile` event, 4 has more time steps than samples
    assert_eq!(known, &[3, 0, 0, 0, 3]);
    assert_eq!((least[0], width[0]), (100_000, 1_012_000 - 100_000), "the last sample is behind");
    assert_eq!((least[4] as i64, width[4]), (-150_000, 450_000), "the first sample is before");
    let members = rows(id::STREAM_EVENTS);
    assert_eq!(members[2], [0, 0, 1, 2, 1, 0, 1, 3, 3, 4, 4]);
    let places = events.iter().map(|event| text.find(event).expect("it is there") as u64);
    assert_eq!(members[0], places.collect::<Vec<_>>());
    assert_eq!(members[1], events.map(|event| event.len() as u64));
}
