//! Rows of tables, depth first. Rows beyond the memory budget are in a spill file that all tables
//! of a query share.

use crate::query::rows::{Location, TreeRow};
use crate::value::clock::Clock;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::{Limits, Quota};
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::{DiskRuns, Record, RunFile};

/// Size of a block in bytes, the unit of writing and searching.
const BLOCK: usize = 16 << 10;

/// Rows of a table, depth first.
///
/// ```
/// use tracemill_analysis::{TreeRow, TreeRows};
///
/// let row = |depth| TreeRow { depth, ..TreeRow::default() };
/// let rows = TreeRows::from(vec![row(0), row(1)]);
/// assert!(rows.iter().map(|row| row.depth).eq([0, 1]));
/// assert_eq!(rows.get(1).expect("there are two").depth, 1);
/// ```
#[derive(Clone, Default)]
pub struct TreeRows {
    memory: Vec<TreeRow>,
    blocks: Vec<Block>,
    /// Categories of the rows on disk. A row on disk has the number of its category.
    categories: Vec<&'static str>,
    len: usize,
    file: Arc<RowFile>,
}

/// Consecutive rows in the file.
#[derive(Clone, Copy)]
struct Block {
    /// Index of the first row in the block.
    first: usize,
    /// Index of the block's run, a contiguous part of the file.
    run: usize,
}

/// The spill file of many tables.
#[derive(Default)]
struct RowFile {
    writing: Mutex<Option<RunFile>>,
    /// The readable file, which is set when all tables are complete.
    written: OnceLock<DiskRuns>,
}

impl TreeRows {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterates over the rows in order; rows on disk are decoded each time.
    pub fn iter(&self) -> TreeRowsIter<'_> {
        TreeRowsIter { rows: self, next: 0, block: 0, bytes: &[] }
    }

    /// Returns the row of a number.
    pub fn get(&self, number: usize) -> Option<Cow<'_, TreeRow>> {
        self.iter().nth(number)
    }

    /// Returns the row of a number, and removes the row from memory. Must be called at most once
    /// per row.
    pub(crate) fn take(&mut self, number: usize) -> Option<TreeRow> {
        match self.memory.get_mut(number) {
            Some(memory) => Some(std::mem::take(memory)),
            None => self.get(number).map(Cow::into_owned),
        }
    }

    /// Removes and returns all rows in order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = TreeRow> {
        let memory = std::mem::take(&mut self.memory);
        let on_disk = TreeRowsIter { next: memory.len(), ..self.iter() };
        memory.into_iter().chain(on_disk.map(Cow::into_owned))
    }

    /// Copies the rows that `stays` accepts into a new table.
    pub fn retained(
        mut self,
        room: &RowRoom,
        stays: impl FnMut(&TreeRow) -> bool,
    ) -> Result<TreeRows, Error> {
        let mut left = room.writer();
        self.drain().filter(stays).try_for_each(|row| left.push(row))?;
        left.finish()
    }

    fn bytes(&self, block: usize) -> Option<&[u8]> {
        let block = self.blocks.get(block)?;
        let written = self.file.written.get();
        debug_assert!(written.is_some(), "rows are read when all are written");
        written.map(|runs| runs.run(block.run))
    }
}

impl From<Vec<TreeRow>> for TreeRows {
    /// Creates a table in memory.
    fn from(memory: Vec<TreeRow>) -> Self {
        TreeRows { len: memory.len(), memory, ..TreeRows::default() }
    }
}

impl PartialEq for TreeRows {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for TreeRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'r> IntoIterator for &'r TreeRows {
    type Item = Cow<'r, TreeRow>;
    type IntoIter = TreeRowsIter<'r>;

    fn into_iter(self) -> TreeRowsIter<'r> {
        self.iter()
    }
}

/// An iterator over the rows of a table, in order.
pub struct TreeRowsIter<'r> {
    rows: &'r TreeRows,
    /// Index of the next row.
    next: usize,
    /// Index of the next block, and the unread bytes of the current block.
    block: usize,
    bytes: &'r [u8],
}

impl<'r> Iterator for TreeRowsIter<'r> {
    type Item = Cow<'r, TreeRow>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(row) = self.rows.memory.get(self.next) {
            self.next += 1;
            return Some(Cow::Borrowed(row));
        }
        let bytes = self.step()?;
        Some(Cow::Owned(decode(bytes, &self.rows.categories)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.rows.len.saturating_sub(self.next);
        (left, Some(left))
    }

    /// Skips rows. Cost: a binary search, and the rows of one block.
    fn nth(&mut self, skipped: usize) -> Option<Self::Item> {
        let number = self.next + skipped;
        if number >= self.rows.len {
            self.next = self.rows.len;
            (self.block, self.bytes) = (self.rows.blocks.len(), &[]);
            return None;
        }
        if number >= self.rows.memory.len() {
            let behind = self.rows.blocks.partition_point(|row| row.first <= number);
            // The row is in a later block than the current one.
            if behind > self.block {
                let block = behind.saturating_sub(1);
                self.next = self.rows.blocks.get(block)?.first;
                (self.block, self.bytes) = (block, &[]);
            }
            while self.next < number {
                self.step()?;
            }
        }
        self.next = number;
        self.next()
    }
}

