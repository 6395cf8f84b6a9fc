//! `tracemill check`: prints the findings as text or JSON.

use super::info::{duration_text, short};
use super::reporting::Reporting;
use super::running::Flags;
use crate::args::CheckArgs;
use crate::messages::wrap::{columns_of, push_line};
use crate::messages::{Messages, has_colors, plain};
use crate::outcome::exit::{Exit, Failure};
use crate::outcome::remedies;
use crate::process::pointer::pointed;
use crate::report;
use crate::text::table::shortened;
use clap::builder::styling::{AnsiColor, Style};
use tracemill_inspect::check::{CheckReport, Finding, FoundAt, FoundEvent, Severity, check};
use tracemill_join::config::CheckFor;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::words::{grouped, plural};
use unicode_width::UnicodeWidthStr;

pub(super) fn run(args: &CheckArgs, messages: &Messages) -> Result<Exit, Failure> {
    let CheckArgs { input, common, .. } = args;
    let flags = Flags { verb: "check", input, common };
    let mut reporting = Reporting::new(flags, &args.output, messages)?;
    reporting.running.config = reporting.running.config.as_merged();
    let (running, output) = (&reporting.running, &reporting.output);
    let viewers = &args.viewers;
    running.announce();
    let report = running.watch(|sources, config| check(sources, viewers, config))?;

    let json = report::check(&report, viewers, &running.described());
    // with -q, findings are printed only to a file; the status shows the result
    if !common.messages.quiet || !output.is_stdout() {
        match args.json {
            true => output.write_json(&json)?,
            false => {
                let color = has_colors(common.messages.color, output.is_stdout());
                let columns = columns_of(output);
                output.write(text(&report, viewers, color, columns).as_bytes())?;
            }
        }
    }
    reporting.tell(&report.inputs, &report.warnings);
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    reporting.end(&report.inputs, lost, |_| json)?;
    Ok(if report.is_clean() { Exit::Complete } else { Exit::Lossy })
}

/// Formats the findings, the most severe first, and a line with totals.
fn text(report: &CheckReport, viewers: &[CheckFor], color: bool, columns: Option<usize>) -> String {
    let names = report.findings.iter().map(|finding| finding.kind.chars().count()).max();
    let counts: Vec<String> =
        report.findings.iter().map(|finding| grouped(finding.count)).collect();
    let digits = counts.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (finding, count) in report.findings.iter().zip(&counts) {
        let (severity, kind) = (finding.severity.name(), &finding.kind);
        let style = style_of(finding.severity, color);
        let names = names.unwrap_or(0);
        let line = format!(
            "{style}{severity:<7}{style:#}  {kind:<names$}  {count:>digits$}  {}",
            finding.sentence
        );
        push_line(&mut text, &line, 13 + names + digits, columns);
        details(finding, report, columns, &mut text);
    }
    let of = |severity, what| plural(report.count(severity), what);
    let inputs = match &report.inputs[..] {
        [input] => plain(&input.name),
        inputs => plural(inputs.len() as u64, "input"),
    };
    let all = match report.findings.is_empty() {
        true => "nothing found".to_owned(),
        false => format!(
            "kinds of findings: {}, {}, {}",
            of(Severity::Error, "error"),
            of(Severity::Warning, "warning"),
            of(Severity::Note, "note")
        ),
    };
    let events = plural(report.events, "event");
    push_line(&mut text, &format!("{inputs}: {events}; {all}"), 9, columns);
    let worst = report.findings.first().map(|finding| finding.severity);
    let style = style_of(worst.unwrap_or(Severity::Note), color);
    let style = if color { style.bold() } else { style };
    let line = format!("{style}verdict:{style:#} {}", verdict(report, viewers));
    push_line(&mut text, &line, 9, columns);
    text
}

fn style_of(severity: Severity, color: bool) -> Style {
    match severity {
        _ if !color => Style::new(),
        Severity::Error => AnsiColor::Red.on_default(),
        Severity::Warning => AnsiColor::Yellow.on_default(),
        Severity::Note => AnsiColor::Green.on_default(),
    }
}

