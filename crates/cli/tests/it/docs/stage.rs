//! A folder in which documented commands run: a copy of `testdata`, and files that examples name,
//! such as `trace.json` and `profiles/`.

use super::blocks::{Command, is_as_shown};
use crate::support::{binary, event, testdata};
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::OnceLock;

pub(super) struct Stage(tempfile::TempDir);

const OPTIONAL: [&str; 5] = ["jq", "man", "less", "zstd", "node"];

/// The program that answers SQL, if its workspace was built.
fn query_program() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../query/target/debug/tracemill-query")
}

/// Returns a program that the command needs and this machine lacks.
pub(super) fn missing(line: &str) -> Option<String> {
    if [" query ", ".parquet"].iter().any(|word| line.contains(word)) && !query_program().is_file()
    {
        return Some("there is no tracemill-query here".to_owned());
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    // programs come first, or after |, &&, ; and the -- of record
    let is_start =
        |at: usize| at == 0 || words[at - 1] == "--" || words[at - 1].ends_with(['|', '&', ';']);
    let programs = (0..words.len()).filter(|&at| is_start(at)).map(|at| words[at]);
    let lacks = |program: &&str| {
        OPTIONAL.contains(program)
            && !std::env::var_os("PATH").is_some_and(|path| {
                std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
            })
    };
    programs.into_iter().find(lacks).map(|program| format!("there is no {program} here"))
}

impl Stage {
    pub(super) fn new() -> Self {
        static MASTER: OnceLock<tempfile::TempDir> = OnceLock::new();
        let master = MASTER.get_or_init(|| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            prepare(folder.path());
            folder
        });
        let stage = Stage(tempfile::tempdir().expect("a temporary folder"));
        copy(master.path(), stage.0.path());
        stage
    }

    /// Runs a command; returns an error if the result differs from the page.
    pub(super) fn run(&self, command: &Command) -> Result<(), String> {
        let (line, status) = match command.line.split_once("# status ") {
            Some((line, status)) => (line, status.trim()),
            None => (command.line.as_str(), "0"),
        };
        let status: i32 = status.parse().map_err(|_| format!("status is a number: {status}"))?;
        let output = shell(self.0.path(), line);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        // check may find something, unless the page gives a status
        let may_find = line == command.line && line.contains("tracemill check");
        if output.status.code() != Some(status) && !(may_find && output.status.code() == Some(1)) {
            return Err(format!("it ended with {}, expected {status}:\n{stdout}", output.status));
        }
        if let Some(prints) = &command.prints
            && !is_as_shown(prints, &stdout)
        {
            return Err(format!("it prints:\n{stdout}"));
        }
        if status > 1 {
            return Ok(());
        }
        match outputs(line).find(|name| !self.holds(name)) {
            Some(name) => Err(format!("{name} is missing or empty")),
            None => Ok(()),
        }
    }

    /// Returns whether a file or folder exists and is not empty.
    fn holds(&self, name: &str) -> bool {
        let path = self.0.path().join(name);
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => {
                fs::read_dir(&path).is_ok_and(|mut d| d.next().is_some())
            }
            Ok(found) => found.len() > 0,
            Err(_) => false,
        }
    }
}

/// Returns the values of -o and -d.
fn outputs(line: &str) -> impl Iterator<Item = &str> {
    let programs = line.split(" | ").flat_map(|line| line.split(" && "));
    let ours = programs.filter(|program| program.trim_start().starts_with("tracemill "));
    let pairs = ours.flat_map(|ours| ours.split_whitespace().zip(ours.split_whitespace().skip(1)));
    let names = pairs.filter(|(flag, _)| ["-o", "-d"].contains(flag)).map(|(_, name)| name);
    names.filter(|&name| name != "-")
}

/// Runs a line with standard error redirected to standard output.
fn shell(folder: &Path, line: &str) -> Output {
    let programs = binary().parent().expect("the command lies in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let query = query_program().parent().map(Path::to_owned);
    let path = [programs].into_iter().chain(query).chain(std::env::split_paths(&path));
    let mut bash = std::process::Command::new("bash");
    bash.args(["-o", "pipefail", "-c", &format!("exec 2>&1; {line}")])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path).expect("folders without colons"))
        .env("HOME", folder)
        .env_remove("TRACEMILL_TIER")
        .stdin(std::process::Stdio::null());
    bash.output().expect("bash")
}

/// Runs a line that must succeed.
#[track_caller]
fn make(folder: &Path, line: &str) {
    let output = shell(folder, line);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{line}: {}\n{stdout}", output.status);
}

