//! Compares the ranks of random jobs with a naive count, and checks laws of the comparison.

use crate::devices::nanos;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tracemill_analysis::{ReadRules, ThreadChoice, Trace, Wanted};
use tracemill_join::config::Config;
use tracemill_report::{DeviceRules, Rank, Ranks, ReportRules};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

const NAMES: [&str; 2] = ["ncclDevKernel_AllReduce_x", "ncclKernel_AllGather_y"];

/// A collective on a rank, in nanoseconds.
#[derive(Clone, Copy)]
struct Joined {
    name: usize,
    group: usize,
    launch: Option<i64>,
    begin: i64,
    dur: i64,
}

#[derive(Default)]
struct MadeRank {
    /// Begin and duration of each step.
    steps: Vec<(i64, i64)>,
    collectives: Vec<Joined>,
}

fn random_rank(rng: &mut Rng, steps: usize) -> MadeRank {
    let mut rank = MadeRank::default();
    let (mut now, mut free) = (1000 + rng.index(500) as i64, 0);
    for _ in 0..steps {
        let begin = now;
        for _ in 0..rng.index(4) {
            now += 1 + rng.index(30) as i64;
            let launch = rng.chance(80).then_some(now);
            let start = (now + rng.index(40) as i64).max(free);
            let dur = [1, 5, 9, 40][rng.index(4)] + rng.index(3) as i64;
            free = start + dur;
            let (name, group) = (rng.index(2), rng.index(2));
            rank.collectives.push(Joined { name, group, launch, begin: start, dur });
        }
        now += 1 + rng.index(20) as i64;
        rank.steps.push((begin, now - begin));
        now += rng.index(10) as i64;
    }
    rank
}

/// Writes the trace of a rank, whose clock is `late` nanoseconds late.
fn text(rng: &mut Rng, rank: &MadeRank, number: usize, late: i64) -> String {
    let micros = |nanos: i64| format!("{}.{:03}", nanos / 1000, nanos % 1000);
    let time = |at: i64, dur: i64| format!("\"ts\":{},\"dur\":{}", micros(at + late), micros(dur));
    let mut events = Vec::new();
    for (step, &(begin, dur)) in rank.steps.iter().enumerate() {
        for (cat, pid) in [("user_annotation", 100 + number), ("gpu_user_annotation", number)] {
            let time = time(begin, if pid < 100 { dur + 7 } else { dur });
            events.push(format!(
                r#"{{"ph":"X","cat":"{cat}","name":"ProfilerStep#{step}","pid":{pid},"tid":1,{time}}}"#
            ));
        }
    }
    for (id, joined) in rank.collectives.iter().enumerate() {
        let (name, group) = (NAMES[joined.name], joined.group);
        let kernel = time(joined.begin, joined.dur);
        events.push(format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":{number},"tid":20,{kernel},"args":{{"stream":20,"correlation":{id},"Process Group Name":"{group}"}}}}"#
        ));
        if let Some(launch) = joined.launch {
            let call = time(launch, 1);
            events.push(format!(
                r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":{},"tid":1,{call},"args":{{"correlation":{id}}}}}"#,
                100 + number
            ));
        }
    }
    // a kernel that is no collective
    events.push(format!(
        r#"{{"ph":"X","cat":"kernel","name":"gemm","pid":{number},"tid":7,{},"args":{{"stream":7}}}}"#,
        time(900, 50)
    ));
    rng.shuffle(&mut events);
    let list = events.join(",\n");
    format!(r#"{{"distributedInfo":{{"rank":{number}}},"traceEvents":[{list}]}}"#)
}

/// Reads the inputs as different recordings.
fn read_all(paths: &[PathBuf]) -> Trace {
    let config = Config::new(2, 64 << 20, std::env::temp_dir()).as_merged();
    let sources: Vec<Source> = paths.iter().cloned().map(Source::Path).collect();
    let wanted = Wanted { report: true, ..Wanted::default() };
    Trace::read(&sources, ReadRules { wanted, ..ReadRules::default() }, &config).expect("traces")
}

fn compared(paths: &[PathBuf], devices: DeviceRules) -> Ranks {
    let trace = read_all(paths);
    let rules = ReportRules { devices, ..crate::report::rules(9) };
    let threads = trace.choose(&ThreadChoice::default());
    tracemill_report::report(&trace, &threads, &rules).expect("room").ranks.expect("ranks")
}

/// Sums of the naive count, by rank.
#[derive(Default)]
struct Counted {
    waits: BTreeMap<(usize, usize), i64>,
    last: BTreeMap<usize, u64>,
    skews: BTreeMap<usize, Vec<i64>>,
    matched: u64,
    unmatched: u64,
}

/// Rank and duration of each kernel, by name, process group, step and position.
type Groups = BTreeMap<(usize, usize, i64, u64), Vec<(usize, i64)>>;

fn naive(ranks: &[MadeRank]) -> Counted {
    let mut groups = Groups::new();
    for (number, rank) in ranks.iter().enumerate() {
        for (at, joined) in rank.collectives.iter().enumerate() {
            let step_of = |joined: &Joined| {
                let time = joined.launch.unwrap_or(joined.begin);
                rank.steps.iter().filter(|step| step.0 <= time).count() as i64 - 1
            };
            let is_alike =
                |other: &&Joined| (other.name, other.group) == (joined.name, joined.group);
            let step = rank.collectives[..=at].iter().filter(is_alike).map(step_of).max();
            let key = |position| (joined.name, joined.group, step.expect("a step"), position);
            let mut position = 0;
            while groups
                .get(&key(position))
                .is_some_and(|all| all.iter().any(|part| part.0 == number))
            {
                position += 1;
            }
            groups.entry(key(position)).or_default().push((number, joined.dur));
        }
    }
    let mut counted = Counted::default();
    for ((name, ..), group) in groups {
        if group.len() < 2 {
            counted.unmatched += 1;
            continue;
        }
        counted.matched += 1;
        let &(last, least) = group.iter().min_by_key(|part| (part.1, part.0)).expect("two");
        let skew = group.iter().map(|part| part.1 - least).max().expect("two");
        counted.skews.entry(name).or_default().push(skew);
        *counted.last.entry(last).or_default() += u64::from(skew > 0);
        for (rank, dur) in group.into_iter().filter(|part| part.1 > least) {
            *counted.waits.entry((rank, last)).or_default() += dur - least;
        }
    }
    counted
}

