//! Standard input that is slow, ends early or fails; standard output that is closed or full.

use crate::world::{JOBS, Job, Run, Verdict, Whole, World, first, runs};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::{ChildStdin, Stdio};
use std::time::Duration;
use tracemill_testkit::Rng;
use tracemill_tokenizer::Mapped;

/// Command lines that write to standard output.
const STREAMS: [&str; 9] = [
    "merge a.json",
    "merge a.json -z gz",
    "slice a.json --from 1ms --to 1s",
    "filter a.json --ph X,M",
    "convert a.json --format ndjson",
    "convert a.json -z zst",
    "info a.json",
    "check a.json",
    "profile list a.json",
];
/// A job without output files.
const NOTHING: Job = Job { words: "", old: None, output: "" };

/// Replaces the input file by standard input.
fn piped(words: &str) -> String {
    words.replacen("a.json", "-", 1)
}

fn whole_of_file(world: &World, job: &Job, name: &str) -> Whole {
    let path = world.path(name);
    world.whole_with(job, &piped(job.words), || File::open(&path).expect("it is there").into())
}

/// Runs a job whose standard input is written by `feed` on another thread.
fn fed(world: &World, words: &str, feed: impl FnOnce(ChildStdin) + Send) -> Run {
    let mut command = world.command(words);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the command starts");
    let stdin = child.stdin.take().expect("it is a pipe");
    std::thread::scope(|scope| {
        scope.spawn(|| feed(stdin));
        Run::of(child.wait_with_output().expect("it ends"))
    })
}

/// Writes `bytes` in chunks of random length, some of them delayed.
fn in_pieces(rng: &mut Rng, bytes: &[u8], mut pipe: impl Write) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let most = [1, 100, 70_000, 1 << 20][rng.index(4)];
        let (piece, later) = rest.split_at((1 + rng.index(most)).min(rest.len()));
        // a failed run stops reading, which its status shows
        if pipe.write_all(piece).is_err() {
            return;
        }
        if rng.chance(5) {
            std::thread::sleep(Duration::from_millis(1));
        }
        rest = later;
    }
}

#[test]
fn slow_pipes_give_the_same_result_as_files() {
    let rng = &mut Rng::new(3);
    let world = World::new();
    for job in &JOBS {
        for run in 0..runs(2) {
            let end = if run == 0 { first().len() } else { rng.index(first().len()) };
            let bytes = &first()[..end];
            world.write("cut", bytes);
            let whole = whole_of_file(&world, job, "cut");
            let seed = rng.bits();
            let ended = fed(&world, &piped(job.words), |pipe| {
                in_pieces(&mut Rng::new(seed), bytes, pipe);
            });
            let fault = format!("a pipe of {end} bytes, seed {seed}");
            let verdict = Verdict { wholes: &[&whole], or: &|_| false, may_leave: false };
            world.judge(job, &ended, &verdict, &fault);
        }
    }
}

/// Returns a file that fails with `EIO` from offset `end` on: the memory of this process, with a
/// map of a truncated file.
#[expect(unsafe_code, reason = "a map of a file that is cut on purpose")]
fn failing_at(world: &World, bytes: &[u8], end: usize) -> (Mapped, File) {
    world.write("mapped", bytes);
    let file = File::options().read(true).write(true).open(world.path("mapped"));
    let file = file.expect("it was written");
    // SAFETY: only the kernel reads the map, for another process; this code uses only its address.
    let mapped = unsafe { Mapped::new(&file) }.expect("a plain file maps");
    file.set_len(end as u64).expect("a file can be cut");
    let mut memory = File::open("/proc/self/mem").expect("Linux has it");
    memory.seek(SeekFrom::Start(mapped.as_ptr() as u64)).expect("an address");
    (mapped, memory)
}

