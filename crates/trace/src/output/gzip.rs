//! gzip output: one member, as DevTools requires, in blocks of 512 KiB.
//!
//! Each block is raw deflate that ends on a byte border and uses the preceding 32 KiB as
//! dictionary. So the concatenated blocks are one stream, only 0.1 % larger than without blocks at
//! level 6.

use super::blocks::{Block, BlockFormat};
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use std::io;

/// Magic number, deflate, no flags, no time, no extra flags, unknown system.
const HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];

/// The level, and the combined checksum of all blocks.
pub(super) struct Gzip {
    level: u32,
    all: Crc,
}

impl Gzip {
    pub(super) fn new(level: u32) -> Self {
        Gzip { level, all: Crc::new() }
    }
}

impl BlockFormat for Gzip {
    const BLOCK: usize = 512 << 10;
    // maximum distance of deflate
    const WINDOW: usize = 32 << 10;
    type Packer = u32;
    type Sum = Crc;

    fn packer(&self) -> io::Result<u32> {
        Ok(self.level)
    }

    fn pack(level: &mut u32, block: &Block) -> io::Result<(Vec<u8>, Crc)> {
        // always a new compressor: after a reset zlib-rs 0.6 depends on earlier blocks
        let mut deflate = Compress::new(Compression::new(*level), false);
        let (dictionary, mut rest) = block.parts();
        let mut crc = Crc::new();
        crc.update(rest);
        if !dictionary.is_empty() {
            let _ = deflate.set_dictionary(dictionary);
        }
        let mut bytes = Vec::with_capacity(rest.len() / 4 + 64);
        let flush = if block.is_last { FlushCompress::Finish } else { FlushCompress::Sync };
        loop {
            let before = deflate.total_in();
            let status = deflate.compress_vec(rest, &mut bytes, flush);
            rest = &rest[(deflate.total_in() - before) as usize..];
            // spare capacity means that all output was produced
            let done = rest.is_empty() && bytes.len() < bytes.capacity();
            if matches!(status, Ok(Status::StreamEnd) | Err(_)) || (done && !block.is_last) {
                break;
            }
            bytes.reserve(bytes.capacity().max(1024));
        }
        Ok((bytes, crc))
    }

    fn head(&self) -> &'static [u8] {
        &HEADER
    }

    fn add(&mut self, sum: Crc, _bytes: usize) {
        self.all.combine(&sum);
    }

    fn tail(self) -> io::Result<Vec<u8>> {
        // length modulo 2^32, as the format requires
        Ok([self.all.sum().to_le_bytes(), self.all.amount().to_le_bytes()].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::{fails, packed};
    use super::*;
    use std::io::{Read, Write};

    const BLOCK: usize = Gzip::BLOCK;

    #[test]
    fn one_member_does_not_depend_on_threads() {
        let text: Vec<u8> =
            (0..400_000u32).flat_map(|i| format!("{},", i * 7919).into_bytes()).collect();
        for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, text.len()] {
            for level in [0, 1, 6, 9] {
                let once = packed(Gzip::new(level), &text[..len], 1 << 20, 1);
                let others = packed(Gzip::new(level), &text[..len], 4093, 3);
                assert!(once == others, "{len} bytes, level {level}");
                let mut plain = Vec::new();
                // decodes a single member, so surplus bytes would remain
                let mut decoder = flate2::bufread::GzDecoder::new(&once[..]);
                decoder.read_to_end(&mut plain).unwrap();
                assert!(plain == text[..len], "{len} bytes, level {level}");
                assert!(decoder.into_inner().is_empty());
            }
        }
    }

    #[test]
    fn blocks_hardly_increase_the_size() {
        let text: Vec<u8> =
            (0..400_000u32).flat_map(|i| format!("{},", i % 997).into_bytes()).collect();
        let mut whole = flate2::write::GzEncoder::new(Vec::new(), Compression::new(6));
        whole.write_all(&text).unwrap();
        let whole = whole.finish().unwrap().len();
        let blocks = packed(Gzip::new(6), &text, BLOCK, 2).len();
        assert!(blocks < whole + whole / 50 + 200, "{blocks} against {whole}");
    }

    #[test]
    fn write_errors_are_returned() {
        fails(Gzip::new(1));
    }
}
