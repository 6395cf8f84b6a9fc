//! A filter by an index is the filter without: bytes, report and messages, whatever the trace, the criteria and the knobs.

use crate::index::{Uses, made, of_files};
use crate::indexed_slices::any_trace;
use crate::run::{Folder, Knobs, PLAIN, config, output_to, read};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use tracemill_pipeline::{
    CheckFor, Config, Duration, Error, Filter, FilterReport, IndexUse, Preset, Source, TimePoint,
    ViewerRules, filter,
};
use tracemill_testkit::generate::{ProfileShape, profile_trace};
use tracemill_testkit::reference;
use tracemill_testkit::{Rng, seeds};

type Filtered = Result<(Vec<u8>, FilterReport), Error>;

fn filtered(path: &Path, wanted: &Filter, config: &Config) -> Filtered {
    let folder = Folder::new();
    let target = folder.path("out");
    let sources = [Source::Path(path.to_owned())];
    let report = filter(&sources, wanted, &output_to(&target, None), config)?;
    Ok((read(&target), report))
}

/// What was found by an index, and the bytes it read, if it was asked.
#[track_caller]
fn same(
    what: &str,
    path: &Path,
    wanted: &Filter,
    knobs: Knobs,
    viewer: Option<CheckFor>,
) -> Result<u64, &'static str> {
    let viewer = ViewerRules { viewer, ..ViewerRules::default() };
    let plain = config(Knobs { budget: None, chunk: 1 << 20, ..knobs });
    let never = Config { index: IndexUse::Never, viewer, ..plain };
    let with = Config { index: IndexUse::Auto, viewer, ..config(knobs) };
    let scanned = filtered(path, wanted, &never);
    let answered = filtered(path, wanted, &with);
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
    // what it costs may differ
    report.spilled_bytes = expected.1.spilled_bytes;
    assert_eq!(format!("{report:?}"), format!("{:?}", expected.1), "{what}, used: {used:?}");
    assert!(bytes == expected.0, "{what}, used: {used:?}: other bytes");
    used.ok_or(why)
}

/// Ids that events of a trace have, and their times.
struct Known {
    pids: Vec<String>,
    tids: Vec<String>,
    bounds: (i64, i64),
}

impl Known {
    fn of(path: &Path) -> Option<Self> {
        let (_, report) = filtered(path, &Filter::default(), &config(PLAIN)).ok()?;
        drop(report);
        let sources = [Source::Path(path.to_owned())];
        let wanted = tracemill_pipeline::InfoConfig { top: 1, full: false, self_times: false };
        let info = tracemill_pipeline::info(&sources, &wanted, &config(PLAIN)).ok()?;
        let pids = info.processes.iter().map(|process| process.pid.clone()).collect();
        let threads = info.processes.iter().flat_map(|process| &process.threads);
        let tids = threads.map(|thread| thread.tid.clone()).collect();
        Some(Known { pids, tids, bounds: (info.start_ns?, info.end_ns?) })
    }

    /// Some criteria that an index may help with, or none does.
    fn criteria(&self, rng: &mut Rng) -> Filter {
        let mut wanted = Filter::default();
        let kind = rng.below(10);
        if kind < 5 {
            let ids = |rng: &mut Rng, all: &[String]| {
                let one = |rng: &mut Rng| match (rng.chance(90), all.is_empty()) {
                    (true, false) => all[rng.index(all.len())].clone(),
                    _ => "77".to_owned(),
                };
                let some: Vec<String> = (0..1 + rng.index(2)).map(|_| one(rng)).collect();
                some.join(",").parse().ok()
            };
            if kind != 1 {
                wanted.pid = ids(rng, &self.pids);
            }
            if kind < 3 {
                wanted.tid = ids(rng, &self.tids);
            }
        }
        if kind > 3 || rng.chance(20) {
            let (first, last) = self.bounds;
            let range = last.saturating_sub(first).max(2);
            let from = first.saturating_add(rng.below(range as u64) as i64);
            let most = (range / [300, 50, 10][rng.index(3)]).max(2);
            let to = from.saturating_add(1 + rng.below(most as u64) as i64);
            let point = |time: i64| match time % 2 {
                0 => TimePoint::Absolute(time),
                _ => TimePoint::Relative(time.saturating_sub(first)),
            };
            (wanted.from, wanted.to) = match rng.below(8) {
                0 => (Some(point(last.saturating_sub(most))), None),
                1 => (None, Some(point(first.saturating_add(most)))),
                2 => (Some(point(to)), Some(point(from))),
                _ => (Some(point(from)), Some(point(to))),
            };
        }
        if rng.chance(30) {
            wanted.shrink_to = Some(rng.below(30_000));
        }
        if wanted.pid.is_some() || rng.chance(15) {
            self.others(&mut wanted, rng);
        }
        wanted
    }

