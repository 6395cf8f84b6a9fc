//! Processes of the command: held to their heap by the kernel and to their time by us, watched while they run.

use crate::common::binary;
use crate::figures::Figures;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tracemill_testkit::Rng;
use tracemill_testkit::heap::anonymous_kib;
use tracemill_testkit::world::Digest;
use tracemill_tokenizer::Tier;

/// What may change the cost of a run but not its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knobs {
    threads: usize,
    memory_mib: u64,
    tier: Tier,
    /// The most bytes of one read from a pipe.
    read_size: &'static str,
}

impl Knobs {
    pub(crate) fn random(rng: &mut Rng, memory_mib: u64) -> Self {
        let tiers: Vec<Tier> = Tier::ALL.into_iter().filter(|tier| tier.is_available()).collect();
        Knobs {
            threads: [1, 2, 3, 7][rng.index(4)],
            memory_mib,
            tier: tiers[rng.index(tiers.len())],
            read_size: rng.pick(&["256K", "64K", "4097"]),
        }
    }

    /// Many threads and a small budget.
    pub(crate) fn crowded(memory_mib: u64) -> Self {
        Knobs { threads: 7, memory_mib, tier: Tier::Scalar, read_size: "256K" }
    }

    /// The command with `words`, in `folder`, for at most `cpu` seconds of processors (RLIMIT_CPU). RLIMIT_DATA ends it when
    /// it maps more memory that it may write to than its budget and what [`Knobs::beside_kib`] allows.
    pub(crate) fn command(&self, words: &[String], cpu: u64, folder: &Path) -> Command {
        let zst = words.iter().any(|word| word == "zst");
        let limit = self.memory_mib * 1024 + self.beside_kib(zst);
        let mut command = Command::new("bash");
        command
            .args(["-c", &format!("ulimit -d {limit} -t {cpu} -s 512 && exec \"$0\" \"$@\"")])
            .arg(binary())
            .args(words)
            .args(["-T../tmp", &format!("-@{}", self.threads), &format!("-m{}M", self.memory_mib)])
            .args(["--read-size", self.read_size])
            .current_dir(folder)
            .env("TRACEMILL_TIER", self.tier.to_string())
            .env("RUST_MIN_STACK", "524288")
            // to print one takes memory, and without any it hangs
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null());
        command
    }

    /// What is no heap but counts for RLIMIT_DATA: stacks, which are made small (512 KiB, no verb recurses) for that, and what
    /// the allocator has mapped for each thread and not used, which is several times as much and another amount each time
    /// (seen with seven threads: 28 to 106 MiB beside 5 to 14 MiB of heap). `split` has four threads for each of `-@`: it writes twice as
    /// many parts at once as there are threads, each with a thread of its own; and some read pipes, watch for signals and
    /// pack. zstd maps room for whole jobs, of which small outputs use little; 16 MiB of the budget are for one packer. So
    /// this is the coarse limit, which no moment escapes; the heap that is looked at is the fine one.
    fn beside_kib(&self, zst: bool) -> u64 {
        let packers = if zst { (self.memory_mib / 16).min(2 * self.threads as u64) } else { 0 };
        (16 * self.threads as u64 + 16) * 1024 + packers * 12 * 1024
    }
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stderr: String,
    #[expect(dead_code, reason = "who debugs a failure looks at it")]
    knobs: Knobs,
}

/// Processes that run at once, each with its words and knobs and the file that has what it says.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) said: std::path::PathBuf,
    pub(crate) words: String,
    pub(crate) knobs: Knobs,
    /// The most that was seen.
    heap_kib: u64,
}

/// Starts the command with what it says going to a file.
pub(crate) fn start(mut command: Command, words: &[String], knobs: Knobs, said: &Path) -> Running {
    let file = File::create(said).expect("the folder is ours");
    let child = command.stderr(file).spawn().expect("bash is there");
    Running { child, said: said.to_owned(), words: words.join(" "), knobs, heap_kib: 0 }
}

/// Waits for all of them, at most `most`; looks at their heap meanwhile.
///
/// # Errors
/// A sentence on who did not end in time, and is no more; or on who took more heap than it may.
pub(crate) fn wait(
    mut running: Vec<Running>,
    most: Duration,
    figures: &mut Figures,
) -> Result<Vec<Ended>, String> {
    let start = Instant::now();
    let mut codes = vec![None; running.len()];
    let mut pause = Duration::from_micros(500);
    while codes.iter().any(Option::is_none) {
        for (process, code) in running.iter_mut().zip(&mut codes).filter(|(_, c)| c.is_none()) {
            if let Some(kib) = heap_kib(process.child.id()) {
                figures.heap(kib, process.knobs.memory_mib);
                process.heap_kib = process.heap_kib.max(kib);
            }
            *code = process.child.try_wait().expect("our child").map(|status| status.code());
            if code.is_some() {
                figures.ran(start.elapsed());
            }
        }
        if start.elapsed() > most {
            running.iter_mut().for_each(|process| drop(process.child.kill()));
            running.iter_mut().for_each(|process| drop(process.child.wait()));
            let words: Vec<&str> = running.iter().map(|process| &*process.words).collect();
            return Err(format!("a run hangs, {most:?} are over: {words:#?}\nended: {codes:?}"));
        }
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(5));
    }
    if let Some(large) = running.iter().find(|p| p.heap_kib > p.knobs.memory_mib * 1024) {
        let Running { heap_kib, knobs, words, .. } = large;
        return Err(format!("{heap_kib} KiB of heap are above the budget: {knobs:?}: {words}"));
    }
    let ended = running.iter().zip(codes).map(|(process, code)| {
        let stderr = fs::read(&process.said).expect("it was made");
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Ended { code: code.flatten(), stderr, knobs: process.knobs }
    });
    Ok(ended.collect())
}

/// Memory of a process that it has written to, without mapped files; `None` until it runs the command: whoever was just
/// started may still show the memory of who started it, which the kernel lets go on a moment too early.
fn heap_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let file_name = binary().file_name().and_then(|name| name.to_str());
    field("Name:").filter(|&name| Some(name) == file_name)?;
    anonymous_kib(&status)
}

/// Copies in pieces of random lengths until one side ends; what came through.
pub(crate) fn carry(seed: u64, mut from: impl Read, mut to: Option<impl Write>) -> Digest {
    let rng = &mut Rng::new(seed);
    let mut hasher = DefaultHasher::new();
    let mut len = 0;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let most = [1 << 18, 1 << 16, 5000, 64][rng.index(4)];
        let count = match from.read(&mut buffer[..most]) {
            Ok(0) => return (len, hasher.finish()),
            Ok(count) => count,
            Err(error) => panic!("a pipe can be read: {error}"),
        };
        len += count;
        hasher.write(&buffer[..count]);
        // whoever has failed reads no more: that shows in how it ended
        if to.as_mut().is_some_and(|to| to.write_all(&buffer[..count]).is_err()) {
            to = None;
        }
    }
}
