//! The table of all rules of `check`: name, severity per viewer, description.
//!
//! To add a rule, add a row, and call [`super::tallies::Tallies::add`] with its kind. A row has
//! three severities: for any reader, for DevTools and for Perfetto. If viewers are selected, the
//! highest severity among the viewers counts. A problem that does not change what a viewer shows is
//! a note. `A` is the severity for any reader, `S` a note about order, `O` means not reported.
//!
//! Sources: the DevTools engine 1.0.1705227 and Perfetto's JSON importer.

use tracemill_join::config::CheckFor;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The trace is valid, and readers show it correctly.
    Note,
    /// Some readers show the trace incorrectly.
    Warning,
    /// A reader fails, or shows the trace incorrectly.
    Error,
}

impl Severity {
    /// Returns the name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

tracemill_trace::serialize_by_name!(Severity);

/// A row of the rule table.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    always: ViewerSeverity,
    devtools: ViewerSeverity,
    perfetto: ViewerSeverity,
    pub(crate) sentence: &'static str,
}

impl Rule {
    /// Returns the highest severity among `viewers`, or `None` if the rule does not apply. The
    /// severity for any reader counts too if there are no viewers, or with `strict`.
    pub(crate) fn severity(&self, viewers: &[CheckFor], strict: bool) -> Option<Severity> {
        let of = |viewer: &CheckFor| match viewer {
            CheckFor::Devtools => self.devtools,
            CheckFor::Perfetto => self.perfetto,
        };
        let columns = viewers.iter().map(of).chain((strict || viewers.is_empty()).then_some(A));
        let severity = |column| match if column == A { self.always } else { column } {
            ViewerSeverity::Is(severity) => Some(severity),
            ViewerSeverity::Order if strict => Some(Severity::Warning),
            ViewerSeverity::Order => Some(Severity::Note),
            ViewerSeverity::Always | ViewerSeverity::Silent => None,
        };
        columns.filter_map(severity).max()
    }
}

/// A cell of the rule table: the severity for one viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ViewerSeverity {
    /// The severity for any reader.
    Always,
    /// A fixed severity.
    Is(Severity),
    /// A note, since viewers sort events; a warning with `strict`.
    Order,
    /// Not reported.
    Silent,
}

const A: ViewerSeverity = ViewerSeverity::Always;
const E: ViewerSeverity = ViewerSeverity::Is(Severity::Error);
const W: ViewerSeverity = ViewerSeverity::Is(Severity::Warning);
const N: ViewerSeverity = ViewerSeverity::Is(Severity::Note);
const O: ViewerSeverity = ViewerSeverity::Silent;
const S: ViewerSeverity = ViewerSeverity::Order;

macro_rules! rules {
    ($($kind:ident $name:literal ($always:ident $devtools:ident $perfetto:ident)
       $sentence:literal;)*) => {
        /// The kinds of problems. Each kind has a row in the rule table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind { $(#[doc = $sentence] $kind,)* }

        /// All rows, in the order of the kinds.
        pub(crate) const RULES: &[Rule] = &[$(Rule {
            name: $name, always: $always, devtools: $devtools, perfetto: $perfetto,
            sentence: $sentence,
        },)*];
    };
}

