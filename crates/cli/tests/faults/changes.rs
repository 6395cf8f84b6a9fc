//! Inputs that change while they are mapped.

use crate::world::{JOBS, Run, Verdict, Whole, World, first, inputs, moment, runs};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Child;
use std::time::{Duration, SystemTime};
use tracemill_testkit::Rng;

#[derive(Clone, Copy, Debug)]
enum Change {
    /// Truncate to this length.
    Cut(u64),
    /// Overwrite with other bytes of the same length.
    Overwrite,
    /// Append bytes.
    Grow,
    /// Replace by another file of the same name.
    Replace,
    Remove,
}

impl Change {
    fn random(rng: &mut Rng) -> Change {
        let len = first().len() as u64;
        match rng.below(9) {
            0 => Change::Cut(0),
            1..4 => Change::Cut(rng.below(len)),
            // within the last page no page is lost
            4 => Change::Cut(len - 1),
            5 => Change::Overwrite,
            6 => Change::Grow,
            7 => Change::Replace,
            _ => Change::Remove,
        }
    }

    /// Returns whether the map still shows the old bytes.
    fn keeps_the_old(self) -> bool {
        matches!(self, Change::Replace | Change::Remove)
    }

    /// Returns another trace of the same length.
    fn other() -> Vec<u8> {
        let (_, b) = inputs().nth(1).expect("there are three");
        let mut other = b.to_vec();
        other.resize(first().len(), b' ');
        other
    }

    fn make(self, world: &World) {
        let path = world.path("a.json");
        let open = |options: &mut fs::OpenOptions| options.open(&path).expect("it is there");
        match self {
            Change::Cut(len) => {
                open(File::options().write(true)).set_len(len).expect("a file can be cut")
            }
            Change::Overwrite => {
                let mut file = open(File::options().write(true));
                file.write_all(&Self::other()).expect("a file takes bytes");
                // sets a later time, as a continuing writer would: the file may be opened during
                // one write
                file.set_modified(SystemTime::now()).expect("the file is ours");
            }
            Change::Grow => {
                let more = b"\n[{\"ph\":\"i\",\"ts\":1}]";
                open(File::options().append(true)).write_all(more).expect("a file takes bytes");
            }
            Change::Replace => {
                world.write("new", &Self::other());
                fs::rename(world.path("new"), &path).expect("the folder is ours");
            }
            Change::Remove => fs::remove_file(&path).expect("the folder is ours"),
        }
    }
}

/// Asserts that the run used the file before the change, or after it, or reported the change.
fn judge(world: &World, job: usize, run: &Run, wholes: &[&Whole], change: Change, fault: &str) {
    let or = |run: &Run| {
        run.failed(4, &["a.json became", "a.json was written to", "a.json lost bytes"])
            || wholes.iter().any(|whole| whole.code >= 3 && run.failed(whole.code, &["a.json"]))
    };
    let verdict = Verdict { wholes, or: &or, may_leave: false };
    let fault = format!("{change:?} {fault}");
    let peace = world.judge(&JOBS[job], run, &verdict, &fault);
    assert!(
        peace
            || JOBS[job].old.is_some()
            || JOBS[job].output == "out"
            || world.files("out").is_empty(),
        "{fault}"
    );
}

#[test]
fn changes_at_random_times_are_noticed_or_harmless() {
    let rng = &mut Rng::new(7);
    let mut noticed = 0;
    for (number, job) in JOBS.iter().enumerate().filter(|(_, job)| !job.is_index()) {
        let world = World::new();
        let old = world.whole(job, job.words);
        for _ in 0..runs(6) {
            let change = Change::random(rng);
            world.write("a.json", first());
            world.clear(job);
            let wait = moment(rng, old.time);
            let child = world.command(job.words).spawn().expect("the command starts");
            std::thread::sleep(wait);
            change.make(&world);
            let run = Run::of(child.wait_with_output().expect("it ends"));
            noticed += usize::from(run.code == Some(4));
            let outputs = world.files("out");
            if run.code == Some(old.code) && outputs == old.files {
                continue;
            }
            let kept = World::new();
            change.make(&kept);
            let new = kept.whole(job, job.words);
            judge(&world, number, &run, &[&old, &new], change, &format!("after {wait:?}"));
        }
    }
    assert!(noticed > 0, "no run was disturbed: the test tests nothing");
}

