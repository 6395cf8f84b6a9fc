//! Tables as pages of a section: as many rows as there is room for.

use crate::format::Writer;
use std::io;
use std::ops::RangeInclusive;

/// Rows of a page, but for the last, and bytes of text after which one ends.
pub(super) const ROWS: usize = 8192;
const TEXT: usize = 256 << 10;
/// The longest text that a page has room for.
pub(super) const TEXT_MOST: usize = 512 << 10;

/// Writes a section of rows, each with its key.
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

/// Collects the rows of a page.
pub(super) struct PageRows<const N: usize> {
    columns: [Vec<u64>; N],
    text: Option<Vec<u8>>,
    /// The least and the greatest key.
    keys: (i64, i64),
}

impl<const N: usize> PageRows<N> {
    /// None yet, of a table without text.
    pub(super) fn new() -> Self {
        PageRows { columns: [const { Vec::new() }; N], text: None, keys: (i64::MAX, i64::MIN) }
    }

    /// The same with texts behind the columns.
    pub(super) fn with_text() -> Self {
        PageRows { text: Some(Vec::new()), ..Self::new() }
    }

    /// Adds a row with its least and its greatest key, and its texts.
    pub(super) fn push<W: io::Write>(
        &mut self,
        row: [u64; N],
        keys: RangeInclusive<i64>,
        texts: &[&[u8]],
        to: &mut Writer<W>,
    ) -> io::Result<()> {
        let own: usize = texts.iter().map(|text| text.len()).sum();
        let held = self.text.as_ref().map_or(0, Vec::len);
        if held > 0 && held + own > TEXT {
            self.end_page(to)?;
        }
        self.columns.iter_mut().zip(row).for_each(|(column, number)| column.push(number));
        self.keys = (self.keys.0.min(*keys.start()), self.keys.1.max(*keys.end()));
        let text = self.text.iter_mut();
        text.for_each(|all| texts.iter().for_each(|text| all.extend_from_slice(text)));
        if self.columns[0].len() == ROWS { self.end_page(to) } else { Ok(()) }
    }

    /// Writes what there is.
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
