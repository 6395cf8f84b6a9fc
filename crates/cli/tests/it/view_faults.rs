//! Faults around `view`: slow or vanished clients, a full disk, a changed file, no browser.

use crate::support::{Folder, testdata};
use crate::view::{get, parts, start};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a trace of this many events; 200,000 take 12 MB.
fn trace(events: u64) -> String {
    let event =
        |at: u64| format!(r#"{{"ph":"X","name":"n","pid":1,"tid":{},"ts":{at},"dur":1}}"#, at % 5);
    format!("[{}]", (0..events).map(event).collect::<Vec<_>>().join(",\n"))
}

/// Serves a trace of the folder, and waits until it is read.
fn served(folder: &Folder, name: &str) -> (Child, String) {
    let (child, address) = start(&[&folder.path(name).display().to_string()]);
    assert!(get(&address, "api/progress").contains(r#""state":"ready""#));
    (child, address)
}

/// Sends a request without reading the response, which HTTP/1.0 keeps unchunked.
fn send(address: &str, route: &str) -> TcpStream {
    let (port, path) = parts(address);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    write!(stream, "GET /{path}{route} HTTP/1.0\r\nHost: localhost:{port}\r\n\r\n")
        .expect("it reads");
    stream
}

/// Returns status and text of a response.
fn ask(address: &str, route: &str) -> (u16, String) {
    let mut answer = Vec::new();
    send(address, route).read_to_end(&mut answer).expect("it answers");
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.get(9..12).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no status: {text}")), text)
}

fn threads(child: &Child) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).expect("it runs");
    tasks.count()
}

fn end(mut child: Child) {
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn abandoned_requests_leave_no_work() {
    let folder = Folder::new().with("a.json", trace(100_000));
    let (child, address) = served(&folder, "a.json");
    let before = threads(&child);
    for at in 0..1000 {
        let route = match at % 3 {
            0 => "slice.json.gz?from=0&to=100000000",
            1 => "api/tile?from=0&to=100000000&px=2000&lanes=0,1,2,3,4",
            _ => "api/stats?from=0&to=100000000",
        };
        drop(send(&address, route));
    }
    let began = Instant::now();
    let slice = loop {
        let (status, slice) = ask(&address, "slice.json?from=0&to=100000000");
        match status {
            200 => break slice,
            // the server is still detecting the closed connections
            429 if began.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            _ => panic!("{status}: {slice}"),
        }
    };
    assert_eq!(slice.matches("\"ph\":\"X\"").count(), 100_000, "it is whole");
    while threads(&child) > before {
        assert!(began.elapsed() < PATIENCE, "{} threads, {before} before", threads(&child));
        std::thread::sleep(Duration::from_millis(20));
    }
    end(child);
}

#[test]
fn slow_readers_get_all_and_delay_nobody() {
    let folder = Folder::new().with("a.json", trace(300_000));
    let (child, address) = served(&folder, "a.json");
    let mut slow = send(&address, "slice.json?from=0&to=300000000");
    let (port, path) = parts(&address);
    let mut unsaid = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    write!(unsaid, "GET /{path}api/trace HTTP/1.1\r\nHost:").expect("it reads");
    let mut first = [0; 12];
    slow.read_exact(&mut first).expect("it answers");
    assert_eq!(&first, b"HTTP/1.0 200");
    for _ in 0..20 {
        assert_eq!(ask(&address, "api/trace").0, 200);
        assert_eq!(ask(&address, "api/tile?from=0&to=1000&px=5&lanes=0").0, 200);
    }
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).expect("it is sent");
    let all = String::from_utf8(rest).expect("text");
    assert_eq!(all.matches("\"ph\":\"X\"").count(), 300_000, "it is whole");
    end(child);
}

#[test]
fn full_disks_are_reported_and_leave_no_files() {
    let folder = Folder::new().with("a.json", trace(300_000));
    std::fs::create_dir(folder.path("tmp")).expect("the folder is ours");
    let limited = |kib: u32| {
        let line = format!("ulimit -f {kib}; exec \"$0\" \"$@\"");
        let mut command = std::process::Command::new("bash");
        let program = env!("CARGO_BIN_EXE_tracemill");
        let words = ["view", "--no-open", "--idle", "100ms", "-m", "32M", "-T", "tmp", "a.json"];
        command.args(["-c", &line, program]).args(words).current_dir(folder.path(""));
        command.output().expect("bash runs")
    };
    let room = limited(1 << 20);
    assert_eq!(room.status.code(), Some(0), "{room:?}");
    let full = limited(512);
    let stderr = String::from_utf8_lossy(&full.stderr).into_owned();
    assert_eq!(full.status.code(), Some(4), "{stderr}");
    assert!(
        stderr.contains("cannot keep temporary files in tmp") && stderr.contains("File too large"),
        "{stderr}"
    );
    assert_eq!(std::fs::read_dir(folder.path("tmp")).expect("the folder is ours").count(), 0);
}

#[test]
fn without_space_for_an_index_the_trace_is_scanned() {
    // large enough to get an index
    let folder = Folder::new().with("a.json", trace(600_000));
    assert!(std::fs::metadata(folder.path("a.json")).expect("it is there").len() > 32 << 20);
    let mut command = std::process::Command::new("bash");
    let program = env!("CARGO_BIN_EXE_tracemill");
    let words = ["view", "--no-open", "--idle", "100ms", "-m", "1G", "a.json"];
    command.args(["-c", "ulimit -f 4; exec \"$0\" \"$@\"", program]).args(words);
    let run = command.current_dir(folder.path("")).output().expect("bash runs");
    let stderr = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("a.json has no index, and all of it was read"), "{stderr}");
    assert!(stderr.contains("File too large"), "{stderr}");
    assert_eq!(std::fs::read_dir(folder.path("")).expect("the folder is ours").count(), 1);
}

#[test]
fn changed_files_are_reported_when_read_again() {
    let folder = Folder::new().with("a.json", trace(1000));
    let (child, address) = served(&folder, "a.json");
    let is_told = || {
        let (status, slice) = ask(&address, "slice.json?from=0&to=1000000");
        assert!(status == 409 && slice.contains("a.json"), "{slice}");
        assert_eq!(ask(&address, "api/tile?from=0&to=1000&px=5&lanes=0").0, 200);
    };
    assert_eq!(ask(&address, "slice.json?from=0&to=1000000").0, 200);
    std::fs::write(folder.path("a.json"), trace(999)).expect("the file is ours");
    is_told();
    let (_, answer) = ask(&address, "api/trace");
    assert!(answer.contains("became shorter"), "{answer}");
    std::fs::remove_file(folder.path("a.json")).expect("the file is ours");
    is_told();
    end(child);
}

#[test]
fn missing_browsers_are_reported() {
    let folder = Folder::new();
    let trace = testdata().join("node/trace.json").display().to_string();
    let mut command = folder.command(&format!("view --idle 100ms {trace}"));
    let output = command.env("PATH", folder.path("")).env_remove("BROWSER").output();
    let output = output.expect("the command runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("no browser can be started") && stderr.contains("by hand"), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("http://127.0.0.1:"), "{stderr}");
}
