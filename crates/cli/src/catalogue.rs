//! Lists all messages with sample values in one file, so that they can be reviewed together.
//! `UPDATE_GOLDEN=1 cargo test` writes the file again.

use crate::outcome::remedies;
use std::fmt::Write;
use std::io::{Error as IoError, ErrorKind as IoKind};
use std::path::Path;
use tracemill_inspect::check::check_rules;
use tracemill_join::config::CheckFor;
use tracemill_join::read_plan::Unused;
use tracemill_join::report::annotation_drop::AnnotationDrop;
use tracemill_join::report::warning::Warning;
use tracemill_trace::read::{InputWarning, ProfilePlace};
use tracemill_trace::run::error::{Error, ErrorKind};
use tracemill_trace::run::flaws::FlawKind;
use tracemill_trace::time::windows::TimeSpan;

const VIEWER: Option<CheckFor> = Some(CheckFor::Devtools);
const S: i64 = 1_000_000_000;

fn a() -> String {
    "a.json".to_owned()
}

fn input_warnings() -> Vec<Warning> {
    let first = "x.txt is not a trace: text".to_owned();
    let profile = |number, place| InputWarning::Profile { input: a(), number, place };
    [
        InputWarning::LeftOut { files: 1, first: first.clone() },
        InputWarning::LeftOut { files: 7, first },
        InputWarning::ProfilesBehind { input: a(), profiles: 2, offset: 900 },
        profile(None, ProfilePlace::Assigned { pid: 1, tid: 2 }),
        profile(Some(3), ProfilePlace::Moved { pid: 1, tid: 2 }),
    ]
    .map(Warning::Input)
    .into()
}

fn warnings() -> Vec<Warning> {
    use AnnotationDrop::*;
    let drops = [Malformed, Frame, Damaged, Gone, Parts, Call, Unfollowed, Breadcrumb];
    let inputs = (a(), "b.json".to_owned());
    let trace = TimeSpan::new(2 * S, 5 * S);
    vec![
        Warning::KeysLost(vec!["\"metadata\"".to_owned()]),
        Warning::KeysTooLate(vec!["\"metadata\"".to_owned()]),
        Warning::FramesKeptApart { document: 2, id: "\"7\"".to_owned() },
        Warning::UnorderedStream("pid 1, id 0x1".to_owned()),
        Warning::BreaksEscaped(3),
        Warning::AnnotationsDropped((1..).zip(drops).map(|(count, drop)| (drop, count)).collect()),
        Warning::TooLarge { bytes: 1 << 30, lasts: Some(6_000_000_000) },
        Warning::TooLarge { bytes: 1 << 30, lasts: None },
        Warning::HiddenProfiles,
        Warning::PartsTooLarge { larger: 1, of: 9, most: 1000, viewer: None },
        Warning::PartsTooLarge { larger: 2, of: 9, most: 1000, viewer: VIEWER },
        Warning::InPart("part-1.json".into(), Box::new(Warning::HiddenProfiles)),
        Warning::DoesNotFit { bytes: 2000, most: 1000, viewer: None },
        Warning::DoesNotFit { bytes: 2000, most: 1000, viewer: VIEWER },
        Warning::NoTimes,
        Warning::WindowOutside { window: TimeSpan::new(0, S), trace },
        Warning::WindowOutside { window: TimeSpan::new(9 * S, i64::MAX), trace },
        Warning::WindowEmpty { windows: vec![TimeSpan::new(3 * S, 4 * S)], trace },
        Warning::ProfilesKeptWhole(2),
        Warning::EmptyProfile(["1", "2", "0x1"].map(str::to_owned)),
        Warning::SeveralBaseTimes(a()),
        Warning::TakenAsSince1970(a()),
        Warning::NotAligned { input: a(), why: "has no event named tick".to_owned() },
        Warning::MarkersDiffer {
            marker: "tick".to_owned(),
            reference: (a(), 5),
            input: (inputs.1.clone(), 4),
            matches: 3,
        },
        Warning::OneMarker("tick".to_owned()),
        Warning::FarApart { later: inputs.0.clone(), earlier: inputs.1.clone(), since_1970: true },
        Warning::FarApart { later: inputs.0.clone(), earlier: inputs.1.clone(), since_1970: false },
        Warning::ClocksDiffer([(a(), "monotonic".to_owned()), (inputs.1, "tsc".to_owned())]),
        Warning::TimesInexact,
        Warning::IndexUnused {
            index: "a.json.tmi".to_owned(),
            why: "it is cut off".to_owned(),
            trace: a(),
        },
        Warning::IndexNotKept { trace: a(), why: "No space left on device".to_owned() },
        Warning::OnlyAsAWhole { trace: "a.json.gz".to_owned() },
    ]
}

fn errors() -> Vec<Error> {
    let io = || IoError::from(IoKind::PermissionDenied);
    let kinds = vec![
        ErrorKind::Read { input: a(), source: io() },
        ErrorKind::NotATrace { input: a(), offset: 0, found: "a folder".to_owned(), around: None },
        ErrorKind::NotATrace { input: a(), offset: 9, found: "text".to_owned(), around: None },
        ErrorKind::Defect { input: a(), offset: 9, problem: "expected `:`".into(), around: None },
        ErrorKind::Changed { input: a(), how: "became shorter".to_owned() },
        ErrorKind::Scratch { folder: "/tmp".to_owned(), source: io() },
        ErrorKind::OutputIsInput { path: a() },
        ErrorKind::OutputInFolder { path: "in/b.json".to_owned(), folder: "in".to_owned() },
        ErrorKind::OutputExists { path: a() },
        ErrorKind::Write { path: a(), source: IoError::from(IoKind::NotFound) },
        ErrorKind::Write { path: a(), source: io() },
        ErrorKind::BrokenPipe,
        ErrorKind::Cancelled,
        ErrorKind::Budget { given: 1 << 20, least: 64 << 20 },
        ErrorKind::Exceeded { what: "threads take 8 MiB".to_owned(), given: 64 << 20 },
        ErrorKind::OnePiece { input: "a.json.zst".to_owned(), most: 64 << 20 },
        ErrorKind::TooLarge { bytes: 1 << 50, most: 1 << 48 },
    ];
    kinds.into_iter().map(Error::from).collect()
}

fn catalogue() -> String {
    let mut text = String::new();
    let mut part = |title: &str, lines: Vec<String>| {
        let _ = writeln!(text, "# {title}\n{}\n", lines.join("\n"));
    };
    let all = Vec::from_iter(input_warnings().into_iter().chain(warnings()));
    part("Warnings", remedies::warnings(&all));
    let of = |error: &Error| error.remedy().map_or_else(String::new, remedies::of);
    part("Errors", errors().iter().map(|error| format!("{error}{}", of(error))).collect());
    use Unused::*;
    let reasons = [Several, Strict, Copied, Damaged, Tied, Most, Packed, NoRoom];
    part("Reasons not to use an index", reasons.map(|why| why.text().to_owned()).into());
    let finding = |(name, sentence): (&str, &str)| {
        format!("{name}: {sentence}\n    {}", remedies::of_finding(name))
    };
    part("Findings of check", check_rules().map(finding).collect());
    let flaw = |kind: &FlawKind| format!("{}: {}", kind.name(), kind.sentence());
    part("Flaws of CPU profiles", FlawKind::ALL.iter().map(flaw).collect());
    text.truncate(text.trim_end().len() + 1);
    text
}

#[test]
fn messages_are_golden() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/messages.txt");
    let text = catalogue();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("the golden file is written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "if this is right: UPDATE_GOLDEN=1");
}
