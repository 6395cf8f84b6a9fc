//! Slices of long CPU profiles by an index read only the chunks that windows need, and equal slices
//! by a scan.

use crate::index::{index_bytes, of_files};
use crate::indexed_packed::zstd_frames;
use crate::indexed_slices::{EDGES, same, windows};
use crate::run::{Folder, Knobs, PLAIN, config, output_to, read};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use tracemill_index::format::{Index, id, streams};
use tracemill_index::slice;
use tracemill_join::config::{Config, IndexUse};
use tracemill_testkit::damage::any_damage;
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::Source;
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};

/// A deviation of a stream from what V8 writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oddity {
    None,
    /// Nodes come after samples that refer to them.
    Late,
    /// Ids are in random order.
    Shuffled,
    /// Some nodes are defined twice, with different parents.
    Twice,
    /// Some nodes are their own ancestors.
    Cycles,
    /// Some parents and sampled nodes do not exist.
    Unknown,
    /// Time sometimes goes backwards.
    Back,
    /// Chunks are not sorted by time.
    File,
    /// Some chunks have more members, or are formatted differently.
    Other,
    /// The profile has no root, two `Profile` events, or none.
    Heads,
    /// Some time steps take decades.
    Far,
}

const ODDITIES: [Oddity; 11] = [
    Oddity::None,
    Oddity::Late,
    Oddity::Shuffled,
    Oddity::Twice,
    Oddity::Cycles,
    Oddity::Unknown,
    Oddity::Back,
    Oddity::File,
    Oddity::Other,
    Oddity::Heads,
    Oddity::Far,
];

type Nodes = Vec<(u64, Option<u64>)>;

/// Generates the nodes of each chunk of a stream.
fn nodes(rng: &mut Rng, chunks: usize, oddity: Oddity) -> Vec<Nodes> {
    let count = 1 + chunks as u64 * 2;
    let mut ids: Vec<u64> = (1..=count).collect();
    if oddity == Oddity::Shuffled {
        rng.shuffle(&mut ids[1..]);
    }
    let mut all = vec![Nodes::new(); chunks];
    for (at, &id) in ids.iter().enumerate() {
        // most calls are below a recent one
        let reach = if rng.chance(80) { at.min(9) } else { at };
        let parent = match at {
            0 => None,
            _ => Some(ids[at - 1 - rng.index(reach)]),
        };
        let parent = match rng.below(12) {
            0 if oddity == Oddity::Cycles => Some(ids[rng.index(ids.len())]),
            0 if oddity == Oddity::Unknown => Some(count + 1 + rng.below(9)),
            0 if oddity == Oddity::Heads => None,
            _ => parent,
        };
        let chunk_at = at * chunks / ids.len();
        all[chunk_at].push((id, parent));
        if oddity == Oddity::Twice && rng.chance(20) {
            let again = rng.index(chunks);
            all[again].push((id, parent.map(|_| ids[rng.index(at)])));
        }
    }
    if oddity == Oddity::Late {
        all.rotate_left(rng.index(chunks.min(9)));
    }
    all
}

