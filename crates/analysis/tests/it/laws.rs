//! Laws of tables over what programs write and what no program has written yet: several inputs are what `merge` makes of them, what
//! `calls` writes has the rows of its source, and windows beside each other add up.
//!
//! Of two CPU profiles of a thread DevTools takes the one that begins first in the file, and so do tables. `merge` puts events in order of
//! time, so it may be the other one in its output: for such traces the first two laws do not hold, and they are left out here. So are those
//! that begin late: a double may have their times in quarters of a microsecond, so that what `merge` puts in order by digits is at one time to
//! trees.

use crate::random;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tracemill_analysis::{
    Entries, GroupBy, Order, Part, Per, Picks, PictureRules, Query, ReadRules, RowLimit, Shape,
    SourceMaps, TableRules, ThreadChoice, Trace, TreeRow, Window,
};
use tracemill_join::config::{Align, Config, PidPolicy};
use tracemill_join::report::MergeReport;
use tracemill_pipeline::merge;
use tracemill_testkit::{Rng, generate, seeds};
use tracemill_trace::Source;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::limits::Shares;
use tracemill_trace::run::losses::InputReport;

/// As the command reads.
fn config() -> Config {
    let mut config = Config::new(2, 256 << 20, std::env::temp_dir());
    config.identity.pid = PidPolicy::Auto;
    config.clocks.align = Align::Auto;
    config
}

fn read(sources: &[Source]) -> Trace {
    Trace::read(sources, ReadRules::default(), &config()).expect("they are traces")
}

pub(crate) fn query(shape: Shape, entries: Entries, windows: Vec<Window>) -> Query {
    let rules = TableRules { entries, as_devtools: false };
    let (by, per, picks) = (GroupBy::None, Per::Thread, Picks::default());
    Query { shape, by, rules, per, windows, picks, key: None }
}

const SHAPES: [Shape; 3] = [Shape::CallTree, Shape::BottomUp { levels: 4 }, Shape::Log];

/// Tables of all threads by what these are called, but for the keys of events, which are their numbers among all that is read,
/// and for the file that tells threads of several inputs apart.
fn tables(trace: &Trace, shape: Shape, entries: Entries) -> BTreeMap<String, String> {
    let threads = trace.choose(&ThreadChoice::default());
    let parts = trace.parts(&threads, &query(shape, entries, Vec::new())).expect("room");
    let told = |mut part: Part| {
        let rows = part.table.rows.iter().map(Cow::into_owned);
        part.table.rows = rows.map(|row| TreeRow { key: None, ..row }).collect::<Vec<_>>().into();
        let title = trace.title(&part);
        let file = title.rsplit_once(' ').filter(|(_, file)| file.ends_with(".json"));
        let title = file.map_or(title.clone(), |(title, _)| title.to_owned());
        (title, format!("{:?} {} {}", part.table, part.calls, part.dropped))
    };
    parts.into_iter().map(told).collect()
}

/// The sources as one trace.
fn merged(sources: &[Source]) -> Vec<u8> {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    merge(sources, &OutputConfig::writer(Arc::clone(&bytes)), &config()).expect("they merge");
    let bytes = bytes.lock().expect("nothing panicked");
    bytes.clone()
}

/// A random recording, of the first seed from `seed` on in which no thread has two CPU profiles and that begins as most do.
fn recording(seed: u64) -> String {
    let has_rivals = |trace: &Value| {
        let events = trace["traceEvents"].as_array().expect("a list").iter();
        let profiles = events.filter(|event| event["name"] == "Profile");
        let ids = |event: &Value| Some((event["pid"].as_u64()?, event["tid"].as_u64()?));
        let mut threads: Vec<(u64, u64)> = profiles.filter_map(ids).collect();
        let count = threads.len();
        threads.sort_unstable();
        threads.dedup();
        threads.len() < count
    };
    let is_late = |trace: &Value| {
        let mut events = trace["traceEvents"].as_array().expect("a list").iter();
        events.any(|event| event["ts"].as_f64() > Some(1e10))
    };
    let mut all = (seed..).map(generate::recording);
    all.find(|trace| !has_rivals(trace) && !is_late(trace)).expect("most are such").to_string()
}

fn source(name: usize, bytes: &[u8]) -> Source {
    Source::bytes(format!("{name}.json"), bytes.to_vec())
}

