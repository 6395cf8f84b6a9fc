//! The one table of what `check` looks for: name, how bad it is for whom, what it is, what to do.
//!
//! A new rule is a row here and the place that calls [`super::tallies::Tallies::add`] with its kind. Severities stand in the
//! order: whatever the reader, DevTools, Perfetto. Where viewers are asked for the worst of theirs counts: what neither
//! breaks nor changes the picture there is a note, however sloppy. `A` is what holds for all readers, `O` is not reported.
//! Sources: `devtools-semantics.md` §1, §3, §8, §11, §15 and `users.md` §4.

use crate::config::CheckFor;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Allowed and harmless.
    Note,
    /// Some readers show it wrongly.
    Warning,
    /// A reader will fail, or show it wrongly.
    Error,
}

impl Severity {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A row of the table.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    always: Option<Severity>,
    devtools: Column,
    perfetto: Column,
    pub(crate) sentence: &'static str,
    pub(crate) remedy: &'static str,
}

impl Rule {
    /// The worst that it is for any of `viewers`, or whatever the reader if there are none, or if that is asked for too.
    pub(crate) fn severity(&self, viewers: &[CheckFor], always: bool) -> Option<Severity> {
        let of = |viewer: &CheckFor| match viewer {
            CheckFor::Devtools => self.devtools,
            CheckFor::Perfetto => self.perfetto,
        };
        let asked = viewers.iter().map(of).chain((always || viewers.is_empty()).then_some(A));
        let severity = |column| match column {
            Column::Always => self.always,
            Column::Is(severity) => Some(severity),
            Column::Silent => None,
        };
        asked.filter_map(severity).max()
    }
}

/// How bad something is for a viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// As for all readers.
    Always,
    /// So.
    Is(Severity),
    /// Nothing is said of it.
    Silent,
}

const A: Column = Column::Always;
const E: Column = Column::Is(Severity::Error);
const W: Column = Column::Is(Severity::Warning);
const N: Column = Column::Is(Severity::Note);
const O: Column = Column::Silent;

impl Column {
    /// In the first column, which is for all readers.
    const fn of_all(self) -> Option<Severity> {
        match self {
            Column::Is(severity) => Some(severity),
            Column::Always | Column::Silent => None,
        }
    }
}

macro_rules! rules {
    ($($kind:ident $name:literal ($always:ident $devtools:ident $perfetto:ident)
       $sentence:literal, $remedy:literal;)*) => {
        /// What can be found.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind { $(#[doc = $sentence] $kind,)* }

        /// All rows, in the order of the kinds.
        pub(crate) const RULES: &[Rule] = &[$(Rule {
            name: $name, always: $always.of_all(), devtools: $devtools, perfetto: $perfetto,
            sentence: $sentence, remedy: $remedy,
        },)*];
    };
}

