//! Compares GPU reports with tables of HTA (testdata/pytorch), and random traces with a count of
//! every nanosecond.

use crate::report::read;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tracemill_analysis::{ReadRules, TableRules, ThreadChoice, Trace, Wanted};
use tracemill_join::config::Config;
use tracemill_report::Device;
use tracemill_report::DeviceRules;
use tracemill_report::Devices;
use tracemill_report::ReportRules;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

fn ranks() -> [PathBuf; 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pytorch");
    [0, 1].map(|rank| folder.join(format!("rank-{rank}.json")))
}

fn read_all(paths: &[PathBuf], memory: u64) -> Trace {
    let config = Config::new(2, memory, std::env::temp_dir());
    let sources: Vec<Source> = paths.iter().cloned().map(Source::Path).collect();
    let wanted = Wanted { report: true, urls: true, ..Wanted::default() };
    Trace::read(&sources, ReadRules { wanted, ..ReadRules::default() }, &config).expect("traces")
}

fn devices(trace: &Trace, devices: DeviceRules) -> Devices {
    let rules = ReportRules {
        rows: 1 << 20,
        producer: None,
        tables: TableRules::default(),
        window: None,
        devices,
    };
    let threads = trace.choose(&ThreadChoice::default());
    tracemill_report::report(trace, &threads, &rules).expect("room").devices.expect("devices")
}

pub(crate) fn nanos(ms: f64) -> i64 {
    let nanos = ms * 1e6;
    assert!((nanos - nanos.round()).abs() < 1e-3, "{ms}");
    nanos.round() as i64
}

/// Converts HTA's microseconds to whole nanoseconds.
fn of_hta(row: &Value, key: &str) -> i64 {
    (row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}")) * 1000.0).round() as i64
}

fn hta() -> Value {
    let text = std::fs::read(ranks()[0].with_file_name("hta.json")).expect("HTA's tables");
    serde_json::from_slice(&text).expect("JSON")
}

fn each<'v>(tables: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    tables[name].as_array().expect("rows").iter()
}

fn two_decimals(part: f64, whole: f64) -> f64 {
    (1e4 * part / whole).round() / 100.0
}

fn assert_is_hta(devices: &Devices, tables: &Value) {
    for (device, row) in devices.all.iter().zip(each(tables, "temporal")) {
        let Device { time, idle, compute, .. } = *device;
        let all = ["kernel_time(us)", "idle_time(us)", "compute_time(us)", "non_compute_time(us)"];
        let found = [time, idle, compute, time - idle - compute].map(nanos);
        assert_eq!(found, all.map(|key| of_hta(row, key)));
        let exposed = device.exposed_communication + device.exposed_memory;
        assert_eq!(nanos(idle + compute + exposed), nanos(time), "all shares are all there is");
    }
    for (device, row) in devices.all.iter().zip(each(tables, "overlap")) {
        let percent = two_decimals(device.overlap, device.communication);
        assert!((percent - row["comp_comm_overlap_pctg"].as_f64().expect("%")).abs() < 0.011);
    }
    assert_eq!(devices.all.len(), each(tables, "temporal").count());

    let mut idle: BTreeSet<(u64, u64, String, i64)> = BTreeSet::new();
    for row in each(tables, "idle").filter(|row| of_hta(row, "idle_time") > 0) {
        let [rank, stream] = ["rank", "stream"].map(|key| row[key].as_u64().expect("a number"));
        let what = row["idle_category"].as_str().expect("a category").to_owned();
        idle.insert((rank, stream, what, of_hta(row, "idle_time")));
    }
    let rank_of = |device: usize| devices.all.iter().position(|rank| rank.thread == device);
    let mut found = BTreeSet::new();
    for devices in &devices.idle {
        let rank = rank_of(devices.device).expect("its device") as u64;
        let parts = [
            ("host_wait", devices.host_wait),
            ("kernel_wait", devices.kernel_wait),
            ("other", devices.other),
        ];
        for (what, ms) in parts.into_iter().filter(|part| part.1 > 0.0) {
            found.insert((rank, u64::from(devices.stream), what.to_owned(), nanos(ms)));
        }
        assert_eq!(
            devices.kernels, devices.launched,
            "each is launched by a call that the trace has"
        );
    }
    assert_eq!(found, idle);

    let kinds: BTreeMap<String, i64> = each(tables, "types")
        .map(|row| {
            let name = row["kernel_type"].as_str().expect("a name").to_lowercase();
            (name.replace("computation", "compute"), of_hta(row, "sum"))
        })
        .collect();
    assert_eq!(
        devices
            .kinds
            .iter()
            .map(|kind| (kind.name.clone(), nanos(kind.time)))
            .collect::<BTreeMap<_, _>>(),
        kinds
    );

    // HTA has a row per rank.
    let mut kernels: BTreeMap<&str, (i64, i64, i64)> = BTreeMap::new();
    for row in each(tables, "kernels") {
        let [sum, most, least] = ["sum (us)", "max (us)", "min (us)"].map(|key| of_hta(row, key));
        let devices =
            kernels.entry(row["name"].as_str().expect("a name")).or_insert((0, 0, i64::MAX));
        *devices = (devices.0 + sum, devices.1.max(most), devices.2.min(least));
    }
    let found = devices.kernels.iter().map(|kernel| {
        (&*kernel.name, (nanos(kernel.total), nanos(kernel.most), nanos(kernel.least)))
    });
    assert_eq!(found.collect::<BTreeMap<_, _>>(), kernels);
}

