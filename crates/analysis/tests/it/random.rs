//! Compares random traces with a naive implementation that records the stack of every microsecond.

use crate::common::random::{LENGTH, NAMES, Stacks, config, generate, read};
use std::collections::BTreeMap;
use tracemill_analysis::{
    GroupBy, Matcher, Part, Per, Picks, Query, Shape, TableRules, ThreadChoice, Trace, Window,
};
use tracemill_join::config::Config;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::run::limits::Shares;

/// A random filter, for queries and for the naive implementation.
#[derive(Default)]
struct Asked {
    windows: Vec<(usize, usize)>,
    focus: Option<&'static str>,
    ignore: Option<&'static str>,
    hide: Option<&'static str>,
    root: Option<&'static str>,
}

impl Asked {
    fn any(rng: &mut Rng) -> Self {
        let mut picks = Asked::default();
        for _ in 0..rng.index(4) {
            let from = rng.index(LENGTH);
            picks.windows.push((from, from + 1 + rng.index(LENGTH - from)));
        }
        let mut name = || rng.chance(35).then(|| NAMES[rng.index(NAMES.len())]);
        (picks.focus, picks.ignore) = (name(), name());
        (picks.hide, picks.root) = (name(), name());
        picks
    }

    fn query(&self, shape: Shape, per: Per) -> Query {
        let exact = |name: &str| format!("^{name}$").parse::<Matcher>().expect("an expression");
        let ms = |at: usize| (1000 + at) as f64 / 1000.0;
        let windows = self.windows.iter().map(|&(from, to)| Window { from: ms(from), to: ms(to) });
        let picks = Picks {
            focus: self.focus.map(exact),
            ignore: self.ignore.map(exact),
            hide: self.hide.map(exact),
            root: self.root.map(exact),
            ..Picks::default()
        };
        let (by, rules) = (GroupBy::None, TableRules::default());
        Query { shape, by, rules, per, windows: windows.collect(), picks, key: None }
    }

