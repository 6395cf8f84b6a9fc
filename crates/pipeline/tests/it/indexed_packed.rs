//! Slices of compressed traces by an index equal slices by a scan, for every form of compression.

use crate::index::{Uses, index_bytes, of_files};
use crate::indexed_profiles::{bounds, same_profiles, with_streams};
use crate::indexed_slices::{self, EDGES, any_trace, windows};
use crate::run::{Folder, Knobs, PLAIN, config};
use crate::spans::Trace;
use std::path::Path;
use tracemill_index::format::{Index, id};
use tracemill_index::{IndexConfig, index};
use tracemill_join::report::warning::Warning;
use tracemill_testkit::generate::{ProfileShape, profile_trace};
use tracemill_testkit::packing::{gz, zst};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

/// Compresses text into zstd frames of random lengths, some empty or skippable, with or without a
/// seek table.
pub(crate) fn zstd_frames(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let most = [100, 1000, 10_000][rng.below(3) as usize];
    let (mut file, mut table, mut rest) = (Vec::new(), Vec::<u8>::new(), text);
    let has_table = rng.below(2) == 0;
    let mut frames = 0_u32;
    while !rest.is_empty() {
        let (frame, behind) = rest.split_at(rest.len().min(rng.below(most + 1) as usize));
        rest = behind;
        let mut packed = zst(frame, usize::MAX);
        if rng.below(8) == 0 {
            packed.extend([0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]);
        }
        table.extend((packed.len() as u32).to_le_bytes());
        table.extend((frame.len() as u32).to_le_bytes());
        file.extend(packed);
        frames += 1;
    }
    if has_table {
        file.extend(0x184D_2A5E_u32.to_le_bytes());
        file.extend((table.len() as u32 + 9).to_le_bytes());
        file.extend(&table);
        file.extend(frames.to_le_bytes());
        file.push(0);
        file.extend(0x8F92_EAB1_u32.to_le_bytes());
    }
    file
}

#[test]
fn slices_of_compressed_traces_by_an_index_equal_scans() {
    let mut uses = Uses::default();
    for seed in seeds(0, 24) {
        let mut rng = Rng::new(seed ^ 0x9ac);
        let text = match seed % 3 {
            0 => profile_trace(
                seed,
                &ProfileShape { others: 2000, ..ProfileShape::arbitrary(&mut rng) },
            ),
            1 => with_streams(&Trace::new(seed, 500, false).text, &mut rng, true).into_bytes(),
            _ => any_trace(seed, &mut rng),
        };
        let bounds = bounds(&String::from_utf8_lossy(&text));
        if bounds.0 > bounds.1 {
            continue;
        }
        let folder = Folder::new();
        let path = folder.file("a.json.zst", zstd_frames(&text, &mut rng));
        index_bytes(&path, PLAIN);
        for number in 0..8 {
            let windows = windows(&mut rng, bounds);
            let with = of_files(seed as usize * 8 + number);
            let what = format!("seed {seed}, {number}: {windows:?}");
            let run = indexed_slices::same(&what, &path, &windows, EDGES[number % 3], with, None);
            uses.count(run, text.len());
        }
        _ = same_profiles(&format!("seed {seed}"), &path, of_files(seed as usize));
    }
    uses.assert_pays(4, 3);
}

#[test]
fn unseekable_traces_are_read_completely() {
    let text = Trace::new(3, 300, false).text.into_bytes();
    let folder = Folder::new();
    let one = zst(&text, usize::MAX);
    // frames without a stated length
    let halves = text.chunks(text.len() / 2 + 1);
    let streamed = halves.map(|half| zstd::stream::encode_all(half, 1).expect("as above"));
    for packed in [one, streamed.collect::<Vec<_>>().concat(), gz(&text, usize::MAX)] {
        let path = folder.file("a.json.packed", &packed);
        let index = index_bytes(&path, PLAIN);
        let index = Index::open(&index).expect("it was just made");
        assert!(index.section(id::PACK).is_none() && index.section(id::SPANS).is_none());
        let windows = windows(&mut Rng::new(1), bounds(&String::from_utf8_lossy(&text)));
        assert!(warnings_of(&path).is_empty());
        let run = indexed_slices::same("whole", &path, &windows, EDGES[0], PLAIN, None);
        assert!(run.is_err_and(|why| why.contains("compressed as one block")), "{run:?}");
    }
}

fn warnings_of(path: &Path) -> Vec<Warning> {
    let wanted = IndexConfig { replace: true, ..IndexConfig::default() };
    let reports = index(&[Source::Path(path.to_owned())], &wanted, &config(PLAIN)).expect("sound");
    reports.into_iter().flat_map(|report| report.warnings).collect()
}

#[test]
fn long_unseekable_traces_are_reported() {
    let pad = "0".repeat(9 << 20);
    let text = format!(r#"[{{"ph":"i","ts":1,"pid":1,"tid":1,"args":"{pad}"}}]"#).into_bytes();
    let folder = Folder::new();
    let one = zst(&text, usize::MAX);
    let path = folder.file("one.json.zst", &one);
    assert_eq!(warnings_of(&path), [Warning::OnlyAsAWhole { trace: path.display().to_string() }]);
    let path = folder.file("frames.json.zst", zstd_frames(&text, &mut Rng::new(1)));
    assert_eq!(warnings_of(&path), []);
}

#[test]
fn slices_of_gzip_by_an_index_equal_scans() {
    // long enough for several seek points
    let mut text = Trace::new(11, 4000, false).text;
    let mut rng = Rng::new(5);
    let noise: String = (0..400_000).map(|_| format!("{:010}", rng.below(1 << 33))).collect();
    let pad = format!(r#"{{"ph":"i","ts":1,"pid":1,"tid":1,"args":"{noise}"}},"#);
    let middle = text.len() / 2;
    let comma =
        middle + text[middle..].find("},{").or(text[middle..].find("},\n{")).expect("events");
    let next = comma + text[comma..].find(",").expect("found") + 1;
    (0..6).for_each(|_| text.insert_str(next, &pad));
    let folder = Folder::new();
    let mut uses = Uses::default();
    for member in [1 << 20, 64 << 10] {
        let path = folder.file("a.json.gz", gz(text.as_bytes(), member));
        let index = index_bytes(&path, PLAIN);
        assert_eq!(index, index_bytes(&path, Knobs { threads: 7, ..PLAIN }));
        let index = Index::open(&index).expect("it was just made");
        let rows = |id| index.section(id).map_or(0, |section| section.rows);
        assert!(rows(id::PACK) > 2, "{}", rows(id::PACK));
        for number in 0..4 {
            let windows = windows(&mut rng, bounds(&text));
            let what = format!("{member}, {number}: {windows:?}");
            let with = Knobs { chunk: 1 << 20, ..of_files(number) };
            let run = indexed_slices::same(&what, &path, &windows, EDGES[number % 3], with, None);
            uses.count(run, text.len());
        }
    }
    uses.assert_pays(4, 3);
}
