//! What of a trace that was read DevTools does not take: its text, its events, its profiles.

use crate::facts::Facts;
use crate::kinds::{Kind, NO_CAT};
use crate::profiles::ReadProfile;
use crate::refusals::Refusal;
use std::collections::BTreeSet;
use tracemill_pipeline::{InputReport, Scanned};

/// The longest text that Chrome makes of bytes.
const TEXT_MAX: u64 = (1 << 29) - 24;

/// All reasons, each once. Of several inputs, which DevTools does not open as one, those of each.
pub(crate) fn refusals(
    scanned: &Scanned,
    facts: &Facts,
    profiles: &[ReadProfile],
) -> BTreeSet<Refusal> {
    let inputs = scanned.inputs();
    let any = |is: &dyn Fn(&InputReport) -> bool| inputs.iter().any(is);
    let has_whole = profiles.iter().any(|own| own.facts.input.is_some());
    let has_time = facts.bounds.min.is_finite() || facts.call_bounds.min.is_finite();
    let is_task = |kind: &Kind| kind.cat == NO_CAT && facts.names.bytes_of(kind.name) == b"RunTask";
    let is_enhanced = || {
        let says = |value: Vec<u8>| memchr::memmem::find(&value, ENHANCED).is_some();
        scanned.members(ENHANCED).next().is_some() || scanned.members(b"metadata").any(says)
    };
    let found = [
        (Refusal::TooLarge, any(&|input| input.bytes >= TEXT_MAX)),
        (Refusal::Packing, any(&|input| input.encoding.is_some_and(|own| own != "gzip"))),
        (Refusal::Damaged, any(&|input| input.losses.count() > 0)),
        (Refusal::Unclosed, any(&|input| input.unclosed > 0)),
        (Refusal::Separators, any(&|input| input.odd_separators > 0)),
        (Refusal::Lines, scanned.has_lines()),
        (Refusal::Documents, inputs.len() == 1 && scanned.documents() > 1),
        (Refusal::Enhanced, is_enhanced()),
        (Refusal::Nameless, facts.lacks_names),
        (Refusal::Uncategorised, facts.kinds.all.iter().any(is_task)),
        (Refusal::EmptyStart, facts.lacks_args),
        (Refusal::NothingDrawn, !has_time && !has_whole),
    ];
    let found = found.into_iter().filter(|(_, is)| *is).map(|(refusal, _)| refusal);
    found.chain(profiles.iter().filter_map(|own| own.refusal)).collect()
}

/// At this word DevTools opens something else.
const ENHANCED: &[u8] = b"enhancedTraceVersion";
