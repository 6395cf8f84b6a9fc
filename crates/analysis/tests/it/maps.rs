//! Source maps: those of six bundlers compared with other tools, and invalid ones.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tracemill_analysis::{
    GroupBy, Mapped, Per, Picks, Query, ReadRules, Shape, SourceMaps, TableRules, ThreadChoice,
    Trace, TreeRow,
};
use tracemill_join::config::Config;
use tracemill_testkit::mutate::mutated;
use tracemill_testkit::{Folder, Rng, seeds};
use tracemill_trace::Source;

const BUNDLERS: [&str; 6] = ["esbuild", "webpack", "rollup", "vite", "swc", "tsc"];

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/source-maps")
}

fn read(input: PathBuf, paths: Vec<PathBuf>) -> Trace {
    let config = Config::new(2, 64 << 20, std::env::temp_dir());
    let maps = SourceMaps { paths, of_traces: true };
    Trace::read_mapped(&[Source::Path(input)], ReadRules::default(), &maps, &config)
        .expect("a trace")
}

/// Returns the call tree of all threads.
fn rows(trace: &Trace, by: GroupBy) -> Vec<TreeRow> {
    let query = Query {
        shape: Shape::CallTree,
        by,
        rules: TableRules::default(),
        per: Per::Thread,
        windows: Vec::new(),
        picks: Picks::default(),
        key: None,
    };
    let parts = trace.parts(&trace.choose(&ThreadChoice::default()), &query).expect("room");
    parts.iter().flat_map(|part| &part.table.rows).map(Cow::into_owned).collect()
}

/// A line of the golden table.
struct Expected<'g> {
    url: &'g str,
    is_whole: bool,
    name: &'g str,
    /// Source, line and column according to the npm package trace-mapping.
    origin: Option<(&'g str, i64, i64)>,
    /// Name of the function in its source, if it has one.
    truth: Option<&'g str>,
}

/// Returns the lines by name, line and column in the script, as in ids of rows.
fn golden<'g>(table: &'g str, bundler: &str) -> HashMap<(String, String), Expected<'g>> {
    let mut all = HashMap::new();
    for line in table.lines().filter(|line| line.contains(&format!("/dist/{bundler}/"))) {
        let parts: Vec<&str> = line.split('\t').collect();
        let [url, line, column, name, source, source_line, source_column, _, truth] = parts[..]
        else {
            panic!("nine fields: {line}");
        };
        let number = |text: &str| text.parse().expect("a number");
        let origin = (source != "-").then(|| (source, number(source_line), number(source_column)));
        let is_whole = (line, column, name) == ("0", "0", "");
        let truth = (truth != "-").then_some(truth);
        let key = (name.to_owned(), format!(":{line}:{column}"));
        let expected = Expected { url, is_whole, name, origin, truth };
        assert!(is_whole || all.insert(key, expected).is_none(), "one function a place");
    }
    all
}

#[test]
fn positions_match_trace_mapping_and_names_match_the_sources() {
    let table = std::fs::read_to_string(testdata().join("golden.tsv")).expect("a table");
    for bundler in BUNDLERS {
        let expected = golden(&table, bundler);
        let profile = testdata().join(format!("{bundler}.cpuprofile"));
        let trace = read(profile, vec![testdata().join(bundler)]);
        assert_eq!(trace.mapped.unusable, [], "{bundler}");
        let (mut checked, mut named) = (0, 0);
        for row in rows(&trace, GroupBy::None) {
            let Some((name, rest)) = row.id.strip_prefix("f:").and_then(|id| id.rsplit_once('@'))
            else {
                continue;
            };
            let place = &rest[rest.find(':').expect("a script")..];
            let Some(position) = expected.get(&(name.to_owned(), place.to_owned())) else {
                continue;
            };
            if position.is_whole {
                continue;
            }
            checked += 1;
            let label = row.label.as_deref().expect("a label");
            let of = format!("{bundler} {} {label} {:?}", row.id, row.location);
            let known = if position.name.is_empty() { "(anonymous)" } else { position.name };
            match position.origin {
                Some((source, line, column)) => {
                    let place = &row.location;
                    let found = (&*place.url, place.line, place.column);
                    assert_eq!(found, (source, Some(line), Some(column)), "{of}");
                }
                None => assert_eq!(row.location.url, position.url, "{of}"),
            }
            let plain = label.trim_start_matches("get ");
            match position.truth {
                // For a constructor, only the class has the name, at another position.
                Some("Shape") => assert!([known, "Shape"].contains(&label), "{of}"),
                // Two of the bundlers omit sources from their maps.
                Some(truth) => {
                    let has_sources = !["rollup", "tsc"].contains(&bundler);
                    assert!(plain == truth || !has_sources && label == known, "{of}");
                    named += usize::from(plain == truth);
                }
                None => assert_eq!(label, known, "{of}"),
            }
        }
        assert!(checked >= 18 && named >= 10, "{bundler}: {checked} functions, {named} names");
    }
}

