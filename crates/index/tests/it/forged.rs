//! Tests that invalid files with valid checksums cause errors, but no panic and no excessive
//! memory.

use super::naive::{Raw, file, leb128, page, read_all};
use tracemill_index::format::{Index, IndexError, PAGE_MOST, ROWS_MOST};
use tracemill_testkit::mutate::mutated;
use tracemill_testkit::{Rng, seeds};

fn of(bytes: Vec<u8>, raw: u32) -> Vec<u8> {
    file(2, &[(4, 3, vec![Raw { bytes, raw, keys: (0, 0) }])])
}

fn plain(bytes: Vec<u8>) -> Vec<u8> {
    let raw = bytes.len() as u32;
    of(bytes, raw)
}

#[test]
fn random_pages_with_valid_checksums_are_read_or_refused() {
    let (mut read, mut refused) = (0, 0);
    for seed in seeds(0, 5000) {
        let mut rng = Rng::new(seed);
        let columns: Vec<(u8, Vec<u8>)> = (0..rng.index(4))
            .map(|_| {
                let bytes = (0..rng.index(9)).map(|_| rng.bits() as u8 >> rng.below(8)).collect();
                (rng.below(5) as u8, bytes)
            })
            .collect();
        let sound = page(rng.below(4) as u32, &columns);
        let bytes = match rng.chance(50) {
            true => mutated(&mut rng, &sound, b"\0\x01\xff\xff\xff\xff"),
            false => sound,
        };
        match read_all(&plain(bytes)) {
            Ok(count) => read += usize::from(count > 0),
            Err(IndexError::Damaged { .. }) => refused += 1,
            Err(other) => panic!("{seed}: {other}"),
        }
    }
    assert!(read > 300 && refused > 300, "{read} {refused}");
}

#[test]
fn excessive_row_counts_are_refused() {
    let runs = |rows: u32, count: u64| {
        let column = [vec![7], leb128(count)].concat();
        read_all(&plain(page(rows, &[(3, column)])))
    };
    assert_eq!(runs(ROWS_MOST as u32, ROWS_MOST as u64), Ok(ROWS_MOST));
    // a column with another number of rows is invalid
    assert_eq!(runs(5, 6), Ok(0));
    assert_eq!(runs(5, u64::MAX), Ok(0));
    assert!(runs(ROWS_MOST as u32 + 1, ROWS_MOST as u64 + 1).is_err());
    assert!(runs(u32::MAX, u64::from(u32::MAX)).is_err());
}

#[test]
fn numbers_of_more_than_64_bits_are_refused() {
    let of = |bytes: &[u8]| {
        let bytes = plain(page(1, &[(1, bytes.to_vec())]));
        let index = Index::open(&bytes).unwrap();
        let page = index.page(&index.sections()[0].pages[0]).unwrap();
        page.numbers(0).ok()
    };
    let nine = [0xff; 9];
    assert_eq!(of(&[&nine[..], &[1]].concat()), Some(vec![u64::MAX]));
    assert_eq!(of(&[&nine[..], &[2]].concat()), None);
    assert_eq!(of(&[&nine[..], &[0x81, 0]].concat()), None);
    assert_eq!(of(&[0xff]), None);
    assert_eq!(of(&[1, 1]), None);
}

#[cfg(feature = "zstd")]
#[test]
fn packed_pages_of_wrong_length_are_refused() {
    let raw = page(0, &[(0, vec![b'a'; 5000])]);
    let packed = zstd::bulk::compress(&raw, 3).unwrap();
    assert_eq!(read_all(&of(packed.clone(), raw.len() as u32)), Ok(5000));
    for len in [raw.len() - 1, raw.len() + 1, PAGE_MOST] {
        assert!(read_all(&of(packed.clone(), len as u32)).is_err(), "{len}");
    }
    // 100 MiB in a few KiB: never unpacked beyond a page
    let bomb = zstd::bulk::compress(&vec![0; 100 << 20], 3).unwrap();
    assert!(read_all(&of(bomb.clone(), PAGE_MOST as u32)).is_err());
    assert!(read_all(&of(bomb, u32::MAX)).is_err());
    for seed in seeds(0, 2000) {
        let changed = mutated(&mut Rng::new(seed), &packed, b"");
        // zstd has no checksum here, so changed bytes may unpack to a page
        let _ = read_all(&of(changed, raw.len() as u32));
    }
}

#[test]
fn directories_that_contradict_their_pages_are_refused() {
    let good = page(0, &[]);
    let raw = |bytes: &[u8], raw| Raw { bytes: bytes.to_vec(), raw, keys: (0, 0) };
    let len = good.len() as u32;
    assert!(read_all(&file(2, &[(4, 0, vec![raw(&good, len), raw(&good, len)])])).is_ok());
    assert!(read_all(&file(2, &[(4, 0, vec![raw(&good, len - 1)])])).is_err());
    let twice = [(4, 0, vec![]), (4, 0, vec![])];
    assert!(read_all(&file(2, &twice)).is_err());
    let falling = [(5, 0, vec![]), (4, 0, vec![])];
    assert!(read_all(&file(2, &falling)).is_err());
}