#[test]
fn tables_match_hta() {
    let hta = hta();
    for memory in [256 << 20, 32 << 20] {
        let both = read_all(&ranks(), memory);
        for (rules, tables) in [(false, "keep"), (true, "drop")] {
            let rules = DeviceRules { drop_last_step: rules, ..DeviceRules::default() };
            let report = devices(&both, rules);
            assert_is_hta(&report, &hta[tables]);
            assert_eq!(report.incomplete > 0, rules.drop_last_step);
        }
    }
}

#[test]
fn deviations_of_kernels_per_rank_match_hta() {
    let hta = hta();
    for (rank, path) in ranks().iter().enumerate() {
        let report = devices(&read(path, 256 << 20), DeviceRules::default());
        let rows = each(&hta["keep"], "kernels").filter(|row| row["rank"] == rank);
        let mut compared = 0;
        for row in rows {
            let kernel =
                report.kernels.iter().find(|kernel| *kernel.name == row["name"]).expect("a kernel");
            for (key, ms) in [("stddev", kernel.deviation), ("mean (us)", kernel.mean)] {
                let us = row[key].as_f64().expect("a number");
                assert!((us - ms * 1000.0).abs() < 1e-9 * us.max(1.0), "{row}: {kernel:?}");
            }
            compared += 1;
        }
        assert_eq!(compared, report.all_kernels);
    }
}

/// A kernel of a random trace; `class` is 0 for compute, 1 for communication, 2 for memory.
struct Made {
    device: usize,
    stream: usize,
    class: usize,
    begin: i64,
    end: i64,
    launched: Option<i64>,
}

/// Start in nanoseconds since 1970, which a double represents only to 256 ns.
const START: i64 = 1_700_000_000_000_000_000;

fn random_kernels(rng: &mut Rng) -> (Vec<Made>, String) {
    let micros = |ns: i64| format!("{}.{:03}", ns / 1000, ns % 1000);
    let (mut all, mut events) = (Vec::new(), Vec::new());
    let mut correlation = 0;
    for device in 0..1 + rng.index(2) {
        for stream in 0..1 + rng.index(3) {
            let mut at = START + rng.index(50) as i64;
            for _ in 0..1 + rng.index(12) {
                let begin = at + [0, 1, 7, 30, 90][rng.index(5)];
                let end = begin + 1 + rng.index(60) as i64;
                at = end;
                correlation += 1;
                let class = rng.index(3);
                let (cat, name) = [
                    ("kernel", "gemm"),
                    ("kernel", "ncclDevKernel_x"),
                    ("gpu_memcpy", "CopyHostToDevice"),
                ][class];
                events.push(format!(
                    r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":{device},"tid":{stream},"ts":{},"dur":{},"args":{{"stream":{stream},"correlation":{correlation}}}}}"#,
                    micros(begin), micros(end - begin)
                ));
                // With two calls of one correlation id, none is certain.
                let calls = [0, 1, 1, 1, 2][rng.index(5)];
                let launch = begin - rng.index(80) as i64;
                for call in 0..calls {
                    events.push(format!(
                        r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":77,"tid":77,"ts":{},"dur":1,"args":{{"correlation":"{correlation}"}}}}"#,
                        micros(launch + call)
                    ));
                }
                let launched = (calls == 1).then_some(launch);
                all.push(Made { device, stream, class, begin, end, launched });
            }
        }
    }
    events.push(
        r#"{"ph":"X","cat":"kernel","name":"no stream","pid":0,"tid":0,"ts":1,"dur":9,"args":{}}"#
            .to_owned(),
    );
    rng.shuffle(&mut events);
    (all, format!("[{}]", events.join(",\n")))
}

