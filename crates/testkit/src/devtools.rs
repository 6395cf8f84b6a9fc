//! Builds the engine of DevTools with Node, as a reference for traces and CPU profiles.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns a path in the shared folder next to the project.
pub fn beside(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path)
}

/// Returns the folder with the runnable engine, building it if needed. `target` is a folder in
/// `target/` that caches the build; a temporary folder would leave 100 MB behind per run.
///
/// Returns `None`, and prints what is missing, if the engine cannot run.
///
/// # Panics
/// Panics if the build fails.
#[expect(clippy::print_stderr, reason = "a test that tests nothing says so")]
pub fn engine(target: &Path) -> Option<&'static Path> {
    static ENGINE: OnceLock<PathBuf> = OnceLock::new();
    if let Some(missing) = missing() {
        eprintln!("skipped: DevTools' engine needs {missing}, which is missing");
        return None;
    }
    Some(ENGINE.get_or_init(|| built(target)))
}

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
    // another test process may have finished first; its build is equally good
    let _ = std::fs::remove_dir_all(&engine);
    let moved = std::fs::rename(&folder, &engine);
    assert!(moved.is_ok() || is_current(&engine), "{}: {moved:?}", engine.display());
    let _ = std::fs::remove_dir_all(&folder);
    engine
}

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

/// Copies the sources, and lets npm fetch dependencies and build.
fn build(folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    for source in sources() {
        let copy = folder.join(source.file_name().expect("a file has a name"));
        std::fs::copy(&source, copy).expect("a copy");
    }
    for words in [&["install", "--no-audit", "--no-fund"][..], &["run", "build"]] {
        let output = Command::new("npm").args(words).current_dir(folder).output();
        let output = output.expect("npm runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "npm {words:?}: {}\n{stderr}", output.status);
    }
}
