//! A list of numbers that is only ever read from front to back: in memory, and on disk beyond its share of the budget.

use super::record::{Record, encode_all, records};
use crate::error::Error;
use crate::os;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Numbers that go to or come from the disk at a time.
const BLOCK: usize = 8 * 1024;

/// Numbers of one kind; see the module doc.
pub struct Column<T> {
    /// Those behind the ones on disk.
    memory: Vec<T>,
    /// How many may be in memory.
    most: usize,
    disk: Option<(File, usize)>,
    tmp_dir: PathBuf,
}

impl<T: Record> Column<T> {
    /// An empty column, for `expected` numbers, that keeps at most `bytes` in memory.
    pub fn new(bytes: u64, expected: u64, tmp_dir: &Path) -> Self {
        let most = (bytes as usize / size_of::<T>()).max(1024);
        let memory = Vec::with_capacity(most.min(expected as usize));
        Column { memory, most, disk: None, tmp_dir: tmp_dir.to_owned() }
    }

    /// Appends one.
    #[inline]
    pub fn push(&mut self, number: T) -> Result<(), Error> {
        if self.memory.len() == self.most {
            self.spill()?;
        }
        self.memory.push(number);
        Ok(())
    }

    /// Appends many.
    pub fn extend(&mut self, numbers: &[T]) -> Result<(), Error> {
        if self.memory.len() + numbers.len() > self.most {
            return numbers.iter().try_for_each(|&number| self.push(number));
        }
        self.memory.extend_from_slice(numbers);
        Ok(())
    }

    /// Hands on all numbers, in order, some thousand at a time.
    pub fn blocks(&self, mut take: impl FnMut(&[T]) -> Result<(), Error>) -> Result<(), Error> {
        let on_disk = self.disk.as_ref().map_or(0, |(_, count)| *count);
        let mut reader = self.reader();
        while reader.next < on_disk {
            reader.fetch()?;
            take(&reader.block)?;
        }
        self.memory.chunks(BLOCK).try_for_each(take)
    }

    #[cold]
    fn spill(&mut self) -> Result<(), Error> {
        let failed = |e| Error::scratch(&self.tmp_dir, e);
        let mut bytes = Vec::new();
        if self.disk.is_none() {
            self.disk = Some((tempfile::tempfile_in(&self.tmp_dir).map_err(failed)?, 0));
        }
        let Some((file, count)) = &mut self.disk else { return Ok(()) };
        for numbers in self.memory.chunks(BLOCK) {
            encode_all(numbers, &mut bytes);
            file.write_all(&bytes).map_err(failed)?;
        }
        *count += self.memory.len();
        self.memory.clear();
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.disk.as_ref().map_or(0, |(_, count)| *count) + self.memory.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads from the first number on.
    pub fn reader(&self) -> ColumnReader<'_, T> {
        ColumnReader { column: self, block: Vec::new(), at: 0, next: 0 }
    }
}

/// Reads a column.
pub struct ColumnReader<'c, T> {
    column: &'c Column<T>,
    /// Numbers from the disk.
    block: Vec<T>,
    /// The next of them.
    at: usize,
    /// How many were read, with those in the block.
    next: usize,
}

impl<T: Record> ColumnReader<'_, T> {
    /// The next number.
    #[inline]
    pub fn read(&mut self) -> Result<Option<T>, Error> {
        if self.at == self.block.len() {
            let on_disk = self.column.disk.as_ref().map_or(0, |(_, count)| *count);
            if self.next >= on_disk {
                let number = self.column.memory.get(self.next - on_disk).copied();
                self.next += 1;
                return Ok(number);
            }
            self.fetch()?;
        }
        self.at += 1;
        Ok(Some(self.block[self.at - 1]))
    }

    #[cold]
    fn fetch(&mut self) -> Result<(), Error> {
        let Some((file, count)) = &self.column.disk else { return Ok(()) };
        let mut bytes = vec![0; (count - self.next).min(BLOCK) * T::BYTES];
        let read = os::read_exact_at(file, &mut bytes, (self.next * T::BYTES) as u64);
        read.map_err(|e| Error::scratch(&self.column.tmp_dir, e))?;
        self.block = records(&bytes).collect();
        self.next += self.block.len();
        self.at = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_memory_and_disk() {
        for count in [0, 1, 1023, 1024, 1025, 50_000] {
            let mut column = Column::<i64>::new(1, count as u64, &std::env::temp_dir());
            let numbers = || (0..count).map(|i| i * i - 7_000_000_000);
            numbers().try_for_each(|number| column.push(number)).unwrap();
            assert_eq!(column.len() as i64, count);
            assert!(column.memory.capacity() <= 1024);
            for _ in 0..2 {
                let mut reader = column.reader();
                let all: Vec<i64> = std::iter::from_fn(|| reader.read().unwrap()).collect();
                assert!(numbers().eq(all));
            }
            let mut all = Vec::new();
            column
                .blocks(|block| {
                    all.extend_from_slice(block);
                    Ok(())
                })
                .unwrap();
            assert!(numbers().eq(all));
            let mut other = Column::<i64>::new(1, 0, &std::env::temp_dir());
            column
                .blocks(|block| block.chunks(700).try_for_each(|some| other.extend(some)))
                .unwrap();
            let mut reader = other.reader();
            assert!(numbers().eq(std::iter::from_fn(|| reader.read().unwrap())));
        }
    }
}