#[test]
fn maps_of_another_build_are_reported_as_doubtful() {
    let script = |bundler: &str| testdata().join(bundler).join("app.js.map");
    // Bundlers that keep the sources in one map.
    let all = ["esbuild", "webpack"];
    for (bundler, other) in
        [(all[0], all[1]), (all[1], all[0]), ("rollup", all[0]), ("rollup", all[1])]
    {
        let profile = || testdata().join(format!("{bundler}.cpuprofile"));
        let doubtful = |maps: PathBuf| read(profile(), vec![maps]).mapped.doubtful;
        assert_eq!(doubtful(testdata().join(bundler)), [""; 0], "{bundler}");
        let doubts = doubtful(script(other));
        assert!(
            doubts.len() == 1 && doubts[0].contains("hardly fits"),
            "{bundler} {other}: {doubts:?}"
        );
    }
    for bundler in BUNDLERS {
        let profile = testdata().join(format!("{bundler}.cpuprofile"));
        let mapped = read(profile, vec![testdata().join(bundler)]).mapped;
        assert_eq!(mapped.doubtful, [""; 0], "{bundler}");
    }
}

/// Returns a profile of functions at positions of a script, each sampled for a millisecond.
fn profile(functions: &[(&str, &str, u32, u32)]) -> String {
    let count = functions.len();
    let ids: Vec<String> = (2..count + 2).map(|id| id.to_string()).collect();
    let mut nodes = vec![format!(
        r#"{{"id":1,"callFrame":{{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}},"children":[{}]}}"#,
        ids.join(",")
    )];
    for (id, (name, url, line, column)) in ids.iter().zip(functions) {
        nodes.push(format!(
            r#"{{"id":{id},"callFrame":{{"functionName":"{name}","scriptId":"7","url":"{url}","lineNumber":{line},"columnNumber":{column}}}}}"#
        ));
    }
    let deltas = vec!["1000"; count].join(",");
    format!(
        r#"{{"nodes":[{}],"startTime":0,"endTime":{},"samples":[{}],"timeDeltas":[{deltas}]}}"#,
        nodes.join(","),
        1000 * (count + 1),
        ids.join(","),
    )
}

/// A folder with files; `t.cpuprofile` is read with the maps in it.
struct World(Folder);

impl World {
    fn new(functions: &[(&str, &str, u32, u32)]) -> Self {
        let world = World(Folder::new());
        world.with("t.cpuprofile", &profile(functions))
    }

    fn with(self, path: &str, text: &str) -> Self {
        let folder = self.0.path(path).parent().expect("a folder").to_owned();
        std::fs::create_dir_all(folder).expect("a folder");
        self.0.file(path, text);
        self
    }

    /// Returns label, URL and line of each function, and the results of applying `maps`.
    fn read_rows(&self, maps: &[&str]) -> (Vec<(String, String, i64)>, Mapped) {
        let paths = maps.iter().map(|path| self.0.path(path)).collect();
        let trace = read(self.0.path("t.cpuprofile"), paths);
        let shown = |row: TreeRow| {
            (row.label.unwrap_or_default(), row.location.url, row.location.line.unwrap_or(-1))
        };
        let rows =
            rows(&trace, GroupBy::None).into_iter().filter(|row| !row.location.url.is_empty());
        let mut rows: Vec<_> = rows.map(shown).collect();
        rows.sort();
        (rows, trace.mapped)
    }
}

