//! What of a trace that was read DevTools does not take: its text, its events, its profiles.

use crate::facts::Facts;
use crate::meta::Meta;
use crate::profiles::ReadProfile;
use crate::refusals::Refusal;
use std::collections::BTreeSet;
use tracemill_pipeline::{DEVTOOLS_TEXT_MAX, Excerpt, InputReport, Scanned};

/// All reasons, each once. Of several inputs, which DevTools does not open as one, those of each.
pub(crate) fn refusals(
    scanned: &Scanned,
    (facts, meta): (&Facts, &Meta),
    known: Option<&Excerpt>,
    profiles: &[ReadProfile],
) -> BTreeSet<Refusal> {
    let inputs = scanned.inputs();
    // of pieces only an index knows in what the file is packed
    let encodings = || match known {
        Some(known) => vec![known.encoding],
        None => inputs.iter().map(|input| input.encoding).collect(),
    };
    let any = |is: &dyn Fn(&InputReport) -> bool| inputs.iter().any(is);
    let has_whole = profiles.iter().any(|own| own.facts.input.is_some());
    let has_time = facts.bounds.min.is_finite() || facts.call_bounds.min.is_finite();
    let lacks = &facts.lacks;
    let elsewhere = known.map(|known| known.lacks).unwrap_or_default();
    let is_json = || !facts.has_lapses && scanned.are_members_json();
    let place = |input: usize| scanned.place(input);
    let is_enhanced = || {
        let says = |value: Vec<u8>| memchr::memmem::find(&value, ENHANCED).is_some();
        scanned.members(ENHANCED).next().is_some() || scanned.members(b"metadata").any(says)
    };
    let found = [
        (Refusal::TooLarge, any(&|input| input.bytes > DEVTOOLS_TEXT_MAX)),
        (Refusal::Packing, encodings().into_iter().flatten().any(|own| own != "gzip")),
        (Refusal::Damaged, any(&|input| input.losses.count() > 0)),
        (Refusal::Unclosed, any(&|input| input.unclosed > 0)),
        (Refusal::Separators, any(&|input| input.odd_separators > 0)),
        (Refusal::Lines, scanned.has_lines()),
        (Refusal::Documents, inputs.len() == 1 && scanned.documents() > 1),
        (Refusal::Enhanced, is_enhanced()),
        (Refusal::NotJson, !is_json()),
        (Refusal::Nameless, lacks.names || elsewhere.names),
        (Refusal::Uncategorised, lacks.categories || elsewhere.categories),
        (Refusal::EmptyStart, lacks.starts),
        (Refusal::BareArgs, elsewhere.args || lacks.are_args_read((meta, !facts.is_web), place)),
        (Refusal::NothingDrawn, !has_time && !has_whole),
    ];
    let found = found.into_iter().filter(|(_, is)| *is).map(|(refusal, _)| refusal);
    found.chain(profiles.iter().filter_map(|own| own.refusal)).collect()
}

/// At this word DevTools opens something else.
const ENHANCED: &[u8] = b"enhancedTraceVersion";
