//! Counts problems by kind, with the first locations of each kind.

use super::rules::Kind;
use tracemill_trace::spill::tally::Tally;

#[derive(Clone, Debug)]
pub(crate) struct Tallies([Tally; Kind::COUNT]);

impl Default for Tallies {
    fn default() -> Self {
        Tallies([Tally::default(); Kind::COUNT])
    }
}

impl Tallies {
    #[inline]
    pub(crate) fn add(&mut self, kind: Kind, offset: u64) {
        self.0[kind as usize].add(offset);
    }

    pub(crate) fn append_one(&mut self, kind: Kind, tally: &Tally) {
        self.0[kind as usize].append(tally);
    }

    pub(crate) fn append(&mut self, other: &Tallies) {
        self.0.iter_mut().zip(&other.0).for_each(|(tally, other)| tally.append(other));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tally> {
        self.0.iter()
    }
}
