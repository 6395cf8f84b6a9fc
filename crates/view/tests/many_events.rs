//! A trace of 200 million events that consists of an index and a sparse file. Replies about the
//! whole trace must not grow with the number of events. A separate binary, because memory is
//! measured per process.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests; figures are for who asks for them"
)]

use serde_json::{Value, json};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::{Instant, UNIX_EPOCH};
use tracemill_index::format::{Fingerprint, Index, Input, Page, PageBuilder, Writer, id, spans};
use tracemill_index::{IndexConfig, index, index_path};
use tracemill_join::config::{Config, IndexUse};
use tracemill_testkit::heap::own_mib;
use tracemill_trace::Source;
use tracemill_trace::run::limits::Cancel;
use tracemill_view::{Ask, Content, Site};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const THREADS: u64 = 64;
const ROWS: u64 = 8192;
/// Bytes of text per event.
const EVENT: u64 = 100;
/// Bytes of text per block.
const GRANULE: u64 = 4096;
/// Duration of the trace in nanoseconds.
const RANGE: i64 = 1 << 40;
/// log2 of the duration above which a slice is long, in nanoseconds.
const LONG: u32 = 20;
/// log2 of the width of a bin, in nanoseconds.
const BIN: u32 = 30;

/// Creates a few events per thread, whose index provides names and threads.
fn text() -> String {
    let event = |at: u64| {
        let (name, tid) = (at % 1000, at % THREADS);
        format!(
            r#"{{"ph":"X","name":"work {name}","cat":"c","pid":1,"tid":{tid},"ts":{at},"dur":3}}"#
        )
    };
    let events: Vec<String> = (0..5000).map(event).collect();
    format!("[{}]", events.join(",\n"))
}

/// Writes `count` rows as pages of a section; `keys` computes the keys of a page.
fn section<const COLUMNS: usize>(
    to: &mut Writer<Vec<u8>>,
    section: u16,
    count: u64,
    row: impl Fn(u64) -> [u64; COLUMNS],
    keys: impl Fn(&[[u64; COLUMNS]]) -> RangeInclusive<u64>,
) {
    to.section(section).unwrap();
    for first in (0..count).step_by(ROWS as usize) {
        let rows: Vec<_> = (first..count.min(first + ROWS)).map(&row).collect();
        to.page(rows.len(), keys(&rows), |page| {
            for column in 0..COLUMNS {
                page.numbers(&rows.iter().map(|row| row[column]).collect::<Vec<_>>());
            }
        })
        .unwrap();
    }
}

/// Copies a section unchanged; `columns` has the number of numeric columns before and after an
/// optional byte column.
fn copied(of: &Index<'_>, to: &mut Writer<Vec<u8>>, id: u16, columns: (usize, bool, usize)) {
    let (before, has_bytes, behind) = columns;
    let Some(section) = of.section(id) else { return };
    to.section(id).unwrap();
    for entry in &section.pages {
        let page = of.page(entry).unwrap();
        let numbers = |from: &Page, column: usize, page: &mut PageBuilder| {
            page.numbers(&from.numbers(column).unwrap());
        };
        to.page(page.rows(), entry.first..=entry.last, |out| {
            (0..before).for_each(|column| numbers(&page, column, out));
            if has_bytes {
                out.bytes(page.bytes(before).unwrap());
            }
            (0..behind).for_each(|column| numbers(&page, before + 1 + column, out));
        })
        .unwrap();
    }
}

