//! The sources of a run, one after the other, and what is read behind them.

use super::expand::Expand;
use super::numbers::Numbers;
use super::reader::{Current, Inputs, Reader};
use super::session::{Session, size_of_input};
use crate::error::{Error, ErrorKind};
use crate::input::{self, Input};
use crate::limits::Limits;
use crate::pieces::Chosen;
use crate::proof::Proof;
use crate::scan::{Plan, scan};
use crate::source::Source;
use crate::store::Payload;
use std::sync::atomic::Ordering;
use tracemill_tokenizer::Tier;

/// Reads every source to its end, its findings going to `reader`. Cost: a look at each byte; heap: see [`Limits::memory`].
///
/// # Errors
/// [`ErrorKind::Read`], [`ErrorKind::NotATrace`], [`ErrorKind::TooLarge`], [`ErrorKind::Changed`], [`ErrorKind::Scratch`], [`ErrorKind::Cancelled`];
/// in a strict run [`ErrorKind::Defect`]; and those of `reader`.
pub fn read_all<R: Reader>(
    sources: &[Source],
    config: &Limits,
    expand: &mut dyn Expand,
    reader: &mut R,
) -> Result<Inputs, Error> {
    let read = read_some(sources, None, config, expand, reader)?;
    read_on(read, &[], config, expand, reader)
}

/// The same where more is read behind it, by [`read_on`], which ends the run.
///
/// # Errors
/// As [`read_all`].
pub fn read_first<R: Reader>(
    sources: &[Source],
    config: &Limits,
    expand: &mut dyn Expand,
    reader: &mut R,
) -> Result<Inputs, Error> {
    read_some(sources, None, config, expand, reader)
}

/// Reads more sources behind those that were `read`, and what `expand` has to be read last. Their sizes are not added to those
/// expected, for progress.
///
/// # Errors
/// As [`read_all`].
pub fn read_on<R: Reader>(
    read: Inputs,
    sources: &[Source],
    config: &Limits,
    expand: &mut dyn Expand,
    reader: &mut R,
) -> Result<Inputs, Error> {
    let mut session = Session::new(read, None, config, expand);
    for input in &input::expand(sources)? {
        session.read(input, reader)?;
    }
    session.read_last(reader)?;
    Ok(session.read)
}

/// Reads pieces of the one file that `source` is, see [`crate::pieces`]. Its report is of what was read, and events
/// have no numbers. Errors are those of [`read_all`].
pub fn read_pieces<R: Reader>(
    source: &Source,
    pieces: &Chosen,
    config: &Limits,
    expand: &mut dyn Expand,
    reader: &mut R,
) -> Result<Inputs, Error> {
    let read = read_some(std::slice::from_ref(source), Some(pieces), config, expand, reader)?;
    read_on(read, &[], config, expand, reader)
}

fn read_some<R: Reader>(
    sources: &[Source],
    pieces: Option<&Chosen>,
    config: &Limits,
    expand: &mut dyn Expand,
    reader: &mut R,
) -> Result<Inputs, Error> {
    let inputs = input::expand(sources)?;
    expect_bytes(&inputs, config);
    expand.begin(&mut inputs.iter().map(|input| input.source.path()));
    let (numbers, end) = (Numbers::new(config), R::RESERVED);
    let nothing = Inputs { numbers, end, ..Inputs::default() };
    let mut session = Session::new(nothing, pieces, config, expand);
    for input in &inputs {
        session.read(input, reader)?;
    }
    if session.read.reports.is_empty() && !inputs.is_empty() {
        let names: Vec<String> = sources.iter().map(Source::to_string).collect();
        let found = "none of the files in the folder is a trace".to_owned();
        let input = names.join(", ");
        return Err(ErrorKind::NotATrace { input, offset: 0, found, around: None }.into());
    }
    if inputs.is_empty() && !sources.is_empty() {
        let found = "the folder holds no files".to_owned();
        let input = sources[0].to_string();
        return Err(ErrorKind::NotATrace { input, offset: 0, found, around: None }.into());
    }
    Ok(session.read)
}

/// Reads a trace that was made, which is a map or empty, into `reader`. Errors are those of `reader`.
pub fn read_synthetic<R: Reader>(
    text: &Payload,
    config: &Limits,
    reader: &mut R,
    current: Current<'_>,
) -> Result<(), Error> {
    let Payload::Mapped(mapped) = text else { return Ok(()) };
    let plan = Plan {
        bytes: mapped,
        skip: 0,
        mapped: Some(mapped),
        tier: config.tier.unwrap_or_else(Tier::best),
        threads: config.threads,
        chunk: config.shares().chunk,
        proof: Proof::None,
    };
    let make = reader.maker();
    let new = || make(current.base, plan.chunk.min(mapped.len()));
    scan(plan, &new, |part| reader.take(part, current.base, current))
}

/// Sums up the sizes of files, for progress.
fn expect_bytes(inputs: &[Input], config: &Limits) {
    let bytes = inputs.iter().map(size_of_input).sum();
    config.progress.bytes_expected.store(bytes, Ordering::Relaxed);
}