/// Counts the nanoseconds in which the set of running classes satisfies `runs`.
fn counted(all: &[&Made], runs: impl Fn([bool; 3]) -> bool) -> i64 {
    let first = all.iter().map(|event| event.begin).min().expect("one");
    let last = all.iter().map(|event| event.end).max().expect("one");
    let at = |at: i64| {
        let mut open = [false; 3];
        all.iter()
            .filter(|event| event.begin <= at && at < event.end)
            .for_each(|event| open[event.class] = true);
        open
    };
    (first..last).filter(|&time| runs(at(time))).count() as i64
}

#[test]
fn random_devices_match_a_count_of_every_nanosecond() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in seeds(4200, 40) {
        let mut rng = Rng::new(seed);
        let (all, text) = random_kernels(&mut rng);
        let path = folder.path().join("made.json");
        std::fs::write(&path, text).expect("a file");
        let gap = rng.index(40) as i64;
        let rules = DeviceRules { kernel_gap: gap, drop_last_step: false };
        let report = devices(&read(&path, 64 << 20), rules);
        let numbers: BTreeSet<usize> = all.iter().map(|event| event.device).collect();
        assert_eq!(report.all.len(), numbers.len(), "seed {seed}");
        for device in &report.all {
            let trace = read(&path, 64 << 20);
            let pid: usize = trace.threads[device.thread].pid_text().parse().expect("a number");
            let all: Vec<&Made> = all.iter().filter(|event| event.device == pid).collect();
            let expected = [
                counted(&all, |_| true),
                counted(&all, |classes| classes == [false; 3]),
                counted(&all, |classes| classes[0]),
                counted(&all, |classes| classes[1]),
                counted(&all, |classes| classes[2]),
                counted(&all, |classes| classes[0] && classes[1]),
                counted(&all, |classes| classes[1] && !classes[0]),
                counted(&all, |classes| classes[2] && !classes[0] && !classes[1]),
            ];
            let Device { time, idle, compute, communication, memory, overlap, .. } = *device;
            let Device { exposed_communication, exposed_memory, .. } = *device;
            let found = [
                time,
                idle,
                compute,
                communication,
                memory,
                overlap,
                exposed_communication,
                exposed_memory,
            ];
            assert_eq!(found.map(nanos), expected, "seed {seed}");
            assert_eq!(device.kernels, all.len() as u64, "seed {seed}");

            for idle in report.idle.iter().filter(|gaps| gaps.device == device.thread) {
                let mut stream: Vec<&&Made> =
                    all.iter().filter(|event| event.stream == idle.stream as usize).collect();
                stream.sort_by_key(|event| event.begin);
                let mut waits = [0; 3];
                for pair in stream.windows(2) {
                    let (end, next) = (pair[0].end, pair[1]);
                    let length = next.begin - end;
                    let why = match next.launched {
                        Some(launched) if launched > end => 0,
                        _ if length < gap => 1,
                        _ => 2,
                    };
                    waits[why] += length;
                }
                let found = [idle.host_wait, idle.kernel_wait, idle.other].map(nanos);
                assert_eq!(found, waits, "seed {seed}");
                let launched = stream.iter().filter(|event| event.launched.is_some()).count();
                assert_eq!(idle.launched, launched as u64, "seed {seed}");
            }
        }
    }
}

#[test]
fn overlapping_kernels_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("overlong.json");
    let kernel = |ts: u32, dur: u32| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{ts},"dur":{dur},"args":{{"stream":7,"correlation":{ts}}}}}"#
        )
    };
    std::fs::write(&path, format!("[{},{},{}]", kernel(0, 10), kernel(4, 10), kernel(20, 5)))
        .expect("a file");
    let report = devices(&read(&path, 64 << 20), DeviceRules::default());
    assert_eq!(
        [report.overlong, report.durations, report.all[0].time].map(nanos),
        [6000, 25_000, 25_000]
    );
    assert_eq!(nanos(report.idle[0].idle), 6000);
}
