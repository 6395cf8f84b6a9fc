//! Random file layouts: inputs and outputs in random folders, named by random paths with `..`,
//! symbolic links and hard links.
//!
//! The flags come from the command, so this test fails for a new flag that takes a file until
//! [`content`] knows the flag. Inodes tell which paths are the same file. The laws:
//!
//! * If an output is also an input or another output, or lies in an input folder, the status is 2
//!   and nothing changes.
//! * Only outputs change.
//! * After a successful run every output exists, each in a separate file.

use crate::support::{Run, binary};
use clap::{ArgAction, ValueHint};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use tracemill_testkit::{Rng, seeds};

/// Verbs that are interactive, write no files named by flags, or need another program.
const LEFT_OUT: [&str; 6] = ["view", "record", "query", "man", "completions", "help"];

/// Folders of a layout.
const FOLDERS: [&str; 4] = ["d0", "d1", "d1/d2", "in"];
const LINKS: [(&str, &str); 4] =
    [("l0", "d0"), ("d0/up", ".."), ("l2", "d1/d2"), ("d1/in", "../in")];

const TRACE: &str = r#"{"traceEvents":[
{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1,"dur":5,"args":{}},
{"ph":"P","name":"Profile","cat":"c","id":"1","pid":1,"tid":1,"ts":1,"args":{"data":{"startTime":1}}},
{"ph":"P","name":"ProfileChunk","cat":"c","id":"1","pid":1,"tid":1,"ts":2,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}}],"samples":[1]},"timeDeltas":[1]}}}
]}"#;

static INDEX: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t.json"), TRACE).expect("a file");
    let mut command = Command::new(binary());
    let run = command.args(["index", "t.json"]).current_dir(folder.path()).output();
    assert!(run.expect("it runs").status.success());
    fs::read(folder.path().join("t.json.tmi")).expect("an index")
});

/// Use of the path that a flag takes.
#[derive(Clone, Copy, PartialEq)]
enum Content {
    /// A file with this kind of content is read.
    Read(&'static str),
    Write,
    /// A folder in which a file `p` is written.
    WriteIn,
    Other,
}

/// Returns how a flag's path is used, by the id of the flag.
fn content(verb: &str, id: &str) -> Content {
    match id {
        "inputs" | "sides" | "base" | "new" | "diff" => Content::Read("trace"),
        "manifest" if verb == "split" => Content::Write,
        "files_from" => Content::Read("list"),
        "manifest" => Content::Read("manifest"),
        "entities" => Content::Read("entities"),
        "source_maps" => Content::Read("maps"),
        "index" => Content::Read("index"),
        "output" | "report" | "write_manifest" => Content::Write,
        "dir" => Content::WriteIn,
        // writes files named by time; these traces have no screenshots
        "screenshots" => Content::Other,
        "tmp_dir" | "devtools" | "viewers" | "pid_tid" => Content::Other,
        _ => panic!("{verb}: what does the flag {id} take?"),
    }
}

/// A verb with its flags that name files.
struct Verb {
    words: Vec<String>,
    /// Id and long name of each flag; positional arguments have no name.
    flags: Vec<(String, Option<String>)>,
    can_write_index: bool,
}

fn verbs(command: &clap::Command, above: &[String]) -> Vec<Verb> {
    let mut all = Vec::new();
    for verb in command.get_subcommands().filter(|verb| !LEFT_OUT.contains(&verb.get_name())) {
        let words = [above, &[verb.get_name().to_owned()]].concat();
        if verb.has_subcommands() {
            all.extend(verbs(verb, &words));
            continue;
        }
        let takes_value = |arg: &&clap::Arg| !matches!(arg.get_action(), ArgAction::SetTrue);
        let named = verb.get_arguments().filter(takes_value);
        let named = named.filter(|arg| arg.get_value_hint() != ValueHint::Unknown);
        let flags = named.map(|arg| (arg.get_id().to_string(), arg.get_long().map(str::to_owned)));
        let can_write_index = verb.get_arguments().any(|arg| arg.get_id() == "write_index");
        all.push(Verb { flags: flags.collect(), words, can_write_index });
    }
    all
}

/// Returns the words that a verb needs besides files.
fn needed(verb: &str) -> &'static [&'static str] {
    match verb {
        "split" => &["--by", "pid", "-O", "p"],
        "profile extract" => &["-O", "p"],
        "slice" => &["--from", "0"],
        "filter" => &["--tid", "1"],
        _ => &[],
    }
}