#[test]
fn read_errors_are_reported() {
    const PAGE: usize = 4096;
    let rng = &mut Rng::new(4);
    let world = World::new();
    let packed = crate::world::inputs().nth(2).expect("there are three").1;
    for job in JOBS.iter().filter(|job| !job.is_index()) {
        for run in 0..runs(3) {
            let bytes = if run % 3 == 2 { packed } else { first() };
            let end = if run == 0 { 0 } else { rng.index(bytes.len() / PAGE) * PAGE };
            let (mapped, memory) = failing_at(&world, bytes, end);
            world.clear(job);
            let mut command = world.command(&piped(job.words));
            let ended = Run::of(command.stdin(memory).output().expect("the command runs"));
            drop(mapped);
            let fault = format!("EIO after {end} bytes");
            let failed = |run: &Run| run.failed(3, &["cannot read standard input: Input/output"]);
            world.judge(
                job,
                &ended,
                &Verdict { wholes: &[], or: &failed, may_leave: false },
                &fault,
            );
        }
    }
}

#[test]
fn a_closed_output_ends_the_run_quietly() {
    let rng = &mut Rng::new(5);
    let world = World::new();
    for words in STREAMS {
        let whole = world.whole(&NOTHING, words);
        for _ in 0..runs(3) {
            let mut child = world.command(words).spawn().expect("the command starts");
            let wanted = rng.index(whole.stdout.len() + 1);
            let mut got = vec![0; wanted];
            let mut stdout = child.stdout.take().expect("it is a pipe");
            stdout.read_exact(&mut got).expect("so much there is");
            drop(stdout);
            let run = Run::of(child.wait_with_output().expect("it ends"));
            assert!(got == whole.stdout[..wanted], "{words}: other bytes");
            assert!(run.code == Some(0) || run.code == Some(whole.code), "{words}: {run:#?}");
            assert_eq!(run.stderr, "", "{words}");
        }
    }
}

#[test]
fn a_closed_named_pipe_ends_the_run_quietly() {
    let rng = &mut Rng::new(6);
    let world = World::new();
    let path = world.path("pipe");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("the folder is ours");
    for words in STREAMS {
        let whole = world.whole(&NOTHING, words);
        for _ in 0..runs(2) {
            let mut command = world.command(&format!("{words} -o pipe"));
            let child = command.spawn().expect("the command starts");
            let mut pipe = File::open(&path).expect("the command opens the other end");
            let mut got = vec![0; rng.index(whole.stdout.len().min(50_000) + 1)];
            pipe.read_exact(&mut got).expect("so much there is");
            drop(pipe);
            let run = Run::of(child.wait_with_output().expect("it ends"));
            assert!(whole.stdout.starts_with(&got), "{words}: other bytes");
            assert!(run.code == Some(0) || run.code == Some(whole.code), "{words}: {run:#?}");
            assert_eq!(run.stderr, "", "{words}");
        }
    }
}

#[test]
fn a_full_standard_output_is_reported() {
    let world = World::new();
    for words in STREAMS {
        let run = world.bash("\"$0\" \"$@\" > /dev/full", words);
        let failed = run.failed(4, &["cannot write standard output: No space left"]);
        assert!(failed, "{words}: {run:#?}");
        assert_eq!(run.stderr.lines().count(), 1, "{words}: {run:#?}");
    }
}

#[test]
fn closed_standard_error_is_harmless() {
    let world = World::new();
    for job in &JOBS {
        let whole = world.whole(job, job.words);
        for place in ["2> /dev/full", "2>&-"] {
            world.clear(job);
            let run = world.bash(&format!("\"$0\" \"$@\" -v {place}"), job.words);
            let verdict = Verdict { wholes: &[&whole], or: &|_| false, may_leave: false };
            world.judge(job, &run, &verdict, place);
        }
    }
    let run = world.bash("\"$0\" \"$@\" 2> /dev/full", "merge missing.json");
    assert_eq!(run.code, Some(3), "{run:#?}");
}
