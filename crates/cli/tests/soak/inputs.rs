//! Random inputs: a kind of trace and a size, optionally damaged, compressed or in another
//! encoding.

use tracemill_testkit::damage::any_damage;
use tracemill_testkit::generate::{
    Base, BaseFormat, ProfileShape, Skew, TraceShape, annotated, chrome_like, profile_trace, rank,
    times_in_args, trace,
};
use tracemill_testkit::packing::{gz, zst};
use tracemill_testkit::{Rng, mutate::mutated, reference};

/// A kind of generated trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Chrome,
    Oddities,
    Profiles,
    Ranks,
    Times,
    Annotated,
}

impl Kind {
    pub(crate) const ALL: [Kind; 6] =
        [Kind::Chrome, Kind::Oddities, Kind::Profiles, Kind::Ranks, Kind::Times, Kind::Annotated];

    /// Returns the maximum size of the traces, in bytes. Profile chunks and unpaired B events take
    /// heap regardless of the budget, and annotated traces are scanned twice, so these are small.
    fn most(self) -> u64 {
        match self {
            Kind::Chrome => u64::MAX,
            Kind::Ranks | Kind::Oddities => 12 << 20,
            Kind::Profiles | Kind::Times | Kind::Annotated => 4 << 20,
        }
    }
}

/// An input file of a round.
pub(crate) struct Input {
    /// Name in the folder of inputs.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
    /// The trace in UTF-8, if it is undamaged.
    pub(crate) sound: Option<Vec<u8>>,
    /// Number of events of an undamaged trace, if the generator counts them.
    pub(crate) events: Option<u64>,
}

/// Returns an undamaged trace of about `size` bytes without oddities.
pub(crate) fn plain(size: u64) -> Input {
    let (bytes, events) = generate(&mut Rng::new(0), 1, 0, Kind::Chrome, size);
    Input { name: "a.json".into(), kind: Kind::Chrome, sound: Some(bytes.clone()), bytes, events }
}

/// Returns one to three inputs of up to `most` bytes in total.
pub(crate) fn random(rng: &mut Rng, most: u64) -> Vec<Input> {
    let count = [1, 1, 2, 3][rng.index(4)];
    let seed = rng.bits();
    // ranks of one job or copies of one trace, to exercise identity and clocks
    let same = rng.chance(50).then(|| kind(rng));
    (0..count)
        .map(|number| {
            let kind = same.unwrap_or_else(|| kind(rng));
            input(rng, seed, number, kind, most / count as u64)
        })
        .collect()
}

fn kind(rng: &mut Rng) -> Kind {
    let weighted = [Kind::ALL.as_slice(), &[Kind::Chrome, Kind::Oddities]].concat();
    weighted[rng.index(weighted.len())]
}

/// Returns a size from 1 KiB to `most`, with equal chances for each power of two.
fn size(rng: &mut Rng, most: u64) -> u64 {
    let doublings = u64::from((most >> 10).max(1).ilog2());
    let least = 1024 << rng.below(doublings + 1);
    (least + rng.below(least)).min(most)
}

fn input(rng: &mut Rng, seed: u64, number: usize, kind: Kind, most: u64) -> Input {
    let size = size(rng, most.min(kind.most()));
    let (trace, events) = generate(rng, seed, number, kind, size);
    let (mut bytes, mut sound) = (trace.clone(), None);
    if rng.chance(25) {
        bytes = damaged(rng, &trace);
    } else {
        sound = Some(trace);
    }
    let events = events.filter(|_| sound.is_some());
    let mut name = format!("{}.json", ["a", "b", "rank2"][number]);
    match rng.below(12) {
        0 if sound.is_some() => bytes = utf16(rng, &bytes),
        1 if sound.is_some() && !bytes.starts_with(b"\xef\xbb\xbf") => {
            bytes.splice(0..0, *b"\xef\xbb\xbf");
        }
        2 | 3 => (bytes, name) = (gz(&bytes, bytes.len() / 3 + 1), name + ".gz"),
        4 => (bytes, name) = (zst(&bytes, usize::MAX), name + ".zst"),
        _ => {}
    }
    Input { name, kind, bytes, sound, events }
}

