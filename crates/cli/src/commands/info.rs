//! `tracemill info`: the counts as text for people, or as JSON.

use super::{pretty, report_place};
use crate::args::InfoArgs;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary, loss_texts, plain};
use crate::progress::Watch;
use crate::report::{self, Run};
use crate::size::{grouped, human, plural};
use crate::whole_file::Place;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{InfoReport, InputReport, ProcessInfo, Progress, info};

/// Width of the labels on the left.
const LABEL: usize = 11;
/// Threads that the text lists.
const THREADS: usize = 50;
/// Processes that the text lists.
const PROCESSES: usize = 50;
/// Inputs that the text lists.
const INPUTS: usize = 20;

/// Reads, then says what there is.
pub(super) fn run(args: &InfoArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let config = args.limits.config(&args.input, &progress)?;
    let sources = args.input.sources()?;
    let output = Place::of(args.output.output.as_deref().unwrap_or(Path::new("-")));
    output.check("the output", &sources, args.output.force)?;
    let report_place = report_place(&args.messages, &args.output, &sources)?;

    let watch = Watch::start(&args.messages, &progress);
    let counted = info(&sources, &config);
    drop(watch);
    let report = counted?;

    let elapsed = start.elapsed();
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    let json = report::info(&report, &Run { config: &config, elapsed });
    output.write(&if args.json { pretty(&json) } else { text(&report).into_bytes() })?;
    messages.inputs(&report.inputs);
    report.warnings.iter().for_each(|text| messages.warning(text));
    messages.losses(&report.inputs);
    messages.summary(&Summary::new("info", &report.inputs, lost, elapsed));
    if let Some(place) = report_place {
        place.write(&pretty(&json))?;
    }
    Ok(Exit::finished(lost))
}

/// Lines with labels on the left.
#[derive(Default)]
struct Text(String);

impl Text {
    /// A line of its own section.
    fn section(&mut self, label: &str, line: &str) {
        self.0.push_str(&format!("{label:<LABEL$}{}\n", plain(line)));
    }

    /// A further line of the section.
    fn line(&mut self, line: &str) {
        self.section("", line);
    }

    /// A section of any number of lines.
    fn lines(&mut self, label: &str, lines: impl IntoIterator<Item = String>) {
        let mut label = label;
        for line in lines {
            self.section(label, &line);
            label = "";
        }
    }
}

/// The report as text.
fn text(report: &InfoReport) -> String {
    let mut text = Text::default();
    text.lines("input", inputs(report));
    let mut events = format!("{} in {}", plural(report.events, "event"), human(report.event_bytes));
    for (count, what) in [(report.metadata, "metadata"), (report.untimed, "without a time")] {
        if count > 0 {
            events.push_str(&format!(", {} {what}", grouped(count)));
        }
    }
    text.section("events", &events);
    text.section("time", &time(report));
    let order = match report.inversions {
        0 => "sorted".to_owned(),
        n => format!("not sorted: {} out of order (merge sorts)", plural(n, "neighbour")),
    };
    text.section("order", &order);
    text.lines("phases", counts(&report.phases));
    processes(&mut text, &report.processes);
    text.lines("profiles", profiles(report));
    if !report.keys.is_empty() {
        text.section("keys", &report.keys.join(", "));
    }
    let damage = loss_texts(&report.inputs);
    if damage.is_empty() {
        text.section("damage", "none");
    }
    text.lines("damage", damage);
    text.0
}

fn inputs(report: &InfoReport) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for input in report.inputs.iter().take(INPUTS) {
        let bytes = plural(input.bytes, "byte");
        let encoding = input.encoding.map_or(String::new(), |encoding| format!(", {encoding}"));
        let events = plural(input.events, "event");
        lines.push(format!("{}: {events}, {bytes} ({}){encoding}", input.name, human(input.bytes)));
    }
    let more = report.inputs.len().saturating_sub(INPUTS);
    if more > 0 {
        lines.push(format!("… and {}; --json has all", grouped(more as u64)));
    }
    lines
}