rules! {
    // text
    Utf8 "utf8" (E A A) "text that is not UTF-8";
    Nan "nan" (E A A) "NaN or Infinity, which JSON does not allow";
    Grammar "grammar" (E A A) "text that is not JSON";
    Malformed "malformed" (E A A) "an event that cannot be read: an unescaped quote, an unfinished string or stray text";
    Unbalanced "unbalanced" (E A A) "a bracket that does not match";
    Truncated "truncated" (E A A) "the text is cut off before its end";
    Garbage "garbage" (E A A) "text between the events that is not an event";
    NotEvents "not-events" (E A A) "traceEvents is not an array";
    Unclosed "unclosed" (N E N) "a document without its closing brackets, as a killed producer leaves it";
    UnclosedObject "unclosed-object" (O O E) "an object without its closing brackets: Perfetto reports it as incomplete";
    Separators "separators" (N E N) "a missing, leading or doubled comma between events";
    // shape
    SeveralDocuments "several-documents" (N E E) "several documents in one input";
    Ndjson "ndjson" (N E E) "one event per line, without brackets around the events";
    NoEvents "no-events" (E A A) "no events, so viewers show nothing";
    DuplicateKey "duplicate-key" (N A A) "a top-level key appears twice: readers use the last one";
    ReportedLoss "reported-loss" (W N N) "a top-level key reports that the recording lost data";
    Packing "packing" (O E O) "a compression or encoding that DevTools cannot open";
    TooLarge "too-large" (O E O) "512 MiB or more of text: DevTools cannot open it";
    Opening "opening" (O O E) "the file does not begin with {\" or [{\", by which Perfetto recognises a trace";
    EmptyEvent "empty-event" (N E O) "an empty event ({}), which some producers write at the end";
    // fields
    MissingName "missing-name" (W E W) "an event without a name";
    NamelessEnd "nameless-end" (N E O) "an E event without a name, as the format allows";
    MissingCat "missing-cat" (N E O) "an event without the field cat";
    MissingArgs "missing-args" (N W O) "an event without the field args";
    MissingPhase "missing-phase" (W W W) "an event without a phase (ph)";
    UnknownPhase "unknown-phase" (W W W) "a phase (ph) that the format does not have";
    MissingPid "missing-pid" (W W W) "an event without the field pid";
    MissingTid "missing-tid" (W W N) "a thread's event without the field tid";
    MissingTs "missing-ts" (W W W) "an event without a time stamp (ts)";
    BadNumber "bad-number" (E E E) "a ts or dur that is not a number";
    StringTime "string-time" (W E N) "a ts or dur in quotes";
    StringId "string-id" (N N N) "a pid or tid in quotes";
    OddId "odd-id" (W W W) "a pid or tid that is neither a number nor a string";
    IdRange "id-range" (N N E) "a pid or tid below 0 or above 4294967295";
    BigId "big-id" (W W N) "an id above 2^53 that is not in quotes: JavaScript rounds it";
    PrecisionTs "precision" (W W W) "a ts or dur with more digits than a double holds: viewers round it";
    NegativeTs "negative-ts" (N N N) "a ts below 0";
    NegativeDur "negative-dur" (W W W) "a dur below 0";
    NoDur "no-dur" (W W W) "an X event without the field dur";
    LowerInstant "lower-instant" (N W O) "an instant of phase i, which DevTools does not show";
    IgnoredPhase "ignored-phase" (O O W) "a phase (ph) that Perfetto does not read";
    // order
    Unsorted "unsorted" (S N N) "events are not sorted by time (harmless: viewers sort)";
    UnsortedThread "unsorted-thread" (S N N) "events of a thread are not sorted by time (harmless: viewers sort)";
    LateMetadata "late-metadata" (N N N) "a metadata event (M) after other events";
    LateUntimed "late-untimed" (N N N) "an event without a time after events with a time";
    // pairs
    BeginWithoutEnd "begin-without-end" (W N N) "a B event without an E event";
    EndWithoutBegin "end-without-begin" (W N N) "an E event without a B event";
    Crossing "crossing" (W E W) "an E event whose name differs from that of the innermost open B event";
    Overlap "overlap" (W E E) "an X event or a pair of B and E that begins inside another on its thread and ends after it";
    BeThreads "be-threads" (O W O) "B and E events on several threads: DevTools pairs them across the whole file";
    MissingAsyncId "missing-id" (W W W) "an async or flow event without an id";
    AsyncWithoutEnd "async-without-end" (W N N) "an async begin (b, S) without an end";
    AsyncWithoutBegin "async-without-begin" (W N N) "an async end (e, F) without a begin";
    AsyncOutside "async-outside" (W N N) "an async step (n, T, p) that is not between a begin and an end with its id";
    FlowWithoutEnd "flow-without-end" (W N N) "a flow start (s) without an end";
    FlowWithoutBegin "flow-without-begin" (W N N) "a flow step or end (t, f) without a start";
    SharedAsyncId "shared-async-id" (W W W) "async events of several processes share cat, name and id: viewers mix them up";
    SharedFlowId "shared-flow-id" (W W W) "flows of several processes share cat, name and id: viewers mix them up";
    AsyncIdZero "async-id-zero" (O W O) "an async id of 0 or \"\", which DevTools never pairs";
    FlowId "flow-id" (O O W) "a flow id that is neither an integer nor a hexadecimal string: Perfetto drops it";
    // references
    MissingFrame "missing-frame" (W N W) "a stack frame (sf, esf) that is missing in stackFrames";
    Annotation "annotation" (O W O) "an annotation (metadata.modifications) that names no event of this trace";
    // viewers
    Enhanced "enhanced" (O E O) "the word enhancedTraceVersion, which makes DevTools read the file in a different way";
    NothingDrawn "nothing-drawn" (O E O) "no event of phase B, E, X or I with a time other than 0: DevTools draws nothing";
    ProfilesAlone "profiles-alone" (O E O) "only CPU profiles: DevTools draws nothing if there is no event of phase B, E, X or I";
    TwoStarts "two-starts" (O W O) "more than one TracingStartedInBrowser: DevTools uses the start and main frame of the last one";
    EmptyStart "empty-start" (O E O) "TracingStartedInBrowser without args.data: DevTools cannot open the file";
    BareArgs "bare-args" (O E O) "an event without args that DevTools requires for its name (such as args.data): DevTools cannot open the file";
    HiddenProcess "hidden-process" (O N O) "an event of a process without a page: DevTools hides it in a browser's trace";
    AllHidden "all-hidden" (O E O) "no process with a page in a browser's trace: DevTools hides all processes and draws nothing";
    EscapedPair "escaped-pair" (O O E) "a string with \\\" and half of a surrogate pair (\\ud83d): Perfetto cannot open the file, or never finishes reading it";
    // CPU profiles
    ManySamples "many-samples" (O E O) "a ProfileChunk with more than 10,000 samples, nodes or timeDeltas: DevTools cannot open a file with much larger chunks";
    ProfileId2 "profile-id2" (O E O) "a CPU profile event with id2 and no id: DevTools reads only id, so it merges all such profiles of a process";
    ProfileParents "profile-parents" (O E O) "a CPU profile whose first node lists its children, while other nodes name their parent: DevTools drops those other nodes";
    ProfilesPerThread "profiles-per-thread" (O W O) "another CPU profile of the same thread: DevTools shows only one of them";
    ChunkOrder "chunk-order" (O E E) "a CPU profile whose chunks are not in time order";
    HeadlessProfile "headless-profile" (W E W) "a CPU profile without a Profile event";
    ChunkLengths "chunk-lengths" (W W E) "a ProfileChunk whose samples and timeDeltas differ in number";
    UnsignedDeltas "unsigned-deltas" (W W W) "a CPU profile with a time step of 36 to 71 minutes, which looks like a negative number written unsigned (4294967246 for -50)";
    DeltasInside "deltas-inside" (O E O) "a ProfileChunk whose timeDeltas are in args.data.cpuProfile: DevTools reads args.data.timeDeltas, and draws no calls";
    RepeatedNode "repeated-node" (N N E) "a CPU profile in which a node id appears twice";
    UnorderedProfile "unordered-profile" (W E W) "a CPU profile that uses nodes before it defines them, whatever the order of its chunks";
}

