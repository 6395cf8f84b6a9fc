//! Finds the reasons why DevTools refuses a trace in its text, events and profiles.

use crate::events::meta::Meta;
use crate::profile::refusals::Refusal;
use crate::read::facts::Facts;
use crate::trace::profiles::ReadProfile;
use std::collections::BTreeSet;
use tracemill_join::input_set::InputSet;
use tracemill_join::report::warning::DEVTOOLS_TEXT_MAX;
use tracemill_trace::run::losses::InputReport;

/// Returns the distinct reasons. With several inputs, returns the reasons of each input, because
/// DevTools opens single files.
pub(crate) fn refusals(
    inputs: &InputSet,
    facts: &Facts,
    meta: &Meta,
    profiles: &[ReadProfile],
) -> BTreeSet<Refusal> {
    let reports = inputs.reports();
    let any = |is: &dyn Fn(&InputReport) -> bool| reports.iter().any(is);
    let has_whole = profiles.iter().any(|profile| profile.facts.input.is_some());
    let has_time = facts.are_drawn();
    let lacks = &facts.lacks;
    let is_json = || !facts.has_lapses && inputs.are_keys_json();
    let place = |input: usize| inputs.place(input);
    let is_enhanced = || {
        let says = |value: Vec<u8>| memchr::memmem::find(&value, ENHANCED).is_some();
        inputs.key_values(ENHANCED).next().is_some() || inputs.key_values(b"metadata").any(says)
    };
    let found = [
        (Refusal::TooLarge, any(&|input| input.bytes > DEVTOOLS_TEXT_MAX)),
        (Refusal::Packing, any(&|input| input.encoding.is_some_and(|encoding| encoding != "gzip"))),
        (Refusal::Damaged, any(&|input| input.losses.count() > 0)),
        (Refusal::Unclosed, any(&|input| input.unclosed > 0)),
        (Refusal::Separators, any(&|input| input.odd_separators > 0)),
        (Refusal::Lines, inputs.has_lines()),
        (Refusal::Documents, reports.len() == 1 && inputs.documents() > 1),
        (Refusal::Enhanced, is_enhanced()),
        (Refusal::NotJson, !is_json()),
        (Refusal::Nameless, lacks.names),
        (Refusal::Uncategorised, lacks.categories),
        (Refusal::EmptyStart, lacks.starts),
        (Refusal::BareArgs, lacks.are_args_read(meta, !facts.is_web, place)),
        (Refusal::NothingDrawn, !has_time && !has_whole),
    ];
    let found = found.into_iter().filter(|(_, is)| *is).map(|(refusal, _)| refusal);
    found.chain(profiles.iter().filter_map(|profile| profile.refusal)).collect()
}

/// A key that makes DevTools read the trace in another way.
const ENHANCED: &[u8] = b"enhancedTraceVersion";
