//! Objects on a web server with faults, against their bytes.
#![allow(clippy::unwrap_used)]

use std::ops::Range;
use std::path::Path;
use std::slice;
use tracemill_store::{Access, Object, open};
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::web::{Fault, WebServer};
use tracemill_testkit::{Folder, Rng};
use tracemill_trace::{Error, ErrorKind, Limits, Source, Trace};

fn limits() -> Limits {
    Limits::new(2, 64 << 20, std::env::temp_dir())
}

/// Opens an address without ranges, and returns the number of events and the name of the input.
fn read(address: &str) -> Result<(u64, String), Error> {
    let source = open(address, Path::new("unused"), Access::Once)?;
    let trace = Trace::open(&[source], &limits())?;
    Ok((trace.len(), trace.inputs()[0].name.clone()))
}

#[test]
fn streams_have_all_events_despite_faults() {
    let server = WebServer::start();
    let bytes = trace(1, &TraceShape::plain(20_000));
    let expected = Trace::open(&[Source::bytes("a", bytes.clone())], &limits()).unwrap().len();
    server.put("dir/a b.json", bytes, 1);
    let address = server.address("dir/a%20b.json");
    for fault in [Fault::None, Fault::Busy, Fault::Short, Fault::SameHost] {
        server.fail(fault);
        assert_eq!(read(&address).unwrap(), (expected, address.clone()), "{fault:?}");
    }
}

#[test]
fn refusals_name_the_address() {
    let server = WebServer::start();
    server.put("a.json", *b"[]", 1);
    let address = server.address("a.json");
    let text = |address: &str| read(address).unwrap_err().to_string();
    assert!(text(&server.address("b.json")).contains("no such object"));
    for (fault, part) in [
        (Fault::Status(403), "credentials"),
        (Fault::Status(401), "credentials"),
        (Fault::Elsewhere, "another host"),
    ] {
        server.fail(fault);
        let text = text(&address);
        assert!(text.contains(part) && text.contains(&address), "{fault:?}: {text}");
    }
    assert!(text("https://example.com/a.json?X-Signature=1").contains("download"));
    assert!(text("ftp://example.com/a.json").contains("begin with s3"));
}

/// A remote file, and the bytes that it should have.
struct Remote {
    server: WebServer,
    folder: Folder,
    bytes: Vec<u8>,
}

impl Remote {
    fn new(length: usize) -> Self {
        let (server, folder) = (WebServer::start(), Folder::new());
        let mut rng = Rng::new(length as u64);
        let bytes: Vec<u8> = (0..length).map(|_| rng.bits() as u8).collect();
        server.put("a.json", bytes.clone(), 1);
        server.put("a.json.tmi", *b"an index", 2);
        Remote { server, folder, bytes }
    }

    fn open(&self) -> tracemill_trace::input::remote::RemoteFile {
        let address = self.server.address("a.json");
        match open(&address, &self.folder.path("remote"), Access::Ranges).unwrap() {
            Source::Remote(file) => file,
            source => panic!("{source} has an index"),
        }
    }
}

#[test]
fn ranges_are_copied_once_and_only_they() {
    let remote = Remote::new(40 << 20);
    let file = remote.open();
    assert_eq!(remote.folder.bytes("remote/a.json.tmi"), b"an index");
    let _ = remote.server.take_counts();
    let wanted: [Range<u64>; 4] =
        [10..20, 500_000..600_000, 20_000_000..20_000_001, 30_000_000..(40 << 20)];
    file.fetch(&wanted, &limits()).unwrap();
    let (requests, bytes) = remote.server.take_counts();
    assert!(requests <= 4 && bytes <= 13 << 20, "{requests} requests, {bytes} bytes");
    file.fetch(&[10..20, 550_000..600_000], &limits()).unwrap();
    assert_eq!(remote.server.take_counts(), (0, 0));
    let copied = remote.folder.bytes("remote/a.json");
    assert_eq!(copied.len(), remote.bytes.len());
    for range in wanted {
        let range = range.start as usize..range.end as usize;
        assert!(copied[range.clone()] == remote.bytes[range.clone()], "{range:?}");
    }
    assert!(copied[10 << 20..19 << 20].iter().all(|byte| *byte == 0));
    let time = |file: &Path| std::fs::metadata(file).unwrap().modified().unwrap();
    assert_eq!(time(file.path()), std::time::SystemTime::UNIX_EPOCH);
}

#[test]
fn many_single_ranges_end_with_all() {
    let remote = Remote::new(90 << 20);
    let file = remote.open();
    let _ = remote.server.take_counts();
    for number in 0..80 {
        let range = (80 - number) << 20..((80 - number) << 20) + 10;
        file.fetch(slice::from_ref(&range), &limits()).unwrap();
    }
    let (requests, bytes) = remote.server.take_counts();
    assert!(requests < 64 + 40 && bytes < 110 << 20, "{requests} requests, {bytes} bytes");
    assert!(remote.folder.bytes("remote/a.json") == remote.bytes);
}

#[test]
fn faults_change_no_byte_of_ranges() {
    for fault in [Fault::Busy, Fault::Short, Fault::SameHost] {
        let remote = Remote::new(3 << 20);
        let file = remote.open();
        remote.server.fail(fault);
        file.fetch(slice::from_ref(&(0..3 << 20)), &limits()).unwrap();
        assert!(remote.folder.bytes("remote/a.json") == remote.bytes, "{fault:?}");
    }
}

#[test]
fn a_replaced_object_is_an_error() {
    let remote = Remote::new(3 << 20);
    let file = remote.open();
    let object = Object::find(&remote.server.address("a.json")).unwrap();
    assert_eq!(object.length(), 3 << 20);
    remote.server.put("a.json", vec![0; 3 << 20], 1);
    let error = file.fetch(slice::from_ref(&(0..100)), &limits()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Changed { .. }), "{error}");
    assert!(error.to_string().contains("was replaced"), "{error}");
}

#[test]
fn an_index_older_than_its_trace_is_not_used() {
    let remote = Remote::new(1000);
    remote.server.put("a.json", remote.bytes.clone(), 5);
    let address = remote.server.address("a.json");
    let source = open(&address, &remote.folder.path("remote"), Access::Ranges).unwrap();
    assert!(matches!(source, Source::Reader(_)));
    assert!(!remote.folder.path("remote").exists());
}

#[test]
fn files_are_whole() {
    let remote = Remote::new(3 << 20);
    remote.server.fail(Fault::Short);
    let address = remote.server.address("a.json");
    let source = open(&address, &remote.folder.path("remote"), Access::File).unwrap();
    assert_eq!(source.to_string(), address);
    assert!(remote.folder.bytes("remote/a.json") == remote.bytes);
}

#[test]
fn a_cancelled_run_stops_waiting() {
    let remote = Remote::new(1000);
    let file = remote.open();
    remote.server.fail(Fault::Status(503));
    let limits = limits();
    limits.cancel.cancel();
    let error = file.fetch(slice::from_ref(&(0..100)), &limits).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
}
