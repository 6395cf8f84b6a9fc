//! The embedded page equals a build of its sources.

use std::path::Path;
use std::process::Command;

/// Maximum bytes of script, style and HTML together.
const MOST: u64 = 160 << 10;

#[test]
fn page_is_small_and_contacts_no_other_host() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    let mut bytes = 0;
    for name in ["index.html", "dist/app.js", "dist/app.css"] {
        let text = std::fs::read_to_string(page.join(name)).unwrap();
        bytes += text.len() as u64;
        for word in [
            "innerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "<script>",
            "style=\"",
            "onclick",
        ] {
            assert!(!text.contains(word), "{name}: {word}");
        }
        // the two links that a click opens
        let others = text.matches("https://").count();
        assert_eq!(others, if name == "dist/app.js" { 2 } else { 0 }, "{name}");
    }
    assert!(bytes < MOST, "{bytes}");
}

/// Needs Node, npm and a registry; prints a message and passes if one is missing.
#[test]
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tested")]
fn embedded_page_matches_its_sources() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    let folder = tempfile::tempdir().unwrap();
    let tests = "test/page.test.mjs";
    std::fs::create_dir(folder.path().join("test")).unwrap();
    std::fs::copy(page.join(tests), folder.path().join(tests)).unwrap();
    for entry in std::fs::read_dir(&page).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let run = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .current_dir(folder.path())
            .env("npm_config_update_notifier", "false");
        command.output().is_ok_and(|output| output.status.success())
    };
    if !run(&["npm", "ci", "--no-audit", "--no-fund"]) {
        eprintln!("SKIPPED: the page is not built again, npm cannot get what builds it");
        return;
    }
    assert!(run(&["npx", "tsc"]), "the types are wrong: npx tsc in crates/view/page");
    assert!(run(&["node", "build.mjs", "built"]), "the page cannot be built");
    assert!(run(&["npm", "test"]), "tests of the page fail: npm test in crates/view/page");
    for name in ["app.js", "app.css"] {
        let [built, kept] = [folder.path().join("built"), page.join("dist")]
            .map(|folder| std::fs::read(folder.join(name)).unwrap());
        assert!(
            built == kept,
            "{name} is not that of its sources: npm run build in crates/view/page"
        );
    }
}
