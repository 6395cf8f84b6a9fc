//! What pages of the list of stream events have of each stream: so that a window finds the pages that it needs without a look at the others.
//!
//! ```text
//!   page of STREAM_EVENTS      0                     1                     2
//!   stream 0                chunk ─ chunk ─ chunk ┊ chunk ─ chunk        ┊             a run each: as if its chunks were one
//!   stream 1                        chunk         ┊                chunk ┊ chunk ─ …
//! ```

use super::chunk_rows::TIMES;
use super::streams::Member;
use std::collections::BTreeMap;
use std::io;
use tracemill_core::place::Place;
use tracemill_index::{
    Page, PageBuilder, ROWS_MOST, SectionEntry, Writer, id, streams, unzigzag, zigzag,
};
use tracemill_profile::Skim;

/// Rows of a page.
const ROWS: usize = 8192;
const COLUMNS: usize = 14;

/// A run. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The page of STREAM_EVENTS.
    pub(super) page: usize,
    pub(super) stream: usize,
    pub(super) events: u64,
    pub(super) chunks: u64,
    /// Bytes of the longest event.
    longest: u64,
    /// Times of its events.
    pub(super) least: i64,
    pub(super) greatest: i64,
    /// Of its chunks.
    pub(super) skim: Option<Skim>,
}

impl Run {
    /// Whether it has events that are listed by their lengths.
    pub(super) fn has_long(&self) -> bool {
        Place::is_long(usize::try_from(self.longest).unwrap_or(usize::MAX))
    }

    fn of(page: usize, member: &Member) -> Run {
        Run {
            page,
            stream: member.stream as usize,
            events: 1,
            chunks: member.skim.is_some().into(),
            longest: member.len,
            least: member.time,
            greatest: member.time,
            skim: member.skim,
        }
    }

    fn then(self, later: Run) -> Run {
        Run {
            events: self.events + later.events,
            chunks: self.chunks + later.chunks,
            longest: self.longest.max(later.longest),
            least: self.least.min(later.least),
            greatest: self.greatest.max(later.greatest),
            skim: match (self.skim, later.skim) {
                (Some(own), Some(later)) => Some(own.then(later)),
                (own, later) => own.or(later),
            },
            ..self
        }
    }
}

/// Runs of the events of a page, by stream.
fn runs_of(page: usize, members: &[Member]) -> impl Iterator<Item = Run> {
    let mut all: BTreeMap<u32, Run> = BTreeMap::new();
    for member in members {
        let own = Run::of(page, member);
        all.entry(member.stream).and_modify(|run| *run = run.then(own)).or_insert(own);
    }
    all.into_values()
}

/// Writes the section, of all pages of events in their order.
pub(super) fn write<W: io::Write>(
    pages: impl Iterator<Item = Vec<Member>>,
    to: &mut Writer<W>,
) -> io::Result<()> {
    to.section(id::section(id::STREAM_RUNS))?;
    let mut rows: Vec<Run> = Vec::new();
    for (page, members) in pages.enumerate() {
        for run in runs_of(page, &members) {
            rows.push(run);
            if rows.len() == ROWS {
                end_page(&mut rows, to)?;
            }
        }
    }
    end_page(&mut rows, to)
}

/// Keys are the numbers of the first and the last page that they are of.
fn end_page<W: io::Write>(rows: &mut Vec<Run>, to: &mut Writer<W>) -> io::Result<()> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(()) };
    let keys = (first.page as u64, last.page as u64);
    to.page(rows.len(), keys, |to| fill(rows, to))?;
    rows.clear();
    Ok(())
}

fn fill(rows: &[Run], to: &mut PageBuilder) {
    let mut columns: [Vec<u64>; COLUMNS] = Default::default();
    for run in rows {
        let mut of_chunks = run.skim.map_or([0; 7], |skim| skim.numbers());
        TIMES.iter().for_each(|&at| of_chunks[at] = zigzag(of_chunks[at] as i64));
        of_chunks[0] |= if run.skim.is_some() { streams::CHUNK } else { 0 };
        let own = [
            run.page as u64,
            run.stream as u64,
            run.events,
            run.chunks,
            run.longest,
            run.least as u64,
            run.greatest.abs_diff(run.least),
        ];
        for (column, number) in columns.iter_mut().zip(own.into_iter().chain(of_chunks)) {
            column.push(number);
        }
    }
    columns.iter().for_each(|column| _ = to.numbers(column));
}

/// The runs of a page of the section, which is of a list of so many pages. An error says what is wrong with it.
pub(super) fn runs(page: &Page, of: &SectionEntry) -> Result<Vec<Run>, String> {
    let mut columns: [Vec<u64>; COLUMNS] = Default::default();
    for (number, column) in columns.iter_mut().enumerate() {
        *column = page.numbers(number).map_err(|error| error.to_string())?;
    }
    (0..page.rows()).map(|row| run_of(columns.each_ref().map(|column| column[row]), of)).collect()
}

fn run_of(numbers: [u64; COLUMNS], of: &SectionEntry) -> Result<Run, String> {
    let [page, stream, events, chunks, longest, least, width, mut of_chunks @ ..] = numbers;
    TIMES.iter().for_each(|&at| of_chunks[at] = unzigzag(of_chunks[at]) as u64);
    let skim = match of_chunks[0] & streams::CHUNK {
        0 => None,
        _ => Some(Skim::of_numbers(of_chunks).ok_or("it has impossible runs of CPU profiles")?),
    };
    let page = usize::try_from(page).ok().filter(|page| *page < of.pages.len());
    let (least, stream) = (least as i64, usize::try_from(stream).unwrap_or(usize::MAX));
    let greatest = least.saturating_add_unsigned(width);
    let page = page.ok_or("it has runs of CPU profiles that are nowhere")?;
    if chunks > events || events > ROWS_MOST as u64 {
        return Err("it has impossible runs of CPU profiles".to_owned());
    }
    Ok(Run { page, stream, events, chunks, longest, least, greatest, skim })
}
