//! The table `flow`, compared with a second implementation.

use crate::support::{Knobs, rows, rows_with};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::HashMap;
use tracemill_testkit::{Folder, Rng, seeds};

const SQL: &str = "SELECT id, slice_out, slice_in FROM flow";

/// An event that is a slice, a point of a flow, or both.
struct Event {
    ph: &'static str,
    ts: i64,
    dur: Option<i64>,
    tid: usize,
    name: &'static str,
    id: usize,
    bp: bool,
    /// `bind_id`, `flow_in` and `flow_out`.
    bind: Option<(usize, bool, bool)>,
}

impl Event {
    fn random(rng: &mut Rng) -> Self {
        let ph = rng.pick(&["X", "X", "X", "s", "t", "f", "f", "i"]);
        Event {
            ph,
            ts: rng.below(60) as i64,
            dur: (ph == "X" && rng.chance(95)).then(|| rng.below(30) as i64),
            tid: rng.index(3),
            name: rng.pick(&["a", "b"]),
            id: rng.index(3),
            bp: rng.chance(50),
            bind: rng.chance(30).then(|| (rng.index(3), rng.chance(60), rng.chance(60))),
        }
    }

    fn json(&self) -> String {
        let Event { ph, ts, tid, name, id, .. } = self;
        let mut event = json!({"ph": ph, "ts": ts, "pid": 1, "tid": tid, "name": name, "cat": "c"});
        if *ph != "X" {
            event["id"] = json!(id);
        }
        if self.bp {
            event["bp"] = json!("e");
        }
        if let Some(dur) = self.dur {
            event["dur"] = json!(dur);
        }
        if let Some((bind_id, flow_in, flow_out)) = self.bind {
            event["bind_id"] = json!(format!("0x{bind_id}"));
            event["flow_in"] = json!(flow_in);
            event["flow_out"] = json!(flow_out);
        }
        event.to_string()
    }

    fn end(&self) -> i64 {
        self.ts + self.dur.unwrap_or(0)
    }
}

/// Returns the slice of a point: the index of its event.
fn slice(events: &[Event], point: &Event, is_next: bool) -> Option<usize> {
    let slices = events.iter().enumerate();
    let mut slices = slices.filter(|(_, slice)| slice.ph == "X" && slice.tid == point.tid);
    let order =
        |(number, slice): &(usize, &Event)| (slice.ts, Reverse(slice.dur.unwrap_or(0)), *number);
    let found = match is_next {
        true => slices.filter(|(_, slice)| slice.ts >= point.ts).min_by_key(order),
        false => {
            let is_open = |slice: &Event| {
                slice.ts == point.ts || slice.ts < point.ts && point.ts < slice.end()
            };
            slices.by_ref().filter(|(_, slice)| is_open(slice)).max_by_key(order)
        }
    };
    found.map(|(number, _)| number)
}

fn expected(events: &[Event]) -> Vec<Vec<Value>> {
    let mut order: Vec<usize> = (0..events.len()).collect();
    order.sort_by_key(|number| events[*number].ts);
    let mut from: HashMap<(bool, usize, &str), usize> = HashMap::new();
    let mut arrows = Vec::new();
    for number in order {
        let event = &events[number];
        let (key, step, slice) = match (event.ph, event.bind) {
            ("s" | "t" | "f", _) => {
                let is_next = event.ph == "f" && !event.bp;
                ((false, event.id, event.name), event.ph, slice(events, event, is_next))
            }
            ("X", Some((id, flow_in, flow_out))) if flow_in || flow_out => {
                let step = if !flow_in {
                    "s"
                } else if flow_out {
                    "t"
                } else {
                    "f"
                };
                ((true, id, ""), step, Some(number))
            }
            _ => continue,
        };
        let Some(slice) = slice else { continue };
        if step != "s" {
            let Some(&before) = from.get(&key) else { continue };
            let mut ends = [before, slice];
            ends.sort_by_key(|slice| events[*slice].ts);
            arrows.push((number, ends));
        }
        if step != "f" {
            from.insert(key, slice);
        }
    }
    arrows.sort();
    arrows
        .into_iter()
        .map(|(number, [out, to])| vec![json!(number), json!(out), json!(to)])
        .collect()
}

fn random_events(seed: u64, number: usize) -> Vec<Event> {
    let mut rng = Rng::new(seed);
    (0..number).map(|_| Event::random(&mut rng)).collect()
}

fn text(events: &[Event]) -> String {
    let all: Vec<String> = events.iter().map(Event::json).collect();
    format!("[{}]", all.join(",\n"))
}

#[test]
fn flows_are_those_of_a_second_implementation() {
    let mut compared = 0;
    for seed in seeds(0, 120) {
        let events = random_events(seed, 5 + seed as usize % 60);
        let folder = Folder::new();
        let ours = rows(&folder.file("a.json", text(&events)), SQL);
        assert_eq!(ours, expected(&events), "seed {seed}");
        compared += ours.len();
    }
    assert!(compared > 200, "only {compared} arrows");
}

#[test]
fn flows_do_not_depend_on_threads_memory_or_other_inputs() {
    let folder = Folder::new();
    let random = |seed| text(&random_events(seed, 20_000));
    let files = [folder.file("a.json", random(1)), folder.file("b.json", random(2))];
    let usual = rows_with(&files, SQL, Knobs::default());
    let alone = rows_with(&files[..1], SQL, Knobs::default());
    assert!(alone.len() > 1000 && usual.starts_with(&alone));
    for (threads, memory) in [(1, 32), (7, 32), (2, 256)] {
        let knobs = Knobs { threads, memory: memory << 20 };
        assert!(rows_with(&files, SQL, knobs) == usual, "{knobs:?}");
    }
}
