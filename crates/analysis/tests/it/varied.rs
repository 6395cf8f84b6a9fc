//! Compares our tables with DevTools' engine, for randomly varied real traces (`vary` of testkit).

use crate::common::engine::engine;
use crate::common::files::{TIMES_IN_QUOTES, files, shared, trace_of};
use crate::golden::{Outcome, check};
use crate::live::{QUESTION, companies, explained};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tracemill_testkit::{Rng, seeds, vary::varied};

/// A script that prints the tables of each file named on standard input, and then an empty line.
///
/// The engine keeps the main frame of the last trace that had one, so a page with an unnamed frame
/// is read before each file. Lone surrogates become U+FFFD.
const ASK: &str = r"
import readline from 'node:readline';
const [engine, neutral, ...words] = process.argv.slice(2);
const {load} = await import(`${engine}/engine.mjs`);
const plain = JSON.stringify;
const sound = value => typeof value === 'string' ? value.toWellFormed() : Array.isArray(value) ? value.map(sound) : value;
JSON.stringify = (value, ...rest) => plain(sound(value), ...rest);
process.stdout.setMaxListeners(0);
let number = 0;
for await (const file of readline.createInterface({input: process.stdin})) {
  await load(neutral);
  process.argv.splice(2, Infinity, ...words, file);
  await import(`${engine}/trees.mjs?${number++}`);
  process.stdout.write('\n');
}
process.exitCode = 0;
";

/// A page whose main frame has no name.
const NEUTRAL: &str = r#"[{"name": "TracingStartedInBrowser", "cat": "c", "ph": "I", "pid": 1, "tid": 1, "ts": 1, "args": {"data": {"frames":
    [{"frame": "", "url": "", "name": "", "processId": 1, "isInPrimaryMainFrame": true, "isOutermostMainFrame": true}]}}}]"#;

/// Maximum number of events of a variant, so that the engine is fast.
const MOST: usize = 700;

/// Maximum size of a source file in bytes.
const LARGEST: u64 = 300_000;

/// Returns real traces of pages and of Node, and traces of other programs.
fn sources() -> [Vec<Value>; 2] {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let corpus = shared().join("corpus");
    let pages = ["node", "chromium"].map(|name| testdata.join(name));
    let pages =
        pages.into_iter().chain(["devtools", "chrome-devtools"].map(|name| corpus.join(name)));
    let others = ["node20", "bun", "deno", "speedscope-trace-event"].map(|name| corpus.join(name));
    let mut others = others.into_iter().chain([testdata.join("node-cpu-prof")]);
    let read_all = |folders: &mut dyn Iterator<Item = PathBuf>| {
        let all = folders.flat_map(|folder| files(&folder));
        let is_apt = |path: &PathBuf| {
            let name = path.to_string_lossy();
            let is_small = path.metadata().is_ok_and(|metadata| metadata.len() < LARGEST);
            is_small && !TIMES_IN_QUOTES.iter().any(|ending| name.ends_with(ending))
        };
        all.filter(is_apt).filter_map(|path| trace_of(&path)).collect()
    };
    let web = shared().join("oracle/samples");
    [read_all(&mut pages.chain([web])), read_all(&mut others)]
}

/// Returns the engine's answers, in the order of the files.
fn ask((engine, words): (&Path, &[&str]), folder: &Path, all: &[PathBuf]) -> Vec<Vec<Value>> {
    let [script, neutral, list] = ["ask.mjs", "neutral", "files"].map(|name| folder.join(name));
    std::fs::write(&script, ASK).expect("a script");
    std::fs::write(&neutral, NEUTRAL).expect("a trace");
    let names = all.iter().map(|file| format!("{}\n", file.display()));
    std::fs::write(&list, names.collect::<String>()).expect("a list");
    let mut command = Command::new("node");
    command.args([&*script, engine, &*neutral]).args(words);
    let output = command.stdin(std::fs::File::open(&list).expect("a list")).output();
    let output = output.expect("the engine runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let mut answers = vec![Vec::new()];
    for line in text.lines() {
        match line.is_empty() {
            true => answers.push(Vec::new()),
            false => {
                answers.last_mut().expect("one").push(serde_json::from_str(line).expect("JSON"))
            }
        }
    }
    answers.pop();
    assert_eq!(answers.len(), all.len());
    answers
}

/// A failing file is kept, and named by its seed.
#[test]
fn varied_traces_match_the_engine() {
    let Some(engine) = engine() else { return };
    let mut kept = tempfile::tempdir().expect("a folder");
    let folder = kept.path().to_owned();
    let [pages, others] = sources();
    let mut outcome = Outcome::default();
    let all: Vec<u64> = seeds(1, 30).collect();
    for some in all.chunks(40) {
        let file = |seed: &u64| {
            let rng = &mut Rng::new(*seed);
            let some = if others.is_empty() || rng.chance(75) { &pages } else { &others };
            let source = &some[rng.index(some.len())];
            let path = folder.join(format!("{seed}.json"));
            std::fs::write(&path, varied(rng, source, MOST)).expect("a file");
            path
        };
        let some: Vec<PathBuf> = some.iter().map(file).collect();
        for (path, lines) in some.iter().zip(ask((engine, &QUESTION), &folder, &some)) {
            let name = path.file_name().expect("a name").to_string_lossy();
            check(&name, path, (&lines, companies(engine)), &mut outcome);
        }
    }
    let refused = outcome.refused.len();
    assert!(2 * refused < all.len(), "the engine refuses {:?}", outcome.refused);
    let ask_one = |words: &[&str], file: &Path| {
        ask((engine, words), &folder, &[file.to_owned()]).swap_remove(0)
    };
    kept.disable_cleanup(!outcome.is_right());
    outcome.assert_right(|| explained(engine, &outcome, ask_one));
}
