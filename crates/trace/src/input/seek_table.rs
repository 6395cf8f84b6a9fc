//! Reads and writes the seek table after the frames of a zstd file, in zstd's seekable format.
//!
//! ```text
//!   file      │ frame │ frame │ … │ skippable frame: one entry per frame, then the footer │
//!   entry     │ packed 4 │ unpacked 4 │ (checksum 4) │
//!   footer    │ frames 4 │ flags 1 │ magic 4 │              the last 9 bytes of the file
//! ```
//!
//! Numbers are little-endian. Other readers skip the table as a skippable frame, so the file is
//! plain zstd. Source: `contrib/seekable_format/zstd_seekable_compression_format.md` of zstd. This
//! module writes tables without checksums, because each frame has a checksum of its own.

#[cfg(any(test, feature = "zstd"))]
use std::io;

/// Magic number of the skippable frame that holds the table.
const SKIPPABLE: u32 = 0x184D_2A5E;
/// Magic number at the end of the file.
const SEEKABLE: u32 = 0x8F92_EAB1;
/// Length of the header of the skippable frame in bytes.
const HEAD: usize = 8;
/// Length of the footer in bytes: number of frames, flags, magic.
const FOOT: usize = 9;
/// Flag: the table has a checksum for each frame.
const CHECKSUMS: u8 = 0x80;
/// Flags that must be 0.
const RESERVED: u8 = 0x7C;

/// Creates the table for frames with these packed and unpacked lengths.
///
/// # Errors
/// Returns an error if there are more than 2^29 frames.
#[cfg(any(test, feature = "zstd"))]
pub(crate) fn write(frames: &[[u32; 2]]) -> io::Result<Vec<u8>> {
    let bytes = u32::try_from(frames.len() * 8 + FOOT).map_err(io::Error::other)?;
    let mut table = Vec::with_capacity(HEAD + bytes as usize);
    table.extend(SKIPPABLE.to_le_bytes());
    table.extend(bytes.to_le_bytes());
    table.extend(frames.iter().flatten().flat_map(|number| number.to_le_bytes()));
    table.extend((frames.len() as u32).to_le_bytes());
    table.push(0);
    table.extend(SEEKABLE.to_le_bytes());
    Ok(table)
}

/// Returns the packed and unpacked length of each frame. Returns `None` if the file has no table or
/// the table does not match.
pub(crate) fn read(file: &[u8]) -> Option<impl Iterator<Item = [u32; 2]>> {
    let number = |bytes: &[u8]| bytes.first_chunk::<4>().map(|four| u32::from_le_bytes(*four));
    let foot = file.last_chunk::<FOOT>()?;
    let (count, flags) = (number(foot)? as usize, foot[4]);
    if number(&foot[5..])? != SEEKABLE || flags & RESERVED != 0 {
        return None;
    }
    let entry = if flags & CHECKSUMS == 0 { 8 } else { 12 };
    let bytes = count.checked_mul(entry)?.checked_add(FOOT)?;
    let frames_end = file.len().checked_sub(bytes)?.checked_sub(HEAD)?;
    let table = &file[frames_end..];
    if number(table)? != SKIPPABLE || number(&table[4..])? as usize != bytes {
        return None;
    }
    let entries = table[HEAD..HEAD + count * entry].chunks_exact(entry);
    let frames = entries.filter_map(move |row| Some([number(row)?, number(&row[4..])?]));
    let packed: u64 = frames.clone().map(|[packed, _]| u64::from(packed)).sum();
    (packed == frames_end as u64).then_some(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_table_of_the_file_is_accepted() {
        let frames = [[3, 10], [4, 0], [1, u32::MAX]];
        let table = write(&frames).expect("few");
        let file = [&[0; 8][..], &table].concat();
        let all = |file: &[u8]| read(file).map(Iterator::collect::<Vec<_>>);
        assert_eq!(all(&file).as_deref(), Some(&frames[..]));
        let mut with = SKIPPABLE.to_le_bytes().to_vec();
        with.extend((12 + FOOT as u32).to_le_bytes());
        with.extend([2, 0, 0, 0, 5, 0, 0, 0, 9, 9, 9, 9, 1, 0, 0, 0, CHECKSUMS]);
        with.extend(SEEKABLE.to_le_bytes());
        assert_eq!(all(&[&[0; 2][..], &with].concat()).as_deref(), Some(&[[2, 5]][..]));
        // another file's table, a cut one, or one with any byte but unpacked lengths changed
        assert_eq!(all(&file[1..]), None);
        (0..file.len()).for_each(|len| assert_eq!(all(&file[..len]), None, "{len}"));
        let unpacked = |at: usize| (0..3).any(|n| (20 + 8 * n..24 + 8 * n).contains(&at));
        for at in (8..file.len()).filter(|at| !unpacked(*at)) {
            let mut changed = file.clone();
            changed[at] ^= 1;
            let flags_of_nobody = at == file.len() - 5;
            assert_eq!(all(&changed).is_some(), flags_of_nobody, "{at}");
        }
    }
}
