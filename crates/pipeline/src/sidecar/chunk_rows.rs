//! What is written of chunks of CPU profiles: the columns behind those that all events of streams have.
//!
//! ```text
//!   stream 0   chunk 10 … 95 µs, ids 1 … 4      chunk 95 … 180 µs, ids 5 … 7        as numbers: 0 more than expected, 0 more
//!   stream 1                   chunk 7 … 99 µs
//! ```
//!
//! Times and ids go on from chunk to chunk, so they are written as what they differ by from what the chunk before of their stream, in the same
//! page, lets expect: mostly by nothing. Times in whole microseconds are written as such.

use tracemill_core::hash::HashMap;
use tracemill_index::{Page, PageBuilder, streams, unzigzag, zigzag};
use tracemill_profile::Skim;

/// The first of the columns.
const FIRST: usize = 4;
const COLUMNS: usize = 8;

/// An event of a stream.
#[derive(Clone, Copy)]
pub(super) struct ChunkRow {
    pub(super) stream: usize,
    /// Nanoseconds.
    pub(super) time: i64,
    /// Of a chunk.
    pub(super) skim: Option<Skim>,
}

/// What the next chunk of each stream is expected to be, in one page: time and least id, by stream.
#[derive(Default)]
pub(super) struct Expected(HashMap<usize, (i64, u64)>);

impl Expected {
    /// Time and least id of a chunk of so long steps.
    fn next(&self, stream: usize, duration: i64) -> (i64, u64) {
        let (time, id) = self.0.get(&stream).copied().unwrap_or_default();
        (time.wrapping_add(duration), id)
    }

    fn note(&mut self, stream: usize, time: i64, numbers: &[u64; 7]) {
        let own = self.0.entry(stream).or_default();
        own.0 = time;
        if numbers[6] > 0 {
            own.1 = numbers[5].wrapping_add(numbers[6]);
        }
    }
}

/// Numbers of a chunk that are times.
const TIMES: [usize; 3] = [2, 3, 4];

/// Adds the columns of a page.
pub(super) fn fill(rows: impl Iterator<Item = ChunkRow>, to: &mut PageBuilder) {
    let mut columns: [Vec<u64>; COLUMNS] = Default::default();
    let mut expected = Expected::default();
    for ChunkRow { stream, time, skim } in rows {
        let numbers = skim.map_or([0; 7], |skim| skim.numbers());
        let (at, id) = expected.next(stream, numbers[2] as i64);
        expected.note(stream, time, &numbers);
        let later = time.wrapping_sub(at);
        let mut own = numbers;
        let is_micros = later % 1000 == 0 && TIMES.iter().all(|&at| own[at] as i64 % 1000 == 0);
        let unit = if is_micros { 1000 } else { 1 };
        TIMES.iter().for_each(|&at| own[at] = zigzag(own[at] as i64 / unit));
        own[0] |= if skim.is_some() { streams::CHUNK } else { 0 };
        own[0] |= if is_micros { streams::MICROS } else { 0 };
        own[5] = if own[6] > 0 { zigzag(own[5].wrapping_sub(id) as i64) } else { 0 };
        columns[0].push(zigzag(later / unit));
        for (column, number) in columns[1..].iter_mut().zip(own) {
            column.push(number);
        }
    }
    columns.iter().for_each(|column| _ = to.numbers(column));
}

/// The rows of a page.
pub(super) struct ChunkRows([Vec<u64>; COLUMNS]);

impl ChunkRows {
    /// An error says what is wrong with the page.
    pub(super) fn of(page: &Page) -> Result<Self, String> {
        let mut columns: [Vec<u64>; COLUMNS] = Default::default();
        for (number, column) in columns.iter_mut().enumerate() {
            *column = page.numbers(FIRST + number).map_err(|error| error.to_string())?;
        }
        Ok(ChunkRows(columns))
    }

    /// A row, whose event is of this stream. Those of a stream are to be asked for in their order.
    pub(super) fn row(
        &self,
        row: usize,
        stream: usize,
        expected: &mut Expected,
    ) -> Result<ChunkRow, String> {
        let mut own: [u64; 7] = std::array::from_fn(|at| self.0[1 + at][row]);
        let unit = if own[0] & streams::MICROS != 0 { 1000 } else { 1 };
        let time_of = |number: u64| unzigzag(number).wrapping_mul(unit);
        TIMES.iter().for_each(|&at| own[at] = time_of(own[at]) as u64);
        let (at, id) = expected.next(stream, own[2] as i64);
        let time = at.wrapping_add(time_of(self.0[0][row]));
        if own[6] > 0 {
            own[5] = id.wrapping_add(unzigzag(own[5]) as u64);
        }
        expected.note(stream, time, &own);
        let skim = match own[0] & streams::CHUNK {
            0 => None,
            _ => Some(Skim::of_numbers(own).ok_or("it has impossible chunks of CPU profiles")?),
        };
        Ok(ChunkRow { stream, time, skim })
    }
}
