//! `tracemill redact`.

use super::running::Flags;
use super::writing::{TraceFlags, Writing};
use crate::args::RedactArgs;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use tracemill_pipeline::{RedactReport, redact};
use tracemill_trace::run::words::{grouped, plural};

pub(super) fn run(args: &RedactArgs, messages: &Messages) -> Result<Exit, Failure> {
    let RedactArgs { input, output, trace, common, .. } = args;
    let flags = Flags { verb: "redact", input, common };
    let given = TraceFlags { output, trace, viewer: None };
    let (mut writing, output) = Writing::one(flags, given, &[], messages)?;
    writing.running.announce();
    let joined = writing.join(Some(&output))?;
    let running = &writing.running;
    let redaction = args.redaction();
    let mut report =
        running.watch(|sources, config| redact(sources, &redaction, &output, config))?;
    joined.complete(&mut report.written.run);

    let run = &report.written.run;
    writing.tell_decisions(run, &[]);
    writing.tell_disk(report.written.spilled_bytes, run);
    writing.tell_outcome(run, &[]);
    messages.say(&replaced(&report));
    writing.finish(run, run.lost(), 0, |run| report::redact(&report, &output, run))
}

/// Returns a sentence that says how many texts of each kind were replaced.
fn replaced(report: &RedactReport) -> String {
    let each = report.replaced.iter().map(|&(name, count)| match name {
        "url" => plural(count, "address"),
        "path" => plural(count, "path"),
        "user" => plural(count, "user name"),
        "also" => match count {
            1 => "1 match of --also".to_owned(),
            count => format!("{} matches of --also", grouped(count)),
        },
        _ => format!("{} of more than 4 MiB, as a whole", plural(count, "text")),
    });
    let each: Vec<String> = each.collect();
    match each.is_empty() {
        true => "nothing was found to replace".to_owned(),
        false => format!("replaced: {}", each.join(", ")),
    }
}
