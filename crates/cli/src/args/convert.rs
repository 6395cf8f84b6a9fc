//! Flags of `convert`.

use super::choices::choices;
use super::export::is_perfetto;
use super::trace::{OutputForm, all_formats};
use super::{CommonArgs, Export, InputArgs, OutputArgs, TableArgs, TraceArgs, ViewerArgs};
use crate::engine::TableFormat;
use crate::outcome::exit::Failure;
use clap::Args;
use std::path::PathBuf;
use tracemill_trace::output::target::Style;
use tracemill_trace::time::parse_time;

pub(super) const ABOUT: &str = "\
Writes a trace in another format: an object with traceEvents, an array, or NDJSON (one event per line); or in the same \
format with other white space.

Events keep their order and, without --style, their bytes; several inputs are merged first. NDJSON is lossless both ways: \
top-level keys go to a first line {\"tracemill\":{…}}, which every verb reads. Line breaks of pretty-printed events are \
removed, strings are not changed. So head, grep, jq -c and DuckDB work on it. An array has no place for top-level keys: \
a warning lists the dropped keys, and the status is 1.

A .cpuprofile becomes the events that V8 would have streamed; `profile extract` is the way back.

perfetto is the format of Perfetto's recorders (.pftrace), about half as large as JSON: slices, instants, counters, \
flows, CPU samples, names of threads and processes, in time order. Pids and clocks of several inputs are handled like in \
merge, and slices that overlap others of their thread move to another track.

parquet and arrow contain a table of `tracemill query`; by default `events` without the column event: one row per event, \
in file order. With -d, the tables of each input become files in a folder. They need the program tracemill-query.

folded, speedscope and pprof contain the call trees of `tracemill tree`, of all threads. `tree --format` writes those of a \
part, or all threads as one tree.";

const FORMS: &str = "\
Format of the output [default: from the name of -o, else as the first input]

object: {\"traceEvents\":[…], …}; array: […], which has no place for top-level keys; ndjson: one event per line, with \
top-level keys in the first line; perfetto (.pftrace): the format of Perfetto's recorders. Call trees: folded (.folded), \
one stack per line, for flamegraph.pl and inferno; speedscope (.speedscope.json); pprof (.pb), for go tool pprof. Call \
trees and perfetto also with .gz. Tables: parquet (.parquet), arrow (.arrow: an IPC stream).";

pub(super) const EXAMPLES: &str = "\
Examples:
  One event per line, for jq:
    tracemill convert --format ndjson trace.json | jq -c 'select(.dur > 10000)'

  For Perfetto, in its native format:
    tracemill convert server.json worker.json -o both.pftrace

  Folded stacks, for a flame graph:
    tracemill convert server.json -o server.folded

  A table of all events, for DuckDB, polars and Spark:
    tracemill convert server.json -o server.parquet

  Two tables of each trace, a file each:
    tracemill convert server.json worker.json --tables events,call -d tables

  NDJSON back to a trace, compressed for DevTools:
    tracemill convert --format object events.ndjson -o again.json.gz

  Times from 0, instead of times since 1970:
    tracemill convert --rebase 0 trace.json -o from-0.json

  The screenshots of a page, as files named by time:
    tracemill convert page.json --screenshots screenshots

  The smallest file with the same content:
    tracemill convert --style compact trace.json -o small.json.zst --level 19";

/// White space of the output.
const STYLES: [(&str, Style, &str); 2] = [
    ("keep", Style::Keep, "Keep it"),
    ("compact", Style::Compact, "None outside strings, one event per line"),
];

/// Flags of `convert`.
#[derive(Debug, Args)]
#[command(mut_arg("format", |arg| arg.value_parser(all_formats()).long_help(FORMS)))]
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
    /// Move all times so that the earliest is TIME, such as 0, and sort the events
    ///
    /// The earliest time is the smallest ts of all events except metadata. The same times move as with
    /// merge --offset. Times since 1970 have more digits than viewers can represent; times from 0 do not.
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, help_heading = "Output")]
    pub(crate) rebase: Option<i64>,
    /// Write the screenshots to DIR, each as an image named by its time, and no trace
    #[arg(long, value_name = "DIR", help_heading = "Output", conflicts_with_all = ["output", "format", "dir"])]
    pub(crate) screenshots: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl ConvertArgs {
    /// Returns the requested format of call trees, if any.
    pub(crate) fn export(&self) -> Option<Export> {
        match self.trace.format {
            Some(OutputForm::Trace(_) | OutputForm::Perfetto | OutputForm::Table(_)) => None,
            Some(OutputForm::Export(form)) => Export::of(Some(form), &self.output),
            None => Export::of(None, &self.output),
        }
    }

    /// Returns the requested format of a table of events, if any.
    pub(crate) fn table(&self) -> Option<TableFormat> {
        match self.trace.format {
            Some(OutputForm::Table(format)) => Some(format),
            Some(_) => None,
            None if self.tables.dir.is_some() => Some(TableFormat::Parquet),
            None => self.output.file().and_then(|path| TableFormat::binary_of_name(path)),
        }
    }

    /// Returns an error if flags are given that apply only to tables.
    pub(crate) fn refuse_tables(&self) -> Result<(), Failure> {
        match self.tables.is_given() {
            true => Err(Failure::usage("--tables and -d are for --format parquet and arrow")),
            false => Ok(()),
        }
    }

    /// Returns whether the output is compressed. Returns `None` unless Perfetto's format is
    /// requested.
    pub(crate) fn perfetto(&self) -> Option<bool> {
        let (by_name, packed) = is_perfetto(&self.output);
        let is_it = match self.trace.format {
            Some(form) => form == OutputForm::Perfetto,
            None => by_name,
        };
        is_it.then_some(packed)
    }

    /// Returns an error if flags are given that apply only to traces.
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
