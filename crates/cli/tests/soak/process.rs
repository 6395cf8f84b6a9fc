//! Processes of the command: held to their heap by the kernel and to their time by us, watched while they run.

use crate::common::{Digest, binary};
use crate::figures::Figures;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tracemill_testkit::Rng;
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

    /// The command with `words`, in `folder`. RLIMIT_DATA ends it when it maps more memory that it may write to than its
    /// budget and what [`beside`] allows.
    pub(crate) fn command(&self, words: &[String], folder: &Path) -> Command {
        let zst = words.iter().any(|word| word == "zst");
        let limit = self.memory_mib * 1024 + beside(self.threads, zst);
        let mut command = Command::new("bash");
        command
            .args(["-c", "ulimit -d \"$0\" && exec \"$@\"", &limit.to_string()])
            .arg(binary())
            .args(words)
            .args(["-T../tmp", &format!("-@{}", self.threads), &format!("-m{}M", self.memory_mib)])
            .args(["--read-size", self.read_size])
            .current_dir(folder)
            .env("TRACEMILL_TIER", self.tier.to_string())
            .stdin(Stdio::null());
        command
    }
}

/// KiB that are no heap but count for RLIMIT_DATA: stacks (2 MiB a thread: workers, and some for signals, pipes and
/// packing; 8 MiB for one of zstd, of which `split` has twice as many as workers), and what the program and the allocator
/// have mapped and not used. Of stacks only a few pages are ever touched.
fn beside(threads: usize, zst: bool) -> u64 {
    let packers = if zst { 2 * threads as u64 } else { 0 };
    (threads as u64 + 8) * 2048 + packers * 8192
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
}

/// Starts the command with what it says going to a file.
pub(crate) fn start(mut command: Command, words: &[String], knobs: Knobs, said: &Path) -> Running {
    let file = File::create(said).expect("the folder is ours");
    let child = command.stderr(file).spawn().expect("bash is there");
    Running { child, said: said.to_owned(), words: words.join(" "), knobs }
}

/// Waits for all of them, at most `most`; looks at their heap meanwhile.
///
/// # Errors
/// A sentence on who did not end in time; they are no more.
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
    let ended = running.iter().zip(codes).map(|(process, code)| {
        let stderr = fs::read(&process.said).expect("it was made");
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Ended { code: code.flatten(), stderr, knobs: process.knobs }
    });
    Ok(ended.collect())
}

/// Memory of a process that it has written to, without mapped files.
fn heap_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
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
