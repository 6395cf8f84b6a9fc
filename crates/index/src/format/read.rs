//! Reads an index: head and directory when it is opened, pages on demand.

use crate::format::error::IndexError;
use crate::format::fingerprint::{Fingerprint, Input, checksum};
use crate::format::page::{PAGE_MOST, Page};
use crate::format::{HEAD, MAGIC, VERSION};
use std::cmp::Ordering;

/// An open index whose head and directory are valid.
pub struct Index<'a> {
    bytes: &'a [u8],
    input: Input,
    sections: Vec<SectionEntry>,
}

/// A section, as listed in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionEntry {
    /// Id of the section, see [`crate::format::id`].
    pub id: u16,
    /// Number of rows in all pages.
    pub rows: u64,
    /// Pages of the section in order.
    pub pages: Vec<PageEntry>,
}

/// A page, as listed in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEntry {
    /// Offset of the page in the file.
    pub offset: u64,
    /// Bytes of the page in the file.
    pub packed: u32,
    /// Bytes of the page after unpacking.
    pub raw: u32,
    /// Key of the first row, or the least key.
    pub first: u64,
    /// Key of the last row, or the greatest key.
    pub last: u64,
    checksum: u64,
}

impl<'a> Index<'a> {
    /// Opens an index from the bytes of its file.
    ///
    /// Cost: reading the directory, 32 bytes per page.
    ///
    /// # Errors
    /// Returns an [`IndexError`] if the bytes are not a valid index of this version.
    pub fn open(bytes: &'a [u8]) -> Result<Self, IndexError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(IndexError::NotAnIndex);
        }
        let mut head = Fields(bytes.get(..HEAD).ok_or(IndexError::Truncated)?);
        let sum = checksum(&bytes[..HEAD - 4]) as u32;
        let damaged = |what| IndexError::damaged(0, what);
        let fields = || -> Option<_> {
            head.take::<8>()?;
            let version = head.u64()? as u16;
            let (length, modified_ns) = (head.u64()?, head.u64()? as i64);
            let fingerprint = Fingerprint(u128::from_le_bytes(head.take()?));
            let place = (head.u64()?, head.u32()?);
            Some((version, Input { length, modified_ns, fingerprint }, place, head.u32()?))
        }();
        let (version, input, (start, len), stored) = fields.ok_or(IndexError::Truncated)?;
        if stored != sum {
            return Err(damaged("the checksum of the head"));
        }
        match version.cmp(&VERSION) {
            Ordering::Less => return Err(IndexError::Older),
            Ordering::Greater => return Err(IndexError::Newer),
            Ordering::Equal => {}
        }
        let end = start.checked_add(u64::from(len));
        if end != Some(bytes.len() as u64) || start < HEAD as u64 || len < 12 {
            return Err(IndexError::Truncated);
        }
        let directory = &bytes[start as usize..];
        Ok(Index { bytes, input, sections: sections(directory, start)? })
    }

    /// Returns the file that the index describes.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Returns all sections, by ascending id.
    pub fn sections(&self) -> &[SectionEntry] {
        &self.sections
    }

    /// Returns the section with this id, if it exists.
    pub fn section(&self, id: u16) -> Option<&SectionEntry> {
        self.sections.iter().find(|section| section.id == id)
    }

    /// Reads a page. Cost: at most [`PAGE_MOST`] bytes of heap, and unpacking.
    ///
    /// # Errors
    /// Returns an error if the page is damaged or cannot be unpacked.
    pub fn page(&self, entry: &PageEntry) -> Result<Page, IndexError> {
        let damaged = |what| IndexError::damaged(entry.offset, what);
        let end = entry.offset.checked_add(u64::from(entry.packed));
        let range = end.and_then(|end| self.bytes.get(entry.offset as usize..end as usize));
        let bytes = range.ok_or_else(|| damaged("a page of another file"))?;
        if checksum(bytes) != entry.checksum {
            return Err(damaged("the checksum of a page"));
        }
        let raw = match entry.packed < entry.raw {
            true => unpack(bytes, entry.raw as usize, entry.offset)?,
            false => bytes.to_vec(),
        };
        Page::of(raw, entry.offset)
    }

    /// Joins the bytes in the first column of all pages of a section, up to `most` bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Index::page`], and [`IndexError::Damaged`] if there are more bytes.
    pub fn joined(&self, section: &SectionEntry, most: usize) -> Result<Vec<u8>, IndexError> {
        let mut all = Vec::new();
        for entry in &section.pages {
            let page = self.page(entry)?;
            let bytes = page.bytes(0)?;
            if all.len() + bytes.len() > most {
                return Err(IndexError::damaged(entry.offset, "a section of more bytes"));
            }
            all.extend_from_slice(bytes);
        }
        Ok(all)
    }
}

fn sections(directory: &[u8], start: u64) -> Result<Vec<SectionEntry>, IndexError> {
    let damaged = |what| IndexError::damaged(start, what);
    let (bytes, sum) = directory.split_at(directory.len() - 8);
    if checksum(bytes).to_le_bytes() != *sum {
        return Err(damaged("the checksum of the directory"));
    }
    let mut fields = Fields(bytes);
    let mut offset = HEAD as u64;
    let mut sections: Vec<SectionEntry> = Vec::new();
    let form = || damaged("a directory of another form");
    for _ in 0..fields.u32().ok_or_else(form)? {
        let section = section(&mut fields, &mut offset).ok_or_else(form)?;
        if sections.last().is_some_and(|before| before.id >= section.id) {
            return Err(form());
        }
        sections.push(section);
    }
    match fields.0.is_empty() && offset == start {
        true => Ok(sections),
        false => Err(form()),
    }
}

fn section(fields: &mut Fields<'_>, offset: &mut u64) -> Option<SectionEntry> {
    let id = u16::try_from(fields.u32()?).ok()?;
    let (rows, count) = (fields.u64()?, fields.u32()?);
    let mut pages = Vec::new();
    for _ in 0..count {
        let (packed, raw) = (fields.u32()?, fields.u32()?);
        let (first, last, checksum) = (fields.u64()?, fields.u64()?, fields.u64()?);
        if packed > raw || raw as usize > PAGE_MOST {
            return None;
        }
        pages.push(PageEntry { offset: *offset, packed, raw, first, last, checksum });
        *offset += u64::from(packed);
    }
    Some(SectionEntry { id, rows, pages })
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

/// Unpacks a page of exactly `raw` bytes.
#[cfg(feature = "zstd")]
fn unpack(packed: &[u8], raw: usize, offset: u64) -> Result<Vec<u8>, IndexError> {
    match zstd::bulk::decompress(packed, raw) {
        Ok(bytes) if bytes.len() == raw => Ok(bytes),
        _ => Err(IndexError::damaged(offset, "a page that cannot be unpacked")),
    }
}

#[cfg(not(feature = "zstd"))]
fn unpack(_: &[u8], _: usize, _: u64) -> Result<Vec<u8>, IndexError> {
    Err(IndexError::Packed)
}
