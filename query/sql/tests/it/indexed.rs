//! Answers by an index: the same as without it.

use crate::support::{Answered, Knobs, answered};
use std::path::PathBuf;
use tracemill::engine::{QueryError, TableFormat};
use tracemill_index::{IndexConfig, index, index_path};
use tracemill_join::config::{Config, IndexUse};
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::{Folder, Rng, seeds};
use tracemill_trace::Source;

fn config(index: IndexUse) -> Config {
    Config { index, ..Knobs::default().config().as_merged() }
}

fn indexed(folder: &Folder, bytes: &[u8]) -> PathBuf {
    let file = folder.file("a.json", bytes);
    index(&[Source::Path(file.clone())], &IndexConfig::default(), &config(IndexUse::Never))
        .unwrap();
    file
}

fn ask(file: &PathBuf, sql: &str, index: IndexUse) -> Result<Answered, QueryError> {
    answered(std::slice::from_ref(file), sql, &[], TableFormat::Csv, &config(index))
}

/// Asserts that an index changes neither the answer nor the reported inputs. Returns the number of
/// bytes that were read by the index, if it was used.
fn assert_equal(file: &PathBuf, sql: &str) -> Option<u64> {
    let with = ask(file, sql, IndexUse::Auto).unwrap();
    let without = ask(file, sql, IndexUse::Never).unwrap();
    let texts = [&with, &without].map(|answered| String::from_utf8_lossy(&answered.bytes));
    assert_eq!(texts[0], texts[1], "{sql}");
    let [inputs, others] = [&with, &without].map(|answered| {
        let inputs = answered.end.inputs.iter();
        Vec::from_iter(inputs.map(|input| (input.bytes, input.events, input.lost())))
    });
    assert_eq!(inputs, others, "{sql}");
    with.end.index.used.map(|(_, bytes)| bytes)
}

#[test]
fn an_index_changes_no_window() {
    let (mut used, mut rows) = (0, 0);
    for seed in seeds(0, 25) {
        let mut rng = Rng::new(seed);
        let streams = rng.index(3);
        let shape = TraceShape {
            events: 6000,
            profile_streams: streams,
            profile_rate: 20 * u64::from(streams > 0),
            ..TraceShape::plain(6000)
        };
        let folder = Folder::new();
        let file = indexed(&folder, &trace(seed, &shape));
        let bounds = ask(
            &file,
            "SELECT min(ts_ns), max(ts_ns) FROM events WHERE ph <> 'M'",
            IndexUse::Never,
        );
        let text = String::from_utf8(bounds.unwrap().bytes).unwrap();
        let times =
            text.lines().last().unwrap().split(',').map(|time| time.parse::<i64>().unwrap());
        let [least, greatest] = Vec::from_iter(times)[..] else { panic!("{text}") };
        for _ in 0..4 {
            let from = least + (greatest - least) / 100 * rng.range(0, 100) as i64;
            let to = from + (greatest - least) / 30;
            let columns = "byte_offset, name, ts_ns, args, file";
            let sql =
                format!("SELECT {columns} FROM events WHERE ts_ns >= {from} AND ts_ns < {to}");
            used += usize::from(assert_equal(&file, &sql).is_some());
            rows += ask(&file, &sql, IndexUse::Auto).unwrap().bytes.len();
            let sql =
                format!("SELECT number, utid FROM events WHERE ts_ns BETWEEN {from} AND {to}");
            assert_eq!(assert_equal(&file, &sql), None);
        }
        let sql = format!("SELECT count(*) FROM events WHERE ts_ns <= {least} AND ph = 'M'");
        assert_equal(&file, &sql);
    }
    assert!(used > 60 && rows > 100_000, "used {used} times, {rows} bytes of rows");
}

#[test]
fn an_index_answers_counts_and_bounds() {
    for seed in seeds(100, 40) {
        let mut rng = Rng::new(seed);
        let shape = TraceShape { events: 200, ..TraceShape::arbitrary(&mut rng) };
        let folder = Folder::new();
        let file = indexed(&folder, &trace(seed, &shape));
        for sql in [
            "SELECT count(*) FROM events",
            "SELECT count(*), min(ts_ns), max(ts_ns) FROM events",
            "SELECT count(1) AS n FROM events HAVING count(*) >= 0",
        ] {
            let read = assert_equal(&file, sql);
            assert!(read == Some(0) || sql.contains("min"), "{sql}: {read:?}");
        }
        for sql in [
            "SELECT max(ts_ns), max(dur_ns) FROM events",
            "SELECT count(*) FROM events WHERE name = 'a'",
            "SELECT count(*) FROM events WHERE false",
            "SELECT count(DISTINCT name) FROM events",
            "SELECT (SELECT count(*) FROM events) AS all, count(*) FROM events WHERE ph = 'X'",
            "SELECT * FROM trace_bounds",
            "SELECT trace_start(), trace_end() - trace_dur()",
            "SELECT file, size, encoding, events, sorted, lost FROM trace_file",
            "SELECT * FROM stats",
            "SELECT * FROM metadata",
        ] {
            assert_equal(&file, sql);
        }
        let sql = "SELECT count(*) AS n FROM (SELECT number FROM events LIMIT 3)";
        assert_eq!(ask(&file, sql, IndexUse::Auto).unwrap().bytes, b"n\n3\n");
    }
}

#[test]
fn traces_that_differ_from_their_index_are_read() {
    let folder = Folder::new();
    let text = trace(5, &TraceShape::plain(3000));
    let file = indexed(&folder, &text);
    let sql = "SELECT count(*) FROM events";
    assert_eq!(assert_equal(&file, sql), Some(0));
    let longer = trace(6, &TraceShape::plain(3100));
    folder.file("a.json", &longer);
    assert_eq!(assert_equal(&file, sql), None);
    let changed = ask(&file, sql, IndexUse::Auto).unwrap();
    assert_eq!(changed.end.warnings.len(), 1);
    let named = ask(&file, sql, IndexUse::File(index_path(&file)));
    assert!(matches!(named, Err(QueryError::Run(_))));
}

#[test]
fn losses_of_damaged_traces_are_reported_without_a_scan() {
    let folder = Folder::new();
    let text = trace(5, &TraceShape::plain(300));
    let file = indexed(&folder, &text[..text.len() - 200]);
    assert_eq!(assert_equal(&file, "SELECT count(*) FROM events"), Some(0));
    let lost =
        ask(&file, "SELECT count(*) FROM events", IndexUse::Auto).unwrap().end.inputs[0].lost();
    assert_eq!(lost, 1);
}
