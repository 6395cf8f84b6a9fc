//! gzip and zstd, without the command: it must not be its own judge.

use flate2::Compression;
use flate2::read::{GzEncoder, MultiGzDecoder};
use std::io::Read;

fn all(mut from: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).expect("memory can be read");
    bytes
}

pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    // members that end within an event
    let (one, other) = bytes.split_at(bytes.len() / 3);
    let member = |bytes| all(GzEncoder::new(bytes, Compression::fast()));
    [member(one), member(other)].concat()
}

pub(crate) fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("memory can be read")
}

/// What a sound file holds, packed or not.
pub(crate) fn unpacked(bytes: Vec<u8>) -> Vec<u8> {
    match *bytes {
        [0x1f, 0x8b, ..] => all(MultiGzDecoder::new(&*bytes)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd::decode_all(&*bytes).expect("it is whole"),
        _ => bytes,
    }
}
