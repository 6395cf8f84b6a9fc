//! `tracemill report`.

mod build;
mod compiler;
mod devices;
mod figures;
mod insights;
mod next;
mod parties;
mod ranks;
mod reflow;
mod section;
mod sections;
mod services;
mod tracks;
mod verdict;
mod web;
mod write;

use super::Job;
use super::answer::{RULES, note_members, notes, self_of, times_of};
use super::unit::time_text;
use crate::args::{ReportArgs, TraceTimes};
use crate::commands::running::Flags;
use crate::messages::Messages;
use crate::messages::wrap::columns_of;
use crate::outcome::exit::{Exit, Failure};
use figures::gate_rows;
pub(super) use figures::value;
use next::{Next, window_words};
use sections::ReportInputs;
use serde_json::{Value, json};
use std::collections::HashSet;
use tracemill_analysis::{GroupBy, Producer, ReadRules, Trace, Wanted};
use tracemill_report::Report;
use tracemill_report::ReportRules;
use tracemill_trace::run::words::plural;
use verdict::Verdict;
use write::PageHead;

pub(in crate::commands) fn report(args: &ReportArgs, messages: &Messages) -> Result<Exit, Failure> {
    let ReportArgs { input, part, times, output, common, .. } = args;
    let flags = Flags { verb: "report", input, common };
    let rules = part.read_rules(GroupBy::None);
    let wanted = Wanted { report: true, urls: true, causes: true, ..rules.wanted };
    let rules = ReadRules { wanted, times: times.times(part)?, ..rules };
    let mut job = Job::read(flags, output, rules, Some(part), messages)?;
    if job.trace.producer() == Producer::Chrome {
        // the report and the causes walk over the same flame charts
        job.trace.keep_calls()?;
    }
    let window = part.window(TraceTimes::of(&job.trace))?;
    let threads = job.trace.choose(&part.choice());
    let rules = ReportRules {
        rows: args.rows as usize,
        producer: args.producer,
        tables: part.table_rules(),
        window,
        devices: args.device_rules(),
    };
    let mut report = tracemill_report::report(&job.trace, &threads, &rules)?;
    report.add_causes(&job.trace, &threads, &rules)?;
    let origin = job.trace.origin().unwrap_or(0);
    let next = Next {
        inputs: args.input.words(),
        part: [part.words(), times.words()].concat(),
        rules: [part.rule_words(), times.words()].concat(),
        times: times.words(),
        window: window.map(|window| window_words(window, origin)).unwrap_or_default(),
        origin,
    };
    let rows = args.rows as usize;
    let is_json = args.form.json;
    let inputs = ReportInputs { trace: &job.trace, report: &report, next: &next, rows, is_json };
    let sections = inputs.all();
    let verdict = inputs.verdict(&sections);
    let mut head = PageHead { inputs: next.many_inputs(), ..head(&job.trace, &report, &threads) };
    head.members.push(("busiest", inputs.busiest_json()));
    head.members.push(("verdict", json!(verdict.as_ref().map(Verdict::json))));
    (head.busiest, head.verdict) = (inputs.busiest_text(), verdict);
    let place = job.place();
    match is_json {
        true => place.write_json(&write::json(&head, &sections))?,
        false => {
            let columns = columns_of(place);
            place.write(write::page(&head, &sections, args.form.markdown, columns).as_bytes())?;
        }
    }
    // phases of Bazel may begin after the last event, so they count too
    let has_phases = report.build.as_ref().is_some_and(|build| !build.phases.is_empty());
    let is_empty = !has_phases && report.hot.as_ref().is_none_or(|part| part.table.rows.is_empty());
    let (begins, ends) = job.trace.bounds;
    let is_moment = window.is_some_and(|window| {
        window.from == window.to && (begins..=ends).contains(&(window.from * 1000.0))
    });
    if is_moment {
        messages.warning("the window has no length: only what is open at that moment counts");
    }
    let exit = job.finish(is_empty && !is_moment)?;
    let mut broken = false;
    for gate in &args.fail_on {
        let rows = gate_rows(&report);
        if let Some(text) = gate.broken(rows, is_empty, |figure| value(&report, figure)) {
            messages.failed(&text);
            broken = true;
        }
    }
    Ok(if broken { Exit::Broken } else { exit })
}

fn head(trace: &Trace, report: &Report, threads: &[usize]) -> PageHead {
    let pids: HashSet<&[u8]> = threads.iter().map(|&at| &*trace.threads[at].pid).collect();
    let length = report.window.to - report.window.from;
    let duration = if length.is_finite() { length.max(0.0) } else { 0.0 };
    let processes = plural(pids.len() as u64, "process");
    let inputs = match &trace.inputs[..] {
        [one] => one.name.clone(),
        all => plural(all.len() as u64, "input"),
    };
    let text = format!(
        "{}: {inputs}, {}, {processes}, {}{}",
        report.producer.name(),
        time_text(duration),
        plural(threads.len() as u64, "thread"),
        if trace.origin().is_some() { ", exact times" } else { "" },
    );
    let no_causes = report.no_causes.as_ref().map(|why| format!("causes are left out: {why}"));
    let no_causes = no_causes.into_iter().collect();
    let text = [vec![text], notes(trace), no_causes].concat().join("; ");
    let names: Value = trace.inputs.iter().map(|input| json!(input.name)).collect();
    let mut members = vec![
        ("producer", json!(report.producer.name())),
        ("rules", json!(RULES)),
        ("times", json!(times_of(trace))),
        ("unit", json!("ms")),
        ("self", json!(self_of(trace.weights))),
        ("inputs", names),
        ("window", json!([report.window.from, report.window.to])),
        ("duration_ms", json!(duration)),
        ("processes", json!(pids.len())),
        ("threads", json!(threads.len())),
    ];
    members.push(("no_causes", json!(report.no_causes)));
    members.extend(note_members(trace));
    members.extend(trace.origin().map(|origin| ("origin_ns", json!(origin))));
    let text = crate::messages::plain(&text);
    PageHead { text, busiest: None, verdict: None, inputs: None, members }
}