    /// Returns the filtered stack at a microsecond; `None` if the time does not count.
    fn stack(&self, at: usize, open: &[&'static str]) -> Option<Vec<&'static str>> {
        let within = |&(from, to): &(usize, usize)| (from..to).contains(&at);
        let has = |name: &str| open.contains(&name);
        let counts = (self.windows.is_empty() || self.windows.iter().any(within))
            && self.focus.is_none_or(has)
            && !self.ignore.is_some_and(has);
        if !counts {
            return None;
        }
        let first = self.root.map_or(Some(0), |root| open.iter().position(|name| *name == root));
        let rooted = first.map_or(&[][..], |first| &open[first..]);
        Some(rooted.iter().copied().filter(|name| Some(*name) != self.hide).collect())
    }

    /// Returns the self and total microseconds of each path.
    fn paths(&self, stacks: &Stacks) -> BTreeMap<Vec<String>, (u64, u64)> {
        let mut paths: BTreeMap<Vec<String>, (u64, u64)> = BTreeMap::new();
        for (at, open) in stacks.iter().enumerate() {
            let stack: Vec<String> =
                self.stack(at, open).unwrap_or_default().into_iter().map(str::to_owned).collect();
            for depth in 1..=stack.len() {
                let path = paths.entry(stack[..depth].to_vec()).or_default();
                path.0 += u64::from(depth == stack.len());
                path.1 += 1;
            }
        }
        paths
    }

    /// Returns the self and total microseconds of each name.
    fn names(&self, all: &[Stacks]) -> BTreeMap<String, (u64, u64)> {
        let mut names: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (at, open) in all.iter().flat_map(|stacks| stacks.iter().enumerate()) {
            let stack = self.stack(at, open).unwrap_or_default();
            for name in NAMES.iter().filter(|name| stack.contains(name)) {
                let counts = names.entry((*name).to_owned()).or_default();
                counts.0 += u64::from(stack.last() == Some(name));
                counts.1 += 1;
            }
        }
        // Rows without self time are dropped, as in DevTools.
        names.retain(|_, (self_count, _)| *self_count > 0);
        names
    }
}

/// Converts milliseconds to microseconds; asserts that they are whole.
fn whole(ms: f64) -> u64 {
    let micros = (ms * 1000.0).round();
    assert!((ms * 1000.0 - micros).abs() < 1e-6, "{ms} ms is no whole microsecond");
    micros as u64
}

fn tables(trace: &Trace, query: &Query) -> Vec<Part> {
    trace.parts(&trace.choose(&ThreadChoice::default()), query).expect("room")
}

/// Returns the times of each path of a call tree.
fn paths_of(part: &Part) -> BTreeMap<Vec<String>, (u64, u64)> {
    let mut path: Vec<String> = Vec::new();
    let mut all = BTreeMap::new();
    for row in &part.table.rows {
        path.truncate(row.depth as usize);
        path.push(row.id.clone());
        // Window edges in milliseconds may differ by the last bit when converted to microseconds.
        if whole(row.total) > 0 {
            let before = all.insert(path.clone(), (whole(row.own), whole(row.total)));
            assert_eq!(before, None, "{path:?} has two rows");
        }
    }
    all
}

#[test]
fn trees_match_counts_of_stacks() {
    for seed in seeds(0, 400) {
        let mut rng = Rng::new(seed);
        let (text, all) = generate(&mut rng);
        let trace = read(&text, &config());
        let picks = if seed % 3 == 0 { Asked::default() } else { Asked::any(&mut rng) };

        let parts = tables(&trace, &picks.query(Shape::CallTree, Per::Thread));
        for part in &parts {
            let tid: usize = trace.threads[part.threads[0]].tid_text().parse().expect("a number");
            let expected = picks.paths(&all[tid - 1]);
            assert_eq!(paths_of(part), expected, "seed {seed}, thread {tid}\n{text}");
        }
        let top = tables(&trace, &picks.query(Shape::BottomUp { levels: 1 }, Per::All));
        let rows = top.iter().flat_map(|part| &part.table.rows).filter(|row| whole(row.own) > 0);
        let rows: BTreeMap<String, (u64, u64)> =
            rows.map(|row| (row.id.clone(), (whole(row.own), whole(row.total)))).collect();
        assert_eq!(rows, picks.names(&all), "seed {seed}\n{text}");
    }
}

#[test]
fn views_are_consistent() {
    for seed in seeds(1000, 150) {
        let mut rng = Rng::new(seed);
        let (text, _) = generate(&mut rng);
        let trace = read(&text, &config());
        let picks = Asked::any(&mut rng);
        let sum = |part: &Part, depth: Option<u32>| -> u64 {
            let rows = part.table.rows.iter();
            let rows = rows.filter(|row| depth.is_none_or(|depth| row.depth == depth));
            rows.map(|row| whole(row.own)).sum()
        };
        let trees = tables(&trace, &picks.query(Shape::CallTree, Per::Thread));
        let ups = tables(&trace, &picks.query(Shape::BottomUp { levels: 4 }, Per::Thread));
        for (tree, up) in trees.iter().zip(&ups) {
            assert_eq!(sum(tree, None) + whole(tree.table.own), whole(tree.table.total), "{seed}");
            assert_eq!(sum(up, Some(0)), sum(tree, None), "{seed}");
            // Callers have no more time than callees.
            assert!(sum(up, Some(0)) >= sum(up, Some(1)), "{seed}");
        }
        let one = tables(&trace, &picks.query(Shape::CallTree, Per::All));
        let all: u64 = trees.iter().map(|tree| sum(tree, None)).sum();
        assert_eq!(one.iter().map(|part| sum(part, None)).sum::<u64>(), all, "{seed}");
    }
}

#[test]
fn results_do_not_depend_on_limits() {
    for seed in seeds(2000, 40) {
        let mut rng = Rng::new(seed);
        let (text, _) = generate(&mut rng);
        let query = Asked::any(&mut rng).query(Shape::BottomUp { levels: 6 }, Per::All);
        let usual = tables(&read(&text, &config()), &query);
        let mut config = Config::new(1 + rng.index(4), 256 << 20, std::env::temp_dir());
        let shares = config.limits.shares();
        let (chunk, segment) = (64 + rng.index(500), 64 + rng.index(500));
        config.limits.shares = Some(Shares { chunk, segment, ..shares });
        let other = tables(&read(&text, &config), &query);
        assert_eq!(format!("{usual:?}"), format!("{other:?}"), "seed {seed}");
    }
}
