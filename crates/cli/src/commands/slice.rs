//! `tracemill slice`.

use super::around::{note_form, note_limits, note_repeated, refuse_pouring, report_place};
use super::info::{duration_text, micros};
use super::unmatched::{NAMES, can_be_read_again};
use super::viewer::changed;
use crate::args::{SliceArgs, WindowArgs};
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary};
use crate::progress::Watch;
use crate::report::{self, Run};
use crate::similar::suggestion;
use crate::size::{grouped, human, plural};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Instant;
use tracemill_pipeline::{
    Config, EventName, InfoConfig, Moment, Progress, SliceReport, Source, TimeWindow, find_events,
    info, slice,
};

/// Slices, then says how it went.
pub(super) fn run(args: &SliceArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let mut config = args.limits.config(&args.input, &progress)?;
    config.repair = args.trace.repair;
    let mut windows = args.window.windows()?;
    let output = args.trace.config(&args.output, io::stdout().is_terminal())?;
    config.viewer = args.viewer.rules(output.format)?;
    let sources = args.input.sources()?;
    refuse_pouring(&args.output, &sources)?;
    let report_place = report_place(&args.messages, &args.output, &sources)?;

    note_repeated(&sources, messages);
    note_limits(&args.limits, &config, messages);
    if let Some((window, said)) = around(&args.window, &sources, &config)? {
        messages.say(&said);
        windows.push(window);
    }
    let watch = Watch::start(&args.messages, &progress);
    let sliced = slice(&sources, &windows, args.window.edges(), &output, &config);
    drop(watch);
    let report = sliced?;

    let elapsed = start.elapsed();
    messages.inputs(&report.written.inputs);
    note_form(&args.trace, report.written.format, output.compression, messages);
    for text in decisions(&report, &config) {
        messages.note(&text);
    }
    report.written.warnings.iter().for_each(|text| messages.warning(text));
    let lasts = report.trace.map_or(0, |(start, end)| end.abs_diff(start));
    args.window.unit_hint(lasts).iter().for_each(|text| messages.say(text));
    changed(&report.written.viewer).iter().for_each(|text| messages.say(text));
    messages.losses(&report.written.inputs);
    for (kind, flaw) in report.flaws.iter() {
        messages.warning(&format!(
            "CPU profiles: {} × {}: {}; first at byte {} of {}",
            grouped(flaw.count),
            kind.name(),
            kind.sentence(),
            flaw.offset,
            flaw.input
        ));
    }
    let mut summary = Summary::new("slice", &report.written.inputs, report.lost(), elapsed);
    summary.output = Some((report.written.events, report.written.bytes));
    messages.summary(&summary);
    if let Some(place) = report_place {
        let run = Run { config: &config, elapsed };
        place.write_json(&report::slice(&report, &output, &run))?;
    }
    Ok(Exit::written(report.lost(), &report.written.inputs).unless_empty(report.is_empty))
}

/// Time around an event of `--around`, unless `--margin` has another.
const MARGIN: i64 = 5_000_000;

/// The window of `--around`, and what it is around.
fn around(
    args: &WindowArgs,
    sources: &[Source],
    config: &Config,
) -> Result<Option<(TimeWindow, String)>, Failure> {
    let Some(name) = &args.around else { return Ok(None) };
    if !sources.iter().all(can_be_read_again) {
        return Err(Failure::usage(
            "--around reads its inputs twice, first to find the event: name files, not a pipe",
        ));
    }
    let found = find_events(sources, name, args.nth, config)?;
    let text = match name {
        EventName::Exactly(name) => name.clone(),
        EventName::Matching(pattern) => format!("/{}/", pattern.as_str()),
    };
    let Some((from, to)) = found.chosen else {
        return Err(Failure::usage(match found.count {
            0 => {
                let wanted = InfoConfig { top: NAMES, full: false, self_times: false };
                let known = info(sources, &wanted, config)?;
                let names = known.names.by_bytes.iter().filter_map(|row| row.name.as_deref());
                format!("--around {text}: no event has this name{}", suggestion(&text, names))
            }
            count => {
                let (nth, events) = (args.nth.unwrap_or(1), plural(count, "event"));
                let are = if count == 1 { "is" } else { "are" };
                format!("--around {text} --nth {nth}: there {are} {events} of this name, no more")
            }
        }));
    };
    let which = match (args.nth, found.count) {
        (_, 1) => "the only event of this name".to_owned(),
        (Some(nth), count) => format!("number {nth} of {} events", grouped(count)),
        (None, count) => format!("the longest of {} events", grouped(count)),
    };
    let lasts = duration_text(i128::from(to) - i128::from(from));
    let said = format!("--around {text}: {which}, at @{} µs, lasts {lasts}", micros(from));
    let margin = args.margin.unwrap_or(MARGIN);
    // a window ends before its end
    let end = to.saturating_add(margin).saturating_add(1);
    let [from, to] = [from.saturating_sub(margin), end].map(|time| Some(Moment::At(time)));
    Ok(Some((TimeWindow { from, to }, said)))
}

/// What the run decided and did, for `-v`.
fn decisions(report: &SliceReport, config: &Config) -> Vec<String> {
    let mut texts = Vec::new();
    for (count, noun, what) in [
        (report.clipped, "event", "cut at edges"),
        (report.opened, "begin", "repeated at the start of a window"),
        (report.closed, "end", "made at the end of a window"),
        (report.counters, "counter value", "repeated at the start of a window"),
        (report.moved, "TracingStartedInBrowser event", "moved to the start of a window"),
        (report.rebased, "CPU profile stream", "re-based"),
        (report.samples, "sample", "in re-based CPU profiles"),
    ] {
        if count > 0 {
            texts.push(format!("{} {what}", plural(count, noun)));
        }
    }
    let tmp_dir = config.tmp_dir.display();
    if report.written.spilled_runs > 0 {
        let runs = plural(report.written.spilled_runs, "sorted run");
        texts.push(format!("{runs} of the index went to {tmp_dir}: more memory (-m) avoids it"));
    }
    if report.written.spooled_bytes > 0 {
        let bytes = human(report.written.spooled_bytes);
        texts.push(format!("{bytes} of pipes and packed inputs went to {tmp_dir}"));
    }
    texts
}
