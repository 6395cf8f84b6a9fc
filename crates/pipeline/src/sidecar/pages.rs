//! Tables as pages of a section: as many rows as there is room for.

use std::io;
use tracemill_index::{PageBuilder, Writer};

/// Rows of a page, and bytes of text after which one ends.
const ROWS: usize = 8192;
const TEXT: usize = 256 << 10;
/// The longest text that a page has room for.
pub(super) const TEXT_MOST: usize = 512 << 10;

/// Collects the rows of a page.
pub(super) struct Rows<const N: usize> {
    columns: [Vec<u64>; N],
    text: Vec<u8>,
}

impl<const N: usize> Rows<N> {
    pub(super) fn new() -> Self {
        Rows { columns: std::array::from_fn(|_| Vec::new()), text: Vec::new() }
    }

    pub(super) fn push<W: io::Write>(
        &mut self,
        row: [u64; N],
        texts: &[&[u8]],
        to: &mut Writer<W>,
    ) -> io::Result<()> {
        let own: usize = texts.iter().map(|text| text.len()).sum();
        if self.columns[0].len() == ROWS || self.text.len() + own > TEXT && !self.text.is_empty() {
            self.end_page(to)?;
        }
        for (column, number) in self.columns.iter_mut().zip(row) {
            column.push(number);
        }
        texts.iter().for_each(|text| self.text.extend_from_slice(text));
        Ok(())
    }

    /// Writes what there is; keys are the first column.
    pub(super) fn end_page<W: io::Write>(&mut self, to: &mut Writer<W>) -> io::Result<()> {
        let rows = self.columns[0].len();
        let (Some(&first), Some(&last)) = (self.columns[0].first(), self.columns[0].last()) else {
            return Ok(());
        };
        to.page(rows, (first, last), |page: &mut PageBuilder| {
            self.columns.iter().for_each(|column| _ = page.numbers(column));
            page.bytes(&self.text);
        })?;
        *self = Rows::new();
        Ok(())
    }
}
