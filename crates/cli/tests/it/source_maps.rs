//! Runs verbs with `--source-maps`.

use crate::support::{Folder, testdata};

fn profile(bundler: &str) -> String {
    let folder = testdata().join("source-maps");
    let file = folder.join(format!("{bundler}.cpuprofile"));
    format!("{} --pid-tid {0}=1:2 --source-maps {}", file.display(), folder.join(bundler).display())
}

#[test]
fn tree_verbs_show_source_names() {
    let folder = Folder::new();
    let words = profile("esbuild");
    let top = folder.run(&format!("top -n 99 {words}")).ends(0).quietly().stdout;
    for named in ["declared", "arrow", "typed", "expression", "property", "later", "spin"] {
        let row = top.lines().find(|line| line.contains(&format!(" {named} ")));
        assert!(row.is_some_and(|row| row.contains(".ts:")), "{named}: {top}");
    }
    assert!(
        folder.run(&format!("tree --depth 20 --min 0 {words}")).ends(0).stdout.contains("declared")
    );
    assert!(folder.run(&format!("flame --format svg {words}")).ends(0).stdout.contains("declared"));
    let calls = folder.run(&format!("calls {words}")).ends(0).stdout;
    let call = calls.lines().find(|line| line.contains(r#""name":"declared""#)).expect("a call");
    assert!(call.contains("file:///srv/demo/src/lib/hot.ts"), "{call}");
    let none = words.split(" --source-maps").next().expect("the input");
    let plain = folder.run(&format!("top -n 99 {none}")).ends(0).stdout;
    assert!(plain.contains("app.js:1:") && !plain.contains("hot.ts"), "{plain}");
    let folder_of_both = testdata().join("source-maps").display().to_string();
    let [a, b] = ["esbuild", "webpack"].map(|name| format!("{folder_of_both}/{name}.cpuprofile"));
    let words = format!("diff --csv {a} {b} --source-maps {folder_of_both}");
    let diff = folder.run(&words).ends(0).stdout;
    assert!(diff.lines().any(|line| line.contains("spin")), "{diff}");
}

#[test]
fn unusable_maps_are_reported() {
    let input = profile("esbuild");
    let input = input.split(" --source-maps").next().expect("the input").to_owned();
    let folder = Folder::new();
    for name in ["broken", "out", "other", "large", "unlisted"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    let folder = folder
        .with("broken/app.js.map", "{")
        .with("large/app.js.map", " ".repeat(17 << 20))
        .with("unlisted/app.js.map", r#"{"version":3,"sources":[],"mappings":"AAAA"}"#)
        .with("out/app.js", "//# sourceMappingURL=../secret.map")
        .with("other/x.js.map", "{}");
    let run =
        |maps: &str, status| folder.run(&format!("top {input} --source-maps {maps}")).ends(status);
    run("broken", 0).says(&[
        "source map not used: broken/app.js.map: no JSON at offset 1: expected",
        "; have the build write it anew",
    ]);
    run("out", 0).says(&[
        "out/app.js says that its map is ../secret.map, which is not in the folder: not opened",
        "; --source-maps takes the folder",
    ]);
    run("large -m 64M", 0)
        .says(&["large/app.js.map: larger than the 16 MiB", "; -m gives more memory"]);
    run("unlisted", 0).says(&["unlisted/app.js.map: its mappings are of sources that it does not"]);
    let elsewhere = testdata().join("source-maps/webpack/app.js.map").display().to_string();
    run(&elsewhere, 0).says(&["hardly fits", "if it is of another build", "--source-maps"]);
    run("other", 0).says(&["no source map is of any of 1 script, such as file:///srv/demo"]);
    run("nowhere", 2).says(&["cannot read source maps: nowhere"]);
    let both = folder.run(&format!("top {input} --source-maps other --no-source-maps")).ends(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}
