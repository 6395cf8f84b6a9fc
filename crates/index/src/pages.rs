//! Writes tables as pages of a section, with as many rows per page as fit.

use crate::format::Writer;
use std::io;
use std::ops::RangeInclusive;

/// Number of rows of a full page. A page also ends at `TEXT` bytes of text.
pub(super) const ROWS: usize = 8192;
const TEXT: usize = 256 << 10;
/// Longest text in bytes that fits in a page.
pub(super) const TEXT_MOST: usize = 512 << 10;

/// Writes a section of rows with their keys.
pub(super) fn write_rows<const N: usize, W: io::Write>(
    id: u16,
    rows: impl IntoIterator<Item = ([u64; N], u64)>,
    to: &mut Writer<W>,
) -> io::Result<()> {
    to.section(id)?;
    let mut pages = PageRows::new();
    let mut push = |(row, key)| pages.push(row, key as i64..=key as i64, &[], to);
    rows.into_iter().try_for_each(&mut push)?;
    pages.end_page(to)
}

pub(super) struct PageRows<const N: usize> {
    columns: [Vec<u64>; N],
    text: Option<Vec<u8>>,
    keys: (i64, i64),
}

impl<const N: usize> PageRows<N> {
    pub(super) fn new() -> Self {
        PageRows { columns: [const { Vec::new() }; N], text: None, keys: (i64::MAX, i64::MIN) }
    }

    /// Creates an empty page with a column of texts after the columns of numbers.
    pub(super) fn with_text() -> Self {
        PageRows { text: Some(Vec::new()), ..Self::new() }
    }

    /// Adds a row with its least and greatest key and its texts.
    pub(super) fn push<W: io::Write>(
        &mut self,
        row: [u64; N],
        keys: RangeInclusive<i64>,
        texts: &[&[u8]],
        to: &mut Writer<W>,
    ) -> io::Result<()> {
        let added: usize = texts.iter().map(|text| text.len()).sum();
        let held = self.text.as_ref().map_or(0, Vec::len);
        if held > 0 && held + added > TEXT {
            self.end_page(to)?;
        }
        self.columns.iter_mut().zip(row).for_each(|(column, number)| column.push(number));
        self.keys = (self.keys.0.min(*keys.start()), self.keys.1.max(*keys.end()));
        let text = self.text.iter_mut();
        text.for_each(|all| texts.iter().for_each(|text| all.extend_from_slice(text)));
        if self.columns[0].len() == ROWS { self.end_page(to) } else { Ok(()) }
    }

    /// Writes the page, unless it is empty.
    pub(super) fn end_page<W: io::Write>(&mut self, to: &mut Writer<W>) -> io::Result<()> {
        let rows = self.columns[0].len();
        if rows == 0 {
            return Ok(());
        }
        let (least, greatest) = self.keys;
        to.page(rows, least as u64..=greatest as u64, |page| {
            self.columns.iter().for_each(|column| _ = page.numbers(column));
            self.text.iter().for_each(|text| _ = page.bytes(text));
        })?;
        self.columns.iter_mut().for_each(Vec::clear);
        self.text.iter_mut().for_each(Vec::clear);
        self.keys = (i64::MAX, i64::MIN);
        Ok(())
    }
}