impl<'r> TreeRowsIter<'r> {
    /// Decodes the next row on disk to its bytes, and returns them.
    fn step(&mut self) -> Option<&'r [u8]> {
        if self.bytes.is_empty() {
            self.bytes = self.rows.bytes(self.block)?;
            self.block += 1;
        }
        let (row, rest) = self.bytes.split_at_checked(u32::decode(self.bytes) as usize)?;
        self.bytes = rest;
        self.next += 1;
        Some(row)
    }
}

impl ExactSizeIterator for TreeRowsIter<'_> {}

/// Memory and spill file for tables that are computed together.
pub struct RowRoom {
    /// Limits the memory of walks.
    pub grown: Quota,
    /// Limits the memory of finished rows.
    kept: Quota,
    file: Arc<RowFile>,
    /// The clock that converts times of rows to milliseconds.
    pub(crate) clock: Clock,
}

impl RowRoom {
    /// Reserves an eighth of the budget for rows and half of it for walks. Times stay unchanged.
    pub fn new(limits: &Limits) -> Self {
        let writing = Mutex::new(Some(RunFile::new(&limits.tmp_dir)));
        RowRoom {
            grown: limits.quota("walks over trees", Share::of(1, 2)),
            kept: limits.quota("finished rows of trees", Share::of(1, 8)),
            file: Arc::new(RowFile { writing, written: OnceLock::new() }),
            clock: Clock::default(),
        }
    }

    /// Sets the clock that converts times to milliseconds.
    pub(crate) fn of_sums(self, clock: Clock) -> Self {
        RowRoom { clock, ..self }
    }

    /// Creates a writer for the rows of one table.
    pub(crate) fn writer(&self) -> RowWriter<'_> {
        let rows = TreeRows { file: Arc::clone(&self.file), ..TreeRows::default() };
        RowWriter { room: self, rows, first: 0, block: Vec::new() }
    }

    /// Completes the spill file when all tables are written; only then rows can be read.
    pub fn finish(&self) -> Result<(), Error> {
        let mut writing = self.file.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = writing.take() {
            let _ = self.file.written.set(file.finish()?);
        }
        Ok(())
    }
}

/// A writer for the rows of a table, depth first.
pub(crate) struct RowWriter<'s> {
    room: &'s RowRoom,
    rows: TreeRows,
    /// Index of the first row of the current block.
    first: usize,
    block: Vec<u8>,
}

impl RowWriter<'_> {
    /// Appends a row.
    pub(crate) fn push(&mut self, row: TreeRow) -> Result<(), Error> {
        let rows = &mut self.rows;
        let is_kept = rows.memory.len() == rows.len;
        if is_kept && self.room.kept.take(row.heap(), "rows of tables").is_ok() {
            rows.len += 1;
            rows.memory.push(row);
            return Ok(());
        }
        if self.block.is_empty() {
            self.first = rows.len;
        }
        rows.len += 1;
        encode(&row, &mut rows.categories, &mut self.block);
        if self.block.len() >= BLOCK { self.write() } else { Ok(()) }
    }

    /// Completes the table, which can be read after [`RowRoom::finish`].
    ///
    /// # Errors
    /// Returns the errors of [`RowWriter::push`].
    pub(crate) fn finish(mut self) -> Result<TreeRows, Error> {
        self.write()?;
        self.rows.blocks.shrink_to_fit();
        Ok(self.rows)
    }

    fn write(&mut self) -> Result<(), Error> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut writing = self.room.file.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = writing.as_mut() {
            self.rows.blocks.push(Block { first: self.first, run: file.count() });
            file.write(&self.block)?;
            file.end_run();
        }
        self.block.clear();
        Ok(())
    }
}

record! {
    /// The fixed-size part of an encoded row, with the lengths of its texts. The length of a
    /// missing text is `None`.
    #[derive(Clone, Copy)]
    struct Head {
        /// Length of the whole row in bytes.
        len: u32,
        depth: u32,
        texts: [Option<u32>; 4],
        category: u32,
        start: f64,
        own: f64,
        total: f64,
        cpu: Option<f64>,
        bytes: f64,
        count: u64,
        line: Option<i64>,
        column: Option<i64>,
        expandable: bool,
        is_group: bool,
        color: u8,
    }
}

