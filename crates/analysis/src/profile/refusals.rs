//! Reasons why DevTools does not open a trace, or draws nothing.

use crate::profile::raw::Raw;
use crate::value::number;
use tracemill_join::input_set::ProfileFacts;

/// A reason why DevTools does not open a trace, or draws nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// 512 MiB or more of text.
    TooLarge,
    /// Compression or encoding that DevTools does not support.
    Packing,
    /// Truncated, or not JSON.
    Damaged,
    /// Text that JSON does not allow.
    NotJson,
    /// Missing closing brackets.
    Unclosed,
    /// Missing, doubled or extra commas.
    Separators,
    /// One event per line (NDJSON).
    Lines,
    /// Several JSON documents in one input.
    Documents,
    /// `enhancedTraceVersion`.
    Enhanced,
    /// A CPU profile in the old format.
    OldProfile,
    /// A CPU profile with neither samples nor hit counts.
    Unsampled,
    /// An event whose name is missing or not a string.
    Nameless,
    /// A `RunTask` or `Animation` without categories.
    Uncategorised,
    /// A `TracingStartedInBrowser` without `args.data`.
    EmptyStart,
    /// An event without the args that DevTools reads for its name.
    BareArgs,
    /// A profile chunk with too many samples.
    ManySamples,
    /// No event with a time.
    NothingDrawn,
    /// A standalone CPU profile without its start or end.
    Unbounded,
}

impl Refusal {
    /// Returns an identifier for programs, equal to that of `check` for the same problem.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::TooLarge => "too-large",
            Refusal::Packing => "packing",
            Refusal::Damaged => "damaged",
            Refusal::NotJson => "grammar",
            Refusal::Unclosed => "unclosed",
            Refusal::Separators => "separators",
            Refusal::Lines => "ndjson",
            Refusal::Documents => "several-documents",
            Refusal::Enhanced => "enhanced",
            Refusal::OldProfile => "old-profile",
            Refusal::Unsampled => "unsampled",
            Refusal::Nameless => "missing-name",
            Refusal::Uncategorised => "missing-cat",
            Refusal::EmptyStart => "empty-start",
            Refusal::BareArgs => "bare-args",
            Refusal::ManySamples => "many-samples",
            Refusal::NothingDrawn => "nothing-drawn",
            Refusal::Unbounded => "unbounded-profile",
        }
    }

    /// Returns the reason as the end of a sentence.
    pub fn reason(self) -> &'static str {
        match self {
            Refusal::TooLarge => "it has 512 MiB of text or more",
            Refusal::Packing => "it is packed or encoded in a way that DevTools does not read",
            Refusal::Damaged => "it is damaged",
            Refusal::NotJson => "it has text that JSON does not allow, such as NaN",
            Refusal::Unclosed => "its closing brackets are missing",
            Refusal::Separators => "commas between its events are missing or doubled",
            Refusal::Lines => "it has one event per line",
            Refusal::Documents => "it is several documents in a row",
            Refusal::Enhanced => {
                "the word enhancedTraceVersion makes DevTools read it in another way"
            }
            Refusal::OldProfile => "it is a CPU profile of the old form (head instead of nodes)",
            Refusal::Unsampled => "its CPU profile has neither samples nor hit counts",
            Refusal::Nameless => "events have no name",
            Refusal::Uncategorised => "a RunTask or an Animation has no cat",
            Refusal::EmptyStart => "a TracingStartedInBrowser has no args.data",
            Refusal::BareArgs => {
                "events have not the args that DevTools reads of their names (args.data and the like)"
            }
            Refusal::ManySamples => {
                "a ProfileChunk has more samples, times or children of a node than DevTools takes at once"
            }
            Refusal::NothingDrawn => {
                "no event of phase B, E, X or I has a time other than 0, so that nothing is drawn"
            }
            Refusal::Unbounded => {
                "its CPU profile has no startTime other than 0 or no endTime, so that nothing is drawn"
            }
        }
    }
}

/// Longest list that DevTools reads safely onto its stack: 110,000 elements work, 125,000 fail.
const LIST_MAX: usize = 110_000;

/// Returns the reason why DevTools refuses a profile, if any.
pub(crate) fn refused_profile(facts: &ProfileFacts, raw: &Raw) -> Option<Refusal> {
    let time = |text: &Option<Box<[u8]>>| text.as_deref().and_then(number);
    let alone = facts.input.is_some();
    [
        (Refusal::OldProfile, alone && facts.is_old),
        (Refusal::Unsampled, alone && !facts.has_samples && !raw.has_hits),
        (
            Refusal::Unbounded,
            alone && (time(&facts.start).is_none_or(|start| start == 0.0) || facts.end.is_none()),
        ),
        (Refusal::ManySamples, !alone && !facts.is_of_stacks && raw.longest > LIST_MAX),
    ]
    .into_iter()
    .find_map(|(refusal, is)| is.then_some(refusal))
}
