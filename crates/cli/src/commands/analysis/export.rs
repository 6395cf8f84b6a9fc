//! Exports call trees to the formats of other programs.

use super::{Job, is_empty, note_dropped};
use crate::args::{ConvertArgs, Export};
use crate::commands::running::Flags;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use flate2::{Compression, GzBuilder};
use std::io::{self, Write};
use tracemill_analysis::{
    GroupBy, Part, Per, Query, ReadRules, Shape, TableRules, ThreadChoice, Wanted,
};
use tracemill_trace::run::words::plural;

/// Default maximum depth of stacks. Programs that draw stacks do not draw deeper ones.
const DEPTH: usize = 1000;

/// Runs `convert` to a call tree format.
pub(in crate::commands) fn convert(
    args: &ConvertArgs,
    export: Export,
    messages: &Messages,
) -> Result<Exit, Failure> {
    args.refuse_with_export()?;
    let ConvertArgs { input, output, common, .. } = args;
    let flags = Flags { verb: "convert", input, common };
    let wanted = Wanted { titles: true, ..Wanted::default() };
    let rules = ReadRules { wanted, ..ReadRules::default() };
    let job = Job::read(flags, output, rules, None, messages)?;
    let query = Query {
        shape: Shape::CallTree,
        by: GroupBy::None,
        rules: TableRules::default(),
        per: Per::Thread,
        windows: Vec::new(),
        picks: Default::default(),
        key: None,
    };
    let parts = job.trace.parts(&job.trace.choose(&ThreadChoice::default()), &query)?;
    note_dropped(&parts, messages);
    job.export(&parts, export, None)?;
    job.finish(is_empty(&parts))
}

/// Passes `out` to `write`. With `packed`, the output is compressed with gzip.
pub(super) fn packed_into(
    packed: bool,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if !packed {
        return write(out);
    }
    // the gzip header has no name and no time, so that equal traces give equal bytes
    let mut packer = GzBuilder::new().operating_system(255).write(out, Compression::new(6));
    write(&mut packer)?;
    packer.finish().map(drop)
}

impl Job<'_> {
    /// Writes call trees, and reports which rows were left out.
    pub(super) fn export(
        &self,
        parts: &[Part],
        export: Export,
        depth: Option<usize>,
    ) -> Result<(), Failure> {
        let messages = self.reporting.running.messages;
        let depth = depth.unwrap_or(DEPTH);
        let trees = tracemill_export::export(&self.trace, parts, export.form, depth)?;
        self.place().write_lines(|out| packed_into(export.packed, out, |out| trees.write(out)))?;
        let exported = trees.exported();
        if exported.too_deep > 0 {
            messages.warning(&format!(
                "{} deeper than {depth}: their time went to their callers; tracemill tree --depth goes deeper",
                plural(exported.too_deep, "row")
            ));
        }
        if exported.untold > 0 {
            messages.warning(&format!(
                "{} with a self time below zero, or that is no number: written as 0 (pprof has those below zero)",
                plural(exported.untold, "row")
            ));
        }
        messages.note(&format!(
            "{} written, {:.3} ms",
            plural(exported.stacks, "stack"),
            exported.nanos as f64 / 1e6
        ));
        Ok(())
    }
}
