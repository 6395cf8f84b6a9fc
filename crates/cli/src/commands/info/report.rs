//! The detailed sections of `info`.

use super::brief::kept_text;
use super::page::{FigureTable, InfoPage};
use super::words::{duration_text, micros, short, sparkline, title};
use crate::messages::loss_texts;
use crate::text::size::human;
use tracemill_inspect::info::{InfoReport, RealEvent, TopList, TopRow, Unended, Usage};
use tracemill_trace::run::words::{grouped, plural};

/// Maximum number of threads listed.
const THREADS: usize = 50;
/// Maximum number of processes listed.
const PROCESSES: usize = 50;
/// Maximum number of inputs listed.
const INPUTS: usize = 20;

pub(super) fn page_of(report: &InfoReport) -> InfoPage {
    let mut page = InfoPage::default();
    page.lines("input", inputs(report));
    page.line("events", events(report));
    page.line("time", time(report));
    for (label, event) in [("first", &report.first), ("last", &report.last)] {
        page.lines(label, event.iter().map(|event| moment(event, report)).collect());
    }
    page.lines("density", density(report));
    page.lines("gaps", gaps(report));
    page.line("order", order(report));
    page.lines("phases", counts(&report.phases));
    page.table("processes", processes(report));
    let full = report.args.is_some();
    tops("names", &report.names, full, report, &mut page);
    page.lines("unended", unended(report).into_iter().collect());
    tops("categories", &report.categories, false, report, &mut page);
    report.args.iter().for_each(|args| tops("args", args, false, report, &mut page));
    page.lines("profiles", profiles(report));
    if !report.keys.is_empty() {
        page.line("keys", report.keys.join(", "));
    }
    let damage = loss_texts(&report.inputs);
    page.lines("damage", if damage.is_empty() { vec!["none".to_owned()] } else { damage });
    page
}

fn inputs(report: &InfoReport) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for input in report.inputs.iter().take(INPUTS) {
        let bytes = plural(input.bytes, "byte");
        let encoding = input.encoding.map_or(String::new(), |encoding| format!(", {encoding}"));
        let events = plural(input.events, "event");
        lines.push(format!("{}: {events}, {bytes} ({}){encoding}", input.name, human(input.bytes)));
    }
    lines.extend(more(report.inputs.len(), INPUTS));
    lines
}

/// Returns a line that says how many rows of a list are left out.
fn more(all: usize, listed: usize) -> Option<String> {
    let more = all.saturating_sub(listed) as u64;
    (more > 0).then(|| format!("… and {}; --json has all", grouped(more)))
}

fn events(report: &InfoReport) -> String {
    let mut events = format!("{} in {}", plural(report.events, "event"), human(report.event_bytes));
    let is_before_start = report.start_ns > Some(0);
    let kinds = [
        (report.metadata, "metadata"),
        (report.untimed, "without a time"),
        (if is_before_start { report.at_zero } else { 0 }, "at time 0, before the start"),
    ];
    for (count, what) in kinds {
        if count > 0 {
            events.push_str(&format!(", {} {what}", grouped(count)));
        }
    }
    events
}

fn time(report: &InfoReport) -> String {
    let Some((start, end)) = report.bounds_ns() else { return "none".to_owned() };
    let duration = duration_text(i128::from(end) - i128::from(start));
    let kept = report.window.map_or(String::new(), |window| format!("; {}", kept_text(&window)));
    format!("{} to {} µs ({duration}{kept})", micros(start), micros(end))
}

/// Returns a line about slices without an end.
fn unended(report: &InfoReport) -> Option<String> {
    let Unended { slices, self_ns } = report.unended;
    let self_time = duration_text(self_ns.into());
    (slices > 0 && report.args.is_some()).then(|| {
        let begin = if slices == 1 { "begins and never ends" } else { "begin and never end" };
        let what = plural(slices, "slice");
        format!("{what} {begin} (B without E): {self_time} of their own, in no self time")
    })
}

