//! No further thread to be had, from any number of them on.
//!
//! A limit on processes (RLIMIT_NPROC) does not hold for root. Room does: stacks of 1 GiB, in an address space (RLIMIT_AS)
//! for so many of them.

use crate::world::{JOBS, Job, Run, Verdict, World};
use tracemill_testkit::generate::chrome_like;

/// Room for the program, its inputs and its heap, but for no stack; KiB.
const PROGRAM: u64 = 768 << 10;
/// KiB.
const STACK: u64 = 1 << 20;
/// More threads than any job has at a time, with those whose stacks have not been taken away yet.
const ENOUGH: u64 = 16;

/// An input that is long enough for its output to be begun while it is read.
const LONG: Job = Job { words: "convert long.json -o out/o.json", old: None, output: "out/o.json" };

/// Leaves room for so many threads: for bash.
fn limited(threads: u64) -> String {
    let limit = PROGRAM + threads * STACK;
    format!("ulimit -v {limit}; export RUST_MIN_STACK=$(({STACK} * 1024))")
}

#[test]
fn the_system_has_no_further_thread() {
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
            let told = "cannot watch for signals: Resource temporarily unavailable";
            assert_eq!(run.stderr.contains(told), threads == 0, "{threads}: {run:#?}");
            // who packs works beside who gathers
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

/// It must not be lost on handlers that no thread listens to.
#[test]
fn a_signal_ends_a_run_without_a_thread_for_signals() {
    let line = format!(
        "{}; \"$0\" \"$@\" < <(exec sleep 3 2> /dev/null) & sleep 0.5; kill $!; wait $!",
        limited(0)
    );
    let run = World::new().bash(&line, "merge -");
    assert_eq!(run.code, Some(143), "{run:#?}");
}
