//! Packed traces shown by their indexes: windows equal those of the fully read trace, and only
//! parts are decompressed.

use crate::indexed::{are_same, lanes, mixed};
use crate::support::{Opened, body, config, named, open_indexed_as};
use std::io::Write;
use tracemill_join::config::{Config, IndexUse};
use tracemill_testkit::packing::{gz, zst};
use tracemill_testkit::{Rng, seeds};

/// Pads a text with blanks to at least `bytes` bytes.
pub(crate) fn padded(text: &str, bytes: usize) -> String {
    let lines = text.matches(",\n").count();
    text.replace(",\n", &format!(",\n{}", " ".repeat(bytes / lines + 1)))
}

/// Opens a packed trace by its index, and fully read.
fn opened(name: &str, packed: &[u8]) -> (Opened, Opened) {
    let by_scan = named(name, packed, Config { index: IndexUse::Never, ..config() });
    by_scan.site.read().unwrap();
    (open_indexed_as(name, packed), by_scan)
}

fn same_searches(rng: &mut Rng, (by_index, by_scan): (&Opened, &Opened), what: &str) {
    let end = by_scan.json("api/trace")["duration"].as_str().unwrap().parse::<u64>().unwrap();
    for _ in 0..4 {
        let route = format!("api/find?name=n{}&at={}", rng.below(40), rng.below(end));
        let [indexed, scanned] = [by_index, by_scan].map(|opened| opened.json(&route));
        for key in ["start", "dur", "place", "text"] {
            assert_eq!(indexed[key], scanned[key], "{what} {route}");
        }
        let Some(place) = indexed["place"].as_u64() else { continue };
        for route in [format!("api/event?place={place}"), format!("api/event?place={place}&most=9")]
        {
            assert_eq!(by_index.bytes(&route), by_scan.bytes(&route), "{what} {route}");
        }
    }
    // no event begins at these offsets
    for place in [0, u64::MAX, u64::from(u32::MAX)] {
        assert_eq!(by_index.get(&format!("api/event?place={place}")).status, 404, "{what}");
    }
}

#[test]
fn packed_windows_equal_fully_read_windows() {
    for seed in seeds(0, 9) {
        let mut rng = Rng::new(seed);
        let text = mixed(&mut rng);
        let (name, packed) = match seed % 3 {
            0 => ("a.json.zst", zst(text.as_bytes(), 1 << rng.range(12, 17))),
            1 => ("a.json.gz", gz(padded(&text, 5 << 20).as_bytes(), 64 << 10)),
            _ => ("a.json.gz", gz(padded(&text, 40 << 20).as_bytes(), 8 << 20)),
        };
        let what = format!("seed {seed} {name}");
        let (by_index, by_scan) = opened(name, &packed);
        are_same(&mut rng, (&by_index, &by_scan), &what);
        same_searches(&mut rng, (&by_index, &by_scan), &what);
    }
}

#[test]
fn packed_profiles_are_shown_with_their_calls() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/node/trace.json");
    let packed = zst(&std::fs::read(path).unwrap(), 20_000);
    let (by_index, by_scan) = opened("a.json.zst", &packed);
    by_index.site.read_calls().unwrap();
    are_same(&mut Rng::new(1), (&by_index, &by_scan), "profiles");
    assert!(lanes(&by_index.json("api/trace")).keys().any(|key| key.contains("\"calls\"")));
}

#[test]
fn unseekable_packed_traces_are_read_completely() {
    let text = mixed(&mut Rng::new(7));
    let opened = named("a.json.zst", &zst(text.as_bytes(), usize::MAX), config());
    opened.site.read().unwrap();
    assert_eq!(opened.json("api/trace")["by_index"], false);
}

/// Creates two frames: a small one, and one with more text than is decompressed at once.
fn with_a_large_frame() -> Vec<u8> {
    const BLANKS: usize = 513 << 20;
    let event = |name: &str, at: u32| {
        format!(r#"{{"ph":"X","name":"{name}","pid":1,"tid":1,"ts":{at},"dur":1}}"#)
    };
    let events = |name: &str, from: u32| {
        let all: Vec<String> = (from..from + 2000).map(|at| event(name, at * 10)).collect();
        all.join(",\n")
    };
    let first = format!("[{},\n", events("early", 0));
    let (late, last) = (events("late", 10_000), format!(",\n{}]", events("last", 90_000)));
    let mut packed = zstd::bulk::compress(first.as_bytes(), 1).unwrap();
    let mut frame = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    // the ends of frames are known from their headers
    frame.set_pledged_src_size(Some((late.len() + BLANKS + last.len()) as u64)).unwrap();
    frame.write_all(late.as_bytes()).unwrap();
    let blanks = vec![b' '; 1 << 20];
    (0..BLANKS >> 20).for_each(|_| frame.write_all(&blanks).unwrap());
    frame.write_all(last.as_bytes()).unwrap();
    packed.extend(frame.finish().unwrap());
    packed
}

#[test]
fn oversized_frames_are_reported() {
    let opened = open_indexed_as("a.json.zst", &with_a_large_frame());
    assert_eq!(opened.json("api/trace")["by_index"], true);
    assert_eq!(opened.json("api/find?name=early&at=0")["start"], 0.0);
    // a frame is decompressed only as far as needed
    for name in ["early", "late"] {
        let place =
            opened.json(&format!("api/find?name={name}&at=5000"))["place"].as_f64().unwrap();
        assert!(!opened.bytes(&format!("api/event?place={place:.0}")).is_empty());
    }
    for route in ["api/find?name=last&at=0", "api/event?place=538000000"] {
        let reply = opened.get(route);
        assert_eq!(reply.status, 503, "{route}");
        let answer: serde_json::Value = serde_json::from_slice(&body(reply)).unwrap();
        let (error, hint) = (answer["error"].as_str().unwrap(), answer["hint"].as_str().unwrap());
        assert!(error.contains("a single compressed block exceeds 512 MiB"), "{error}");
        assert!(!error.contains("memory") && hint.contains("zstd in frames"), "{error}: {hint}");
    }
}
