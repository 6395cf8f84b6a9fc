//! `tracemill check`: the findings as text for people, or as JSON.

use super::{note_limits, report_place};
use crate::args::CheckArgs;
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary, plain};
use crate::pointer::pointed;
use crate::progress::Watch;
use crate::report::{self, Run};
use crate::size::{grouped, plural};
use crate::whole_file::Place;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{CheckReport, Finding, FoundAt, InputReport, Progress, Severity, check};

/// Reads, then says what is wrong.
pub(super) fn run(args: &CheckArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let config = args.limits.config(&args.input, &progress)?;
    let sources = args.input.sources()?;
    let output = Place::of(args.output.output.as_deref().unwrap_or(Path::new("-")));
    output.check("the output", &sources, args.output.force)?;
    let report_place = report_place(&args.messages, &args.output, &sources)?;
    let viewers = args.viewers();

    note_limits(&args.limits, &config, messages);
    let watch = Watch::start(&args.messages, &progress);
    let checked = check(&sources, &viewers, &config);
    drop(watch);
    let report = checked?;

    let elapsed = start.elapsed();
    let json = report::check(&report, &viewers, &Run { config: &config, elapsed });
    // -q leaves the status to say it all, unless a file was asked for
    if !args.messages.quiet || output != Place::Stdout {
        match args.json {
            true => output.write_json(&json)?,
            false => output.write(text(&report).as_bytes())?,
        }
    }
    messages.inputs(&report.inputs);
    report.warnings.iter().for_each(|text| messages.warning(text));
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    messages.summary(&Summary::new("check", &report.inputs, lost, elapsed));
    if let Some(place) = report_place {
        place.write_json(&json)?;
    }
    Ok(if report.is_clean() { Exit::Complete } else { Exit::Lossy })
}

/// The findings, the worst first, and how many there are.
fn text(report: &CheckReport) -> String {
    let names = report.findings.iter().map(|finding| finding.kind.chars().count()).max();
    let counts: Vec<String> =
        report.findings.iter().map(|finding| grouped(finding.count)).collect();
    let digits = counts.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (finding, count) in report.findings.iter().zip(&counts) {
        let (severity, kind) = (finding.severity.name(), &finding.kind);
        let names = names.unwrap_or(0);
        text.push_str(&format!(
            "{severity:<7}  {kind:<names$}  {count:>digits$}  {}\n",
            finding.sentence
        ));
        details(finding, report.inputs.len() > 1, &mut text);
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
    text.push_str(&format!("{inputs}: {events}; {all}\n"));
    text
}

fn details(finding: &Finding, several: bool, text: &mut String) {
    for place in &finding.places {
        let input = if several { format!("{}: ", place.input) } else { String::new() };
        let line = format!("{input}byte {}{}", place.offset, said(place));
        text.push_str(&format!("         {}\n", plain(&line)));
        for line in place.around.iter().flat_map(pointed) {
            text.push_str(&format!("           {line}\n"));
        }
    }
    text.push_str(&format!("         -> {}\n", finding.remedy));
}

/// What is said of a place behind its offset: what there is, unless a caret below points at it.
fn said(place: &FoundAt) -> String {
    let noticed = place.noticed.filter(|&noticed| noticed != place.offset);
    match (&place.around, place.expected, noticed) {
        (Some(_), Some(expected), _) => format!(": expected {expected}"),
        (Some(_), None, Some(noticed)) => format!(", noticed at byte {noticed}"),
        (Some(_), None, None) => String::new(),
        (None, ..) if place.excerpt.is_empty() => String::new(),
        (None, ..) => format!(": {}", place.excerpt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_pipeline::Around;

    #[test]
    fn the_text_is_aligned_and_says_what_to_do() {
        let place = |around| FoundAt {
            input: "a".into(),
            offset: 7,
            excerpt: "{\u{1b}}".into(),
            expected: None,
            noticed: Some(9),
            around,
        };
        let finding = |kind: &str, severity, count| Finding {
            kind: kind.into(),
            severity,
            count,
            sentence: "it is so".into(),
            remedy: "do this".into(),
            places: vec![place(None)],
        };
        let mut report = CheckReport {
            inputs: vec![InputReport { name: "a".into(), ..InputReport::default() }],
            events: 1,
            findings: vec![
                finding("nan", Severity::Error, 1234),
                finding("unsorted", Severity::Note, 1),
            ],
            warnings: Vec::new(),
        };
        let expected = "\
error    nan       1,234  it is so
         byte 7: {\\u{1b}}
         -> do this
note     unsorted      1  it is so
         byte 7: {\\u{1b}}
         -> do this
a: 1 event; kinds of findings: 1 error, 0 warnings, 1 note
";
        assert_eq!(text(&report), expected);
        let around =
            Around { bytes: b"{\x1b}".to_vec(), at: 1, more_before: true, more_behind: false };
        report.findings.truncate(1);
        report.findings[0].places = vec![place(Some(around.clone()))];
        let pointed = "         byte 7, noticed at byte 9\n           …{\\u{1b}}\n             ^\n";
        assert!(text(&report).contains(pointed), "{}", text(&report));
        report.findings[0].places[0].expected = Some("a comma");
        assert!(text(&report).contains("byte 7: expected a comma\n"), "{}", text(&report));
    }
}
