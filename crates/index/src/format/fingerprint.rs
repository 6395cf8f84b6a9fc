//! Of which file an index is.

use std::io::{self, Read, Seek, SeekFrom};
use twox_hash::{XxHash3_64, XxHash3_128};

/// Files of at most so many bytes are looked at as a whole.
const WHOLE: u64 = 16 << 20;
/// Bytes at the start and at the end of others.
const ENDS: u64 = 64 << 10;
/// Stretches between these, and their bytes.
const STRETCHES: u64 = 64;
const STRETCH: u64 = 4 << 10;

/// What tells a file from others: XXH3-128 over its length and its bytes.
///
/// Of more than 16 MiB these are the first and last 64 KiB, and 64 stretches of 4 KiB, the k-th of them at k/63 of the length
/// less 4 KiB. So a change between them that leaves the length as it is goes unseen here: the time of the last change, and sums of
/// what is read (`event_sum`), show those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub u128);

impl Fingerprint {
    /// That of a file of `length` bytes. Cost: reads at most 16 MiB.
    ///
    /// # Errors
    /// If it cannot be read, or is shorter.
    pub fn of<R: Read + Seek>(input: &mut R, length: u64) -> io::Result<Self> {
        let mut hasher = XxHash3_128::with_seed(0);
        hasher.write(&length.to_le_bytes());
        let mut buffer = vec![0; ENDS as usize];
        let mut stretch = |from: u64, bytes: u64| -> io::Result<()> {
            input.seek(SeekFrom::Start(from))?;
            let mut left = bytes;
            while left > 0 {
                let part = &mut buffer[..left.min(ENDS) as usize];
                input.read_exact(part)?;
                hasher.write(part);
                left -= part.len() as u64;
            }
            Ok(())
        };
        if length <= WHOLE {
            stretch(0, length)?;
        } else {
            stretch(0, ENDS)?;
            for number in 0..STRETCHES {
                let last = u128::from(length - STRETCH);
                stretch((last * u128::from(number) / u128::from(STRETCHES - 1)) as u64, STRETCH)?;
            }
            stretch(length - ENDS, ENDS)?;
        }
        Ok(Fingerprint(hasher.finish_128()))
    }
}

/// The file that an index is of, as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its bytes.
    pub length: u64,
    /// When it was last written to, in nanoseconds since 1970; 0 where the system does not know.
    pub modified_ns: i64,
    /// What tells it from others.
    pub fingerprint: Fingerprint,
}

/// The checksum of pages and of the directory.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}
