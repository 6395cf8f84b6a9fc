//! Counts losses of inputs by kind, with examples, and reports on each input.
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

const EXCERPT: usize = 60;
const EXAMPLES: usize = 3;

/// An example of a loss. Offsets are relative to the decoded input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Offset of the first lost byte.
    pub offset: u64,
    /// Offset at which the damage was noticed.
    pub noticed: u64,
    /// Number of lost bytes.
    pub bytes: u64,
    /// First lost bytes, made printable.
    pub excerpt: String,
}

/// All losses or lapses of one kind in one input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossTally {
    /// Number of lost byte ranges, most often one event each.
    pub count: u64,
    /// Total bytes of these ranges.
    pub bytes: u64,
    /// The first few examples.
    pub examples: Vec<Example>,
}

/// Tallies of `N` kinds; allocates only if there is something to count.
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

    fn iter<K>(&self, kinds: [K; N]) -> impl Iterator<Item = (K, &LossTally)> {
        let tallies = self.0.iter().flat_map(|tallies| tallies.iter());
        kinds.into_iter().zip(tallies).filter(|(_, tally)| tally.count > 0)
    }

    fn count(&self) -> u64 {
        self.0.iter().flat_map(|tallies| tallies.iter()).map(|tally| tally.count).sum()
    }
}

/// All losses of one input, in the order of [`DamageKind::ALL`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses(KindTallies<{ DamageKind::ALL.len() }>);

impl Losses {
    /// Counts a loss.
    pub fn add(&mut self, damage: &Damage<'_>) {
        self.0.add(damage.kind as usize, damage.offset, damage.noticed, damage.lost);
    }

    /// Creates losses from one tally per kind.
    pub fn of(tallies: impl IntoIterator<Item = (DamageKind, LossTally)>) -> Self {
        let mut losses = Losses::default();
        for (kind, tally) in tallies {
            losses.0.all()[kind as usize] = tally;
        }
        losses
    }

    /// Counts packed data that breaks off.
    pub(crate) fn add_broken(&mut self, example: Example) {
        let tally = &mut self.0.all()[DamageKind::Truncated as usize];
        tally.count += 1;
        tally.examples.push(example);
    }

    /// Adds the losses of a later part of the same input.
    pub fn append(&mut self, later: Losses) {
        self.0.append(later.0);
    }

    /// Returns the kinds that occur, with their tallies.
    pub fn iter(&self) -> impl Iterator<Item = (DamageKind, &LossTally)> {
        self.0.iter(DamageKind::ALL)
    }

    /// Returns the number of lost byte ranges.
    pub fn count(&self) -> u64 {
        self.0.count()
    }

    /// Returns the loss with the smallest offset, at which a strict run fails.
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

/// Events and top-level values of one input that deviate from JSON only by a [`Lapse`], counted
/// under their first lapse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lapses {
    tallies: KindTallies<{ Lapse::ALL.len() }>,
    /// Whether the output has these events and values repaired instead of unchanged.
    pub mended: bool,
}

impl Lapses {
    /// Counts an event or value at `offset`.
    pub(crate) fn add(&mut self, lapse: Lapse, offset: u64, noticed: u64, bytes: &[u8]) {
        self.tallies.add(lapse as usize, offset, noticed, bytes);
    }

    /// Adds the lapses of a later part of the same input.
    pub(crate) fn append(&mut self, later: Lapses) {
        self.tallies.append(later.tallies);
    }

    /// Returns the kinds that occur, with their tallies.
    pub fn iter(&self) -> impl Iterator<Item = (Lapse, &LossTally)> {
        self.tallies.iter(Lapse::ALL)
    }

    /// Returns the number of events and values.
    pub fn count(&self) -> u64 {
        self.tallies.count()
    }

    /// Returns the number of lapses in the output, which make it invalid JSON.
    pub fn kept(&self) -> u64 {
        if self.mended { 0 } else { self.count() }
    }
}

/// Returns up to 60 bytes as one printable line, with control bytes escaped.
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
    // quotes and backslashes are more readable without escapes
    text = text.replace("\\\"", "\"").replace("\\'", "'").replace("\\\\", "\\");
    if cut {
        text.push('…');
    }
    text
}

/// The report on one input of a run.
///
/// Serialized: losses and lapses as lists of `{kind, count, bytes, examples}`, flaws like
/// [`Flaws`].
#[derive(Clone, Debug, Default, Serialize)]
pub struct InputReport {
    /// Path of the input, or `standard input`.
    pub name: String,
    /// Number of bytes after decoding.
    pub bytes: u64,
    /// Number of events read.
    pub events: u64,
    /// Encoding of the input, if any: `gzip`, `zstd`, `utf-16`.
    pub encoding: Option<&'static str>,
    /// Bytes lost to damage.
    pub losses: Losses,
    /// Events and values that are not JSON and were kept. Only commands that write a trace count
    /// them.
    pub lapses: Lapses,
    /// Number of documents without closing brackets, which the format allows.
    pub unclosed: u64,
    /// Number of missing or extra commas between events, which lose nothing.
    pub odd_separators: u64,
    /// Number of CPU profiles (`.cpuprofile`) in the input.
    pub profiles: u64,
    /// Flaws of these CPU profiles.
    pub flaws: Flaws,
    /// First and last time in nanoseconds, before clock offsets, if the command reads times.
    #[serde(skip)]
    pub span: Option<(i64, i64)>,
}

impl InputReport {
    /// Returns the number of losses.
    pub fn lost(&self) -> u64 {
        self.losses.count() + self.flaws.lost()
    }
}
