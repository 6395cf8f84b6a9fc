//! SQL and traces with random changes: each query ends with rows or with an error that says why.

use crate::support::{Knobs, answer};
use tracemill::engine::{QueryError, TableFormat};
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::mutate::mutated;
use tracemill_testkit::{Folder, Rng, seeds};
use tracemill_trace::ErrorKind;

const QUERIES: [&str; 10] = [
    "SELECT name, count(*), sum(dur_ns) FROM events WHERE ts_ns > 5 GROUP BY 1 ORDER BY 3 DESC LIMIT 5",
    "SELECT id, depth, parent_id, self_dur FROM slice WHERE name LIKE 'a%' AND dur BETWEEN 1 AND 9",
    "SELECT extract_arg(arg_set_id, 'args.data[0].k') FROM slice",
    "SELECT args->'a'->>'b', args->>'c' FROM events WHERE args->>'k' = '\u{1F600}'",
    "SELECT * FROM flow JOIN slice ON slice.id = flow.slice_in",
    "INCLUDE PERFETTO MODULE slices.self_dur; CREATE VIEW v AS SELECT 1 AS n; SELECT * FROM v",
    "SELECT avg(value), max(track_id) FROM counter WHERE value > $least OR value IS NULL",
    "SELECT CASE WHEN ph IN ('X', 'B') THEN pid % 0 ELSE -tid END FROM events",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
    "SELECT rank() OVER (PARTITION BY tid ORDER BY ts_ns), ts_text::double FROM events",
];

/// Answers a query, and checks that an error is one of those that a query may end with.
fn ends(files: &[std::path::PathBuf], sql: &str, context: &str) -> bool {
    let knobs = Knobs { threads: 2, memory: 64 << 20 };
    match answer(files, sql, TableFormat::Ndjson, knobs) {
        Ok(_) => true,
        Err(QueryError::Sql(text)) => {
            assert!(!text.is_empty() && !text.contains("panicked"), "{context}: {text}");
            assert!(!text.contains("internal error"), "{context}: {text}");
            false
        }
        Err(QueryError::Run(error)) => {
            assert!(!matches!(error.kind(), ErrorKind::Cancelled), "{context}: {error}");
            false
        }
        Err(QueryError::Write(error)) => panic!("{context}: {error}"),
    }
}

#[test]
fn changed_sql_ends() {
    let folder = Folder::new();
    let file = folder.file("a.json", trace(1, &TraceShape::plain(40)));
    let (mut answered, mut refused) = (0, 0);
    for seed in seeds(0, 200) {
        let mut rng = Rng::new(seed);
        let [sql, other] = [rng.pick(&QUERIES), rng.pick(&QUERIES)];
        let bytes = mutated(&mut rng, sql.as_bytes(), other.as_bytes());
        // a recursive query without an end needs Ctrl-C
        let sql = String::from_utf8_lossy(&bytes).to_lowercase();
        if sql.contains("recursive") || sql.contains("generate_series") {
            continue;
        }
        match ends(std::slice::from_ref(&file), &sql, &format!("seed {seed}: {sql}")) {
            true => answered += 1,
            false => refused += 1,
        }
    }
    assert!(answered > 3 && refused > 100, "{answered} answered, {refused} refused");
}

#[test]
fn changed_traces_end() {
    let folder = Folder::new();
    let mut answered = 0;
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed);
        let traces =
            [seed, seed + 1].map(|seed| trace(seed, &TraceShape::arbitrary(&mut Rng::new(seed))));
        let bytes = mutated(&mut rng, &traces[0], &traces[1]);
        let file = folder.file("a.json", bytes);
        for table in ["events", "slice", "flow", "counter", "args", "process_track", "stack_sample"]
        {
            let sql = format!("SELECT * FROM {table}");
            answered += usize::from(ends(
                std::slice::from_ref(&file),
                &sql,
                &format!("seed {seed}: {table}"),
            ));
        }
    }
    assert!(answered > 120, "only {answered} queries were answered");
}
