//! Full disks and file size limits.

use crate::world::{JOBS, Job, Run, Verdict, Whole, World, runs};
use std::fs;
use tracemill_testkit::Rng;

/// Returns a check that a run failed for lack of disk space, for its output or its temporary files.
fn failed(job: &Job) -> impl Fn(&Run) -> bool {
    let output = format!("cannot write {}", job.output);
    move |run| {
        let folder = "cannot keep temporary files in tmp";
        run.failed(4, &[&output, folder])
            && ["No space left", "File too large"].iter().any(|why| run.stderr.contains(why))
    }
}

fn largest(whole: &Whole) -> usize {
    whole.files.values().map(|&(len, _)| len).max().unwrap_or(0)
}

/// Limits file sizes by RLIMIT_FSIZE, in KiB, including temporary files.
#[test]
fn file_size_limits_are_reported() {
    let rng = &mut Rng::new(1);
    let world = World::new();
    for job in &JOBS {
        let whole = world.whole(job, job.words);
        let most = largest(&whole) / 1024;
        for run in 0..runs(3) {
            let limit = if run == 0 { most.saturating_sub(1) } else { rng.index(most + 10) };
            world.clear(job);
            let ended = world.bash(&format!("ulimit -f {limit}; exec \"$0\" \"$@\""), job.words);
            let fault = format!("files of at most {limit} KiB");
            let or = failed(job);
            let verdict = Verdict { wholes: &[&whole], or: &or, may_leave: false };
            let peace = world.judge(job, &ended, &verdict, &fault);
            assert!(!peace || limit * 1024 >= largest(&whole), "{fault}: {ended:#?}");
        }
    }
}

/// Runs a job with a small tmpfs mounted over a folder; copies the folder's files in before and out
/// after.
fn on_small(world: &World, job: &Job, folder: &str, kib: usize) -> Run {
    let line = format!(
        "unshare -rm bash -c 'set -e; cp -a {folder}/. kept; mount -t tmpfs -o size={kib}k none {folder}; \
         cp -a kept/. {folder}; set +e; \"$0\" \"$@\"; code=$?; cp -a {folder}/. seen; exit $code' \"$0\" \"$@\""
    );
    for copy in ["kept", "seen"] {
        fs::create_dir(world.path(copy)).expect("the folder is ours");
    }
    let run = world.bash(&line, job.words);
    for gone in [folder, "kept"] {
        fs::remove_dir_all(world.path(gone)).expect("the folder is ours");
    }
    fs::rename(world.path("seen"), world.path(folder)).expect("the folder is ours");
    run
}

#[test]
fn a_full_output_disk_is_reported() {
    let world = World::new();
    if !world.may_mount() {
        return;
    }
    let rng = &mut Rng::new(2);
    for job in &JOBS {
        let whole = world.whole(job, job.words);
        let all = whole.files.values().map(|&(len, _)| len / 1024 + 8).sum::<usize>();
        for run in 0..runs(2) {
            let most = if run == 0 { (largest(&whole) / 1024).max(8) } else { all };
            let kib = 4 * (1 + rng.index(most / 4));
            world.clear(job);
            let ended = on_small(&world, job, "out", kib);
            let or = failed(job);
            let verdict = Verdict { wholes: &[&whole], or: &or, may_leave: false };
            let fault = format!("a disk of {kib} KiB for outputs");
            let peace = world.judge(job, &ended, &verdict, &fault);
            assert!(!peace || kib * 1024 >= largest(&whole), "{fault}: {ended:#?}");
        }
    }
}

#[test]
fn a_full_temporary_disk_is_reported() {
    let world = World::new();
    if !world.may_mount() {
        return;
    }
    let rng = &mut Rng::new(3);
    let spooling: Vec<&Job> = JOBS.iter().filter(|job| job.words.contains("packed")).collect();
    assert!(!spooling.is_empty(), "a job with temporary files");
    for job in spooling {
        let whole = world.whole(job, job.words);
        for _ in 0..runs(3) {
            let kib = 4 * (1 + rng.index(2000));
            world.clear(job);
            let ended = on_small(&world, job, "tmp", kib);
            let or = |run: &Run| run.failed(4, &["cannot keep temporary files in tmp: No space"]);
            let verdict = Verdict { wholes: &[], or: &or, may_leave: false };
            world.judge(job, &ended, &verdict, &format!("a disk of {kib} KiB for tmp"));
            assert_ne!(ended.code, Some(whole.code), "{ended:#?}");
        }
    }
}
