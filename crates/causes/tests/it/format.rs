//! Flows by the Trace Event Format in random traces, against a second implementation with maps.

use crate::{causes_of, causes_with};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use tracemill_analysis::value::clock::Times;
use tracemill_analysis::{Trace, id_text};
use tracemill_pipeline::{Config, PidPolicy};
use tracemill_testkit::{Rng, seeds};

/// A slice or an instant. Its name has its number.
#[derive(Clone, Debug)]
struct Slice {
    name: String,
    tid: usize,
    from: u64,
    to: u64,
    /// Line of the slice, or of its begin event, in the file.
    line: usize,
    is_python: bool,
    lines: Vec<String>,
    /// Group and phase of an event with `bind_id`.
    bind: Option<(String, char)>,
}

/// A phase of a flow.
#[derive(Clone, Debug)]
struct Phase {
    group: String,
    phase: char,
    is_next: bool,
    tid: usize,
    ts: u64,
    line: usize,
    text: String,
}

/// How a trace writes its times.
#[derive(Clone, Copy)]
struct Unit {
    /// Whether times are nanoseconds after a time that doubles cannot represent.
    is_exact: bool,
}

impl Unit {
    fn text(self, time: u64) -> String {
        match self.is_exact {
            true => format!("1700000000000{:03}.{:03}", time / 1000, time % 1000),
            false => time.to_string(),
        }
    }

    fn dur(self, time: u64) -> String {
        match self.is_exact {
            true => format!("{}.{:03}", time / 1000, time % 1000),
            false => time.to_string(),
        }
    }
}

/// Generates a trace, and what it has.
struct Random {
    rng: Rng,
    unit: Unit,
    file: usize,
    slices: Vec<Slice>,
    phases: Vec<Phase>,
}

