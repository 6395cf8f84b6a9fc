//! Pictures against the tables that they are drawn from.

use crate::common::recordings::{config, read, source};
use crate::common::tables::{parts, query};
use crate::common::{idle, random};
use std::collections::BTreeMap;
use tracemill_analysis::{Entries, Per, ReadRules, Shape, ThreadChoice, Trace, Wanted};
use tracemill_export::{Drawn, Order, PictureRules, picture};
use tracemill_testkit::{Rng, seeds};

/// A drawn frame, and its time not covered by frames below it.
struct Frame {
    path: Vec<String>,
    /// Start and end in nanoseconds; `free` is the earliest start of the next frame below it.
    range: (i64, i64),
    free: i64,
}

/// Frames are as wide as the total times of their rows, nest in their callers and do not overlap.
#[test]
fn pictures_draw_each_row_once_at_its_width() {
    let (mut frames, mut folds) = (0, 0);
    for seed in seeds(900, 150) {
        let mut rng = Rng::new(seed);
        let (text, _) = random::generate(&mut rng);
        let trace = read(&[source(0, text.as_bytes())]);
        let parts = parts(&trace, Per::All);
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
        let picture =
            picture(&trace, &parts, PictureRules { most, order, ..PictureRules::default() })
                .expect("room");
        let (drawn, folded) = picture.counts();
        // The outermost frame is not a row.
        assert_eq!(drawn + folded, rows.len() as u64 + 1, "seed {seed}");
        (frames, folds) = (frames + drawn, folds + folded);
        let length = picture.length() as f64;
        let mut open: Vec<Frame> = Vec::new();
        let close = |open: &mut Vec<Frame>, depth: usize| {
            for Frame { path, range, free } in open.drain(depth..) {
                if let Some((self_time, total)) = rows.get(&path) {
                    assert_eq!(
                        (range.1 - free, range.1 - range.0),
                        (*self_time, *total),
                        "seed {seed}"
                    );
                }
            }
        };
        for rectangle in picture.drawn() {
            close(&mut open, rectangle.depth as usize);
            let from = (rectangle.x * length).round() as i64;
            let range = (from, from + rectangle.total as i64);
            let mut path = Vec::new();
            if let Some(above) = open.last_mut() {
                assert!(above.free <= range.0 && range.1 <= above.range.1, "seed {seed}");
                assert_eq!(above.free, range.0, "seed {seed}: a gap before a frame");
                above.free = range.1;
                path.clone_from(&above.path);
                path.push(rectangle.name.to_owned());
            }
            if rectangle.name.is_empty() {
                continue;
            }
            assert!(open.is_empty() || rows.contains_key(&path), "seed {seed}: {path:?}");
            open.push(Frame { path, range, free: range.0 });
        }
        close(&mut open, 0);
    }
    assert!(frames > 1000 && folds > 500, "{frames} drawn, {folds} folded");
}

#[test]
fn idle_time_is_drawn_last_in_its_own_colour() {
    let trace = idle::read(&idle::profile(3, 2));
    let parts = trace.parts(&[0], &query(Shape::CallTree, Entries::Visible, Vec::new()));
    for order in [Order::Heavy, Order::Name] {
        let rules = PictureRules { order, idle: true, ..PictureRules::default() };
        let picture = picture(&trace, parts.as_ref().expect("room"), rules).expect("room");
        let right = picture
            .drawn()
            .filter(|rectangle| rectangle.depth == 1)
            .max_by(|a, b| a.x.total_cmp(&b.x));
        let right = right.expect("frames");
        assert_eq!((right.name, right.colour), ("(idle)", Drawn::IDLE));
    }
}

/// Without idle time, frames are those of the samples that are not idle, and as wide.
#[test]
fn idle_time_is_left_out_of_flame_graphs() {
    let trace = idle::read(&idle::profile(3, 2));
    let parts = trace.parts(&[0], &query(Shape::CallTree, Entries::Visible, Vec::new()));
    let parts = parts.expect("room");
    let rows = || parts.iter().flat_map(|part| &part.table.rows);
    let sum = |idle: bool| -> i64 {
        let rows = rows().filter(|row| row.is_idle() == idle);
        rows.map(|row| (row.own * 1e6).round() as i64).sum()
    };
    for idle in [false, true] {
        let rules = PictureRules { idle, ..PictureRules::default() };
        let picture = picture(&trace, &parts, rules).expect("room");
        assert_eq!(picture.drawn().any(|frame| frame.name == "(idle)"), idle);
        let length = sum(false) + if idle { sum(true) } else { 0 };
        assert_eq!(picture.length() as i64, length);
        let mut svg = Vec::new();
        picture.write_svg(&mut svg).expect("it is in memory");
        let svg = String::from_utf8(svg).expect("text");
        assert_eq!(svg.contains("(idle) left out"), !idle, "{svg}");
        assert_eq!(svg.contains(">idle</text>"), idle, "a legend for the drawn colours: {svg}");
    }
}

#[test]
fn events_have_the_reserved_colour_that_they_name() {
    let event = |name: &str, ts: u32, cname: &str| {
        format!(
            r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":40{cname}}}"#
        )
    };
    let text = [
        event("a", 0, r#","cname":"terrible""#),
        event("a", 50, r#","cname":"yellow""#),
        event("b", 100, r#","cname":"pink","args":{"cname":"good"}"#),
        event("c", 150, ""),
    ];
    let text = format!("[{}]", text.join(","));
    for colors in [true, false] {
        let wanted = Wanted { colors, ..Wanted::default() };
        let rules = ReadRules { wanted, ..ReadRules::default() };
        let trace = Trace::read(&[source(0, text.as_bytes())], rules, &config()).expect("a trace");
        let query = query(Shape::Log, Entries::Visible, Vec::new());
        let parts = trace.parts(&trace.choose(&ThreadChoice::default()), &query).expect("room");
        let rules = PictureRules { order: Order::Time, ..PictureRules::default() };
        let mut svg = Vec::new();
        let picture = picture(&trace, &parts, rules).expect("room");
        picture.write_svg(&mut svg).expect("it is in memory");
        let svg = String::from_utf8(svg).expect("text");
        let filled = |class: &str, rgb: &str| {
            let lines = svg.lines().filter(|line| line.contains(&format!("class=\"f {class} w\"")));
            lines.filter(|line| line.contains(&format!("fill=\"#{rgb}\""))).count()
        };
        let count = usize::from(colors);
        assert_eq!([filled("dark", "b40000"), filled("light", "ffff00")], [count; 2]);
        assert_eq!(svg.matches(" fill=\"#").count(), 2 * count, "{svg}");
    }
}
