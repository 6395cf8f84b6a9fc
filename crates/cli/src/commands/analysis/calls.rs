//! `tracemill calls`: writes the trace with calls as events, or writes the flame chart as rows.

use super::answer::{notes, times_of};
use super::{Job, maps, stored, warnings};
use crate::args::{CallsArgs, TraceTimes};
use crate::commands::running::{Flags, Running};
use crate::commands::unmatched;
use crate::commands::writing::{TraceFlags, Writing};
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::report::{base, id};
use serde_json::json;
use std::io::{self, Write};
use tracemill_analysis::{ReadRules, Trace, View, Wanted};
use tracemill_export::WrittenCalls;
use tracemill_join::config::Config;
use tracemill_join::report::warning::Warning;
use tracemill_pipeline::PendingMerge;
use tracemill_trace::Source;
use tracemill_trace::run::words::plural;

pub(in crate::commands) fn calls(args: &CallsArgs, messages: &Messages) -> Result<Exit, Failure> {
    if args.rows { rows(args, messages) } else { trace(args, messages) }
}

fn trace(args: &CallsArgs, messages: &Messages) -> Result<Exit, Failure> {
    let CallsArgs { input, output, trace, common, .. } = args;
    let flags = Flags { verb: "calls", input, common };
    let given = TraceFlags { output, trace, viewer: None };
    let (mut writing, output) = Writing::one(flags, given, &[], messages)?;
    let running = &mut writing.running;
    tracemill_trace::output::check(&output, &running.sources.iter().collect::<Vec<_>>())?;
    running.announce();

    let MadeCalls { written, calls, texts, merging } = make(args, running)?;
    let mut report = running.watch(|_, _| merging.merge(&calls, &output))?.run;
    report.inputs.truncate(report.inputs.len() - calls.len());

    writing.tell_decisions(&report, &[]);
    let texts = texts.into_iter().chain(calls_warnings(written));
    report.warnings.extend(texts.map(Warning::Said));
    writing.tell_outcome(&report, &[]);
    messages.say(&format!("{} made of samples", plural(written.calls, "call")));
    let lost = report.lost();
    let exit = writing.finish(&report, lost, 0, |run| {
        base(flags.verb, &report.inputs, lost, run, [("calls", json!(written.calls))])
    })?;
    Ok(exit.unless_empty(written.calls == 0))
}

fn calls_warnings(written: WrittenCalls) -> Vec<String> {
    let none = "no call was written: no thread that was asked for has a CPU profile with samples in the window";
    let untimed = format!("{} whose time is no number: left out", plural(written.untimed, "call"));
    let all = [(written.calls == 0, none.to_owned()), (written.untimed > 0, untimed)];
    all.into_iter().filter(|(is, _)| *is).map(|(_, text)| text).collect()
}

/// Calls computed from the samples of the inputs.
struct MadeCalls {
    written: WrittenCalls,
    /// The calls in temporary files, which are inputs of the merge.
    calls: Vec<Source>,
    /// Warnings about the inputs.
    texts: Vec<String>,
    /// The merge of the inputs, which waits for the calls.
    merging: PendingMerge,
}

/// Reads the inputs and computes the calls.
fn make(args: &CallsArgs, running: &Running<'_>) -> Result<MadeCalls, Failure> {
    // pids are those of the output before a viewer renames them
    let maps = args.part.source_maps()?;
    let times = args.times.times(&args.part)?;
    let rules = args.part.read_rules(Default::default());
    let wanted = Wanted::default();
    let (as_devtools, ignore_refusals, only_calls) = (false, true, true);
    let rules = ReadRules { wanted, ignore_refusals, only_calls, as_devtools, times, ..rules };
    let read =
        |sources: &[Source], config: &Config| Trace::read_to_merge(sources, rules, &maps, config);
    let (mut trace, merging) = running.watch(read).map_err(stored::named)?;
    maps::tell(&maps, &trace.mapped, running.messages);
    trace.ignore_list = args.part.ignore_list();
    let unmatched = unmatched::of_threads(&args.part, &trace);
    let threads = trace.choose(&args.part.choice());
    let window =
        args.part.window(TraceTimes::of(&trace))?.map(|arg| (arg.from * 1000.0, arg.to * 1000.0));
    let rules = args.part.table_rules();
    let (written, calls) =
        tracemill_export::draft_calls(&trace, &threads, rules, window, "calls of samples")?;
    notes(&trace).iter().for_each(|note| running.messages.say(note));
    let texts = [unmatched, warnings(&trace)].concat();
    Ok(MadeCalls { written, calls, texts, merging })
}

fn rows(args: &CallsArgs, messages: &Messages) -> Result<Exit, Failure> {
    let CallsArgs { input, part, times, output, common, .. } = args;
    let flags = Flags { verb: "calls", input, common };
    let rules = ReadRules { times: times.times(part)?, ..part.read_rules(Default::default()) };
    let job = Job::read(flags, output, rules, Some(part), messages)?;
    let threads = job.trace.choose(&part.choice());
    let window = part
        .window(TraceTimes::of(&job.trace))?
        .map(|window| (window.from * 1000.0, window.to * 1000.0));
    let mut written = 0;
    job.place().write_lines(|out| {
        for &at in &threads {
            written += write_thread(&job.trace, at, part.table_rules(), window, out)?;
        }
        Ok(())
    })?;
    job.finish(written == 0)
}

/// Writes the rows of a thread and returns their number.
fn write_thread(
    trace: &Trace,
    at: usize,
    rules: tracemill_analysis::TableRules,
    window: Option<(f64, f64)>,
    out: &mut dyn Write,
) -> io::Result<u64> {
    let mut written = 0;
    let thread = &trace.threads[at];
    let track = trace.track(thread).map_err(io::Error::other)?;
    let view = View::new(&track, rules);
    let head = json!({
        "pid": id(&String::from_utf8_lossy(&thread.pid)),
        "tid": id(&String::from_utf8_lossy(&thread.tid)),
        "name": thread.name,
        "rows": view.len(),
        "calls": view.calls(),
        "times": times_of(trace),
    });
    writeln!(out, "{head}")?;
    view.flame().map_err(io::Error::other)?.rows(|row| {
        if window.is_some_and(|(from, to)| row.ts + row.dur < from || row.ts > to) {
            return Ok(());
        }
        written += 1;
        let kind = if row.is_call { "P" } else { "E" };
        let label = row.label.as_ref().unwrap_or(&row.id);
        let ts = trace.written(row.ts);
        writeln!(out, "{}", json!([row.depth, kind, label, ts, row.dur, row.self_time, row.key]))
    })?;
    Ok(written)
}
