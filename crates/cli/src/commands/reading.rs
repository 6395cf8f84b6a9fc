//! Prepares inputs, with the flags of `merge`, for a program that reads the events by calling this
//! library.

use super::joining::Joined;
use super::merge_told::KEEP;
use super::running::{Flags, Running};
use crate::args::MergeArgs;
use crate::messages::{Messages, loss_texts};
use crate::outcome::exit::Failure;
use crate::outcome::remedies;
use tracemill_join::config::Config;
use tracemill_trace::Source;

/// Returns the inputs. Several inputs are merged into one, and the changes and losses of the merge
/// are reported.
///
/// With a `refusal`, returns it as an error if the inputs would be merged.
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