/// Returns the names and descriptions of all rules. Issues of CPU profiles are not included; their
/// names begin with `profile-`.
pub fn check_rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    RULES.iter().map(|rule| (rule.name, rule.sentence))
}

impl Kind {
    /// Number of kinds.
    pub(crate) const COUNT: usize = RULES.len();
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_trace::spill::hash::HashSet;

    #[test]
    fn every_rule_is_complete_and_has_a_unique_name() {
        let names: HashSet<_> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), Kind::COUNT);
        for rule in RULES {
            let any = rule.severity(&[CheckFor::Devtools, CheckFor::Perfetto], true);
            assert!(any.is_some() && !rule.sentence.is_empty(), "{}", rule.name);
        }
    }

    #[test]
    fn severity_is_the_worst_of_the_selected_viewers() {
        let rule = &RULES[Kind::Unclosed as usize];
        assert_eq!(rule.severity(&[], false), Some(Severity::Note));
        assert_eq!(rule.severity(&[CheckFor::Perfetto], false), Some(Severity::Note));
        let both = [CheckFor::Perfetto, CheckFor::Devtools];
        assert_eq!(rule.severity(&both, false), Some(Severity::Error));
        assert_eq!(RULES[Kind::TooLarge as usize].severity(&[], false), None);
        assert_eq!(RULES[Kind::Grammar as usize].severity(&both, false), Some(Severity::Error));
        // viewers sort events themselves
        let rule = &RULES[Kind::Unsorted as usize];
        for viewers in [&[][..], &both] {
            assert_eq!(rule.severity(viewers, false), Some(Severity::Note));
            assert_eq!(rule.severity(viewers, true), Some(Severity::Warning));
        }
        // a rule of DevTools does not apply to Perfetto
        assert_eq!(RULES[Kind::LowerInstant as usize].severity(&[CheckFor::Perfetto], false), None);
    }
}
