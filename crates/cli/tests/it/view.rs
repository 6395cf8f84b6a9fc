//! Runs `view`: its address, and how it ends.

use crate::support::{Folder, testdata};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

pub(crate) fn start(words: &[&str]) -> (Child, String) {
    serve(Command::new(env!("CARGO_BIN_EXE_tracemill")).args(["view", "--no-open"]).args(words))
}

/// Starts a server and returns its address.
fn serve(command: &mut Command) -> (Child, String) {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut line = String::new();
    let out = child.stdout.as_mut().expect("it is piped");
    BufReader::new(out).read_line(&mut line).expect("the address");
    (child, line.trim().to_owned())
}

/// Splits an address into port and path.
pub(crate) fn parts(address: &str) -> (u16, &str) {
    let rest = address.strip_prefix("http://127.0.0.1:").expect("loopback");
    let (port, path) = rest.split_once('/').expect("a path");
    assert_eq!((path.len(), path.ends_with('/')), (33, true), "{address}");
    (port.parse().expect("a port"), path)
}

pub(crate) fn get(address: &str, route: &str) -> String {
    let (port, path) = parts(address);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let head = format!(
        "GET /{path}{route} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn a_trace_is_served_until_it_is_interrupted() {
    let trace = testdata().join("node/trace.json").display().to_string();
    let (mut child, address) = start(&[&trace]);
    assert!(get(&address, "").contains("<!doctype html>"));
    assert!(get(&address, "api/progress").contains(r#""state":"ready""#));
    let answer = get(&address, "api/trace");
    assert!(answer.contains("\"kind\":\"calls\""), "profiles have calls: {answer}");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

/// Other users can read the arguments of a process.
#[cfg(target_os = "linux")]
#[test]
fn the_browser_is_not_given_the_token_as_an_argument() {
    use std::os::unix::fs::PermissionsExt;
    let opener = "#!/bin/sh\necho \"$1\" > args.tmp; cat \"$1\" > page.html; stat -c %a \"$1\" > mode; mv args.tmp args\n";
    let folder = Folder::new().with("xdg-open", opener).with("a.json", "[]");
    let script = folder.path("xdg-open");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("it is ours");
    let path = std::env::var("PATH").expect("there is one");
    let path = format!("{}:{path}", script.parent().expect("a folder").display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracemill"));
    command.args(["view", "a.json", "-T", "."]).current_dir(script.parent().expect("a folder"));
    let (mut child, address) = serve(command.env("PATH", path));
    let (address, args) = (&*address, folder.path("args"));
    while !args.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let token = parts(address).1.trim_end_matches('/');
    let (opened, page) = (folder.read("args"), folder.read("page.html"));
    assert!(opened.trim().ends_with(".html") && !opened.contains(token), "{opened}");
    assert!(page.contains(address), "{page}");
    assert_eq!(folder.read("mode").trim(), "600");
    let opened = folder.path(opened.trim());
    assert!(opened.exists());
    get(address, "app.js");
    assert!(!opened.exists(), "it was used");
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::INT,
    )
    .expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn idle_servers_end() {
    let folder = Folder::new();
    let trace = testdata().join("node/trace.json").display().to_string();
    let run = folder.run(&format!("view --no-open --idle 100ms {trace} --report r.json")).ends(0);
    parts(run.stdout.trim());
    assert!(folder.read("r.json").contains("\"verb\": \"view\""), "{}", folder.read("r.json"));
    let broken = testdata().join("quirks/truncated-in-args.json").display().to_string();
    folder.run(&format!("view --no-open --idle 100ms {broken}")).ends(1);
}

#[test]
fn several_inputs_are_shown_as_merged() {
    let of = |name| {
        format!(
            r#"[{{"ph":"M","name":"process_name","pid":7,"args":{{"name":"{name}"}}}},
{{"ph":"X","name":"{name}","pid":7,"tid":1,"ts":1,"dur":2}}]"#
        )
    };
    let folder = Folder::new().with("a.json", of("a")).with("b.json", of("b"));
    folder
        .run("view --no-open --idle 100ms a.json b.json")
        .ends(0)
        .says(&["pid 7 of b.json is shown as 10000007 (as merge does)"]);
    folder.run("merge a.json b.json -o all.json").ends(0);
    let merged = folder.run("view --no-open --idle 100ms all.json").ends(0);
    assert!(!merged.stderr.contains("as merge does"), "{}", merged.stderr);
}

#[test]
fn unusable_inputs_are_refused() {
    let folder = Folder::new().with("a.json", "[]");
    let missing = folder.run("view --no-open a.json missing.json").ends(3).says(&["missing.json"]);
    assert_eq!(missing.stdout, "", "nobody opens the page of what is not there");
    folder.run("view --no-open -").ends(2).says(&["name files, not a pipe"]);
    folder.run("view --no-open --idle -1 a.json").ends(2);
    folder
        .run("view --no-open --host 0.0.0.0 a.json")
        .ends(2)
        .says(&["ssh -L 8080:127.0.0.1:8080 HOST", "--allow-remote"]);
    folder.run("view --no-open --viewers . a.json").ends(2).says(&["npm install speedscope"]);
    for address in
        ["javascript:alert(1)", "https://", "https://a\"b", "ui.perfetto.dev", "http://#x"]
    {
        folder.run(&format!("view --no-open --perfetto {address} a.json")).ends(2);
    }
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("its address").port();
    let trace = testdata().join("node/trace.json").display().to_string();
    folder.run(&format!("view --no-open --port {port} {trace}")).ends(4).says(&["--port 0"]);
}

#[test]
fn the_page_opens_on_the_given_event() {
    let event = |name: &str, ts: u64, dur: u64| {
        format!(r#"{{"ph":"X","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
    };
    let text = format!("[{},{}]", event("a", 1000, 50), event("b", 1010, 20));
    let folder = Folder::new().with("a.json", text);
    let run = folder.run("view --no-open --idle 1ms a.json --event r-1").ends(0);
    let address = run.stdout.trim_end();
    assert!(address.ends_with("/#v=0-50000&s=10000-30000"), "{address}");
    folder.run("view --no-open a.json --event r-9").ends(2).says(&["no event has this key"]);
}
