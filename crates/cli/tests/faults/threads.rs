//! A limit on the number of threads.
//!
//! RLIMIT_NPROC does not apply to root, so the limit is the address space (RLIMIT_AS), with stacks
//! of 1 GiB.

use crate::world::{JOBS, Job, Run, Verdict, World};
use tracemill_testkit::generate::chrome_like;

/// Address space of the program without stacks, in KiB.
const PROGRAM: u64 = 768 << 10;
/// Size of a stack, in KiB.
const STACK: u64 = 1 << 20;
/// More threads than any job has at a time, including ended ones whose stacks are still mapped.
const ENOUGH: u64 = 16;

/// A job whose input is long enough that writing begins during reading.
const LONG: Job = Job { words: "convert long.json -o out/o.json", old: None, output: "out/o.json" };

/// Returns bash commands that leave address space for this many threads.
fn limited(threads: u64) -> String {
    let limit = PROGRAM + threads * STACK;
    format!("ulimit -v {limit}; export RUST_MIN_STACK=$(({STACK} * 1024))")
}

#[test]
fn a_lack_of_threads_is_reported() {
    let world = World::new();
    let mut long = Vec::new();
    chrome_like(4, 6 << 20, &mut long).expect("memory takes bytes");
    world.write("long.json", &long);
    let mut refused = 0;
    for job in JOBS.iter().chain([&LONG]) {
        let whole = world.whole(job, job.words);
        for threads in [0, 1, 2, 3, 4, 5, 6, ENOUGH] {
            world.clear(job);
            let run = world.bash(&format!("{}; exec \"$0\" \"$@\"", limited(threads)), job.words);
            let expected = "cannot watch for signals: Resource temporarily unavailable";
            assert_eq!(run.stderr.contains(expected), threads == 0, "{threads}: {run:#?}");
            // compression runs on another thread than gathering
            let output = format!("cannot write {}", job.output);
            let or = |run: &Run| {
                threads < ENOUGH
                    && run.failed(4, &[&output])
                    && run.stderr.contains("no thread can be started to pack it")
            };
            let verdict = Verdict { wholes: &[&whole], or: &or, may_leave: false };
            let fault = format!("room for {threads} threads");
            refused += u32::from(!world.judge(job, &run, &verdict, &fault));
        }
    }
    assert!(refused > 0, "nothing was refused: the fault is none");
}

/// The signal must not be lost in handlers that no thread serves.
#[test]
fn signals_end_a_run_without_a_signal_thread() {
    let line = format!(
        "{}; \"$0\" \"$@\" < <(exec sleep 3 2> /dev/null) & sleep 0.5; kill $!; wait $!",
        limited(0)
    );
    let run = World::new().bash(&line, "merge -");
    assert_eq!(run.code, Some(143), "{run:#?}");
}