/// Formats an event and its offset.
fn moment(event: &RealEvent, report: &InfoReport) -> String {
    let ids = [("pid", &event.pid), ("tid", &event.tid)]
        .map(|(what, id)| format!("{what} {}", title(id, None)))
        .join(", ");
    let input =
        if report.inputs.len() > 1 { format!(" of {}", event.input) } else { String::new() };
    let (ts, offset) = (micros(event.ts_ns), grouped(event.offset));
    let name = short(event.name.as_deref());
    format!("{ts} µs: {} {name}, {ids}, at byte {offset}{input}", event.phase)
}

fn density(report: &InfoReport) -> Vec<String> {
    let Some(density) = &report.density else { return Vec::new() };
    let column = duration_text(density.column_ns.into());
    let most = density.events.iter().copied().max().unwrap_or(0);
    let scale = format!("a column is {column}; the highest has {}", plural(most, "event"));
    vec![sparkline(&density.events), scale]
}

fn gaps(report: &InfoReport) -> Vec<String> {
    let Some(first) = &report.first else { return Vec::new() };
    let gaps = report.gaps.iter().map(|gap| {
        let after = i128::from(gap.from_ns) - i128::from(first.ts_ns);
        let (length, after) = (duration_text(gap.length_ns().into()), duration_text(after));
        format!("{length} from {} µs on, {after} after the first event", micros(gap.from_ns))
    });
    let gaps: Vec<String> = gaps.collect();
    match gaps.is_empty() {
        true => vec![format!("none of {} or more", duration_text(report.least_gap_ns.into()))],
        false => gaps,
    }
}

fn order(report: &InfoReport) -> String {
    match report.inversions {
        0 => "sorted".to_owned(),
        n => format!("not sorted: {} out of order (merge sorts)", plural(n, "neighbour")),
    }
}

/// Formats counts. Names are aligned to the left, and numbers to the right.
fn counts(rows: &[(String, u64)]) -> Vec<String> {
    let rows: Vec<_> = rows.iter().map(|(name, n)| (short(Some(name)), grouped(*n))).collect();
    let names = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let numbers = rows.iter().map(|(_, n)| n.len()).max().unwrap_or(0);
    rows.iter().map(|(name, n)| format!("{name:<names$}  {n:>numbers$}")).collect()
}

fn head(first: String, has_self: bool) -> Vec<String> {
    let mut head = vec![first, "events".to_owned(), "bytes".to_owned(), "time".to_owned()];
    head.extend(has_self.then(|| "self".to_owned()));
    head
}

fn row(first: String, usage: &Usage, has_self: bool) -> Vec<String> {
    let mut row = vec![first, grouped(usage.events), human(usage.bytes)];
    row.push(duration_text(usage.time_ns.into()));
    row.extend(has_self.then(|| duration_text(usage.self_ns.into())));
    row
}

/// Returns a note if sums of nested times exceed the duration of the trace.
fn nested<'r>(
    mut rows: impl Iterator<Item = &'r Usage>,
    report: &InfoReport,
) -> impl Iterator<Item = String> {
    let lasts = report.bounds_ns().map_or(0, |(start, end)| end.abs_diff(start));
    let exceeds = rows.any(|usage| usage.time_ns > lasts);
    exceeds.then(|| "time counts calls within calls again".to_owned()).into_iter()
}

