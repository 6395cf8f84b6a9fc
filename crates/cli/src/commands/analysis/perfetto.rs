//! Exports traces to Perfetto's format.

use super::export::packed_into;
use crate::args::ConvertArgs;
use crate::commands::reporting::Reporting;
use crate::commands::running::Flags;
use crate::commands::viewer::changed;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::report::base;
use serde_json::json;
use tracemill_export::{Perfetto, PerfettoDraft};
use tracemill_join::config::Config;
use tracemill_trace::Source;
use tracemill_trace::run::words::plural;

/// Runs `convert` to Perfetto's format.
pub(in crate::commands) fn perfetto(
    args: &ConvertArgs,
    packed: bool,
    messages: &Messages,
) -> Result<Exit, Failure> {
    args.refuse_with_export()?;
    let ConvertArgs { input, output, common, .. } = args;
    let flags = Flags { verb: "convert", input, common };
    let mut reporting = Reporting::new(flags, output, messages)?;
    let running = &mut reporting.running;
    // the rules of merge apply
    running.config = running.config.as_merged();
    running.announce();
    let read = |sources: &[Source], config: &Config| PerfettoDraft::read(sources, config);
    let mut draft = running.watch(read)?;
    let mut written = Perfetto::default();
    let outcome = reporting.output.write_lines(|out| {
        packed_into(packed, out, |out| {
            written = draft.write(out)?;
            Ok(())
        })
    });
    draft.check()?;
    outcome?;

    let run = &draft.merged.run;
    reporting.tell(&run.inputs, &run.warnings);
    changed(&run.viewer).iter().for_each(|text| messages.say(text));
    messages.losses(&run.inputs);
    left_out(&written).iter().for_each(|text| messages.warning(text));
    if !written.keys.is_empty() {
        let keys = written.keys.join(", ");
        messages.say(&format!("not in the output, since Perfetto has no place for it: {keys}"));
    }
    let Perfetto { slices, instants, counters, flows, samples, .. } = written;
    let counts = [
        (slices, "slice"),
        (instants, "instant"),
        (counters, "counter value"),
        (flows, "flow event"),
        (samples, "sample"),
    ];
    let all = counts.iter().map(|(count, what)| plural(*count, what));
    messages.note(&format!("written: {}", all.collect::<Vec<_>>().join(", ")));
    let lost = run.lost();
    reporting.end(&run.inputs, lost, |summary| {
        let counts = counts.map(|(count, what)| (what, count));
        let counts = serde_json::Map::from_iter(
            counts.map(|(what, count)| (what.replace(' ', "_"), json!(count))),
        );
        base(flags.verb, &run.inputs, lost, summary, [("perfetto", json!(counts))])
    })?;
    let is_empty = counts.iter().all(|(count, _)| *count == 0);
    if is_empty {
        messages.warning("the input has no events that Perfetto shows, so the output is empty");
    }
    Ok(Exit::finished(lost).unless_empty(is_empty))
}

/// Returns sentences about the parts of the trace that Perfetto's format cannot represent.
fn left_out(written: &Perfetto) -> Vec<String> {
    let texts = [
        (
            written.cut,
            "slice",
            "cut where the one ends in which they begin: a track of Perfetto holds no more",
        ),
        (written.unended, "begin", "without an end: open to the end of the trace"),
        (written.lone_ends, "end", "without a begin: left out"),
        (written.lost_samples, "sample", "without a time or a node in the CPU profile: left out"),
        (
            written.other,
            "event",
            "that Perfetto has no place for (objects, memory dumps, clock syncs, metadata that is no name, counters without numbers) or without a \
             time: left out",
        ),
    ];
    let counted = texts.iter().filter(|(count, ..)| *count > 0);
    let mut all: Vec<String> =
        counted.map(|(count, what, then)| format!("{} {then}", plural(*count, what))).collect();
    if written.shift > 0 {
        all.push(format!("times begin {} ns below zero, which Perfetto has not: all are that much later in the output", written.shift));
    }
    all
}
