//! Writes an index: pages first, so that no page is kept in memory.

use crate::format::fingerprint::{Input, checksum};
use crate::format::page::PageBuilder;
use crate::format::{HEAD, MAGIC, VERSION};
use std::io::{self, Read, Write};
use std::ops::RangeInclusive;

/// Writes all parts of an index after the head. The head is known only at the end.
pub struct Writer<W> {
    out: W,
    len: u64,
    directory: Vec<u8>,
    sections: u32,
    ids: Option<(u16, u16)>,
    /// The current section: id, number of rows, and the directory's rows for its pages.
    section: Option<(u16, u64, Vec<u8>)>,
}

/// Directory of sections that another writer wrote. The output of that writer has the pages.
pub struct Sections {
    len: u64,
    directory: Vec<u8>,
    sections: u32,
    ids: Option<(u16, u16)>,
}

impl Sections {
    /// Returns the bytes that the sections take in a file.
    pub fn file_len(&self) -> u64 {
        self.len + self.directory.len() as u64
    }
}

/// Bytes per page in the directory.
const ENTRY: usize = 32;

impl<W: Write> Writer<W> {
    /// Creates a writer that appends to `out`.
    pub fn new(out: W) -> Self {
        Writer { out, len: 0, directory: Vec::new(), sections: 0, ids: None, section: None }
    }

    /// Begins a section.
    ///
    /// # Errors
    /// Returns an error if the id is not greater than the previous id.
    pub fn section(&mut self, id: u16) -> io::Result<()> {
        self.note_ids(id, id)?;
        self.end_section();
        self.section = Some((id, 0, Vec::new()));
        Ok(())
    }

    fn note_ids(&mut self, first: u16, last: u16) -> io::Result<()> {
        if self.ids.is_some_and(|(_, before)| before >= first) {
            return Err(invalid("sections come by ascending id"));
        }
        self.ids = Some((self.ids.map_or(first, |(id, _)| id), last));
        Ok(())
    }

    /// Ends the sections without a directory. Another writer can append these sections
    /// ([`Writer::append`]), so several sections can be written in parallel.
    pub fn into_sections(mut self) -> (W, Sections) {
        self.end_section();
        let Writer { out, len, directory, sections, ids, .. } = self;
        (out, Sections { len, directory, sections, ids })
    }

    /// Appends sections of another writer, whose output is `pages`.
    ///
    /// # Errors
    /// Returns I/O errors, and an error if `pages` has another length or an id is not greater than
    /// the previous id.
    pub fn append(&mut self, sections: &Sections, pages: impl Read) -> io::Result<()> {
        let Some((first, last)) = sections.ids else { return Ok(()) };
        self.note_ids(first, last)?;
        self.end_section();
        if io::copy(&mut pages.take(sections.len + 1), &mut self.out)? != sections.len {
            return Err(invalid("other pages than were written"));
        }
        self.len += sections.len;
        self.sections += sections.sections;
        self.directory.extend_from_slice(&sections.directory);
        Ok(())
    }

    fn end_section(&mut self) {
        let Some((id, rows, pages)) = self.section.take() else { return };
        self.sections += 1;
        self.directory.extend_from_slice(&u32::from(id).to_le_bytes());
        self.directory.extend_from_slice(&rows.to_le_bytes());
        self.directory.extend_from_slice(&((pages.len() / ENTRY) as u32).to_le_bytes());
        self.directory.extend_from_slice(&pages);
    }

    /// Writes a page with its first and last key; `fill` adds the columns.
    ///
    /// # Errors
    /// Returns I/O errors, and an error if the page exceeds [`crate::format::PAGE_MOST`] or no
    /// section was begun.
    pub fn page(
        &mut self,
        rows: usize,
        keys: RangeInclusive<u64>,
        fill: impl FnOnce(&mut PageBuilder),
    ) -> io::Result<()> {
        let mut page = PageBuilder::new(rows);
        fill(&mut page);
        let raw = page.finish().ok_or_else(|| invalid("the page is too large"))?;
        let packed = pack(&raw)?;
        let (_, all, pages) = self.section.as_mut().ok_or_else(|| invalid("no section yet"))?;
        *all += rows as u64;
        for number in [packed.len() as u32, raw.len() as u32] {
            pages.extend_from_slice(&number.to_le_bytes());
        }
        for number in [*keys.start(), *keys.end(), checksum(&packed)] {
            pages.extend_from_slice(&number.to_le_bytes());
        }
        self.len += packed.len() as u64;
        self.out.write_all(&packed)
    }

    /// Returns the length in bytes that the file would have if nothing more were written.
    pub fn file_len(&self) -> u64 {
        let at_hand = self.section.as_ref().map_or(0, |(.., pages)| 16 + pages.len());
        HEAD as u64 + self.len + 4 + (self.directory.len() + at_hand) as u64 + 8
    }

    /// Ends the file. Returns the output, which has the bytes after the head, and the head.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn finish(mut self, input: &Input) -> io::Result<(W, [u8; HEAD])> {
        self.end_section();
        let mut directory = self.sections.to_le_bytes().to_vec();
        directory.append(&mut self.directory);
        directory.extend_from_slice(&checksum(&directory).to_le_bytes());
        self.out.write_all(&directory)?;
        let len = u32::try_from(directory.len()).map_err(|_| invalid("too many pages"))?;
        let mut head = Vec::with_capacity(HEAD);
        head.extend_from_slice(&MAGIC);
        head.extend_from_slice(&u64::from(VERSION).to_le_bytes());
        head.extend_from_slice(&input.length.to_le_bytes());
        head.extend_from_slice(&input.modified_ns.to_le_bytes());
        head.extend_from_slice(&input.fingerprint.0.to_le_bytes());
        head.extend_from_slice(&(HEAD as u64 + self.len).to_le_bytes());
        head.extend_from_slice(&len.to_le_bytes());
        head.extend_from_slice(&(checksum(&head) as u32).to_le_bytes());
        let head = head.first_chunk::<HEAD>().copied().ok_or_else(|| invalid("a short head"))?;
        Ok((self.out, head))
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Packs a page if that makes it smaller.
fn pack(raw: &[u8]) -> io::Result<Vec<u8>> {
    #[cfg(feature = "zstd")]
    {
        let packed = zstd::bulk::compress(raw, 3)?;
        if packed.len() < raw.len() {
            return Ok(packed);
        }
    }
    Ok(raw.to_vec())
}