#[test]
fn several_inputs_are_what_merge_makes_of_them() {
    let mut compared = 0;
    for seed in seeds(0, 24) {
        let texts: Vec<String> =
            (0..2 + seed % 2).map(|at| recording(seed * 20 + 7 * at)).collect();
        let sources = || -> Vec<Source> {
            texts.iter().enumerate().map(|(at, text)| source(at, text.as_bytes())).collect()
        };
        let (own, one) = (read(&sources()), read(&[source(9, &merged(&sources()))]));
        for shape in SHAPES {
            let (own, one) =
                (tables(&own, shape, Entries::Visible), tables(&one, shape, Entries::Visible));
            assert_eq!(own, one, "seed {seed}, {shape:?}");
            compared += own.len();
        }
    }
    assert!(compared > 100, "{compared}");
}

/// V8 gives the first profile of each session the id 0x1, so two recordings of one process have it both.
#[test]
fn profiles_of_a_process_that_was_recorded_twice_are_both_there() {
    let text = |function: &str, ts: u32| {
        let cat = "disabled-by-default-v8.cpu_profiler";
        let of = |name: &str, data: Value| serde_json::json!({"ph": "P", "name": name, "cat": cat, "id": "0x1", "pid": 1, "tid": 1, "ts": ts, "args": {"data": data}});
        let frame =
            |name: &str| serde_json::json!({"functionName": name, "scriptId": 1, "url": "a.js"});
        let nodes = serde_json::json!([
            {"id": 1, "callFrame": frame("(root)")},
            {"id": 2, "parent": 1, "callFrame": frame(function)},
        ]);
        let profile = serde_json::json!({"nodes": nodes, "samples": [2, 2, 2]});
        let named = |name: &str, own: &str| serde_json::json!({"ph": "M", "name": name, "pid": 1, "tid": 1, "ts": 0, "args": {"name": own}});
        serde_json::json!([
            named("process_name", "node"),
            named("thread_name", "JavaScriptMainThread"),
            {"ph": "X", "name": "FunctionCall", "cat": "devtools.timeline", "pid": 1, "tid": 1, "ts": ts, "dur": 900, "args": {"data": {}}},
            of("Profile", serde_json::json!({"startTime": ts})),
            of("ProfileChunk", serde_json::json!({"cpuProfile": profile, "timeDeltas": [100, 100, 100]})),
        ])
        .to_string()
    };
    let texts = [text("alpha", 1000), text("beta", 9000)];
    let all = || texts.iter().enumerate().map(|(at, text)| source(at, text.as_bytes())).collect();
    let sources: Vec<Source> = all();
    let shape = Shape::BottomUp { levels: 1 };
    let one = tables(&read(&[source(9, &merged(&all()))]), shape, Entries::Visible);
    assert_eq!(one, tables(&read(&sources), shape, Entries::Visible));
    let said = format!("{one:?}");
    assert!(one.len() == 2 && said.contains("alpha") && said.contains("beta"), "{said}");
}

#[test]
fn what_calls_writes_has_the_rows_of_its_source() {
    let mut calls = 0;
    for seed in seeds(300, 24) {
        let text = recording(seed * 7);
        let of = || source(0, text.as_bytes());
        let trace = read(&[of()]);
        let rules = TableRules { entries: Entries::All, as_devtools: false };
        let threads = trace.choose(&ThreadChoice::default());
        let (written, own) = trace.draft_calls(&threads, rules, None, "calls").expect("room");
        calls += written.calls;
        // pids stay those of the trace that is written
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let to = OutputConfig::writer(Arc::clone(&bytes));
        let usual = Config::new(2, 256 << 20, std::env::temp_dir());
        merge(&[vec![of()], own].concat(), &to, &usual).expect("they merge");
        let again = read(&[source(1, &bytes.lock().expect("nothing panicked"))]);
        assert_eq!(again.written_calls, written.calls, "seed {seed}");
        for shape in SHAPES {
            let tables = |trace| tables(trace, shape, Entries::All);
            assert_eq!(tables(&trace), tables(&again), "seed {seed}, {shape:?}");
        }
    }
    assert!(calls > 1000, "{calls}");
}

