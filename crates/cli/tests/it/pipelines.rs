//! Chains verbs and compression: each verb reads the output of every other verb.

use crate::support::{Folder, binary, event, times};
use std::process::Command;

/// Runs a shell line with the command as `$0`; it must succeed.
#[track_caller]
fn shell(folder: &Folder, line: &str) -> String {
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path("")).args(["-c", &format!("set -e; {line}")]).arg(binary());
    let output = shell.output().expect("a shell");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}: {stderr}");
    stderr
}

/// Returns unsorted slices of four threads with names, a CPU profile and an open B.
fn example() -> String {
    let mut events = vec![
        r#"{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"main"}}"#.to_owned(),
        r#"{"name":"open","ph":"B","ts":3,"pid":1,"tid":2,"cat":"a"}"#.to_owned(),
        r#"{"name":"Profile","ph":"P","ts":6,"pid":1,"tid":2,"id":"0x1","cat":"p","args":{"data":{"startTime":6}}}"#.to_owned(),
        r#"{"name":"ProfileChunk","ph":"P","ts":7,"pid":1,"tid":3,"id":"0x1","cat":"p","args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":0,"codeType":"other"}}],"samples":[1,1]},"timeDeltas":[0,9]}}}"#.to_owned(),
    ];
    for ts in (0..400).rev() {
        let tid = ts % 4 + 2;
        events.push(format!(
            r#"{{"name":"e","ph":"X","ts":{ts},"dur":1,"pid":1,"tid":{tid},"cat":"b"}}"#
        ));
    }
    events.push(r#"{"name":"open","ph":"E","ts":390,"pid":1,"tid":2,"cat":"a"}"#.to_owned());
    format!("{{\"traceEvents\":[\n{}\n],\"k\":1}}", events.join(",\n"))
}

#[test]
fn pipes_and_files_give_the_same_result() {
    let folder = Folder::new().with("a.json", example()).with("x.json", format!("[{}]", event(1)));
    shell(
        &folder,
        "cat a.json | \"$0\" filter --tid 2-4 --drop gpu - | \"$0\" slice --from @50 --to @350 \
         | \"$0\" convert --format ndjson | \"$0\" merge - x.json --pid keep --format object | \"$0\" split - --by tid -d piped",
    );
    shell(
        &folder,
        "\"$0\" filter --tid 2-4 --drop gpu a.json -o 1.json; \"$0\" slice --from @50 --to @350 1.json -o 2.json; \
         \"$0\" convert --format ndjson 2.json -o 3.json; \"$0\" merge 3.json x.json --pid keep --format object -o 4.json; \
         \"$0\" split 4.json --by tid -d filed",
    );
    let parts = |dir: &str| -> Vec<(String, String)> {
        let entries = std::fs::read_dir(folder.path(dir)).expect("parts");
        let mut parts: Vec<_> = entries
            .map(|entry| entry.expect("an entry").path())
            .map(|path| {
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                let name = name.split_once('.').expect("a stem").1.to_owned();
                (name, std::fs::read_to_string(path).expect("a part"))
            })
            .collect();
        parts.sort();
        parts
    };
    let piped = parts("piped");
    assert_eq!(piped, parts("filed"));
    let names: Vec<&str> = piped.iter().map(|part| part.0.as_str()).collect();
    assert_eq!(names, ["1.2.json", "1.3.json", "1.4.json"]);
    assert_eq!(piped[2].1.matches("\"ts\":").count(), 75);
}

/// Every verb with flags, writing to standard output.
const VERBS: [&str; 16] = [
    "merge",
    "filter --tid 2,3 --min-dur 1",
    "slice --from @100 --to @300",
    "convert --format ndjson",
    "convert --style compact",
    "info --markdown",
    "check",
    "profile list",
    "split --by tid --dry-run --manifest -",
    "top --json",
    "tree --csv --all-events",
    "tree --format folded",
    "flame --format svg --order time",
    "flame --peek e --color always",
    "calls",
    "calls --rows",
];

#[test]
fn every_verb_reads_compressed_inputs() {
    let folder = Folder::new().with("a.json", example());
    shell(&folder, "\"$0\" convert a.json --style keep -z zst > a.zst");
    shell(&folder, "\"$0\" convert a.json --style keep > plain.json");
    // gzip members that end inside an event
    shell(
        &folder,
        "{ head -c 5000 plain.json | gzip; tail -c +5001 plain.json | gzip -1; gzip < /dev/null; } > a.gz",
    );
    for verb in VERBS {
        let of = |input: &str| {
            let run = folder.run(&format!("{verb} {input}"));
            let out = [", gzip of several members", ", gzip", ", zstd"]
                .iter()
                .fold(run.stdout.replace(input, "INPUT"), |out, packing| out.replace(packing, ""));
            // DevTools reads neither zstd nor gzip of several members, and tables report that
            (run.code, out.replace("[\n    \"packing\"\n  ]", "[]"))
        };
        let plain = of("plain.json");
        for packed in ["a.gz", "a.zst"] {
            let (code, out) = of(packed);
            assert_eq!(code, plain.0, "{verb} {packed}");
            let stem = |text: &str| text.replace("plain.", "a.");
            assert_eq!(stem(&out), stem(&plain.1), "{verb} {packed}");
        }
        let piped =
            folder.pipe(&format!("{verb} -"), std::fs::read(folder.path("a.gz")).expect("it"));
        assert_eq!(piped.code, plain.0, "{verb} -");
    }
}

#[test]
fn every_trace_verb_compresses_its_output() {
    let folder = Folder::new().with("a.json", example());
    for verb in &VERBS[..5] {
        let plain = folder.run(&format!("{verb} a.json")).ends(0).stdout;
        for (packing, unpack) in [("gz", "gzip -dc"), ("zst", "\"$0\" convert")] {
            shell(&folder, &format!("\"$0\" {verb} a.json -o out.{packing} -f"));
            shell(&folder, &format!("\"$0\" {verb} a.json -z {packing} > piped.{packing}"));
            assert_eq!(
                std::fs::read(folder.path(&format!("out.{packing}"))).expect("an output"),
                std::fs::read(folder.path(&format!("piped.{packing}"))).expect("an output"),
                "{verb} {packing}"
            );
            shell(&folder, &format!("{unpack} out.{packing} > unpacked"));
            if packing == "gz" || !verb.contains("compact") {
                assert_eq!(folder.read("unpacked"), plain, "{verb} {packing}");
            }
        }
    }
    for packing in ["gz", "zst"] {
        shell(&folder, &format!("\"$0\" split --by tid a.json -d {packing} -z {packing}"));
        shell(&folder, &format!("\"$0\" merge {packing}/* -o all.json -f"));
        assert_eq!(folder.read("all.json").matches("\"ts\":").count(), 404, "{packing}");
    }
}

/// Verbs that need the whole input keep a pipe in memory within the budget, and on disk beyond it.
#[test]
fn spooled_bytes_are_reported() {
    let events: Vec<String> = (0..420_000).map(event).collect();
    let input = format!("[{}]", events.join(",\n"));
    assert!(input.len() > 26 << 20, "{}", input.len());
    let folder = Folder::new();
    for verb in ["merge", "filter --tid 2", "slice --head 1ms", "convert --format ndjson"] {
        let run = folder.pipe(&format!("{verb} -m 32M -v -T ."), input.as_str()).ends(0);
        assert!(
            run.stderr.contains(" of pipes and packed inputs went to "),
            "{verb}: {}",
            run.stderr
        );
        let run = folder.pipe(&format!("{verb} -m 256M -v"), input.as_str()).ends(0);
        assert!(!run.stderr.contains(" went to "), "{verb}: {}", run.stderr);
    }
    let run = folder.pipe("split --by tid -m 32M -v -T . -d out", input.as_str()).ends(0);
    assert!(run.stderr.contains(" of pipes and packed inputs went to "), "{}", run.stderr);
    let part = std::fs::read_dir(folder.path("out")).expect("parts").next().expect("one");
    let text = std::fs::read_to_string(part.expect("an entry").path()).expect("a part");
    assert_eq!(times(&text).len(), 420_000);
    for verb in ["info", "check"] {
        let run = folder.pipe(&format!("{verb} -m 32M -v"), input.as_str()).ends(0);
        assert!(!run.stderr.contains(" went to "), "{verb}: {}", run.stderr);
    }
}
