//! Temporary files whose pages cannot be read back.

use crate::world::{JOBS, Job, Run, Verdict, World, moment, runs};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tracemill_testkit::Rng;
use tracemill_testkit::generate::chrome_like;

/// Time at which temporary files are truncated.
#[derive(Clone, Copy, Debug)]
enum When {
    /// After all of standard input is read, before its end is signalled.
    BeforeEnd,
    After(Duration),
}

/// Returns the temporary files of a run that are not empty.
fn temporary_files(world: &World, pid: u32) -> Vec<File> {
    let Ok(all) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let folder = world.path("tmp").canonicalize().expect("it is there");
    let is_temporary =
        |path: &PathBuf| fs::read_link(path).is_ok_and(|file| file.starts_with(&folder));
    let paths = all.flatten().map(|entry| entry.path()).filter(is_temporary);
    let files = paths.filter_map(|path| File::options().write(true).open(path).ok());
    files.filter(|file| length(file) > 0).collect()
}

fn length(file: &File) -> u64 {
    file.metadata().expect("it is open").len()
}

/// Waits until a temporary file has all of standard input, for at most a second.
fn wait_for_all(world: &World, pid: u32, len: u64) {
    for _ in 0..100 {
        if temporary_files(world, pid).iter().any(|file| length(file) == len) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs a job with `bytes` on standard input and truncates its temporary files.
///
/// Returns `None` if one was written to afterwards, because its truncated part then reads as zeros
/// without an error.
fn run_and_cut(world: &World, words: &str, bytes: &[u8], when: When) -> Option<Run> {
    let mut child = world.command(words).stdin(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    let (pid, id) = (Pid::from_child(&child), child.id());
    let cut = || {
        let _ended = kill_process(pid, Signal::STOP);
        let files = temporary_files(world, id);
        files.iter().for_each(|file| file.set_len(0).expect("a file can be cut"));
        let _ended = kill_process(pid, Signal::CONT);
        files
    };
    std::thread::scope(|scope| {
        let feeder = scope.spawn(move || {
            // a failed run stops reading, which its status shows
            let _gone = stdin.write_all(bytes);
            matches!(when, When::BeforeEnd).then(|| {
                wait_for_all(world, id, bytes.len() as u64);
                cut()
            })
        });
        let cutter = scope.spawn(move || match when {
            When::BeforeEnd => Vec::new(),
            When::After(time) => {
                std::thread::sleep(time);
                cut()
            }
        });
        let run = Run::of(child.wait_with_output().expect("it ends"));
        let mut files = cutter.join().expect("it cuts");
        files.extend(feeder.join().expect("it feeds").unwrap_or_default());
        files.iter().all(|file| length(file) == 0).then_some(run)
    })
}

#[test]
fn unreadable_temporary_files_are_reported() {
    let rng = &mut Rng::new(8);
    let world = World::new();
    let mut bytes = Vec::new();
    chrome_like(3, 12 << 20, &mut bytes).expect("memory takes bytes");
    world.write("big", &bytes);
    let mut lost = 0;
    let reads_one = |job: &&Job| !job.is_index() && job.words.matches(".json ").count() == 1;
    for job in JOBS.iter().filter(reads_one) {
        let words = job.words.replacen("a.json", "-", 1);
        let stdin = || Stdio::from(File::open(world.path("big")).expect("it is there"));
        let whole = world.whole_with(job, &words, stdin);
        for run in 0..runs(4) {
            world.clear(job);
            let after = When::After(moment(rng, whole.time));
            let when = if run % 2 == 0 { When::BeforeEnd } else { after };
            let Some(run) = run_and_cut(&world, &words, &bytes, when) else { continue };
            let failed = |run: &Run| run.failed(4, &["a temporary file is lost"]);
            let verdict = Verdict { wholes: &[&whole], or: &failed, may_leave: false };
            let fault = format!("temporary files cut {when:?}");
            lost += usize::from(!world.judge(job, &run, &verdict, &fault));
        }
    }
    assert!(lost >= runs(4), "too few temporary files were lost when it counted: {lost}");
}
