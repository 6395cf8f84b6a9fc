//! What was lost of the inputs, counted by kind with its places, and what is told of each input.
//!
//! ```
//! use tracemill_trace::{Limits, Source, Trace};
//!
//! let damaged = r#"[{"ph":"i","ts":1},{"ph":"i","ts":],{"ph":"i","ts":3}]"#;
//! let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
//! let trace = Trace::open(&[Source::bytes("a.json", damaged)], &limits)?;
//! assert_eq!(trace.len(), 2, "all but the damaged event");
//! for (kind, tally) in trace.inputs()[0].losses.iter() {
//!     let first = &tally.examples[0];
//!     println!("{}: {} at byte {}: {}", kind.sentence(), tally.count, first.offset, first.excerpt);
//! }
//! assert_eq!(trace.inputs()[0].lost(), 1);
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

use crate::run::flaws::Flaws;
use serde::{Deserialize, Serialize, Serializer};
use tracemill_tokenizer::{Damage, DamageKind, Lapse};

/// Bytes of an excerpt at most.
const EXCERPT: usize = 60;
/// Examples kept of each kind of damage in each input.
const EXAMPLES: usize = 3;

/// One place where something was lost. Offsets are those in the input, unpacked, and so count from its first byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Offset of the first lost byte, in the decoded input.
    pub offset: u64,
    /// Offset at which it was noticed.
    pub noticed: u64,
    /// How many bytes were lost.
    pub bytes: u64,
    /// The first of them, made printable.
    pub excerpt: String,
}

/// All losses, or lapses, of one kind in one input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossTally {
    /// Stretches of bytes, most often an event each.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The first few.
    pub examples: Vec<Example>,
}

/// Tallies of `N` kinds; takes no room as long as there is nothing to count.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KindTallies<const N: usize>(Option<Box<[LossTally; N]>>);

impl<const N: usize> Default for KindTallies<N> {
    fn default() -> Self {
        KindTallies(None)
    }
}

impl<const N: usize> KindTallies<N> {
    fn all(&mut self) -> &mut [LossTally; N] {
        self.0.get_or_insert_with(|| Box::new(std::array::from_fn(|_| LossTally::default())))
    }

    /// Counts `bytes`, which stand at `offset`.
    fn add(&mut self, kind: usize, offset: u64, noticed: u64, bytes: &[u8]) {
        let tally = &mut self.all()[kind];
        tally.count += 1;
        tally.bytes += bytes.len() as u64;
        if tally.examples.len() < EXAMPLES {
            let (excerpt, bytes) = (excerpt(bytes), bytes.len() as u64);
            tally.examples.push(Example { offset, noticed, bytes, excerpt });
        }
    }

    fn append(&mut self, later: Self) {
        let Some(later) = later.0 else { return };
        for (tally, more) in self.all().iter_mut().zip(*later) {
            tally.count += more.count;
            tally.bytes += more.bytes;
            let room = EXAMPLES.saturating_sub(tally.examples.len());
            tally.examples.extend(more.examples.into_iter().take(room));
        }
    }

    /// Those of which there is any, beside `kinds` in the same order.
    fn iter<K>(&self, kinds: [K; N]) -> impl Iterator<Item = (K, &LossTally)> {
        let tallies = self.0.iter().flat_map(|tallies| tallies.iter());
        kinds.into_iter().zip(tallies).filter(|(_, tally)| tally.count > 0)
    }

    fn count(&self) -> u64 {
        self.0.iter().flat_map(|tallies| tallies.iter()).map(|tally| tally.count).sum()
    }
}

/// All losses of one input, by kind in the order of [`DamageKind::ALL`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses(KindTallies<{ DamageKind::ALL.len() }>);

impl Losses {
    /// Counts one more.
    pub fn add(&mut self, damage: &Damage<'_>) {
        self.0.add(damage.kind as usize, damage.offset, damage.noticed, damage.lost);
    }

    /// Losses that were counted before: one tally a kind.
    pub fn of(tallies: impl IntoIterator<Item = (DamageKind, LossTally)>) -> Self {
        let mut losses = Losses::default();
        for (kind, tally) in tallies {
            losses.0.all()[kind as usize] = tally;
        }
        losses
    }

    /// Counts a packing that breaks off.
    pub(crate) fn add_broken(&mut self, example: Example) {
        let tally = &mut self.0.all()[DamageKind::Truncated as usize];
        tally.count += 1;
        tally.examples.push(example);
    }

    /// Takes over what a later part of the same input lost.
    pub fn append(&mut self, later: Losses) {
        self.0.append(later.0);
    }

