//! A folder with inputs, the jobs to run in it, and the checks of their results.

use crate::common::binary;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
pub(crate) use tracemill_testkit::Run;
use tracemill_testkit::generate::chrome_like;
use tracemill_testkit::packing::gz;
use tracemill_testkit::world::{Files, digest};
use tracemill_testkit::{Folder, Rng};

/// A command line that reads `a.json` and writes to the folder `out` only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) words: &'static str,
    /// A file in `out` that exists before the run.
    pub(crate) old: Option<&'static str>,
    /// The output file as messages name it.
    pub(crate) output: &'static str,
}

const fn job(words: &'static str, output: &'static str) -> Job {
    Job { words, old: None, output }
}

/// Every verb, some with several kinds of output.
pub(crate) const JOBS: [Job; 20] = [
    job("merge a.json b.json -o out/o.json", "out/o.json"),
    Job {
        old: Some("o.json"),
        ..job("merge -f a.json packed.json.gz -o out/o.json", "out/o.json")
    },
    Job { old: Some("o.json"), ..job("merge -f a.json b.json --sync -o out/o.json", "out/o.json") },
    job("merge a.json -o out/o.json.gz", "out/o.json.gz"),
    job("merge a.json --strict -o out/o.json", "out/o.json"),
    job("split a.json --by tid -d out --manifest out/manifest", "out"),
    job("split a.json --by events=1000 -z zst -d out", "out"),
    job("slice a.json --from 1ms --to 1s -o out/o.json", "out/o.json"),
    job("filter a.json --ph X,M --drop gpu -o out/o.json", "out/o.json"),
    job("convert a.json --format ndjson -o out/o.json", "out/o.json"),
    job("convert a.json --style compact -z zst -o out/o.json", "out/o.json"),
    job("info a.json --full -o out/o.txt", "out/o.txt"),
    job("check a.json -o out/o.txt", "out/o.txt"),
    job("top a.json -o out/o.txt", "out/o.txt"),
    job("tree a.json --bottom-up --json -o out/o.json", "out/o.json"),
    job("calls a.json -o out/o.json", "out/o.json"),
    job("profile list a.json -o out/o.txt", "out/o.txt"),
    job("profile extract a.json -d out", "out"),
    job("index a.json -o out/o.tmi", "out/o.tmi"),
    Job { old: Some("o.tmi"), ..job("index -f a.json -o out/o.tmi", "out/o.tmi") },
];

/// Flags of every job: a small budget and a separate temporary folder.
const LIMITS: [&str; 3] = ["-m32M", "-Ttmp", "-@2"];
/// Contents of an output before it is replaced.
const OLD: &[u8] = b"old";

/// Returns how often to inject a random fault: TRACEMILL_FAULT_RUNS, or `usual`.
pub(crate) fn runs(usual: usize) -> usize {
    let text = std::env::var("TRACEMILL_FAULT_RUNS").ok();
    text.map_or(usual, |runs| runs.parse().expect("TRACEMILL_FAULT_RUNS is a number"))
}

impl Job {
    /// Returns whether the job writes an index, which takes files only and contains their
    /// modification times.
    pub(crate) fn is_index(&self) -> bool {
        self.words.starts_with("index")
    }

    /// Returns whether the job reads several inputs twice, so that they must be files.
    pub(crate) fn reads_twice(&self) -> bool {
        ["info", "check"].iter().any(|verb| self.words.starts_with(verb))
    }
}

/// Results of a job without a fault.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub(crate) code: i32,
    pub(crate) files: Files,
    pub(crate) stdout: Vec<u8>,
    pub(crate) time: Duration,
}

/// Acceptable ends of a run.
pub(crate) struct Verdict<'v> {
    /// Complete results, any of which is acceptable.
    pub(crate) wholes: &'v [&'v Whole],
    /// Test for an acceptable failure.
    pub(crate) or: &'v dyn Fn(&Run) -> bool,
    /// Whether a killed run may leave the new file next to the old one: see `output/file.rs`.
    pub(crate) may_leave: bool,
}

/// A temporary folder with inputs, `out` and `tmp`.
pub(crate) struct World {
    folder: Folder,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = World { folder: Folder::new() };
        for (name, bytes) in inputs() {
            world.write(name, bytes);
        }
        for folder in ["out", "tmp"] {
            world.folder.folder(folder);
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    /// Writes a file dated an hour ago, so that any change of it is visible.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.folder.file(name, bytes);
        let file = fs::File::options().append(true).open(path).expect("it was written");
        let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
        file.set_modified(hour_ago).expect("the file is ours");
    }

    /// Empties `out`, except for the file that exists before the job.
    pub(crate) fn clear(&self, job: &Job) {
        fs::remove_dir_all(self.path("out")).expect("the folder is ours");
        self.folder.folder("out");
        if let Some(old) = job.old {
            self.write(&format!("out/{old}"), OLD);
        }
    }

