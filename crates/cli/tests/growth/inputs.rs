//! Generators of inputs that grow in one dimension, and the verbs to run on them.

use super::Row;

/// Joins `n` values with commas.
fn list(n: usize, of: impl Fn(usize) -> String) -> String {
    (0..n).map(of).collect::<Vec<_>>().join(",")
}

fn array(events: &str) -> Vec<String> {
    vec![format!("[{events}]")]
}

fn twice(inputs: Vec<String>) -> Vec<String> {
    [inputs.clone(), inputs].concat()
}

fn slice(pid: usize, tid: usize, ts: usize) -> String {
    format!(
        r#"{{"ph":"X","name":"a","cat":"c","pid":{pid},"tid":{tid},"ts":{ts},"dur":1,"args":{{}}}}"#
    )
}

fn named(ph: char, name: usize, ts: usize) -> String {
    format!(
        r#"{{"ph":"{ph}","name":"n{name}","cat":"c","id":1,"pid":1,"tid":1,"ts":{ts},"args":{{}}}}"#
    )
}

fn one_time(n: usize) -> Vec<String> {
    let event = |i| format!(r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":5,"dur":{}}}"#, i % 977);
    array(&list(n, event))
}

fn open_begins(n: usize) -> Vec<String> {
    array(&list(n, |i| named('B', i, i)))
}

/// B events of different names, ended in the order in which they began.
fn crossing(n: usize) -> Vec<String> {
    array(&list(2 * n, |i| named(['B', 'E'][i / n], i % n, i)))
}

/// X events and pairs with the same start and different ends, nested and overlapping.
fn mixed(n: usize) -> Vec<String> {
    let event = |i: usize| match i / n {
        0 => format!(r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":5,"dur":{}}}"#, i % n + 1),
        1 => named('B', i % n, 5),
        _ => named('E', (i % n).wrapping_mul(7919) % n, 6 + i % n),
    };
    array(&list(3 * n, event))
}

fn asyncs(n: usize) -> Vec<String> {
    array(&list(2 * n, |i| named(['b', 'e'][i / n], i % n, i)))
}

fn pids(n: usize) -> Vec<String> {
    twice(array(&list(n, |i| slice(i, 1, i))))
}

fn tids(n: usize) -> Vec<String> {
    // descending, so that a sorted list would be filled at its front
    twice(array(&list(n, |i| slice(1, n - i, i))))
}

fn ids(n: usize) -> Vec<String> {
    let event = |i| {
        format!(r#"{{"ph":"b","name":"a","cat":"c","id":"{:x}","pid":1,"tid":1,"ts":{i}}}"#, i * 7)
    };
    twice(array(&list(n, event)))
}

fn text_pids(n: usize) -> Vec<String> {
    let event = |i| format!(r#"{{"ph":"X","name":"a","pid":"p{i}","tid":1,"ts":{i},"dur":1}}"#);
    array(&list(n, event))
}

fn names(n: usize) -> Vec<String> {
    array(&list(n, |i| named('X', i, i)))
}

fn keys(n: usize) -> Vec<String> {
    let one = |more: usize| {
        let keys = list(n, |i| format!(r#""k{i}":{}"#, i + more));
        format!(r#"{{"traceEvents":[{}],{keys}}}"#, slice(1, 1, 1))
    };
    vec![one(0), one(1)]
}

fn documents(n: usize) -> Vec<String> {
    vec![(0..n).map(|i| format!("[{}]\n", slice(1, i % 5, i))).collect()]
}

fn keyed_documents(n: usize) -> Vec<String> {
    let document = |i| format!("{{\"traceEvents\":[{}],\"k\":{i}}}\n", slice(1, 1, i));
    vec![(0..n).map(document).collect()]
}

/// Documents with a key and a separate process each.
fn keyed_processes(n: usize) -> Vec<String> {
    let document = |i| format!("{{\"traceEvents\":[{}],\"k\":{i}}}\n", slice(i, 1, i));
    vec![(0..n).map(document).collect()]
}

/// Files with the same pid, which are as many processes, because they come from different runs.
fn files_of_one_pid(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("[{}]", slice(1, i % 5, i))).collect()
}

fn breadcrumbs(n: usize) -> Vec<String> {
    let window = |i| format!(r#"{{"min":{i},"max":{0},"range":{0}}}"#, 2 * n);
    let open: String = (0..n).map(|i| format!(r#"{{"window":{},"child":"#, window(i))).collect();
    let crumbs = format!("{open}null{}", "}".repeat(n));
    vec![format!(
        "{{\"traceEvents\":[{}],\"metadata\":{{\"modifications\":{{\"annotations\":{{}},\
         \"initialBreadcrumb\":{crumbs}}}}}}}",
        slice(1, 1, 1)
    )]
}

fn modified(events: &str, hidden: &str, labels: &str) -> Vec<String> {
    vec![format!(
        "{{\"traceEvents\":[{events}],\"metadata\":{{\"modifications\":{{\
         \"entriesModifications\":{{\"hiddenEntries\":[{hidden}],\"expandableEntries\":[]}},\
         \"annotations\":{{\"entryLabels\":[{labels}],\"labelledTimeRanges\":[],\"linksBetweenEntries\":[]}}}}}}}}"
    )]
}

fn annotations(n: usize) -> Vec<String> {
    let labels = list(n, |i| format!(r#"{{"entry":"r-{i}","label":"l"}}"#));
    modified(&list(n, |i| slice(1, i % 3, i)), "", &labels)
}

fn calls(n: usize) -> Vec<String> {
    let profile = |i| {
        let of = format!(r#""ph":"P","id":"{i}","pid":1,"tid":{i},"ts":{i}"#);
        let nodes = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1]}"#;
        format!(
            r#"{{{of},"name":"Profile","args":{{"data":{{"startTime":1}}}}}},
            {{{of},"name":"ProfileChunk","args":{{"data":{{"cpuProfile":{nodes},"timeDeltas":[1]}}}}}}"#
        )
    };
    modified(&list(n, profile), &list(n, |i| format!(r#""p-1-{i}-0-1""#)), "")
}

/// Consecutive recordings of one process, each with a CPU profile of the same id.
fn sessions(n: usize) -> Vec<String> {
    let session = |i| {
        let of = format!(r#""pid":1,"tid":1,"ts":{}"#, 10 * i);
        let nodes = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1]}"#;
        format!(
            r#"[{{"ph":"M","name":"process_name",{of},"args":{{"name":"node"}}}},
            {{"ph":"P","id":"0x1",{of},"name":"Profile","args":{{"data":{{"startTime":{i}}}}}}},
            {{"ph":"P","id":"0x1",{of},"name":"ProfileChunk","args":{{"data":{{"cpuProfile":{nodes},"timeDeltas":[1]}}}}}}]"#
        )
    };
    (0..n).map(session).collect()
}

/// B and E events of as many threads as output files.
fn halves(n: usize) -> Vec<String> {
    let event = |i| {
        let ph = ['B', 'E'][i / n % 2];
        format!(r#"{{"ph":"{ph}","name":"a","pid":1,"tid":{},"ts":{i}}}"#, i % n)
    };
    array(&list(4 * n, event))
}

/// Threads that exist one after the other.
fn successors(n: usize) -> Vec<String> {
    array(&list(4 * n, |i| slice(1, i / 4, i)))
}

fn frames(n: usize, from: usize) -> String {
    let frame = |i: usize| match i {
        0 => format!(r#""{from}":{{"name":"f","category":"c"}}"#),
        _ => {
            let (id, parent) = (from + i, from + i - 1);
            format!(r#""{id}":{{"name":"f","category":"c","parent":"{parent}"}}"#)
        }
    };
    list(n, frame)
}

/// One chain of stack frames, with events for all of them.
fn chain(n: usize) -> Vec<String> {
    let event = |i| format!(r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{i},"dur":1,"sf":{i}}}"#);
    let events = list(n, event);
    vec![format!(r#"{{"traceEvents":[{events}],"stackFrames":{{{}}}}}"#, frames(n, 0))]
}

fn frames_of_threads(n: usize) -> Vec<String> {
    let event = |i| format!(r#"{{"ph":"X","name":"a","pid":1,"tid":{i},"ts":1,"dur":1,"sf":{i}}}"#);
    let frame = |i| format!(r#""{i}":{{"name":"f","category":"c"}}"#);
    let (events, frames) = (list(n, event), list(n, frame));
    vec![format!(r#"{{"traceEvents":[{events}],"stackFrames":{{{frames}}}}}"#)]
}

fn frames_of_events(n: usize) -> Vec<String> {
    let event = |i| format!(r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{i},"dur":1,"sf":{i}}}"#);
    let frame = |i| format!(r#""{i}":{{"name":"f","category":"c"}}"#);
    let (events, frames) = (list(n, event), list(n, frame));
    vec![format!(r#"{{"traceEvents":[{events}],"stackFrames":{{{frames}}}}}"#)]
}

fn two_chains(n: usize) -> Vec<String> {
    let one = |from| {
        let event = slice(1, 1, 1);
        format!(r#"{{"traceEvents":[{event}],"stackFrames":{{{}}}}}"#, frames(n, from))
    };
    vec![one(0), one(n)]
}

/// An output file, and another that repeats all of its events.
fn copies(n: usize, of: impl Fn(usize) -> String) -> Vec<String> {
    let events = list(n, of);
    let marked = events.replace('}', r#","tracemill.repeated":true}"#);
    vec![format!("[{events}]"), format!("[{marked}]")]
}

fn copies_at_one_time(n: usize) -> Vec<String> {
    copies(n, |i| format!(r#"{{"ph":"B","ts":5,"n":{i}}}"#))
}

fn copies_over_time(n: usize) -> Vec<String> {
    copies(n, |i| format!(r#"{{"ph":"B","ts":{i}}}"#))
}

/// Unknown keys in a CPU profile.
fn profile_keys(n: usize) -> Vec<String> {
    let keys = list(n, |i| format!(r#""k{i}":{i}"#));
    let nodes = r#"[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1],"timeDeltas":[1]"#;
    vec![format!(r#"{{"nodes":{nodes},"startTime":0,"endTime":1,{keys}}}"#)]
}

macro_rules! rows {
    ($($name:literal $n:literal $inputs:ident $($verb:literal)+;)+) => {
        [$(Row { name: $name, n: $n, inputs: $inputs, verb: &[$($verb),+] }),+]
    };
}

pub(super) const ROWS: [Row; 63] = rows! {
    "events at one time" 20_000 one_time "merge";
    "open begins, check" 10_000 open_begins "check";
    "open begins, info" 10_000 open_begins "info" "--full";
    "open begins, slice" 10_000 open_begins "slice" "--from" "3ms" "--to" "4ms";
    "crossing slices, check" 10_000 crossing "check";
    "crossing slices, filter" 10_000 crossing "filter" "--min-dur" "5";
    "names of one async id" 10_000 asyncs "check";
    "pids" 20_000 pids "merge";
    "tids" 8_000 tids "merge";
    "ids" 8_000 ids "merge";
    "ids, check" 8_000 ids "check";
    "names" 10_000 names "info" "--full";
    "top-level keys" 3_000 keys "merge";
    "top-level keys, info" 12_000 keys "info";
    "top-level keys, check" 3_000 keys "check";
    "documents, merge" 8_000 documents "merge";
    "documents, check" 8_000 documents "check";
    "documents with keys" 4_000 keyed_documents "merge";
    "annotations, merge" 4_000 annotations "merge";
    "annotated calls" 1_000 calls "slice" "--from" "0";
    "threads and parts" 1_500 halves "split" "--by" "tid" "--max-size" "4K" "--dry-run" "-d" "parts";
    "threads and stretches" 3_000 successors "split" "--by" "events=40" "--dry-run" "-d" "parts";
    "threads of a process and its parts" 3_000 successors "split" "--by" "pid" "--max-size" "8K" "--dry-run" "-d" "parts";
    "a chain of stack frames" 4_000 chain "split" "--by" "tid" "--dry-run" "-d" "parts";
    "stack frames and parts" 2_000 frames_of_threads "split" "--by" "tid" "--dry-run" "-d" "parts";
    "stack frames, parts of a size" 4_000 frames_of_events "split" "--by" "size=8K" "--dry-run" "-d" "parts";
    "documents with keys, split" 16_000 keyed_processes "split" "--by" "pid" "--dry-run" "-d" "parts";
    "documents with keys, split for DevTools" 400 keyed_processes "split" "--by" "events=50" "--for" "devtools" "-f" "-d" "parts";
    "files of one pid, split" 400 files_of_one_pid "split" "--by" "pid" "--dry-run" "-d" "parts";
    "files of one pid, split for DevTools" 100 files_of_one_pid "split" "--by" "tid" "--for" "devtools" "-f" "-d" "parts";
    "breadcrumbs, merge" 20_000 breadcrumbs "merge";
    "breadcrumbs, window of the panel" 5_000 breadcrumbs "tree" "--window" "panel";
    "stack frames of two inputs" 4_000 two_chains "merge";
    "copies at one time" 2_000 copies_at_one_time "merge";
    "sessions of one program" 3_000 sessions "merge";
    "unknown keys of a CPU profile" 3_000 profile_keys "profile" "list";
    "unknown keys of a CPU profile, merge" 3_000 profile_keys "merge";
    "events at one time, tree" 20_000 one_time "tree" "--bottom-up";
    "open begins, top" 10_000 open_begins "top";
    "crossing slices, tree" 10_000 crossing "tree";
    "pids, top" 20_000 pids "top";
    "tids, tree" 8_000 tids "tree";
    "names, tree" 10_000 names "tree" "--json";
    "stacks, tree" 10_000 stack "tree" "--json";
    "stacks, nodes with their children" 10_000 stack "tree" "--json=nested";
    "stacks, diff" 10_000 two_stacks "diff";
    "traces of clang, report" 400 builds "report" "--as" "clang";
    "threads with CPU profiles, calls" 1_000 calls "calls" "--rows";
    "open begins, Perfetto" 10_000 open_begins "convert" "--format" "perfetto";
    "crossing slices, Perfetto" 10_000 crossing "convert" "--format" "perfetto";
    "crossing slices, merge for Perfetto" 10_000 crossing "merge" "--for" "perfetto";
    "slices in slices, merge for Perfetto" 10_000 mixed "merge" "--for" "perfetto";
    "names of one async id, Perfetto" 10_000 asyncs "convert" "--format" "perfetto";
    "ids, Perfetto" 8_000 ids "convert" "--format" "perfetto";
    "pids that are texts, Perfetto" 10_000 text_pids "convert" "--format" "perfetto";
    "events at one time, index" 20_000 one_time "index" "-f";
    "open begins, index" 10_000 open_begins "index" "-f";
    "crossing slices, index" 10_000 crossing "index" "-f";
    "names of one async id, index" 10_000 asyncs "index" "-f";
    "tids, index" 40_000 tids "index" "-f";
    "ids, index" 8_000 ids "index" "-f";
    "documents with keys, index" 4_000 keyed_documents "index" "-f";
    "threads with CPU profiles, index" 1_000 calls "index" "-f";
};

/// Nested slices.
fn stack(n: usize) -> Vec<String> {
    let event = |i| {
        let dur = 2 * (n - i);
        format!(r#"{{"ph":"X","name":"a{i}","cat":"c","pid":1,"tid":1,"ts":{i},"dur":{dur}}}"#)
    };
    array(&list(n, event))
}

fn two_stacks(n: usize) -> Vec<String> {
    twice(stack(n))
}

/// Output of clang for many runs: some headers and templates are shared, one of each is unique.
fn builds(n: usize) -> Vec<String> {
    let part = |run: usize, name: &str, detail: &str, (ts, dur): (usize, usize)| {
        let tid = run + 1;
        format!(
            r#"{{"ph":"X","name":"{name}","pid":{tid},"tid":{tid},"ts":{ts},"dur":{dur},"args":{{"detail":"{detail}"}}}}"#
        )
    };
    let trace = |run: usize| {
        let (header, template) = (format!("h{run}.h"), format!("v<a{run}>"));
        let all = [
            part(run, "Source", "all.h", (10, 20)),
            part(run, "Source", &header, (40, 20)),
            part(run, "InstantiateClass", "v<int>", (70, 5)),
            part(run, "InstantiateClass", &template, (80, 5)),
            part(run, "Frontend", "", (5, 100)),
            part(run, "OptFunction", "f", (120, 10)),
            part(run, "Backend", "", (110, 50)),
            part(run, "ExecuteCompiler", "", (1, 200)),
        ];
        format!(r#"{{"traceEvents":[{}],"beginningOfTime":1}}"#, all.join(","))
    };
    (0..n).map(trace).collect()
}

fn slices(n: usize) -> Vec<String> {
    array(&list(n, |i| slice(1, 1 + i % 2, i)))
}

/// Slices with few names, each in a separate row of a call tree.
fn paths(n: usize) -> Vec<String> {
    let event = |i: usize| {
        let slice = |name: String, dur: usize| {
            let ts = 2 * i;
            format!(
                r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#
            )
        };
        let mut slices = vec![slice(format!("c{}", i % 64), 1 + i % 2)];
        if i.is_multiple_of(64) {
            slices.insert(0, slice(format!("b{}", i / 64 % 64), 128));
        }
        if i.is_multiple_of(4096) {
            slices.insert(0, slice(format!("a{}", i / 4096), 8192));
        }
        slices.join(",")
    };
    array(&list(n, event))
}

fn two_paths(n: usize) -> Vec<String> {
    twice(paths(n))
}

/// Alternating B and E events.
fn alternating(n: usize) -> Vec<String> {
    array(&list(2 * n, |i| named(['B', 'E'][i % 2], 1, i)))
}

/// A page thread with function calls and CPU samples.
fn sampled(n: usize) -> Vec<String> {
    let call = |i: usize| {
        let (ts, dur) = (1_000 + 100 * i, 90);
        format!(
            r#"{{"ph":"X","name":"FunctionCall","cat":"devtools.timeline","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{}}}}"#
        )
    };
    let of = r#""ph":"P","id":"0x1","pid":1,"tid":1,"ts":1000"#;
    let nodes = [frame(1, "(root)"), child(2, 1), child(3, 2), child(4, 2)].join(",");
    let chunk = |i: usize| {
        let nodes = if i == 0 { format!(r#""nodes":[{nodes}],"#) } else { String::new() };
        let samples = list(100, |sample| (1 + (sample + i) % 4).to_string());
        let deltas = list(100, |_| "10".to_owned());
        format!(
            r#"{{{of},"name":"ProfileChunk","args":{{"data":{{"cpuProfile":{{{nodes}"samples":[{samples}]}},"timeDeltas":[{deltas}]}}}}}}"#
        )
    };
    let head = format!(r#"{{{of},"name":"Profile","args":{{"data":{{"startTime":1}}}}}}"#);
    array(&[head, list(n, call), list(n / 10, chunk)].join(","))
}

fn child(id: usize, parent: usize) -> String {
    format!(
        r#"{{"id":{id},"parent":{parent},"callFrame":{{"functionName":"f{id}","scriptId":{id},"url":"u","lineNumber":{id}}}}}"#
    )
}

fn empty_documents(n: usize) -> Vec<String> {
    vec!["[]".repeat(n)]
}

fn equal_lines(n: usize) -> Vec<String> {
    let first = format!(r#"{{"traceEvents":[{}],"a":1}}"#, slice(1, 1, 1));
    vec![format!("{first}\n{}", "{\"a\":1}\n".repeat(n))]
}

/// Documents with a key that the first one lacks.
fn other_lines(n: usize) -> Vec<String> {
    vec![format!("[{}]\n{}", slice(1, 1, 1), "{\"a\":1}\n".repeat(n))]
}

fn short_documents(n: usize) -> Vec<String> {
    vec!["[{}]".repeat(n)]
}

fn open_flows(n: usize) -> Vec<String> {
    let event =
        |i| format!(r#"{{"ph":"s","name":"f","cat":"c","id":{i},"pid":1,"tid":1,"ts":{i}}}"#);
    array(&list(n, event))
}

fn long_profile(n: usize) -> Vec<String> {
    let (nodes, samples) = ([frame(1, "(root)"), child(2, 1)].join(","), list(n, |_| "2".into()));
    let deltas = list(n, |i| (9 + i % 3).to_string());
    vec![format!(
        r#"{{"nodes":[{nodes}],"startTime":1,"endTime":9,"samples":[{samples}],"timeDeltas":[{deltas}]}}"#
    )]
}

fn frame(id: usize, name: &str) -> String {
    format!(r#"{{"id":{id},"callFrame":{{"functionName":"{name}","scriptId":{id}}}}}"#)
}

fn counters(n: usize) -> Vec<String> {
    let event = |i| format!(r#"{{"ph":"C","name":"c{i}","pid":1,"ts":{i},"args":{{"v":{i}}}}}"#);
    array(&list(n, event))
}

pub(super) const LARGE: [Row; 28] = rows! {
    "empty documents, merge" 4_000_000 empty_documents "merge";
    "empty documents, check" 4_000_000 empty_documents "check";
    "empty documents, info" 4_000_000 empty_documents "info";
    "equal lines, merge" 1_000_000 equal_lines "merge";
    "equal lines, check" 1_000_000 equal_lines "check";
    "equal lines, convert" 1_000_000 equal_lines "convert";
    "other lines, merge" 1_000_000 other_lines "merge";
    "short documents, merge" 1_000_000 short_documents "merge";
    "stack frames of two inputs" 480_000 two_chains "merge";
    "copies" 600_000 copies_over_time "merge";
    "slices, tree" 1_500_000 slices "tree" "--bottom-up";
    "paths, tree" 400_000 paths "tree" "--csv";
    "paths, tree of all" 400_000 two_paths "tree" "--json" "--per" "all";
    "paths, folded stacks" 400_000 paths "convert" "--format" "folded";
    "paths, pprof" 400_000 paths "tree" "--format" "pprof";
    "paths, flame" 400_000 paths "flame" "--format" "svg";
    "paths, flame by time" 400_000 paths "flame" "--format" "svg" "--order" "time";
    "paths, diff" 400_000 two_paths "diff";
    "begins and ends, top" 600_000 alternating "top";
    "samples of a long profile, info" 5_000_000 long_profile "info";
    "samples of a long profile, tree" 5_000_000 long_profile "tree";
    "counters, index" 600_000 counters "index" "-f";
    "sampled calls, tree" 400_000 sampled "tree";
    "sampled calls, calls" 400_000 sampled "calls";
    "slices, index" 1_500_000 slices "index" "-f";
    "begins and ends, index" 600_000 alternating "index" "-f";
    "open flows, index" 600_000 open_flows "index" "-f";
    "open flows, slice" 600_000 open_flows "slice" "--from" "100ms" "--to" "500ms" "--edges" "keep";
};

/// One thread in each of many processes.
fn processes_once(n: usize) -> Vec<String> {
    array(&list(n, |i| slice(i, 1, i)))
}

/// Nested slices with one name.
fn nested(n: usize) -> Vec<String> {
    let event = |i| {
        let dur = 2 * (n - i);
        format!(r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{i},"dur":{dur}}}"#)
    };
    array(&list(n, event))
}

/// Slices below as many B events as a part repeats.
fn below_begins(n: usize) -> Vec<String> {
    array(&[list(1024, |i| named('B', 0, i)), list(n, |i| slice(1, 1, 2000 + i))].join(","))
}

fn keys_of_args(n: usize) -> Vec<String> {
    let keys = list(n, |i| format!(r#""k{i}":1"#));
    array(&format!(r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{{{keys}}}}}"#))
}

fn long_name(n: usize) -> Vec<String> {
    array(&format!(r#"{{"ph":"X","name":"{}","pid":1,"tid":1,"ts":1,"dur":1}}"#, "n".repeat(n)))
}

fn keys_beside(n: usize) -> Vec<String> {
    keys(n)[..1].to_vec()
}

/// Data that cannot spill to disk, far beyond the smallest budget.
pub(super) const COUNTED: [Row; 38] = rows! {
    "open begins, check" 1_000_000 open_begins "check";
    "open begins, info" 1_000_000 open_begins "info" "--full";
    "open begins, filter" 1_000_000 open_begins "filter" "--min-dur" "1";
    "open begins, slice" 1_000_000 open_begins "slice" "--from" "1s";
    "open begins, slice of whole pairs" 1_000_000 open_begins "slice" "--from" "1s" "--edges" "keep";
    "open begins, merge for DevTools" 1_000_000 open_begins "merge" "--for" "devtools";
    "crossing slices, merge for Perfetto" 1_000_000 crossing "merge" "--for" "perfetto";
    "open begins, index" 1_000_000 open_begins "index";
    "open begins, tree" 1_000_000 open_begins "tree";
    "open begins, Perfetto" 1_000_000 open_begins "convert" "--format" "perfetto";
    "operations that never end, Perfetto" 400_000 open_operations "convert" "--format" "perfetto";
    "events in each other, report" 1_000_000 nested "report";
    "begins that parts repeat" 600_000 below_begins "split" "--by" "events=25" "--dry-run" "-d" "parts";
    "keys of one event, info" 1_000_000 keys_of_args "info" "--full";
    "a long name, info" 40_000_000 long_name "info";
    "a long name, slice" 40_000_000 long_name "slice" "--from" "0";
    "a long text, Perfetto" 40_000_000 long_text "convert" "--format" "perfetto";
    "keys beside events, info" 1_000_000 keys_beside "info";
    "open asyncs, check" 1_000_000 open_asyncs "check";
    "pids, check" 400_000 processes_once "check";
    "pids, filter" 1_600_000 processes_once "filter" "--tid" "1";
    "pids, merge" 400_000 pids "merge";
    "pids, merge for Perfetto" 100_000 processes_once "merge" "--for" "perfetto";
    "pids, merge for DevTools" 100_000 processes_once "merge" "--for" "devtools";
    "pids, info" 400_000 processes_once "info";
    "pids, split" 400_000 processes_once "split" "--by" "pid" "--dry-run" "-d" "parts";
    "pids, index" 400_000 processes_once "index" "-f";
    "names of threads, info" 400_000 thread_names "info";
    "names of threads, filter" 400_000 thread_names "filter" "--thread" "1";
    "names of threads, split" 400_000 thread_names "split" "--by" "tid" "--dry-run" "-d" "parts";
    "CPU profiles, list" 200_000 profiles "profile" "list";
    "CPU profiles, merge for DevTools" 200_000 profiles "merge" "--for" "devtools";
    "CPU profiles, check" 200_000 profiles "check";
    "documents that differ, merge" 400_000 keyed_documents "merge";
    "documents that differ, convert" 400_000 keyed_documents "convert";
    "documents that differ, check" 400_000 keyed_documents "check";
    "annotations, merge" 200_000 annotations "merge";
    "annotations, slice" 200_000 annotations "slice" "--from" "1ms";
};

fn thread_names(n: usize) -> Vec<String> {
    let event = |i| {
        format!(
            r#"{{"ph":"M","name":"thread_name","pid":1,"tid":{i},"ts":0,"args":{{"name":"thread {i}"}}}}"#
        )
    };
    array(&list(n, event))
}

/// CPU profiles of one chunk each.
fn profiles(n: usize) -> Vec<String> {
    let event = |i| {
        let nodes = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1]}"#;
        format!(
            r#"{{"ph":"P","name":"ProfileChunk","id":"{i}","pid":1,"tid":1,"ts":{i},"args":{{"data":{{"cpuProfile":{nodes},"timeDeltas":[1]}}}}}}"#
        )
    };
    array(&list(n, event))
}

fn long_text(n: usize) -> Vec<String> {
    let text = "t".repeat(n);
    let event = r#""ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1"#;
    array(&format!(r#"{{{event},"args":{{"text":"{text}"}}}}"#))
}

/// B events of different ids without an end.
fn open_operations(n: usize) -> Vec<String> {
    let event =
        |i| format!(r#"{{"ph":"b","name":"o","cat":"c","id":{i},"pid":1,"tid":1,"ts":{i}}}"#);
    array(&list(n, event))
}

/// B events of one id without an end.
fn open_asyncs(n: usize) -> Vec<String> {
    array(&list(n, |i| named('b', i, i)))
}
