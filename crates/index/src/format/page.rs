//! Pages: columns with the same number of rows.

use crate::format::columns::{Encoding, decode, encode};
use crate::format::error::IndexError;
use std::ops::Range;

/// Maximum number of bytes of an unpacked page.
pub const PAGE_MOST: usize = 1 << 20;
/// Maximum number of rows of a page.
pub const ROWS_MOST: usize = 1 << 20;
/// Bytes before the first column.
const START: usize = 8;

/// Builds a page.
pub struct PageBuilder {
    rows: usize,
    columns: u32,
    bytes: Vec<u8>,
}

impl PageBuilder {
    pub(crate) fn new(rows: usize) -> Self {
        PageBuilder { rows, columns: 0, bytes: vec![0; START] }
    }

    /// Adds a column with one number per row.
    ///
    /// # Panics
    /// Panics if `numbers` has more or fewer numbers than the page has rows.
    pub fn numbers(&mut self, numbers: &[u64]) -> &mut Self {
        assert_eq!(numbers.len(), self.rows, "a column has a number for each row");
        let (encoding, bytes) = encode(numbers);
        self.column(encoding, &bytes)
    }

    /// Adds a column of bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.column(Encoding::Bytes, bytes)
    }

    fn column(&mut self, encoding: Encoding, bytes: &[u8]) -> &mut Self {
        self.columns += 1;
        self.bytes.push(encoding as u8);
        self.bytes.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Returns the unpacked page, or `None` if the page is too large.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        if self.bytes.len() > PAGE_MOST || self.rows > ROWS_MOST {
            return None;
        }
        self.bytes[..4].copy_from_slice(&(self.rows as u32).to_le_bytes());
        self.bytes[4..START].copy_from_slice(&self.columns.to_le_bytes());
        Some(self.bytes)
    }
}

/// A page that was read from an index.
pub struct Page {
    offset: u64,
    rows: usize,
    columns: Vec<(Encoding, Range<usize>)>,
    bytes: Vec<u8>,
}

impl Page {
    /// Parses an unpacked page at `offset` in its file.
    pub(crate) fn of(bytes: Vec<u8>, offset: u64) -> Result<Self, IndexError> {
        let mut page = Page { offset, rows: 0, columns: Vec::new(), bytes };
        let damaged = || IndexError::damaged(offset, "a page has an unknown form");
        let number = |at: usize| {
            let four = page.bytes.get(at..)?.first_chunk::<4>()?;
            usize::try_from(u32::from_le_bytes(*four)).ok()
        };
        let rows = number(0).filter(|&rows| rows <= ROWS_MOST).ok_or_else(damaged)?;
        let count = number(4).ok_or_else(damaged)?;
        let mut at = START;
        let mut columns = Vec::new();
        while at < page.bytes.len() {
            let encoding = Encoding::of(page.bytes[at]).ok_or_else(damaged)?;
            let len = number(at + 1).ok_or_else(damaged)?;
            let (start, end) = (at + 5, at + 5 + len);
            if end > page.bytes.len() {
                return Err(damaged());
            }
            columns.push((encoding, start..end));
            at = end;
        }
        if columns.len() != count {
            return Err(damaged());
        }
        (page.rows, page.columns) = (rows, columns);
        Ok(page)
    }

    /// Returns the number of rows of the page.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Decodes a column of numbers, one per row. Cost: 8 bytes of heap per row.
    ///
    /// # Errors
    /// Returns [`IndexError::Damaged`] if there is no such column.
    pub fn numbers(&self, column: usize) -> Result<Vec<u64>, IndexError> {
        let (encoding, range) = self.column(column)?;
        decode(encoding, &self.bytes[range], self.rows)
            .ok_or_else(|| IndexError::damaged(self.offset, "a column of other numbers"))
    }

    /// Decodes the first columns, which must all be numbers.
    ///
    /// # Errors
    /// Returns [`IndexError::Damaged`] if there are fewer columns, or a column of bytes.
    pub fn columns<const N: usize>(&self) -> Result<[Vec<u64>; N], IndexError> {
        let mut all = [const { Vec::new() }; N];
        for (number, column) in all.iter_mut().enumerate() {
            *column = self.numbers(number)?;
        }
        Ok(all)
    }

    /// Returns a column of bytes.
    ///
    /// # Errors
    /// Returns [`IndexError::Damaged`] if there is no such column.
    pub fn bytes(&self, column: usize) -> Result<&[u8], IndexError> {
        match self.column(column)? {
            (Encoding::Bytes, range) => Ok(&self.bytes[range]),
            _ => Err(IndexError::damaged(self.offset, "numbers where bytes belong")),
        }
    }

    fn column(&self, column: usize) -> Result<(Encoding, Range<usize>), IndexError> {
        let found = self.columns.get(column).cloned();
        found.ok_or_else(|| IndexError::damaged(self.offset, "too few columns"))
    }
}
