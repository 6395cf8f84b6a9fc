//! The summary lines of `info`: size, time, busiest threads, names, profiles, viewers.

use super::page::InfoPage;
use super::words::{duration_text, short};
use crate::messages::loss_texts;
use crate::outcome::remedies;
use crate::text::size::human;
use std::cmp::Reverse;
use tracemill_inspect::check::{CheckReport, Finding, Severity};
use tracemill_inspect::info::{InfoReport, KeptWindow, ProcessInfo, ThreadInfo, TopRow, Usage};
use tracemill_join::config::CheckFor;
use tracemill_join::report::warning::DEVTOOLS_TEXT_MAX;
use tracemill_trace::run::words::{grouped, plural};

/// Maximum number of entries on a line.
const LISTED: usize = 3;

/// Builds the summary. `seen` is the result of `check` for all viewers, if it ran.
pub(super) fn brief(report: &InfoReport, seen: Option<&CheckReport>) -> InfoPage {
    let mut page = InfoPage::default();
    page.line("input", input(report));
    page.line("time", time(report));
    page.line("busiest", busiest(report));
    page.line("names", names(report));
    page.line("profiles", profiles(report));
    page.line("opens in", viewers(report, seen));
    if !report.reported_losses.is_empty() {
        let losses = report.reported_losses.join(", ");
        page.line("lost", format!("while it was recorded, as its keys say: {losses}"));
    }
    page.lines("damage", loss_texts(&report.inputs));
    page
}

fn input(report: &InfoReport) -> String {
    let bytes = report.inputs.iter().map(|input| input.bytes).sum();
    let of = |name: &str| format!("{name}: {}, {}", plural(report.events, "event"), human(bytes));
    match &report.inputs[..] {
        [input] => match input.encoding {
            Some(encoding) => format!("{}, {encoding}", of(&input.name)),
            None => of(&input.name),
        },
        inputs => of(&plural(inputs.len() as u64, "input")),
    }
}

fn lasts(report: &InfoReport) -> Option<i128> {
    let (start, end) = report.bounds_ns()?;
    Some(i128::from(end) - i128::from(start))
}

fn time(report: &InfoReport) -> String {
    let order = match report.inversions {
        0 => "sorted".to_owned(),
        _ => "not sorted (tracemill merge sorts)".to_owned(),
    };
    match lasts(report) {
        Some(lasts) => {
            let kept = report.window.map_or(String::new(), |window| kept_text(&window) + "; ");
            format!("lasts {}; {kept}{order}", duration_text(lasts))
        }
        None => "no event has a time".to_owned(),
    }
}

/// Describes the events that a slice kept outside its window.
pub(super) fn kept_text(window: &KeptWindow) -> String {
    let sides = [(window.before, "before"), (window.after, "after")];
    let sides = sides.into_iter().filter(|(count, _)| *count > 0);
    let sides = sides.map(|(count, side)| format!("{} {side} it kept", plural(count, "event")));
    sides.collect::<Vec<_>>().join(", ")
}

/// Returns the time to rank by: self time if known.
fn time_of(usage: &Usage, report: &InfoReport) -> u64 {
    if report.has_self { usage.self_ns } else { usage.time_ns }
}

fn percent(part: u64, whole: u128) -> String {
    let tenths = u128::from(part) * 1000 / whole.max(1);
    match tenths {
        0..10 => "<1 %".to_owned(),
        tenths => format!("{} %", (tenths + 5) / 10),
    }
}

/// Formats the name of a thread with its process.
fn thread_title(process: &ProcessInfo, thread: &ThreadInfo) -> String {
    let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let id = |id: &str| if id.is_empty() { "(none)".to_owned() } else { id.to_owned() };
    let title = named(&thread.name).unwrap_or_else(|| format!("thread {}", id(&thread.tid)));
    let mut of = match named(&process.name) {
        Some(name) => format!("{name} {}", id(&process.pid)),
        None => format!("pid {}", id(&process.pid)),
    };
    if let Some(labels) = &process.labels {
        of.push_str(&format!(", {labels}"));
    }
    format!("{} ({})", short(Some(&title)), short(Some(&of)))
}

