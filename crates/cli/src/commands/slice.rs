//! `tracemill slice`.

use super::analysis::{event_window, refuse_streams};
use super::around::on_disk;
use super::info::{duration_text, micros};
use super::running::{Flags, Running, of_index};
use super::unmatched::NAMES;
use super::writing::{TraceFlags, Writing};
use crate::args::{SliceArgs, WindowArgs};
use crate::messages::{Messages, flaw_text};
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use crate::text::similar::instead;
use tracemill_analysis::{names_titled, title_of};
use tracemill_index::{info, slice};
use tracemill_inspect::around::{EventName, find_events};
use tracemill_inspect::info::InfoConfig;
use tracemill_join::config::Config;
use tracemill_join::config::pattern::Pattern;
use tracemill_pipeline::SliceReport;
use tracemill_trace::Source;
use tracemill_trace::run::words::{grouped, plural};
use tracemill_trace::time::windows::{Moment, TimeWindow};

pub(super) fn run(args: &SliceArgs, messages: &Messages) -> Result<Exit, Failure> {
    let SliceArgs { input, window, output, trace, viewer, common, .. } = args;
    let mut windows = window.windows()?;
    let flags = Flags { verb: "slice", input, common };
    let given = TraceFlags { output, trace, viewer: Some(viewer) };
    let (mut writing, output) = Writing::one(flags, given, &[], messages)?;
    writing.running.config.index = args.index.index.clone();
    writing.running.announce();
    // keys of events refer to the inputs, but names refer to the merged trace
    let event = around_event(window, &writing.running)?;
    let joined = writing.join(Some(&output))?;
    let running = &writing.running;
    let around = around(window, &running.sources, &running.config)?;
    for (around, text) in event.into_iter().chain(around) {
        messages.say(&text);
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
    let exit = writing.finish(run, report.lost(), 0, |run| report::slice(&report, &output, run));
    Ok(exit?.unless_empty(report.is_empty))
}

/// Default of `--margin`, in nanoseconds.
const MARGIN: i64 = 5_000_000;

/// Returns the window of the event that `--event` names, and a message about the event.
fn around_event(
    args: &WindowArgs,
    running: &Running<'_>,
) -> Result<Option<(TimeWindow, String)>, Failure> {
    let Some(key) = &args.event else { return Ok(None) };
    let found = event_window(&running.sources, key, &running.config)?;
    let lasts = duration_text(i128::from(found.to) - i128::from(found.from));
    let text = format!("--event {key}: at @{} µs, lasts {lasts}", micros(found.from));
    Ok(Some((widened(found.from, found.to, args.margin), text)))
}

/// Returns the window of the event that `--around` names, and a message about the event.
fn around(
    args: &WindowArgs,
    sources: &[Source],
    config: &Config,
) -> Result<Option<(TimeWindow, String)>, Failure> {
    let Some(name) = &args.around else { return Ok(None) };
    refuse_streams("--around", sources)?;
    let found = find_events(sources, &both_names(name)?, args.nth, config)?;
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
                let names = names.flat_map(|name| [Some(name), title_of(name)]).flatten();
                format!("--around {text}: no event has this name{}", instead(&[&text], names))
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
    let sentence = format!("--around {text}: {which}, at @{} µs, lasts {lasts}", micros(from));
    Ok(Some((widened(from, to, args.margin), sentence)))
}

/// Returns the window from `from` to `to`, with the margin added on both sides.
fn widened(from: i64, to: i64, margin: Option<i64>) -> TimeWindow {
    let margin = margin.unwrap_or(MARGIN);
    // the end of a window is not in the window
    let end = to.saturating_add(margin).saturating_add(1);
    let [from, to] = [from.saturating_sub(margin), end].map(|time| Some(Moment::At(time)));
    TimeWindow { from, to }
}

/// Extends a name so that it also matches events by their names in DevTools.
fn both_names(name: &EventName) -> Result<EventName, Failure> {
    let (pattern, names) = match name {
        EventName::Exactly(exact) => {
            let names = names_titled(|title| title == exact);
            if names.is_empty() {
                return Ok(name.clone());
            }
            let none: Pattern = "[^\\s\\S]".parse().map_err(Failure::Usage)?;
            (none, [names, vec![exact]].concat())
        }
        EventName::Matching(pattern) => {
            (pattern.clone(), names_titled(|title| pattern.is_match(title)))
        }
    };
    pattern.or(&names).map(EventName::Matching).map_err(Failure::Usage)
}

/// Returns messages for `-v` about how the slice was cut, with counts.
fn decisions(report: &SliceReport, config: &Config) -> Vec<String> {
    let mut texts = Vec::new();
    for (count, noun, what) in [
        (report.clipped, "event", "cut at edges"),
        (report.opened, "begin", "repeated at the start of a window"),
        (report.closed, "end", "made at the end of a window"),
        (report.counters, "counter value", "repeated at the start of a window"),
        (report.moved, "TracingStartedInBrowser event", "moved to the start of a window"),
        (report.kept_outside, "event", "kept outside the window, for DevTools needs them"),
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
