//! Missing or read-only folders, and a lack of file descriptors.

use crate::world::{JOBS, Job, Run, Verdict, World, inputs};
use std::fs;
use std::io::Write;
use std::process::Stdio;

#[test]
fn a_missing_temporary_folder_is_reported() {
    let world = World::new();
    for job in &JOBS {
        let whole = world.whole(job, job.words);
        fs::remove_dir(world.path("tmp")).expect("nothing is in it");
        let run = Run::of(world.command(job.words).output().expect("it runs"));
        fs::create_dir(world.path("tmp")).expect("the folder is ours");
        let needed = job.words.contains("packed");
        // some verbs open it before they know whether they need it
        let or = |run: &Run| run.failed(4, &["cannot keep temporary files in tmp: No such"]);
        let verdict = Verdict { wholes: &[&whole], or: &or, may_leave: false };
        let peace = world.judge(job, &run, &verdict, "no folder for temporary files");
        assert!(!(peace && needed), "{}: {run:#?}", job.words);
    }
}

#[test]
fn a_removed_temporary_folder_is_reported() {
    let world = World::new();
    let mut trace = inputs().nth(1).expect("there are three").1.to_vec();
    trace.resize(10 << 20, b' ');
    // strict runs create their temporary file at once and do not need the folder later
    let spools = |job: &&Job| job.words.starts_with("merge") && !job.words.contains("--strict");
    for job in JOBS.iter().filter(spools) {
        let words = job.words.replacen("a.json", "-", 1);
        world.clear(job);
        let mut command = world.command(&words);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("it is a pipe");
        stdin.write_all(&trace[..2 << 20]).expect("the command reads");
        fs::remove_dir(world.path("tmp")).expect("nothing is in it");
        // the run may fail before it has read everything
        let _ = stdin.write_all(&trace[2 << 20..]);
        drop(stdin);
        let run = Run::of(child.wait_with_output().expect("it ends"));
        let or = |run: &Run| run.failed(4, &["cannot keep temporary files in tmp: No such"]);
        let verdict = Verdict { wholes: &[], or: &or, may_leave: false };
        world.judge(job, &run, &verdict, "the folder for temporary files vanishes");
        fs::create_dir(world.path("tmp")).expect("the folder is ours");
    }
}

/// Uses paths where even root cannot write: below a file, in missing folders, in kernel file
/// systems.
#[test]
fn impossible_outputs_are_reported() {
    let world = World::new();
    for job in &JOBS {
        for folder in ["a.json", "gone/deep", "/proc", "/proc/self/fd", "/sys/kernel"] {
            let is_folder = job.output == "out";
            if is_folder && folder == "gone/deep" {
                continue;
            }
            world.clear(job);
            let words = job.words.replace("out", folder);
            let run = Run::of(world.command(&words).output().expect("the command runs"));
            let or = |run: &Run| run.failed(4, &[&format!("cannot write {folder}")]);
            let untouched = world.files("out");
            let verdict = Verdict { wholes: &[], or: &or, may_leave: false };
            world.judge(&Job { words: "", ..*job }, &run, &verdict, &words);
            assert_eq!(world.files("out"), untouched, "{words}");
        }
    }
}

#[test]
fn read_only_file_systems_are_reported() {
    let world = World::new();
    let line = "unshare -rm bash -c 'mount --bind out out && mount -o remount,ro,bind out && exec \"$0\" \"$@\"' \
                \"$0\" \"$@\"";
    if !world.may_mount() {
        return;
    }
    for job in &JOBS {
        world.clear(job);
        let run = world.bash(line, job.words);
        let culprit = format!("cannot write {}", job.output);
        let or = |run: &Run| run.failed(4, &[&culprit]) && run.stderr.contains("Read-only");
        let verdict = Verdict { wholes: &[], or: &or, may_leave: false };
        world.judge(job, &run, &verdict, "a read-only file system");
    }
}

/// Files normally get their names through /proc.
#[test]
fn outputs_are_written_without_proc() {
    let world = World::new();
    let line =
        "unshare -rm bash -c 'mount -t tmpfs none /proc && exec \"$0\" \"$@\"' \"$0\" \"$@\"";
    if !world.may_mount() {
        return;
    }
    for job in &JOBS {
        let whole = world.whole(job, job.words);
        let run = world.bash(line, job.words);
        let verdict = Verdict { wholes: &[&whole], or: &|_| false, may_leave: false };
        world.judge(job, &run, &verdict, "no /proc");
    }
}

/// Tries limits from too few descriptors for one input up to enough.
#[test]
fn a_lack_of_descriptors_is_reported() {
    let world = World::new();
    for job in &JOBS {
        let whole = world.whole(job, job.words);
        let mut codes = Vec::new();
        for most in [3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 40] {
            world.clear(job);
            let line = format!("ulimit -n {most}; exec \"$0\" \"$@\"");
            let run = world.bash(&line, job.words);
            codes.push(run.code);
            // with three descriptors the loader fails
            let loaded = run.code != Some(127);
            let or = |run: &Run| {
                run.failed(3, &["cannot read "]) && run.stderr.contains("Too many open files")
                    || run.failed(4, &["cannot write out", "temporary files in tmp"])
                        && run.stderr.contains("Too many open files")
                    || !loaded
            };
            let verdict = Verdict { wholes: &[&whole], or: &or, may_leave: false };
            world.judge(job, &run, &verdict, &format!("{most} descriptors"));
        }
        assert!(codes.iter().any(|&code| code != Some(whole.code)), "{codes:?}");
        assert_eq!(codes.last(), Some(&Some(whole.code)), "{codes:?}: {}", job.words);
    }
}