/// Threads of one process that have the same name and were busy for about the same time.
struct EqualThreads<'r> {
    process: &'r ProcessInfo,
    /// The busiest thread.
    first: &'r ThreadInfo,
    count: u64,
    /// Sum of the self times in nanoseconds.
    self_ns: u128,
}

impl EqualThreads<'_> {
    /// Returns whether a thread has the name of these threads and at least 95 % of the busy time of
    /// `first`.
    fn fits(&self, process: &ProcessInfo, thread: &ThreadInfo, report: &InfoReport) -> bool {
        let [first, time] =
            [self.first, thread].map(|thread| u128::from(time_of(&thread.usage, report)));
        let is_named = thread.name.as_ref().is_some_and(|name| !name.is_empty());
        let is_same = std::ptr::eq(self.process, process) && self.first.name == thread.name;
        is_named && is_same && time * 20 >= first * 19
    }

    fn title(&self) -> String {
        match (thread_title(self.process, self.first), self.count) {
            (title, 1) => title,
            (title, count) => format!("{count} × {title}"),
        }
    }

    fn busy(&self) -> String {
        let mean = duration_text((self.self_ns / u128::from(self.count)) as i128);
        if self.count == 1 { mean } else { format!("{mean} each") }
    }
}

/// Returns the busiest threads; equal threads are one entry.
fn busiest_threads(report: &InfoReport) -> Vec<EqualThreads<'_>> {
    let of_process = |process| move |thread| (process, thread);
    let mut threads: Vec<(&ProcessInfo, &ThreadInfo)> = report
        .processes
        .iter()
        .flat_map(|process| process.threads.iter().map(of_process(process)))
        .filter(|(_, thread)| time_of(&thread.usage, report) > 0)
        .collect();
    // equal threads are already ordered by their number of events
    threads.sort_by_key(|(_, thread)| Reverse(time_of(&thread.usage, report)));
    let mut list: Vec<EqualThreads<'_>> = Vec::new();
    for (process, thread) in threads {
        let self_ns = thread.usage.self_ns.into();
        let is_full = list.len() == LISTED;
        match list.iter_mut().find(|equal| equal.fits(process, thread, report)) {
            Some(equal) => {
                equal.count += 1;
                equal.self_ns += self_ns;
            }
            None if is_full => {}
            None => list.push(EqualThreads { process, first: thread, count: 1, self_ns }),
        }
    }
    list
}

fn busiest(report: &InfoReport) -> String {
    let Some(lasts) = lasts(report) else { return "no thread".to_owned() };
    let list = busiest_threads(report);
    let list = list.iter().enumerate().map(|(at, threads)| match (report.has_self, at) {
        // sums that count nested calls twice are no busy time
        (false, _) => threads.title(),
        (true, 0) => format!("{} {} of {}", threads.title(), threads.busy(), duration_text(lasts)),
        (true, _) => format!("{} {}", threads.title(), threads.busy()),
    });
    let list = list.collect::<Vec<_>>().join(" · ");
    let all = report.processes.iter().map(|process| process.threads.len() as u64).sum();
    let of = plural(all, "thread");
    match (list.is_empty(), report.has_self) {
        (true, _) => format!("none of {of} has events with a duration"),
        (false, true) => format!("{list} (of {of})"),
        (false, false) => format!("{list} (of {of}; --full: busy times)"),
    }
}

fn names(report: &InfoReport) -> String {
    let list = |rows: &[TopRow], of: &dyn Fn(&Usage) -> u64, whole: u128| {
        let rows = rows.iter().take(LISTED).filter(|row| of(&row.usage) > 0);
        let one = |row: &TopRow| {
            format!("{} {}", percent(of(&row.usage), whole), short(row.name.as_deref()))
        };
        rows.map(one).collect::<Vec<_>>().join(", ")
    };
    let busy: u128 =
        report.processes.iter().map(|process| u128::from(time_of(&process.usage, report))).sum();
    let by_time = if report.has_self { &report.names.by_self } else { &report.names.by_time };
    let by_time = list(by_time, &|usage| time_of(usage, report), busy);
    let by_bytes = list(&report.names.by_bytes, &|usage| usage.bytes, report.event_bytes.into());
    let parts = [("by time: ", by_time), ("by size: ", by_bytes)];
    let parts = parts.iter().filter(|(_, list)| !list.is_empty());
    let text = parts.map(|(by, list)| format!("{by}{list}")).collect::<Vec<_>>().join("; ");
    if text.is_empty() { "none".to_owned() } else { text }
}