/// Returns a sentence that says whether the trace opens and is drawn correctly. If not, the
/// sentence has the viewer and the reason. Without `viewers`, the sentence is about all viewers.
fn verdict(report: &CheckReport, viewers: &[CheckFor]) -> String {
    let viewer_names = names_of(viewers.iter().copied());
    let worst = report.findings.first().filter(|finding| finding.severity != Severity::Note);
    let Some(Finding { severity, sentence, .. }) = worst else {
        let is_late = |finding: &Finding| finding.kind.starts_with("unsorted");
        return match viewers.is_empty() {
            false => format!("opens in {viewer_names}, and is shown right"),
            true if report.findings.iter().any(is_late) => "sound, but not in order".to_owned(),
            true => "sound, and in order".to_owned(),
        };
    };
    let known = if viewers.is_empty() { &CheckFor::ALL[..] } else { viewers };
    let minding = names_of(worst.iter().flat_map(|finding| finding.viewers(known)));
    let names = if minding.is_empty() { viewer_names } else { minding };
    match (severity, names.is_empty()) {
        (Severity::Error, _) => format!("does not open in {names}, or is shown wrong: {sentence}"),
        (_, false) => format!("opens in {names}, but not all is shown right: {sentence}"),
        (_, true) => format!("opens, but is not complete: {sentence}"),
    }
}

fn names_of(viewers: impl Iterator<Item = CheckFor>) -> String {
    viewers.map(CheckFor::title).collect::<Vec<_>>().join(" and ")
}

fn details(finding: &Finding, report: &CheckReport, columns: Option<usize>, text: &mut String) {
    let several = report.inputs.len() > 1;
    for place in &finding.places {
        let input = if several { format!("{}: ", place.input) } else { String::new() };
        let offset = grouped(place.offset);
        let line = match &place.event {
            Some(event) => {
                let (front, name, behind) = known_as(event, report.start_ns);
                let (front, behind) =
                    (plain(&(input + &front)), format!("{behind} (byte {offset})"));
                let around = 9 + front.width() + behind.width();
                // the name is shortened so that the line fits, but not to less than SAYING columns
                let room =
                    columns.map_or(usize::MAX, |column| column.saturating_sub(around).max(SAYING));
                format!("{front}{}{behind}", shortened(&name, room))
            }
            None => plain(&format!("{input}byte {offset}{}", excerpt_text(place))),
        };
        push_line(text, &format!("         {line}"), 11, columns);
        let room = columns.map(|columns| columns.saturating_sub(11));
        for line in place.around.iter().flat_map(|around| pointed(around, room)) {
            text.push_str(&format!("           {line}\n"));
        }
    }
    let remedy = remedies::of_finding(&finding.kind);
    push_line(text, &format!("         -> {remedy}"), 12, columns);
}

/// Minimum width of a shortened name.
const SAYING: usize = 20;

/// Describes an event, such as `X "RunTask" pid 1 tid 2 at 1.20 s`. The time is relative to the
/// trace start. Returns the text before the name, the name, and the text after the name.
fn known_as(event: &FoundEvent, start_ns: Option<i64>) -> (String, String, String) {
    let name = match &event.name {
        Some(name) => format!("\"{}\"", short(Some(name))),
        None => "(no name)".to_owned(),
    };
    let id = |what, id: &str| if id.is_empty() { String::new() } else { format!(" {what} {id}") };
    let at = match (event.ts_ns, start_ns) {
        (Some(ts), Some(start)) if ts >= start => {
            format!(" at {}", duration_text(i128::from(ts) - i128::from(start)))
        }
        _ => String::new(),
    };
    let behind = format!("{}{}{at}", id("pid", &event.pid), id("tid", &event.tid));
    (format!("{} ", event.phase), plain(&name), plain(&behind))
}

