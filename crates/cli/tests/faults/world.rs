//! A folder with inputs, the jobs that are run in it, and the judge of how they end.

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

/// A verb with its flags. It reads `a.json`, and writes to the folder `out` alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) words: &'static str,
    /// A file in `out` that is there before.
    pub(crate) old: Option<&'static str>,
    /// A file that it writes, as it is called in messages.
    pub(crate) output: &'static str,
}

const fn job(words: &'static str, output: &'static str) -> Job {
    Job { words, old: None, output }
}

/// Every verb, and for some of them more than one way to write.
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

/// What runs on every job: a small budget with folders of its own for what is temporary.
const LIMITS: [&str; 3] = ["-m32M", "-Ttmp", "-@2"];
/// What a file holds that is to be replaced.
const OLD: &[u8] = b"old";

/// How often a fault is injected that has a random moment or place: `usual` times, unless the environment says more.
pub(crate) fn runs(usual: usize) -> usize {
    let asked = std::env::var("TRACEMILL_FAULT_RUNS").ok();
    asked.map_or(usual, |runs| runs.parse().expect("TRACEMILL_FAULT_RUNS is a number"))
}

impl Job {
    /// Whether it makes an index: of files alone, and with the time of their last change in it.
    pub(crate) fn is_index(&self) -> bool {
        self.words.starts_with("index")
    }

    /// Returns whether it reads several inputs twice, which must be files.
    pub(crate) fn reads_twice(&self) -> bool {
        ["info", "check"].iter().any(|verb| self.words.starts_with(verb))
    }
}

/// What a job does in peace.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub(crate) code: i32,
    pub(crate) files: Files,
    pub(crate) stdout: Vec<u8>,
    pub(crate) time: Duration,
}

/// How a run may end.
pub(crate) struct Verdict<'v> {
    /// As in peace, by any of these.
    pub(crate) wholes: &'v [&'v Whole],
    /// A failure.
    pub(crate) or: &'v dyn Fn(&Run) -> bool,
    /// Whether a killed run may leave the new file beside the old one: see `output/file.rs`.
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

    /// Writes a file that looks an hour old, so that any change of it shows.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.folder.file(name, bytes);
        let file = fs::File::options().append(true).open(path).expect("it was written");
        let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
        file.set_modified(hour_ago).expect("the file is ours");
    }

    /// Empties `out`, but for what is there before the job.
    pub(crate) fn clear(&self, job: &Job) {
        fs::remove_dir_all(self.path("out")).expect("the folder is ours");
        self.folder.folder("out");
        if let Some(old) = job.old {
            self.write(&format!("out/{old}"), OLD);
        }
    }

    /// The command with the words of a job.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = self.folder.program(binary(), words);
        command.args(LIMITS);
        command
    }

    /// A line of bash in which `$0` with `$@` is the job: for limits and namespaces.
    pub(crate) fn bash(&self, line: &str, words: &str) -> Run {
        let mut command = self.folder.program("bash", "-c");
        command.arg(line).arg(binary()).args(words.split_whitespace()).args(LIMITS);
        self.folder.run(&mut command)
    }

    /// Whether this user may mount file systems where nobody else sees them.
    #[expect(clippy::print_stderr, reason = "a test that does nothing says so")]
    pub(crate) fn may_mount(&self) -> bool {
        let line = "unshare -rm bash -c 'mount -t tmpfs none tmp && mount --bind out out'";
        let may = self.bash(line, "").code == Some(0);
        if !may {
            eprintln!("no namespaces for this user: nothing was tested");
        }
        may
    }

    /// What `words` do in peace; `out` is as the job finds it.
    pub(crate) fn whole(&self, job: &Job, words: &str) -> Whole {
        self.whole_with(job, words, Stdio::null)
    }

    /// The same with a standard input.
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

    /// The files in a folder, hidden ones too; none if it is not there.
    pub(crate) fn files(&self, folder: &str) -> Files {
        self.folder.files(folder)
    }

    /// Asserts what holds however a run of `job` ended. True if it ended as in peace.
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
            // a name beside the output, under which a report, or what replaces an old file, waits to take its place
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

/// What the inputs are called, and what they hold.
pub(crate) fn inputs() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    static INPUTS: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    let [a, b, packed] = INPUTS.get_or_init(|| {
        let trace = |seed, size| {
            let mut bytes = Vec::new();
            chrome_like(seed, size, &mut bytes).expect("memory takes bytes");
            bytes
        };
        // unpacked it is more than the budget keeps of a stream in memory
        [trace(1, 1 << 20), trace(2, 1 << 20), gz(&trace(3, 10 << 20), usize::MAX)]
    });
    [("a.json", &a[..]), ("b.json", b), ("packed.json.gz", packed)].into_iter()
}

/// The first input.
pub(crate) fn first() -> &'static [u8] {
    inputs().next().expect("there are inputs").1
}

/// A random part of a time, and now and then a little more.
pub(crate) fn moment(rng: &mut Rng, time: Duration) -> Duration {
    time.mul_f64(rng.below(1100) as f64 / 1000.0)
}
