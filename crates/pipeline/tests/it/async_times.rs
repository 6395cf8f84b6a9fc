//! Compares durations of async operations with a second implementation.

use std::collections::BTreeMap;
use tracemill_inspect::async_times::{AsyncTimes, async_times};
use tracemill_join::config::Config;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

/// Generates begin and end events with few names, categories and ids.
fn trace(rng: &mut Rng, events: u64) -> Vec<(u8, [u64; 3], u64)> {
    let event = |_| {
        let phase = b"bbeeSFn"[rng.index(7)];
        (phase, [rng.below(3), rng.below(2), rng.below(4)], rng.below(500))
    };
    (0..events).map(event).collect()
}

fn text(events: &[(u8, [u64; 3], u64)]) -> String {
    let event = |(phase, [name, cat, id], ts): &(u8, [u64; 3], u64)| {
        let phase = char::from(*phase);
        format!(
            r#"{{"ph":"{phase}","name":"n{name}","cat":"c{cat}","id":{id},"pid":1,"tid":{ts},"ts":{ts}}}"#
        )
    };
    format!("[{}]", events.iter().map(event).collect::<Vec<_>>().join(",\n"))
}

/// Computes durations with one stack per operation.
fn reference(events: &[(u8, [u64; 3], u64)]) -> (Vec<AsyncTimes>, u64) {
    let mut sorted = events.to_vec();
    sorted.sort_by_key(|event| event.2);
    let (mut open, mut lone_ends) = (BTreeMap::<_, Vec<u64>>::new(), 0);
    let mut durations = BTreeMap::<[u64; 2], (Vec<i64>, u64)>::new();
    for (phase, key @ [name, cat, _], ts) in sorted {
        let stack = open.entry((phase.is_ascii_uppercase(), key)).or_default();
        match phase {
            b'b' | b'S' => stack.push(ts),
            b'e' | b'F' => match stack.pop() {
                Some(from) => {
                    durations.entry([name, cat]).or_default().0.push((ts - from) as i64 * 1000);
                }
                None => lone_ends += 1,
            },
            _ => {}
        }
    }
    for ((_, [name, cat, _]), stack) in open {
        durations.entry([name, cat]).or_default().1 += stack.len() as u64;
    }
    let row = |([name, cat], (mut all, open)): ([u64; 2], (Vec<i64>, u64))| {
        all.sort_unstable();
        let rank = |percent: usize| {
            let number = (all.len() * percent).div_ceil(100);
            number.checked_sub(1).map_or(0, |at| all[at])
        };
        AsyncTimes {
            name: format!("n{name}"),
            category: format!("c{cat}"),
            count: all.len() as u64,
            open,
            total_ns: all.iter().sum::<i64>() as u64,
            p50_ns: rank(50),
            p99_ns: rank(99),
            max_ns: all.last().copied().unwrap_or(0),
        }
    };
    let mut rows: Vec<AsyncTimes> = durations.into_iter().map(row).collect();
    rows.retain(|row| row.count + row.open > 0);
    rows.sort_by(|a, b| {
        b.total_ns
            .cmp(&a.total_ns)
            .then_with(|| (&a.name, &a.category).cmp(&(&b.name, &b.category)))
    });
    (rows, lone_ends)
}

#[test]
fn durations_of_random_operations_match_the_reference() {
    for seed in seeds(12_000, 40) {
        let mut rng = Rng::new(seed);
        let events = 1 + rng.below(300);
        let events = trace(&mut rng, events);
        let (expected, lone_ends) = reference(&events);
        for config in [
            Config::new(1, 256 << 20, std::env::temp_dir()),
            Config::new(3, 32 << 20, std::env::temp_dir()),
        ] {
            let report =
                async_times(&[Source::bytes("a.json", text(&events))], &config).expect("a trace");
            assert_eq!(
                (report.rows, report.lone_ends),
                (expected.clone(), lone_ends),
                "seed {seed}"
            );
        }
    }
}
