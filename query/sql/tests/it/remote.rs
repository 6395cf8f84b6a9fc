//! Traces on a web server as inputs, compared with the same traces as files.

use tracemill_testkit::web::{Fault, WebServer};
use tracemill_testkit::{Folder, Rng, Run};

/// A trace of short slices, in order of time.
fn text() -> String {
    let mut rng = Rng::new(1);
    let event = |number: u64| {
        let (tid, dur, name) = (rng.below(4), rng.below(300), rng.below(50));
        format!(
            "{{\"ph\":\"X\",\"pid\":1,\"tid\":{tid},\"ts\":{},\"dur\":{dur},\"name\":\"name {name}\",\
             \"args\":{{\"text\":\"{number:060}\"}}}}",
            1_000_000 + number * 100
        )
    };
    format!("[{}]", (0..80_000).map(event).collect::<Vec<_>>().join(",\n"))
}

/// A sorted trace of several MiB with an index, as files and as objects.
struct Served {
    server: WebServer,
    folder: Folder,
}

impl Served {
    fn new() -> Self {
        let folder = Folder::new().with("a.json", text());
        run(&folder, &["index", "a.json", "-q"]).ends(0);
        let server = WebServer::start();
        server.put("a.json", folder.bytes("a.json"), 1);
        server.put("a.json.tmi", folder.bytes("a.json.tmi"), 2);
        Served { server, folder }
    }

    /// Runs a command on the file and on the object, and compares the outputs. `words` have ADDRESS
    /// in the place of the input. Returns the number of requests, and the bytes of the trace that the
    /// server sent.
    fn compare(&self, words: &[&str]) -> (u64, u64) {
        let address = self.server.address("a.json");
        let output = |input: &str| {
            let words: Vec<&str> =
                words.iter().map(|word| if *word == "ADDRESS" { input } else { word }).collect();
            run(&self.folder, &words).ends(0).stdout
        };
        let file = output("a.json");
        let _ = self.server.take_counts();
        let object = output(&address);
        assert!(file == object.replace(&address, "a.json"), "{words:?}");
        let (requests, bytes) = self.server.take_counts();
        (requests, bytes.saturating_sub(self.folder.bytes("a.json.tmi").len() as u64))
    }

    /// Returns the middle of the trace and half a per cent more of its time, in microseconds.
    fn middle(&self) -> [i64; 2] {
        let sql =
            "SELECT (trace_start() + trace_dur() / 2) / 1000 AS at, trace_dur() / 200000 AS us";
        let half = run(&self.folder, &["query", sql, "a.json", "-q"]).ends(0).stdout;
        let (at, us) = half.lines().nth(1).unwrap().split_once(',').unwrap();
        let [at, us] = [at, us].map(|number| number.parse::<i64>().unwrap());
        [at, at + us]
    }

    fn length(&self) -> u64 {
        self.folder.bytes("a.json").len() as u64
    }
}

fn run(folder: &Folder, words: &[&str]) -> Run {
    let mut command = folder.program(env!("CARGO_BIN_EXE_tracemill-query"), words[0]);
    folder.run(command.env_remove("TRACEMILL_VERSION").args(&words[1..]))
}

#[test]
fn windows_read_only_their_parts() {
    let served = Served::new();
    assert!(served.length() > 8 << 20, "the trace has {} bytes", served.length());
    let [from, to] = served.middle().map(|us| format!("@{us}"));
    let (_, bytes) = served.compare(&["slice", "--from", &from, "--to", &to, "ADDRESS", "-q"]);
    assert!(bytes < served.length() / 4, "{bytes} of {} bytes", served.length());
    let sql = "SELECT name, dur_ns FROM events WHERE ts_ns BETWEEN trace_start() AND trace_start() + 100000";
    let (requests, bytes) = served.compare(&["query", sql, "ADDRESS", "-q"]);
    assert!(bytes < served.length() / 4, "{bytes} of {} bytes", served.length());
    assert!(requests < 40, "{requests} requests");
    let (requests, bytes) =
        served.compare(&["query", "SELECT count(*) FROM events", "ADDRESS", "-q"]);
    assert_eq!((requests, bytes), (3, 0));
}

#[test]
fn whole_traces_are_read_as_streams() {
    let served = Served::new();
    for words in [
        &["info", "--full", "ADDRESS", "-q"][..],
        &[
            "query",
            "SELECT name, count(*), sum(dur_ns) FROM events GROUP BY 1 ORDER BY 1",
            "ADDRESS",
            "-q",
        ],
        &["filter", "--ph", "X", "ADDRESS", "-q"],
        &["merge", "ADDRESS", "-q"],
    ] {
        served.server.fail(Fault::Busy);
        served.compare(words);
    }
}

#[test]
fn indexes_of_objects_are_those_of_files() {
    let served = Served::new();
    let address = served.server.address("a.json");
    run(&served.folder, &["index", &address]).ends(2).says(&["by -o"]);
    run(&served.folder, &["index", &address, "-o", "b.tmi", "-q"]).ends(0);
    let [ours, theirs] = ["b.tmi", "a.json.tmi"].map(|name| served.folder.bytes(name).len());
    assert_eq!(ours, theirs);
    served.server.put("a.json.tmi", served.folder.bytes("b.tmi"), 3);
    served.compare(&[
        "query",
        "SELECT count(*) FROM events WHERE ts_ns < 1000000000",
        "ADDRESS",
        "-q",
    ]);
}

#[test]
fn a_wrong_index_is_not_believed() {
    let served = Served::new();
    let mut bytes = served.folder.bytes("a.json");
    // other events at the same places
    let at = bytes.len() / 10;
    for byte in bytes[4 * at..6 * at].iter_mut().filter(|byte| byte.is_ascii_digit()) {
        *byte = b'7';
    }
    served.folder.file("c.json", &bytes);
    served.server.put("a.json", bytes, 1);
    let address = served.server.address("a.json");
    let [from, to] = served.middle();
    let sql = format!(
        "SELECT count(*), sum(dur_ns) FROM events WHERE ts_ns BETWEEN {from}000 AND {to}000"
    );
    let words = |input| ["query", &sql, input, "-q"];
    let [file, object] =
        ["c.json", &address].map(|input| run(&served.folder, &words(input)).stdout);
    assert!(file == object);
}

#[test]
fn addresses_that_cannot_be_read_are_errors() {
    let served = Served::new();
    let missing = served.server.address("missing.json");
    run(&served.folder, &["info", &missing]).ends(3).says(&[&missing, "no such object"]);
    served.server.fail(Fault::Status(403));
    let address = served.server.address("a.json");
    run(&served.folder, &["info", &address]).ends(3).says(&[&address, "credentials"]);
    run(&served.folder, &["info", "https://x.test/a.json?sig=1"]).ends(3).says(&["download"]);
}
