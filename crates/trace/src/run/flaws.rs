//! Counts flaws of a CPU profile by kind, with the first offset of each kind.
//!
//! A flaw affects only the data it touches: the rest of the profile and other streams are kept.
//!
//! ```
//! use tracemill_trace::run::flaws::{FlawKind, Flaws};
//!
//! let mut flaws = Flaws::default();
//! flaws.add(FlawKind::Sample, 700);
//! flaws.add_many(FlawKind::Sample, 300, 5);
//! let (kind, flaw) = flaws.iter().next().expect("there are some");
//! assert_eq!((kind.name(), flaw.count, flaw.offset), ("sample", 6, 700)); // the place that was counted first
//! assert!(kind.is_loss() && !FlawKind::TwoProfiles.is_loss());
//! ```

use serde::{Serialize, Serializer};

/// A kind of flaw in a CPU profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlawKind {
    /// No `Profile` event: the thread and the start are guessed from the chunks.
    NoProfile,
    /// More than one `Profile` event: the last one counts, as in DevTools.
    TwoProfiles,
    /// No order of the chunks defines every node before its use; chunks stay in time order.
    Unordered,
    /// The start time is missing or not a number.
    NoStart,
    /// A value that should be an object or array and is not.
    Shape,
    /// A node without a usable id.
    Node,
    /// A node with the id of an earlier node: later references mean the later node.
    Repeated,
    /// A node whose parent does not exist. The node is moved below the root.
    Orphan,
    /// A child that does not exist or has two parents: one parent was kept.
    Child,
    /// A node that is its own ancestor. The node is moved below the root.
    Cycle,
    /// A sample that refers to a missing node. Its time was added to the next sample.
    Sample,
    /// Samples without times, or times without samples.
    Unpaired,
    /// A profile without times: samples were spread evenly between start and end.
    Untimed,
    /// A time step that is not a number or is longer than 292 years. The step counts as 0.
    Delta,
    /// A time finer than a nanosecond. The time is rounded down.
    Rounded,
    /// `lines` or `columns` with fewer or more elements than samples. The list is cut, or filled
    /// with 0.
    Lines,
    /// An entry of `trace_ids` that refers to a missing node.
    TraceId,
    /// A key with different values in several chunks: the first value was kept.
    Key,
    /// Text that is not JSON: bad bytes were escaped, bad words replaced by null.
    Text,
    /// Node ids too large for JavaScript to distinguish: nodes were renumbered.
    Renumbered,
}

impl FlawKind {
    /// Number of kinds.
    pub const COUNT: usize = FlawKind::ALL.len();
    /// All kinds, in the order of their discriminants.
    pub const ALL: [FlawKind; 20] = [
        FlawKind::NoProfile,
        FlawKind::TwoProfiles,
        FlawKind::Unordered,
        FlawKind::NoStart,
        FlawKind::Shape,
        FlawKind::Node,
        FlawKind::Repeated,
        FlawKind::Orphan,
        FlawKind::Child,
        FlawKind::Cycle,
        FlawKind::Sample,
        FlawKind::Unpaired,
        FlawKind::Untimed,
        FlawKind::Delta,
        FlawKind::Rounded,
        FlawKind::Lines,
        FlawKind::TraceId,
        FlawKind::Key,
        FlawKind::Text,
        FlawKind::Renumbered,
    ];