fn profiles(report: &InfoReport) -> String {
    let name = |pid: &str, tid: &str| {
        let process = report.processes.iter().find(|process| process.pid == pid);
        let thread = process.and_then(|p| p.threads.iter().find(|thread| thread.tid == tid));
        match (process, thread) {
            (Some(process), Some(thread)) => thread_title(process, thread),
            _ => format!("pid {pid}"),
        }
    };
    let mut list: Vec<String> = Vec::new();
    for profile in &report.profiles {
        let name = name(&profile.pid, &profile.tid);
        if !list.contains(&name) && list.len() < LISTED {
            list.push(name);
        }
    }
    match report.profiles.len() {
        0 => "no CPU profile".to_owned(),
        n => format!("{} of {}", plural(n as u64, "CPU profile"), list.join(", ")),
    }
}

/// Describes which viewers open the inputs, with the reason and the fix otherwise. Without `seen`
/// only DevTools is judged, by counts.
fn viewers(report: &InfoReport, seen: Option<&CheckReport>) -> String {
    let name = match &report.inputs[..] {
        [input] => crate::messages::plain(&input.name),
        _ => "INPUTS".to_owned(),
    };
    let merge = |viewer: &str| format!("tracemill merge {name} --for {viewer} -o OUT.json.gz");
    let answer = |viewer: CheckFor| match (obstacle(report), seen) {
        _ if viewer == CheckFor::Perfetto && report.inputs.len() > 1 => {
            format!("no: it opens one file at a time (fix: {})", merge("perfetto"))
        }
        (Some((why, mendable)), _) if viewer == CheckFor::Devtools => match mendable {
            true => format!("no: {why} (fix: {})", merge("devtools")),
            false => {
                format!("no: {why} (fix: tracemill filter {name} --shrink-to devtools -o OUT.json)")
            }
        },
        (_, Some(seen)) => seen_in_words(seen, viewer, &merge(viewer.name())),
        _ => format!("probably (tracemill check --for {} looks at everything)", viewer.name()),
    };
    let answers = [CheckFor::Perfetto, CheckFor::Devtools]
        .map(|viewer| format!("{} {}", viewer.title(), answer(viewer)));
    answers.join(" · ")
}

/// Describes the result of `check` for a viewer.
fn seen_in_words(seen: &CheckReport, viewer: CheckFor, merge: &str) -> String {
    let severity = |finding: &&Finding| finding.severity_for(viewer);
    // of equals the first counts
    let worst = seen.findings.iter().rev().max_by_key(severity);
    let worst = worst.filter(|finding| severity(finding) > Some(Severity::Note));
    let Some(finding) = worst else { return "yes".to_owned() };
    let Finding { kind, sentence, .. } = finding;
    let remedy = remedies::of_finding(kind);
    let fix = match remedy {
        _ if remedy.contains("--overlaps") || !remedy.contains("tracemill ") => remedy.to_owned(),
        _ if remedy.contains("tracemill merge") => format!("fix: {merge}"),
        _ => format!("fix: {remedy}"),
    };
    match severity(&finding) {
        Some(Severity::Error) => format!("no, or wrong: {sentence} ({fix})"),
        _ => format!("in part: {sentence} (tracemill check --for {} says where)", viewer.name()),
    }
}