    /// Returns the command for a job.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = self.folder.program(binary(), words);
        command.args(LIMITS);
        command
    }

    /// Runs a bash script in which `$0` with `$@` is the job.
    pub(crate) fn bash(&self, line: &str, words: &str) -> Run {
        let mut command = self.folder.program("bash", "-c");
        command.arg(line).arg(binary()).args(words.split_whitespace()).args(LIMITS);
        self.folder.run(&mut command)
    }

    /// Returns whether this user may mount file systems in a private namespace.
    #[expect(clippy::print_stderr, reason = "a test that does nothing says so")]
    pub(crate) fn may_mount(&self) -> bool {
        let line = "unshare -rm bash -c 'mount -t tmpfs none tmp && mount --bind out out'";
        let may = self.bash(line, "").code == Some(0);
        if !may {
            eprintln!("no namespaces for this user: nothing was tested");
        }
        may
    }

    /// Runs `words` without a fault, after clearing `out`.
    pub(crate) fn whole(&self, job: &Job, words: &str) -> Whole {
        self.whole_with(job, words, Stdio::null)
    }

    /// Like [`World::whole`], with a standard input.
    pub(crate) fn whole_with(&self, job: &Job, words: &str, stdin: impl Fn() -> Stdio) -> Whole {
        let mut best: Option<Whole> = None;
        for _ in 0..2 {
            self.clear(job);
            let start = Instant::now();
            let output = self.command(words).stdin(stdin()).output().expect("the command runs");
            let (time, stdout) = (start.elapsed(), output.stdout.clone());
            let run = Run::of(output);
            let code = run.code.expect("no signal came");
            assert!(!run.stderr.contains("panicked"), "{words}: {}", run.stderr);
            let time = best.map_or(time, |best| best.time.min(time));
            best = Some(Whole { code, files: self.files("out"), stdout, time });
        }
        self.clear(job);
        best.expect("it ran")
    }

    /// Returns the files in a folder, hidden ones too; empty if the folder is missing.
    pub(crate) fn files(&self, folder: &str) -> Files {
        self.folder.files(folder)
    }

    /// Asserts the contract for a run of `job`; returns whether it ended as without the fault.
    #[track_caller]
    pub(crate) fn judge(&self, job: &Job, run: &Run, verdict: &Verdict<'_>, fault: &str) -> bool {
        let outputs = self.files("out");
        let say = |what: &str| format!("{what}: {fault}: {}\n{run:#?}\n{outputs:#?}", job.words);
        assert!(!run.stderr.contains("panicked"), "{}", say("a panic"));
        assert_eq!(self.files("tmp"), Files::new(), "{}", say("temporary files are left"));
        for (name, bytes) in inputs().filter(|(name, _)| *name != "a.json") {
            let now = fs::read(self.path(name)).expect("the input is there");
            assert!(now == bytes, "{}", say("an input has changed"));
        }
        let mut outputs_named = outputs.clone();
        if verdict.may_leave {
            // the temporary name of a report, or of a file that replaces an old one
            let name = job.output.rsplit('/').next().unwrap_or_default();
            let all =
                verdict.wholes.iter().flat_map(|whole| whole.files.keys().map(|name| &**name));
            let beside: Vec<_> =
                all.chain([name]).map(|name| format!(".{name}.tracemill-")).collect();
            outputs_named.retain(|name, _| !beside.iter().any(|beside| name.starts_with(beside)));
        }
        let like = |whole: &&&Whole| run.code == Some(whole.code) && outputs_named == whole.files;
        if verdict.wholes.iter().any(|whole| like(&whole)) {
            return true;
        }
        assert!((verdict.or)(run), "{}", say("it must end in another way"));
        for (name, found) in &outputs_named {
            let whole = verdict.wholes.iter().any(|whole| whole.files.get(name) == Some(found));
            let old = job.old == Some(name) && *found == digest(OLD);
            assert!(whole || old, "{}: {name}", say("an output is neither absent nor whole"));
        }
        false
    }
}

pub(crate) fn inputs() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    static INPUTS: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    let [a, b, packed] = INPUTS.get_or_init(|| {
        let trace = |seed, size| {
            let mut bytes = Vec::new();
            chrome_like(seed, size, &mut bytes).expect("memory takes bytes");
            bytes
        };
        // decompressed, it exceeds what the budget keeps of a stream in memory
        [trace(1, 1 << 20), trace(2, 1 << 20), gz(&trace(3, 10 << 20), usize::MAX)]
    });
    [("a.json", &a[..]), ("b.json", b), ("packed.json.gz", packed)].into_iter()
}

pub(crate) fn first() -> &'static [u8] {
    inputs().next().expect("there are inputs").1
}

/// Returns a random time within `time`, or up to 10 % later.
pub(crate) fn moment(rng: &mut Rng, time: Duration) -> Duration {
    time.mul_f64(rng.below(1100) as f64 / 1000.0)
}
