//! Files in `testdata/` behave as its tables state, whatever the knobs.

use crate::run::{Knobs, PLAIN, knobs, read, run, run_files, run_sources};
use crate::trace::{Output, assert_same, contains, text_of};
use std::path::{Path, PathBuf};
use tracemill_join::report::MergeReport;
use tracemill_testkit::reference;
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::losses::Losses;
use tracemill_trace::{Error, Source};

/// Malformed files of `quirks/` from which events are kept; the reference refuses them.
const ILL_FORMED: [&str; 24] = [
    "args-trailing-comma.json",
    "array-leading-comma.json",
    "array-trailing-comma.json",
    "array-unclosed-after-comma.json",
    "array-unclosed.json",
    "comments.json",
    "extra-brace.json",
    "garbage-between.json",
    "gzip-truncated.json.gz",
    "invalid-utf8.json",
    "missing-brace.json",
    "nan-infinity.json",
    "ndjson-bad-line.ndjson",
    "non-object-elements.json",
    "object-unclosed.json",
    "raw-control-in-name.json",
    "truncated-in-args.json",
    "truncated-in-key.json",
    "truncated-in-metadata.json",
    "truncated-in-string.json",
    "unescaped-quote-pair.json",
    "unescaped-quote.json",
    "windows-backslash-at-end.json",
    "windows-backslash.json",
];

fn corners() -> impl Iterator<Item = Knobs> {
    [1, 9, 17, 28, 42, 53, 64, 85].into_iter().map(knobs)
}

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(path)
}

fn losses(report: &MergeReport) -> &Losses {
    &report.run.inputs[0].losses
}

fn kept_lapses(report: &MergeReport) -> u64 {
    report.run.inputs.iter().map(|input| input.lapses.kept()).sum()
}

/// Merges one file with all knobs and asserts equal results. Returns the result.
#[track_caller]
fn merge_one(file: &Path) -> Result<(Vec<u8>, MergeReport), Error> {
    let name = file.display().to_string();
    let plain = run_files(&[file], None, PLAIN);
    for corner in corners() {
        match (&plain, run_files(&[file], None, corner)) {
            (Ok((expected, report)), Ok((got, again))) => {
                assert_same(&format!("{name} {corner:?}"), expected, &got);
                assert_eq!(losses(report), losses(&again), "{name} {corner:?}");
                assert_eq!(
                    report.run.inputs[0].lapses, again.run.inputs[0].lapses,
                    "{name} {corner:?}"
                );
            }
            (Err(expected), Err(got)) => {
                assert_eq!(expected.class(), got.class(), "{name} {corner:?}: {expected}; {got}");
            }
            (expected, got) => panic!("{name} {corner:?}: {expected:?}\n{got:?}"),
        }
    }
    plain
}

struct Row {
    file: String,
    kept: usize,
    lost: u64,
    exit: u8,
}

fn rows() -> Vec<Row> {
    let table = String::from_utf8(read(&testdata("quirks/expected.tsv"))).expect("text");
    let row = |line: &str| {
        let [file, kept, lost, exit] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {line}");
        };
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("a number: {line}"));
        let (kept, lost, exit) = (number(kept), number(lost), number(exit));
        Row { file: file.to_owned(), kept: kept as usize, lost, exit: exit as u8 }
    };
    table.lines().skip(1).map(row).collect()
}

fn check_row(row: &Row) {
    let Row { file: name, kept, lost, exit } = row;
    let file = testdata("quirks").join(name);
    let merged = merge_one(&file);
    if *exit == 3 {
        let error = merged.expect_err(name);
        assert_eq!(error.class(), ErrorClass::Input, "{name}: {error}");
        assert!(error.to_string().contains(name), "{error}");
        return;
    }
    let (output, report) = merged.unwrap_or_else(|error| panic!("{name}: {error}"));
    let parsed = Output::parse(report.run.format, &output);
    assert_eq!(
        (parsed.events.len(), report.run.events),
        (*kept, *kept as u64),
        "{name}: {report:#?}"
    );
    if name.ends_with(".cpuprofile") {
        // events of profiles are synthetic, not copied
        check_losses(name, (report.run.lost(), kept_lapses(&report)), *lost, *exit);
        return check_again(name, &output);
    }
    let text = text_of(&file);
    for event in &parsed.events {
        assert!(contains(&text, event), "{name}: {}", String::from_utf8_lossy(event));
    }
    check_losses(name, (report.run.lost(), kept_lapses(&report)), *lost, *exit);
    check_ranks(name, &parsed.events);
    check_again(name, &output);
    let well_formed = !ILL_FORMED.contains(&name.as_str());
    match reference::merge(&[&text], None) {
        Ok(expected) if well_formed => assert_same(name, &expected, &output),
        Err(error) if well_formed => panic!("{name} is listed as well-formed: {error}"),
        Ok(_) => panic!("{name} is listed as not well-formed"),
        Err(_) => {}
    }
    if *exit == 1 {
        check_strict(&file);
    }
}

