//! A reference writer by the specification, for valid and for forged files.

use tracemill_index::format::{Index, IndexError, Page};
use tracemill_testkit::Rng;
use twox_hash::XxHash3_64;

/// A page: its bytes in the file, its claimed unpacked length, and its keys.
pub(crate) struct Raw {
    pub(crate) bytes: Vec<u8>,
    pub(crate) raw: u32,
    pub(crate) keys: (u64, u64),
}

pub(crate) type Part = (u32, u64, Vec<Raw>);

/// Length, time of change and fingerprint in the head.
pub(crate) const INPUT: (u64, i64, u128) = (77, -5, 0x1234_5678_9abc_def0_1122);

pub(crate) fn file(version: u16, parts: &[Part]) -> Vec<u8> {
    let (mut pages, mut directory) = (Vec::new(), (parts.len() as u32).to_le_bytes().to_vec());
    for (id, rows, part) in parts {
        directory.extend(id.to_le_bytes());
        directory.extend(rows.to_le_bytes());
        directory.extend((part.len() as u32).to_le_bytes());
        for page in part {
            directory.extend((page.bytes.len() as u32).to_le_bytes());
            directory.extend(page.raw.to_le_bytes());
            directory.extend(page.keys.0.to_le_bytes());
            directory.extend(page.keys.1.to_le_bytes());
            directory.extend(XxHash3_64::oneshot(&page.bytes).to_le_bytes());
            pages.extend(&page.bytes);
        }
    }
    directory.extend(XxHash3_64::oneshot(&directory).to_le_bytes());
    let mut head = b"TMIX\r\n\x1a\n".to_vec();
    head.extend(version.to_le_bytes());
    head.extend([0; 6]);
    head.extend(INPUT.0.to_le_bytes());
    head.extend(INPUT.1.to_le_bytes());
    head.extend(INPUT.2.to_le_bytes());
    head.extend((64 + pages.len() as u64).to_le_bytes());
    head.extend((directory.len() as u32).to_le_bytes());
    head.extend(&XxHash3_64::oneshot(&head).to_le_bytes()[..4]);
    [head, pages, directory].concat()
}

/// Builds a page from columns with the numbers of their encodings.
pub(crate) fn page(rows: u32, columns: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = rows.to_le_bytes().to_vec();
    bytes.extend((columns.len() as u32).to_le_bytes());
    for (encoding, column) in columns {
        bytes.push(*encoding);
        bytes.extend((column.len() as u32).to_le_bytes());
        bytes.extend(column);
    }
    bytes
}

pub(crate) fn leb128(number: u64) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        (0..10).map(|at| (u128::from(number) >> (7 * at)) as u8 & 0x7f).collect();
    while bytes.len() > 1 && bytes.last() == Some(&0) {
        bytes.pop();
    }
    let last = bytes.len() - 1;
    bytes[..last].iter_mut().for_each(|byte| *byte |= 0x80);
    bytes
}

/// Reads a whole file; returns the number of numbers and bytes.
pub(crate) fn read_all(bytes: &[u8]) -> Result<usize, IndexError> {
    let index = Index::open(bytes)?;
    let mut read = 0;
    for entry in index.sections().iter().flat_map(|section| &section.pages) {
        read += read_page(&index.page(entry)?)?;
    }
    Ok(read)
}

fn read_page(page: &Page) -> Result<usize, IndexError> {
    let mut read = 0;
    for column in 0.. {
        match (page.bytes(column), page.numbers(column)) {
            (Ok(bytes), Err(_)) => read += bytes.len(),
            (Err(_), Ok(numbers)) => {
                assert_eq!(numbers.len(), page.rows());
                read += numbers.len();
            }
            (Err(_), Err(_)) => break,
            (Ok(_), Ok(_)) => panic!("a column is one of the two"),
        }
    }
    Ok(read)
}

/// Generates numbers like those of real columns: few values, ascending, or any.
pub(crate) fn numbers(rng: &mut Rng, rows: usize) -> Vec<u64> {
    let kind = rng.below(5);
    let mut last = rng.bits() >> rng.below(64);
    (0..rows)
        .map(|_| match kind {
            0 => last,
            1 => rng.below(3),
            2 => rng.bits() >> rng.below(64),
            3 => {
                last = last.wrapping_add(rng.below(1000));
                last
            }
            _ => rng.pick(&[&0_u64, &u64::MAX, &(1 << 63), &0x7f, &0x80]).to_owned(),
        })
        .collect()
}
