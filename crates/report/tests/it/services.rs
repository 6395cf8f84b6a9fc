//! Compares services of random CPU profiles with a naive count of their samples.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tracemill_analysis::{ReadRules, Trace, Wanted};
use tracemill_join::config::Config;
use tracemill_report::{Report, Service};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

/// Functions of the profiles, after the root.
const NAMES: [&str; 5] = ["(idle)", "(garbage collector)", "(program)", "parse", "render"];

/// Returns a function for each millisecond.
fn random_samples(rng: &mut Rng) -> Vec<usize> {
    let mut samples = Vec::new();
    for _ in 0..1 + rng.index(12) {
        let length = [1, 5, 30, 70][rng.index(4)] + rng.index(5);
        let function = rng.index(NAMES.len());
        samples.extend(std::iter::repeat_n(function, length));
    }
    samples
}

fn text(samples: &[usize]) -> String {
    let mut nodes = String::from(
        r#"{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2,3,4,5,6]}"#,
    );
    for (at, name) in NAMES.iter().enumerate() {
        write!(
            nodes,
            r#",{{"id":{},"callFrame":{{"functionName":"{name}","scriptId":"7","url":"","lineNumber":{at},"columnNumber":1}}}}"#,
            at + 2
        )
        .expect("room");
    }
    let ids: Vec<usize> = samples.iter().map(|sample| sample + 2).collect();
    let deltas = vec![1000; samples.len()];
    let end = 5000 + 1000 * samples.len();
    format!(
        r#"{{"nodes":[{nodes}],"startTime":5000,"endTime":{end},"samples":{ids:?},"timeDeltas":{deltas:?}}}"#
    )
}

/// Sums of a service in milliseconds.
#[derive(Default)]
struct Counted {
    time: u64,
    by_function: [u64; NAMES.len()],
    blocks: Vec<u64>,
}

impl Counted {
    /// Adds the samples of a thread. The trace ends with the last sample of all threads.
    fn add(&mut self, samples: &[usize], most: usize) {
        self.time += samples.len().min(most - 1) as u64;
        samples.iter().for_each(|&function| self.by_function[function] += 1);
        let runs = samples.split(|&function| function == 0).map(|run| run.len() as u64);
        self.blocks.extend(runs.filter(|&run| run >= 50));
    }

    fn assert_is(&self, service: &Service, seed: u64) {
        let busy: u64 = self.by_function[1..].iter().sum();
        let sums = [service.busy, service.time, service.gc, service.blocked, service.longest];
        let longest = self.blocks.iter().max().copied().unwrap_or(0);
        let expected = [busy, self.time, self.by_function[1], self.blocks.iter().sum(), longest];
        for (found, expected) in sums.into_iter().zip(expected) {
            assert!((found - expected as f64).abs() < 1e-6, "seed {seed}: {service:?} {expected}");
        }
        assert_eq!(service.blocks, self.blocks.len() as u64, "seed {seed}");
        let most = [1, 3, 4].map(|at| self.by_function[at]).into_iter().max().unwrap_or(0);
        let hottest = service.hottest.as_ref().map_or(0.0, |(name, ms)| {
            let at = NAMES.iter().position(|known| known == name).expect("a function");
            assert_eq!(self.by_function[at], most, "seed {seed}: {name}");
            *ms
        });
        assert!((hottest - most as f64).abs() < 1e-6, "seed {seed}: {service:?}");
    }
}

fn report(paths: &[PathBuf]) -> Report {
    let config = Config::new(2, 64 << 20, std::env::temp_dir()).as_merged();
    let sources: Vec<Source> = paths.iter().cloned().map(Source::Path).collect();
    let wanted = Wanted { report: true, ..Wanted::default() };
    let rules = ReadRules { wanted, ..ReadRules::default() };
    crate::report::report(&Trace::read(&sources, rules, &config).expect("profiles"))
}

fn write(folder: &Path, name: &str, samples: &[usize]) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, text(samples)).expect("a file");
    path
}

#[test]
fn folders_and_files_match_a_count_of_their_samples() {
    let mut slow = 0;
    for seed in seeds(6600, 40) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut rng = Rng::new(seed);
        let has_folders = rng.chance(60);
        let (mut all, mut paths) = (Vec::new(), Vec::new());
        for pod in 0..2 + rng.index(4) {
            let files = if has_folders { 1 + rng.index(3) } else { 1 };
            for file in 0..files {
                let mut samples = random_samples(&mut rng);
                // begins busy, and ends idle, so that the end of the last block is known
                samples.insert(0, 3);
                samples.extend([0, 0]);
                let (name, key) = match has_folders {
                    true => (format!("pods/pod-{pod}/a/{file}.cpuprofile"), format!("pod-{pod}")),
                    false => (format!("{pod}.cpuprofile"), format!("{pod}.cpuprofile")),
                };
                paths.push(write(folder.path(), &name, &samples));
                all.push((key, samples));
            }
        }
        let most = all.iter().map(|(_, samples)| samples.len()).max().expect("a profile");
        let mut counted: BTreeMap<String, Counted> = BTreeMap::new();
        for (key, samples) in all {
            counted.entry(key).or_default().add(&samples, most);
        }
        let services = report(&paths).services.expect("services");
        assert_eq!(services.are_folders, has_folders, "seed {seed}");
        assert_eq!(services.all.len(), counted.len(), "seed {seed}");
        services.all.iter().for_each(|service| counted[&service.name].assert_is(service, seed));
        assert!(services.all.is_sorted_by(|a, b| a.share() >= b.share()), "seed {seed}");
        slow += usize::from(services.slow.is_some());
    }
    assert!(slow > 3, "{slow}");
}

#[test]
fn a_process_with_several_profiles_is_one_service() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = |pid: u32, tid: u32| format!("CPU.20260101.000000.{pid}.{tid}.00{tid}.cpuprofile");
    let of = |pid, tid, samples: &[usize]| write(folder.path(), &name(pid, tid), samples);
    let paths = [of(7, 0, &[0, 4, 0]), of(7, 1, &[0, 4, 0]), of(8, 0, &[0, 0])];
    let services = report(&paths).services.expect("services");
    let found: Vec<(&str, u64)> =
        services.all.iter().map(|service| (&*service.name, service.threads)).collect();
    assert!(found[0].0.contains('7') && found[0].1 == 2, "{found:?}");
    assert_eq!(found[1], (&*name(8, 0), 1));
    assert!(report(&paths[..2]).services.is_none(), "a single process");
}
