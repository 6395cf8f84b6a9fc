//! Reads the sources of a run one after the other.

use super::expand::Expand;
use super::numbers::EventNumbers;
use super::reader::{ChunkStart, Current, Inputs, Reader};
use super::session::{Session, size_of_input};
use crate::event::proof::Proof;
use crate::input::source::Source;
use crate::input::{self, Input};
use crate::read::pieces::ChosenPieces;
use crate::read::scan::{Plan, scan};
use crate::run::error::{Error, ErrorKind};
use crate::run::limits::Limits;
use crate::store::Payload;
use std::sync::atomic::Ordering;
use tracemill_tokenizer::Tier;

/// Reads every source to its end, or only `pieces` of a single file (see [`crate::read::pieces`]).
/// With pieces the report covers only the bytes read, and events have no numbers.
///
/// [`read_more`] must follow, because it completes the run.
///
/// # Errors
/// See [`Scan::run`](crate::observe::Scan::run).
pub(crate) fn read_sources<R: Reader>(
    sources: &[Source],
    pieces: Option<&ChosenPieces>,
    limits: &Limits,
    expand: &mut dyn Expand,
    reader: &mut R,
) -> Result<Inputs, Error> {
    let inputs = input::expand(sources)?;
    expect_bytes(&inputs, limits);
    expand.begin(&mut inputs.iter().map(|input| input.source.path()));
    let (numbers, end) = (EventNumbers::new(limits), reader.needs().reserved);
    let nothing = Inputs { numbers, end, ..Inputs::default() };
    let mut session = Session::new(nothing, pieces, limits, expand);
    for input in &inputs {
        session.read(input, reader)?;
    }
    if let ([_], Some(error)) = (&inputs[..], session.left_out.take()) {
        return Err(error);
    }
    if session.read.reports.is_empty() && !inputs.is_empty() {
        let names: Vec<String> = sources.iter().map(Source::to_string).collect();
        let found = "none of the files is a trace".to_owned();
        let input = names.join(", ");
        return Err(ErrorKind::NotATrace { input, offset: 0, found, around: None }.into());
    }
    if inputs.is_empty() && !sources.is_empty() {
        let found = "the folder holds no files that may be traces".to_owned();
        let input = sources[0].to_string();
        return Err(ErrorKind::NotATrace { input, offset: 0, found, around: None }.into());
    }
    Ok(session.read)
}

/// Reads more sources after those in `read`, then the trace of [`Expand::last`]. The progress
/// counters do not include the sizes of these sources.
///
/// # Errors
/// See [`read_sources`].
pub(crate) fn read_more<R: Reader>(
    read: Inputs,
    sources: &[Source],
    limits: &Limits,
    expand: &mut dyn Expand,
    reader: &mut R,
) -> Result<Inputs, Error> {
    let mut session = Session::new(read, None, limits, expand);
    for input in &input::expand(sources)? {
        session.read(input, reader)?;
    }
    session.read_last(reader)?;
    Ok(session.read)
}

/// Reads mapped synthetic events as an input at `current.base`, without a report.
///
/// # Errors
/// Returns any error of `reader`.
pub(crate) fn read_synthetic<R: Reader>(
    text: &Payload,
    limits: &Limits,
    reader: &mut R,
    current: Current<'_>,
) -> Result<(), Error> {
    let Payload::Mapped(mapped) = text else { return Ok(()) };
    let _workers = limits.scan_lease(limits.shares().chunk, limits.threads);
    let plan = Plan {
        bytes: mapped,
        skip: 0,
        mapped: Some(mapped),
        tier: limits.tier.unwrap_or_else(Tier::best),
        threads: limits.threads,
        chunk: limits.shares().chunk,
        proof: Proof::Partial,
    };
    let start = reader.starter();
    let chunk = ChunkStart { base: current.base, len_hint: plan.chunk.min(mapped.len()) };
    scan(plan, &|| start(&chunk), |part| reader.merge(part, current.base, current))
}

/// Adds up the sizes of all files as the expected bytes of the progress.
fn expect_bytes(inputs: &[Input], limits: &Limits) {
    let bytes = inputs.iter().map(size_of_input).sum();
    limits.progress.bytes_expected.store(bytes, Ordering::Relaxed);
}
