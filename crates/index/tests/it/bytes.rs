//! Tests that files read back unchanged, and changed files are refused.

use super::naive::{self, INPUT, Raw, numbers, read_all};
use tracemill_index::format::{
    Fingerprint, Index, IndexError, Input, PAGE_MOST, ROWS_MOST, Writer,
};
use tracemill_testkit::mutate::mutated;
use tracemill_testkit::{Rng, seeds};

#[derive(Clone, Debug)]
enum Column {
    Numbers(Vec<u64>),
    Bytes(Vec<u8>),
}

/// A page: rows, keys, columns.
type Page = (usize, (u64, u64), Vec<Column>);

const INPUT_OF: Input =
    Input { length: INPUT.0, modified_ns: INPUT.1, fingerprint: Fingerprint(INPUT.2) };

fn content(rng: &mut Rng) -> Vec<(u16, Vec<Page>)> {
    let mut id = 0;
    let sections = (0..rng.index(4)).map(|_| {
        id += 1 + rng.below(3) as u16;
        (id, (0..rng.index(4)).map(|_| page(rng)).collect())
    });
    sections.collect()
}

fn page(rng: &mut Rng) -> Page {
    let rows = [0, 1, 7, 300][rng.index(4)];
    let columns = (0..rng.index(5)).map(|_| match rng.chance(70) {
        true => Column::Numbers(numbers(rng, rows)),
        false => Column::Bytes((0..rng.index(200)).map(|_| rng.below(4) as u8).collect()),
    });
    let columns = columns.collect();
    (rows, (rng.bits(), rng.bits()), columns)
}

fn written(content: &[(u16, Vec<Page>)]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new());
    for (section, pages) in content {
        writer.section(*section).unwrap();
        for (rows, keys, columns) in pages {
            let fill = |page: &mut tracemill_index::format::PageBuilder| {
                for column in columns {
                    match column {
                        Column::Numbers(numbers) => page.numbers(numbers),
                        Column::Bytes(bytes) => page.bytes(bytes),
                    };
                }
            };
            writer.page(*rows, keys.0..=keys.1, fill).unwrap();
        }
    }
    let len = writer.file_len();
    let (body, head) = writer.finish(&INPUT_OF).unwrap();
    assert_eq!(len, (head.len() + body.len()) as u64);
    [&head[..], &body].concat()
}

#[test]
fn written_files_read_back_unchanged() {
    for seed in seeds(0, 300) {
        let content = content(&mut Rng::new(seed));
        let bytes = written(&content);
        let index = Index::open(&bytes).unwrap();
        assert_eq!(*index.input(), INPUT_OF);
        assert_eq!(index.sections().len(), content.len());
        for (section, pages) in &content {
            let stored = index.section(*section).unwrap();
            assert_eq!(stored.rows, pages.iter().map(|page| page.0 as u64).sum::<u64>());
            assert_eq!(stored.pages.len(), pages.len());
            for (entry, (rows, keys, columns)) in stored.pages.iter().zip(pages) {
                let page = index.page(entry).unwrap();
                assert_eq!((page.rows(), (entry.first, entry.last)), (*rows, *keys));
                for (number, column) in columns.iter().enumerate() {
                    match column {
                        Column::Numbers(numbers) => {
                            assert_eq!(page.numbers(number).as_ref(), Ok(numbers), "{seed}");
                        }
                        Column::Bytes(bytes) => assert_eq!(page.bytes(number), Ok(&bytes[..])),
                    }
                }
                assert!(page.numbers(columns.len()).is_err() && page.bytes(columns.len()).is_err());
            }
        }
        // equal content gives equal files
        assert_eq!(bytes, written(&content));
    }
}

#[test]
fn written_bytes_match_the_specification() {
    let columns = vec![
        Column::Numbers(vec![5, 300, 2]),
        Column::Numbers(vec![1000, 1001, 1000]),
        Column::Numbers(vec![9, 9, 9]),
        Column::Bytes(b"x".to_vec()),
    ];
    let bytes = naive::page(
        3,
        &[
            (1, [vec![5], naive::leb128(300), vec![2]].concat()),
            (2, [naive::leb128(2000), vec![2, 1]].concat()),
            (3, vec![9, 3]),
            (0, b"x".to_vec()),
        ],
    );
    let raw = bytes.len() as u32;
    let naive_sections = vec![(4, 3, vec![Raw { bytes, raw, keys: (7, 8) }])];
    assert_eq!(written(&[(4, vec![(3, (7, 8), columns)])]), naive::file(2, &naive_sections));
}

#[test]
fn every_flipped_bit_and_every_truncation_is_detected() {
    for seed in 0..12 {
        let bytes = written(&content(&mut Rng::new(seed)));
        read_all(&bytes).unwrap();
        for at in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            assert!(read_all(&flipped).is_err(), "seed {seed}, bit {at}");
        }
        for len in 0..bytes.len() {
            assert!(read_all(&bytes[..len]).is_err(), "seed {seed}, {len} bytes");
        }
        assert_eq!(read_all(&[&bytes[..], b"x"].concat()), Err(IndexError::Truncated));
    }
}

#[test]
fn changed_files_are_refused() {
    for seed in seeds(0, 3000) {
        let mut rng = Rng::new(seed);
        let (bytes, other) = (written(&content(&mut rng)), written(&content(&mut rng)));
        let changed = mutated(&mut rng, &bytes, &other);
        assert!(changed == bytes || changed == other || read_all(&changed).is_err(), "{seed}");
        let any: Vec<u8> = (0..rng.index(300)).map(|_| rng.bits() as u8).collect();
        assert_eq!(read_all(&any), Err(IndexError::NotAnIndex));
    }
}

#[test]
fn other_versions_are_distinguished_from_damage() {
    assert_eq!(read_all(&naive::file(2, &[])), Ok(0));
    assert_eq!(read_all(&naive::file(3, &[])), Err(IndexError::Newer));
    assert_eq!(read_all(&naive::file(1, &[])), Err(IndexError::Older));
    assert_eq!(read_all(b""), Err(IndexError::NotAnIndex));
    assert_eq!(read_all(&naive::file(2, &[])[..20]), Err(IndexError::Truncated));
}

#[test]
fn writer_refuses_oversized_pages_and_wrong_ids() {
    let mut writer = Writer::new(Vec::new());
    assert!(writer.page(0, 0..=0, |_| ()).is_err(), "of no section");
    writer.section(2).unwrap();
    assert!(writer.section(2).is_err() && writer.section(1).is_err());
    let large = vec![7; PAGE_MOST];
    assert!(writer.page(0, 0..=0, |page| _ = page.bytes(&large)).is_err());
    assert!(writer.page(ROWS_MOST + 1, 0..=0, |_| ()).is_err());
    let rows = vec![u64::MAX; ROWS_MOST];
    writer.page(ROWS_MOST, 0..=0, |page| _ = page.numbers(&rows)).unwrap();
    let (body, head) = writer.finish(&INPUT_OF).unwrap();
    assert!(body.len() < 200);
    assert_eq!(read_all(&[&head[..], &body].concat()), Ok(ROWS_MOST));
}