/// Inputs that are read once for calls and for a merge are written as where each reads them: traces and CPU profiles, from files and pipes,
/// whatever memory there is, and whichever ids and clocks are brought together.
#[test]
fn inputs_are_read_once_for_calls_and_a_merge() {
    let (folder, mut calls) = (tempfile::tempdir().expect("a folder"), 0);
    for seed in seeds(1300, 40) {
        let mut rng = Rng::new(seed);
        let texts: Vec<String> = (0..1 + rng.below(3))
            .map(|at| match rng.below(3) {
                0 => generate::cpuprofile(seed + 100 * at).to_string(),
                _ => recording(seed * 7 + at),
            })
            .collect();
        let is_piped: Vec<bool> = texts.iter().map(|_| rng.below(3) == 0).collect();
        let sources = || {
            let all = texts.iter().zip(&is_piped).enumerate();
            let source = |(at, (text, is_piped)): (usize, (&String, &bool))| {
                let bytes = text.clone().into_bytes();
                if *is_piped {
                    return Source::reader(format!("{at}.cpuprofile"), std::io::Cursor::new(bytes));
                }
                let path = folder.path().join(format!("{at}.cpuprofile"));
                std::fs::write(&path, bytes).expect("the folder is ours");
                Source::Path(path)
            };
            all.map(source).collect::<Vec<Source>>()
        };
        let mut config = Config::new(1 + rng.below(3) as usize, 256 << 20, std::env::temp_dir());
        if rng.below(2) == 0 {
            config.identity.pid = PidPolicy::Auto;
            config.clocks.align = Align::Auto;
        }
        if rng.below(2) == 0 {
            config.limits.shares = Some(Shares { index: 2000, ..config.limits.shares() });
        }
        let written = |report: MergeReport, bytes: Arc<Mutex<Vec<u8>>>| {
            let of_input = |input_report: &InputReport| {
                (input_report.name.clone(), input_report.events, input_report.span)
            };
            let inputs: Vec<_> = report.run.inputs.iter().map(of_input).collect();
            (inputs, bytes.lock().expect("nothing panicked").clone())
        };
        let rules = TableRules { entries: Entries::All, as_devtools: false };
        let draft = |trace: &Trace| {
            let threads = trace.choose(&ThreadChoice::default());
            trace.draft_calls(&threads, rules, None, "calls").expect("room")
        };

        let twice = Arc::new(Mutex::new(Vec::new()));
        let trace = Trace::read(&sources(), ReadRules::default(), &config).expect("traces");
        let (made, own) = draft(&trace);
        let to = OutputConfig::writer(Arc::clone(&twice));
        let report = merge(&[sources(), own].concat(), &to, &config).expect("they merge");
        let twice = written(report, twice);

        let once = Arc::new(Mutex::new(Vec::new()));
        let only = ReadRules { only_calls: true, ignore_refusals: true, ..ReadRules::default() };
        let read = Trace::read_to_merge(&sources(), only, &SourceMaps::default(), &config);
        let (trace, merging) = read.expect("traces");
        let (own_made, own) = draft(&trace);
        let to = OutputConfig::writer(Arc::clone(&once));
        let once = written(merging.merge(&own, &to).expect("they merge"), once);
        assert_eq!(made, own_made, "seed {seed}");
        assert_eq!(twice.0, once.0, "seed {seed}");
        assert!(twice.1 == once.1, "seed {seed}");
        calls += made.calls;
    }
    assert!(calls > 1000, "{calls}");
}

/// Calls are written to several files, which one merge makes of them what it makes of one.
#[test]
fn calls_of_many_threads_are_those_of_one_file() {
    let profile = |seed: u64| generate::cpuprofile(seed).to_string().into_bytes();
    let sources: Vec<Source> =
        (0..130).map(|seed| Source::bytes(format!("{seed}.cpuprofile"), profile(seed))).collect();
    let trace = read(&sources);
    let (rules, threads) = (TableRules::default(), trace.choose(&ThreadChoice::default()));
    let mut text = Vec::new();
    let write = |own: &[u8]| {
        text.extend_from_slice(own);
        Ok(())
    };
    let one = trace.write_calls(&threads, rules, None, write).expect("memory takes it");
    let (all, drafts) = trace.draft_calls(&threads, rules, None, "calls").expect("room");
    let merged = |sources: &[Source]| {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let usual = Config::new(2, 256 << 20, std::env::temp_dir());
        merge(sources, &OutputConfig::writer(Arc::clone(&bytes)), &usual).expect("they merge");
        let bytes = bytes.lock().expect("nothing panicked");
        bytes.clone()
    };
    assert!(one == all && all.calls > 1000 && (20..=64).contains(&drafts.len()), "{all:?}");
    assert!(merged(&[source(0, &text)]) == merged(&drafts));
}