/// Asserts that the numbers of losses and of kept events that are not JSON fit the exit status.
fn check_losses(name: &str, found: (u64, u64), at_least: u64, exit: u8) {
    match exit {
        0 => assert_eq!(found, (0, 0), "{name}"),
        _ if found.1 > 0 => assert!(found.0 >= at_least, "{name}: {found:?}"),
        _ => assert!(found.0 >= at_least.max(1), "{name}: {found:?}"),
    }
}

/// Asserts that events which state their rank have it in the output.
fn check_ranks(name: &str, events: &[&[u8]]) {
    let rank = |event: &&[u8]| -> Option<usize> {
        let text = String::from_utf8_lossy(event).into_owned();
        let digits = text.split_once("\"rank\":")?.1;
        let end = digits.find(|c: char| !c.is_ascii_digit())?;
        digits[..end].parse().ok()
    };
    let ranks: Vec<usize> = events.iter().filter_map(rank).collect();
    assert!(ranks.is_empty() || ranks.iter().copied().eq(0..events.len()), "{name}: {ranks:?}");
}

fn check_again(name: &str, output: &[u8]) {
    let (again, report) = run(&[output], None, PLAIN).expect(name);
    assert_same(&format!("{name} again"), output, &again);
    assert_eq!(report.run.lost(), 0, "{name} again");
}

fn check_strict(file: &Path) {
    let strict = crate::run::strict(PLAIN);
    let result = run_sources(&[Source::Path(file.to_owned())], None, &strict);
    let error = result.expect_err("a defect");
    assert_eq!(error.class(), ErrorClass::Input, "{}: {error}", file.display());
}

/// Returns the rows of the tables in `testdata/README.md`.
fn documented() -> Vec<Row> {
    let text = String::from_utf8(read(&testdata("README.md"))).expect("text");
    let tables = text.split_once("\n## quirks").expect("a section on quirks").1;
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let file = cells.first()?.strip_prefix("| `")?.strip_suffix('`')?.to_owned();
        let number = |cell: &str| cell.trim_start_matches("≥ ").parse::<u64>().expect(line);
        let (kept, lost, exit) = (number(cells[2]), number(cells[3]), number(cells[4]));
        Some(Row { file, kept: kept as usize, lost, exit: exit as u8 })
    };
    tables.lines().filter_map(row).collect()
}

#[test]
fn quirks_behave_as_documented() {
    rows().iter().for_each(check_row);
}

#[test]
fn every_quirk_is_in_both_tables() {
    let mut files: Vec<String> = std::fs::read_dir(testdata("quirks"))
        .expect("the folder of quirks")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name != "expected.tsv")
        .collect();
    files.sort();
    let rows = rows();
    let mut listed: Vec<&String> = rows.iter().map(|row| &row.file).collect();
    let figures = |row: &Row| (row.file.clone(), row.kept, row.lost, row.exit);
    let documented = documented();
    assert_eq!(
        documented.iter().map(figures).collect::<Vec<_>>(),
        rows.iter().map(figures).collect::<Vec<_>>()
    );
    listed.sort();
    assert_eq!(listed, files.iter().collect::<Vec<_>>());
    let unknown = ILL_FORMED.iter().find(|name| !files.contains(&(**name).to_owned()));
    assert_eq!(unknown, None);
}

#[test]
fn stack_frames_of_two_files_are_merged_or_renamed() {
    let files = ["quirks/stack-frames.json", "quirks/stack-frames-colliding.json"].map(testdata);
    check_against_reference(&[&files[0], &files[1]]);
    check_against_reference(&[&files[1], &files[0]]);
    check_against_reference(&[&files[0], &files[0]]);
}

/// Asserts that nothing is lost and that the output equals the reference.
#[track_caller]
fn check_against_reference(files: &[&Path]) {
    let texts: Vec<Vec<u8>> = files.iter().map(|file| text_of(file)).collect();
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let expected = reference::merge(&texts, None).expect("well-formed");
    for corner in [PLAIN].into_iter().chain(corners()) {
        // reading large files byte by byte is slow
        let corner = Knobs { read_size: corner.read_size.map(|size| size.max(63)), ..corner };
        let (output, report) = run_files(files, None, corner).expect("well-formed");
        assert_same(&format!("{files:?} {corner:?}"), &expected, &output);
        assert_eq!(report.run.lost(), 0, "{files:?} {corner:?}: {report:#?}");
    }
}

