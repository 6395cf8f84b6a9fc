//! Compares the report on clang builds with a naive implementation of ClangBuildAnalyzer's rules.

use crate::common::files::files;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tracemill_analysis::{Producer, ReadRules, TableRules, ThreadChoice, Trace, Wanted};
use tracemill_join::config::Config;
use tracemill_report::Compiled;
use tracemill_report::Costly;
use tracemill_report::ReportRules;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

/// Count and microseconds by name. Microseconds are whole, so sums are exact.
type Sums = BTreeMap<String, (u64, u64)>;

#[derive(Debug, Default, PartialEq)]
struct Tables {
    runs: u64,
    frontend: u64,
    backend: u64,
    /// Front-end and back-end time of each file.
    sources: Sums,
    templates: Sums,
    template_sets: Sums,
    /// Keys are the name and the file.
    functions: Sums,
    function_sets: Sums,
    headers: Sums,
}

/// Times and include chains of all inclusions of each header, longest first.
type Chains = BTreeMap<String, Vec<(u64, Vec<String>)>>;

struct Part {
    name: String,
    detail: String,
    ts: u64,
    end: u64,
    at: usize,
}

fn parts(events: &[Value]) -> Vec<Part> {
    const KNOWN: [&str; 10] = [
        "ExecuteCompiler",
        "Frontend",
        "Backend",
        "Source",
        "ParseClass",
        "ParseTemplate",
        "InstantiateClass",
        "InstantiateFunction",
        "OptModule",
        "OptFunction",
    ];
    let mut all: Vec<Part> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let name = event["name"].as_str().unwrap_or_default().to_owned();
        let detail = event["args"]["detail"].as_str().unwrap_or_default().to_owned();
        let ts = event["ts"].as_u64().unwrap_or_default();
        match event["ph"].as_str() {
            Some("X") if KNOWN.contains(&&*name) => {
                let end = ts + event["dur"].as_u64().unwrap_or_default();
                all.push(Part { name, detail, ts, end, at });
            }
            // Clang writes the end right after the begin.
            Some("b") => {
                let end = events[at + 1]["ts"].as_u64().expect("an end");
                all.push(Part { name, detail, ts, end, at });
            }
            _ => {}
        }
    }
    all
}

/// Returns the parent of each event: the last one that begins before it and ends no earlier.
fn parents(parts: &[Part]) -> Vec<Option<usize>> {
    let order = |part: &Part| (part.ts, u64::MAX - part.end, usize::MAX - part.at);
    let of = |part: &Part| {
        let around = (0..parts.len())
            .filter(|&at| order(&parts[at]) < order(part) && parts[at].end >= part.end);
        around.max_by_key(|&at| order(&parts[at]))
    };
    parts.iter().map(of).collect()
}

fn is_header(path: &str) -> bool {
    let name = path.rsplit('/').next().expect("a name");
    let Some((_, end)) = name.rsplit_once('.') else { return true };
    matches!(end.chars().next(), Some('h' | 'H' | 'i' | 'I'))
}

/// Replaces template arguments like ClangBuildAnalyzer.
fn collapsed(name: &str) -> String {
    if name.contains("operator") {
        return name.to_owned();
    }
    let (mut short, mut rest) = (String::new(), name);
    while let Some(at) = rest.find('<') {
        short += &rest[..=at];
        short += "$";
        let mut depth = 1;
        let close = rest[at + 1..].find(|c: char| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0
        });
        let Some(close) = close else { return name.to_owned() };
        rest = &rest[at + 1 + close..];
    }
    short + rest
}

fn put(sums: &mut Sums, key: String, dur: u64) {
    let sum = sums.entry(key).or_default();
    *sum = (sum.0 + 1, sum.1 + dur);
}

/// Returns the include chain, outermost first. An included source replaces the compiled file.
fn chain(around: &[&Part], path: String) -> Vec<String> {
    let mut chain: Vec<String> = around.iter().map(|part| part.detail.clone()).collect();
    if chain.iter().all(|file| is_header(file)) {
        chain.push(path);
    }
    chain.reverse();
    chain
}

