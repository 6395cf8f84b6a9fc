//! Standard input and output: closed pipes, full disks, signals.

use crate::support::{Folder, binary, trace};
use rustix::fs::{OFlags, fcntl_setfl};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

#[test]
fn standard_input_is_the_default() {
    let folder = Folder::new();
    for words in ["merge", "merge -", "merge -o -"] {
        assert_eq!(folder.pipe(words, trace([3, 1, 2])).ends(0).quietly().times(), [1, 2, 3]);
    }
    let info = folder.pipe("info", trace([3, 1, 2])).ends(0).stdout;
    assert!(info.starts_with("input      standard input: 3 events"), "{info}");
}

#[test]
fn pipes_and_files_are_merged() {
    let folder = Folder::new().with("a.json", trace([2]));
    assert_eq!(folder.pipe("merge a.json -", trace([3, 1])).ends(0).times(), [1, 2, 3]);
}

/// Runs a shell line with the command as `$0`.
#[track_caller]
fn shell(folder: &Folder, line: &str) -> String {
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path("")).args(["-c", line]).arg(binary());
    let output = shell.output().expect("a shell");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new().with("big.json", trace((0..100_000).rev()));
    let size = folder.read("big.json").len();
    assert!(size > 4 << 20, "more than a pipe holds: {size}");
    for flags in ["", "-@ 1", "-@ 7 --format ndjson", "-z gz --level 0"] {
        let line = format!("{{ \"$0\" merge {flags} big.json; echo $? > status; }} | head -c 1");
        assert_eq!(shell(&folder, &line).trim_matches('{'), "", "{flags}");
        assert_eq!(folder.read("status"), "0\n", "{flags}");
    }
    shell(&folder, "{ \"$0\" info big.json; echo $? > status; } | true");
    assert_eq!(folder.read("status"), "0\n");
}

#[test]
fn a_full_disk_is_an_error() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let folder =
        Folder::new().with("small.json", trace([1])).with("big.json", trace((0..100_000).rev()));
    for words in [
        "merge small.json > /dev/full",
        "merge -@ 1 big.json > /dev/full",
        "merge -@ 7 big.json > /dev/full",
        "merge -z zst big.json > /dev/full",
        "merge big.json -o /dev/full",
        "info small.json > /dev/full",
    ] {
        let stderr = shell(&folder, &format!("\"$0\" {words}; echo $? > status"));
        assert_eq!(folder.read("status"), "4\n", "{words}");
        assert!(stderr.starts_with("tracemill: error: cannot write "), "{words}: {stderr}");
        assert!(stderr.contains("No space left"), "{words}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{words}: {stderr}");
    }
}

/// Starts a merge that has read more than a pipe holds, so that all its threads run, and waits for
/// more.
fn waiting(folder: &Folder, words: &str) -> (Child, std::process::ChildStdin) {
    let mut child = Command::new(binary())
        .current_dir(folder.path(""))
        .args(words.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let events = trace(0..300_000);
    let open = events.trim_end().trim_end_matches("]}");
    stdin.write_all(open.as_bytes()).expect("the command reads");
    (child, stdin)
}

#[test]
fn signals_leave_nothing_behind() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = Folder::new().with("out.json", "precious");
        let (child, stdin) = waiting(&folder, "merge -f -m 32M -T . -o out.json");
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
        let output = child.wait_with_output().expect("the command ends");
        drop(stdin);
        assert_eq!(output.status.code(), Some(code), "{signal}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{signal}");
        assert_eq!(folder.names(), ["out.json"], "{signal}");
        assert_eq!(folder.read("out.json"), "precious", "{signal}");
    }
}

#[test]
fn progress_is_written_on_request() {
    let folder = Folder::new();
    let (child, stdin) = waiting(&folder, "merge --progress always -o out.json");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    drop(stdin);
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("tracemill: reading "), "{stderr}");
}

/// Node creates non-blocking pipes and passes them to children.
#[test]
fn non_blocking_pipes_are_read_completely() {
    let events = trace((0..40_000).rev());
    for words in
        ["merge", "merge -", "slice --from 0", "check", "info", "top", "merge --files-from=-"]
    {
        let folder = Folder::new().with("in.json", &events);
        let given = if words.ends_with("=-") { "in.json" } else { &events };
        let expected = folder.pipe(&format!("{words} -q"), given).stdout;
        let ((input, mut into), (mut from, output)) =
            (std::io::pipe().expect("a pipe"), std::io::pipe().expect("a pipe"));
        fcntl_setfl(&input, OFlags::NONBLOCK).expect("a pipe takes it");
        fcntl_setfl(&output, OFlags::NONBLOCK).expect("a pipe takes it");
        let mut command = Command::new(binary());
        command.current_dir(folder.path("")).args(words.split_whitespace()).arg("-q");
        let mut child = command.stdin(input).stdout(output).spawn().expect("the command starts");
        drop(command);
        let given = given.to_owned();
        let writer = std::thread::spawn(move || {
            for piece in given.as_bytes().chunks(1 + given.len() / 4) {
                std::thread::sleep(std::time::Duration::from_millis(20));
                into.write_all(piece).expect("the command reads");
            }
        });
        std::thread::sleep(std::time::Duration::from_millis(150));
        let mut written = String::new();
        from.read_to_string(&mut written).expect("the command writes text");
        writer.join().expect("all is written");
        let status = child.wait().expect("it ends").code();
        assert!(matches!(status, Some(0 | 1)), "{words}: {status:?}");
        assert!(written == expected, "{words}: {} and {}", written.len(), expected.len());
    }
}
