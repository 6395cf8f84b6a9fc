//! What is wrong with a CPU profile, counted by kind with the first place of each.
//!
//! A flaw costs what it touches and no more: the rest of the profile is saved, other streams do not see it.
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

/// Kinds of flaws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlawKind {
    /// No `Profile` event: thread and start are guessed from the chunks.
    NoProfile,
    /// More than one `Profile` event: the last one counts, as in DevTools.
    TwoProfiles,
    /// In no order of the chunks do all refer to earlier nodes: order of time was kept.
    Unordered,
    /// The start is missing or no number.
    NoStart,
    /// Something that should be an object or array and is not.
    Shape,
    /// A node without a usable id.
    Node,
    /// A node whose id an earlier one has: what follows it means the later one.
    Repeated,
    /// A node whose parent does not exist: it hangs below the root.
    Orphan,
    /// A list of children that names no node, or one that has another parent: one of the two was taken.
    Child,
    /// A node that is its own ancestor: it hangs below the root.
    Cycle,
    /// A sample that names no node: its time was added to the next one.
    Sample,
    /// Samples without times or times without samples.
    Unpaired,
    /// No times at all: samples were spread evenly between start and end.
    Untimed,
    /// A time step that is no number or longer than 292 years; it counts as 0.
    Delta,
    /// A time finer than a nanosecond, cut off there.
    Rounded,
    /// `lines` or `columns` of another length than the samples, cut or filled with 0.
    Lines,
    /// An entry of `trace_ids` that names no node.
    TraceId,
    /// A key that chunks of one profile give different values: the first was kept.
    Key,
    /// Text that is not JSON; odd bytes were escaped, odd words replaced by null.
    Text,
    /// Ids that readers in JavaScript cannot tell apart: nodes were numbered anew.
    Renumbered,
}

impl FlawKind {
    /// How many there are.
    pub const COUNT: usize = FlawKind::ALL.len();
    /// All of them, in the order of their numbers.
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

    /// Its name in reports.
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

    /// What it is and what became of it, for a user.
    pub fn sentence(self) -> &'static str {
        match self {
            FlawKind::NoProfile => {
                "there is no Profile event: its thread and start were guessed from the first chunk"
            }
            FlawKind::TwoProfiles => {
                "there is more than one Profile event: the last one was taken, as DevTools does"
            }
            FlawKind::Unordered => {
                "no order of its chunks defines every node before it is used; the chunks stay in time order"
            }
            FlawKind::NoStart => "there is no start time: it was guessed",
            FlawKind::Shape => {
                "a value of the wrong kind where an object or array belongs; left out"
            }
            FlawKind::Node => "a node without a usable id; left out",
            FlawKind::Repeated => "a node id that appears twice: what follows uses the later node",
            FlawKind::Orphan => "a node whose parent does not exist; moved below the root",
            FlawKind::Child => {
                "a child that does not exist, or that has two parents; one parent was taken"
            }
            FlawKind::Cycle => "a node that is its own ancestor; moved below the root",
            FlawKind::Sample => {
                "a sample of a node that does not exist; left out, its time went to the next sample"
            }
            FlawKind::Unpaired => "samples without times, or times without samples; left out",
            FlawKind::Untimed => "samples without any times; spread evenly, as DevTools does",
            FlawKind::Delta => "a time step that is not a number or too long; taken as 0",
            FlawKind::Rounded => "a time finer than a nanosecond; rounded down to one",
            FlawKind::Lines => "more or fewer lines or columns than samples; cut, or filled with 0",
            FlawKind::TraceId => "a trace id of a node that does not exist; left out",
            FlawKind::Key => "a key with several values; the first one was kept",
            FlawKind::Text => {
                "text that is not JSON; bad bytes were escaped, bad words became null"
            }
            FlawKind::Renumbered => {
                "node ids too large for JavaScript to distinguish; the nodes were renumbered"
            }
        }
    }

    /// Whether something of the profile is gone or guessed, so that the status says so.
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

/// How often a kind occurs, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaw {
    /// How often.
    pub count: u64,
    /// Offset of the first one, in the decoded input.
    pub offset: u64,
    /// The input it is in; empty where there is only one.
    pub input: String,
}

/// All flaws of one profile; takes no room as long as there is none.
///
/// Serialized: a list of `{kind, count, lost, input, offset}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaws(Option<Box<[Flaw; FlawKind::COUNT]>>);

impl Flaws {
    /// Counts one more at `offset`.
    #[cold]
    pub fn add(&mut self, kind: FlawKind, offset: u64) {
        self.add_many(kind, offset, 1);
    }

    /// Counts several of a kind, the first of which stands at `offset`.
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

    /// Takes over what a later part has.
    pub fn append(&mut self, later: &Flaws) {
        for (kind, flaw) in later.iter() {
            self.add_many(kind, flaw.offset, flaw.count);
        }
    }

    /// Kinds of which there is any.
    pub fn iter(&self) -> impl Iterator<Item = (FlawKind, &Flaw)> {
        let flaws = self.0.iter().flat_map(|flaws| flaws.iter());
        FlawKind::ALL.into_iter().zip(flaws).filter(|(_, flaw)| flaw.count > 0)
    }

    /// Pieces lost or guessed.
    pub fn lost(&self) -> u64 {
        self.iter().filter(|(kind, _)| kind.is_loss()).map(|(_, flaw)| flaw.count).sum()
    }

    /// Whether there is none at all.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Names the places: offsets of all inputs together become offsets in one of them.
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
    fn flaws_are_counted_by_kind_with_the_first_place() {
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