/// Of a limited table the rows are the first ones of the whole one, and the others are counted.
#[test]
fn the_first_rows_are_those_of_the_whole_table() {
    let mut left_out = 0;
    for seed in seeds(900, 24) {
        let trace = read(&[source(0, recording(seed * 7).as_bytes())]);
        let threads = trace.choose(&ThreadChoice::default());
        for (at, shape) in SHAPES.into_iter().enumerate() {
            let per = [Per::Thread, Per::Process, Per::All][(seed as usize + at) % 3];
            let query = Query { per, ..query(shape, Entries::Visible, Vec::new()) };
            let limit = RowLimit { rows: 1 + seed as usize % 9, ..RowLimit::default() };
            let whole = trace.parts(&threads, &query).expect("room");
            let first = trace.parts_within(&threads, &query, limit).expect("room");
            for (first, whole) in first.iter().zip(&whole) {
                let (rows, all) = (&first.table.rows, &whole.table.rows);
                assert_eq!(rows.len() as u64 + first.table.more, all.len() as u64, "seed {seed}");
                assert!(rows.iter().eq(all.iter().take(rows.len())), "seed {seed}, {shape:?}");
                let is_own = per == Per::Thread || threads.len() == 1;
                assert!(rows.len() <= limit.rows || is_own && shape == Shape::Log);
                left_out += first.table.more;
            }
            assert_eq!(first.len(), whole.len());
        }
    }
    assert!(left_out > 100, "{left_out}");
}

/// A table that only one thread has part in is that thread's.
#[test]
fn the_table_of_one_thread_is_that_of_all() {
    let mut rows = 0;
    for seed in seeds(950, 12) {
        let profile = generate::cpuprofile(seed).to_string().into_bytes();
        let sources = [source(0, recording(seed * 7).as_bytes()), source(1, &profile)];
        for trace in sources.iter().map(|own| read(std::slice::from_ref(own))) {
            for (at, shape) in (0..trace.threads.len()).flat_map(|at| SHAPES.map(|own| (at, own))) {
                let of = |per| {
                    let query = Query { per, ..query(shape, Entries::Visible, Vec::new()) };
                    trace.parts(&[at], &query).expect("room").remove(0).table
                };
                let own = of(Per::Thread);
                assert!(own == of(Per::All), "seed {seed}, {shape:?}");
                rows += own.rows.len();
            }
        }
    }
    assert!(rows > 1000, "{rows}");
}

/// Of events at whole microseconds, whose sums tell it to the microsecond: what a row has in windows beside each other is what it
/// has in all of them as one. Counts do not add up, since an event may be in several.
#[test]
fn windows_beside_each_other_add_up() {
    type Sums = BTreeMap<(String, Vec<String>), (i64, i64)>;
    let whole = |ms: f64| (ms * 1000.0).round() as i64;
    let add = |sums: &mut Sums, trace: &Trace, shape: Shape, window: Window| {
        let threads = trace.choose(&ThreadChoice::default());
        let query = query(shape, Entries::All, vec![window]);
        for part in trace.parts(&threads, &query).expect("room") {
            let mut path: Vec<String> = Vec::new();
            for row in &part.table.rows {
                path.truncate(row.depth as usize);
                path.push(row.id.clone());
                let own = sums.entry((trace.title(&part), path.clone())).or_default();
                (own.0, own.1) = (own.0 + whole(row.own), own.1 + whole(row.total));
            }
        }
    };
    for seed in seeds(500, 120) {
        let mut rng = Rng::new(seed);
        let (text, _) = random::generate(&mut rng);
        let trace = read(&[source(0, text.as_bytes())]);
        let (first, last) = trace.bounds;
        let mut edges: Vec<f64> = (0..1 + rng.index(5))
            .map(|_| first + rng.index((last - first) as usize) as f64)
            .collect();
        edges.extend([first, last]);
        edges.sort_by(f64::total_cmp);
        let window = |from: f64, to: f64| Window { from: from / 1000.0, to: to / 1000.0 };
        // bottom up, a row is there only where it has time of its own
        let (mut one, mut parts) = (Sums::new(), Sums::new());
        add(&mut one, &trace, Shape::CallTree, window(first, last));
        for pair in edges.windows(2) {
            add(&mut parts, &trace, Shape::CallTree, window(pair[0], pair[1]));
        }
        for sums in [&mut one, &mut parts] {
            sums.retain(|_, sum| *sum != (0, 0));
        }
        assert_eq!(one, parts, "seed {seed}, {edges:?}\n{text}");
    }
}

