//! What was lost of the inputs, counted by kind with its places (contract C5), and what is told of each input.

use crate::flaws::Flaws;
use tracemill_tokenizer::{Damage, DamageKind};

/// Bytes of an excerpt at most.
const EXCERPT: usize = 60;
/// Examples kept of each kind of damage in each input.
const EXAMPLES: usize = 3;

/// One place where something was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// All losses of one kind in one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Stretches of bytes lost, most often an event each.
    pub count: u64,
    /// Bytes lost.
    pub bytes: u64,
    /// The first few.
    pub examples: Vec<Example>,
}

/// All losses of one input, by kind in the order of [`DamageKind::ALL`]; takes no room as long as there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses(Option<Box<[Tally; DamageKind::ALL.len()]>>);

impl Losses {
    fn of(&mut self, kind: DamageKind) -> &mut Tally {
        &mut self.0.get_or_insert_default()[kind as usize]
    }

    /// Counts one more.
    pub fn add(&mut self, damage: &Damage<'_>) {
        let tally = self.of(damage.kind);
        tally.count += 1;
        tally.bytes += damage.lost.len() as u64;
        if tally.examples.len() < EXAMPLES {
            tally.examples.push(Example {
                offset: damage.offset,
                noticed: damage.noticed,
                bytes: damage.lost.len() as u64,
                excerpt: excerpt(damage.lost),
            });
        }
    }

    /// Counts a packing that breaks off.
    pub fn add_broken(&mut self, example: Example) {
        let tally = self.of(DamageKind::Truncated);
        tally.count += 1;
        tally.examples.push(example);
    }

    /// Takes over what a later part of the same input lost.
    pub fn append(&mut self, later: Losses) {
        let Some(later) = later.0 else { return };
        for (tally, more) in self.0.get_or_insert_default().iter_mut().zip(*later) {
            tally.count += more.count;
            tally.bytes += more.bytes;
            let room = EXAMPLES.saturating_sub(tally.examples.len());
            tally.examples.extend(more.examples.into_iter().take(room));
        }
    }

    /// Kinds of which there is any, with their tallies.
    pub fn iter(&self) -> impl Iterator<Item = (DamageKind, &Tally)> {
        let tallies = self.0.iter().flat_map(|tallies| tallies.iter());
        DamageKind::ALL.into_iter().zip(tallies).filter(|(_, tally)| tally.count > 0)
    }

    /// Stretches lost in all.
    pub fn count(&self) -> u64 {
        self.iter().map(|(_, tally)| tally.count).sum()
    }

    /// The loss that stands first in the input.
    pub fn first(&self) -> Option<(DamageKind, &Example)> {
        self.iter()
            .filter_map(|(kind, tally)| Some((kind, tally.examples.first()?)))
            .min_by_key(|(_, example)| example.offset)
    }
}

/// The first bytes of a stretch on one line, with what cannot be printed escaped.
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
#[derive(Clone, Debug, Default)]
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
    /// Documents without their closing brackets, which the format allows.
    pub unclosed: u64,
    /// Missing or surplus commas between events, by which nothing is lost.
    pub odd_separators: u64,
    /// CPU profiles (`.cpuprofile`) in it.
    pub profiles: u64,
    /// What is wrong with those.
    pub flaws: Flaws,
    /// Least and greatest time of its events, in nanoseconds, where the verb sorts them; before it is moved.
    pub span: Option<(i64, i64)>,
}

impl InputReport {
    /// Pieces lost.
    pub fn lost(&self) -> u64 {
        self.losses.count() + self.flaws.lost()
    }
}
