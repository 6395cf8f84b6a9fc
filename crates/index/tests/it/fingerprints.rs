//! Tests of fingerprints and event checksums.

use std::io::Cursor;
use tracemill_index::format::{Fingerprint, event_sum};
use twox_hash::XxHash3_128;

fn of(bytes: &[u8]) -> Fingerprint {
    Fingerprint::of(&mut Cursor::new(bytes), bytes.len() as u64).unwrap()
}

/// Computes a fingerprint by the specification.
fn naive(bytes: &[u8]) -> u128 {
    let mut all = (bytes.len() as u64).to_le_bytes().to_vec();
    if bytes.len() <= 16 << 20 {
        all.extend(bytes);
    } else {
        all.extend(&bytes[..64 << 10]);
        for k in 0..64_u128 {
            let at = ((bytes.len() - 4096) as u128 * k / 63) as usize;
            all.extend(&bytes[at..at + 4096]);
        }
        all.extend(&bytes[bytes.len() - (64 << 10)..]);
    }
    XxHash3_128::oneshot(&all)
}

#[test]
fn fingerprints_match_the_specification() {
    for len in [0, 1, 64 << 10, 200_001, 16 << 20, (16 << 20) + 1, 20_000_003] {
        let bytes: Vec<u8> = (0..len).map(|at| ((at as u64 * at as u64) >> 7) as u8).collect();
        assert_eq!(of(&bytes).0, naive(&bytes), "{len}");
    }
}

#[test]
fn different_files_have_different_fingerprints() {
    let mut bytes = vec![b'x'; 300_000];
    let whole = of(&bytes);
    for at in [0, 1, 70_000, 150_000, 299_999] {
        bytes[at] ^= 1;
        assert_ne!(of(&bytes), whole, "{at}");
        bytes[at] ^= 1;
    }
    assert_ne!(of(&bytes[..299_999]), whole);
    assert_eq!(of(&bytes), whole);
    // the file is shorter than the given length
    assert!(Fingerprint::of(&mut Cursor::new(&bytes), 300_001).is_err());
}

#[test]
fn event_sums_depend_on_bytes_and_offset() {
    let one = event_sum(5, b"{}");
    assert_ne!(one, event_sum(6, b"{}"));
    assert_ne!(one, event_sum(5, b"[]"));
    assert_eq!(one, event_sum(5, b"{}"));
}