/// Replaces the index of the small trace by one for `events` events.
fn write_index(trace: &Path, events: u64) -> u64 {
    let path = index_path(trace);
    let old = std::fs::read(&path).unwrap();
    let old = Index::open(&old).unwrap();
    let few = std::fs::metadata(trace).unwrap().len();
    let length = events * EVENT;
    let mut file = File::options().read(true).write(true).open(trace).unwrap();
    file.set_len(length).unwrap();
    file.seek(SeekFrom::End(-1)).unwrap();
    file.write_all(b"]").unwrap();
    let modified = file.metadata().unwrap().modified().unwrap().duration_since(UNIX_EPOCH);
    let fingerprint = Fingerprint::of(&mut file, length).unwrap();
    let modified_ns = modified.unwrap().as_nanos() as i64;

    let meta = old.joined(old.section(id::META).unwrap(), 64 << 20).unwrap();
    let mut meta: Value = serde_json::from_slice(&meta).unwrap();
    (meta["input"]["bytes"], meta["input"]["events"]) = (json!(length), json!(events));
    (meta["info"], meta["windows"]["level"]) = (Value::Null, json!(LONG));
    (meta["windows"]["bounds"], meta["drawn"]["level"]) = (json!([0, 0, RANGE, RANGE]), json!(BIN));
    let mut to = Writer::new(Vec::new());
    to.section(id::META).unwrap();
    to.page(1, 0..=0, |page| _ = page.bytes(meta.to_string().as_bytes())).unwrap();
    let granules = (length - few) / GRANULE;
    let step = RANGE as u64 / granules;
    let granule = |at: u64| {
        let place = if at == 0 { 1 } else { few + at * GRANULE };
        [place, GRANULE - 2, GRANULE / EVENT, at * step, step * 2, 0, GRANULE - 50]
    };
    let times = |rows: &[[u64; 7]]| rows[0][3]..=rows.last().unwrap()[3] + step * 2;
    section(&mut to, id::GRANULES, granules - 1, granule, times);
    copied(&old, &mut to, id::PLACES, (3, false, 0));
    // the maximum number of long slices in an index
    let long = events / 64;
    let each = long.div_ceil(THREADS);
    let apart = RANGE as u64 / each;
    let span = |at: u64| {
        // three nested slices, then a gap
        let (lane, depth) = (at / each, at % each % 4);
        let start = at % each * apart;
        let kind = u64::from(spans::COMPLETE);
        let dur = if depth == 3 { apart / 2 } else { (3 - depth) * apart - depth.min(1) };
        let dur = dur.max((1 << LONG) + 1);
        let place = few + at * GRANULE % (length - few - 1);
        [kind, 0, lane, start, dur, place, 0, 0, 0, u64::from(u32::MAX), at % 1000]
    };
    let reach = |rows: &[[u64; 11]]| {
        let (starts, ends) =
            (rows.iter().map(|row| row[3]), rows.iter().map(|row| row[3] + row[4]));
        starts.min().unwrap()..=ends.max().unwrap()
    };
    section(&mut to, id::SPANS, long, span, reach);
    copied(&old, &mut to, id::NAMES, (4, true, 0));
    copied(&old, &mut to, id::LANES, (3, true, 0));
    let bins = RANGE as u64 >> BIN;
    let bin = |at: u64| {
        let count = events / (bins * THREADS);
        [at / bins, at % bins, count, count * 1000, 100_000, at % 1000]
    };
    section(&mut to, id::BINS, bins * THREADS, bin, |rows| rows[0][0]..=rows.last().unwrap()[0]);
    let (body, head) = to.finish(&Input { length, modified_ns, fingerprint }).unwrap();
    std::fs::write(&path, [&head[..], &body].concat()).unwrap();
    (head.len() + body.len()) as u64
}

/// Returns the anonymous memory of the process in MiB.
fn memory() -> u64 {
    own_mib().unwrap()
}

/// Returns the sizes of replies about a trace of `events` events, and the peak memory in MiB.
fn answers(events: u64) -> (Vec<usize>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    std::fs::write(&path, text()).unwrap();
    let config = Config { index: IndexUse::Auto, ..Config::new(2, 64 << 20, std::env::temp_dir()) };
    let sources = vec![Source::Path(path.clone())];
    index(&sources, &IndexConfig::default(), &config).unwrap();
    let bytes = write_index(&path, events);
    let began = Instant::now();
    let site = Site::new(sources, config, TOKEN.into(), 80);
    site.read().unwrap();
    println!("{events} events, an index of {} KiB: {:?} to open it", bytes >> 10, began.elapsed());
    let mut most = memory();
    let get = |route: &str| {
        let target = format!("/{TOKEN}/{route}");
        let host = Some("localhost");
        let ask = Ask { method: "GET", target: &target, host, origin: None, is_own: false };
        let began = Instant::now();
        let reply = site.answer(&ask, &Cancel::default());
        let took = began.elapsed();
        let Content::Whole(body) = reply.content else { unreachable!("it is not large") };
        assert_eq!(reply.status, 200, "{route}: {}", String::from_utf8_lossy(&body));
        println!("    {took:>12?} {:>8} bytes {:.60}", body.len(), route);
        body
    };
    let trace: Value = serde_json::from_slice(&get("api/trace")).unwrap();
    assert_eq!((&trace["events"], &trace["by_index"]), (&json!(events), &json!(true)));
    let mut routes =
        vec!["api/overview?px=1500".to_owned(), "api/names?q=work&limit=50".to_owned()];
    let lanes = format!("0-{}", THREADS - 1);
    for zoom in [0, 2, 4, 8, 12] {
        let to = RANGE >> zoom;
        routes.push(format!("api/tile?from=0&to={to}&px=1024&lanes={lanes}&exact=0"));
        routes
            .push(format!("api/tile?from={}&to={RANGE}&px=1024&lanes={lanes}&exact=0", RANGE - to));
    }
    // too many events to read: sums
    routes.push(format!("api/tile?from=0&to={RANGE}&px=1024&lanes={lanes}"));
    routes.push(format!("api/stats?from=0&to={RANGE}"));
    routes.push(format!("api/size?from=0&to={RANGE}"));
    let mut all = Vec::new();
    for route in &routes {
        all.push(get(route).len());
        most = most.max(memory());
    }
    (all, most)
}

#[test]
fn reply_sizes_do_not_grow_with_the_events() {
    let before = memory();
    let (few, less) = answers(12_800_000);
    let (many, most) = answers(200_000_000);
    println!("{before} MiB of memory, then {less}, then {most}");
    for (few, many) in few.iter().zip(&many) {
        // replies about a window are bounded by its pixels
        assert!(*many < few * 2 + (1 << 20), "{many} bytes, of less events {few}");
        assert!(*many < 4 << 20, "{many}");
    }
    // memory budget, one reply, and the building of the index
    assert!(most < before + 128, "{before} MiB, then {less}, then {most}");
}
