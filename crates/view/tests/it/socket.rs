//! Tests over sockets: headers, many clients, disconnecting clients.

use crate::support::TOKEN;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use tracemill_join::config::Config;
use tracemill_trace::Source;
use tracemill_view::{Bound, Site};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn ask(port: u16, host: &str, route: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET /{TOKEN}/{route} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn server_answers_until_idle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let event = |at: u32| format!(r#"{{"ph":"X","name":"n","pid":1,"tid":1,"ts":{at},"dur":1}}"#);
    let events: Vec<String> = (0..50_000).map(event).collect();
    std::fs::write(&path, format!("[{}]", events.join(","))).unwrap();
    let bound = Bound::new(LOCALHOST, 0).unwrap();
    let port = bound.port().unwrap();
    assert!(Bound::new(LOCALHOST, port).is_err(), "the port is taken");
    let config = Config::new(2, 64 << 20, std::env::temp_dir());
    let site = Arc::new(Site::new(vec![Source::Path(path)], config, TOKEN.into(), port));
    let served = Arc::clone(&site);
    let server = std::thread::spawn(move || bound.serve(&served, Some(Duration::from_secs(2))));
    let host = format!("127.0.0.1:{port}");
    let progress = std::thread::spawn({
        let host = host.clone();
        move || ask(port, &host, "api/progress")
    });
    site.read().unwrap();
    let progress = progress.join().unwrap();
    assert!(
        progress.contains("text/event-stream") && progress.contains(r#""state":"ready""#),
        "{progress}"
    );

    let answer = ask(port, &host, "api/trace");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
        "cross-origin-opener-policy: same-origin-allow-popups",
        "cache-control: no-store",
    ] {
        assert!(answer.contains(header), "{header}: {answer}");
    }
    assert!(!answer.to_lowercase().contains("access-control-allow"), "{answer}");
    assert!(ask(port, "evil.test", "api/trace").starts_with("HTTP/1.1 421"));

    // clients that disconnect early leave no work behind
    for _ in 0..200 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(
            stream,
            "GET /{TOKEN}/slice.json?from=0&to=50000000 HTTP/1.1\r\nHost: {host}\r\n\r\n"
        )
        .unwrap();
    }
    let sent = (0..100).map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        ask(port, &host, "slice.json?from=0&to=50000000")
    });
    let sent = sent
        .into_iter()
        .find(|answer| answer.starts_with("HTTP/1.1 200"))
        .expect("a slice is sent");
    assert!(sent.matches("\"ph\":\"X\"").count() > 49_000, "it is whole");
    server.join().unwrap().unwrap();
}

/// Idle connections are closed in favor of active ones.
#[test]
fn unfinished_request_heads_block_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    std::fs::write(&path, r#"[{"ph":"X","name":"n","pid":1,"tid":1,"ts":1,"dur":1}]"#).unwrap();
    let bound = Bound::new(LOCALHOST, 0).unwrap();
    let port = bound.port().unwrap();
    let config = Config::new(2, 64 << 20, std::env::temp_dir());
    let site = Arc::new(Site::new(vec![Source::Path(path)], config, TOKEN.into(), port));
    site.read().unwrap();
    let served = Arc::clone(&site);
    // the thread ends with the test process
    std::thread::spawn(move || bound.serve(&served, None));
    let mut idle = Vec::new();
    for _ in 0..600 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(b"GET /").unwrap();
        idle.push(stream);
    }
    let answer = ask(port, &format!("127.0.0.1:{port}"), "api/trace");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let closed = |stream: &mut TcpStream| {
        stream.set_nonblocking(true).unwrap();
        !matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    };
    let [oldest, newest] = [0, 599].map(|at: usize| closed(&mut idle[at]));
    assert!(oldest && !newest, "the oldest ones are closed: {oldest} {newest}");
}
