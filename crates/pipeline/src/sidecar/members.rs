//! CPU profile streams of an index, and the places of their events.

use super::lookup::{Lookup, Single};
use std::ops::Range;
use tracemill_index::{IndexError, Page, SectionEntry, id};

/// An event of a stream.
pub(super) struct Member {
    pub(super) single: Single,
    /// The row of the stream.
    pub(super) owner: usize,
}

impl<'i> Lookup<'i, '_> {
    /// Returns all events of CPU profiles; `None` if the index has no list of them.
    pub(super) fn profiles(&self) -> Result<Option<Vec<Single>>, IndexError> {
        let Some((_, events)) = self.streams() else { return Ok(None) };
        let mut found = Vec::new();
        for entry in &events.pages {
            found.extend(members(&self.index.page(entry)?)?.into_iter().map(|own| own.single));
        }
        Ok(Some(found))
    }

    /// Lists of CPU profiles, and of their events.
    pub(super) fn streams(&self) -> Option<(&'i SectionEntry, &'i SectionEntry)> {
        self.index.section(id::STREAMS).zip(self.index.section(id::STREAM_EVENTS))
    }
}

/// Returns the events of a page.
pub(super) fn members(page: &Page) -> Result<Vec<Member>, IndexError> {
    let [places, lens, rows, sums] = [0, 1, 2, 3].map(|column| page.numbers(column));
    let (places, lens, rows, sums) = (places?, lens?, rows?, sums?);
    let member = |row: usize| Member {
        single: Single { place: places[row], sum: sums[row] as u32, bytes: lens[row] },
        owner: usize::try_from(rows[row]).unwrap_or(usize::MAX),
    };
    Ok((0..page.rows()).map(member).collect())
}

/// Times from a least one to as much later as a greatest one is.
pub(super) fn times_of(leasts: &[u64], widths: &[u64]) -> impl Iterator<Item = Range<i64>> {
    leasts.iter().zip(widths).map(|(&least, &width)| {
        let least = least as i64;
        least..least.saturating_add_unsigned(width)
    })
}