fn write(folder: &Path, rng: &mut Rng, ranks: &[MadeRank], late: i64) -> Vec<PathBuf> {
    let write = |(number, rank): (usize, &MadeRank)| {
        let path = folder.join(format!("rank-{number}.json"));
        std::fs::write(&path, text(rng, rank, number, late * number as i64)).expect("a file");
        path
    };
    ranks.iter().enumerate().map(write).collect()
}

#[test]
fn random_ranks_match_a_naive_count_whatever_their_clocks_and_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stragglers = 0;
    for seed in seeds(5500, 60) {
        let mut rng = Rng::new(seed);
        let steps = 1 + rng.index(5);
        let count = 2 + rng.index(3);
        let ranks: Vec<MadeRank> = (0..count).map(|_| random_rank(&mut rng, steps)).collect();
        let late = [0, 3, 77_000][rng.index(3)];
        let mut paths = write(folder.path(), &mut rng, &ranks, late);
        rng.shuffle(&mut paths);
        let found = compared(&paths, DeviceRules::default());
        let expected = naive(&ranks);
        assert_eq!((found.matched, found.unmatched), (expected.matched, expected.unmatched));
        let total: i64 = expected.waits.values().sum();
        for (number, (rank, joined)) in found.all.iter().zip(&ranks).enumerate() {
            assert_eq!(rank.number, Some(number as u64), "seed {seed}");
            let sum = |of: fn(&(usize, usize)) -> usize| -> i64 {
                expected
                    .waits
                    .iter()
                    .filter(|(pair, _)| of(pair) == number)
                    .map(|(_, wait)| wait)
                    .sum()
            };
            let (wait, delay) = (sum(|pair| pair.0), sum(|pair| pair.1));
            assert_eq!([rank.wait, rank.delay].map(nanos), [wait, delay], "seed {seed}");
            assert_eq!(rank.last, expected.last.get(&number).copied().unwrap_or(0), "seed {seed}");
            let longest = expected.waits.iter().filter(|(pair, _)| pair.0 == number);
            let longest = longest.map(|(pair, wait)| (*wait, usize::MAX - pair.1)).max();
            assert_eq!(rank.waits_for, longest.map(|best| usize::MAX - best.1), "seed {seed}");
            let durations = || joined.steps.iter().map(|step| step.1);
            let bounds =
                [durations().sum(), durations().min().unwrap(), durations().max().unwrap()];
            assert_eq!([rank.time, rank.least, rank.most].map(nanos), bounds, "seed {seed}");
            let is_straggler = 2 * count as i64 * delay > (count as i64 + 1) * total;
            assert_eq!(found.straggler == Some(number), is_straggler, "seed {seed}");
            stragglers += usize::from(is_straggler);
        }
        assert_eq!(found.collectives.len(), expected.skews.len(), "seed {seed}");
        for collective in &found.collectives {
            let name = NAMES.iter().position(|name| *name == collective.name).expect("a name");
            let skews = &expected.skews[&name];
            assert_eq!(collective.count, skews.len() as u64, "seed {seed}");
            assert_eq!(nanos(collective.most), *skews.iter().max().expect("a skew"), "seed {seed}");
            let mean = skews.iter().sum::<i64>() as f64 / skews.len() as f64 / 1e6;
            assert!((collective.skew - mean).abs() < 1e-9, "seed {seed}");
        }
    }
    assert!(stragglers > 5, "{stragglers}");
}

#[test]
fn last_steps_are_left_out_and_equal_numbers_do_not_name_ranks() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut rng = Rng::new(7);
    let ranks: Vec<MadeRank> = (0..3).map(|_| random_rank(&mut rng, 4)).collect();
    let paths = write(folder.path(), &mut rng, &ranks, 0);
    let rules = DeviceRules { drop_last_step: true, ..DeviceRules::default() };
    let steps = |ranks: &Ranks| ranks.all.iter().map(|rank| rank.steps).collect::<Vec<_>>();
    assert_eq!(steps(&compared(&paths, DeviceRules::default())), [4, 4, 4]);
    assert_eq!(steps(&compared(&paths, rules)), [3, 3, 3]);
    let second = folder.path().join("other.json");
    std::fs::write(&second, text(&mut rng, &ranks[1], 1, 5).replace("\"rank\":1", "\"rank\":0"))
        .expect("a file");
    let both = compared(&[second, paths[0].clone()], DeviceRules::default());
    let names: Vec<(Option<u64>, usize)> =
        both.all.iter().map(|Rank { number, input, .. }| (*number, *input)).collect();
    assert_eq!(names, [(None, 0), (None, 1)]);
}

#[test]
fn a_single_rank_is_not_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut rng = Rng::new(8);
    let ranks = [random_rank(&mut rng, 3)];
    let trace = read_all(&write(folder.path(), &mut rng, &ranks, 0));
    let report = crate::report::report(&trace);
    assert!(report.ranks.is_none() && report.devices.is_some());
}
