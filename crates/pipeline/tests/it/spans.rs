//! The intervals in an index are exactly those longer than T, with the offsets of their end events.

use crate::index::{index_bytes, of_files};
use crate::run::{Folder, PLAIN};
use std::collections::BTreeSet;
use tracemill_index::format::{Index, event_sum, id, spans};
use tracemill_testkit::{Rng, seeds};

/// A generated interval. Its end is `None` if there is no end event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Interval {
    kind: u8,
    thread: u64,
    start: u64,
    end: Option<u64>,
    places: (usize, usize),
}

/// Generator of stacks of X and of B and E by thread, async operations, and counter values.
pub(crate) struct Trace {
    rng: Rng,
    pub(crate) text: String,
    intervals: Vec<Interval>,
    now: u64,
    /// Names of open begins, which are closed in any order.
    open: Vec<usize>,
}

impl Trace {
    fn event(&mut self, ph: char, thread: u64, rest: &str) -> usize {
        let place = self.text.len();
        let ts = self.now;
        self.text +=
            &format!("{{\"ph\":\"{ph}\",\"ts\":{ts},\"pid\":1,\"tid\":{thread}{rest}}},\n");
        place
    }

    /// Adds a slice with nested slices.
    fn slice(&mut self, thread: u64, depth: u64) {
        let start = self.now;
        let is_pair = self.rng.chance(50);
        let begin = if is_pair { self.event('B', thread, ",\"name\":\"b\"") } else { 0 };
        let children = self.rng.below(if depth < 4 { 4 } else { 1 });
        for _ in 0..children {
            self.now += 1 + self.rng.below(3);
            self.slice(thread, depth + 1);
        }
        let most = 1 << self.rng.below(12);
        self.now += 1 + self.rng.below(most);
        let (kind, places) = match is_pair {
            true => (spans::PAIR, (begin, self.event('E', thread, ""))),
            false => {
                let end = self.now;
                self.now = start;
                let dur = format!(",\"name\":\"x\",\"dur\":{}", end - start);
                let place = self.event('X', thread, &dur);
                self.now = end;
                (spans::COMPLETE, (place, place))
            }
        };
        self.intervals.push(Interval { kind, thread, start, end: Some(self.now), places });
    }

    /// Adds an event outside the stacks, which is not recorded in `intervals`. If `crosses` is 0, an
    /// end may close any begin; if 1, only a begin of its own name.
    fn oddity(&mut self, crosses: u64) {
        let id = self.rng.below(4);
        let named = |name: &str| format!(",\"cat\":\"o\",\"name\":\"{name}\",\"id\":{id}");
        let pair = |number: usize| format!(",\"name\":\"B{number}\"");
        let thread = self.rng.below(3);
        self.now += self.rng.below(2);
        let number = self.rng.index(3);
        let dur = 1 << self.rng.below(14);
        match self.rng.below(14) {
            0 => self.event('s', thread, &named("flow")),
            1 if self.rng.chance(5) => self.event('t', thread, &named("flow")),
            1 | 2 => self.event('f', thread, &named("flow")),
            3 => self.event('S', thread, &named("old")),
            4 => self.event('F', thread, &named("old")),
            5 => self.event('n', thread, &named("new")),
            6 => self.event('C', thread, &named("count")),
            7 => {
                let name = ",\"name\":\"thread_name\",\"args\":{\"name\":\"t\"}";
                self.event('M', thread, name)
            }
            8 => self.event('I', thread, ",\"name\":\"navigationStart\""),
            9 => self.event('i', thread, ",\"name\":\"i\",\"ts\":null"),
            10 | 11 if crosses == 0 => {
                let phase = if dur % 3 == 1 { 'B' } else { 'E' };
                self.event(phase, 8, &pair(number))
            }
            10 if crosses == 1 => {
                self.open.push(number);
                self.event('B', 8, &pair(number))
            }
            11 if crosses == 1 && !self.open.is_empty() => {
                let at = self.rng.index(self.open.len());
                let number = self.open.remove(at);
                self.event('E', 8, &pair(number))
            }
            // closes nothing
            12 => self.event('E', 6, &pair(number)),
            _ => self.event('X', 5, &format!("{},\"dur\":{dur}.25", pair(number))),
        };
    }

