//! The folder of a round, in which its chain runs step by step over files, and as processes
//! connected by pipes.
//!
//! ```text
//!   in/    the inputs
//!   one/   0.trace, 1.trace …   what each step wrote, read by the next as a file
//!   two/   in/a.json            a link to the input, or a named pipe
//!          0.trace, 1.trace …   links to /dev/stdin, so that pipes have the names of files
//!   tmp/   empty at the end
//! ```

use crate::chain::{Step, Writes};
use crate::figures::Figures;
use crate::inputs::Input;
use crate::process::{Ended, Knobs, Running, carry, start, wait};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::thread::ScopedJoinHandle;
use std::time::Duration;
use tracemill_testkit::world::{Digest, Files, digest, files};
use tracemill_testkit::{Folder, Rng};

/// Maximum number of parts of a split: each repeats all metadata and so its threads, which take
/// heap regardless of the budget.
pub(crate) const MOST_PARTS: usize = 64;

pub(crate) struct World {
    folder: Folder,
    pub(crate) given: Vec<String>,
    inputs: Files,
    /// The input that is standard input of the first step.
    stdin: Option<String>,
    /// Maximum processor time of a run in seconds.
    cpu: u64,
    pub(crate) figures: Figures,
}

/// Results and outputs of the steps of a chain, up to the first that failed.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) ended: Vec<Ended>,
    pub(crate) wrote: Vec<Wrote>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    Trace(Digest),
    Text(String),
    Folder(Files),
    Nothing,
}

