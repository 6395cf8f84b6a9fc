//! zstd output: frames of 2 MiB, followed by a seek table.
//!
//! Every zstd reader decodes the frames in sequence and skips the table. A reader that seeks reads
//! the table first and unpacks one frame: see the [seekable format].
//!
//! [seekable format]: https://github.com/facebook/zstd/blob/dev/contrib/seekable_format/zstd_seekable_compression_format.md

use super::blocks::{Block, BlockFormat};
use crate::input::seek_table;
use std::io;
use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, compress_bound};

/// The frames written so far.
pub(super) struct ZstdFrames {
    level: u32,
    /// Packed and unpacked length of each frame.
    all: Vec<[u32; 2]>,
}

impl ZstdFrames {
    pub(super) fn new(level: u32) -> Self {
        ZstdFrames { level, all: Vec::new() }
    }
}

/// A compressor and the buffer that it fills.
pub(super) struct FramePacker {
    compressor: Compressor<'static>,
    buffer: Vec<u8>,
}

impl BlockFormat for ZstdFrames {
    const BLOCK: usize = 2 << 20;
    const WINDOW: usize = 0;
    type Packer = FramePacker;
    type Sum = u32;

    fn packer(&self) -> io::Result<Self::Packer> {
        let mut compressor = Compressor::new(self.level as i32)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        if self.level == 9 {
            // half the memory for 0.1 % more bytes, so that the minimum budget fits one thread
            compressor.set_parameter(CParameter::HashLog(20))?;
        }
        Ok(FramePacker { compressor, buffer: Vec::with_capacity(compress_bound(Self::BLOCK)) })
    }

    fn pack(packer: &mut FramePacker, block: &Block) -> io::Result<(Vec<u8>, u32)> {
        let (_, bytes) = block.parts();
        let FramePacker { compressor, buffer } = packer;
        buffer.clear();
        compressor.compress_to_buffer(bytes, buffer)?;
        // copies the few bytes instead of keeping a large buffer
        Ok((buffer.clone(), bytes.len() as u32))
    }

    fn head(&self) -> &'static [u8] {
        &[]
    }

    fn add(&mut self, unpacked: u32, bytes: usize) {
        self.all.push([bytes as u32, unpacked]);
    }

    fn tail(self) -> io::Result<Vec<u8>> {
        seek_table::write(&self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::{fails, packed};
    use super::*;

    #[test]
    fn frames_do_not_depend_on_threads() {
        let text: Vec<u8> =
            (0..1_200_000_u64).flat_map(|i| format!("{},", i * 7919).into_bytes()).collect();
        for len in [0, 1, ZstdFrames::BLOCK, ZstdFrames::BLOCK + 1, text.len()] {
            for level in [1, 3, 9] {
                let once = packed(ZstdFrames::new(level), &text[..len], 1 << 20, 1);
                let others = packed(ZstdFrames::new(level), &text[..len], 4093, 3);
                assert!(once == others, "{len} bytes, level {level}");
                let plain = zstd::stream::decode_all(&once[..]).unwrap();
                assert!(plain == text[..len], "{len} bytes, level {level}");
                let table: Vec<_> = seek_table::read(&once).expect("it is there").collect();
                let frames = len.div_ceil(ZstdFrames::BLOCK).max(1);
                assert_eq!(table.len(), frames, "{len} bytes");
                let mut at = 0;
                for ([packed, unpacked], text) in
                    table.iter().zip(text[..len].chunks(ZstdFrames::BLOCK))
                {
                    let frame = &once[at..at + *packed as usize];
                    assert_eq!(*unpacked as usize, text.len());
                    assert!(zstd::stream::decode_all(frame).unwrap() == text);
                    at += *packed as usize;
                }
            }
        }
    }

    #[test]
    fn write_errors_are_returned() {
        fails(ZstdFrames::new(1));
    }
}