    fn others(&self, wanted: &mut Filter, rng: &mut Rng) {
        let text = |rng: &mut Rng| (*rng.pick(&["a", "e", "Task", "x", "0"])).to_owned();
        match rng.below(12) {
            0 => wanted.name = vec![text(rng).parse().expect("sound")],
            1 => wanted.cat = vec![format!("*{}*", text(rng)).parse().expect("sound")],
            2 => wanted.ph = vec!["X".to_owned(), "B".to_owned()],
            3 => wanted.min_dur = Some(Duration(rng.below(5_000) as i64)),
            4 => wanted.max_dur = Some(Duration(rng.below(500_000) as i64)),
            5 => wanted.thread = vec![text(rng).parse().expect("sound")],
            6 => wanted.drop = vec![Preset::ALL[rng.index(Preset::ALL.len())]],
            7 => wanted.invert = true,
            _ => {}
        }
    }
}

/// A trace of many threads that come one after the other: groups within a thread and across, pairs, moments, durations where
/// none belong.
fn threads(seed: u64, threads: usize) -> Vec<u8> {
    let rng = &mut Rng::new(seed);
    let odd = rng.chance(30);
    let mut text = String::from("[\n");
    let (mut ts, mut count) = (1_000_000_u64, 0);
    for number in 0..threads {
        let (pid, tid) = (1 + number % 7, number);
        let mut event = |rest: &str, pid: usize, tid: usize, ts: u64| {
            let spelled =
                if odd && ts.is_multiple_of(17) { format!("\"{tid}\"") } else { tid.to_string() };
            let gap = if ts.is_multiple_of(3) { " " } else { "" };
            let _ = write!(
                text,
                "{}{{{gap}\"pid\":{pid},\"tid\":{spelled},\"ts\":{ts},{rest}}}",
                if count == 0 { "" } else { ",\n" }
            );
            count += 1;
        };
        if rng.chance(50) {
            let name =
                format!("\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{{\"name\":\"t{tid}a\"}}");
            event(&name, pid, tid, ts);
        }
        for _ in 0..rng.index(60) {
            ts += rng.below(300);
            let id = if rng.chance(2) { rng.below(20) } else { ts };
            let near = ts + rng.below(200);
            match rng.below(14) {
                0 => event("\"ph\":\"B\",\"name\":\"a\"", pid, tid, ts),
                1 => event("\"ph\":\"E\",\"name\":\"a\"", pid, tid, ts),
                2 => event("\"ph\":\"E\"", pid, tid, ts),
                3 => {
                    let own = format!("\"name\":\"g\",\"cat\":\"c\",\"id\":{id}");
                    event(&format!("\"ph\":\"b\",{own}"), pid, tid, ts);
                    let other = if rng.chance(5) { tid + 1 } else { tid };
                    event(&format!("\"ph\":\"e\",{own}"), pid, other, near);
                }
                4 if rng.chance(20) => {
                    let own = "\"name\":\"f\",\"cat\":\"c\",\"id\":7";
                    event(&format!("\"ph\":\"s\",{own}"), pid, tid, ts);
                }
                5 if odd => event("\"ph\":\"i\",\"name\":\"x\",\"dur\":70", pid, tid, ts),
                6 if rng.chance(5) => {
                    event("\"ph\":\"X\",\"name\":\"long\",\"dur\":2000000", pid, tid, ts);
                }
                7 if odd && rng.chance(10) => {
                    event("\"ph\":\"N\",\"ts\":\"x\",\"id\":3", pid, tid, ts)
                }
                _ => {
                    let own =
                        format!("\"ph\":\"X\",\"name\":\"n{}\",\"dur\":{}", id % 9, rng.below(90));
                    event(&own, pid, tid, ts);
                }
            }
        }
    }
    text.push_str("\n]\n");
    text.into_bytes()
}

