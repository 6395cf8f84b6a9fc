//! Independent gzip and zstd compression, for testing the command.

use flate2::Compression;
use flate2::read::{GzEncoder, MultiGzDecoder};
use std::io::Read;

fn read_all(mut source: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).expect("bytes in memory can be read");
    bytes
}

/// Compresses `text` in parts of `size` bytes; an empty text is one part.
fn pack_parts(text: &[u8], size: usize, pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    match text {
        [] => pack(text),
        text => text.chunks(size).flat_map(pack).collect(),
    }
}

/// Compresses as gzip, in members of at most `member` bytes of text.
///
/// # Panics
///
/// Panics if `member` is 0.
#[must_use]
pub fn gz(text: &[u8], member: usize) -> Vec<u8> {
    pack_parts(text, member, |part| read_all(GzEncoder::new(part, Compression::fast())))
}

/// Compresses as zstd, in frames of at most `frame` bytes of text; each frame states its length.
///
/// # Panics
///
/// Panics if `frame` is 0.
#[must_use]
pub fn zst(text: &[u8], frame: usize) -> Vec<u8> {
    pack_parts(text, frame, |part| zstd::bulk::compress(part, 1).expect("zstd packs anything"))
}

/// Decompresses a file; returns plain text unchanged.
///
/// # Panics
///
/// Panics if a compressed file is damaged.
#[must_use]
pub fn unpacked(bytes: Vec<u8>) -> Vec<u8> {
    match *bytes {
        [0x1f, 0x8b, ..] => read_all(MultiGzDecoder::new(&*bytes)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd::decode_all(&*bytes).expect("a whole frame"),
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::{gz, unpacked, zst};

    #[test]
    fn unpacking_returns_the_text() {
        let text: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        for (text, size) in [(&text[..], 1000), (&text, 1 << 20), (b"", 1)] {
            assert!(unpacked(gz(text, size)) == text && unpacked(zst(text, size)) == text);
        }
        assert_eq!(unpacked(b"[]".to_vec()), b"[]");
    }
}