/// Computes the expected tables; `plain` demangles symbols.
fn reference(inputs: &[PathBuf], plain: impl Fn(&str) -> String) -> (Tables, Chains) {
    let (mut tables, mut chains) = (Tables::default(), Chains::new());
    let mut roots: BTreeSet<String> = BTreeSet::new();
    for input in inputs {
        let text = std::fs::read(input).expect("a file");
        let trace: Value = serde_json::from_slice(&text).expect("JSON");
        let parts = parts(trace["traceEvents"].as_array().expect("events"));
        let parents = parents(&parts);
        let above = |at: usize| std::iter::successors(parents[at], |&number| parents[number]);
        let path = |at: usize| {
            let tells = ["ExecuteCompiler", "Frontend", "Backend", "OptModule"];
            let mut all = std::iter::once(at).chain(above(at));
            let source = all.find(|&number| {
                tells.contains(&&*parts[number].name) && !parts[number].detail.is_empty()
            });
            source.map_or(input.display().to_string(), |number| parts[number].detail.clone())
        };
        for (at, part) in parts.iter().enumerate() {
            let (dur, detail) = (part.end - part.ts, part.detail.clone());
            match &*part.name {
                "ExecuteCompiler" => tables.runs += 1,
                "Frontend" => {
                    tables.frontend += dur;
                    tables.sources.entry(path(at)).or_default().0 += dur;
                }
                "Backend" => {
                    tables.backend += dur;
                    tables.sources.entry(path(at)).or_default().1 += dur;
                }
                "InstantiateClass" | "InstantiateFunction" => {
                    let set = collapsed(&detail);
                    let is_inner = above(at).any(|part| {
                        parts[part].name.starts_with("Instantiate")
                            && collapsed(&parts[part].detail) == set
                    });
                    if !is_inner {
                        put(&mut tables.template_sets, set, dur);
                    }
                    put(&mut tables.templates, detail, dur);
                }
                "OptFunction" => {
                    put(&mut tables.functions, format!("{} {}", plain(&detail), path(at)), dur);
                    let function_sets =
                        tables.function_sets.entry(format!("{} {}", plain(&detail), path(at)));
                    let function_sets = function_sets.or_default();
                    *function_sets = (1, function_sets.1 + dur);
                }
                "Source" if is_header(&detail) => {
                    let around: Vec<&Part> = above(at)
                        .map(|part| &parts[part])
                        .take_while(|part| part.name == "Source")
                        .collect();
                    if !around.iter().any(|part| is_header(&part.detail)) {
                        roots.insert(detail.clone());
                    }
                    let chain = chain(&around, path(at));
                    put(&mut tables.headers, detail.clone(), dur);
                    chains.entry(detail).or_default().push((dur, chain));
                }
                _ => {}
            }
        }
    }
    // By set: each name counts once per file.
    for (key, (_, dur)) in std::mem::take(&mut tables.function_sets) {
        let name = key.rsplit_once(' ').expect("a file").0;
        put(&mut tables.function_sets, collapsed(name), dur);
    }
    tables.headers.retain(|name, _| roots.contains(name));
    chains.values_mut().for_each(|list| list.sort_by(|a, b| b.cmp(a)));
    (tables, chains)
}

fn compiled(inputs: &[PathBuf], rows: usize, memory: u64, threads: usize) -> Compiled {
    let config = Config::new(threads, memory, std::env::temp_dir());
    let rules =
        ReadRules { wanted: Wanted { report: true, ..Wanted::default() }, ..ReadRules::default() };
    let sources: Vec<Source> = inputs.iter().cloned().map(Source::Path).collect();
    let trace = Trace::read(&sources, rules, &config).expect("a trace");
    let rules = ReportRules {
        rows,
        producer: Some(Producer::Clang),
        tables: TableRules::default(),
        window: None,
        devices: Default::default(),
    };
    let threads = trace.choose(&ThreadChoice::default());
    tracemill_report::report(&trace, &threads, &rules)
        .expect("room")
        .compiled
        .expect("clang's tables")
}

fn micros(ms: f64) -> u64 {
    (ms * 1000.0).round() as u64
}