#[test]
fn changes_during_indexing_give_no_wrong_index() {
    let rng = &mut Rng::new(11);
    let job = JOBS.iter().find(|job| job.is_index()).expect("there is one");
    let world = World::new();
    let time = world.whole(job, job.words).time;
    let (mut noticed, mut refused) = (0, 0);
    for _ in 0..runs(40) {
        let change = Change::random(rng);
        world.write("a.json", first());
        world.clear(job);
        let wait = moment(rng, time);
        let child = world.command(job.words).spawn().expect("the command starts");
        std::thread::sleep(wait);
        change.make(&world);
        let run = Run::of(child.wait_with_output().expect("it ends"));
        let fault = format!("{change:?} after {wait:?}\n{run:#?}");
        let is_made = !world.files("out").is_empty();
        assert_eq!(is_made, matches!(run.code, Some(0 | 1)), "{fault}");
        noticed += usize::from(!is_made);
        assert!(is_made || run.stderr.contains("a.json"), "{fault}");
        if !is_made || !world.path("a.json").exists() {
            continue;
        }
        let info = |index: &str| {
            let words = format!("info a.json --index {index}");
            Run::of(world.command(&words).output().expect("the command runs"))
        };
        let (by_index, scanned) = (info("out/o.tmi"), info("never"));
        if by_index.code == Some(3) && scanned.code != Some(3) {
            assert!(by_index.stderr.contains("o.tmi"), "{by_index:#?}\n{fault}");
            refused += 1;
            continue;
        }
        let outcome = |run: &Run| (run.code, run.stdout.clone(), run.stderr.clone());
        assert_eq!(outcome(&by_index), outcome(&scanned), "{fault}");
    }
    assert!(noticed > 0 && refused > 0, "{noticed} and {refused}: the test tests too little");
}

/// Adds a pipe after `a.json`, so that the run waits after reading that file.
fn with_pipe(words: &str) -> String {
    words.replacen("a.json", "a.json pipe", 1)
}

/// Opens the pipe once the child has opened it.
fn open_for(world: &World, child: &mut Child) -> File {
    let flags = OFlags::NONBLOCK.bits() as i32;
    for _ in 0..30_000 {
        match File::options().write(true).custom_flags(flags).open(world.path("pipe")) {
            Ok(pipe) => return pipe,
            Err(e) => assert_eq!(e.raw_os_error(), Some(6), "no reader yet: {e}"),
        }
        assert!(child.try_wait().expect("our child").is_none(), "it ended without the pipe");
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the command does not open the pipe");
}

#[test]
fn changes_between_reading_and_writing_are_reported() {
    let changes = [Change::Cut(0), Change::Cut(5000), Change::Overwrite, Change::Grow];
    let len = first().len() as u64;
    let jobs = JOBS.iter().enumerate();
    for (number, job) in jobs.filter(|(_, job)| !job.is_index() && !job.reads_twice()) {
        let world = World::new();
        world.write("pipe", b"[]");
        let whole = world.whole(job, &with_pipe(job.words));
        fs::remove_file(world.path("pipe")).expect("it was written");
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, world.path("pipe"), FileType::Fifo, mode, 0).expect("the folder is ours");
        for change in
            changes.into_iter().chain([Change::Cut(len - 1), Change::Replace, Change::Remove])
        {
            world.write("a.json", first());
            world.clear(job);
            let mut child = world.command(&with_pipe(job.words)).spawn().expect("it starts");
            let mut pipe = open_for(&world, &mut child);
            change.make(&world);
            match pipe.write_all(b"[]") {
                Err(e) if e.kind() != ErrorKind::BrokenPipe => panic!("{e}"),
                _ => drop(pipe),
            }
            let run = Run::of(child.wait_with_output().expect("it ends"));
            let expected = if change.keeps_the_old() { whole.code } else { 4 };
            assert_eq!(run.code, Some(expected), "{change:?}: {}\n{run:#?}", job.words);
            judge(&world, number, &run, &[&whole], change, "between reading and writing");
        }
    }
}