/// Returns what prevents DevTools from opening the inputs, and whether `merge --for devtools` fixes
/// it.
fn obstacle(report: &InfoReport) -> Option<(String, bool)> {
    let bytes: u64 = report.inputs.iter().map(|input| input.bytes).sum();
    let sum = |of: fn(&tracemill_trace::run::losses::InputReport) -> u64| {
        report.inputs.iter().map(of).sum::<u64>()
    };
    let packed = |encoding: &&str| **encoding != *"gzip";
    let packing = report.inputs.iter().filter_map(|input| input.encoding).find(|e| packed(e));
    let mendable = |why: String| Some((why, true));
    match () {
        () if bytes > DEVTOOLS_TEXT_MAX => Some((
            format!("it has {} of text, and DevTools takes less than 512 MiB", human(bytes)),
            false,
        )),
        () if sum(|input| input.losses.count()) > 0 => mendable("it is damaged".to_owned()),
        () if packing.is_some() => {
            mendable(format!("it is packed as {}", packing.unwrap_or_default()))
        }
        () if report.inputs.len() > 1 => mendable("it opens one file at a time".to_owned()),
        () if report.is_lines => mendable("it has one event per line".to_owned()),
        () if report.documents > 1 => mendable("it is several documents in a row".to_owned()),
        () if sum(|input| input.unclosed) > 0 => mendable("it has no closing brackets".to_owned()),
        () if sum(|input| input.odd_separators) > 0 => {
            mendable("commas between events are missing or doubled".to_owned())
        }
        () if report.bare_starts > 0 => {
            mendable("it has a TracingStartedInBrowser event without args.data".to_owned())
        }
        () if report.nameless > 0 => {
            mendable(format!("it has events without a name ({})", grouped(report.nameless)))
        }
        () if report.uncategorised > 0 => {
            mendable(format!("it has events without cat ({})", grouped(report.uncategorised)))
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_inspect::info::TopList;
    use tracemill_trace::run::losses::InputReport;

    fn usage(bytes: u64, time_ns: u64, self_ns: u64) -> Usage {
        Usage { events: 1, bytes, time_ns, self_ns }
    }

    fn report() -> InfoReport {
        let thread = |tid: &str, name: Option<&str>, self_ns| ThreadInfo {
            tid: tid.into(),
            name: name.map(str::to_owned),
            usage: usage(10, self_ns * 3, self_ns),
        };
        let row = |name: &str, bytes, self_ns| TopRow {
            name: Some(name.into()),
            usage: usage(bytes, self_ns * 3, self_ns),
        };
        InfoReport {
            inputs: vec![InputReport {
                name: "a.json".into(),
                bytes: 2048,
                ..InputReport::default()
            }],
            events: 9,
            event_bytes: 2000,
            start_ns: Some(0),
            end_ns: Some(1_000_000_000),
            has_self: true,
            documents: 1,
            processes: vec![ProcessInfo {
                pid: "10".into(),
                name: Some("Browser".into()),
                labels: None,
                usage: usage(0, 0, 905_000_000),
                threads: vec![thread("1", None, 5_000_000), thread("2", Some("Main"), 900_000_000)],
            }],
            names: TopList {
                distinct: 2,
                by_bytes: vec![row("b", 1500, 0), row("a", 500, 905_000_000)],
                by_time: vec![row("a", 500, 905_000_000)],
                by_self: vec![row("a", 500, 905_000_000)],
            },
            ..InfoReport::default()
        }
    }

    #[test]
    fn the_summary_has_six_lines() {
        let expected = "\
input      a.json: 9 events, 2.0 KiB
time       lasts 1.00 s; sorted
busiest    Main (Browser 10) 900.00 ms of 1.00 s · thread 1 (Browser 10) 5.00 ms (of 2 threads)
names      by time: 100 % a; by size: 75 % b, 25 % a
profiles   no CPU profile
opens in   Perfetto yes · DevTools yes
";
        assert_eq!(brief(&report(), Some(&CheckReport::default())).text(false, None), expected);
    }

    #[test]
    fn events_outside_a_slice_window_do_not_count_as_time() {
        let window =
            KeptWindow { from_ns: 500_000_000, to_ns: 1_000_000_000, before: 11, after: 0 };
        let text = brief(&InfoReport { window: Some(window), ..report() }, None).text(false, None);
        assert!(text.contains("lasts 500.00 ms; 11 events before it kept; sorted"), "{text}");
    }

    #[test]
    fn threads_of_equal_names_and_times_are_one_entry() {
        let busiest_of = |times_ms: &[u64]| {
            let mut report = report();
            let threads = &mut report.processes[0].threads;
            threads.extend(times_ms.iter().enumerate().map(|(at, ms)| ThreadInfo {
                tid: (at + 3).to_string(),
                name: Some("Worker".into()),
                usage: usage(10, ms * 3_000_000, ms * 1_000_000),
            }));
            // threads without a name are different threads
            let unnamed = ThreadInfo { tid: "99".into(), ..threads[0].clone() };
            threads.push(unnamed);
            busiest(&report)
        };
        assert_eq!(
            busiest_of(&[950, 1000, 960, 990, 949]),
            "4 × Worker (Browser 10) 975.00 ms each of 1.00 s · Worker (Browser 10) 949.00 ms · Main (Browser 10) 900.00 ms (of 8 threads)"
        );
        assert_eq!(
            busiest_of(&[4, 4]),
            "Main (Browser 10) 900.00 ms of 1.00 s · thread 1 (Browser 10) 5.00 ms · thread 99 (Browser 10) 5.00 ms (of 5 threads)"
        );
    }

    #[test]
    fn nested_sums_are_not_shown_as_busy_time() {
        let text = brief(&InfoReport { has_self: false, ..report() }, None).text(false, None);
        let busiest =
            "Main (Browser 10) · thread 1 (Browser 10) (of 2 threads; --full: busy times)";
        assert!(text.contains(busiest), "{text}");
    }

    #[test]
    fn devtools_obstacles_are_named_with_a_fix() {
        let answer = |change: &dyn Fn(&mut InfoReport)| {
            let mut report = report();
            change(&mut report);
            viewers(&report, None)
        };
        let fix = "(fix: tracemill merge a.json --for devtools -o OUT.json.gz)";
        let perfetto = "Perfetto probably (tracemill check --for perfetto looks at everything)";
        let text = answer(&|report| report.uncategorised = 1234);
        let expected = format!("{perfetto} · DevTools no: it has events without cat (1,234) {fix}");
        assert_eq!(text, expected);
        let text = answer(&|report| report.inputs[0].bytes = 3 << 30);
        let shrink = "(fix: tracemill filter a.json --shrink-to devtools -o OUT.json)";
        assert!(text.contains("3.0 GiB of text") && text.ends_with(shrink), "{text}");
        for change in [
            |report: &mut InfoReport| report.is_lines = true,
            |report: &mut InfoReport| report.documents = 2,
            |report: &mut InfoReport| report.inputs[0].unclosed = 1,
            |report: &mut InfoReport| report.inputs[0].odd_separators = 1,
            |report: &mut InfoReport| report.inputs[0].encoding = Some("zstd"),
            |report: &mut InfoReport| report.nameless = 1,
            |report: &mut InfoReport| report.bare_starts = 1,
        ] {
            let text = answer(&change);
            assert!(text.contains("DevTools no: ") && text.ends_with(fix), "{text}");
        }
        let several = answer(&|report| report.inputs.push(report.inputs[0].clone()));
        assert!(
            several.starts_with("Perfetto no: it opens one file at a time (fix: "),
            "{several}"
        );
        let packed = answer(&|report| report.inputs[0].encoding = Some("gzip"));
        assert!(packed.contains("DevTools probably"), "{packed}");
    }

    #[test]
    fn viewers_are_judged_by_check() {
        let answer = |kind: &str, severity| {
            let (kind, sentence, places) = (kind.into(), "it is so".into(), Vec::new());
            let finding = Finding { kind, severity, count: 1, sentence, places };
            let seen = CheckReport { findings: vec![finding], ..CheckReport::default() };
            viewers(&report(), Some(&seen))
        };
        let fix = |viewer| format!("(fix: tracemill merge a.json --for {viewer} -o OUT.json.gz)");
        assert_eq!(answer("unsorted", Severity::Note), "Perfetto yes · DevTools yes");
        let text = answer("missing-args", Severity::Warning);
        assert!(text.starts_with("Perfetto yes · DevTools in part: it is so"), "{text}");
        let text = answer("missing-cat", Severity::Error);
        let expected =
            format!("Perfetto yes · DevTools no, or wrong: it is so {}", fix("devtools"));
        assert_eq!(text, expected);
        let text = answer("id-range", Severity::Error);
        let expected =
            format!("Perfetto no, or wrong: it is so {} · DevTools yes", fix("perfetto"));
        assert_eq!(text, expected);
        assert!(answer("overlap", Severity::Error).contains("--overlaps spill"));
    }

    #[test]
    fn empty_traces_have_a_summary() {
        let text = brief(&InfoReport::default(), None).text(false, None);
        assert_eq!(text.lines().count(), 6, "{text}");
    }
}