/// Returns an undamaged trace of about `size` bytes, and its number of events if known.
fn generate(
    rng: &mut Rng,
    seed: u64,
    number: usize,
    kind: Kind,
    size: u64,
) -> (Vec<u8>, Option<u64>) {
    let seed_of_input = seed.wrapping_add(number as u64);
    match kind {
        Kind::Chrome => {
            let mut bytes = Vec::new();
            let events = chrome_like(seed_of_input, size, &mut bytes).expect("memory takes bytes");
            (bytes, Some(events))
        }
        Kind::Oddities => {
            let shape = oddities(rng, size);
            (trace(seed_of_input, &shape), Some(shape.events as u64))
        }
        Kind::Profiles => (profile_trace(seed_of_input, &profiles(rng, size)), None),
        Kind::Ranks => {
            let events = 1 + size as usize / 130;
            (a_rank(rng, seed, number, events), Some(events as u64))
        }
        Kind::Times => {
            let events = 1 + size / 200;
            (times_in_args(seed_of_input, events as usize, [0, 10][rng.index(2)]), Some(events))
        }
        Kind::Annotated => {
            let shape = TraceShape { profile_streams: 0, documents: 1, ..oddities(rng, size) };
            let events = reference::events(&trace(seed_of_input, &shape)).expect("sound");
            let text = |event: reference::RawEvent| String::from_utf8(event.bytes).expect("text");
            let events: Vec<String> = events.into_iter().map(text).collect();
            (annotated(rng, &events, 1000 * number), Some(events.len() as u64))
        }
    }
}

/// Returns a random shape with enough events for `size` bytes.
fn oddities(rng: &mut Rng, size: u64) -> TraceShape {
    let shape = TraceShape::arbitrary(rng);
    let big = shape.big && size < 1 << 18;
    TraceShape { events: size as usize / 230, big, ..shape }
}

fn profiles(rng: &mut Rng, size: u64) -> ProfileShape {
    let shape = ProfileShape::arbitrary(rng);
    let samples = shape.samples.min(size as usize / 20);
    let chunk = 400 + 12 * samples as u64;
    let chunks = 1 + (size / chunk / shape.streams as u64) as usize;
    ProfileShape { samples, chunks, others: size as usize / 2000, ..shape }
}

fn a_rank(rng: &mut Rng, seed: u64, number: usize, events: usize) -> Vec<u8> {
    let keys = [
        BaseFormat::Kineto,
        BaseFormat::KinetoText,
        BaseFormat::VizTracer,
        BaseFormat::Clang,
        BaseFormat::Nowhere,
    ];
    let key = keys[rng.index(5)];
    let base = Base { key, ns: 1_721_065_900_000_000_000 + rng.below(1000) as i64 * 1_000_000 };
    let skew = Skew {
        offset_ns: rng.below(1 << 30) as i64 - (1 << 29),
        drift_ppb: if rng.chance(30) { rng.below(20_000) as i64 } else { 0 },
        jitter_ns: if rng.chance(50) { rng.below(3000) } else { 0 },
    };
    rank(seed, number, events, base, skew)
}

/// Damages a trace once or twice, like real files or at random.
fn damaged(rng: &mut Rng, trace: &[u8]) -> Vec<u8> {
    let mut bytes = trace.to_vec();
    for _ in 0..rng.range(1, 2) {
        // the reference is too slow for larger traces
        let known = (bytes.len() < 4 << 20).then(|| reference::events(&bytes).ok()).flatten();
        let spans: Vec<_> = known.into_iter().flatten().map(|event| event.span).collect();
        bytes = match spans.is_empty() || rng.chance(15) {
            true => mutated(rng, &bytes, &bytes),
            false => any_damage(rng, &bytes, &spans).bytes,
        };
    }
    bytes
}

/// Encodes text as UTF-16 of either byte order, with a byte order mark.
fn utf16(rng: &mut Rng, text: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(text).expect("the generators write UTF-8");
    let units = std::iter::once(0xfeff).chain(text.trim_start_matches('\u{feff}').encode_utf16());
    match rng.chance(50) {
        true => units.flat_map(u16::to_le_bytes).collect(),
        false => units.flat_map(u16::to_be_bytes).collect(),
    }
}