#[test]
fn merged_recordings_equal_the_reference() {
    let node = ["node/trace.json", "node/trace-2.json"].map(testdata);
    check_against_reference(&[&node[0]]);
    check_against_reference(&[&node[1]]);
    check_against_reference(&[&node[0], &node[1]]);
    check_against_reference(&[&testdata("chromium/trace.json.gz")]);
}

#[test]
fn unescaped_names_lose_only_their_own_event() {
    let file = testdata("node/nasty-names.log");
    let (output, report) = merge_one(&file).expect("a trace");
    let events = Output::parse(report.run.format, &output).events;
    let count = |part: &[u8]| events.iter().filter(|event| contains(event, part)).count();
    assert_eq!((count(b"\"time::good "), count(b"\"ph\":\"M\"")), (72, 18));
    let text = text_of(&file);
    for event in &events {
        assert!(contains(&text, event), "{}", String::from_utf8_lossy(event));
    }
    assert!(report.run.lost() > 0);
    for (kind, tally) in losses(&report).iter() {
        assert!(!tally.examples.is_empty(), "{kind:?}");
        for example in &tally.examples {
            let lost = &text[example.offset as usize..][..example.bytes as usize];
            assert!(!lost.is_empty() && example.noticed >= example.offset, "{example:?}");
            // unprintable bytes are escaped, all others are not
            let plain = lost.escape_ascii().to_string();
            let plain = plain.replace("\\\"", "\"").replace("\\'", "'").replace("\\\\", "\\");
            assert!(plain.starts_with(example.excerpt.trim_end_matches('…')), "{example:?}");
            assert!(example.excerpt.len() >= lost.len().min(60), "{example:?}");
        }
    }
    check_again("nasty-names.log", &output);
    check_strict(&file);
}

#[test]
fn cpuprofile_files_become_traces() {
    for (name, main) in [
        ("CPU.20261121.044053.5418.0.001", &b"\"main thread\""[..]),
        ("CPU.20261121.044054.5418.1.002", b"\"worker 1\""),
    ] {
        let file = testdata(&format!("node/{name}.cpuprofile"));
        let (output, report) = merge_one(&file).expect("a profile");
        let events = Output::parse(report.run.format, &output).events;
        assert!(events.iter().all(|event| contains(event, b"\"pid\":5418")), "{name}");
        assert!(contains(events[0], b"\"Process 5418\"") && contains(events[1], main), "{name}");
        assert_eq!(
            (report.run.lost(), report.run.inputs[0].profiles),
            (0, 1),
            "{name}: {report:#?}"
        );
        assert!(report.run.inputs[0].flaws.is_empty(), "{name}: {report:#?}");
        check_again(name, &output);
    }
}

#[test]
fn files_of_other_formats_are_refused_by_name() {
    for (file, format) in [
        ("page.html", "HTML"),
        ("archive.zip", "zip archive"),
        ("perfetto.pftrace", "Perfetto protobuf"),
        ("elf.bin", "ELF"),
        ("number.json", "no event, no array and no object"),
        ("string.json", "no event, no array and no object"),
        ("object-without-events.json", "object without traceEvents"),
        ("text.txt", "no event, no array and no object"),
        ("systrace-like.txt", "ftrace"),
        ("heap.heapprofile", "V8 heap profile"),
        ("heap.heapsnapshot", "V8 heap snapshot"),
        ("nested.json", "there is a trace in it, at byte 8:"),
        ("page.html", "there is a trace in it, at byte 212:"),
    ] {
        check_refused(&format!("not-traces/{file}"), format);
    }
}

#[track_caller]
fn check_refused(file: &str, format: &str) {
    let path = testdata(file);
    let error = merge_one(&path).expect_err("no trace");
    assert_eq!(error.class(), ErrorClass::Input, "{error}");
    let (message, name) = (error.to_string(), path.display().to_string());
    assert!(message.contains(&name) && message.contains(format), "{message}");
    // also together with a valid trace, because no named input may be left out
    let good = testdata("quirks/two-documents.json");
    let error = run_files(&[&good, &path], None, PLAIN).expect_err("no trace");
    assert!(error.to_string().contains(&name), "{error}");
}
