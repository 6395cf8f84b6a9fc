//! Misbehaving clients neither block others nor use memory beyond their share. A separate binary,
//! because memory is measured per process.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests; figures are for who asks for them"
)]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracemill_join::config::Config;
use tracemill_testkit::heap::own_mib;
use tracemill_trace::Source;
use tracemill_view::{Bound, Site};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Number of events in the trace.
const EVENTS: u64 = 640_000;
/// Number of threads in the trace.
const THREADS: u64 = 80;

fn trace() -> String {
    let event = |at: u64| {
        let (tid, ts) = (at % THREADS, at / THREADS * 10);
        format!(r#"{{"ph":"X","name":"n{}","pid":1,"tid":{tid},"ts":{ts},"dur":7}}"#, at % 50)
    };
    let events: Vec<String> = (0..EVENTS).map(event).collect();
    format!("[{}]", events.join(",\n"))
}

/// A request for all lanes at high resolution: megabytes, more than socket buffers hold.
fn large() -> String {
    let end = EVENTS / THREADS * 10_000;
    format!("api/tile?from=0&to={end}&px=8192&lanes=0-{}&exact=0", THREADS - 1)
}

fn ask(port: u16, route: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        stream,
        "GET /{TOKEN}/{route} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    stream
}

/// Returns the length of a successful reply; retries while others block it.
fn answered(port: u16, route: &str) -> usize {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let (mut stream, mut answer) = (ask(port, route), Vec::new());
        if stream.read_to_end(&mut answer).is_ok() && answer.starts_with(b"HTTP/1.1 200") {
            return answer.len();
        }
        assert!(Instant::now() < end, "{route}: {}", String::from_utf8_lossy(&answer));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the anonymous memory of the process in MiB.
fn memory() -> u64 {
    own_mib().unwrap()
}

/// Returns the number of threads that answer requests.
fn answering() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.flatten().flat_map(|task| std::fs::read_to_string(task.path().join("comm")));
    names.filter(|name| name.trim() == "answer").count()
}

fn work() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let behind = stat.rsplit(')').next().unwrap().split_whitespace();
    behind.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

fn ends() {
    let end = Instant::now() + Duration::from_secs(20);
    while answering() > 0 {
        assert!(Instant::now() < end, "what nobody waits for goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn stalled_and_disconnected_clients_block_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    std::fs::write(&path, trace()).unwrap();
    let bound = Bound::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0).unwrap();
    let port = bound.port().unwrap();
    let config = Config::new(2, 64 << 20, std::env::temp_dir());
    let site = Arc::new(Site::new(vec![Source::Path(path)], config, TOKEN.into(), port));
    site.read().unwrap();
    let served = Arc::clone(&site);
    let server = std::thread::spawn(move || bound.serve(&served, Some(Duration::from_secs(5))));

    let large = large();
    let whole = answered(port, &large);
    assert!(whole > 8 << 20, "{whole} bytes are more than sockets hold");
    let before = memory();
    let (mut stuck, mut most) = (Vec::new(), before);
    for _ in 0..100 {
        stuck.push(ask(port, &large));
        std::thread::sleep(Duration::from_millis(20));
        most = most.max(memory());
    }
    assert!(answered(port, "api/trace") > 1000);
    assert_eq!(answered(port, &large), whole, "others have all of it");
    most = most.max(memory());
    let requested = (stuck.len() * whole) >> 20;
    println!("{before} MiB, then {most} at most, where {requested} were asked for and not read");
    assert!(most < before + 200, "{before} MiB, then {most}");
    drop(stuck);
    ends();

    let sums = format!("api/stats?from=0&to={}&lanes=0-{}", EVENTS / THREADS * 10_000, THREADS - 1);
    let routes = [&sums, &large];
    let began = work();
    for _ in 0..10 {
        routes.iter().for_each(|route| _ = answered(port, route));
    }
    let each = (work() - began) as f64 / 20.0;
    let (began, before) = (work(), memory());
    for number in 0..1000 {
        drop(ask(port, routes[number % 2]));
    }
    ends();
    let given_up = (work() - began) as f64 / 1000.0;
    println!("ticks: {each} for each that is answered, {given_up} for each that is given up");
    assert!(given_up < each / 2.0, "{given_up} of {each}");
    assert!(memory() < before + 100, "{before} MiB, then {}", memory());
    // no request is in progress at the end
    server.join().unwrap().unwrap();
}
