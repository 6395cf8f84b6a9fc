//! Threads as an index has them, and where their events stand.

use super::granules::ROWS;
use crate::filter::narrowed::{Counts, ThreadTotal};
use tracemill_core::hash::HashSet;
use tracemill_index::{Index, IndexError, id};

/// All threads, in the order of their rows.
pub(super) struct IndexedThreads {
    pub(super) all: Vec<ThreadTotal>,
    /// Whether whoever compares ids, as texts or as values, tells the same threads apart.
    pub(super) is_plain: bool,
}

/// Those of an index; `None` if it has none.
pub(super) fn threads(index: &Index<'_>) -> Result<Option<IndexedThreads>, IndexError> {
    let Some(section) = index.section(id::LANES) else { return Ok(None) };
    let (mut all, mut texts, mut is_plain) = (Vec::new(), HashSet::default(), true);
    for entry in &section.pages {
        let page = index.page(entry)?;
        let [events, bytes, pids, tids] = [0, 1, 6, 7].map(|column| page.numbers(column));
        let (events, bytes, pids, tids) = (events?, bytes?, pids?, tids?);
        let mut text = page.bytes(8)?;
        for row in 0..page.rows() {
            let [pid, tid] = [pids[row], tids[row]].map(|len| {
                let len = usize::try_from(len).unwrap_or(usize::MAX).min(text.len());
                let (own, rest) = text.split_at(len);
                text = rest;
                own
            });
            is_plain &= [pid, tid].into_iter().all(is_canonical);
            is_plain &= texts.insert([pid, tid].map(|id| content(id).to_vec()));
            let counts = Counts { events: events[row], bytes: bytes[row] };
            all.push(ThreadTotal { pid: pid.into(), tid: tid.into(), all: counts });
        }
    }
    Ok(Some(IndexedThreads { all, is_plain }))
}

/// Without quotes.
fn content(id: &[u8]) -> &[u8] {
    match id {
        [b'"', content @ .., b'"'] => content,
        id => id,
    }
}

/// Whether an id is a string without escapes, an integer as it is usually written, or missing.
fn is_canonical(id: &[u8]) -> bool {
    match id {
        [] | [b'0'] => true,
        [b'"', content @ .., b'"'] => !content.contains(&b'\\'),
        [b'-', digits @ ..] | digits => {
            digits.len() < 19
                && digits.iter().all(u8::is_ascii_digit)
                && digits.first().is_some_and(|digit| *digit != b'0')
        }
    }
}

/// Rows of granules that have events of threads that are wanted, which ascend; `None` if the index does not say.
pub(super) fn granules_of(
    index: &Index<'_>,
    wanted: &[bool],
) -> Result<Option<Vec<u64>>, IndexError> {
    let [Some(section), Some(granules)] =
        [id::GRANULE_LANES, id::GRANULES].map(|id| index.section(id))
    else {
        return Ok(None);
    };
    // elsewhere numbers are those of pages of so many rows
    let Some((last, others)) = granules.pages.split_last() else { return Ok(None) };
    let of_last = index.page(last)?.rows() as u64;
    if others.len() as u64 * ROWS as u64 + of_last != granules.rows {
        return Err(IndexError::Damaged { offset: last.offset, what: "pages of other lengths" });
    }
    let mut rows: Vec<u64> = Vec::new();
    for entry in &section.pages {
        let page = index.page(entry)?;
        for (number, thread) in page.numbers(0)?.into_iter().zip(page.numbers(1)?) {
            let is_wanted = usize::try_from(thread).ok().and_then(|thread| wanted.get(thread));
            if is_wanted.copied().unwrap_or(false) && rows.last() != Some(&number) {
                rows.push(number);
            }
        }
    }
    rows.sort_unstable();
    Ok(Some(rows))
}