/// Returns a map of one segment: the first line comes from line 5 of `src/a.ts`, with a name.
fn map(more: &str) -> String {
    format!(
        r#"{{"version":3,"sources":["../src/a.ts"],"sourcesContent":["\n\n\n\n\nfunction work() {{}}\n"],"names":["work"],"mappings":"AAKSA"{more}}}"#
    )
}

fn row(name: &str, url: &str, line: i64) -> (String, String, i64) {
    (name.to_owned(), url.to_owned(), line)
}

const APP: (&str, &str, u32, u32) = ("m", "https://a.test/js/app.js?v=2", 0, 1);

#[test]
fn maps_are_found_by_script_name_or_key() {
    let mapped = row("work", "https://a.test/src/a.ts", 5);
    let inline = "//# sourceMappingURL=data:application/json,";
    for (path, text, maps) in [
        ("maps/app.js.map", map(""), "maps"),
        ("maps/js/app.js.map", map(""), "maps"),
        ("maps/other.map", map(r#","file":"app.js""#), "maps/other.map"),
        ("maps/app.js.map", map(""), "maps/app.js.map"),
        ("maps/app.js.map", format!(")]}}'\n{}", map("")), "maps"),
        (
            "maps/app.js",
            format!(
                "x\n{inline}{}\n",
                map("").replace(' ', "%20").replace("\\n", "%5Cn").replace('"', "%22")
            ),
            "maps",
        ),
    ] {
        let world = World::new(&[APP]).with(path, &text);
        let (rows, mapping) = world.read_rows(&[maps]);
        assert_eq!(rows, std::slice::from_ref(&mapped), "{path} {mapping:?}");
        assert_eq!((mapping.scripts, mapping.functions, mapping.named), (1, 1, 1));
    }
    let linked = World::new(&[APP])
        .with("maps/js/app.js", "x\n//# sourceMappingURL=../m/x.map\n")
        .with("maps/m/x.map", &map(""));
    assert_eq!(linked.read_rows(&["maps"]).0[0].0, "work");
    // A file with that name in another folder, or in a package, is not the script.
    for url in ["https://a.test/node_modules/b/app.js", "https://a.test/other/b.js"] {
        let world = World::new(&[("m", url, 0, 1)]).with("maps/js/app.js.map", &map(""));
        let (rows, mapping) = world.read_rows(&["maps"]);
        assert_eq!(rows, [row("m", url, 0)]);
        assert_eq!(mapping.unmapped, (vec![url.to_owned()], 1));
    }
}

#[test]
fn ambiguous_map_is_not_used() {
    let world = World::new(&[("m", "/srv/a/app.js", 0, 1), ("m", "/srv/b/app.js", 0, 2)])
        .with("maps/app.js.map", &map(""));
    let (rows, mapping) = world.read_rows(&["maps"]);
    assert_eq!(rows, [row("m", "/srv/a/app.js", 0), row("m", "/srv/b/app.js", 0)]);
    assert!(mapping.unusable[0].why.contains("2 scripts that are not one"), "{mapping:?}");
}

#[cfg(unix)]
#[test]
fn no_file_outside_the_folder_is_opened() {
    for url in [
        "../secret.map",
        "/etc/hostname",
        "file:///etc/hostname",
        "%2e%2e/secret.map",
        "a/../../secret.map",
        "https://b.test/x.map",
    ] {
        let world = World::new(&[APP])
            .with("secret.map", &map(""))
            .with("maps/app.js", &format!("//# sourceMappingURL={url}\n"));
        let (rows, mapping) = world.read_rows(&["maps"]);
        assert_eq!(rows, [row("m", APP.1, 0)], "{url}");
        assert!(mapping.unusable[0].why.contains("not opened"), "{url}: {mapping:?}");
    }
    let world = World::new(&[APP]).with("secret.map", &map("")).with("maps/x", "");
    std::os::unix::fs::symlink("../secret.map", world.0.path("").join("maps/app.js.map"))
        .expect("a link");
    let (rows, mapping) = world.read_rows(&["maps"]);
    assert_eq!(rows, [row("m", APP.1, 0)]);
    assert!(mapping.unusable[0].why.contains("leads out of the folder"), "{mapping:?}");
    // Links to folders are not followed.
    let world = World::new(&[APP]).with("out/app.js.map", &map("")).with("maps/x", "");
    std::os::unix::fs::symlink("../out", world.0.path("").join("maps/js")).expect("a link");
    assert_eq!(world.read_rows(&["maps"]).0, [row("m", APP.1, 0)]);
}

#[test]
fn unusable_maps_are_reported_and_names_kept() {
    let huge = map(&format!(r#","x":"{}""#, " ".repeat(17 << 20)));
    for (text, expected) in [
        ("", "no JSON at offset 0"),
        ("[]", "expected an object"),
        ("{\"version\":2,\"mappings\":\"\",\"sources\":[]}", "version 3"),
        ("{\"version\":3,\"sources\":[]}", "mappings or sources are missing"),
        ("{\"version\":3,\"mappings\":\"AA!A\",\"sources\":[]}", "broken at their byte 2"),
        ("{\"version\":3,\"mappings\":\"AAAA", "no JSON at offset"),
        ("{\"version\":3,\"sections\":[{\"map\":{}}]}", "no offset"),
        (r#"{"version":3,"sources":[],"mappings":"AAKSA"}"#, "sources that it does not list"),
        (r#"{"version":3,"sources":[null],"mappings":"AAKSA"}"#, "sources that it does not list"),
        (&huge, "larger than the 16 MiB"),
    ] {
        let world = World::new(&[APP]).with("maps/app.js.map", text);
        let (rows, mapping) = world.read_rows(&["maps"]);
        assert_eq!(rows, [row("m", APP.1, 0)], "{expected}");
        assert!(mapping.unusable[0].why.contains(expected), "{expected}: {mapping:?}");
    }
}

#[test]
fn sections_and_ignore_lists_are_applied() {
    let part = |line: u32, more: &str| {
        format!(
            r#"{{"offset":{{"line":{line},"column":0}},"map":{}}}"#,
            map(more).replace("a.ts", &format!("{line}.ts"))
        )
    };
    let sections = format!(
        r#"{{"version":3,"sections":[{},{}]}}"#,
        part(0, ""),
        part(3, r#","ignoreList":[0]"#)
    );
    let url = "https://a.test/js/app.js";
    let world = World::new(&[("m", url, 0, 1), ("n", url, 3, 1), ("o", url, 5, 0)])
        .with("maps/app.js.map", &sections);
    let (rows_of, _) = world.read_rows(&["maps"]);
    let expected = [
        row("o", url, 5),
        row("work", "https://a.test/src/0.ts", 5),
        row("work", "https://a.test/src/3.ts", 5),
    ];
    assert_eq!(rows_of, expected);
    let trace = read(world.0.path("").join("t.cpuprofile"), vec![world.0.path("").join("maps")]);
    let groups: Vec<String> = rows(&trace, GroupBy::Package)
        .into_iter()
        .filter(|row| row.is_group)
        .filter_map(|row| row.label)
        .collect();
    assert!(groups.contains(&"[library]".to_owned()), "{groups:?}");
}

/// Returns a trace with a profile of `https://a.test/js/app.js`, and maps in its metadata.
fn with_maps(maps: &str) -> String {
    let node = r#"{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},{"parent":1,"callFrame":{"functionName":"m","scriptId":7,"url":"https://a.test/js/app.js","lineNumber":0,"columnNumber":1},"id":2}"#;
    format!(
        r#"{{"metadata":{{"sourceMaps":[{maps}]}},"traceEvents":[
{{"ph":"P","name":"Profile","cat":"v8","pid":1,"tid":1,"ts":1,"id":"0x1","args":{{"data":{{"startTime":1}}}}}},
{{"ph":"P","name":"ProfileChunk","cat":"v8","pid":1,"tid":1,"ts":2,"id":"0x1","args":{{"data":{{"cpuProfile":{{"nodes":[{node}],"samples":[2,2]}},"timeDeltas":[100,900]}}}}}},
{{"ph":"X","name":"RunTask","cat":"c","pid":1,"tid":1,"ts":1,"dur":5000}}]}}"#
    )
}

#[test]
fn maps_in_trace_metadata_are_applied() {
    let whole = format!(r#"{{"url":"https://a.test/js/app.js","sourceMap":{}}}"#, map(""));
    let other = whole.replace("app.js", "other.js");
    let broken = whole.replace("AAKSA", "!");
    for (metadata, expected) in [(&whole, "work"), (&other, "m"), (&broken, "m")] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.json");
        std::fs::write(&path, with_maps(metadata)).expect("a file");
        let read = read(path.clone(), Vec::new());
        let labels: Vec<_> =
            rows(&read, GroupBy::None).into_iter().filter_map(|row| row.label).collect();
        assert!(labels.contains(&expected.to_owned()), "{expected}: {labels:?}");
        assert_eq!(read.mapped.unusable.len(), usize::from(metadata == &broken));
        let config = Config::new(2, 64 << 20, std::env::temp_dir());
        let none = SourceMaps { paths: Vec::new(), of_traces: false };
        let plain = Trace::read_mapped(&[Source::Path(path)], ReadRules::default(), &none, &config);
        assert_eq!(plain.expect("a trace").mapped.scripts, 0);
    }
}

/// Maps in a trace are in memory while it is read, and count against its limit together.
#[test]
fn maps_in_a_trace_count_against_the_memory_budget() {
    let large = map(&format!(r#","x":"{}""#, " ".repeat(7 << 20)));
    let one = format!(r#"{{"url":"https://a.test/js/app.js","sourceMap":{large}}}"#);
    let folder = tempfile::tempdir().expect("a folder");
    let read = |maps: &str, memory: u64| {
        let path = folder.path().join("t.json");
        std::fs::write(&path, with_maps(maps)).expect("a file");
        let config = Config::new(2, memory, std::env::temp_dir());
        Trace::read_mapped(
            &[Source::Path(path)],
            ReadRules::default(),
            &SourceMaps::default(),
            &config,
        )
    };
    assert_eq!(read(&one, 32 << 20).expect("room").mapped.named, 1);
    let two = [&*one, &one.replace("app.js", "other.js")].join(",");
    let error = read(&two, 32 << 20).err().expect("more than a quarter").to_string();
    assert!(error.contains("metadata with source maps, take 14 MiB"), "{error}");
    assert_eq!(read(&two, 64 << 20).expect("room").mapped.named, 1);
}

/// Damaged maps give other names or none, and every function keeps its row.
#[test]
fn damaged_maps_are_used_or_reported() {
    let maps: Vec<Vec<u8>> = ["esbuild/app.js.map", "swc/lib/hot.js.map"]
        .into_iter()
        .map(|path| std::fs::read(testdata().join(path)).expect("a map"))
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let profile = testdata().join("esbuild.cpuprofile");
    let expected = rows(&read(profile.clone(), Vec::new()), GroupBy::None).len();
    let (mut used, mut refused) = (0, 0);
    for seed in seeds(0, 300) {
        let mut rng = Rng::new(seed);
        let (a, b) = if rng.chance(50) { (0, 1) } else { (1, 0) };
        let changed = mutated(&mut rng, &maps[a], &maps[b]);
        std::fs::write(folder.path().join("app.js.map"), changed).expect("a file");
        let trace = read(profile.clone(), vec![folder.path().to_owned()]);
        assert_eq!(rows(&trace, GroupBy::None).len(), expected, "seed {seed}");
        used += trace.mapped.scripts;
        refused += trace.mapped.unusable.len();
    }
    assert!(used > 20 && refused > 20, "{used} used, {refused} refused");
}