    /// Returns the name of the kind in reports.
    pub fn name(self) -> &'static str {
        match self {
            FlawKind::NoProfile => "no-profile-event",
            FlawKind::TwoProfiles => "two-profile-events",
            FlawKind::Unordered => "unordered",
            FlawKind::NoStart => "no-start",
            FlawKind::Shape => "shape",
            FlawKind::Node => "node",
            FlawKind::Repeated => "repeated-id",
            FlawKind::Orphan => "orphan",
            FlawKind::Child => "child",
            FlawKind::Cycle => "cycle",
            FlawKind::Sample => "sample",
            FlawKind::Unpaired => "unpaired",
            FlawKind::Untimed => "untimed",
            FlawKind::Delta => "delta",
            FlawKind::Rounded => "rounded",
            FlawKind::Lines => "lines",
            FlawKind::TraceId => "trace-id",
            FlawKind::Key => "key",
            FlawKind::Text => "text",
            FlawKind::Renumbered => "renumbered",
        }
    }

    /// Returns a description of the flaw and its treatment for users.
    pub fn sentence(self) -> &'static str {
        match self {
            FlawKind::NoProfile => {
                "there is no Profile event; the thread and the start of the profile were guessed from the first chunk"
            }
            FlawKind::TwoProfiles => {
                "there is more than one Profile event; the last one was used, as in DevTools"
            }
            FlawKind::Unordered => {
                "some nodes are used before they are defined, in any order of the chunks; the chunks stay in time order"
            }
            FlawKind::NoStart => "there is no start time; it was guessed",
            FlawKind::Shape => "a value that should be an object or array was left out",
            FlawKind::Node => "a node without a usable id was left out",
            FlawKind::Repeated => "a node id appears twice; later references mean the later node",
            FlawKind::Orphan => "a node whose parent does not exist was moved below the root",
            FlawKind::Child => "a child does not exist, or has two parents; one parent was kept",
            FlawKind::Cycle => "a node that is its own ancestor was moved below the root",
            FlawKind::Sample => {
                "a sample that refers to a missing node was left out; its time was added to the next sample"
            }
            FlawKind::Unpaired => "samples without times, or times without samples, were left out",
            FlawKind::Untimed => {
                "the samples have no times; they were spread evenly, as in DevTools"
            }
            FlawKind::Delta => "a time step that is too long, or not a number, was replaced by 0",
            FlawKind::Rounded => {
                "a time with fractions of a nanosecond was rounded down to a whole nanosecond"
            }
            FlawKind::Lines => {
                "there were more or fewer lines or columns than samples; they were cut, or filled with 0"
            }
            FlawKind::TraceId => "a trace id that refers to a missing node was left out",
            FlawKind::Key => "a key has several values; the first one was kept",
            FlawKind::Text => {
                "some text is not JSON; bad bytes were escaped, and bad words became null"
            }
            FlawKind::Renumbered => {
                "node ids are too large for JavaScript to distinguish; the nodes were renumbered"
            }
        }
    }

    /// Returns whether data is lost or guessed, which changes the exit status.
    pub fn is_loss(self) -> bool {
        !matches!(
            self,
            FlawKind::TwoProfiles
                | FlawKind::Unordered
                | FlawKind::Repeated
                | FlawKind::Renumbered
                | FlawKind::Untimed
        )
    }
}

/// The flaws of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaw {
    /// Number of occurrences.
    pub count: u64,
    /// Offset of the first occurrence, in the decoded input.
    pub offset: u64,
    /// Name of the input; empty if there is only one.
    pub input: String,
}

/// All flaws of one profile; allocates only if there are any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaws(Option<Box<[Flaw; FlawKind::COUNT]>>);

impl Flaws {
    /// Counts a flaw at `offset`.
    #[cold]
    pub fn add(&mut self, kind: FlawKind, offset: u64) {
        self.add_many(kind, offset, 1);
    }

    /// Counts `count` flaws of a kind, the first at `offset`.
    pub fn add_many(&mut self, kind: FlawKind, offset: u64, count: u64) {
        if count == 0 {
            return;
        }
        let flaw = &mut self.0.get_or_insert_default()[kind as usize];
        if flaw.count == 0 {
            flaw.offset = offset;
        }
        flaw.count += count;
    }

    /// Adds the flaws of a later part of the profile.
    pub fn append(&mut self, later: &Flaws) {
        for (kind, flaw) in later.iter() {
            self.add_many(kind, flaw.offset, flaw.count);
        }
    }

    /// Returns the kinds that occur, with their flaws.
    pub fn iter(&self) -> impl Iterator<Item = (FlawKind, &Flaw)> {
        let flaws = self.0.iter().flat_map(|flaws| flaws.iter());
        FlawKind::ALL.into_iter().zip(flaws).filter(|(_, flaw)| flaw.count > 0)
    }

    /// Returns the number of flaws that are losses.
    pub fn lost(&self) -> u64 {
        self.iter().filter(|(kind, _)| kind.is_loss()).map(|(_, flaw)| flaw.count).sum()
    }

    /// Returns whether there are no flaws.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Converts address-space offsets to input names and offsets in the input.
    pub fn locate(&mut self, locate: impl Fn(u64) -> (String, u64)) {
        let flaws = self.0.iter_mut().flat_map(|flaws| flaws.iter_mut());
        for flaw in flaws.filter(|flaw| flaw.count > 0) {
            (flaw.input, flaw.offset) = locate(flaw.offset);
        }
    }
}

impl Serialize for Flaws {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct FlawRow<'f> {
            kind: &'static str,
            count: u64,
            lost: bool,
            input: &'f str,
            offset: u64,
        }
        let rows = self.iter().map(|(kind, Flaw { count, offset, input })| FlawRow {
            kind: kind.name(),
            count: *count,
            lost: kind.is_loss(),
            input,
            offset: *offset,
        });
        serializer.collect_seq(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flaws_keep_count_and_first_offset_per_kind() {
        let mut flaws = Flaws::default();
        flaws.add(FlawKind::Sample, 7);
        flaws.add(FlawKind::Repeated, 1);
        let mut later = Flaws::default();
        later.add_many(FlawKind::Sample, 99, 2);
        flaws.append(&later);
        let all: Vec<_> =
            flaws.iter().map(|(kind, flaw)| (kind, flaw.count, flaw.offset)).collect();
        assert_eq!(all, [(FlawKind::Repeated, 1, 1), (FlawKind::Sample, 3, 7)]);
        assert_eq!(flaws.lost(), 3);
        for (i, kind) in FlawKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
        }
    }
}
