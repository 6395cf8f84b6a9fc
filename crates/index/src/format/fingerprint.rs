//! Fingerprints of files.

use std::io::{self, Read, Seek, SeekFrom};
use twox_hash::{XxHash3_64, XxHash3_128};

/// Greatest size, in bytes, of files that are hashed as a whole.
const WHOLE: u64 = 16 << 20;
/// Bytes hashed at the start and at the end of larger files.
const ENDS: u64 = 64 << 10;
/// Number of samples between the start and the end of a larger file.
const STRETCHES: u64 = 64;
/// Bytes of one sample.
const STRETCH: u64 = 4 << 10;

/// XXH3-128 over the length of a file and its bytes.
///
/// Above 16 MiB only the first and last 64 KiB and 64 samples of 4 KiB are hashed; the k-th sample
/// is at k/63 of the length minus 4 KiB. Other changes that keep the length are detected by the
/// time of change, and by the checksums of events (`event_sum`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub u128);

impl Fingerprint {
    /// Computes the fingerprint of a file of `length` bytes; reads at most 16 MiB.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is shorter.
    pub fn of<R: Read + Seek>(input: &mut R, length: u64) -> io::Result<Self> {
        let mut hasher = XxHash3_128::with_seed(0);
        hasher.write(&length.to_le_bytes());
        let mut buffer = vec![0; ENDS as usize];
        let mut hash_range = |from: u64, bytes: u64| -> io::Result<()> {
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
            hash_range(0, length)?;
        } else {
            hash_range(0, ENDS)?;
            for number in 0..STRETCHES {
                let last = u128::from(length - STRETCH);
                hash_range(
                    (last * u128::from(number) / u128::from(STRETCHES - 1)) as u64,
                    STRETCH,
                )?;
            }
            hash_range(length - ENDS, ENDS)?;
        }
        Ok(Fingerprint(hasher.finish_128()))
    }
}

/// Size, time of change and fingerprint of the file that an index describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Length in bytes.
    pub length: u64,
    /// Time of the last change, in nanoseconds since 1970; 0 if unknown.
    pub modified_ns: i64,
    /// Fingerprint of the file.
    pub fingerprint: Fingerprint,
}

/// Computes the checksum of a page or of the directory.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}
