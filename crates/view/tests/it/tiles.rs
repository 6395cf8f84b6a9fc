//! Tiles of random traces, compared with the slices from which the traces were generated.

use crate::support::{Opened, body, config, open, unread, with};
use serde_json::Value;
use std::collections::BTreeMap;
use tracemill_join::config::Config;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::run::limits::Shares;

/// An interval: thread, start and duration in ns, name, row.
pub(crate) type Known = (u64, u64, u64, String, u16);

#[derive(Debug, Default)]
pub(crate) struct Lane {
    is_exact: bool,
    pub(crate) state: u8,
    pub(crate) spans: Vec<(f64, f64, u32, u16)>,
    pub(crate) places: Vec<f64>,
    pub(crate) flags: Vec<u8>,
    pub(crate) columns: Vec<(u32, u32, u16, u8)>,
}

pub(crate) fn parse(bytes: &[u8]) -> BTreeMap<u32, Lane> {
    struct Reader<'a>(&'a [u8], usize);
    impl Reader<'_> {
        fn word(&mut self) -> u32 {
            self.1 += 4;
            u32::from_le_bytes(self.0[self.1 - 4..self.1].try_into().unwrap())
        }
        fn array<const N: usize, T>(&mut self, count: usize, of: fn([u8; N]) -> T) -> Vec<T> {
            assert_eq!(self.1 % 8, 0, "arrays are aligned");
            let array = &self.0[self.1..self.1 + count * N];
            self.1 = (self.1 + count * N).next_multiple_of(8);
            array.chunks_exact(N).map(|bytes| of(bytes.try_into().unwrap())).collect()
        }
    }
    assert_eq!(&bytes[..4], b"TMT1");
    let mut reader = Reader(bytes, 4);
    let mut lanes = BTreeMap::new();
    for _ in 0..reader.word() {
        let (id, state) = (reader.word(), reader.word());
        let (n, m) = (reader.word() as usize, reader.word() as usize);
        let (start, dur) =
            (reader.array(n, f64::from_le_bytes), reader.array(n, f64::from_le_bytes));
        let places = reader.array(n, f64::from_le_bytes);
        let (name, row) =
            (reader.array(n, u32::from_le_bytes), reader.array(n, u16::from_le_bytes));
        let flags = reader.array(n, |[byte]: [u8; 1]| byte);
        let (column, count) =
            (reader.array(m, u32::from_le_bytes), reader.array(m, u32::from_le_bytes));
        let _names = reader.array(m, u32::from_le_bytes);
        let (rows, busy) =
            (reader.array(m, u16::from_le_bytes), reader.array(m, |[byte]: [u8; 1]| byte));
        let spans = (0..n).map(|at| (start[at], dur[at], name[at], row[at])).collect();
        let columns = (0..m).map(|at| (column[at], count[at], rows[at], busy[at])).collect();
        let (is_exact, state) = (state & 255 == 0, state as u8);
        lanes.insert(id, Lane { is_exact, state, spans, places, flags, columns });
    }
    assert_eq!(reader.1, bytes.len());
    lanes
}