fn tables(compiled: &Compiled) -> Tables {
    let sources = compiled.sources.iter();
    assert!(compiled.sources.is_sorted_by(|a, b| a.parse + a.codegen >= b.parse + b.codegen));
    assert_eq!(compiled.all_sources as usize, compiled.sources.len());
    let sums = |compiled: &[Costly], with_file: bool| -> Sums {
        assert!(compiled.is_sorted_by(|a, b| a.total >= b.total));
        let name = |costly: &Costly| match with_file {
            true => format!("{} {}", costly.name, costly.file),
            false => costly.name.clone(),
        };
        compiled
            .iter()
            .map(|compiled| (name(compiled), (compiled.count, micros(compiled.total))))
            .collect()
    };
    let headers: Vec<Costly> =
        compiled.headers.iter().map(|header| header.costly.clone()).collect();
    assert_eq!(compiled.all_templates as usize, compiled.templates.len());
    assert_eq!(compiled.all_functions as usize, compiled.functions.len());
    Tables {
        runs: compiled.runs,
        frontend: micros(compiled.frontend),
        backend: micros(compiled.backend),
        sources: sources
            .map(|source| (source.file.clone(), (micros(source.parse), micros(source.codegen))))
            .collect(),
        templates: sums(&compiled.templates, false),
        template_sets: sums(&compiled.template_sets, false),
        functions: sums(&compiled.functions, true),
        function_sets: sums(&compiled.function_sets, false),
        headers: sums(&headers, false),
    }
}

#[track_caller]
fn are_equal(inputs: &[PathBuf], plain: impl Fn(&str) -> String) -> Tables {
    const ALL: usize = 1 << 20;
    let build = compiled(inputs, ALL, 256 << 20, 2);
    let (expected, chains) = reference(inputs, plain);
    assert_eq!(tables(&build), expected);
    for header in &build.headers {
        let all = &chains[&header.costly.name];
        assert_eq!(header.chains.len(), all.len().min(5));
        for (chain, longest) in header.chains.iter().zip(all) {
            let found = (micros(chain.total), chain.files.clone());
            // Any of equally long chains may be reported.
            assert_eq!(found.0, longest.0, "{}", header.costly.name);
            assert!(all.contains(&found), "{}: {found:?} in {all:?}", header.costly.name);
        }
    }
    // With few rows, the first of all rows are reported.
    let few = compiled(inputs, 2, 256 << 20, 1);
    let first = |rows: &[Costly]| -> Vec<(String, u64)> {
        rows.iter().take(2).map(|row| (row.name.clone(), micros(row.total))).collect()
    };
    assert_eq!(first(&few.templates), first(&build.templates));
    assert_eq!(first(&few.template_sets), first(&build.template_sets));
    assert_eq!(first(&few.functions), first(&build.functions));
    assert_eq!(first(&few.function_sets), first(&build.function_sets));
    expected
}

/// Writes the events inside a time range, then the event of the range, like clang.
fn write(rng: &mut Rng, (from, to): (u64, u64), depth: u64, events: &mut Vec<Value>) {
    const NAMES: [&str; 10] = [
        "Source",
        "Source",
        "Source",
        "InstantiateClass",
        "InstantiateFunction",
        "ParseClass",
        "OptFunction",
        "OptModule",
        "RunPass",
        "Frontend",
    ];
    let mut at = from;
    while depth > 0 && at < to && rng.chance(85) {
        let begin = at + rng.below(4);
        let end = (begin + rng.below(to - from)).min(to);
        if begin < end {
            write(rng, (begin, end), depth - 1, events);
        }
        at = end.max(at + 1);
    }
    let name = rng.pick(&NAMES);
    let detail = match name {
        "Source" => *rng.pick(&[&"./a.h", &"b/c.hpp", &"x.y/map", &"u.cpp", &"d.inc"]),
        "OptModule" => *rng.pick(&[&"one.cpp", &"two.cpp", &""]),
        "OptFunction" => {
            // The two symbols of a constructor are one function.
            const SYMBOLS: [&str; 7] =
                ["main", "_Z1fv", "f<a>", "f<b<c> >", "x operator<", "_ZN1AC1Ev", "_ZN1AC2Ev"];
            rng.pick(&SYMBOLS)
        }
        _ => *rng.pick(&[&"v<int>", &"v<w<int>>", &"w<int>", &"v<a>::f<b>", &"g", &"bad<"]),
    };
    // Some events end after their parent.
    let to = to + u64::from(rng.chance(10));
    if name == "Source" && rng.chance(50) {
        let same = json!({"pid": 7, "tid": 7, "cat": "Source", "id": 0, "name": "Source"});
        let (mut begin, mut end) = (same.clone(), same);
        (begin["ph"], begin["ts"], begin["args"]) =
            (json!("b"), json!(from), json!({"detail": detail}));
        (end["ph"], end["ts"]) = (json!("e"), json!(to));
        events.extend([begin, end]);
        return;
    }
    let mut event =
        json!({"pid": 7, "tid": 7, "ph": "X", "ts": from, "dur": to - from, "name": name});
    if !detail.is_empty() && name != "Frontend" {
        event["args"] = json!({"detail": detail});
    }
    events.push(event);
}

