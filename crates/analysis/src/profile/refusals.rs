//! Why DevTools does not open a trace, or draws nothing of it (devtools-semantics §1, §3, §11). Such traces are analysed all the same.

use crate::profile::raw::Raw;
use crate::value::number;
use tracemill_join::input_set::ProfileFacts;

/// Why DevTools does not open a trace, or draws nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// 512 MiB or more of text.
    TooLarge,
    /// Packed or encoded in a way that it does not read.
    Packing,
    /// Not JSON, or cut off.
    Damaged,
    /// Text that JSON does not allow, in events or beside them.
    NotJson,
    /// Without its closing brackets.
    Unclosed,
    /// Commas that are missing, doubled or too many.
    Separators,
    /// One event a line.
    Lines,
    /// Several documents in one input.
    Documents,
    /// `enhancedTraceVersion`
    Enhanced,
    /// A CPU profile of the old form.
    OldProfile,
    /// A CPU profile with neither samples nor hit counts.
    Unsampled,
    /// An event without a name that is a text.
    Nameless,
    /// A `RunTask` or an `Animation` without categories.
    Uncategorised,
    /// `TracingStartedInBrowser` without `args.data`.
    EmptyStart,
    /// An event without args that DevTools reads by its name.
    BareArgs,
    /// A piece of a CPU profile with too many samples.
    ManySamples,
    /// Nothing with a time.
    NothingDrawn,
    /// A CPU profile alone without its start or its end.
    Unbounded,
}

impl Refusal {
    /// A word for programs; where `check` finds the same, its name there.
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

    /// What is so, as the end of a sentence.
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

/// More of a list than this DevTools puts on the stack at its peril: it takes 110,000 and fails at 125,000.
const LIST_MAX: usize = 110_000;

/// What of a profile DevTools does not take.
pub(crate) fn refused_profile(facts: &ProfileFacts, raw: &Raw) -> Option<Refusal> {
    let time = |text: &Option<Box<[u8]>>| text.as_deref().and_then(number);
    let alone = facts.input.is_some();
    [
        (Refusal::OldProfile, alone && facts.is_old),
        (Refusal::Unsampled, alone && !facts.has_samples && !raw.has_hits),
        (
            Refusal::Unbounded,
            alone && (time(&facts.start).is_none_or(|own| own == 0.0) || facts.end.is_none()),
        ),
        (Refusal::ManySamples, !alone && !facts.is_of_stacks && raw.longest > LIST_MAX),
    ]
    .into_iter()
    .find_map(|(refusal, is)| is.then_some(refusal))
}
