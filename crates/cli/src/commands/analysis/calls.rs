//! `tracemill calls`: the trace with calls as events, or the flame chart as rows.

use super::kept::{Copy, Kept, again};
use super::{Job, warnings};
use crate::args::CallsArgs;
use crate::commands::around::{
    note_form, note_limits, note_repeated, refuse_pouring, report_place,
};
use crate::exit::{Exit, Failure};
use crate::messages::{Messages, Summary};
use crate::progress::Watch;
use crate::report::{Run, common};
use crate::size::plural;
use serde_json::json;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::Arc;
use std::time::Instant;
use tracemill_analysis::{ReadRules, Trace, View, WrittenCalls};
use tracemill_pipeline::{Config, Error, Progress, Source, merge};

/// Writes the trace, or the rows of each thread.
pub(in crate::commands) fn calls(args: &CallsArgs, messages: &Messages) -> Result<Exit, Failure> {
    if args.rows { rows(args, messages) } else { trace(args, messages) }
}

fn trace(args: &CallsArgs, messages: &Messages) -> Result<Exit, Failure> {
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    let mut config = args.limits.config(&args.input, &progress)?;
    let output = args.trace.config(&args.output, io::stdout().is_terminal())?;
    let given = args.input.sources()?;
    refuse_pouring(&args.output, &given)?;
    let report_place = report_place(&args.messages, &args.output, &given)?;
    tracemill_pipeline::check_output(&output, &given.iter().collect::<Vec<_>>())?;
    note_repeated(&given, messages);
    note_limits(&args.limits, &config, messages);

    let kept = given.into_iter().map(|source| Kept::new(source, &config.tmp_dir));
    let kept = kept.collect::<Result<Vec<Kept>, Error>>()?;
    let mut copy = Copy::new(&config.tmp_dir)?;
    let (made, said) = make(args, &kept, &config, &mut copy)?;
    let mut sources = sources(&kept, &config)?;
    if made.calls > 0 {
        let calls = again("calls of samples", &copy.file);
        sources.push(calls.map_err(|why| Error::scratch(&config.tmp_dir, why))?);
    }
    config.repair = args.trace.repair;
    config.progress = Arc::default();
    let watch = Watch::start(&args.messages, &config.progress);
    let merged = merge(&sources, &output, &config);
    drop(watch);
    let mut report = merged?;
    if made.calls > 0 {
        report.inputs.pop();
    }

    let elapsed = start.elapsed();
    messages.inputs(&report.inputs);
    note_form(&args.trace, report.format, output.compression, messages);
    let said = [&*report.warnings, &*said, &*calls_warnings(made)].concat();
    said.iter().for_each(|text| messages.warning(text));
    messages.losses(&report.inputs);
    messages.say(&format!("{} made of samples", plural(made.calls, "call")));
    let mut summary = Summary::new("calls", &report.inputs, report.lost(), elapsed);
    summary.output = Some((report.events, report.bytes));
    messages.summary(&summary);
    if let Some(place) = report_place {
        let run = Run { config: &config, elapsed };
        let decisions = [("calls", json!(made.calls))];
        place.write_json(&common("calls", &report.inputs, report.lost(), &run, decisions))?;
    }
    Ok(Exit::written(report.lost(), &report.inputs).unless_empty(made.calls == 0))
}

fn calls_warnings(made: WrittenCalls) -> Vec<String> {
    let none = "no call: none of the threads asked for has a CPU profile, or none of its samples lies in the window";
    let untimed = format!("{} whose time is no number: left out", plural(made.untimed, "call"));
    let all = [(made.calls == 0, none.to_owned()), (made.untimed > 0, untimed)];
    all.into_iter().filter(|(is, _)| *is).map(|(_, text)| text).collect()
}

/// The sources, each from its beginning.
fn sources(kept: &[Kept], config: &Config) -> Result<Vec<Source>, Error> {
    let all = kept.iter().map(Kept::source).collect::<io::Result<_>>();
    all.map_err(|why| Error::scratch(&config.tmp_dir, why))
}

/// Writes the calls to `copy`; what there is to say of the inputs.
fn make(
    args: &CallsArgs,
    kept: &[Kept],
    config: &Config,
    copy: &mut Copy<'_>,
) -> Result<(WrittenCalls, Vec<String>), Failure> {
    let watch = Watch::start(&args.messages, &config.progress);
    // pids stay those of the trace that is written, also where a viewer would not have them
    let rules = ReadRules { as_devtools: false, ..args.part.read_rules(Default::default()) };
    let trace = Trace::read(&sources(kept, config)?, rules, config);
    drop(watch);
    let trace = trace?;
    let threads = trace.choose(&args.part.choice());
    let window = args.part.window(&trace)?.map(|own| (own.from * 1000.0, own.to * 1000.0));
    let made = copy.write(|file| {
        let mut out = BufWriter::new(file);
        let made = trace.write_calls(&threads, args.part.table_rules(), window, &mut out)?;
        out.flush().map(|()| made)
    })?;
    Ok((made, warnings(&trace)))
}

/// The flame chart of each thread.
fn rows(args: &CallsArgs, messages: &Messages) -> Result<Exit, Failure> {
    let CallsArgs { input, part, output, limits, messages: said, .. } = args;
    let job = Job { verb: "calls", input, output, limits, messages: said };
    let read = job.read(part.read_rules(Default::default()), messages)?;
    let threads = read.trace.choose(&part.choice());
    let window = part.window(&read.trace)?.map(|own| (own.from * 1000.0, own.to * 1000.0));
    job.place().write_lines(|out| {
        threads
            .iter()
            .try_for_each(|&at| write_thread(&read.trace, at, part.table_rules(), window, out))
    })?;
    job.finish(&read, threads.is_empty(), messages)
}

fn write_thread(
    trace: &Trace,
    at: usize,
    rules: tracemill_analysis::TableRules,
    window: Option<(f64, f64)>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let thread = &trace.threads[at];
    let track = trace.track(thread);
    let view = View::new(trace, thread, &track, rules);
    let head = json!({
        "pid": thread.pid_text(),
        "tid": thread.tid_text(),
        "name": thread.name,
        "rows": view.len(),
        "calls": view.calls(),
    });
    writeln!(out, "{head}")?;
    for row in view.flame() {
        if window.is_some_and(|(from, to)| row.ts + row.dur < from || row.ts > to) {
            continue;
        }
        let kind = if row.is_call { "P" } else { "E" };
        let label = row.label.as_ref().unwrap_or(&row.id);
        writeln!(out, "{}", json!([row.depth, kind, label, row.ts, row.dur, row.own, row.key]))?;
    }
    Ok(())
}
