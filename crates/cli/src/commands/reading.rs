//! Prepares inputs for a program that reads events itself, with the flags of `merge`.

use super::joining::Joined;
use super::merge_told::KEEP;
use super::running::{Flags, Running};
use crate::args::MergeArgs;
use crate::messages::{Messages, loss_texts};
use crate::outcome::exit::Failure;
use crate::outcome::remedies;
use tracemill_join::config::Config;
use tracemill_trace::Source;

/// Returns the inputs, or the merged trace of several inputs, and reports what the merge changed
/// and lost.
///
/// If `refusal` is given, inputs that need a merge are an error with this text.
pub(crate) fn read(
    args: &MergeArgs,
    refusal: Option<String>,
    messages: &Messages,
) -> Result<(Vec<Source>, Config), Failure> {
    let flags = Flags { verb: "merge", input: &args.input, common: &args.common };
    let mut running = Running::new(flags, &[], messages)?;
    args.set_rules(&mut running.config, None)?;
    if let Some(refusal) = refusal
        && running.config.joins(&running.sources)?
    {
        return Err(Failure::usage(refusal));
    }
    let joined = Joined::by_rules(&mut running, None, KEEP)?;
    let (mut inputs, mut warnings) = (Vec::new(), Vec::new());
    joined.complete_inputs(&mut inputs, &mut warnings);
    messages.warnings(&remedies::warnings(&warnings));
    loss_texts(&inputs).iter().for_each(|text| messages.warning(text));
    Ok((running.sources, running.config))
}