rules! {
    // text
    Utf8 "utf8" (E A A) "text that is not UTF-8", "tracemill merge --repair replaces it";
    Nan "nan" (E A A) "NaN or Infinity, which JSON has no word for", "tracemill merge --repair writes null";
    Grammar "grammar" (E A A) "text that is not JSON", "tracemill merge --repair mends it where it is clear what was meant, and leaves the event out where not";
    Malformed "malformed" (E A A) "an event that cannot be read: a bare quote, an open string or stray text", "tracemill merge drops it and keeps the rest";
    Unbalanced "unbalanced" (E A A) "a bracket that does not match", "tracemill merge drops what it spoils and keeps the rest";
    Truncated "truncated" (E A A) "cut off before its end", "tracemill merge writes a complete trace of what is there";
    Garbage "garbage" (E A A) "something between the events that is no event", "tracemill merge leaves it out";
    NotEvents "not-events" (E A A) "traceEvents is not an array", "write an array of events, even if it is empty";
    Unclosed "unclosed" (N E N) "a document without its closing brackets, as a killed producer leaves it", "tracemill merge closes it";
    UnclosedObject "unclosed-object" (O O E) "an object without its closing brackets: Perfetto reports it as incomplete", "tracemill merge closes it";
    Separators "separators" (N E N) "a missing, leading or doubled comma between events", "tracemill merge writes them right";
    // shape
    SeveralDocuments "several-documents" (N E E) "several documents in one input", "tracemill merge makes one of them";
    Ndjson "ndjson" (N E E) "one event a line, without brackets around them", "tracemill merge --format object writes a form that viewers read";
    NoEvents "no-events" (N W W) "no events", "there is nothing to show";
    DuplicateKey "duplicate-key" (N A A) "a key that stands twice beside the events: readers take the last", "keep one of them";
    Packing "packing" (O E O) "packed or encoded as DevTools cannot open it", "tracemill merge INPUT -o OUT.json.gz writes one gzip member of UTF-8";
    TooLarge "too-large" (O E O) "512 MiB or more of text: DevTools gives up", "tracemill split --by size=400M, or slice, or filter";
    Opening "opening" (O O E) "does not begin with {\" or [{\", by which Perfetto knows a trace", "tracemill merge writes it so that it does";
    EmptyEvent "empty-event" (N E O) "an empty event ({}), with which producers avoid a comma", "tracemill filter or merge --for devtools takes it out";
    // fields
    MissingName "missing-name" (W E W) "an event without a name", "DevTools refuses the whole file: tracemill merge --for devtools gives it one";
    NamelessEnd "nameless-end" (N E O) "an E event without a name, as the format allows", "DevTools refuses the whole file: tracemill merge --for devtools pairs it with its B";
    MissingCat "missing-cat" (N E O) "an event without cat", "DevTools fails when it selects such a thread: tracemill merge --for devtools adds it";
    MissingArgs "missing-args" (N W O) "an event without args", "tracemill merge --for devtools adds it";
    MissingPhase "missing-phase" (W W W) "an event without a phase (ph)", "viewers leave it out: give it one";
    UnknownPhase "unknown-phase" (W W W) "a phase that the format does not have", "viewers leave it out";
    MissingPid "missing-pid" (W W W) "an event without pid", "give it one: viewers put it where it does not belong";
    MissingTid "missing-tid" (W W W) "an event without tid", "give it one: viewers put it where it does not belong";
    MissingTs "missing-ts" (W W W) "an event without a time stamp (ts)", "viewers leave it out: let the producer give it one";
    BadNumber "bad-number" (E E E) "a ts or dur that is no number", "mend it in the producer: readers take it for 0, or fail";
    StringTime "string-time" (W E N) "a ts or dur in quotes", "write numbers: JavaScript joins strings where it should add; tracemill merge --for devtools does";
    StringId "string-id" (N N N) "a pid or tid in quotes", "tracemill keeps \"5\" and 5 apart, as DevTools does";
    OddId "odd-id" (W W W) "a pid or tid that is neither a number nor a string", "write a number";
    IdRange "id-range" (N N E) "a pid or tid below 0 or above 4294967295", "Perfetto takes all of these for one thread: tracemill merge --for perfetto writes smaller numbers";
    BigId "big-id" (W W W) "an id above 2^53 that is not in quotes: JavaScript rounds it", "write it as a string";
    PrecisionTs "precision" (W W W) "a ts or dur of more digits than a double holds: viewers round it", "tracemill keeps every digit; let times begin nearer to 0";
    NegativeTs "negative-ts" (N N N) "a ts below 0", "allowed; few readers expect it";
    NegativeDur "negative-dur" (W W W) "a dur below 0", "clocks went backwards: leave the event out, or make it 0";
    NoDur "no-dur" (W W W) "an X event without dur", "it has no end: write dur, or B and E";
    LowerInstant "lower-instant" (N W O) "an instant of phase i, which DevTools does not show", "tracemill merge --for devtools writes I";
    IgnoredPhase "ignored-phase" (O O W) "a phase that Perfetto does not read", "it is left out there";
    // order
    Unsorted "unsorted" (W N N) "an event behind one that is later", "tracemill merge sorts";
    UnsortedThread "unsorted-thread" (W N N) "an event behind a later one of its thread", "tracemill merge sorts";
    LateMetadata "late-metadata" (N N N) "a metadata event (M) behind other events", "tracemill merge puts them in front";
    LateUntimed "late-untimed" (N N N) "an event without a time behind others that have one", "tracemill merge puts them in front";
    // pairs
    BeginWithoutEnd "begin-without-end" (W N N) "a B event that no E ends", "it stays open to the end of the trace";
    EndWithoutBegin "end-without-begin" (W N N) "an E event that ends nothing", "it is left out by viewers";
    Crossing "crossing" (W E W) "an E event whose name is not that of the innermost open B event", "B and E must nest: tracemill merge --for devtools writes X events";
    Overlap "overlap" (W E E) "an X event that begins inside another one of its thread and ends behind it", "viewers drop it: tracemill merge --for perfetto --overlaps spill (or --for devtools) moves it to a lane of its own";
    BeThreads "be-threads" (O W O) "B and E events on several threads: DevTools pairs them over the whole file", "tracemill merge --for devtools pairs them by thread and writes X events";
    MissingAsyncId "missing-id" (W W W) "an async or flow event without an id", "nothing can be paired with it: write id or id2";
    AsyncWithoutEnd "async-without-end" (W N N) "an async event (b, S) that none ends", "it stays open, or is left out";
    AsyncWithoutBegin "async-without-begin" (W N N) "an async end (e, F) without a begin", "it is left out";
    AsyncOutside "async-outside" (W N N) "an async step (n, T, p) outside of any pair of its id", "it is left out";
    FlowWithoutEnd "flow-without-end" (W N N) "a flow (s) that leads nowhere", "no arrow is drawn";
    FlowWithoutBegin "flow-without-begin" (W N N) "a step or end of a flow (t, f) that begins nowhere", "no arrow is drawn";
    SharedAsyncId "shared-async-id" (W W W) "async events of several processes begin with one cat, name and id: viewers mix them up", "use id2.local, or ids that differ; of several inputs tracemill merge keeps them apart";
    SharedFlowId "shared-flow-id" (W W W) "flows of several processes begin with one cat, name and id: viewers mix them up", "use ids that differ; of several inputs tracemill merge keeps them apart";
    AsyncIdZero "async-id-zero" (O W O) "an async id of 0 or \"\", which DevTools never pairs", "number them from 1";
    FlowId "flow-id" (O O W) "a flow id that is neither an integer nor a hexadecimal string: Perfetto drops it", "tracemill merge --for perfetto writes a number";
    // references
    MissingFrame "missing-frame" (W N W) "a stack frame (sf, esf) that stackFrames does not have", "the stack is not shown";
    Annotation "annotation" (O W O) "an annotation (metadata.modifications) that names no event of this trace", "take it out: one bad one costs DevTools all that follow";
    // viewers
    Enhanced "enhanced" (O E O) "the word enhancedTraceVersion: DevTools opens the file in another way", "take it out, unless it is meant";
    NothingDrawn "nothing-drawn" (O E O) "no event of phase B, E, X or I with a time other than 0: DevTools draws nothing", "DevTools leaves out time 0: give one another time";
    TwoStarts "two-starts" (O W O) "more than one TracingStartedInBrowser: the last one gives begin and main frame", "tracemill merge --for devtools makes them one";
    EmptyStart "empty-start" (O E O) "TracingStartedInBrowser without args.data: DevTools refuses the file", "tracemill merge --for devtools takes it out";
    BareArgs "bare-args" (O E O) "an event without the args that DevTools reads of one of its name (args.data and the like): it refuses the file", "tracemill merge --for devtools supplies them";
    HiddenProcess "hidden-process" (O N O) "an event of a process without a page: DevTools hides it in a browser's trace", "nothing, for processes of the browser itself; one of another recording shows if its file is merged with --for devtools";
    // CPU profiles
    ManySamples "many-samples" (O E O) "a ProfileChunk of more than 10,000 samples, nodes or steps", "tracemill merge --for devtools cuts it";
    ProfileId2 "profile-id2" (O E O) "an event of a CPU profile named by id2 alone: DevTools reads id, and takes all such profiles of a process for one", "tracemill merge --for devtools gives it an id";
    ProfilesPerThread "profiles-per-thread" (O W O) "a further CPU profile of one thread: DevTools shows one", "tracemill profile extract, and open each";
    ChunkOrder "chunk-order" (O E E) "a CPU profile whose chunks are not in the order of time", "tracemill merge puts them in order";
    HeadlessProfile "headless-profile" (W E W) "a CPU profile without its Profile event", "merge the file in which it began; tracemill profile extract saves it";
    ChunkLengths "chunk-lengths" (W W E) "a ProfileChunk whose samples and timeDeltas differ in number", "tracemill profile extract pairs what can be paired";
    RepeatedNode "repeated-node" (N N E) "a CPU profile in which a node id stands twice", "tracemill profile extract numbers nodes anew where it must";
    UnorderedProfile "unordered-profile" (W E W) "a CPU profile that refers to nodes it has not defined yet, in whatever order", "a file of it may be missing: merge all";
}

