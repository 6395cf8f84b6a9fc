//! Runs the command with limits on heap and time, and watches its processes.

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

/// Settings that change the cost of a run but not its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knobs {
    threads: usize,
    memory_mib: u64,
    tier: Tier,
    /// Maximum size of a read from a pipe.
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

    /// Returns many threads and a small budget.
    pub(crate) fn crowded(memory_mib: u64) -> Self {
        Knobs { threads: 7, memory_mib, tier: Tier::Scalar, read_size: "256K" }
    }

    /// Returns the command with `words` in `folder`. Limits are `cpu` seconds of processor time
    /// (RLIMIT_CPU), and the budget plus [`Knobs::beside_kib`] of writable memory (RLIMIT_DATA).
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
            // a backtrace needs memory, and without it the process hangs
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null());
        command
    }

    /// Returns the memory that RLIMIT_DATA counts beyond the heap, in KiB: stacks of 512 KiB, and
    /// what the allocator maps for each thread without using it.
    ///
    /// `split` runs up to four threads per `-@`. zstd reserves buffers for whole jobs, so each
    /// compressor gets 12 MiB more; the budget allows one per 16 MiB. This limit is coarse;
    /// [`wait`] also checks the heap itself.
    fn beside_kib(&self, zst: bool) -> u64 {
        let packers = if zst { (self.memory_mib / 16).min(2 * self.threads as u64) } else { 0 };
        (16 * self.threads as u64 + 16) * 1024 + packers * 12 * 1024
    }
}

/// Result of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` if a signal ended the process.
    pub(crate) code: Option<i32>,
    pub(crate) stderr: String,
    #[expect(dead_code, reason = "who debugs a failure looks at it")]
    knobs: Knobs,
}

/// A running process, with the file of its messages.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) messages: std::path::PathBuf,
    pub(crate) words: String,
    pub(crate) knobs: Knobs,
    /// Highest heap size observed.
    heap_kib: u64,
}

/// Starts the command with its messages going to a file.
pub(crate) fn start(
    mut command: Command,
    words: &[String],
    knobs: Knobs,
    messages: &Path,
) -> Running {
    let file = File::create(messages).expect("the folder is ours");
    let child = command.stderr(file).spawn().expect("bash is there");
    Running { child, messages: messages.to_owned(), words: words.join(" "), knobs, heap_kib: 0 }
}

/// Waits for all processes for at most `most`, and watches their heap.
///
/// # Errors
/// Returns a message about a process that was killed because of the time limit, or that exceeded
/// its heap.
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
        let stderr = fs::read(&process.messages).expect("it was made");
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Ended { code: code.flatten(), stderr, knobs: process.knobs }
    });
    Ok(ended.collect())
}

/// Returns the anonymous memory of a process; `None` before it executes the command, because until
/// then the memory of its parent may be reported.
fn heap_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let file_name = binary().file_name().and_then(|name| name.to_str());
    field("Name:").filter(|&name| Some(name) == file_name)?;
    anonymous_kib(&status)
}

/// Copies in chunks of random length until one side ends; returns a digest of the bytes.
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
        // a failed process stops reading, which its status shows
        if to.as_mut().is_some_and(|to| to.write_all(&buffer[..count]).is_err()) {
            to = None;
        }
    }
}