fn plain(name: &str) -> String {
    match name {
        "_Z1fv" => "f()".to_owned(),
        "_ZN1AC1Ev" | "_ZN1AC2Ev" => "A::A()".to_owned(),
        other => other.to_owned(),
    }
}

#[test]
fn tables_of_random_builds_match_the_reference() {
    let (mut templates, mut headers) = (0, 0);
    for seed in seeds(9_000, 60) {
        let mut rng = Rng::new(seed);
        let folder = tempfile::tempdir().expect("a folder");
        let mut inputs = Vec::new();
        for number in 0..1 + rng.below(3) {
            let mut events = Vec::new();
            write(&mut rng, (10, 400), 5, &mut events);
            events.push(
                json!({"pid": 7, "tid": 7, "ph": "X", "ts": 300, "dur": 200, "name": "Backend"}),
            );
            events.push(json!({"pid": 7, "tid": 7, "ph": "X", "ts": 1, "dur": 600, "name": "ExecuteCompiler"}));
            // A thread of sums, which no table includes.
            events.push(json!({"pid": 7, "tid": 8, "ph": "X", "ts": 0, "dur": 600, "name": "Total ExecuteCompiler", "args": {"count": 1}}));
            // Without `--pid`, inputs with the same process would be merged.
            events.iter_mut().for_each(|event| event["pid"] = json!(7 + number));
            let path = folder.path().join(format!("{number}.json"));
            std::fs::write(&path, json!({"traceEvents": events}).to_string()).expect("room");
            inputs.push(path);
        }
        let found = are_equal(&inputs, plain);
        templates += found.templates.len();
        headers += found.headers.len();
    }
    assert!(templates > 100 && headers > 50, "{templates} {headers}");
}

#[test]
fn tables_of_recorded_builds_match_the_reference() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/clang");
    // As demangled by llvm-cxxfilt.
    let plain = |name: &str| {
        let all = [
            ("_Z5areasd", "areas(double)"),
            ("_Z6powersRK6MatrixIdLi8EEj", "powers(Matrix<double, 8> const&, unsigned int)"),
            ("_Z5powerIiET_6MatrixIS0_Li8EEj", "int power<int>(Matrix<int, 8>, unsigned int)"),
            ("_Z5powerIlET_6MatrixIS0_Li8EEj", "long power<long>(Matrix<long, 8>, unsigned int)"),
        ];
        all.iter().find(|pair| pair.0 == name).map_or(name, |pair| pair.1).to_owned()
    };
    for version in ["14", "19"] {
        let inputs = files(&data.join(version));
        assert!(!inputs.is_empty());
        let found = are_equal(&inputs, plain);
        assert!(
            !found.headers.is_empty() && found.functions.len() > 3 && found.template_sets.len() > 1
        );
    }
}

#[test]
fn tables_of_builds_do_not_depend_on_limits() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/clang/14");
    let inputs = files(&data);
    let expected = format!("{:?}", compiled(&inputs, 5, 256 << 20, 2));
    for (memory, threads) in [(32 << 20, 1), (32 << 20, 3), (64 << 20, 4)] {
        assert_eq!(format!("{:?}", compiled(&inputs, 5, memory, threads)), expected);
    }
}