impl Random {
    fn slice(&mut self, tid: usize, from: u64, to: u64, is_pair: bool) {
        let rng = &mut self.rng;
        let number = self.slices.len();
        let is_python = rng.chance(40);
        let (name, cat) = match is_python {
            true => (format!("m{}.py({number}): f{number}", self.file), "python_function"),
            false => (format!("{} {number}", self.file), "c"),
        };
        let bind = (from < to && rng.chance(10)).then(|| {
            let (id, phase) = (rng.index(3), ['s', 't', 'f'][rng.index(3)]);
            (format!("bind {id}"), phase)
        });
        let more = bind.as_ref().map_or(String::new(), |(group, phase)| {
            let [out, into] = [*phase != 'f', *phase != 's'];
            format!(r#","bind_id":{},"flow_out":{out},"flow_in":{into}"#, &group[5..])
        });
        let place =
            format!(r#""name":"{name}","cat":"{cat}","pid":{},"tid":{tid}{more}"#, self.file);
        let (ts, dur) = (self.unit.text(from), self.unit.dur(to - from));
        let lines = match (is_pair, from == to && rng.chance(50)) {
            (true, _) => vec![
                format!(r#"{{"ph":"B","ts":{ts},{place}}}"#),
                format!(r#"{{"ph":"E","ts":{},{place}}}"#, self.unit.text(to)),
            ],
            (false, true) => vec![format!(r#"{{"ph":"I","s":"t","ts":{ts},{place}}}"#)],
            (false, false) => vec![format!(r#"{{"ph":"X","ts":{ts},"dur":{dur},{place}}}"#)],
        };
        self.slices.push(Slice { name, tid, from, to, line: 0, is_python, lines, bind });
    }

    /// Adds slices that lie in each other. Siblings may touch, and begin with their parent.
    fn slices(&mut self, tid: usize, from: u64, to: u64) {
        let mut at = from + self.rng.below(3);
        while at < to {
            let end = at + self.rng.below(to - at + 1);
            if (at, end) != (from, to) {
                let is_apart = at > from && end > at && end < to;
                let is_pair = is_apart && self.rng.chance(20);
                self.slice(tid, at, end, is_pair);
                if end > at {
                    self.slices(tid, at, end);
                }
                // no other event at the times of a pair
                let is_pair =
                    self.slices.iter().any(|slice| slice.lines.len() == 2 && slice.to == end);
                at = end + u64::from(is_pair || end == at);
            }
            at += self.rng.below(4);
        }
    }

    fn phase(&mut self, threads: usize, until: u64) {
        let rng = &mut self.rng;
        let (name, cat) =
            (["x", "y"][usize::from(rng.chance(20))], ["c", "d"][usize::from(rng.chance(20))]);
        let id = ["1", "2", "\"0x3\"", "\"four\""][rng.index(4)];
        let (tid, ts) = match self.slices.get(rng.index(self.slices.len())) {
            Some(slice) if rng.chance(60) => {
                (slice.tid, if rng.chance(80) { slice.from } else { slice.to })
            }
            _ => (1 + rng.index(threads), rng.below(until)),
        };
        let phase = ['s', 't', 'f'][rng.index(3)];
        let is_enclosed = rng.chance(50);
        let bp = if is_enclosed { r#","bp":"e""# } else { "" };
        let text = format!(
            r#"{{"ph":"{phase}","name":"{name}","cat":"{cat}","id":{id},"pid":{},"tid":{tid},"ts":{}{bp}}}"#,
            self.file,
            self.unit.text(ts)
        );
        let group = format!("{name} {cat} {id}");
        let is_next = phase == 'f' && !is_enclosed;
        self.phases.push(Phase { group, phase, is_next, tid, ts, line: 0, text });
    }

    /// Writes the trace with its events in any order.
    fn text(&mut self) -> String {
        let mut lines: Vec<[usize; 3]> = Vec::new();
        for (at, slice) in self.slices.iter().enumerate() {
            lines.extend((0..slice.lines.len()).map(|line| [0, at, line]));
        }
        lines.extend((0..self.phases.len()).map(|at| [1, at, 0]));
        self.rng.shuffle(&mut lines);
        let mut texts = Vec::new();
        for (number, [list, at, line]) in lines.into_iter().enumerate() {
            if list == 1 {
                self.phases[at].line = number;
                texts.push(self.phases[at].text.clone());
                continue;
            }
            if line == 0 {
                self.slices[at].line = number;
            }
            texts.push(self.slices[at].lines[line].clone());
        }
        format!("[{}]", texts.join(",\n"))
    }
}

fn random(seed: u64, file: usize, unit: Unit) -> Random {
    let rng = Rng::new(seed.wrapping_mul(31) + file as u64);
    let mut random = Random { rng, unit, file, slices: Vec::new(), phases: Vec::new() };
    let (threads, until) = (1 + random.rng.index(4), 400);
    for tid in 1..=threads {
        random.slices(tid, 0, until);
    }
    for _ in 0..random.rng.index(120) {
        random.phase(threads, until);
    }
    random
}

/// The levels of a stack: name of the initiator, and functions.
type Levels = Vec<(Option<String>, Vec<String>)>;

/// The second implementation: looks at all slices for each phase.
struct Naive<'r> {
    slices: &'r [Slice],
    phases: &'r [Phase],
}

impl Naive<'_> {
    /// Returns the place of a slice among those of its thread: parents come before children.
    fn order(&self, at: usize) -> (u64, Reverse<u64>, usize) {
        let slice = &self.slices[at];
        (slice.from, Reverse(slice.to), slice.line)
    }

    fn bound(&self, phase: &Phase) -> Option<usize> {
        let all = (0..self.slices.len()).filter(|&at| self.slices[at].tid == phase.tid);
        let (from, to) = (|at: &usize| self.slices[*at].from, |at: &usize| self.slices[*at].to);
        match phase.is_next {
            true => all.filter(|at| from(at) >= phase.ts).min_by_key(|&at| self.order(at)),
            false => all
                .filter(|at| from(at) == phase.ts || from(at) < phase.ts && phase.ts < to(at))
                .max_by_key(|&at| self.order(at)),
        }
    }

    /// Returns the flows: slices of the points of each, in the order of their first points.
    fn flows(&self) -> Vec<Vec<usize>> {
        type Point = (u64, usize, char, Option<usize>);
        let mut groups: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
        for phase in self.phases {
            let point = (phase.ts, phase.line, phase.phase, self.bound(phase));
            groups.entry(&phase.group).or_default().push(point);
        }
        for (at, slice) in self.slices.iter().enumerate() {
            if let Some((group, phase)) = &slice.bind {
                groups.entry(group).or_default().push((slice.from, slice.line, *phase, Some(at)));
            }
        }
        let mut flows = Vec::new();
        for points in groups.values_mut() {
            points.sort_unstable();
            let parts = points.chunk_by(|before, point| before.2 != 'f' && point.2 != 's');
            flows.extend(parts.map(<[Point]>::to_vec));
        }
        flows.sort_unstable();
        flows.iter().map(|flow| flow.iter().filter_map(|point| point.3).collect()).collect()
    }

    fn initiators(&self) -> HashMap<usize, usize> {
        let mut found = HashMap::new();
        for mut flow in self.flows() {
            flow.dedup();
            found.extend(flow.windows(2).map(|two| (two[1], two[0])));
        }
        found
    }

    /// Returns the slice and those around it, innermost first.
    fn ancestors(&self, at: usize) -> Vec<usize> {
        let slice = &self.slices[at];
        let is_around = |other: &usize| {
            let around = &self.slices[*other];
            let holds =
                around.from <= slice.from && slice.from < around.to && slice.to <= around.to;
            *other == at || around.tid == slice.tid && holds && self.order(*other) < self.order(at)
        };
        let mut all: Vec<usize> = (0..self.slices.len()).filter(is_around).collect();
        all.sort_by_key(|&at| Reverse(self.order(at)));
        all
    }

    /// Returns the functions of each level of the stack of a slice, with the names of the
    /// initiators. `threads` are the places of the threads in the trace.
    fn levels(
        &self,
        at: usize,
        initiators: &HashMap<usize, usize>,
        threads: &HashMap<usize, usize>,
    ) -> Levels {
        let time =
            |at: usize| (self.slices[at].from, threads[&self.slices[at].tid], self.order(at));
        let (mut levels, mut next, mut task) = (Vec::new(), Some(at), None);
        while let Some(slice) = next.take() {
            let all = self.ancestors(slice);
            let python = all.iter().map(|&at| &self.slices[at]).filter(|slice| slice.is_python);
            let functions = python.map(|slice| slice.name.rsplit(' ').next().unwrap_or_default());
            levels.push((task.take(), functions.map(str::to_owned).collect()));
            let earlier = |at: &usize| {
                initiators.get(at).copied().filter(|initiator| time(*initiator) < time(*at))
            };
            if let Some(initiator) = all.iter().find_map(earlier) {
                (next, task) = (Some(initiator), Some(self.slices[initiator].name.clone()));
            }
        }
        levels
    }
}

/// Returns the places of the threads of a file, which has a thread of each name.
fn threads_of(trace: &Trace, file: usize) -> HashMap<usize, usize> {
    let mut threads = HashMap::new();
    for (place, thread) in trace.threads.iter().enumerate() {
        if thread.input_number == file {
            threads.insert(id_text(&thread.tid).parse().expect("works"), place);
        }
    }
    threads
}

#[test]
fn causes_in_random_traces_equal_those_of_the_second_implementation() {
    let folder = tempfile::tempdir().expect("works");
    let (mut linked, mut stacked, mut deepest) = (0, 0, 0);
    for seed in seeds(0, 150) {
        let unit = Unit { is_exact: seed % 2 == 0 };
        let files = 1 + usize::from(seed % 3 == 0);
        let mut all: Vec<Random> = (0..files).map(|file| random(seed, file, unit)).collect();
        let paths: Vec<PathBuf> =
            (0..files).map(|file| folder.path().join(format!("{file}.json"))).collect();
        for (random, path) in all.iter_mut().zip(&paths) {
            std::fs::write(path, random.text()).expect("works");
        }
        let times = if unit.is_exact { Times::Exact } else { Times::Devtools };
        let (trace, causes) = causes_of(&paths, times, [32 << 20, 256 << 20][seed as usize % 2]);
        let rows = causes.initiators.by_event();
        let rows = rows.map(|row| (row.event.name(&trace), row.initiator.name(&trace)));
        let mut found: HashMap<String, String> = rows.collect();
        let stacks = causes.stacks.entries.iter().map(|entry| {
            let levels = causes.stacks.levels(entry.stack, &trace, usize::MAX);
            let levels = levels.into_iter().map(|level| {
                let functions = level.sites.into_iter().filter_map(|site| site.function);
                (level.task, functions.collect())
            });
            (entry.event.name(&trace), levels.collect())
        });
        let mut stacks: HashMap<String, Levels> = stacks.collect();
        for (file, random) in all.iter().enumerate() {
            let naive = Naive { slices: &random.slices, phases: &random.phases };
            let initiators = naive.initiators();
            let threads = threads_of(&trace, file);
            for (at, slice) in random.slices.iter().enumerate() {
                let wanted = initiators.get(&at).map(|&other| random.slices[other].name.clone());
                linked += usize::from(wanted.is_some());
                assert_eq!(
                    found.remove(&slice.name),
                    wanted,
                    "seed {seed}: initiator of {slice:?}"
                );
                let wanted = naive.levels(at, &initiators, &threads);
                deepest = deepest.max(wanted.len());
                let has_stack = wanted.len() > 1 || !wanted[0].1.is_empty();
                stacked += usize::from(has_stack);
                let wanted = has_stack.then_some(wanted);
                assert_eq!(stacks.remove(&slice.name), wanted, "seed {seed}: stack of {slice:?}");
            }
        }
        assert!(found.is_empty() && stacks.is_empty(), "seed {seed}: {found:?} {stacks:?}");
    }
    assert!(linked > 1000 && stacked > 5000 && deepest > 4, "{linked} {stacked} {deepest}");
}

#[test]
fn flows_stay_within_their_input_where_pids_and_clocks_change() {
    let folder = tempfile::tempdir().expect("works");
    let paths: Vec<PathBuf> =
        (0..2).map(|file| folder.path().join(format!("{file}.json"))).collect();
    for (file, path) in paths.iter().enumerate() {
        let text = format!(
            r#"[{{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{{"name":"p{file}"}}}},
            {{"ph":"X","name":"a{file}","pid":1,"tid":1,"ts":{},"dur":10}},
            {{"ph":"X","name":"b{file}","pid":1,"tid":2,"ts":30,"dur":5}},
            {{"ph":"s","name":"x","id":1,"pid":1,"tid":1,"ts":15}},
            {{"ph":"f","name":"x","id":1,"pid":1,"tid":2,"ts":25}}]"#,
            10 + file
        );
        std::fs::write(path, text).expect("works");
    }
    let mut config = Config::new(2, 32 << 20, std::env::temp_dir());
    config.identity.pid = PidPolicy::Offset;
    config.clocks.offsets = vec![(paths[1].clone(), 1_234_567)];
    for times in [Times::Devtools, Times::Exact] {
        let (trace, causes) = causes_with(&paths, times, &config);
        assert_eq!(trace.threads.len(), 4);
        let rows = causes.initiators.by_event();
        let rows = rows.map(|row| [row.event.name(&trace), row.initiator.name(&trace)]);
        let mut rows: Vec<[String; 2]> = rows.collect();
        rows.sort();
        assert_eq!(rows, [["b0", "a0"], ["b1", "a1"]]);
    }
}
