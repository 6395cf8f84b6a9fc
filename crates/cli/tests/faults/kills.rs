//! SIGKILL, SIGINT and SIGTERM at random times.

use crate::world::{JOBS, Run, Verdict, World, moment, runs};
use rustix::process::{Pid, Signal, kill_process};
use tracemill_testkit::Rng;

/// Kills each job at random times of its run.
fn kill_all(signal: Signal, code: Option<i32>, usual: usize) {
    let world = World::new();
    let rng = &mut Rng::new(signal.as_raw() as u64);
    for job in &JOBS {
        let whole = world.whole(job, job.words);
        for run in 0..runs(usual) {
            world.clear(job);
            let wait = moment(rng, whole.time);
            let child = world.command(job.words).spawn().expect("the command starts");
            std::thread::sleep(wait);
            // the pid is not reused before the wait
            kill_process(Pid::from_child(&child), signal).expect("it is our child");
            let ended = Run::of(child.wait_with_output().expect("it ends"));
            let verdict = Verdict {
                wholes: &[&whole],
                // before the handlers are installed, signals end the process directly
                or: &|run| run.code.is_none() || run.code == code,
                may_leave: signal == Signal::KILL,
            };
            let fault = format!("signal {} after {wait:?}, run {run}", signal.as_raw());
            world.judge(job, &ended, &verdict, &fault);
            assert!(!ended.stderr.contains("error"), "{fault}: {}\n{ended:#?}", job.words);
        }
    }
}

#[test]
fn sigkill_leaves_no_partial_output() {
    kill_all(Signal::KILL, None, 4);
}

#[test]
fn sigint_leaves_no_partial_output() {
    kill_all(Signal::INT, Some(130), 3);
}

#[test]
fn sigterm_leaves_no_partial_output() {
    kill_all(Signal::TERM, Some(143), 3);
}