    /// Kinds of which there is any, with their tallies.
    pub fn iter(&self) -> impl Iterator<Item = (DamageKind, &LossTally)> {
        self.0.iter(DamageKind::ALL)
    }

    /// Stretches lost in all.
    pub fn count(&self) -> u64 {
        self.0.count()
    }

    /// The loss that stands first in the input: what a strict run ends with.
    pub fn first(&self) -> Option<(DamageKind, &Example)> {
        self.iter()
            .filter_map(|(kind, tally)| Some((kind, tally.examples.first()?)))
            .min_by_key(|(_, example)| example.offset)
    }
}

impl Serialize for Losses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|(kind, tally)| TallyRow::new(kind.name(), tally)))
    }
}

impl Serialize for Lapses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|(kind, tally)| TallyRow::new(kind.name(), tally)))
    }
}

/// A row of a report.
#[derive(Serialize)]
struct TallyRow<'t> {
    kind: &'static str,
    count: u64,
    bytes: u64,
    examples: &'t [Example],
}

impl<'t> TallyRow<'t> {
    fn new(kind: &'static str, LossTally { count, bytes, examples }: &'t LossTally) -> Self {
        TallyRow { kind, count: *count, bytes: *bytes, examples }
    }
}

/// The events, and keys beside them, of one input that are not JSON but for a [`Lapse`], each by its first one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lapses {
    tallies: KindTallies<{ Lapse::ALL.len() }>,
    /// Whether the output has them as JSON; else it has them as they stand.
    pub mended: bool,
}

impl Lapses {
    /// Counts one more, of an event or value that stands at `offset`.
    pub(crate) fn add(&mut self, lapse: Lapse, offset: u64, noticed: u64, bytes: &[u8]) {
        self.tallies.add(lapse as usize, offset, noticed, bytes);
    }

    /// Takes over those of a later part of the same input.
    pub(crate) fn append(&mut self, later: Lapses) {
        self.tallies.append(later.tallies);
    }

    /// Kinds of which there is any, with their tallies.
    pub fn iter(&self) -> impl Iterator<Item = (Lapse, &LossTally)> {
        self.tallies.iter(Lapse::ALL)
    }

    /// Events and keys in all.
    pub fn count(&self) -> u64 {
        self.tallies.count()
    }

    /// Those that are in the output as they stand, so that it is no JSON.
    pub fn kept(&self) -> u64 {
        if self.mended { 0 } else { self.count() }
    }
}

/// The first 60 bytes of a stretch on one line, with what cannot be printed escaped.
///
/// ```
/// use tracemill_trace::run::losses::excerpt;
///
/// assert_eq!(excerpt(b"{\"ts\":\n1}"), r#"{"ts":\n1}"#);
/// assert!(excerpt(&[b'x'; 100]).ends_with('…'));
/// ```
pub fn excerpt(bytes: &[u8]) -> String {
    let cut = bytes.len() > EXCERPT;
    let mut text = bytes[..bytes.len().min(EXCERPT)].escape_ascii().to_string();
    // quotes and backslashes read better as they stand
    text = text.replace("\\\"", "\"").replace("\\'", "'").replace("\\\\", "\\");
    if cut {
        text.push('…');
    }
    text
}

/// One input of a run.
///
/// Serialized: losses and lapses as lists of `{kind, count, bytes, examples}`, flaws as [`Flaws`] says.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InputReport {
    /// Its path, or `standard input`.
    pub name: String,
    /// Bytes after decoding.
    pub bytes: u64,
    /// Events read.
    pub events: u64,
    /// How it was packed: `gzip`, `zstd`, `utf-16`, if it was.
    pub encoding: Option<&'static str>,
    /// What was lost.
    pub losses: Losses,
    /// What is not JSON and was kept, since it is clear what was meant. Only verbs that write a trace look for it.
    pub lapses: Lapses,
    /// Documents without their closing brackets, which the format allows.
    pub unclosed: u64,
    /// Missing or surplus commas between events, by which nothing is lost.
    pub odd_separators: u64,
    /// CPU profiles (`.cpuprofile`) in it.
    pub profiles: u64,
    /// What is wrong with those.
    pub flaws: Flaws,
    /// Least and greatest time of its events, in nanoseconds, where the verb sorts them; before it is moved.
    #[serde(skip)]
    pub span: Option<(i64, i64)>,
}

impl InputReport {
    /// Pieces lost.
    pub fn lost(&self) -> u64 {
        self.losses.count() + self.flaws.lost()
    }
}