#[test]
fn filters_by_an_index_are_those_without() {
    let mut uses = Uses::default();
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed ^ 0x1d);
        let text = match seed % 5 {
            0 | 1 => threads(seed, 60),
            3 => threads(seed, 500),
            2 => any_trace(seed, &mut rng),
            _ => profile_trace(seed, &ProfileShape::arbitrary(&mut rng)),
        };
        let folder = Folder::new();
        let path = folder.file("a.json", &text);
        let Some(known) = Known::of(&path) else { continue };
        made(&path, PLAIN);
        for number in 0..16 {
            let wanted = known.criteria(&mut rng);
            let with = of_files(seed as usize * 16 + number);
            let viewer = match number % 8 {
                1 => Some(CheckFor::Devtools),
                6 => Some(CheckFor::Perfetto),
                _ => None,
            };
            let what = format!("seed {seed}, {number}: {wanted:?} {viewer:?}");
            uses.count(same(&what, &path, &wanted, with, viewer), text.len());
        }
    }
    uses.assert_pays(4, 3);
    assert!(uses.unused.len() > 6, "{uses:?}");
}

/// 6 s of events in order; among them, anywhere, the chunks of two profiles, of the first and the last tenth of a second.
fn scattered_profiles(rng: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<(u64, String)> = (0..6000_u64)
        .map(|n| {
            let tid = n % 3;
            let ts = n * 1000;
            let event = format!(
                r#"{{"ph":"X","name":"e","pid":1,"tid":{tid},"ts":{ts},"dur":2,"args":{{}}}}"#
            );
            (n, event)
        })
        .collect();
    for (id, start) in [(1, 0), (2, 5_900_000)] {
        let mut places: Vec<u64> = (0..41).map(|_| rng.below(6000)).collect();
        places.sort_unstable();
        for (number, place) in places.into_iter().enumerate() {
            let ts = start + number * 100;
            let (name, data) = match number {
                0 => ("Profile", format!(r#""startTime":{start}"#)),
                _ => {
                    let parent = if number > 1 { r#","parent":1"# } else { "" };
                    let frame = r#""callFrame":{"functionName":"f","scriptId":0,"codeType":"JS"}"#;
                    let nodes = format!(r#"[{{"id":{number}{parent},{frame}}}]"#);
                    let samples = format!(r#""samples":[{number}]"#);
                    let profile = format!(r#""cpuProfile":{{"nodes":{nodes},{samples}}}"#);
                    ("ProfileChunk", format!(r#"{profile},"timeDeltas":[100]"#))
                }
            };
            let event = format!(
                r#"{{"ph":"P","name":"{name}","id":"0x{id}","pid":1,"tid":9,"ts":{ts},"args":{{"data":{{{data}}}}}}}"#
            );
            lines.push((place, event));
        }
    }
    lines.sort_by_key(|(place, _)| *place);
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    format!("[\n{}\n]\n", lines.join(",\n")).into_bytes()
}

#[test]
fn profiles_that_are_not_read_are_counted_where_their_times_are() {
    let mut uses = Uses::default();
    for seed in seeds(0, 3) {
        let mut rng = Rng::new(seed ^ 0x5ca);
        let text = scattered_profiles(&mut rng);
        let folder = Folder::new();
        let path = folder.file("a.json", &text);
        made(&path, PLAIN);
        for number in 0..4 {
            let from = 1_000_000_000 + rng.below(3_000_000_000) as i64;
            let to = from + 1_000_000 * (1 + rng.below(200) as i64);
            let [from, to] = [from, to].map(|time| Some(TimePoint::Absolute(time)));
            let wanted = Filter { from, to, ..Filter::default() };
            let what = format!("seed {seed}, {number}: {wanted:?}");
            let with = of_files(seed as usize * 4 + number);
            uses.count(same(&what, &path, &wanted, with, None), text.len());
        }
    }
    assert_eq!(uses.unused, BTreeMap::default());
    uses.assert_pays(2, 3);
}

#[test]
fn what_is_counted_is_what_the_naive_reference_counts() {
    // a second opinion on what is not read: events by thread, counted apart from all that the index is made of
    let text = threads(4, 500);
    let folder = Folder::new();
    let path = folder.file("a.json", &text);
    made(&path, PLAIN);
    let wanted = Filter { tid: "72".parse().ok(), ..Filter::default() };
    let (_, report) = filtered(&path, &wanted, &Config { index: IndexUse::Auto, ..config(PLAIN) })
        .expect("sound");
    assert!(report.index.is_some(), "{:?}", report.index_unused);
    let events = reference::events(&text).expect("well-formed");
    let dropped: u64 = report.dropped.iter().map(|dropped| dropped.events).sum();
    assert_eq!(dropped + report.run.events, events.len() as u64);
    let bytes: u64 = report.dropped.iter().map(|dropped| dropped.bytes).sum();
    let all: u64 = events.iter().map(|event| event.bytes.len() as u64).sum();
    assert!(bytes < all && bytes > all / 2, "{bytes} {all}");
}