/// Where calls are made while the trace is read, tables of them are the same, also where they are on disk.
#[test]
fn calls_are_the_same_whenever_they_are_made() {
    let mut made = 0;
    for seed in seeds(700, 24) {
        let text = match seed % 3 {
            0 => generate::cpuprofile(seed).to_string(),
            _ => recording(seed * 7),
        };
        let usual = read(&[source(0, text.as_bytes())]);
        let rules = ReadRules { as_stored: true, ..ReadRules::default() };
        let mut config = config();
        if seed % 2 == 0 {
            config.limits.shares = Some(Shares { index: 2000, ..config.limits.shares() });
        }
        let kept = Trace::read(&[source(0, text.as_bytes())], rules, &config).expect("a trace");
        for shape in SHAPES {
            let [usual, kept] = [&usual, &kept].map(|own| tables(own, shape, Entries::Visible));
            assert_eq!(usual, kept, "seed {seed}, {shape:?}");
            made += usual.len();
        }
    }
    assert!(made > 50, "{made}");
}

/// A frame that is drawn, and what is left of it beside those drawn below it.
struct Frame {
    path: Vec<String>,
    /// Where it begins and ends, and where the next one below it may begin, in nanoseconds.
    range: (i64, i64),
    free: i64,
}

/// Frames are as wide as their rows last and lie in those of their callers, none over another; each row is drawn once or folded once, and what
/// no frame below a frame covers is its own time.
#[test]
fn pictures_have_each_row_once_and_as_wide_as_it_lasts() {
    let (mut frames, mut folds) = (0, 0);
    for seed in seeds(900, 150) {
        let mut rng = Rng::new(seed);
        let (text, _) = random::generate(&mut rng);
        let trace = read(&[source(0, text.as_bytes())]);
        let parts = crate::export::parts(&trace, Per::All);
        let nanos = |ms: f64| (ms * 1e6).round() as i64;
        let (mut rows, mut path) = (BTreeMap::new(), Vec::new());
        for row in &parts[0].table.rows {
            path.truncate(row.depth as usize);
            path.push(row.name().to_owned());
            let before = rows.insert(path.clone(), (nanos(row.own), nanos(row.total)));
            assert!(before.is_none(), "seed {seed}: {path:?} is two rows");
        }
        let most = [1, 3, 8, 20_000][rng.index(4)];
        let order = if rng.chance(50) { Order::Name } else { Order::Heavy };
        let picture = trace
            .picture(&parts, PictureRules { most, order, ..PictureRules::default() })
            .expect("room");
        let (drawn, folded) = picture.counts();
        // the frame around all of them is no row
        assert_eq!(drawn + folded, rows.len() as u64 + 1, "seed {seed}");
        (frames, folds) = (frames + drawn, folds + folded);
        let length = picture.length() as f64;
        let mut open: Vec<Frame> = Vec::new();
        let close = |open: &mut Vec<Frame>, depth: usize| {
            for Frame { path, range, free } in open.drain(depth..) {
                if let Some((own, total)) = rows.get(&path) {
                    assert_eq!((range.1 - free, range.1 - range.0), (*own, *total), "seed {seed}");
                }
            }
        };
        for own in picture.drawn() {
            close(&mut open, own.depth as usize);
            let from = (own.x * length).round() as i64;
            let range = (from, from + own.total as i64);
            let mut path = Vec::new();
            if let Some(above) = open.last_mut() {
                assert!(above.free <= range.0 && range.1 <= above.range.1, "seed {seed}");
                assert_eq!(above.free, range.0, "seed {seed}: a gap before a frame");
                above.free = range.1;
                path.clone_from(&above.path);
                path.push(own.name.to_owned());
            }
            if own.name.is_empty() {
                continue;
            }
            assert!(open.is_empty() || rows.contains_key(&path), "seed {seed}: {path:?}");
            open.push(Frame { path, range, free: range.0 });
        }
        close(&mut open, 0);
    }
    assert!(frames > 1000 && folds > 500, "{frames} drawn, {folds} folded");
}