fn list(numbers: impl Iterator<Item = i64>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

/// Generates the args of a chunk with nodes up to `most`, and returns the sum of its time steps
/// too.
fn chunk(rng: &mut Rng, nodes: &Nodes, most: u64, oddity: Oddity) -> (String, i64) {
    let mut text = String::new();
    for (id, parent) in nodes {
        let comma = if text.is_empty() { "" } else { "," };
        let parent = parent.map_or(String::new(), |parent| format!(",\"parent\":{parent}"));
        let long = if rng.chance(1) { "x".repeat(17 << 10) } else { String::new() };
        let frame = format!("\"callFrame\":{{\"functionName\":\"f{id}{long}\",\"scriptId\":0}}");
        _ = write!(text, "{comma}{{{frame},\"id\":{id}{parent}}}");
    }
    let count = [0, 1, 5, 20][rng.index(4)];
    let sample = |rng: &mut Rng| match rng.below(20) {
        0 if oddity == Oddity::Unknown => most + 100 + rng.below(4),
        _ => 1 + rng.below(most),
    };
    let samples: Vec<i64> = (0..count).map(|_| sample(rng) as i64).collect();
    let step = |rng: &mut Rng| match rng.below(8) {
        0 if oddity == Oddity::Back => -(rng.below(4000) as i64),
        0 if oddity == Oddity::Far && rng.chance(1) => 1_500_000_000_000_000,
        _ => rng.below(300) as i64,
    };
    let steps: Vec<i64> = (0..count).map(|_| step(rng)).collect();
    let is_other = oddity == Oddity::Other && rng.chance(10);
    let (space, mut ids) = (if is_other { " " } else { "" }, String::new());
    if oddity == Oddity::Other && rng.chance(5) {
        ids = format!(",\"trace_ids\":{{\"t{}\":{}}}", rng.below(5), 1 + rng.below(most));
    }
    let mut beside = String::new();
    for key in ["lines", "columns"] {
        if oddity != Oddity::None && rng.chance(30) {
            beside += &format!("\"{key}\":[{}],", list((0..i64::from(count)).map(|at| at % 7)));
        }
    }
    let text = if text.is_empty() { text } else { format!("\"nodes\":[{text}],") };
    let samples = list(samples.into_iter());
    // such steps do not delay later events
    let sum = steps.iter().filter(|step| **step < 1_000_000).sum();
    let steps = list(steps.into_iter());
    let cpu = format!("\"cpuProfile\":{{{text}\"samples\":[{samples}]{ids}}}");
    let cpu = if rng.chance(50) { format!("{beside}{cpu}") } else { format!("{cpu},{beside}") };
    let cpu = cpu.trim_end_matches(',');
    let source = if rng.chance(2) { "\"source\":\"Internal\"," } else { "" };
    (format!("{{{space}\"data\":{{{cpu},{source}\"timeDeltas\":[{steps}]}}}}"), sum)
}

/// Generates the events of a stream with their times.
fn stream(rng: &mut Rng, number: u64, chunks: usize, oddity: Oddity) -> Vec<(i64, String)> {
    let event = |name: &str, ts: i64, args: &str| {
        let ids = format!("\"pid\":1,\"tid\":{number},\"id\":\"0x{number}\"");
        (ts, format!("{{\"args\":{args},\"name\":\"{name}\",\"ph\":\"P\",{ids},\"ts\":{ts}}}"))
    };
    let mut time = 1000 + rng.below(20_000) as i64;
    let head = format!("{{\"data\":{{\"startTime\":{time}}}}}");
    let is_odd = oddity == Oddity::Heads;
    let mut events = Vec::new();
    if !is_odd || rng.chance(80) {
        events.push(event("Profile", time, &head));
    }
    let (mut most, mut last) = (1, time);
    for chunk_nodes in nodes(rng, chunks, oddity) {
        most = chunk_nodes.iter().map(|node| node.0).fold(most, u64::max);
        if is_odd && rng.chance(2) {
            events.push(event("Profile", last, &head));
        }
        let (args, sum) = chunk(rng, &chunk_nodes, most, oddity);
        time += sum;
        // chunks are written in order even if time goes backwards
        last = last.max(time + rng.below(50) as i64);
        events.push(event("ProfileChunk", last, &args));
    }
    if rng.chance(50) {
        events.push(event("ProfileChunk", last + 5, "{\"data\":{\"endTime\":5}}"));
    }
    if oddity == Oddity::File {
        // mostly in order, as threads write them
        let mut at = rng.index(events.len());
        while at + 1 < events.len() {
            events.swap(at, at + 1);
            at += 1 + rng.index(events.len());
        }
        if rng.chance(30) {
            rng.shuffle(&mut events);
        }
    }
    events
}

/// Generates a trace with streams of at least `least` chunks and other events.
fn any_trace(rng: &mut Rng, oddities: &[Oddity], least: usize) -> String {
    let mut all: Vec<(i64, String)> = Vec::new();
    for (number, &oddity) in (1..).zip(oddities) {
        let chunks = least + rng.index(150);
        all.extend(stream(rng, number, chunks, oddity));
    }
    let last = all.iter().map(|(ts, _)| *ts).max().unwrap_or(0);
    let filler = "y".repeat(300);
    for at in 0..1500 {
        let (ts, dur) = (last * at / 1500, rng.below(90));
        let event = format!(
            "{{\"ph\":\"X\",\"name\":\"{filler}\",\"pid\":1,\"tid\":1,\"ts\":{ts},\"dur\":{dur}}}"
        );
        all.push((ts, event));
    }
    if !oddities.contains(&Oddity::File) {
        all.sort_by_key(|(ts, _)| *ts);
    } else {
        let mut at = 0;
        while at + 1 < all.len() {
            at += 1 + rng.index(40);
            let to = (at + rng.index(6)).min(all.len());
            rng.shuffle(&mut all[at.min(to)..to]);
        }
    }
    let lines: Vec<String> = all.into_iter().map(|(_, event)| event).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn bounds(text: &str) -> (i64, i64) {
    let times = text.split("\"ts\":").skip(1).filter_map(|behind| {
        let digits = behind.split([',', '}']).next()?;
        digits.parse::<i64>().ok().map(|micros| micros * 1000)
    });
    times.fold((i64::MAX, i64::MIN), |(low, high), time| (low.min(time), high.max(time)))
}

/// Counts the events in streams whose chunks the index distinguishes, and in all streams.
fn count_distinguished(bytes: &[u8]) -> (usize, usize) {
    let index = Index::open(bytes).expect("it was just made");
    let column = |id, column| -> Vec<u64> {
        let pages = &index.section(id).expect("there are profiles").pages;
        let numbers = |entry| index.page(entry).and_then(|page| page.numbers(column));
        pages.iter().flat_map(|entry| numbers(entry).expect("sound")).collect()
    };
    let (known, owners) = (column(id::STREAMS, 0), column(id::STREAM_EVENTS, 2));
    let distinguished =
        owners.iter().filter(|owner| known[**owner as usize] & streams::CHUNKS != 0);
    (distinguished.count(), owners.len())
}

#[test]
fn slices_that_read_some_chunks_equal_full_slices() {
    let (mut used, mut all, mut distinguished, mut of) = (0, 0, 0, 0);
    let mut unused = BTreeMap::new();
    for seed in seeds(0, 20) {
        let mut rng = Rng::new(seed);
        let oddity = ODDITIES[seed as usize % ODDITIES.len()];
        let others: Vec<Oddity> =
            (0..rng.below(3)).map(|_| ODDITIES[rng.index(ODDITIES.len())]).collect();
        // sometimes several pages of the index
        let least = [20, 20, 1200][seed as usize % 3];
        let text = any_trace(&mut rng, &[&[oddity][..], &others].concat(), least);
        let mut bytes = text.clone().into_bytes();
        if seed % 13 == 12 {
            let events = reference::events(&bytes).expect("well-formed");
            let spans: Vec<_> = events.into_iter().map(|event| event.span).collect();
            bytes = any_damage(&mut rng, &bytes, &spans).bytes;
        }
        let folder = Folder::new();
        let path = folder.file("a.json", &bytes);
        let (count, of_all) = count_distinguished(&index_bytes(&path, of_files(seed as usize)));
        let packed = folder.file("a.json.zst", zstd_frames(&bytes, &mut rng));
        index_bytes(&packed, of_files(seed as usize));
        (distinguished, of) = (distinguished + count, of + of_all);
        for number in 0..10 {
            let windows = windows(&mut rng, bounds(&text));
            // mostly with clipped edges
            let edges = EDGES[if number < 8 { 0 } else { number - 7 }];
            let with = of_files(seed as usize * 10 + number);
            let what = format!("seed {seed} {oddity:?}, {number}: {windows:?} {edges:?}");
            all += 1;
            match same(&what, &path, &windows, edges, with, None) {
                Ok(_) => used += 1,
                Err(why) => *unused.entry(why).or_insert(0) += 1,
            }
            if number % 3 == 0 {
                let what = format!("{what}, packed");
                _ = same(&what, &packed, &windows, edges, with, None);
            }
        }
    }
    let message = format!("{used} of {all}, {distinguished} of {of} events told apart; {unused:?}");
    assert!(used * 2 > all && distinguished * 2 > of, "{message}");
    assert_eq!(unused.get("it was refused"), None, "{message}");
}

fn at(micros: i64) -> Option<Moment> {
    Some(Moment::At(micros * 1000))
}

/// A space that V8 does not write forces a chunk to be decoded instead of skimmed.
#[test]
fn skimmed_chunks_equal_decoded_ones() {
    let (mut cut, mut sources) = (0, 0);
    for seed in seeds(0, 20) {
        let mut rng = Rng::new(seed);
        // repeated ids would be renumbered depending on the number of nodes
        let oddity =
            [Oddity::None, Oddity::Late, Oddity::Shuffled, Oddity::Back][seed as usize % 4];
        let text = any_trace(&mut rng, &[oddity], 20);
        let spaced = text.replace("{\"args\":{\"data\":{", "{\"args\":{ \"data\":{");
        let (first, last) = bounds(&text);
        for _ in 0..6 {
            let from = first + rng.below((last - first) as u64) as i64;
            let to = from + 1 + rng.below(((last - first) / 20) as u64) as i64;
            let window = TimeWindow { from: Some(Moment::At(from)), to: Some(Moment::At(to)) };
            let slice_of = |text: &str| {
                let folder = Folder::new();
                let path = folder.file("a.json", text.as_bytes());
                let (sources, target) =
                    ([Source::Path(path)], output_to(&folder.path("out"), None));
                let report = slice(&sources, &[window], Edges::Clip, &target, &config(PLAIN));
                (
                    String::from_utf8(read(&folder.path("out"))).expect("JSON"),
                    report.expect("sound"),
                )
            };
            let ((skimmed, report), (decoded, _)) = (slice_of(&text), slice_of(&spaced));
            assert_eq!(
                skimmed,
                decoded.replace("{ \"data\"", "{\"data\""),
                "seed {seed} {oddity:?}"
            );
            cut += report.rebased;
            sources += usize::from(skimmed.contains("\"source\":\"Internal\""));
        }
    }
    assert!(cut > 20 && sources > 10, "{cut} {sources}");
}

#[test]
fn a_short_window_reads_few_chunks() {
    let mut rng = Rng::new(3);
    let events = stream(&mut rng, 1, 4000, Oddity::None);
    let (first, last) = (events[0].0, events[events.len() - 1].0);
    let lines: Vec<String> = events.into_iter().map(|(_, event)| event).collect();
    let text = format!("[{}]", lines.join(",\n"));
    let folder = Folder::new();
    let path = folder.file("a.json", text.as_bytes());
    index_bytes(&path, PLAIN);
    for part in 1..9 {
        let from = first + (last - first) * part / 10;
        let window = TimeWindow { from: at(from), to: at(from + 2000) };
        let read = same("a short window", &path, &[window], Edges::Clip, of_files(1), None);
        let read = read.expect("it is used") as usize;
        assert!(read * 4 < text.len(), "{read} of {}", text.len());
    }
}

/// Slices a trace whose file is too long for a complete fingerprint.
fn sliced(path: &Path, index: IndexUse) -> Result<(Vec<u8>, String), ErrorClass> {
    let folder = Folder::new();
    let target = folder.path("out");
    let config = Config { index, ..config(Knobs { threads: 2, ..PLAIN }) };
    let window = TimeWindow { from: at(300_000), to: at(302_000) };
    let sources = [Source::Path(path.to_owned())];
    let report = slice(&sources, &[window], Edges::Clip, &output_to(&target, None), &config);
    let report = report.map_err(|error| error.class())?;
    Ok((read(&target), format!("{:?} {:?}", report.index, report.written.run.warnings)))
}

#[test]
fn changes_of_needed_nodes_are_detected() {
    let mut rng = Rng::new(5);
    let events = stream(&mut rng, 1, 2000, Oddity::None);
    let lines: Vec<String> = events.into_iter().map(|(_, event)| event).collect();
    let pad = "x".repeat(17 << 20);
    let good =
        format!("{{\"pad\":\"{pad}\",\"traceEvents\":[{}],\"tail\":\"{pad}\"}}", lines.join(",\n"));
    let folder = Folder::new();
    let path = folder.file("a.json", good.as_bytes());
    index_bytes(&path, PLAIN);
    let modified = std::fs::metadata(&path).and_then(|file| file.modified()).expect("a time");
    let (sound, summary) = sliced(&path, IndexUse::Auto).expect("sound");
    assert!(summary.contains(".tmi") && summary.ends_with("[]"), "{summary}");
    // functions of the slice whose nodes are long before it
    let slice = String::from_utf8(sound.clone()).expect("it is JSON");
    let mut changed = 0;
    for name in slice.split("\"functionName\":\"").skip(1).filter_map(|text| text.split('"').next())
    {
        let wanted = format!("\"functionName\":\"{name}\"");
        let place = good.find(&wanted).expect("it is there") + wanted.len() - 2;
        let mut bytes = good.clone().into_bytes();
        bytes[place] = b'X';
        std::fs::write(&path, &bytes).expect("the folder takes it");
        let file = std::fs::File::options().write(true).open(&path).expect("ours");
        file.set_modified(modified).expect("ours");
        let (expected, _) = sliced(&path, IndexUse::Never).expect("sound");
        let (found, summary) = sliced(&path, IndexUse::Auto).expect("sound");
        assert!(found == expected && found != sound, "{name}: {summary}");
        assert!(summary.contains("something else than the index says"), "{name}: {summary}");
        let named = IndexUse::File(path.with_extension("json.tmi"));
        assert_eq!(sliced(&path, named).err(), Some(ErrorClass::Input), "{name}");
        changed += 1;
        if changed == 3 {
            break;
        }
    }
    assert_eq!(changed, 3);
}