fn processes(report: &InfoReport) -> FigureTable {
    let full = report.args.is_some();
    let mut rows = Vec::new();
    let mut room = THREADS;
    for process in report.processes.iter().take(PROCESSES) {
        let mut name = short(Some(&title(&process.pid, process.name.as_deref())));
        if let Some(labels) = &process.labels {
            name.push_str(&format!(" [{}]", short(Some(labels))));
        }
        rows.push(row(name, &process.usage, full));
        for thread in process.threads.iter().take(room) {
            let name = short(Some(&title(&thread.tid, thread.name.as_deref())));
            rows.push(row(format!("  {name}"), &thread.usage, full));
        }
        room -= process.threads.len().min(room);
    }
    let threads: usize = report.processes.iter().map(|process| process.threads.len()).sum();
    let left_out = [
        (report.processes.len().saturating_sub(PROCESSES), "more processes"),
        (threads - (THREADS - room), "more threads"),
    ];
    let left_out: Vec<String> = left_out
        .into_iter()
        .filter(|&(n, _)| n > 0)
        .map(|(n, what)| format!("{} {what}", grouped(n as u64)))
        .collect();
    let mut more: Vec<String> = nested(report.processes.iter().map(|p| &p.usage), report).collect();
    if !left_out.is_empty() {
        more.push(format!("… and {}; --json has all", left_out.join(", ")));
    }
    let more = (!more.is_empty()).then(|| more.join("; "));
    let all = plural(threads as u64, "thread");
    FigureTable { head: head(format!("({all})"), full), rows, more }
}

