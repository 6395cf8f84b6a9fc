//! `tracemill show`: one event, and why it ran.

mod facts;
mod lines;
mod text;

use super::Job;
use super::unit::time_text;
use crate::args::ShowArgs;
use crate::args::TraceTimes;
use crate::commands::running::Flags;
use crate::messages::Messages;
use crate::messages::wrap::columns_of;
use crate::outcome::exit::{Exit, Failure};
use facts::{Facts, Finder};
use serde_json::json;
use tracemill_analysis::{ReadRules, Wanted, event_texts};
use tracemill_causes::Causes;
use tracemill_report::ReasonFinder;
use tracemill_trace::Source;

pub(in crate::commands) fn show(args: &ShowArgs, messages: &Messages) -> Result<Exit, Failure> {
    if args.event.is_empty() && args.at.is_none() && !args.causes {
        return Err(Failure::usage(
            "which event? give a key (r-12), which report and tree --log print, --at TIME, or --causes for all events",
        ));
    }
    if args.causes && !args.event.is_empty() {
        return Err(Failure::usage("--causes writes all events; leave out the keys, or --causes"));
    }
    let flags = Flags { verb: "show", input: &args.input, common: &args.common };
    let job = read(args, flags, messages)?;
    let causes = Causes::find(&job.trace, false)?;
    if args.causes {
        let rows = causes.rows(&job.trace)?;
        job.place().write_lines(|out| lines::write(&job.trace, &causes, &rows, out))?;
        return job.finish(false);
    }
    let mut events = found(args, &job, &causes)?;
    // the scan for the args needs the memory
    drop(causes);
    add_args(&mut events, &job)?;
    match args.json {
        true => {
            let events: Vec<_> =
                events.iter().map(|facts| lines::facts(&job.trace, facts)).collect();
            job.place().write_json(&json!({"events": events}))?;
        }
        false => {
            let columns = columns_of(job.place());
            let inputs = args.input.words();
            let is_file = job.trace.inputs.len() == 1 && is_rereadable(&job);
            let page = text::Page { trace: &job.trace, columns, full: args.full, inputs, is_file };
            let pages: Vec<String> = events.iter().map(|facts| page.of(facts)).collect();
            job.place().write(pages.join("\n").as_bytes())?;
        }
    }
    job.finish(false)
}

/// Reads the inputs with everything that says why events ran.
fn read<'a>(args: &ShowArgs, flags: Flags<'a>, messages: &'a Messages) -> Result<Job<'a>, Failure> {
    let wanted =
        Wanted { causes: true, report: true, titles: true, cpu_times: true, ..Wanted::default() };
    let rules = ReadRules { wanted, ignore_refusals: true, ..ReadRules::default() };
    let maps = args.maps.source_maps()?;
    let job = Job::read_mapped(flags, &args.output, rules, &maps, messages)?;
    Ok(Job { all_events: true, ..job })
}

/// Finds the requested events.
fn found(args: &ShowArgs, job: &Job<'_>, causes: &Causes) -> Result<Vec<Facts>, Failure> {
    let finder = Finder { trace: &job.trace, causes, reasons: ReasonFinder::default() };
    let mut events = Vec::new();
    for key in &args.event {
        let facts = finder.by_key(key)?.ok_or_else(|| {
            Failure::usage(format!(
                "no event has the key {key}; report and tree --log print keys that exist"
            ))
        })?;
        events.push(facts);
    }
    if let Some(at) = args.at {
        let ms = TraceTimes::of(&job.trace).ms(at.moment);
        let threads = job.trace.choose(&args.choice());
        let facts = finder.at(&threads, ms)?.ok_or_else(|| {
            Failure::usage(format!(
                "nothing runs {} after the trace start on the selected threads; tree --log lists what runs when",
                time_text(ms - job.trace.start_ms())
            ))
        })?;
        events.push(facts);
    }
    Ok(events)
}

/// Returns whether all inputs can be read again.
fn is_rereadable(job: &Job<'_>) -> bool {
    job.reporting.running.sources.iter().all(Source::is_rereadable)
}

/// Adds the args and stacks that events have: reads the inputs again, if that is possible.
fn add_args(events: &mut [Facts], job: &Job<'_>) -> Result<(), Failure> {
    let running = &job.reporting.running;
    let offset_of = |facts: &Facts| {
        let event = facts.id.number().and_then(|number| job.trace.cause_event(number));
        event.map(|event| event.offset)
    };
    let offsets: Vec<u64> = events.iter().filter_map(offset_of).collect();
    if offsets.is_empty() || !is_rereadable(job) {
        return Ok(());
    }
    let mut texts = event_texts(&running.sources, &offsets, &running.config)?.into_iter();
    for facts in events.iter_mut().filter(|facts| offset_of(facts).is_some()) {
        texts.next().into_iter().for_each(|text| facts.add_written(text));
    }
    Ok(())
}
