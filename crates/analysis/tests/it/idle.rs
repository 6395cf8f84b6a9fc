//! Idle time is not busy: a CPU profile is as busy as the same profile without an `(idle)` node.

use crate::common::idle::{profile, read};
use crate::common::tables::query;
use tracemill_analysis::{Entries, GroupBy, Per, Query, RowOrder, Shape, ThreadChoice, Trace};
use tracemill_testkit::seeds;

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
                let (mut idle_part, other) = (part(&idle), part(&none));
                assert!((idle_part.busy() - other.busy()).abs() < 1e-6, "seed {seed} {by:?}");
                assert_eq!(other.table.idle, 0.0);
                // A garbage collection belongs to what it interrupts, and therefore not to idle
                // time.
                let rows =
                    idle_part.table.rows.iter().filter(|row| row.depth == 0 && row.is_idle());
                let sum: f64 = rows.map(|row| row.own).sum();
                assert!(
                    (idle_part.table.idle - sum).abs() < 1e-6 && sum > 0.0,
                    "seed {seed} {by:?}"
                );
                for order in [None, Some(RowOrder::Total), Some(RowOrder::Count)] {
                    let mut parts = [idle_part];
                    order.iter().for_each(|by| idle.sort(&mut parts, *by).expect("room"));
                    [idle_part] = parts;
                    let top = idle_part.table.rows.iter().filter(|row| row.depth == 0).last();
                    assert!(top.expect("rows").is_idle(), "seed {seed} {by:?} {order:?}");
                }
            }
        }
    }
}