/// Adds tables of the names of one kind with the most bytes and the most time.
fn tops(
    label: &'static str,
    list: &TopList,
    has_self: bool,
    report: &InfoReport,
    page: &mut InfoPage,
) {
    let lists =
        [("by bytes", &list.by_bytes), ("by time", &list.by_time), ("by self", &list.by_self)];
    // without self times, the table by self time would repeat another
    for (by, rows) in lists.into_iter().filter(|(by, _)| has_self || *by != "by self") {
        let is_cut = (rows.len() as u64) < list.distinct;
        let of = if is_cut { format!(" of {}", grouped(list.distinct)) } else { String::new() };
        let first = format!("{by} ({}{of})", grouped(rows.len() as u64));
        let more = nested(rows.iter().map(|row| &row.usage), report).next();
        let row = |top: &TopRow| row(short(top.name.as_deref()), &top.usage, has_self);
        let rows = rows.iter().map(row).collect();
        page.table(label, FigureTable { head: head(first, has_self), rows, more });
    }
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
    lines.extend(more(report.profiles.len(), THREADS));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_inspect::info::{Density, Gap, ProcessInfo, ProfileCount, ThreadInfo};
    use tracemill_tokenizer::{Damage, DamageKind};
    use tracemill_trace::run::losses::{InputReport, Losses};

    fn usage(events: u64, self_ns: u64) -> Usage {
        Usage { events, bytes: events * 100, time_ns: events * 1_000, self_ns }
    }

    fn top(name: Option<&str>, events: u64) -> TopRow {
        TopRow { name: name.map(str::to_owned), usage: usage(events, 7) }
    }

    fn real(ts_ns: i64) -> RealEvent {
        let (name, phase) = (Some("a|b".to_owned()), "X".to_owned());
        let (pid, tid) = ("10".to_owned(), String::new());
        RealEvent { ts_ns, name, phase, pid, tid, input: "a.json".to_owned(), offset: 1234 }
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
            usage: usage(events, 500),
        };
        let names = TopList {
            distinct: 3,
            by_bytes: vec![top(Some("a|b"), 1000), top(None, 2)],
            by_time: vec![top(Some("a|b"), 1000)],
            by_self: vec![top(Some("a|b"), 1000)],
        };
        InfoReport {
            inputs: vec![input],
            events: 1003,
            event_bytes: 1900,
            metadata: 3,
            at_zero: 1,
            start_ns: Some(1_000),
            end_ns: Some(2_001_500),
            first: Some(real(1_000)),
            last: Some(real(2_000_000)),
            density: Some(Density { start_ns: 0, column_ns: 1 << 20, events: vec![900, 1] }),
            gaps: vec![Gap { from_ns: 2_000, to_ns: 1_002_000 }],
            least_gap_ns: 512,
            sorted: false,
            inversions: 1,
            phases: vec![("X".into(), 1000), ("M".into(), 3)],
            processes: vec![ProcessInfo {
                pid: "10".into(),
                name: Some("Browser".into()),
                labels: Some("GPU 0".into()),
                usage: usage(1003, 1000),
                threads: vec![thread("1", Some("Main\u{1b}"), 1000), thread("", None, 3)],
            }],
            names,
            profiles: vec![ProfileCount {
                pid: "10".into(),
                tid: "1".into(),
                id: "\"0x1\"".into(),
                chunks: 2,
                bytes: 2048,
            }],
            keys: vec!["metadata".into(), "stackFrames".into()],
            ..InfoReport::default()
        }
    }

    #[test]
    fn the_page_has_all_sections() {
        let expected = "\
input      a.json: 1,003 events, 2,000 bytes (2.0 KiB), gzip
events     1,003 events in 1.9 KiB, 3 metadata, 1 at time 0, before the start
time       1 to 2001.5 µs (2.00 ms)
first      1 µs: X a|b, pid 10, tid (none), at byte 1,234
last       2000 µs: X a|b, pid 10, tid (none), at byte 1,234
density    █▁
           a column is 1.05 ms; the highest has 900 events
gaps       1.00 ms from 2 µs on, 1.00 µs after the first event
order      not sorted: 1 neighbour out of order (merge sorts)
phases     X  1,000
           M      3
processes  (2 threads)           events     bytes     time
           Browser (10) [GPU 0]   1,003  97.9 KiB  1.00 ms
             Main\\u{1b} (1)       1,000  97.7 KiB  1.00 ms
             (none)                   3     300 B  3.00 µs
names      by bytes (2 of 3)  events     bytes     time
           a|b                 1,000  97.7 KiB  1.00 ms
           (none)                  2     200 B  2.00 µs
           by time (1 of 3)  events     bytes     time
           a|b                1,000  97.7 KiB  1.00 ms
profiles   pid 10, tid 1, id 0x1: 2 chunks, 2.0 KiB
keys       metadata, stackFrames
damage     a.json: lost 1 piece (truncated, 3 bytes): cut off before its end; first at byte 7: {\"a
";
        assert_eq!(page_of(&report()).text(false, None), expected);
    }

    #[test]
    fn self_times_have_a_column_if_requested() {
        let report = InfoReport { args: Some(TopList::default()), ..report() };
        let text = page_of(&report).text(false, None);
        assert!(
            text.contains(
                "\n             (none)                   3     300 B  3.00 µs   500 ns\n"
            ),
            "{text}"
        );
        let markdown = page_of(&report).markdown();
        let name = "| <code>a&#124;b</code> | 1,000 | 97.7 KiB | 1.00 ms | 7 ns |\n";
        assert!(markdown.contains(name), "{markdown}");
        assert!(
            markdown.contains("\n| &emsp;`(none)` | 3 | 300 B | 3.00 µs | 500 ns |\n"),
            "{markdown}"
        );
    }

    #[test]
    fn empty_traces_have_a_page() {
        let expected = "\
events     0 events in 0 B
time       none
order      sorted
damage     none
";
        assert_eq!(page_of(&InfoReport::default()).text(false, None), expected);
    }

    #[test]
    fn long_lists_are_cut() {
        let thread = ThreadInfo { tid: "1".into(), usage: usage(1, 0), ..ThreadInfo::default() };
        let process = |threads| ProcessInfo {
            threads: vec![thread.clone(); threads],
            ..ProcessInfo::default()
        };
        let report = InfoReport {
            processes: [vec![process(30); 2], vec![process(1); 60]].concat(),
            ..InfoReport::default()
        };
        let text = page_of(&report).text(false, None);
        assert_eq!(text.lines().filter(|line| line.starts_with("             1")).count(), THREADS);
        assert!(
            text.contains("… and 12 more processes, 70 more threads; --json has all"),
            "{text}"
        );
    }
}