/// Returns the text that follows an offset: an excerpt of the input. If a caret shows the position,
/// returns the expected token instead.
fn excerpt_text(place: &FoundAt) -> String {
    let noticed = place.noticed.filter(|&noticed| noticed != place.offset);
    match (&place.around, place.expected, noticed) {
        (Some(_), Some(expected), _) => format!(": expected {expected}"),
        (Some(_), None, Some(noticed)) => format!(", noticed at byte {}", grouped(noticed)),
        (Some(_), None, None) => String::new(),
        (None, ..) if place.excerpt.is_empty() => String::new(),
        (None, ..) => format!(": {}", place.excerpt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_trace::run::around::Around;

    #[test]
    fn findings_are_aligned_with_suggestions() {
        let place = |around| FoundAt {
            input: "a".into(),
            offset: 7,
            excerpt: "{\u{1b}}".into(),
            event: None,
            expected: None,
            noticed: Some(9),
            around,
        };
        let finding = |kind: &str, severity, count| Finding {
            kind: kind.into(),
            severity,
            count,
            sentence: "it is so".into(),
            places: vec![place(None)],
        };
        let mut report = CheckReport {
            inputs: vec![InputReport { name: "a".into(), ..InputReport::default() }],
            events: 1,
            findings: vec![
                finding("nan", Severity::Error, 1234),
                finding("unsorted", Severity::Note, 1),
            ],
            start_ns: Some(1_000),
            warnings: Vec::new(),
        };
        let expected = "\
error    nan       1,234  it is so
         byte 7: {\\u{1b}}
         -> tracemill merge --repair writes null
note     unsorted      1  it is so
         byte 7: {\\u{1b}}
         -> tracemill merge sorts
a: 1 event; kinds of findings: 1 error, 0 warnings, 1 note
verdict: does not open in DevTools and Perfetto, or is shown wrong: it is so
";
        assert_eq!(text(&report, &[], false, None), expected);
        assert!(text(&report, &[], true, None).starts_with("\u{1b}[31merror  \u{1b}[0m  nan"));
        let around =
            Around { bytes: b"{\x1b}".to_vec(), at: 1, more_before: true, more_behind: false };
        report.findings.truncate(1);
        report.findings[0].places = vec![place(Some(around.clone()))];
        let pointed = "         byte 7, noticed at byte 9\n           …{\\u{1b}}\n             ^\n";
        assert!(
            text(&report, &[], false, None).contains(pointed),
            "{}",
            text(&report, &[], false, None)
        );
        report.findings[0].places[0].expected = Some("a comma");
        assert!(
            text(&report, &[], false, None).contains("byte 7: expected a comma\n"),
            "{}",
            text(&report, &[], false, None)
        );
    }
    #[test]
    fn events_are_described_by_phase_name_thread_and_time() {
        let event = FoundEvent {
            phase: "X".into(),
            name: Some("RunTask".into()),
            pid: "2067".into(),
            tid: "2068".into(),
            ts_ns: Some(1_203_001_000),
        };
        let known = |event, start| {
            let (front, name, behind) = known_as(event, start);
            front + &name + &behind
        };
        assert_eq!(known(&event, Some(1_000)), "X \"RunTask\" pid 2067 tid 2068 at 1.20 s");
        let event = FoundEvent { phase: "E".into(), ..FoundEvent::default() };
        assert_eq!(known(&event, None), "E (no name)");
    }

    #[test]
    fn the_verdict_names_the_affected_viewers() {
        let report = |kind: &str, severity| {
            let (kind, sentence, places) = (kind.into(), "it is so".into(), Vec::new());
            let finding = Finding { kind, severity, count: 1, sentence, places };
            CheckReport { findings: vec![finding], ..CheckReport::default() }
        };
        let (devtools, perfetto) = (&[CheckFor::Devtools][..], &[CheckFor::Perfetto][..]);
        let (note, warning, error) = (Severity::Note, Severity::Warning, Severity::Error);
        for (kind, severity, viewers, expected) in [
            ("late-metadata", note, &[][..], "sound, and in order"),
            ("unsorted", note, &[], "sound, but not in order"),
            ("unsorted", note, devtools, "opens in DevTools, and is shown right"),
            (
                "missing-tid",
                warning,
                &[],
                "opens in DevTools, but not all is shown right: it is so",
            ),
            (
                "odd-id",
                warning,
                perfetto,
                "opens in Perfetto, but not all is shown right: it is so",
            ),
            ("end-without-begin", warning, &[], "opens, but is not complete: it is so"),
            (
                "grammar",
                error,
                &[],
                "does not open in DevTools and Perfetto, or is shown wrong: it is so",
            ),
            (
                "missing-cat",
                error,
                &CheckFor::ALL,
                "does not open in DevTools, or is shown wrong: it is so",
            ),
        ] {
            assert_eq!(verdict(&report(kind, severity), viewers), expected, "{kind}");
        }
    }
}
