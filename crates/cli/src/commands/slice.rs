//! `tracemill slice`.

use super::around::on_disk;
use super::info::{duration_text, micros};
use super::running::{Flags, of_index};
use super::unmatched::NAMES;
use super::writing::{TraceFlags, Writing};
use crate::args::{SliceArgs, WindowArgs};
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, flaw_text};
use crate::report;
use crate::similar::suggestion;
use tracemill_pipeline::{
    Config, EventName, InfoConfig, Moment, SliceReport, Source, TimeWindow, find_events, grouped,
    info, plural, slice,
};

/// Slices, then says how it went.
pub(super) fn run(args: &SliceArgs, messages: &Messages) -> Result<Exit, Failure> {
    let SliceArgs { input, window, output, trace, viewer, common, .. } = args;
    let mut windows = window.windows()?;
    let flags = Flags { verb: "slice", input, common };
    let given = TraceFlags { output, trace, viewer: Some(viewer) };
    let (mut writing, output) = Writing::one(flags, given, &[], messages)?;
    writing.running.config.index = args.index.index.clone();
    writing.running.announce();
    let joined = writing.join(Some(&output))?;
    let running = &writing.running;
    if let Some((around, said)) = around(window, &running.sources, &running.config)? {
        messages.say(&said);
        windows.push(around);
    }
    let mut report =
        running.watch(|sources, config| slice(sources, &windows, window.edges, &output, config))?;
    report.index_unused = report.index_unused.or(joined.index_unused());
    joined.complete(&mut report.written.run);

    let run = &report.written.run;
    writing.tell_decisions(run, &decisions(&report, &running.config));
    let lasts = report.trace.map_or(0, |(start, end)| end.abs_diff(start));
    writing.tell_outcome(run, &Vec::from_iter(window.unit_hint(lasts)));
    for (kind, flaw) in report.flaws.iter() {
        messages.warning(&format!("CPU profiles: {}", flaw_text(kind, flaw)));
    }
    let exit = writing.finish(run, (report.lost(), 0), |run| report::slice(&report, &output, run));
    Ok(exit?.unless_empty(report.is_empty))
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
    if !sources.iter().all(Source::is_rereadable) {
        return Err(Failure::usage(
            "--around reads its inputs twice (first to find the event): name files, not a pipe",
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
                format!("--around {text} --nth {nth}: there {are} only {events} of this name")
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
        (report.rebased, "CPU profile", "cut to the window"),
        (report.samples, "sample", "kept in CPU profiles"),
    ] {
        if count > 0 {
            texts.push(format!("{} {what}", plural(count, noun)));
        }
    }
    let inputs = &report.written.run.inputs;
    texts.extend(of_index(report.index.as_ref(), report.index_unused, inputs));
    let runs = report.written.spilled_runs;
    let runs = (runs > 0).then(|| plural(runs, "sorted run"));
    texts.extend(on_disk(config, runs, report.written.run.spooled_bytes));
    texts
}
