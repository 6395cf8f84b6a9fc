//! Verbs that keep the input order write while they read, and end when writing fails.

use crate::support::{Folder, binary, event};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Time limit, generous for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn start(words: &str, stdout: Stdio) -> (Child, ChildStdin) {
    let mut command = Command::new(binary());
    command.args(words.split_whitespace()).stdin(Stdio::piped()).stdout(stdout);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it runs");
    let stdin = child.stdin.take().expect("it is piped");
    (child, stdin)
}

/// Runs a verb on `parts`, writing each once the events of the part before are output; returns the
/// whole output.
#[track_caller]
fn step_by_step(words: &str, parts: &[String]) -> String {
    let (mut child, mut stdin) = start(words, Stdio::piped());
    let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let (sender, heard) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let (mut all, mut events, mut line) = (String::new(), 0, String::new());
        while stdout.read_line(&mut line).expect("text") > 0 {
            events += line.matches("\"ts\":").count();
            all.push_str(&line);
            line.clear();
            // the receiver is gone at the end
            let _ = sender.send(events);
        }
        all
    });
    let mut events = 0;
    for part in parts {
        stdin.write_all(part.as_bytes()).expect("it reads");
        // the last line is written with the next one, and the last 63 bytes are scanned with the
        // bytes after them
        events += part.matches("\"ts\":").count();
        while events > 0
            && heard.recv_timeout(PATIENCE).expect("a line before the end") + 2 < events
        {}
    }
    drop(stdin);
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{words}");
    reader.join().expect("all was read")
}

fn events(from: u64) -> String {
    [from, from + 1, from + 2].map(event).join(",\n")
}

#[test]
fn lines_arrive_before_the_input_ends() {
    let lines = |from: u64| [from, from + 1, from + 2].map(event).join("\n") + "\n";
    let array =
        vec![format!("[{},", events(1)), format!("{},", events(4)), format!("{}]", events(7))];
    let object = vec![
        format!("{{\"a\":1,\"traceEvents\":[{},", events(1)),
        format!("{},", events(4)),
        format!("{}],\"b\":[2]}}", events(7)),
    ];
    let header = "{\"tracemill\":{\"a\":1}}\n".to_owned();
    let ndjson = vec![header + &lines(1), lines(4), lines(7)];
    let verbs =
        ["convert", "filter", "filter --pid 1", "convert --style compact", "filter --repair"];
    for (parts, formats) in [
        (&array, &["", "--format object", "--format ndjson"][..]),
        (&object, &["", "--format array"]),
        (&ndjson, &["", "--format object", "--format array"]),
    ] {
        let whole = parts.concat();
        let folder = Folder::new().with("in", &whole);
        for format in formats {
            for verb in verbs {
                let status =
                    if *format == "--format array" && !whole.starts_with('[') { 1 } else { 0 };
                for threads in [1, 2] {
                    let words = format!("{verb} {format} -@ {threads}");
                    folder.run(&format!("{words} in -o out -f")).ends(status);
                    if status == 0 {
                        assert_eq!(step_by_step(&words, parts), folder.read("out"), "{words}");
                    }
                }
            }
        }
    }
}

/// Events of a large write are output before more input arrives, even if reads exceed the pipe size
/// or the stream was spooled.
#[test]
fn bursts_arrive_before_the_input_ends() {
    let burst = |from: u64, count: u64| {
        (from..from + count).map(|ts| event(ts) + ",\n").collect::<String>()
    };
    let parts = [
        format!("[{}", burst(0, 3)),
        burst(10_000, 5_000),
        burst(100_000, 150_000),
        burst(1_000_000, 2_000),
        format!("{}]", event(2_000_000)),
    ];
    let folder = Folder::new().with("in", parts.concat());
    for words in ["convert --format ndjson", "filter", "filter --pid 1", "convert --format object"]
    {
        folder.run(&format!("{words} in -o out -f")).ends(0);
        for limits in ["-@ 1", "-@ 2", "-@ 2 -m 32M"] {
            let all = step_by_step(&format!("{words} {limits} -"), &parts);
            assert!(all == folder.read("out"), "{words} {limits}");
        }
    }
}