#[test]
fn counters_of_pages_and_named_colours_are_drawn() {
    let counters = |ts: u64, values: &str| {
        format!(
            r#"{{"ph":"I","name":"UpdateCounters","pid":3,"tid":4,"ts":{ts},"args":{{"data":{{{values}}}}}}},"#
        )
    };
    let text = [
        "[",
        &counters(1, r#""jsHeapSizeUsed":481176.5,"nodes":12,"jsEventListeners":0,"documents":3"#),
        &counters(5, r#""jsHeapSizeUsed":2,"nodes":"x","gpuMemoryLimitKB":9"#),
        r#"{"ph":"I","name":"UpdateCounters","pid":3,"tid":4,"ts":6,"args":{"data":7}},"#,
        r#"{"ph":"X","name":"a","cname":"terrible","pid":3,"tid":5,"ts":2,"dur":2},"#,
        r#"{"ph":"B","name":"b","cname":"rail_idle","pid":3,"tid":5,"ts":5},"#,
        r#"{"ph":"X","name":"c","cname":"none","pid":3,"tid":5,"ts":7,"dur":1}]"#,
    ];
    let text = text.concat();
    for opened in [open(text.as_bytes()), crate::support::open_indexed(text.as_bytes())] {
        let trace = opened.json("api/trace");
        let tile = parse(&opened.bytes("api/tile?from=0&to=7000&px=70"));
        let (mut values, mut colors) = (BTreeMap::new(), Vec::new());
        for lane in trace["processes"][0]["lanes"].as_array().unwrap() {
            let drawn = &tile[&(lane["id"].as_u64().unwrap() as u32)];
            if lane["kind"] == "counter" {
                let points: Vec<(f64, f64)> =
                    drawn.spans.iter().map(|span| (span.0, span.1)).collect();
                values.insert(lane["name"].as_str().unwrap().to_owned(), points);
            } else if lane["name"] == "Thread 5" {
                let color = |flags: &u8| match flags >> 3 {
                    0 => None,
                    number => trace["colors"][usize::from(number) - 1].as_str(),
                };
                colors = drawn.flags.iter().map(color).collect();
            }
        }
        let expected = [
            ("DOM nodes", vec![(0.0, 12.0)]),
            ("Documents", vec![(0.0, 3.0)]),
            ("JS heap", vec![(0.0, 481_176.5), (4000.0, 2.0)]),
            ("Listeners", vec![(0.0, 0.0)]),
        ];
        assert_eq!(values, expected.map(|(name, points)| (name.to_owned(), points)).into());
        assert_eq!(colors, [Some("#b40000"), Some("#ee8e00"), None]);
    }
}

/// Generates nested slices, as X or as B and E, with their expected rows.
pub(crate) fn generate(rng: &mut Rng, size: u64) -> (String, Vec<Known>) {
    let (mut lines, mut known) = (Vec::new(), Vec::new());
    for tid in 1..=rng.range(1, 4) {
        let mut at = 1;
        while (known.len() as u64) < size * tid {
            let length = if rng.chance(10) { rng.range(1, 3000) } else { rng.range(1, 30) };
            nest(rng, tid, (at, at + length), 0, &mut lines, &mut known);
            at += length + rng.below(20);
        }
    }
    rng.shuffle(&mut lines);
    // B and E are sorted by time, then by file order: E first
    lines.sort_by_key(|line| u8::from(!line.contains("\"E\"")));
    (
        format!(
            "[{{\"ph\":\"i\",\"name\":\"first\",\"pid\":1,\"tid\":0,\"ts\":0}},{}]",
            lines.join(",\n")
        ),
        known,
    )
}

fn nest(
    rng: &mut Rng,
    tid: u64,
    (from, to): (u64, u64),
    depth: u16,
    lines: &mut Vec<String>,
    known: &mut Vec<Known>,
) {
    let name = format!("n{}", rng.below(9));
    let head = format!(r#""name":"{name}","pid":1,"tid":{tid}"#);
    known.push((tid, from * 1000, (to - from) * 1000, name, depth));
    if rng.chance(30) {
        lines.push(format!(r#"{{"ph":"B",{head},"ts":{from}}}"#));
        lines.push(format!(r#"{{"ph":"E",{head},"ts":{to}}}"#));
    } else {
        lines.push(format!(r#"{{"ph":"X",{head},"ts":{from},"dur":{}}}"#, to - from));
    }
    // strictly inside, so that the nesting is unambiguous
    let mut at = from + 1 + rng.below(5);
    while at + 1 < to && depth < 6 {
        let end = (at + 1 + rng.below(to - at)).min(to - 1);
        if end <= at {
            break;
        }
        nest(rng, tid, (at, end), depth + 1, lines, known);
        at = end + 1 + rng.below(9);
    }
}

/// Returns lanes by thread, and names by number.
fn tables(opened: &Opened) -> (BTreeMap<u64, u32>, Vec<String>) {
    let trace = opened.json("api/trace");
    let lanes = trace["processes"][0]["lanes"].as_array().unwrap().clone();
    let thread = |lane: &serde_json::Value| {
        let name = lane["name"].as_str().unwrap().trim_start_matches("Thread ").parse().unwrap();
        (name, lane["id"].as_u64().unwrap() as u32)
    };
    let count = trace["names"].as_u64().unwrap();
    let names = opened.json(&format!("api/names?ids=0-{}", count - 1));
    let names = names["names"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name["name"].as_str().unwrap().to_owned());
    (lanes.iter().map(thread).collect(), names.collect())
}

/// Compares random windows, drawn exactly and as density.
fn compare(rng: &mut Rng, opened: &Opened, known: &[Known]) {
    compare_as(rng, opened, known, &["", "&exact=0"]);
}

pub(crate) fn compare_exactly(rng: &mut Rng, opened: &Opened, known: &[Known]) {
    compare_as(rng, opened, known, &[""]);
}

fn compare_as(rng: &mut Rng, opened: &Opened, known: &[Known], forms: &[&str]) {
    let (threads, names) = tables(opened);
    let end = known.iter().map(|span| span.1 + span.2).max().unwrap();
    for _ in 0..12 {
        let from = rng.below(end);
        let to = from + 1 + rng.below(end - from + 5000);
        let px = rng.range(1, 900) as u32;
        for exact in forms {
            let route = format!("api/tile?from={from}&to={to}&px={px}{exact}");
            let lanes = parse(&opened.bytes(&route));
            for (&tid, lane) in &threads {
                let drawn_lane = &lanes[lane];
                let touching = known
                    .iter()
                    .filter(|span| span.0 == tid && span.1 < to && span.1 + span.2 > from);
                let width = (to - from) as f64 / f64::from(px);
                let mut wanted: Vec<(u64, u64, &str, u16)> =
                    touching.clone().map(|span| (span.1, span.2, &*span.3, span.4)).collect();
                let all = wanted.len() + usize::from(tid == 0 && from == 0);
                if exact.is_empty() {
                    assert!(drawn_lane.is_exact && drawn_lane.columns.is_empty());
                } else {
                    wanted.retain(|span| span.1 as f64 >= 2.0 * width);
                }
                let mut drawn: Vec<(u64, u64, &str, u16)> = drawn_lane
                    .spans
                    .iter()
                    .map(|span| (span.0 as u64, span.1 as u64, &*names[span.2 as usize], span.3))
                    .filter(|span| span.2 != "first")
                    .collect();
                wanted.sort_unstable();
                drawn.sort_unstable();
                assert_eq!(drawn, wanted, "{route} thread {tid}");
                // each interval is drawn once, individually or in a column
                let counted: u32 = drawn_lane.columns.iter().map(|column| column.1).sum();
                assert_eq!(drawn_lane.spans.len() + counted as usize, all, "{route} thread {tid}");
                check_columns(drawn_lane, known, tid, (from, to, px));
            }
        }
    }
}

/// Checks that each short interval is counted in the column where it begins, in its row.
fn check_columns(lane: &Lane, known: &[Known], tid: u64, (from, to, px): (u64, u64, u32)) {
    let width = (to - from) as f64 / f64::from(px);
    let mut wanted: BTreeMap<(u32, u16), u32> = BTreeMap::new();
    for span in known.iter().filter(|span| span.0 == tid && span.1 < to && span.1 + span.2 > from) {
        if (span.2 as f64) < 2.0 * width {
            let column = ((span.1.max(from) - from) as f64 / width) as u32;
            *wanted.entry((column.min(px - 1), span.4)).or_default() += 1;
        }
    }
    if tid == 0 || lane.is_exact && lane.columns.is_empty() {
        return;
    }
    let drawn: BTreeMap<(u32, u16), u32> =
        lane.columns.iter().map(|column| ((column.0, column.2), column.1)).collect();
    assert_eq!(drawn.len(), lane.columns.len(), "a column of a row stands once");
    assert_eq!(drawn, wanted);
}

#[test]
fn tiles_show_the_generated_slices() {
    for seed in seeds(0, 30) {
        let mut rng = Rng::new(seed);
        let size = rng.range(1, 400);
        let (text, known) = generate(&mut rng, size);
        compare(&mut rng, &open(text.as_bytes()), &known);
    }
}

#[test]
fn tiles_do_not_depend_on_memory() {
    let mut rng = Rng::new(5);
    let (text, known) = generate(&mut rng, 3000);
    let mut config = config();
    // everything spills to disk after a few events
    config.limits.shares = Some(Shares { payload: 0, index: 4096, chunk: 4096, segment: 4096 });
    let opened = with(text.as_bytes(), config);
    opened.site.read().unwrap();
    assert!(opened.json("api/trace")["on_disk"].as_u64().unwrap() > 0);
    compare(&mut rng, &opened, &known);
    let usual = open(text.as_bytes());
    let end = known.iter().map(|span| span.1 + span.2).max().unwrap();
    let route = format!("api/tile?from=0&to={end}&px=700&exact=0");
    assert_eq!(opened.bytes(&route), usual.bytes(&route));
}

#[test]
fn overlapping_slices_go_below_nested_ones() {
    let opened = open(br#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":4},
        {"ph":"X","name":"late","pid":1,"tid":1,"ts":5,"dur":10},{"ph":"B","name":"open","pid":1,"tid":2,"ts":3},
        {"ph":"E","pid":1,"tid":3,"ts":4}]"#);
    let lanes = parse(&opened.bytes("api/tile?from=0&to=15000&px=10"));
    let rows: Vec<(f64, f64, u16)> =
        lanes[&0].spans.iter().map(|lane| (lane.0, lane.1, lane.3)).collect();
    assert_eq!(rows, [(0.0, 10_000.0, 0), (2000.0, 4000.0, 1), (5000.0, 10_000.0, 2)]);
    assert_eq!(
        lanes[&1].spans.iter().map(|span| (span.0, span.1)).collect::<Vec<_>>(),
        [(3000.0, 12_000.0)]
    );
    let trace = opened.json("api/trace");
    assert_eq!((&trace["unended"], &trace["lone_ends"]), (&1.into(), &1.into()));
}

#[test]
fn many_threads_are_shown_or_exceed_the_budget() {
    let count = 100_000;
    let event = |at: u32| {
        format!(r#"{{"ph":"X","name":"n","pid":{},"tid":{at},"ts":{at},"dur":1}}"#, at % 7)
    };
    let text = format!("[{}]", (0..count).map(event).collect::<Vec<_>>().join(","));
    let config = Config::new(2, 1 << 30, std::env::temp_dir());
    let opened = with(text.as_bytes(), config);
    opened.site.read().unwrap();
    let trace = opened.json("api/trace");
    let of = |process: &Value| process["lanes"].as_array().unwrap().len();
    let lanes: usize = trace["processes"].as_array().unwrap().iter().map(of).sum();
    assert_eq!(lanes, count as usize);
    // the page requests only visible lanes
    let last = parse(&opened.bytes("api/tile?from=0&to=100001000&px=1000&lanes=0,99998,99999"));
    assert_eq!(last.len(), 3);
    assert_eq!(last.values().map(|lane| lane.spans.len() + lane.columns.len()).sum::<usize>(), 3);
    opened.bytes("api/overview?px=1000");
    let small = unread(text.as_bytes());
    let why = small.site.read().unwrap_err().to_string();
    assert!(why.contains("names and tracks take"), "{why}");
    assert!(String::from_utf8(body(small.get("api/trace"))).unwrap().contains("names and tracks"));
}

#[test]
fn dense_lanes_are_counted_in_columns() {
    let count = 60_000;
    // instants at one nanosecond, and slices shorter than any pixel
    let event = |at: u32| match at % 2 {
        0 => r#"{"ph":"i","s":"t","name":"m","pid":1,"tid":1,"ts":500}"#.to_owned(),
        _ => format!(r#"{{"ph":"X","name":"x","pid":1,"tid":1,"ts":{at}.001,"dur":0.002}}"#),
    };
    let text = format!("[{}]", (0..count).map(event).collect::<Vec<_>>().join(","));
    let opened = open(text.as_bytes());
    let trace = opened.json("api/trace");
    let tiles = parse(&opened.bytes("api/tile?from=0&to=60000000&px=500&exact=0"));
    let lane = tiles.values().next().unwrap();
    let counted: u64 = lane.columns.iter().map(|column| u64::from(column.1)).sum();
    let all = counted + lane.spans.len() as u64 + trace["folded"].as_u64().unwrap();
    assert_eq!(all, u64::from(count), "{}", trace["folded"]);
    let stats = opened.json("api/stats?from=0&to=60000000");
    let of = |name: &str| {
        let names = stats["names"].as_array().unwrap();
        names.iter().find(|row| row["name"] == name).unwrap()["count"].as_u64().unwrap()
    };
    assert_eq!(of("x"), u64::from(count) / 2);
    assert_eq!(of("m") + trace["folded"].as_u64().unwrap(), u64::from(count) / 2);
}
