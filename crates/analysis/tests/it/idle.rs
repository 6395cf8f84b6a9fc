//! Idle time is not busy: a CPU profile is as busy as the same profile in which no node stands for an
//! idle CPU.

use crate::laws::query;
use tracemill_analysis::{
    Entries, GroupBy, Order, Per, PictureRules, Query, ReadRules, ReportRules, RowOrder, Shape,
    TableRules, ThreadChoice, Trace,
};
use tracemill_join::config::Config;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

/// A profile of random samples of two functions, (idle) and the garbage collector; with `idle_node`
/// another node has the idle samples.
fn profile(seed: u64, idle_node: u64) -> String {
    let mut rng = Rng::new(seed);
    let node = |id: u64, name: &str| {
        format!(
            r#"{{"id":{id},"callFrame":{{"functionName":"{name}","scriptId":"1","url":"","lineNumber":{id},"columnNumber":0}}}}"#
        )
    };
    let root = node(1, "(root)").replace("}}", r#"},"children":[2,3,4,5]}"#);
    let others = [(2, "(idle)"), (3, "(garbage collector)"), (4, "f"), (5, "g")];
    let nodes: Vec<String> =
        [root].into_iter().chain(others.map(|(id, name)| node(id, name))).collect();
    let samples: Vec<String> = (0..200)
        .map(|_| match 2 + rng.below(5) {
            2 | 6 => idle_node,
            id => id,
        })
        .map(|id| id.to_string())
        .collect();
    let deltas: Vec<String> = (0..200).map(|_| (1 + rng.below(2000)).to_string()).collect();
    let (nodes, samples, deltas) = (nodes.join(","), samples.join(","), deltas.join(","));
    format!(
        r#"{{"nodes":[{nodes}],"startTime":1000,"endTime":900000,"samples":[{samples}],"timeDeltas":[{deltas}]}}"#
    )
}

fn read(text: &str) -> Trace {
    let config = Config::new(2, 256 << 20, std::env::temp_dir());
    let source = Source::bytes("a.cpuprofile", text.as_bytes().to_vec());
    Trace::read(&[source], ReadRules::default(), &config).expect("a profile")
}

#[test]
fn idle_time_is_not_busy() {
    for seed in seeds(0, 20) {
        let (idle, none) = (read(&profile(seed, 2)), read(&profile(seed, 1)));
        let threads = idle.choose(&ThreadChoice::default());
        for shape in [Shape::CallTree, Shape::BottomUp { levels: 2 }] {
            for (by, per) in [
                (GroupBy::None, Per::Thread),
                (GroupBy::None, Per::All),
                (GroupBy::Category, Per::All),
                (GroupBy::Url, Per::Thread),
            ] {
                let query = Query { by, per, ..query(shape, Entries::Visible, Vec::new()) };
                let part = |trace: &Trace| trace.parts(&threads, &query).expect("room").remove(0);
                let (mut own, other) = (part(&idle), part(&none));
                assert!((own.busy() - other.busy()).abs() < 1e-6, "seed {seed} {by:?}");
                assert_eq!(other.table.idle, 0.0);
                // a collection belongs to what it interrupts, and so not to what is idle
                let rows = own.table.rows.iter().filter(|row| row.depth == 0 && row.is_idle());
                let sum: f64 = rows.map(|row| row.own).sum();
                assert!((own.table.idle - sum).abs() < 1e-6 && sum > 0.0, "seed {seed} {by:?}");
                for order in [None, Some(RowOrder::Total), Some(RowOrder::Count)] {
                    let mut parts = [own];
                    order.iter().for_each(|by| idle.sort(&mut parts, *by).expect("room"));
                    [own] = parts;
                    let top = own.table.rows.iter().filter(|row| row.depth == 0).last();
                    assert!(top.expect("rows").is_idle(), "seed {seed} {by:?} {order:?}");
                }
            }
        }
        let rules = ReportRules {
            rows: 9,
            producer: None,
            tables: TableRules::default(),
            window: None,
            devices: Default::default(),
        };
        let report = |trace: &Trace| trace.report(&threads, &rules).expect("room").threads[0].busy;
        assert!((report(&idle) - report(&none)).abs() < 1e-6, "seed {seed}");
    }
}

#[test]
fn idle_time_is_last_and_grey_in_pictures() {
    let trace = read(&profile(3, 2));
    let parts = trace.parts(&[0], &query(Shape::CallTree, Entries::Visible, Vec::new()));
    for order in [Order::Heavy, Order::Name] {
        let rules = PictureRules { order, ..PictureRules::default() };
        let picture = trace.picture(parts.as_ref().expect("room"), rules).expect("room");
        let right = picture.drawn().filter(|own| own.depth == 1).max_by(|a, b| a.x.total_cmp(&b.x));
        let right = right.expect("frames");
        assert_eq!((right.name, right.colour), ("(idle)", tracemill_analysis::Drawn::IDLE));
    }
}