fn encode(row: &TreeRow, categories: &mut Vec<&'static str>, out: &mut Vec<u8>) {
    let known = categories.iter().position(|category| *category == row.category);
    let category = known.unwrap_or_else(|| {
        categories.push(row.category);
        categories.len() - 1
    });
    let TreeRow { key, label, location, .. } = row;
    let texts = [Some(&row.id), key.as_ref(), label.as_ref(), Some(&location.url)];
    let len = Head::BYTES + texts.iter().flatten().map(|text| text.len()).sum::<usize>();
    let head = Head {
        len: len as u32,
        depth: row.depth,
        texts: texts.map(|text| text.map(|text| text.len() as u32)),
        category: category as u32,
        start: row.start,
        own: row.own,
        total: row.total,
        cpu: row.cpu,
        bytes: row.bytes,
        count: row.count,
        line: location.line,
        column: location.column,
        expandable: row.expandable,
        is_group: row.is_group,
        color: row.color,
    };
    let start = out.len();
    out.resize(start + Head::BYTES, 0);
    head.encode(&mut out[start..]);
    texts.iter().flatten().for_each(|text| out.extend_from_slice(text.as_bytes()));
}

fn decode(bytes: &[u8], categories: &[&'static str]) -> TreeRow {
    let (head, mut texts) = bytes.split_at(Head::BYTES);
    let head = Head::decode(head);
    let [id, key, label, url] = head.texts.map(|len| {
        let (text, rest) = texts.split_at_checked(len? as usize)?;
        texts = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    });
    TreeRow {
        depth: head.depth,
        id: id.unwrap_or_default(),
        start: head.start,
        own: head.own,
        total: head.total,
        cpu: head.cpu,
        count: head.count,
        expandable: head.expandable,
        bytes: head.bytes,
        key,
        label,
        is_group: head.is_group,
        color: head.color,
        category: categories.get(head.category as usize).copied().unwrap_or_default(),
        location: Location { url: url.unwrap_or_default(), line: head.line, column: head.column },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u32) -> TreeRow {
        let text =
            |of: u32| (!number.is_multiple_of(of)).then(|| "é".repeat((number % of) as usize));
        TreeRow {
            depth: number % 13,
            id: number.to_string(),
            start: f64::from(number) / 7.0,
            own: -0.0,
            total: f64::NEG_INFINITY,
            cpu: number.is_multiple_of(6).then_some(0.1),
            count: u64::MAX - u64::from(number),
            expandable: number.is_multiple_of(2),
            bytes: f64::from(number) * 1e9,
            key: text(3),
            label: text(50),
            is_group: number.is_multiple_of(3),
            color: (number % 32) as u8,
            category: ["other", "scripting", "idle"][number as usize % 3],
            location: Location {
                url: text(4).unwrap_or_default(),
                line: number.is_multiple_of(5).then_some(i64::MIN),
                column: number.is_multiple_of(7).then_some(i64::from(number)),
            },
        }
    }

    /// Writes two tables alternately, with this much memory.
    fn tables_and_rows(memory: u64, count: u32) -> ([TreeRows; 2], [Vec<TreeRow>; 2]) {
        let room = RowRoom::new(&Limits::new(1, memory, std::env::temp_dir()));
        let mut expected: [Vec<TreeRow>; 2] = Default::default();
        let mut writers = [room.writer(), room.writer()];
        for number in 0..count {
            let table = usize::from(number % 5 < 2);
            writers[table].push(row(number)).expect("room on disk");
            expected[table].push(row(number));
        }
        let tables = writers.map(|writer| writer.finish().expect("room on disk"));
        room.finish().expect("room on disk");
        (tables, expected)
    }

    #[test]
    fn rows_survive_memory_and_disk() {
        for (memory, count) in [(0, 0), (0, 3), (0, 3000), (1 << 20, 3000), (1 << 30, 3000)] {
            let (tables, expected) = tables_and_rows(memory, count);
            for (mut table, expected) in tables.into_iter().zip(expected) {
                assert_eq!((table.len(), table.is_empty()), (expected.len(), expected.is_empty()));
                assert_eq!(table, TreeRows::from(expected.clone()));
                assert_eq!(table.blocks.is_empty(), memory > 1 << 20 || expected.is_empty());
                for number in (0..=expected.len()).step_by(61) {
                    assert_eq!(table.get(number).as_deref(), expected.get(number), "{number}");
                    let rest = table.iter().skip(number);
                    assert!(rest.map(Cow::into_owned).eq(expected.iter().skip(number).cloned()));
                }
                let some = table.iter().step_by(37).map(Cow::into_owned);
                assert!(some.eq(expected.iter().step_by(37).cloned()));
                let odd: Vec<TreeRow> =
                    expected.iter().filter(|row| row.depth % 2 == 1).cloned().collect();
                let room = RowRoom::new(&Limits::new(1, memory, std::env::temp_dir()));
                let left = table.clone().retained(&room, |row| row.depth % 2 == 1);
                room.finish().expect("room on disk");
                assert_eq!(left.expect("room on disk"), TreeRows::from(odd));
                let last = expected.len().saturating_sub(1);
                assert_eq!(table.take(last), expected.last().cloned());
                assert_eq!(table.drain().count(), expected.len());
            }
        }
    }
}
