//! Groups and CPU profile streams of an index, and where their events stand.

use super::lookup::{Lookup, Single};
use std::ops::Range;
use tracemill_index::{IndexError, Page, PageEntry, SectionEntry, id, streams};

/// An event of a group or a stream.
pub(super) struct Member {
    pub(super) single: Single,
    /// The row of that.
    pub(super) owner: usize,
}

impl<'i> Lookup<'i, '_> {
    /// Events of CPU profiles whose events and samples, from the first to the last, are `wanted`, and those whose times are not known. `None`
    /// if the index has no list of them.
    pub(super) fn profiles(
        &self,
        wanted: impl Fn(i64, i64) -> bool,
    ) -> Result<Option<Vec<Single>>, IndexError> {
        let Some((streams, members)) = self.streams() else { return Ok(None) };
        let wanted = |known: u64, times: Range<i64>| {
            known & streams::TIMES == 0 || wanted(times.start, times.end)
        };
        self.members_of((streams, [2, 3, 4]), members, wanted).map(Some)
    }

    /// Events of groups whose flags and times, from the first to the last, are `wanted`.
    pub(super) fn groups(
        &self,
        wanted: impl Fn(u64, Range<i64>) -> bool,
    ) -> Result<Option<Vec<Single>>, IndexError> {
        let sections = [id::GROUPS, id::GROUP_EVENTS].map(|id| self.index.section(id));
        let [Some(groups), Some(members)] = sections else { return Ok(None) };
        self.members_of((groups, [0, 1, 2]), members, wanted).map(Some)
    }

    /// Members of what is `wanted`, by its number in one column, and its least and greatest time by those of two others.
    fn members_of(
        &self,
        (owners, columns): (&SectionEntry, [usize; 3]),
        members: &SectionEntry,
        wanted: impl Fn(u64, Range<i64>) -> bool,
    ) -> Result<Vec<Single>, IndexError> {
        let (mut needed, mut found) = (Vec::new(), Vec::new());
        self.owners((owners, columns), |number, times| needed.push(wanted(number, times)))?;
        self.members(members, |_, own| {
            let own = own.iter().filter(|member| needed.get(member.owner) == Some(&true));
            found.extend(own.map(|member| member.single));
        })?;
        Ok(found)
    }

    /// Lists of CPU profiles, and of their events.
    pub(super) fn streams(&self) -> Option<(&'i SectionEntry, &'i SectionEntry)> {
        self.index.section(id::STREAMS).zip(self.index.section(id::STREAM_EVENTS))
    }

    /// Of groups or streams what is in one column, and times from the least to the greatest, by two others.
    pub(super) fn owners(
        &self,
        (owners, columns): (&SectionEntry, [usize; 3]),
        mut visit: impl FnMut(u64, Range<i64>),
    ) -> Result<(), IndexError> {
        for entry in &owners.pages {
            let page = self.index.page(entry)?;
            let [numbers, leasts, widths] = columns.map(|column| page.numbers(column));
            let (numbers, leasts, widths) = (numbers?, leasts?, widths?);
            let all = numbers.into_iter().zip(times_of(&leasts, &widths));
            all.for_each(|(number, times)| visit(number, times));
        }
        Ok(())
    }

    /// Events of groups or streams, page by page.
    pub(super) fn members(
        &self,
        section: &SectionEntry,
        mut visit: impl FnMut(&Page, &[Member]),
    ) -> Result<(), IndexError> {
        for entry in &section.pages {
            let page = self.index.page(entry)?;
            visit(&page, &members(&page)?);
        }
        Ok(())
    }

    /// Events of groups or streams on some pages, in the order of the text, a page in memory at a time.
    pub(super) fn members_of_text(
        &self,
        pages: &'i [PageEntry],
    ) -> impl Iterator<Item = Result<Member, IndexError>> {
        pages.iter().flat_map(|entry| {
            let own = self.index.page(entry).and_then(|page| members(&page));
            let (own, error) = own.map_or_else(|e| (Vec::new(), Some(e)), |own| (own, None));
            own.into_iter().map(Ok).chain(error.map(Err))
        })
    }
}

/// Events of a page of groups or streams.
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
