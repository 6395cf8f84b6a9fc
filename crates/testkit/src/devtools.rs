//! The engine of DevTools, built where Node is: the judge of traces and CPU profiles.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What stands beside the project.
pub fn beside(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path)
}

/// The folder with the engine's scripts, ready to be run. `target` is a folder below `target/`, where what was built of the same
/// sources is kept: nothing drops what all tests share, and 100 MB would be left in the temporary folder by each run.
///
/// Returns `None`, and prints what is missing, where it cannot run.
///
/// # Panics
/// If it cannot be built.
#[expect(clippy::print_stderr, reason = "a test that tests nothing says so")]
pub fn engine(target: &Path) -> Option<&'static Path> {
    static ENGINE: OnceLock<PathBuf> = OnceLock::new();
    if let Some(missing) = missing() {
        eprintln!("skipped: DevTools' engine needs {missing}, which is missing");
        return None;
    }
    Some(ENGINE.get_or_init(|| built(target)))
}

/// What is not there of what the engine needs.
fn missing() -> Option<String> {
    let folder = ["oracle", "corpus"].map(beside).into_iter().find(|folder| !folder.is_dir());
    let lacks = |program: &&str| Command::new(program).arg("--version").output().is_err();
    let program = || ["node", "npm"].into_iter().find(lacks).map(str::to_owned);
    folder.map(|folder| folder.display().to_string()).or_else(program)
}

fn built(target: &Path) -> PathBuf {
    let engine = target.join("oracle");
    if is_current(&engine) {
        return engine;
    }
    std::fs::create_dir_all(target).expect("a folder below target");
    let folder = target.join(format!("oracle-{}", std::process::id()));
    build(&folder);
    // a test in another process may have been faster: then its build is as good
    let _ = std::fs::remove_dir_all(&engine);
    let moved = std::fs::rename(&folder, &engine);
    assert!(moved.is_ok() || is_current(&engine), "{}: {moved:?}", engine.display());
    let _ = std::fs::remove_dir_all(&folder);
    engine
}

/// Whether it was built of the sources as they are now.
fn is_current(engine: &Path) -> bool {
    let is_same = |source: &PathBuf| {
        let copy = engine.join(source.file_name().expect("a file has a name"));
        std::fs::read(copy).is_ok_and(|copy| copy == std::fs::read(source).expect("a source"))
    };
    engine.join("build/frontend-engine.mjs").is_file() && sources().iter().all(is_same)
}

fn sources() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(beside("oracle")).expect("the oracle");
    let files = entries.map(|entry| entry.expect("an entry").path());
    files.filter(|file| file.is_file()).collect()
}

/// Copies the oracle's sources and lets npm fetch and build the rest.
fn build(folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    for source in sources() {
        let copy = folder.join(source.file_name().expect("a file has a name"));
        std::fs::copy(&source, copy).expect("a copy");
    }
    for words in [&["install", "--no-audit", "--no-fund"][..], &["run", "build"]] {
        let output = Command::new("npm").args(words).current_dir(folder).output();
        let output = output.expect("npm runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "npm {words:?}: {}\n{said}", output.status);
    }
}