fn copy(source: &Path, target: &Path) {
    fs::create_dir_all(target).expect("a folder");
    for entry in fs::read_dir(source).expect("a folder") {
        let path = entry.expect("an entry").path();
        let copied = target.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).expect("a copy");
        }
    }
}

/// Creates the files that examples name.
fn prepare(folder: &Path) {
    copy(&testdata(), &folder.join("testdata"));
    let node = fs::read_to_string(testdata().join("node/trace.json")).expect("a trace");
    // examples use process 4711, with a main thread of the same number, and thread 4715
    let node = node.replace("5389", "4711").replace("5401", "4715");
    let write = |name: &str, text: String| fs::write(folder.join(name), text).expect("a file");
    write("server.json", node);
    let parts = |times: [u64; 3]| {
        let events: Vec<String> = times.map(|ts| event(ts).replace("\"e\"", "\"step\"")).into();
        format!("{{\"baseTimeNanoseconds\":1000,\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
    };
    write("a.json", parts([10, 20, 30]));
    write("b.json", parts([1_000_010, 1_000_020, 1_000_030]));
    let names = ["rank0.json", "rank1.json", "traces/a.json", "logs/a.json"];
    for name in ["traces", "logs", "profiles"] {
        fs::create_dir(folder.join(name)).expect("a folder");
    }
    for name in names {
        write(name, parts([1, 2, 3]));
    }
    make(folder, "cp testdata/node-cpu-prof/*.cpuprofile profiles");
    make(
        folder,
        "cp testdata/node/trace-2.json worker.json && cp testdata/node/trace-2.json traces/b.json",
    );
    make(
        folder,
        "cp testdata/node/trace-2.json logs/b.json && gzip -k rank0.json rank1.json traces/a.json",
    );
    make(
        folder,
        "mkdir -p pods/pod-1 pods/pod-2 && cp testdata/node-cpu-prof/*.19476.* pods/pod-1 && \
         cp testdata/node-cpu-prof/*.19500.* pods/pod-2",
    );
    write(
        "page.json",
        r#"[{"ph":"O","name":"Screenshot","pid":1,"tid":1,"ts":5,"args":{"snapshot":"/9g="}}]"#
            .to_owned(),
    );
    write("app.mjs", "const end = Date.now() + 50; let sum = 0; while (Date.now() < end) sum += Math.sqrt(sum + 1);\n".to_owned());
    // two minutes from 522970 s on, of a browser and of Node; jq rejects half a surrogate pair
    make(
        folder,
        "tracemill merge -q testdata/chromium/trace.json.gz server.json --pid keep --ids keep --align start \
         --scale trace.json.gz=100 --scale server.json=100 -o long.json && \
         tracemill merge -q long.json --offset long.json=+302880s | sed 's/\\\\ud83d//g' > trace.json && rm long.json",
    );
    make(folder, "cp trace.json huge.json && gzip -k trace.json huge.json");
    make(folder, "tracemill convert -q trace.json --format ndjson -o events.ndjson");
    make(folder, "tracemill split -q server.json --by events=800 -O 'node_trace.{part}.log'");
}

#[test]
fn outputs_are_found_by_their_flags() {
    let line = "tracemill split a --by tid -d parts | grep -o x && tracemill merge b -o c.json";
    assert_eq!(outputs(line).collect::<Vec<_>>(), ["parts", "c.json"]);
}

#[test]
fn wrong_pages_are_detected() {
    let stage = Stage::new();
    let run = |line: &str, prints: Option<&str>| {
        let (line, prints) = (line.to_owned(), prints.map(str::to_owned));
        let (place, section) = ("x".to_owned(), String::new());
        stage.run(&Command { place, section, line, prints, not_run: None })
    };
    assert_eq!(run("tracemill merge a.json > x", None), Ok(()));
    assert!(run("tracemill merge nothing.json", None).unwrap_err().contains("No such file"));
    assert!(run("tracemill merg a.json | cat", None).unwrap_err().contains("ended with"));
    assert!(run("echo 1", Some("2\n")).unwrap_err().contains("prints"));
    // a device accepts the output and stays empty
    assert!(run("tracemill merge a.json -o /dev/null", None).unwrap_err().contains("empty"));
    assert_eq!(run("tracemill merge --strict nothing.json # status 3", None), Ok(()));
    assert!(stage.holds("trace.json") && !stage.holds("testdata/quirks/empty.json"));
}

#[test]
fn missing_programs_are_found_at_the_start_of_commands() {
    assert_eq!(missing("cat a | grep jq"), None);
    let here = std::process::Command::new("jq").arg("--version").output().is_ok();
    assert_eq!(missing("cat a | jq .").is_none(), here);
}