fn time(report: &InfoReport) -> String {
    match (report.start_ns, report.end_ns) {
        (Some(start), Some(end)) => {
            let duration = i128::from(end) - i128::from(start);
            format!("{} to {} µs ({})", micros(start), micros(end), duration_text(duration))
        }
        _ => "none".to_owned(),
    }
}

/// Nanoseconds as microseconds, exactly.
pub(super) fn micros(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    let text = format!("{sign}{}.{:03}", ns / 1000, ns % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A duration for a reader: two units at most, three figures or more.
pub(super) fn duration_text(ns: i128) -> String {
    let ns = u64::try_from(ns).unwrap_or(u64::MAX);
    let seconds = ns / 1_000_000_000;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.2} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", ns as f64 / 1e6),
        // from there on it would round to 60.00 s
        1_000_000_000..59_995_000_000 => format!("{:.2} s", ns as f64 / 1e9),
        _ if seconds < 60 => "1 min 0 s".to_owned(),
        _ if seconds < 3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ if seconds < 86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// Names on the left, counts right-aligned.
fn counts(rows: &[(String, u64)]) -> Vec<String> {
    let rows: Vec<_> = rows.iter().map(|(name, n)| (plain(name), grouped(*n))).collect();
    let names = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let numbers = rows.iter().map(|(_, n)| n.len()).max().unwrap_or(0);
    rows.iter().map(|(name, n)| format!("{name:<names$}  {n:>numbers$}")).collect()
}

fn profiles(report: &InfoReport) -> Vec<String> {
    let mut lines: Vec<String> = report
        .profiles
        .iter()
        .take(THREADS)
        .map(|profile| {
            let [pid, tid, id] = [&profile.pid, &profile.tid, &profile.id]
                .map(|id| title(id.trim_matches('"'), None));
            let chunks = plural(profile.chunks, "chunk");
            format!("pid {pid}, tid {tid}, id {id}: {chunks}, {}", human(profile.bytes))
        })
        .collect();
    let more = report.profiles.len().saturating_sub(THREADS);
    if more > 0 {
        lines.push(format!("… and {} more; --json has all", grouped(more as u64)));
    }
    lines
}

fn processes(text: &mut Text, processes: &[ProcessInfo]) {
    let mut label = "processes";
    let mut room = THREADS;
    for process in processes.iter().take(PROCESSES) {
        let threads = plural(process.threads.len() as u64, "thread");
        let events = plural(process.events, "event");
        let name = title(&process.pid, process.name.as_deref());
        text.section(label, &format!("{name}: {events}, {threads}"));
        label = "";
        let rows: Vec<_> = process
            .threads
            .iter()
            .take(room)
            .map(|thread| (title(&thread.tid, thread.name.as_deref()), thread.events))
            .collect();
        counts(&rows).iter().for_each(|row| text.line(&format!("  {row}")));
        room -= rows.len();
    }
    let listed = processes.len().min(PROCESSES);
    let threads: usize = processes.iter().map(|process| process.threads.len()).sum();
    let more: Vec<String> = [
        (processes.len() - listed, "more processes"),
        (threads - (THREADS - room), "more threads"),
    ]
    .into_iter()
    .filter(|&(n, _)| n > 0)
    .map(|(n, what)| format!("{} {what}", grouped(n as u64)))
    .collect();
    if !more.is_empty() {
        text.line(&format!("… and {}; --json has all", more.join(", ")));
    }
}

/// An id with its name.
pub(super) fn title(id: &str, name: Option<&str>) -> String {
    let id = if id.is_empty() { "(none)" } else { id };
    match name {
        Some(name) if !name.is_empty() => format!("{id} {name}"),
        _ => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_pipeline::{DamageKind, Losses, ProfileCount, ThreadInfo};
    use tracemill_tokenizer::Damage;

    #[test]
    fn times_are_exact() {
        let cases = [
            (0, "0"),
            (1, "0.001"),
            (-1, "-0.001"),
            (1500, "1.5"),
            (100_000, "100"),
            (-100_010, "-100.01"),
            (1_700_000_000_000_000_123, "1700000000000000.123"),
            (i64::MIN, "-9223372036854775.808"),
        ];
        for (ns, text) in cases {
            assert_eq!(micros(ns), text);
        }
    }

    #[test]
    fn durations_are_for_people() {
        let cases = [
            (0, "0 ns"),
            (1_500, "1.50 µs"),
            (2_340_000, "2.34 ms"),
            (1_000_000_000, "1.00 s"),
            (59_999_000_000, "1 min 0 s"),
            (61_000_000_000, "1 min 1 s"),
            (3_661_000_000_000, "1 h 1 min"),
            (90_000_000_000_000, "1 d 1 h"),
            (i128::from(u64::MAX) * 2, "213503 d 23 h"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration_text(ns), text);
        }
    }

    fn report() -> InfoReport {
        let mut losses = Losses::default();
        losses.add(&Damage { kind: DamageKind::Truncated, offset: 7, noticed: 9, lost: b"{\"a" });
        let input = InputReport {
            name: "a.json".into(),
            bytes: 2000,
            events: 1003,
            encoding: Some("gzip"),
            losses,
            ..InputReport::default()
        };
        let thread = |tid: &str, name: Option<&str>, events| ThreadInfo {
            tid: tid.into(),
            name: name.map(str::to_owned),
            events,
        };
        InfoReport {
            warnings: Vec::new(),
            inputs: vec![input],
            events: 1003,
            event_bytes: 1900,
            metadata: 3,
            untimed: 0,
            start_ns: Some(1_000),
            end_ns: Some(2_001_500),
            sorted: false,
            inversions: 1,
            phases: vec![("X".into(), 1000), ("M".into(), 3)],
            processes: vec![ProcessInfo {
                pid: "10".into(),
                name: Some("Browser".into()),
                events: 1003,
                threads: vec![thread("1", Some("Main\u{1b}"), 1000), thread("", None, 3)],
            }],
            profiles: vec![ProfileCount {
                pid: "10".into(),
                tid: "1".into(),
                id: "\"0x1\"".into(),
                chunks: 2,
                bytes: 2048,
            }],
            keys: vec!["metadata".into(), "stackFrames".into()],
        }
    }

    #[test]
    fn the_text_is_aligned() {
        let expected = "\
input      a.json: 1,003 events, 2,000 bytes (2.0 KiB), gzip
events     1,003 events in 1.9 KiB, 3 metadata
time       1 to 2001.5 µs (2.00 ms)
order      not sorted: 1 neighbour out of order (merge sorts)
phases     X  1,000
           M      3
processes  10 Browser: 1,003 events, 2 threads
             1 Main\\u{1b}  1,000
             (none)            3
profiles   pid 10, tid 1, id 0x1: 2 chunks, 2.0 KiB
keys       metadata, stackFrames
damage     a.json: lost 1 × truncated (3 bytes): cut off before its end; first at byte 7: {\"a
";
        assert_eq!(text(&report()), expected);
    }

    #[test]
    fn an_empty_trace_has_a_text() {
        let expected = "\
events     0 events in 0 B
time       none
order      sorted
damage     none
";
        assert_eq!(text(&InfoReport { sorted: true, ..InfoReport::default() }), expected);
    }

    #[test]
    fn long_lists_are_cut() {
        let thread = ThreadInfo { tid: "1".into(), name: None, events: 1 };
        let process = |threads| ProcessInfo {
            threads: vec![thread.clone(); threads],
            ..ProcessInfo::default()
        };
        let report = InfoReport {
            processes: [vec![process(30); 2], vec![process(1); 60]].concat(),
            ..InfoReport::default()
        };
        let text = text(&report);
        assert_eq!(text.lines().filter(|line| line.starts_with("             1")).count(), THREADS);
        assert!(
            text.contains("… and 12 more processes, 70 more threads; --json has all"),
            "{text}"
        );
    }
}