/// Identity of a file: an existing one by inode, a new one by folder and name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Id {
    There(u64),
    New(u64, PathBuf),
}

/// A folder with random files and links.
struct World {
    root: PathBuf,
    random: Rng,
    /// Existing files by kind of content, with all paths to each.
    files: Vec<(&'static str, PathBuf)>,
}

impl World {
    fn new(root: &Path, seed: u64) -> Self {
        let root = root.canonicalize().expect("a folder");
        let mut world = World { root: root.clone(), random: Rng::new(seed), files: Vec::new() };
        FOLDERS.iter().for_each(|folder| fs::create_dir(root.join(folder)).expect("a folder"));
        LINKS.iter().for_each(|(link, to)| symlink(to, root.join(link)).expect("a link"));
        let trace = world.file("trace", "t.json", TRACE);
        world.file("trace", "u.json", TRACE);
        world.file("list", "list", format!("{}\n", trace.display()));
        let manifest = format!(r#"{{"version":1,"inputs":[{{"path":"{}"}}]}}"#, trace.display());
        world.file("manifest", "manifest", manifest);
        world.file("entities", "entities", r#"[{"name":"A","domains":["a.example"]}]"#);
        world.file("maps", "m.js.map", r#"{"version":3,"sources":[],"mappings":""}"#);
        world.file("index", "some.tmi", &*INDEX);
        world.file("old", "old", "what was there");
        fs::write(root.join("in/i.json"), TRACE).expect("a file");
        world
    }

    /// Writes a file into a random folder, with random links to it.
    fn file(&mut self, holds: &'static str, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder().join(name);
        fs::write(&path, content).expect("a file");
        self.files.push((holds, path.clone()));
        for (kind, chance) in [("hard", 30), ("soft", 30), ("softer", 30)] {
            if !self.random.chance(chance) {
                continue;
            }
            let link = self.folder().join(format!("{kind}-{name}"));
            let to = self.files.last().expect("one at least").1.clone();
            match kind {
                "hard" => fs::hard_link(to, &link).expect("a link"),
                _ => symlink(to, &link).expect("a link"),
            }
            self.files.push((holds, link));
        }
        path
    }

    /// Returns the root or a random folder outside the inputs.
    fn folder(&mut self) -> PathBuf {
        let name = self.random.pick(&["", "d0", "d1", "d1/d2"]);
        self.root.join(name)
    }

    /// Returns a random path to a folder, relative or absolute.
    fn detour(&mut self, folder: &Path) -> PathBuf {
        let below = folder.strip_prefix(&self.root).expect("it is in the world").to_owned();
        let start = *self.random.pick(&[
            &"",
            &".",
            &"d0/..",
            &"d0/up",
            &"l0/..",
            &"d1/d2/../..",
            &"l2/../..",
            &"/",
        ]);
        let start = if start == "/" { self.root.clone() } else { PathBuf::from(start) };
        match (below.to_str().expect("text"), self.random.below(2)) {
            ("d0", 0) => start.join("l0"),
            ("d1/d2", 0) => start.join("l2"),
            ("d1", 0) => start.join("l2/.."),
            ("in", 0) => start.join("d1/in"),
            _ => start.join(below),
        }
    }

    /// Returns a random path to a file.
    fn spelled(&mut self, file: &Path) -> PathBuf {
        let name = file.file_name().expect("a file").to_owned();
        self.detour(file.parent().expect("a folder")).join(name)
    }

    /// Returns a path to a file of this kind, or for traces sometimes a folder.
    fn read(&mut self, holds: &str) -> PathBuf {
        if holds == "trace" && self.random.chance(15) {
            return self.detour(&self.root.join("in"));
        }
        let all: Vec<PathBuf> =
            self.files.iter().filter(|file| file.0 == holds).map(|file| file.1.clone()).collect();
        let file = all[self.random.index(all.len())].clone();
        self.spelled(&file)
    }

    /// Returns a path to write to, often that of an input or another output.
    fn written(&mut self, others: &[PathBuf]) -> PathBuf {
        match self.random.below(10) {
            0 | 1 if !others.is_empty() => {
                let other = self.root.join(&others[self.random.index(others.len())]);
                match (other.parent().map(Path::canonicalize), other.file_name()) {
                    (Some(Ok(folder)), Some(name)) if folder.starts_with(&self.root) => {
                        self.spelled(&folder.join(name))
                    }
                    _ => other,
                }
            }
            2 | 3 => {
                let file = self.files[self.random.index(self.files.len())].1.clone();
                self.spelled(&file)
            }
            4 => self.spelled(&self.root.join("in/new.json")),
            _ => {
                let name = format!("new{}.json", self.random.below(8));
                let folder = self.folder();
                self.spelled(&folder.join(name))
            }
        }
    }

    fn id(&self, path: &Path) -> Option<Id> {
        let path = self.root.join(path);
        if let Ok(file) = fs::metadata(&path) {
            return Some(Id::There(file.ino()));
        }
        let folder = fs::metadata(path.parent()?).ok()?;
        Some(Id::New(folder.ino(), path.file_name()?.into()))
    }
}

/// A command line with the files that it names.
#[derive(Default)]
struct Line {
    words: Vec<String>,
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
}

impl Line {
    fn random(world: &mut World, verb: &Verb) -> Self {
        let mut line = Line { words: verb.words.clone(), ..Line::default() };
        let name = verb.words.join(" ");
        line.words.extend(needed(&name).iter().map(|&word| word.to_owned()));
        line.words.extend(["-@1".to_owned(), "-q".to_owned()]);
        if world.random.chance(70) {
            line.words.push("-f".to_owned());
        }
        let by_manifest = world.random.chance(20);
        for (id, long) in &verb.flags {
            let usual = match (content(&name, id), &**id) {
                (Content::Read("trace"), "base" | "new") => 0,
                (Content::Read("trace"), "diff") => 30,
                (Content::Read("trace"), _) if by_manifest && name == "merge" => 0,
                (Content::Read("trace"), _) => 100,
                (Content::Read("manifest"), _) => {
                    if by_manifest {
                        100
                    } else {
                        0
                    }
                }
                (Content::Read(_), _) => 20,
                (Content::Write, "output") => 80,
                (Content::Write | Content::WriteIn, _) => 50,
                (Content::Other, _) => 0,
            };
            let is_positional = long.is_none();
            let both =
                if is_positional && (name == "diff" || world.random.chance(30)) { 2 } else { 1 };
            for _ in 0..both {
                if world.random.chance(usual) {
                    line.push(world, content(&name, id), long.as_deref());
                }
            }
        }
        if verb.can_write_index && world.random.chance(20) {
            line.words.push("--write-index".to_owned());
            let output = line.words.iter().find_map(|word| word.strip_prefix("--output="));
            line.writes.extend(output.map(|output| PathBuf::from(format!("{output}.tmi"))));
        }
        if name == "index" && !line.words.iter().any(|word| word.starts_with("--output")) {
            let traces = line.reads.iter().filter(|path| !world.root.join(path).is_dir());
            let traces = traces.filter(|path| path.extension().is_some_and(|end| end == "json"));
            for path in traces.map(|path| PathBuf::from(format!("{}.tmi", path.display()))) {
                // a trace named twice has one index
                if line.writes.iter().all(|other| world.id(other) != world.id(&path)) {
                    line.writes.push(path);
                }
            }
        }
        line
    }

    fn push(&mut self, world: &mut World, content: Content, long: Option<&str>) {
        let path = match content {
            Content::Read(holds) => world.read(holds),
            Content::Write => {
                let all = [&self.reads[..], &self.writes].concat();
                world.written(&all)
            }
            Content::WriteIn => {
                let folder = world.folder();
                world.detour(&folder)
            }
            Content::Other => return,
        };
        match content {
            Content::Read("list" | "manifest") => {
                self.reads.extend([path.clone(), world.files[0].1.clone()]);
            }
            Content::Read(_) => self.reads.push(path.clone()),
            Content::Write => self.writes.push(path.clone()),
            _ => self.writes.push(path.join("p")),
        }
        let path = path.to_str().expect("text");
        self.words.push(long.map_or_else(|| path.to_owned(), |long| format!("--{long}={path}")));
    }

    /// Returns whether an output is an input or another output, or lies in an input folder.
    fn collides(&self, world: &World) -> bool {
        let ids = |paths: &[PathBuf]| -> Vec<Id> {
            paths.iter().filter_map(|path| world.id(path)).collect()
        };
        let (reads, writes) = (ids(&self.reads), ids(&self.writes));
        let twice = writes.iter().enumerate().any(|(at, id)| writes[..at].contains(id));
        let folders =
            self.reads.iter().map(|path| world.root.join(path)).filter(|path| path.is_dir());
        let folders: Vec<u64> =
            folders.map(|path| fs::metadata(path).expect("a folder").ino()).collect();
        let is_within = |path: &PathBuf| {
            let folder = world.root.join(path);
            let folder = folder.parent().and_then(|folder| fs::metadata(folder).ok());
            folder.is_some_and(|folder| folders.contains(&folder.ino()))
                && path.extension().is_none_or(|end| end != "tmi")
        };
        twice || writes.iter().any(|id| reads.contains(id)) || self.writes.iter().any(is_within)
    }
}

/// Returns the contents of all files, by every path including links.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        match entry.file_type().expect("it is there").is_dir() {
            true => found.extend(files_below(&entry.path())),
            false if entry.path().is_dir() => {}
            false => _ = found.insert(entry.path(), fs::read(entry.path()).expect("a file")),
        }
    }
    found
}

/// Runs a command line and asserts the laws; returns whether it wrote its outputs.
fn judge(world: &World, line: &Line, seed: u64) -> bool {
    let collides = line.collides(world);
    let ids = || -> Vec<Id> { line.writes.iter().filter_map(|path| world.id(path)).collect() };
    let written = if collides { Vec::new() } else { ids() };
    let before = files_below(&world.root);
    let is_output = |path: &Path| world.id(path).is_some_and(|id| written.contains(&id));
    let kept: Vec<&PathBuf> = before.keys().filter(|path| !is_output(path)).collect();
    let mut command = Command::new(binary());
    command.current_dir(&world.root).args(&line.words);
    let run = Run::of(command.output().expect("it runs"));
    let context = || format!("seed {seed}: tracemill {}\n{run:#?}", line.words.join(" "));
    let after = files_below(&world.root);
    for path in kept {
        assert!(after.get(path) == before.get(path), "{} changed, {}", path.display(), context());
    }
    match run.code {
        Some(0 | 1) if !collides => {
            for path in &line.writes {
                assert!(world.root.join(path).is_file(), "no {}, {}", path.display(), context());
            }
            let all = ids();
            let is_twice = (1..all.len()).any(|at| all[..at].contains(&all[at]));
            assert!(!is_twice, "{}", context());
            true
        }
        // 3: an input is refused, such as the index of another trace
        Some(code) if code == 2 || code == 3 && !collides => {
            assert_eq!(before, after, "{}", context());
            false
        }
        _ => panic!("collides: {collides}, {}", context()),
    }
}

#[test]
fn aliased_paths_never_lose_files() {
    let verbs = verbs(&tracemill::flags(), &[]);
    let (mut done, seeds) = (0, seeds(0, 400));
    let rounds = seeds.end - seeds.start;
    for seed in seeds {
        let folder = tempfile::tempdir().expect("a folder");
        let mut world = World::new(folder.path(), seed);
        let line = Line::random(&mut world, &verbs[seed as usize % verbs.len()]);
        done += u64::from(judge(&world, &line, seed));
    }
    assert!(4 * done > rounds, "{done} of {rounds} runs succeeded");
}