impl World {
    pub(crate) fn new(rng: &mut Rng, inputs: &[Input]) -> Self {
        let folder = Folder::new();
        for name in ["in", "one", "two", "two/in", "tmp"] {
            folder.folder(name);
        }
        symlink("../in", folder.path("one/in")).expect("the folder is ours");
        let mut given = Vec::new();
        for input in inputs {
            given.push(format!("in/{}", input.name));
            folder.file(&format!("in/{}", input.name), &input.bytes);
        }
        for list in ["one/list", "two/list"] {
            folder.file(list, given.join("\n"));
        }
        let bytes: usize = inputs.iter().map(|input| input.bytes.len()).sum();
        let mut stdin = None;
        let given = match rng.below(8) {
            0 => vec!["in".to_owned()],
            1 | 2 if given.len() == 1 => {
                stdin = given.pop();
                vec!["-".to_owned()]
            }
            1 => vec!["--files-from".to_owned(), "list".to_owned()],
            _ => given,
        };
        World {
            given,
            stdin,
            inputs: folder.files("in"),
            // decompressed and in several steps it may be ten times as much
            cpu: 60 + (bytes as u64 >> 20) * 4,
            figures: Figures::of(bytes as u64),
            folder,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    /// Keeps the folder, and returns its path.
    pub(crate) fn keep(&mut self) -> PathBuf {
        self.folder.keep()
    }

    /// Returns the maximum duration of a run on a busy machine; longer runs are stuck.
    fn most(&self) -> Duration {
        Duration::from_secs(10 * self.cpu)
    }

    /// Runs the command alone, in `one`.
    #[track_caller]
    pub(crate) fn run(&mut self, words: &[String], knobs: Knobs) -> Ended {
        let mut command = knobs.command(words, self.cpu, &self.path("one"));
        if let Some(input) = self.stdin.as_ref().filter(|_| words.iter().any(|word| word == "-")) {
            command.stdin(File::open(self.path(input)).expect("an input"));
        }
        let process = start(command, words, knobs, &self.path("said"));
        let ended = wait(vec![process], self.most(), &mut self.figures);
        ended.unwrap_or_else(|hang| panic!("{hang}")).pop().expect("one")
    }

    /// Returns the command-line words of a step, without its output.
    fn words(&self, chain: &[Step], number: usize) -> Vec<String> {
        let mut words = chain[number].words.clone();
        if chain[number].writes == Writes::Folder {
            words.extend(["-d".to_owned(), format!("{number}.parts")]);
        }
        if chain[number].words[0] == "split" {
            words.extend(["--manifest".to_owned(), format!("{number}.manifest")]);
        }
        match number.checked_sub(1) {
            None => words.extend(self.given.iter().cloned()),
            Some(before) if chain[before].writes == Writes::Folder => {
                words.push(format!("{before}.parts"));
            }
            Some(before) => words.push(format!("{before}.trace")),
        }
        words
    }

    /// Runs the chain step by step over files, until a step fails or writes too many parts for the
    /// budget of the next.
    #[track_caller]
    pub(crate) fn by_files(&mut self, rng: &mut Rng, chain: &[Step]) -> Story {
        let mut story = Story { ended: Vec::new(), wrote: Vec::new() };
        for (number, step) in chain.iter().enumerate() {
            let mut words = self.words(chain, number);
            match step.writes {
                Writes::Trace => words.extend(["-o".to_owned(), format!("{number}.trace")]),
                Writes::Text => words.extend(["-o".to_owned(), format!("{number}.txt")]),
                Writes::Folder => {}
            }
            let memory = [32, 64, 256][rng.index(3)];
            let ended = self.run(&words, Knobs::random(rng, memory));
            let is_done = matches!(ended.code, Some(0 | 1));
            story.ended.push(ended);
            story.wrote.push(if is_done {
                self.wrote("one", number, step)
            } else {
                Wrote::Nothing
            });
            let folder = self.path(&format!("one/{number}.parts"));
            let parts = fs::read_dir(folder).map_or(0, |parts| parts.count());
            if !is_done || parts > MOST_PARTS {
                break;
            }
        }
        story
    }

    fn wrote(&self, side: &str, number: usize, step: &Step) -> Wrote {
        let file = |ending: &str| self.path(&format!("{side}/{number}.{ending}"));
        let read = |ending: &str| fs::read(file(ending)).expect("it was written");
        match step.writes {
            Writes::Trace => Wrote::Trace(digest(&read("trace"))),
            Writes::Text => Wrote::Text(comparable(&String::from_utf8_lossy(&read("txt")))),
            Writes::Folder => {
                let mut parts = files(&file("parts"));
                if step.words[0] == "split" {
                    parts.insert("manifest".to_owned(), digest(&read("manifest")));
                }
                Wrote::Folder(parts)
            }
        }
    }

    /// Runs the chain with pipes between the steps, up to the step that failed over files.
    #[track_caller]
    pub(crate) fn by_pipes(&mut self, rng: &mut Rng, chain: &[Step], one: &Story) -> Story {
        let mut story = Story { ended: Vec::new(), wrote: Vec::new() };
        let fed = self.lend_inputs(rng);
        let steps = one.ended.len();
        while story.ended.len() < steps {
            let from = story.ended.len();
            let is_end = |&number: &usize| chain[number].writes != Writes::Trace;
            let to = (from..steps).find(is_end).map_or(steps, |last| last + 1);
            let fed = if from == 0 { &*fed } else { &[] };
            self.pipeline(rng, chain, from..to, fed, &mut story);
            if let Some(failed) = story.ended.iter().position(|e| !matches!(e.code, Some(0 | 1))) {
                story.ended.truncate(failed + 1);
                story.wrote.truncate(failed);
                story.wrote.push(Wrote::Nothing);
                break;
            }
        }
        story
    }

    /// Puts the inputs into `two`, and returns those that are named pipes.
    fn lend_inputs(&self, rng: &mut Rng) -> Vec<String> {
        let is_named = self.given[0].starts_with("in/") || self.given[0] == "--files-from";
        let mut fed = Vec::new();
        for name in self.inputs.keys() {
            let link = self.path(&format!("two/in/{name}"));
            if is_named && rng.chance(50) {
                let mode = Mode::RUSR | Mode::WUSR;
                mknodat(CWD, &link, FileType::Fifo, mode, 0).expect("the folder is ours");
                fed.push(name.clone());
            } else {
                symlink(format!("../../in/{name}"), link).expect("the folder is ours");
            }
        }
        fed
    }

    /// Runs connected steps at the same time; `fed` are the inputs that are named pipes.
    #[track_caller]
    fn pipeline(
        &mut self,
        rng: &mut Rng,
        chain: &[Step],
        steps: Range<usize>,
        fed: &[String],
        story: &mut Story,
    ) {
        let (ended, carried) = std::thread::scope(|scope| {
            let feed = |name: &String| {
                let (seed, pipe) = (rng.bits(), self.path(&format!("two/in/{name}")));
                let bytes = File::open(self.path(&format!("in/{name}"))).expect("an input");
                let open = |pipe| File::options().write(true).open(pipe).expect("the pipe is ours");
                (pipe.clone(), scope.spawn(move || _ = carry(seed, bytes, Some(open(pipe)))))
            };
            let feeders: Vec<_> = fed.iter().map(feed).collect();
            let (mut running, mut links, mut stdin) = (Vec::new(), Vec::new(), None);
            if let Some(input) = self.stdin.as_ref().filter(|_| steps.start == 0) {
                let (from, to) = std::io::pipe().expect("a pipe can be made");
                let (seed, input) = (rng.bits(), File::open(self.path(input)).expect("an input"));
                scope.spawn(move || carry(seed, input, Some(to)));
                stdin = Some(from);
            }
            for number in steps.clone() {
                let (from, to) = std::io::pipe().expect("a pipe can be made");
                running.push(self.start_piped(rng, chain, number, stdin.take(), to));
                let next = (number + 1 < steps.end).then(|| {
                    let (from, to) = std::io::pipe().expect("a pipe can be made");
                    stdin = Some(from);
                    File::from(OwnedFd::from(to))
                });
                let text = || File::create(self.path(&format!("two/{number}.txt")));
                let is_text = chain[number].writes == Writes::Text;
                let to = next.or_else(|| is_text.then(|| text().expect("the folder is ours")));
                let seed = rng.bits();
                links.push(scope.spawn(move || carry(seed, from, to)));
            }
            let ended = wait(running, self.most(), &mut self.figures);
            release(&feeders);
            let carried = links.into_iter().map(|link| link.join().expect("it carried"));
            (ended, carried.collect::<Vec<_>>())
        });
        story.ended.extend(ended.unwrap_or_else(|hang| panic!("{hang}")));
        for (number, digest) in steps.zip(carried) {
            let is_done = matches!(story.ended[number].code, Some(0 | 1));
            story.wrote.push(match chain[number].writes {
                _ if !is_done => Wrote::Nothing,
                Writes::Trace => Wrote::Trace(digest),
                _ => self.wrote("two", number, &chain[number]),
            });
        }
    }

    /// Starts a step that writes to a pipe; all but the first step read `stdin`.
    fn start_piped(
        &self,
        rng: &mut Rng,
        chain: &[Step],
        number: usize,
        stdin: Option<PipeReader>,
        to: PipeWriter,
    ) -> Running {
        let memory = [32, 33, 40, 64][rng.index(4)];
        let (knobs, words) = (Knobs::random(rng, memory), self.words(chain, number));
        let mut command = knobs.command(&words, self.cpu, &self.path("two"));
        if let Some(stdin) = stdin {
            command.stdin(stdin);
        }
        if let Some(before) = number.checked_sub(1) {
            let name = self.path(&format!("two/{before}.trace"));
            symlink("/dev/stdin", name).expect("the folder is ours");
        }
        command.stdout(to);
        start(command, &words, knobs, &self.path(&format!("said{number}")))
    }

    /// Asserts that no file is left and no input has changed.
    #[track_caller]
    pub(crate) fn is_clean(&self) {
        assert_eq!(self.folder.files("tmp"), Files::new(), "temporary files are left");
        assert_eq!(self.folder.files("in"), self.inputs, "an input has changed");
        for side in ["one", "two"] {
            let entries = fs::read_dir(self.path(side)).expect("a folder");
            let names = entries.map(|entry| entry.expect("an entry").file_name());
            let hidden: Vec<_> = names.filter(|n| n.as_encoded_bytes().starts_with(b".")).collect();
            assert!(hidden.is_empty(), "{hidden:?} is left in {side}");
        }
    }
}

/// Opens and closes each pipe that still waits for a reader, so that its writer ends.
fn release(feeders: &[(PathBuf, ScopedJoinHandle<'_, ()>)]) {
    while !feeders.iter().all(|(_, feeder)| feeder.is_finished()) {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        feeders.iter().for_each(|(pipe, _)| drop(open(pipe, flags, Mode::empty())));
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Removes settings and time from a report, for comparison.
fn comparable(text: &str) -> String {
    let mut lines = text.lines();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        if line == "  \"decisions\": {" {
            lines.by_ref().find(|line| *line == "  },");
        } else if !line.starts_with("  \"seconds\": ") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}
