//! Fields of events to numbers: what every event of a merge pays once the scan has found it.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use std::sync::LazyLock;
use tracemill_benches::{chrome, events_of};
use tracemill_testkit::Rng;
use tracemill_tokenizer::{Event, Field, FieldSpans, Number, fields_of, nanos};

fn main() {
    tracemill_benches::with_folder(divan::main);
}

/// Few enough to stay in the cache: the look-ups are timed, not the memory.
const EVENTS: usize = 1_000;
const NUMBERS: usize = 10_000;

/// Events with their fields found, and the text that they stand in.
type Found = Vec<(&'static [u8], FieldSpans)>;

static FOUND: LazyLock<Found> = LazyLock::new(|| {
    let found: Found =
        events_of(chrome()).take(EVENTS).map(|event| (event, fields_of(event))).collect();
    assert_eq!(found.len(), EVENTS);
    found
});

/// What stands behind `"key":`, up to the next comma or bracket; for keys without a doppelgänger in `args`.
fn naive(event: &[u8], key: &str) -> Option<u64> {
    let text = std::str::from_utf8(event).expect("the generator writes ASCII");
    let (_, value) = text.split_once(&format!("\"{key}\":"))?;
    let digits = value.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Adds up what `of` finds in each event.
fn total(of: impl Fn(&Event<'_>) -> u64) -> u64 {
    FOUND.iter().map(|(bytes, spans)| of(&spans.of(bytes))).sum()
}

fn naive_total(key: &str) -> u64 {
    FOUND.iter().filter_map(|(event, _)| naive(event, key)).sum()
}

/// The time stamp, from its place.
#[divan::bench]
fn ts(bencher: Bencher<'_, '_>) {
    let run = || total(|event| event.ts().map_or(0, |ts| ts.floor as u64));
    assert_eq!(run(), naive_total("ts") * 1000);
    bencher.counter(ItemsCount::new(EVENTS)).bench(run);
}

/// The duration, which half of the events have.
#[divan::bench]
fn dur(bencher: Bencher<'_, '_>) {
    let run = || total(|event| event.dur().map_or(0, |dur| dur.floor as u64));
    assert_eq!(run(), naive_total("dur") * 1000);
    assert!(run() > 0);
    bencher.counter(ItemsCount::new(EVENTS)).bench(run);
}

/// A field as it is written: short ones, a string, the largest.
#[divan::bench(args = [Field::Ph, Field::Pid, Field::Name, Field::Args])]
fn field(bencher: Bencher<'_, '_>, field: Field) {
    let run = || total(|event| event.field(field).map_or(0, |value| value.len() as u64));
    match field {
        // one letter and its quotes; a number of four digits
        Field::Ph => assert_eq!(run(), 3 * EVENTS as u64),
        Field::Pid => assert_eq!(run(), 4 * EVENTS as u64),
        _ => assert!(run() > 2 * EVENTS as u64),
    }
    bencher.counter(ItemsCount::new(EVENTS)).bench(run);
}

/// All fields of an event that is visited again.
#[divan::bench]
fn all_fields(bencher: Bencher<'_, '_>) {
    let bytes: usize = FOUND.iter().map(|(event, _)| event.len()).sum();
    let run = || {
        let ts = |(event, _): &(&'static [u8], _)| {
            fields_of(event).field(event, Field::Ts).map_or(0, <[u8]>::len)
        };
        FOUND.iter().map(ts).sum::<usize>()
    };
    let digits = |(event, _): &(&'static [u8], _)| {
        naive(event, "ts").expect("every event has one").to_string().len()
    };
    assert_eq!(run(), FOUND.iter().map(digits).sum::<usize>());
    bencher.counter(ItemsCount::new(EVENTS)).counter(BytesCount::new(bytes)).bench(run);
}

/// How a time is written.
#[derive(Clone, Copy, Debug)]
enum Notation {
    Integer,
    Decimals,
    Exponent,
    /// More decimals than nanoseconds have.
    Long,
}

impl Notation {
    const ALL: [Notation; 4] =
        [Notation::Integer, Notation::Decimals, Notation::Exponent, Notation::Long];

    /// Times of about six days in microseconds, and the sum of their nanoseconds, rounded down.
    fn numbers(self) -> (Vec<String>, i64) {
        let mut rng = Rng::new(7);
        let mut sum = 0;
        let mut number = |_| {
            let (micros, rest) = (522_975_000_000 + rng.below(1 << 30), rng.below(1000));
            let exact = micros as i64 * 1000;
            let (text, nanos) = match self {
                Notation::Integer => (format!("{micros}"), exact),
                Notation::Decimals => (format!("{micros}.{rest:03}"), exact + rest as i64),
                Notation::Exponent => (format!("{micros}e0"), exact),
                Notation::Long => (format!("{micros}.{rest:03}25"), exact + rest as i64),
            };
            sum += nanos;
            text
        };
        ((0..NUMBERS).map(&mut number).collect(), sum)
    }
}

/// Text of a number to nanoseconds.
#[divan::bench(args = Notation::ALL)]
fn to_nanos(bencher: Bencher<'_, '_>, notation: Notation) {
    let (numbers, sum) = notation.numbers();
    let value = |text: &String| nanos(text.as_bytes()).map_or(0, |nanos| nanos.floor);
    let run = || numbers.iter().map(value).sum::<i64>();
    assert_eq!(run(), sum);
    bencher.counter(ItemsCount::new(NUMBERS)).bench(run);
}

/// Two texts by value to the attosecond, which only ties below the nanosecond need.
#[divan::bench(args = Notation::ALL)]
fn compare_texts(bencher: Bencher<'_, '_>, notation: Notation) {
    let (mut numbers, _) = notation.numbers();
    // of equal length and written alike, so their order as text is that of their values
    numbers.sort_unstable();
    numbers.dedup();
    let pairs = numbers.len() - 1;
    let attos = |text: &String| Number::parse(text.as_bytes()).and_then(|n| n.scaled(12));
    let is_less = |pair: &&[String]| attos(&pair[0]) < attos(&pair[1]);
    let run = || numbers.windows(2).filter(is_less).count();
    assert_eq!(run(), pairs);
    bencher.counter(ItemsCount::new(pairs)).bench(run);
}
