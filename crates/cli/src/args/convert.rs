//! Flags of `convert`.

use super::choices::choices;
use super::export::is_perfetto;
use super::trace::{Form, all_formats};
use super::{CommonArgs, Export, InputArgs, OutputArgs, TraceArgs, ViewerArgs};
use crate::exit::Failure;
use clap::Args;
use tracemill_trace::output::target::Style;
use tracemill_trace::time::parse_time;

pub(super) const ABOUT: &str = "\
Writes a trace in another form: as an object with traceEvents, as an array, or as NDJSON, one event per line; or in \
the same form with other white space.

Events keep their order and, without --style, their bytes; several inputs are merged first. NDJSON is lossless \
both ways: keys beside the events go to a first line {\"tracemill\":{…}}, which every verb reads; line breaks of \
pretty-printed events go, strings stay as they are. So head, grep, jq -c and DuckDB work on it. An array has no \
place for other keys: a warning names those that are left out, and the status is 1.

A .cpuprofile becomes the events that V8 would have streamed; `profile extract` is the way back.

perfetto is the form of Perfetto's own recorders (.pftrace), about half as large as JSON: slices, instants, counters, flows, samples of CPU profiles, names of threads and processes, in order of time. Pids and \
clocks of several inputs are settled as merge does, and slices that overlap others of their thread get a lane beside it.

folded, speedscope and pprof hold the call trees of `tracemill tree`, of all threads: `tree --format` writes those \
of a part, or all threads as one.";

const FORMS: &str = "\
Form of the output [default: by the name of -o, else that of the first input]

object: {\"traceEvents\":[…], …}; array: […], which has no place for other keys; ndjson: one event per line, other \
keys in the first one; perfetto (.pftrace): what Perfetto records. Call trees: folded (.folded), one stack per line, for flamegraph.pl and inferno; speedscope (.speedscope.json); \
pprof (.pb), for go tool pprof. All of these also .gz.";

pub(super) const EXAMPLES: &str = "\
Examples:
  One event per line, and count what takes longer than 10 ms:
    tracemill convert --format ndjson trace.json | jq -c 'select(.dur > 10000)' | wc -l

  Back again, packed for DevTools:
    tracemill convert --format object events.ndjson -o again.json.gz

  Folded stacks, for a flame graph:
    tracemill convert server.json -o server.folded

  In Perfetto's own form, both inputs as one trace:
    tracemill convert server.json worker.json -o both.pftrace

  Times from 0 on, in place of those since 1970:
    tracemill convert --rebase 0 trace.json -o from-0.json

  The shortest file with the same content:
    tracemill convert --style compact trace.json -o small.json.zst --level 19";

/// White space of the output.
const STYLES: [(&str, Style, &str); 2] = [
    ("keep", Style::Keep, "Events as they stand"),
    ("compact", Style::Compact, "None outside of strings, one event per line"),
];

/// Flags of `convert`.
#[derive(Debug, Args)]
#[command(mut_arg("format", |own| own.value_parser(all_formats()).long_help(FORMS)))]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) viewer: ViewerArgs,
    /// White space of the output
    #[arg(long, value_name = "STYLE", default_value = "keep", value_parser = choices(STYLES), help_heading = "Output")]
    pub(crate) style: Style,
    /// Move all times so that the earliest is TIME, such as 0; events are in order of time then
    ///
    /// The earliest is the least ts of an event that is no metadata. All that merge --offset moves moves too. Times since 1970 have more digits than the numbers of viewers hold: from 0 on they have all.
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, help_heading = "Output")]
    pub(crate) rebase: Option<i64>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl ConvertArgs {
    /// What of call trees is asked for, if anything is.
    pub(crate) fn export(&self) -> Option<Export> {
        match self.trace.format {
            Some(Form::Trace(_) | Form::Perfetto) => None,
            Some(Form::Export(form)) => Export::of(Some(form), &self.output),
            None => Export::of(None, &self.output),
        }
    }

    /// Whether the form of Perfetto is asked for; if so, whether packed.
    pub(crate) fn perfetto(&self) -> Option<bool> {
        let (by_name, packed) = is_perfetto(&self.output);
        let is_it = match self.trace.format {
            Some(form) => form == Form::Perfetto,
            None => by_name,
        };
        is_it.then_some(packed)
    }

    /// Refuses flags that are about traces.
    pub(crate) fn refuse_with_export(&self) -> Result<(), Failure> {
        let TraceArgs { compress, level, repair, write_index, format: _ } = &self.trace;
        let packing = compress.is_some() || level.is_some();
        let is_changed = self.style != Style::Keep || self.rebase.is_some();
        if packing || *repair || *write_index || self.viewer.is_asked() || is_changed {
            return Err(Failure::usage(
                "forms of other programs have no --style, --rebase, --repair, --for, --write-index, --compress or --level: a name that ends in .gz packs them",
            ));
        }
        Ok(())
    }
}