impl Kind {
    /// How many there are.
    pub(crate) const COUNT: usize = RULES.len();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn rows_are_whole_and_names_differ() {
        let names: HashSet<_> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), Kind::COUNT);
        for rule in RULES {
            let any = rule.severity(&[CheckFor::Devtools, CheckFor::Perfetto], true);
            assert!(any.is_some() && !rule.remedy.is_empty(), "{}", rule.name);
        }
    }

    #[test]
    fn the_worst_of_those_asked_for_counts() {
        let rule = &RULES[Kind::Unclosed as usize];
        assert_eq!(rule.severity(&[], false), Some(Severity::Note));
        assert_eq!(rule.severity(&[CheckFor::Perfetto], false), Some(Severity::Note));
        let both = [CheckFor::Perfetto, CheckFor::Devtools];
        assert_eq!(rule.severity(&both, false), Some(Severity::Error));
        assert_eq!(RULES[Kind::TooLarge as usize].severity(&[], false), None);
        assert_eq!(RULES[Kind::Grammar as usize].severity(&both, false), Some(Severity::Error));
        // sorting is what viewers do themselves
        let rule = &RULES[Kind::Unsorted as usize];
        assert_eq!(rule.severity(&[], false), Some(Severity::Warning));
        assert_eq!(rule.severity(&both, false), Some(Severity::Note));
        assert_eq!(rule.severity(&both, true), Some(Severity::Warning));
        // what only DevTools trips over is nothing to Perfetto
        assert_eq!(RULES[Kind::LowerInstant as usize].severity(&[CheckFor::Perfetto], false), None);
    }
}