    pub(crate) fn new(seed: u64, stacks: u64, oddities: bool) -> Self {
        let mut trace = Trace {
            rng: Rng::new(seed),
            text: "[\n".to_owned(),
            intervals: Vec::new(),
            now: 1,
            open: Vec::new(),
        };
        let mut open: Vec<(u64, u64, usize)> = Vec::new();
        let mut value: Option<(u64, usize)> = None;
        let crosses = trace.rng.below(6);
        for number in 0..stacks {
            let thread = trace.rng.below(3);
            if oddities {
                trace.oddity(crosses);
            }
            trace.slice(thread, 0);
            trace.now += 1;
            let id = format!(",\"cat\":\"c\",\"name\":\"a\",\"id\":{number}");
            if trace.rng.chance(30) {
                let place = trace.event('b', 7, &id);
                open.push((number, trace.now, place));
            }
            if trace.rng.chance(20) && !open.is_empty() {
                let (number, start, begin) = open.swap_remove(trace.rng.index(open.len()));
                let id = format!(",\"cat\":\"c\",\"name\":\"a\",\"id\":{number}");
                let places = (begin, trace.event('e', 7, &id));
                let end = Some(trace.now);
                trace.intervals.push(Interval {
                    kind: spans::ASYNC,
                    thread: 7,
                    start,
                    end,
                    places,
                });
            }
            if trace.rng.chance(10) {
                let place = trace.event('C', 9, ",\"name\":\"n\"");
                let new = (trace.now, place);
                if let Some((start, begin)) = value.replace(new) {
                    let (end, places) = (Some(trace.now), (begin, begin));
                    trace.intervals.push(Interval {
                        kind: spans::COUNTER,
                        thread: 9,
                        start,
                        end,
                        places,
                    });
                }
            }
        }
        let begun = open.into_iter().map(|(_, start, begin)| (spans::ASYNC, 7, start, begin));
        let last = value.map(|(start, begin)| (spans::COUNTER, 9, start, begin));
        trace.intervals.extend(begun.chain(last).map(|(kind, thread, start, place)| Interval {
            kind,
            thread,
            start,
            end: None,
            places: (place, place),
        }));
        trace.text.truncate(trace.text.len() - 2);
        trace.text += "\n]\n";
        trace
    }
}

fn read(index: &Index<'_>, text: &[u8]) -> (Vec<Interval>, u64) {
    let meta = index.joined(index.section(id::META).expect("there is one"), 1 << 20);
    let meta: serde_json::Value = serde_json::from_slice(&meta.expect("sound")).expect("JSON");
    let level = meta["windows"]["level"].as_u64().expect("a number");
    let section = index.section(id::SPANS).expect("it has room");
    let lanes = index.section(id::LANES).expect("it has room");
    let mut tids = Vec::new();
    for entry in &lanes.pages {
        let page = index.page(entry).expect("sound");
        let threads = page.numbers(0).expect("numbers").iter().filter(|kind| **kind == 0).count();
        let ids = String::from_utf8(page.bytes(3).expect("bytes").to_vec()).expect("text");
        // pids and tids have one digit each, without a separator
        tids.extend(ids.as_bytes().chunks(2).take(threads).map(|pair| u64::from(pair[1] - b'0')));
    }
    let mut rows = Vec::new();
    let sum_of = |place: usize| {
        let end = place + text[place..].iter().position(|byte| *byte == b'}').expect("an end") + 1;
        u64::from(event_sum(place as u64, &text[place..end]))
    };
    for entry in &section.pages {
        let page = index.page(entry).expect("sound");
        let columns: Vec<Vec<u64>> = (0..9).map(|at| page.numbers(at).expect("numbers")).collect();
        (0..page.rows()).for_each(|row| {
            let [kind, flags, lane, start, dur, begin, rest, sum, last] =
                std::array::from_fn(|at| columns[at][row]);
            let places = (begin as usize, (begin + rest) as usize);
            assert_eq!(sum, sum_of(places.0));
            assert_eq!(last, if rest == 0 { 0 } else { sum_of(places.1) });
            let is_open = flags & u64::from(spans::OPEN) != 0;
            let end = (!is_open).then_some((start + dur) / 1000);
            let (kind, start) = (kind as u8, start / 1000);
            rows.push(Interval { kind, thread: tids[lane as usize], start, end, places });
            assert!((entry.first..=entry.last).contains(&(start * 1000)));
        });
    }
    (rows, 1 << level)
}

#[test]
fn intervals_longer_than_t_are_listed_with_their_ends() {
    for seed in seeds(0, 4) {
        let Trace { text, intervals: all, .. } = Trace::new(seed, 1000, false);
        let folder = Folder::new();
        let path = folder.file("a.json", text.as_bytes());
        let bytes = index_bytes(&path, PLAIN);
        let index = Index::open(&bytes).expect("it was just made");
        let (rows, look_back) = read(&index, text.as_bytes());
        let is_long = |interval: &&Interval| {
            interval.end.is_none_or(|end| (end - interval.start) * 1000 > look_back)
        };
        let expected: BTreeSet<Interval> = all.iter().filter(is_long).cloned().collect();
        assert!(expected.len() > 500 && expected.len() < all.len() / 2, "{}", expected.len());
        assert_eq!(rows.iter().cloned().collect::<BTreeSet<_>>(), expected);
        let by_start = |interval: &Interval| (interval.thread, interval.start);
        let threads: Vec<u64> = rows.iter().map(|row| row.thread).collect();
        let mut starts: Vec<_> = rows.iter().map(by_start).collect();
        let groups = threads.chunk_by(|a, b| a == b).count();
        assert_eq!(groups, threads.iter().collect::<BTreeSet<_>>().len());
        starts.chunk_by_mut(|a, b| a.0 == b.0).for_each(|start| assert!(start.is_sorted()));
        for corner in 0..4 {
            assert!(
                index_bytes(&path, of_files(seed as usize * 4 + corner)) == bytes,
                "{seed} {corner}"
            );
        }
    }
}
