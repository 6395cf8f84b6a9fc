//! Table of the changes made for viewers, with counts.

macro_rules! changes {
    ($($change:ident $name:literal $sentence:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Change { $(#[doc = $sentence] $change,)* }

        /// The name and the message of each change.
        const TABLE: &[(&str, &str)] = &[$(($name, $sentence),)*];
    };
}

changes! {
    // both
    Empty "empty-events" "empty events ({}) left out";
    Mended "mended" "events mended where they were not JSON";
    MendedKeys "mended-keys" "keys beside the events mended in the same way";
    // DevTools
    Pairs "pairs" "pairs of B and E written as X";
    Open "open-begins" "B events without an E written as X of no duration, as DevTools shows them";
    LoneEnds "lone-ends" "E events without a B left out, as DevTools does";
    EndKeys "end-keys" "keys of E events left out, because their B events have keys of the same name";
    Starts "starts" "extra TracingStartedInBrowser events left out, their frames added to the earliest";
    BareStarts "bare-starts" "TracingStartedInBrowser events without args.data left out, because DevTools refuses a file with one";
    StartMoved "start-moved" "TracingStartedInBrowser moved to the first event, where DevTools begins";
    Pages "pages" "processes given a CommitLoad, without which DevTools hides them";
    Instants "instants" "instants of phase i written as I";
    Names "names" "events given a name";
    Cats "cats" "events given a cat";
    Args "args" "events given args";
    PageArgs "page-args" "events given the args that DevTools needs in events of their name (args.data and the like)";
    ThreadNames "thread-names" "names of threads that are no text written as text";
    QuotedTimes "quoted-times" "times in quotes written as numbers";
    ProfileIds "profile-ids" "CPU profile events with id2 given an id too, by which DevTools tells profiles apart";
    Deltas "moved-deltas" "ProfileChunk events with timeDeltas in cpuProfile given them in args.data, where DevTools reads them";
    BigIds "big-ids" "ids above 2^53 written as strings, because JavaScript rounds them";
    Around "profile-around" "X events added around CPU profiles, because DevTools draws profiles only beside other events";
    Chunks "chunks" "ProfileChunk events of more than 10,000 samples cut";
    Parts "chunk-parts" "ProfileChunk events added for those";
    // both
    Pids "pids" "pids renamed that are too large for the viewer";
    Tids "tids" "tids renamed that are too large for the viewer";
    // Perfetto
    FlowIds "flow-ids" "ids of flows written as hexadecimal numbers";
    FlowId2 "flow-id2" "flows with id2 given an id, which is what Perfetto reads";
    Escapes "escapes" "events with escapes (\\u) of characters, which Perfetto shows as they are or refuses, written with the characters";
    Spilled "spilled" "X events that overlap others moved to a track beside their thread";
    SpilledPairs "spilled-pairs" "pairs of B and E that overlap others moved to a track beside their thread";
    Lanes "lanes" "tracks added beside threads";
    Crowded "crowded" "X events and pairs of B and E that overlap others left as they are: their thread has no room for another track";
    Clipped "clipped" "X events that overlap others cut at the end of the other";
}

const COUNT: usize = TABLE.len();

/// Number of times that each change was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Changes([u64; COUNT]);

impl Default for Changes {
    fn default() -> Self {
        Changes([0; COUNT])
    }
}

impl Changes {
    pub(crate) fn add(&mut self, change: Change, count: u64) {
        self.0[change as usize] += count;
    }

    pub(crate) fn one(&mut self, change: Change) {
        self.add(change, 1);
    }

    pub(crate) fn get(&self, change: Change) -> u64 {
        self.0[change as usize]
    }

    pub(crate) fn append(&mut self, other: &Changes) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, other)| *sum += other);
    }

    /// Returns the changes made at least once: name, count and message.
    pub(crate) fn list(&self) -> Vec<(&'static str, u64, &'static str)> {
        let rows = TABLE.iter().zip(self.0).filter(|(_, count)| *count > 0);
        rows.map(|(&(name, sentence), count)| (name, count, sentence)).collect()
    }
}
