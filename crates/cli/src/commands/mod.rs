//! One file per verb, and what all of them do around their work.

mod check;
mod clocks;
mod convert;
mod filter;
mod info;
mod merge;
mod profile;
mod slice;
mod split;

use crate::args::{MessageArgs, OutputArgs, Verb};
use crate::exit::{Exit, Failure};
use crate::messages::Messages;
use crate::whole_file::Place;
use serde_json::Value;
use tracemill_pipeline::Source;

/// Runs a verb.
///
/// # Errors
/// Why it could not finish.
pub(crate) fn run(verb: &Verb, messages: &Messages) -> Result<Exit, Failure> {
    match verb {
        Verb::Merge(args) => merge::run(args, messages),
        Verb::Info(args) => info::run(args, messages),
        Verb::Profile(verb) => profile::run(verb, messages),
        Verb::Check(args) => check::run(args, messages),
        Verb::Convert(args) => convert::run(args, messages),
        Verb::Filter(args) => filter::run(args, messages),
        Verb::Split(args) => split::run(args, messages),
        Verb::Slice(args) => slice::run(args, messages),
    }
}

/// Where the report goes, if one is wanted; refused before anything is read if it would spoil something.
fn report_place(
    args: &MessageArgs,
    output: &OutputArgs,
    sources: &[Source],
) -> Result<Option<Place>, Failure> {
    let Some(path) = &args.report else { return Ok(None) };
    let place = Place::of(path);
    match (&place, output.file()) {
        (Place::Stdout, None) => {
            return Err(Failure::usage(
                "--report - would mix with the output on standard output: name a file, or give -o",
            ));
        }
        (Place::File(report), Some(output)) if same_name(report, output) => {
            return Err(Failure::usage(format!(
                "--report is the output: {}; choose another name",
                report.display()
            )));
        }
        _ => {}
    }
    place.check("the report", sources, output.force)?;
    Ok(Some(place))
}

/// Whether two paths name one file, which need not exist.
fn same_name(a: &std::path::Path, b: &std::path::Path) -> bool {
    let resolved = |path: &std::path::Path| {
        path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.into())
    };
    resolved(a) == resolved(b)
}

/// JSON as a file has it.
fn pretty(value: &Value) -> Vec<u8> {
    let mut bytes = format!("{value:#}").into_bytes();
    bytes.push(b'\n');
    bytes
}