#[test]
fn held_back_events_keep_their_place() {
    let pair = |ph: &str, ts: u64| event(ts).replace("\"ph\":\"X\"", &format!("\"ph\":\"{ph}\""));
    let mixed = [event(1), event(2), pair("B", 3), event(4), pair("E", 5), event(6)].join(",\n");
    let whole = format!("{{\"traceEvents\":[{mixed},\n{}],\"k\":1}}", events(7));
    let folder = Folder::new().with("in", &whole);
    for words in [
        "filter --name e",
        "filter --name e -v",
        "filter --cat c --format array",
        "convert --format ndjson",
    ] {
        folder.run(&format!("{words} in -o out -f"));
        let piped = folder.pipe(&format!("{words} --read-size 63"), whole.as_bytes());
        assert_eq!(piped.stdout, folder.read("out"), "{words}");
    }
}

/// Writes events until the reader is gone or 256 MiB are written; returns whether the reader is
/// gone.
fn feed(mut stdin: ChildStdin) -> bool {
    let chunk = (0..1000).map(|ts| event(ts) + ",\n").collect::<String>();
    let most = (256 << 20) / chunk.len();
    stdin.write_all(b"{\"traceEvents\":[").is_err()
        || (0..most).any(|_| stdin.write_all(chunk.as_bytes()).is_err())
}

#[test]
fn write_errors_end_a_run_with_endless_input() {
    for verb in ["convert", "filter"] {
        let (child, stdin) = start(&format!("{verb} -o /dev/full"), Stdio::null());
        assert!(feed(stdin), "{verb}: all was read");
        let output = child.wait_with_output().expect("it ends");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{verb}: {words}");
        assert!(words.contains("/dev/full"), "{words}");

        let (mut child, stdin) = start(verb, Stdio::piped());
        let mut first = [0; 1];
        let mut stdout = child.stdout.take().expect("it is piped");
        let feeder = std::thread::spawn(move || feed(stdin));
        stdout.read_exact(&mut first).expect("something is written");
        drop(stdout);
        assert!(feeder.join().expect("it ends"), "{verb}: all was read for nobody");
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{verb}");
    }
}

#[test]
fn late_top_level_keys_are_counted() {
    let folder = Folder::new()
        .with("a", format!("[{}]{{\"traceEvents\":[{}],\"k\":1}}", event(1), event(2)))
        .with("n", format!("{}\n{{\"tracemill\":{{\"k\":1}}}}\n{}\n", event(1), event(2)));
    for input in ["a", "n"] {
        for verb in ["convert", "filter"] {
            let run = folder.run(&format!("{verb} {input}")).ends(1);
            let file = folder.run(&format!("{verb} {input} -o out -f")).ends(1);
            assert_eq!(run.stdout, folder.read("out"), "{verb} {input}");
            assert_eq!(run.stderr, file.stderr, "{verb} {input}");
            assert_eq!(run.stdout.matches("\"ts\":").count(), 2, "{verb} {input}");
            let run = folder.run(&format!("{verb} {input} --format object")).ends(0);
            assert!(run.stdout.contains("\"k\":1"), "{verb} {input}: {}", run.stdout);
        }
    }
}

/// Events of a profile are generated at the end of the input, after the keys of the document next
/// to it.
#[test]
fn profiles_in_pipes_may_follow_other_documents() {
    let text = r#"{"nodes":[{"id":1}],"samples":[1]}{"x":[]}"#;
    let folder = Folder::new();
    for verb in ["convert", "redact", "filter --pid 10000000"] {
        let piped = folder.pipe(&format!("{verb} -"), text).ends(1).stdout;
        assert!(piped.trim_end().ends_with("],\n\"x\":[]}"), "{verb}: {piped}");
    }
}
